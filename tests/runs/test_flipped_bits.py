"""Run files that were damaged, edited or written by another version: nobody takes a wrong number from one.

Each who notices says so in a line.

`BOCU_FLIPS` says how many files are damaged; 250 before a release.
"""

import functools
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray as xr
from experiments import tiny
from test_runs import assert_same_numbers

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf, write_netcdf
from bocu.core.io.lineage import SEAL
from bocu.core.io.provenance import SCHEMA_VERSION
from bocu.sweep.evaluation.scores import score
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.runs.execution import Block, execute
from bocu.sweep.runs.records import read_runs
from bocu.sweep.runs.run_cache import RunCache

FLIPS = int(os.environ.get("BOCU_FLIPS", "4"))
METRICS = [{"label": "best", "class": "bocu.sweep.evaluation.metrics:BestFixedDecision", "parameters": {}}]


@functools.cache
def block(iterations: int) -> Block:
    plan = make_plan(tiny(iterations=iterations, algorithms=["pe-gp-ucb"]))
    return Block({**plan.branch("hills", "any", "pe-gp-ucb").specification, "seeds": [0, 1]}, {}, "code")


def scores(run_file: Path, output: Path) -> xr.Dataset:
    branch = {key: value for key, value in block(12).specification.items() if key != "seeds"}
    score([run_file], {}, branch, METRICS, output)
    return read_netcdf(output)


@dataclass
class Damaged:
    """A run file with one bit flipped, or edited.

    Attributes:
        noticed: whether reading it as a run file is refused.
        whole: folder of the run file as it was, its scores, and the run of twice the length.
    """

    path: Path
    noticed: bool
    whole: Path


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    execute(block(12), folder / "run.nc", folder / "checkpoints")
    execute(block(24), folder / "longer.nc", folder / "checkpoints")
    scores(folder / "run.nc", folder / "score.nc")
    return folder


def edit_payoffs(path):
    with netCDF4.Dataset(path, "a") as file:
        file["payoff"][:] += 1.0


def rewrite(path):
    data = xr.load_dataset(path)
    data["payoff"] += 1.0
    path.write_bytes(data.to_netcdf())


def make_old(path):
    """As files were before they had a seal."""
    with netCDF4.Dataset(path, "a") as file:
        file.delncattr(SEAL)
        file.schema_version = 1


def make_another_schema(path):
    data = read_netcdf(path)
    path.unlink()
    write_netcdf(data.assign_attrs(schema_version=SCHEMA_VERSION + 1), path)


EDITS = {
    edit_payoffs: "its contents were changed",
    rewrite: "its contents were changed",
    make_old: "made by an earlier version",
    make_another_schema: f"attribute 'schema_version': found {SCHEMA_VERSION + 1}; allowed: {SCHEMA_VERSION}",
}


@pytest.fixture(params=[*EDITS, *range(FLIPS)])
def damaged(request, whole, tmp_path):
    raw = bytearray((whole / "run.nc").read_bytes())
    path = tmp_path / "run.nc"
    if request.param in EDITS:
        path.write_bytes(raw)
        request.param(path)
        with pytest.raises(BocuError, match=EDITS[request.param]):
            read_runs(path)
        return Damaged(path, True, whole)
    bit = int(np.random.default_rng(request.param).integers(8 * len(raw)))
    raw[bit // 8] ^= 1 << bit % 8
    path.write_bytes(raw)
    try:
        found = read_runs(path)
    except BocuError:
        return Damaged(path, True, whole)
    assert found.identical(read_runs(whole / "run.nc")), f"bit {bit}: another content, unnoticed"
    return Damaged(path, False, whole)


def test_score_refuses_it_or_gives_the_same(damaged, tmp_path):
    if damaged.noticed:
        with pytest.raises(BocuError, match=r"run\.nc: ") as caught:
            scores(damaged.path, tmp_path / "score.nc")
        assert "\n" not in str(caught.value)
        assert not (tmp_path / "score.nc").exists()
    else:
        assert scores(damaged.path, tmp_path / "score.nc").identical(read_netcdf(damaged.whole / "score.nc"))


def test_continuation_runs_anew_or_gives_the_same(damaged, tmp_path, caplog):
    raw = damaged.path.read_bytes()
    execute(block(24), damaged.path, tmp_path / "checkpoints")
    assert_same_numbers(read_runs(damaged.path), read_runs(damaged.whole / "longer.nc"))
    assert ("not continued" in caplog.text) == damaged.noticed
    if damaged.noticed:
        assert (tmp_path / "run.nc.broken").read_bytes() == raw


def test_the_run_cache_runs_anew_or_gives_the_same(damaged, tmp_path, caplog):
    shared = RunCache(tmp_path / "shared")
    entry = shared.entry(block(12).identity({}))
    entry.parent.mkdir(parents=True)
    shutil.move(damaged.path, entry)
    execute(block(12), tmp_path / "run.nc", tmp_path / "checkpoints", shared=shared)
    assert_same_numbers(read_runs(tmp_path / "run.nc"), read_runs(damaged.whole / "run.nc"))
    assert ("damaged entry" in caplog.text) == damaged.noticed
    assert entry.with_name(f"{entry.name}.broken").exists() == damaged.noticed
