"""What became of blocks, on files of the real run loop, checkpoints and locks."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import netCDF4
import pytest
from experiments import tiny

from bocu.core.io.hashes import record_digest
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.jobs import ATTEMPT
from bocu.sweep.pruning import leftovers
from bocu.sweep.runs.checkpoints import CheckpointStore, hold, peek
from bocu.sweep.runs.execution import Block, execute
from bocu.sweep.runs.run_cache import digest
from bocu.sweep.runs.seed_run import SeedRun, build_problem
from bocu.sweep.staleness import Staleness
from bocu.sweep.status import KILLED, BlockState, statuses


@pytest.fixture
def plan(elsewhere):
    return make_plan(tiny(algorithms=["random"]))


@pytest.fixture
def branch(plan):
    return plan.branch("hills", "any", "random")


def specification(plan, branch, first=0, last=1):
    return json.loads(plan.parameters.run(branch, first, last)["specification"])


def make(plan, branch, first=0, last=1, **changes):
    parameters = plan.parameters.run(branch, first, last)
    wanted = {**specification(plan, branch, first, last), **changes}
    execute(Block(wanted, {}, parameters["fingerprint"]), plan.paths.run_file(branch, first, last), "c")


def checkpoint(plan, branch, rounds, first=0, last=1):
    """Save a checkpoint of the first seed after some rounds, as the run loop does."""
    plain = specification(plan, branch, first, last)
    run = SeedRun(plain, build_problem(plain["problem"], {}), first)
    for _ in range(rounds):
        run.play()
    store = CheckpointStore(plan.paths.checkpoint(branch, first, last), "identity")
    store.save({"runs": [run.state()]})
    return store


def log(plan, branch, text, first=0, last=1):
    path = Path(plan.paths.log(branch, first, last))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def first_block(plan):
    return next(iter(statuses(plan, Staleness(plan))))


def grow_old(folder):
    for path in Path(folder).iterdir():
        os.utime(path, (1, 1))


def test_nothing_is_missing_and_a_run_file_is_done(plan, branch):
    assert [block.state for block in statuses(plan, Staleness(plan))] == [BlockState.MISSING] * 2
    make(plan, branch)
    assert [block.state for block in statuses(plan, Staleness(plan))] == [BlockState.DONE, BlockState.MISSING]
    assert [block.rounds for block in statuses(plan, Staleness(plan))] == [24, 0]


def test_a_run_of_another_specification_or_a_broken_one_is_stale(plan, branch):
    make(plan, branch, iterations=5)
    assert first_block(plan).state is BlockState.STALE
    Path(plan.paths.run_file(branch, 0, 1)).write_bytes(b"nothing")
    assert first_block(plan).state is BlockState.STALE


def test_a_held_lock_is_a_running_block_however_old_its_files_and_looking_takes_it_from_nobody(plan, branch):
    store = checkpoint(plan, branch, 7)
    with hold(store.folder):
        grow_old(store.folder)
        found = first_block(plan)
        assert (found.state, found.rounds, found.of) == (BlockState.RUNNING, 7, 24)
    assert first_block(plan).state is BlockState.FAILED


def test_a_lock_of_another_machine_is_known_by_files_written_lately(plan, branch):
    store = checkpoint(plan, branch, 7)
    (store.folder / "lock").touch()
    assert first_block(plan).state is BlockState.RUNNING
    grow_old(store.folder)
    found = first_block(plan)
    assert (found.state, found.rounds) == (BlockState.FAILED, 7)
    assert found.error == f"{KILLED}; 7 of 24 rounds are saved"
    log(plan, branch, "2026-11-21 03:31:00,785 INFO rounds: 11 of 24, 16 s\n")
    found = first_block(plan)
    assert (found.state, found.rounds) == (BlockState.RUNNING, 11)


def test_a_process_of_this_machine_that_is_no_more_was_killed_however_lately_it_wrote(plan, branch):
    store = checkpoint(plan, branch, 7)
    (store.folder / "lock").touch()
    killed = subprocess.Popen(["sleep", "60"])
    told = f"2026-11-21 03:31:00 INFO {ATTEMPT} on {socket.gethostname()}, process {killed.pid}, after waiting 0 s\n"
    log(plan, branch, told + "2026-11-21 03:31:15,785 INFO rounds: 11 of 24, 16 s\n")
    assert first_block(plan).state is BlockState.RUNNING
    killed.kill()
    os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)  # its parent has not asked how it ended
    found = first_block(plan)
    killed.wait()
    assert (found.state, found.rounds, found.error) == (BlockState.FAILED, 7, f"{KILLED}; 7 of 24 rounds are saved")


def test_a_run_that_the_keyboard_stopped_has_not_failed(plan, branch):
    store = checkpoint(plan, branch, 7)
    code = """
