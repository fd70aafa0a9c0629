"""The run loop on the real hills problem."""

import gc
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from experiments import block

from bocu.core.errors import BocuError
from bocu.core.io.files import canonical_json, read_netcdf
from bocu.core.numerics import kernel_in_use
from bocu.learners.algorithms.base import Algorithm
from bocu.sweep.runs.execution import EXIT_TERMINATED, Block, execute, replayed_to


def run(folder, name, wanted, seconds=1e9):
    path = folder / f"{name}.nc"
    execute(wanted, path, folder / f"{name}-checkpoints", seconds)
    return read_netcdf(path)


def assert_same_numbers(one, other):
    """Bit for bit, data and coordinates; times and provenance aside."""
    one, other = one.drop_vars("seconds").drop_attrs(deep=False), other.drop_vars("seconds").drop_attrs(deep=False)
    xr.testing.assert_identical(one, other)
    for name, variable in one.variables.items():
        if variable.dtype.kind != "O":
            assert variable.values.tobytes() == other[name].values.tobytes(), name


@pytest.mark.parametrize("algorithm", ["regret-balancing", "pe-gp-ucb"])
def test_seeds_do_not_depend_on_who_shares_the_job(tmp_path, algorithm):
    whole = run(tmp_path, "whole", block(algorithm, (0, 3)))
    part = run(tmp_path, "part", block(algorithm, (2, 3)))
    assert_same_numbers(whole.sel(seed=[2, 3]), part)


def test_more_iterations_continue_a_finished_run_bit_for_bit(tmp_path, caplog):
    caplog.set_level("INFO")
    run(tmp_path, "grown", block(iterations=23))
    grown = run(tmp_path, "grown", block(iterations=40))
    assert "continuing its 23 iterations" in caplog.text
    assert_same_numbers(grown, run(tmp_path, "fresh", block(iterations=40)))


@pytest.mark.parametrize("change", [{"fingerprint": "other code"}, {"noise": 0.07}, {"seeds": (1, 3)}])
def test_a_run_of_anything_else_is_not_continued(tmp_path, caplog, change):
    caplog.set_level("INFO")
    run(tmp_path, "run", block(iterations=10))
    changed = run(tmp_path, "run", block(iterations=20, **change))
    assert "continuing" not in caplog.text
    assert_same_numbers(changed, run(tmp_path, "fresh", block(iterations=20, **change)))


CHILD = """
import json, sys
from bocu.sweep.runs.execution import Block, execute
specification, output, checkpoints, seconds = sys.argv[1:5]

def advance(rounds):
    if rounds == 1:
        print("asks", flush=True)
        sys.stdin.readline()

execute(Block(json.loads(specification), {}, "code"), output, checkpoints, float(seconds), advance)
"""


def start_child(folder, wanted, seconds, rounds=0):
    """Start a run in a process of its own, which holds after so many rounds until its standard input ends."""
    arguments = [
        canonical_json(wanted.specification),
        str(folder / "run.nc"),
        str(folder / "checkpoints"),
        str(seconds),
    ]
    pipe = subprocess.PIPE
    child = subprocess.Popen([sys.executable, "-c", CHILD, *arguments], stdin=pipe, stdout=pipe, text=True)
    child.stdin.write("\n" * rounds)
    child.stdin.flush()
    return child


def test_killed_again_and_again_the_run_resumes_to_the_same_bits(tmp_path):
    wanted = block(seeds=(0, 3), iterations=150)
    generator = np.random.default_rng(0)
    for _ in range(4):
        # At work, in the middle of a checkpoint, or where it holds: wherever it has come to by then.
        child = start_child(tmp_path, wanted, 0, int(generator.integers(20, 140)))
        child.stdout.readline()
        time.sleep(generator.uniform(0, 0.5))
        child.kill()
        child.communicate()
        assert child.returncode == -signal.SIGKILL
        assert not (tmp_path / "run.nc").exists()
    child = start_child(tmp_path, wanted, 0)
    child.communicate()
    assert child.returncode == 0
    assert_same_numbers(read_netcdf(tmp_path / "run.nc"), run(tmp_path, "fresh", wanted))
    assert not (tmp_path / "checkpoints").exists()
    assert not list(tmp_path.glob(".*.tmp"))


def test_sigterm_saves_a_checkpoint_and_exits(tmp_path, caplog):
    wanted = block(iterations=100)
    child = start_child(tmp_path, wanted, 1e9, rounds=5)
    for _ in range(6):
        assert child.stdout.readline() == "asks\n"
    child.send_signal(signal.SIGTERM)
    child.communicate()
    assert child.returncode == EXIT_TERMINATED
    assert len(list(tmp_path.glob("checkpoints/generation-*"))) == 1
    assert not (tmp_path / "run.nc").exists()
    caplog.set_level("INFO")
    execute(wanted, tmp_path / "run.nc", tmp_path / "checkpoints", 1e9)
    assert "going on from a checkpoint, " in caplog.text


def test_replay_gives_the_algorithm_as_it_was(tmp_path):
    wanted = block(iterations=30)
    run(tmp_path, "run", wanted)
    realisation, algorithm = replayed_to(tmp_path / "run.nc", {}, seed=1, until=17)
    shorter = run(tmp_path, "shorter", block(iterations=18))
    next_decision = algorithm.ask(realisation.round(18))
    assert next_decision == shorter.decision_index.sel(seed=1, iteration=18)


def test_missing_input_names_the_file_and_the_command(tmp_path):
    wanted = block()
    with pytest.raises(BocuError, match=r"nowhere/a\.nc: no such file; `snakemake nowhere/a\.nc` makes it"):
        execute(Block(wanted.specification, {"data": "nowhere/a.nc"}, "code"), tmp_path / "a.nc", tmp_path / "c")


def test_run_file_says_where_it_comes_from(tmp_path):
    data = run(tmp_path, "run", block())
    assert json.loads(data.attrs["specification"])["iterations"] == 40
    assert {"python", "numpy", "scipy", "xarray"} <= set(json.loads(data.attrs["package_versions"]))
    assert data.attrs["numeric_threads"] == 1
    assert data.attrs["cpu"]
    assert data.attrs["kernel"] == kernel_in_use()
    head = subprocess.run(["git", "-C", Path(__file__).parent, "rev-parse", "HEAD"], capture_output=True, text=True)
    assert data.attrs["commit"].removesuffix("-dirty") == (head.stdout.strip() or "unknown")
    assert data.attrs["commit"] not in data.attrs["identity"] + data.attrs["specification"]
    assert data.attrs["wall_seconds"] > 0
    assert data.sizes == {"seed": 3, "iteration": 40, "decision_dim": 1, "context_dim": 1, "prior": 11}
    assert (tmp_path / "run.nc").stat().st_size < 200_000


def test_finished_seeds_of_a_block_leave_no_posterior_in_memory(tmp_path):
    at_the_start_of_a_seed = []

    def count(steps):
        if not steps:
            gc.collect()
            at_the_start_of_a_seed.append(sum(isinstance(thing, Algorithm) for thing in gc.get_objects()))

    gc.collect()
    gc.freeze()  # what was there before is not looked through
    try:
        execute(block(seeds=(0, 4)), tmp_path / "run.nc", tmp_path / "checkpoints", advance=count)
    finally:
        gc.unfreeze()
    assert at_the_start_of_a_seed == [1, 1, 1, 1, 1]
