"""Runs of algorithms without `state` and `restore` are killed and go on to the same bits."""

import os
import signal
from pathlib import Path

import pytest
from grids import specification
from test_runs import assert_same_numbers, start_child

from bocu.core.io.files import read_netcdf
from bocu.sweep.runs.execution import Block, execute


def wanted(algorithm, iterations=30):
    return Block(specification(iterations, (0, 1), f"outsiders:{algorithm}"), {}, "code")


def start(folder, block, rounds):
    """Start a run that saves after every round, and wait until it has played so many and holds."""
    child = start_child(folder, block, 0.0, rounds)
    for _ in range(rounds + 1):
        assert child.stdout.readline() == "asks\n"
    return child


@pytest.mark.parametrize("algorithm", ["Plain", "Modelled"])
def test_killed_it_resumes_to_the_same_bits(tmp_path, monkeypatch, algorithm):
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    )
    block = wanted(algorithm)
    for rounds in (11, 9, 12):  # in the first seed, towards its end, in the second
        child = start(tmp_path, block, rounds)
        child.kill()
        child.communicate()
        assert child.returncode == -signal.SIGKILL
        assert not (tmp_path / "run.nc").exists()
    child = start(tmp_path, block, 0)
    child.communicate("\n" * 60)
    assert child.returncode == 0
    execute(block, tmp_path / "whole.nc", tmp_path / "other")
    found, whole = (read_netcdf(tmp_path / f"{name}.nc") for name in ("run", "whole"))
    assert_same_numbers(found, whole)


def test_a_model_that_is_not_plain_is_told_again_and_a_plain_state_is_not(tmp_path):
    from bocu.sweep.runs.seed_run import SeedRun, build_problem

    for algorithm, told in (("Plain", 0), ("Modelled", 13)):
        specified = wanted(algorithm).specification
        problem = build_problem(specified["problem"], {})
        run = SeedRun(specified, problem, 0)
        for _ in range(13):
            run.play()
        fresh = SeedRun(specified, problem, 0)
        heard = []
        learn = fresh.algorithm.tell
        fresh.algorithm.tell = lambda *words, heard=heard, learn=learn: (heard.append(words), learn(*words))
        fresh.restore({**run.state(), "algorithm": run.algorithm.state()})
        assert len(heard) == told, algorithm