import os, signal, sys, types
from bocu.sweep.jobs import block_job
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what it puts aside without
with block_job(types.SimpleNamespace(output=sys.argv[1:], params={}, rule="run")):
    os.kill(os.getpid(), signal.SIGINT)
    signal.pause()
"""
    run_file = plan.paths.run_file(branch, 0, 1)
    assert subprocess.run([sys.executable, "-c", code, run_file], stderr=subprocess.DEVNULL).returncode
    assert (store.folder / "lock").exists()
    found = first_block(plan)
    assert (found.state, found.rounds) == (BlockState.MISSING, 7)


def test_what_a_stopped_run_saved_counts_and_it_is_not_running(plan, branch):
    store = checkpoint(plan, branch, 7)
    (store.folder / "lock").touch()
    log(
        plan,
        branch,
        "2026-11-21 03:31:00 WARNING asked to stop: saved a checkpoint in x\n2026 INFO rounds: 7 of 24, 3 s\n",
    )
    found = first_block(plan)
    assert (found.state, found.rounds) == (BlockState.MISSING, 7)


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-21 03:31:00 INFO rounds: 3 of 24, 1 s\nerror: data/x.nc: no such file\n",
        "INFO rounds: 3 of 24, 1 s\nTraceback (most recent call last):\n  File x\nValueError: odd\n",
    ],
)
def test_a_log_that_ends_in_an_error_is_a_failed_block(plan, branch, text):
    log(plan, branch, text)
    found = first_block(plan)
    assert found.state is BlockState.FAILED
    assert found.error == text.splitlines()[-1]


def test_an_old_error_is_forgotten_when_the_run_file_stands(plan, branch):
    path = log(plan, branch, "error: once\n")
    make(plan, branch)
    assert first_block(plan).state is BlockState.DONE
    make(plan, branch, iterations=5)
    os.utime(path, (1, 1))
    assert first_block(plan).state is BlockState.STALE
    os.utime(path, (time.time() + 5,) * 2)
    assert first_block(plan).state is BlockState.FAILED


def test_peeking_at_a_damaged_checkpoint_falls_back_to_the_one_before(plan, branch):
    store = checkpoint(plan, branch, 7)
    assert peek(store.folder)["content"]["runs"][0]["done"] == 7
    store.save({"runs": [{"done": 9}]})
    assert peek(store.folder)["content"]["runs"][0]["done"] == 9
    (store.folder / "generation-0").write_bytes(b"nothing")
    assert peek(store.folder)["content"]["runs"][0]["done"] == 7
    assert peek("nowhere") is None


def test_a_run_that_was_edited_is_stale_and_its_checkpoint_stays(plan, branch):
    make(plan, branch)
    make(plan, branch, 2, 3)
    file = plan.paths.run_file(branch, 0, 1)
    record_digest(file, "rule run")
    CheckpointStore(plan.paths.checkpoint(branch, 0, 1), digest(Staleness(plan).identity(branch, 0, 1))).save(
        {"runs": []}
    )
    assert [entry.why for entry in leftovers(plan)] == ["checkpoints: the run file stands"]
    with netCDF4.Dataset(file, "a") as data:
        data["payoff"][:] += 1.0
    assert [block.state for block in statuses(plan, Staleness(plan))] == [BlockState.STALE, BlockState.DONE]
    assert list(leftovers(plan)) == []
