"""Run files that somebody changed, or that an earlier version wrote: score, continuation and run cache refuse them."""

import logging

import netCDF4
import pytest
import xarray as xr
from test_flipped_bits import block, scores
from test_runs import assert_same_numbers

from bocu.core.errors import BrokenFileError
from bocu.core.io.files import read_netcdf, write_netcdf
from bocu.core.io.lineage import SEAL
from bocu.core.io.provenance import SCHEMA_VERSION
from bocu.sweep.runs.execution import execute
from bocu.sweep.runs.records import read_runs
from bocu.sweep.runs.run_cache import RunCache


def edit_payoffs(path):
    with netCDF4.Dataset(path, "a") as file:
        file["payoff"][:] += 1.0


def edit_attribute(path):
    with netCDF4.Dataset(path, "a") as file:
        file.payoff_units = "dollars"


def rewrite(path):
    data = xr.load_dataset(path)
    data["payoff"] += 1.0
    with path.open("wb") as file:  # not another file under the name: the run cache has this one
        file.write(data.to_netcdf())


def make_old(path):
    """As files were before they had a seal."""
    with netCDF4.Dataset(path, "a") as file:
        file.delncattr(SEAL)
        file.schema_version = 1


def make_another_schema(path):
    other = path.with_name("rewritten.nc")
    write_netcdf(read_netcdf(path).assign_attrs(schema_version=SCHEMA_VERSION + 1), other)
    path.write_bytes(other.read_bytes())


EDITS = {
    edit_payoffs: "its contents were changed",
    edit_attribute: "its contents were changed",
    rewrite: "its contents were changed",
    make_old: "made by an earlier version",
    make_another_schema: f"attribute 'schema_version': found {SCHEMA_VERSION + 1}; allowed: {SCHEMA_VERSION}",
}


@pytest.fixture(params=EDITS, ids=lambda edit: edit.__name__)
def edited(request, tmp_path):
    """A run file with an edit, its entry in the run cache, which is the same file, and what is said of both."""
    shared = RunCache(tmp_path / "shared")
    path = tmp_path / "run.nc"
    execute(block(12), path, tmp_path / "checkpoints", shared=shared)
    request.param(path)
    return path, shared, EDITS[request.param]


def said(caplog):
    lines = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(lines) == 1
    assert "\n" not in lines[0]
    return lines[0]


def test_score_refuses_it_in_one_line(edited, tmp_path):
    path, _, message = edited
    with pytest.raises(BrokenFileError, match=message) as caught:
        scores(path, tmp_path / "score.nc")
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_it_is_not_continued_but_set_aside_and_run_anew(edited, tmp_path, caplog):
    path, _, message = edited
    execute(block(24), path, tmp_path / "checkpoints")
    execute(block(24), tmp_path / "fresh.nc", tmp_path / "checkpoints")
    assert_same_numbers(read_runs(path), read_runs(tmp_path / "fresh.nc"))
    assert message in said(caplog)
    assert (tmp_path / "run.nc.broken").exists()


def test_no_other_experiment_takes_it_over(edited, tmp_path, caplog):
    _, shared, _ = edited
    other = tmp_path / "other.nc"
    execute(block(12), other, tmp_path / "checkpoints", shared=shared)
    execute(block(12), tmp_path / "fresh.nc", tmp_path / "checkpoints")
    assert_same_numbers(read_runs(other), read_runs(tmp_path / "fresh.nc"))
    assert "its contents were changed" in said(caplog)
