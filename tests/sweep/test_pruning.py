"""Leftovers of one experiment; the whole way is in tests/workflow."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from experiments import tiny

from bocu.core.io.hashes import digest_file
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.pruning import leftovers
from bocu.sweep.runs.checkpoints import CheckpointStore, hold
from bocu.sweep.runs.run_cache import digest
from bocu.sweep.staleness import Staleness


@pytest.fixture
def plan(elsewhere):
    return make_plan(tiny(algorithms=["random"]))


def checkpoint(plan, identity, first=0, last=1):
    store = CheckpointStore(plan.paths.checkpoint(plan.branch("hills", "any", "random"), first, last), identity)
    store.save({"runs": [{"done": 3}]})
    (store.folder / "lock").touch()
    for path in store.folder.iterdir():
        os.utime(path, (1, 1))
    return store


def found(plan):
    return {str(entry.path): entry.why for entry in leftovers(plan)}


def test_a_checkpoint_that_the_block_resumes_from_stays_and_one_of_another_specification_goes(plan):
    branch = plan.branch("hills", "any", "random")
    checkpoint(plan, digest(Staleness(plan).identity(branch, 0, 1)))
    assert found(plan) == {}
    other = checkpoint(plan, "another", 2, 3)
    assert found(plan) == {str(other.folder): "checkpoints: of another specification, code or input"}


def test_a_checkpoint_of_a_block_that_is_gone_goes_unless_it_is_running(plan):
    store = checkpoint(plan, "whatever", 0, 7)
    with hold(store.folder):
        assert found(plan) == {}
    assert found(plan) == {str(store.folder): "checkpoints: not in the plan"}


def test_partial_results_logs_and_benchmarks_go_with_the_files_they_belong_to(plan):
    files = {
        f"results/tiny/{folder}/hills/any/{algorithm}{ending}"
        for algorithm in ("random", "gone")
        for folder, ending in (
            ("partial/scores", ".nc"),
            ("scores", ".nc"),
            ("logs/scores", ".log"),
            ("logs/partial/scores", ".log"),
            ("benchmarks/runs", "/seeds-0-1.tsv"),
            ("benchmarks/partial/scores", ".tsv"),
        )
    }
    for name in (*files, "results/tiny/notes.txt", "results/tiny/report/index.html", "results/tiny/logs/report.log"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()
    assert set(found(plan)) == {name for name in files if "gone" in name}


def test_hashes_go_with_the_files_they_are_of(plan):
    for name in ("random", "gone"):
        path = Path(f"results/tiny/scores/hills/any/{name}.nc")
        path.parent.mkdir(parents=True, exist_ok=True)
        for file in (path, digest_file(path)):
            file.touch()
    gone = "results/tiny/scores/hills/any/gone.nc"
    assert set(found(plan)) == {gone, f"{gone}.sha256"}


def test_broken_files_that_were_set_aside_go(plan):
    broken = {
        "results/tiny/runs/hills/any/random/seeds-0-1.nc.broken": "runs: set aside as broken",
        "results/tiny/cubes/summary.nc.broken": "cubes: set aside as broken",
        "results/.run-cache/ab/abc.nc.broken": "shared runs: set aside as broken",
    }
    for name in broken:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()
    assert found(plan) == broken


def test_temporary_files_of_the_dead_go_and_those_of_the_living_stay(plan):
    host = socket.gethostname().split(".")[0]
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    folder = Path("results/tiny/runs/hills/any/random")
    folder.mkdir(parents=True)
    for process in (dead.pid, os.getpid()):
        (folder / f".seeds-0-1.nc.{host}.{process}.tmp").touch()
    assert list(found(plan)) == [str(folder / f".seeds-0-1.nc.{host}.{dead.pid}.tmp")]
