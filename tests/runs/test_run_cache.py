"""Run files taken over by other experiments, made by the real run loop."""

import errno
import os

import numpy as np
import pytest
from test_runs import assert_same_numbers, block

from bocu.core.io.files import read_netcdf
from bocu.sweep.runs.execution import Block, execute
from bocu.sweep.runs.run_cache import RunCache


@pytest.fixture
def shared(tmp_path):
    return RunCache(tmp_path / "shared")


def run(folder, name, wanted, shared):
    path = folder / name / "run.nc"
    told = []
    execute(wanted, path, folder / name / "checkpoints", 1e9, told.append, shared)
    assert sum(told) == wanted.rounds
    assert not (folder / name / "checkpoints").exists()
    return path


def entries(shared):
    return sorted(shared.folder.rglob("*.nc"))


def test_a_block_that_ran_under_another_name_is_taken_over_with_its_provenance(tmp_path, shared, caplog):
    caplog.set_level("INFO")
    first = run(tmp_path, "first", block(), shared)
    assert "taken over" not in caplog.text
    second = run(tmp_path, "second", block(), shared)
    assert "taken over" in caplog.text
    assert second.read_bytes() == first.read_bytes()  # wall time and machine included: it was not run again
    assert len(entries(shared)) == 1


def test_the_store_costs_no_space_and_what_is_taken_over_is_a_file_of_its_own_and_new(tmp_path, shared):
    first = run(tmp_path, "first", block(), shared)
    os.utime(first, (1, 1))
    assert first.samefile(entries(shared)[0])
    second = run(tmp_path, "second", block(), shared)
    assert not first.samefile(second)
    assert second.stat().st_mtime > 1e9


@pytest.mark.parametrize(
    "change",
    [{"fingerprint": "other"}, {"noise": 0.07}, {"seeds": (1, 3)}, {"iterations": 41}, {"algorithm": "random"}],
)
def test_nothing_else_is_taken_over(tmp_path, shared, caplog, change):
    caplog.set_level("INFO")
    run(tmp_path, "first", block(), shared)
    second = run(tmp_path, "second", block(**change), shared)
    assert "taken over" not in caplog.text
    execute(block(**change), tmp_path / "alone.nc", tmp_path / "c")
    assert_same_numbers(read_netcdf(second), read_netcdf(tmp_path / "alone.nc"))
    assert len(entries(shared)) == 2


def test_other_contents_of_an_input_file_are_not_taken_over_and_the_same_elsewhere_are(tmp_path, shared, caplog):
    caplog.set_level("INFO")
    files = {name: tmp_path / f"{name}.txt" for name in ("one", "same", "other")}
    for name, path in files.items():
        path.write_text("other" if name == "other" else "contents")
    wanted = {name: Block(block().specification, {"data": str(path)}, "code") for name, path in files.items()}
    run(tmp_path, "first", wanted["one"], shared)
    run(tmp_path, "second", wanted["other"], shared)
    assert "taken over" not in caplog.text
    run(tmp_path, "third", wanted["same"], shared)
    assert "taken over" in caplog.text


def test_an_entry_that_holds_another_run_is_run_again_and_mended(tmp_path, shared, caplog):
    first = read_netcdf(run(tmp_path, "first", block(), shared))
    entry = entries(shared)[0]
    entry.unlink()  # or the first run would be damaged with it
    entry.write_bytes(run(tmp_path, "another", block(seeds=(5, 6)), RunCache(tmp_path / "s")).read_bytes())
    second = run(tmp_path, "second", block(), shared)
    assert "damaged entry" in caplog.text
    assert_same_numbers(read_netcdf(second), first)
    assert second.samefile(entry)


def test_more_iterations_continue_the_own_file_and_leave_the_shared_one_as_it_was(tmp_path, shared, caplog):
    caplog.set_level("INFO")
    first = run(tmp_path, "first", block(iterations=20), shared)
    before = first.read_bytes()
    run(tmp_path, "second", block(iterations=20), shared)
    longer = run(tmp_path, "second", block(iterations=30), shared)
    assert "continuing its 20 iterations" in caplog.text
    assert first.read_bytes() == before
    execute(block(iterations=30), tmp_path / "fresh.nc", tmp_path / "c")
    assert_same_numbers(read_netcdf(longer), read_netcdf(tmp_path / "fresh.nc"))
    back = run(tmp_path, "first", block(iterations=30), shared)
    assert back.read_bytes() == longer.read_bytes()
    np.testing.assert_array_equal(read_netcdf(back)["iteration"], np.arange(1, 31))


def test_where_links_cannot_be_made_the_store_holds_copies(tmp_path, shared, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    first = run(tmp_path, "first", block(), shared)
    second = run(tmp_path, "second", block(), shared)
    assert first.read_bytes() == second.read_bytes() == entries(shared)[0].read_bytes()
    assert entries(shared)[0].stat().st_nlink == 1


def test_a_store_that_cannot_be_written_costs_no_run(tmp_path, caplog):
    (tmp_path / "shared").write_text("a file where a folder belongs")
    assert run(tmp_path, "first", block(), RunCache(tmp_path / "shared")).is_file()
    assert "not shared with other experiments" in caplog.text
