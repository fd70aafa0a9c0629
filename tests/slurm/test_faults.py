"""Faults, each tried for real. What is expected stands in each test's docstring, written before it was tried.

Those that take many minutes are drills. docs/cluster.md has the table.
"""

import os
import random
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from experiments import tiny

from bocu.core.io.files import read_netcdf

CUBE = "results/tiny/cubes/hills.nc"

long_drill = pytest.mark.drill


def one_block(seconds: float, **changes):
    """One block of one seed that takes several seconds."""
    return tiny(
        seeds={"count": 1, "per_job": 1},
        iterations=8_000,
        algorithms=["pe-gp-ucb"],
        problems=[{"name": "hills", "parameters": {"grid": 100}}],
        checkpoint_seconds=seconds,
        **changes,
    )


def numbers(path):
    return read_netcdf(path).drop_vars("seconds").drop_attrs()


def assert_undisturbed(sweep, undisturbed, experiment):
    """The disturbed sweep comes to the cube of an undisturbed one, bit for bit, and leaves nothing lying about."""
    sweep.run("--executor=warm", CUBE, slurm=False)
    assert numbers(sweep.folder / CUBE).identical(numbers(undisturbed(experiment)))
    assert not sweep.leftovers()
    assert not sweep.checkpoints()


RUN = "results/tiny/runs/hills/any/pe-gp-ucb/seeds-0-0.nc"


def attempts(text):
    return text.count("has been submitted with SLURM jobid")


def computing(wait_until, sweep):
    """Wait until the block computes; give its process."""

    def heeding_sigterm():
        return [process for process in sweep.run_processes() if catches(process, signal.SIGTERM)]

    return wait_until(heeding_sigterm, "a run that computes")[0]


def catches(process, number):
    """Whether a process has a handler for a signal; a run has one for SIGTERM as long as it holds its block."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False
    caught = int(re.search(r"^SigCgt:\s*([0-9a-f]+)", status, re.MULTILINE).group(1), 16)
    return bool(caught >> (number - 1) & 1)


def assert_taken_up(sweep, undisturbed, experiment, submissions):
    """The sweep ends well after so many submissions of its run, which went on from its checkpoint."""
    text = sweep.wait()
    assert text.endswith("exit status 0"), text
    assert attempts(text) == submissions
    assert "going on from a checkpoint" in sweep.log()
    assert_undisturbed(sweep, undisturbed, experiment)


@pytest.mark.slurm
def test_scancel(cluster, sweep, undisturbed, wait_until):
    """The run gets SIGTERM, saves a checkpoint though none is due, is submitted again, and goes on from there."""
    experiment = one_block(1000)
    sweep.configure(experiment)
    sweep.start(RUN)
    process = computing(wait_until, sweep)
    os.kill(process, signal.SIGSTOP)  # held up until it is cancelled; SLURM sends SIGCONT with its SIGTERM
    subprocess.run(["scancel", *sweep.jobs()], check=True)
    wait_until(sweep.checkpoints, "a checkpoint")
    assert_taken_up(sweep, undisturbed, experiment, submissions=2)


@pytest.mark.slurm
@long_drill
def test_kill_of_a_job(cluster, sweep, undisturbed, wait_until):
    """The job fails, is submitted again, and goes on from the last checkpoint that its interval saved."""
    experiment = one_block(1)
    sweep.configure(experiment)
    sweep.start(RUN)
    process = computing(wait_until, sweep)
    wait_until(sweep.checkpoints, "a checkpoint")
    os.kill(process, signal.SIGKILL)
    assert_taken_up(sweep, undisturbed, experiment, submissions=2)


@pytest.mark.slurm
@long_drill
def test_node_down(cluster, sweep, undisturbed, wait_until):
    """SLURM queues the job again under its number; Snakemake waits for it, and it goes on from its checkpoint."""
    experiment = one_block(1)
    sweep.configure(experiment)
    sweep.start(RUN)
    computing(wait_until, sweep)
    wait_until(sweep.checkpoints, "a checkpoint")
    subprocess.run(["scontrol", "update", f"nodename={cluster}", "state=down", "reason=drill"], check=True)
    try:
        wait_until(lambda: not sweep.jobs(), "the job to leave the node")
        time.sleep(3)
    finally:
        subprocess.run(["scontrol", "update", f"nodename={cluster}", "state=resume"], check=False)
    assert_taken_up(sweep, undisturbed, experiment, submissions=1)


@pytest.mark.slurm
@long_drill
def test_time_limit(cluster, sweep, undisturbed, wait_until):
    """At the limit the run gets SIGTERM and saves; the next attempt has more time and goes on from there."""
    experiment = one_block(1000)
    sweep.configure(experiment)
    sweep.start("--set-resources=run:runtime=attempt", RUN)
    process = computing(wait_until, sweep)
    os.kill(process, signal.SIGSTOP)  # held up until the limit; SLURM sends SIGCONT with its SIGTERM
    wait_until(sweep.checkpoints, "a checkpoint", 180)
    text = sweep.wait()
    assert text.endswith("exit status 0"), text
    assert attempts(text) == 2
    assert "going on from a checkpoint" in sweep.log()
    limits = subprocess.run(
        ["squeue", "--noheader", "--states=all", "--format=%Z|%l|%T"], capture_output=True, text=True, check=True
    ).stdout
    assert f"{sweep.folder}|1:00|TIMEOUT" in limits
    assert f"{sweep.folder}|2:00|COMPLETED" in limits
    assert_undisturbed(sweep, undisturbed, experiment)


@pytest.mark.slurm
@long_drill
def test_memory_limit(cluster, sweep, undisturbed):
    """SLURM ends the job; the next attempt asks for more memory and succeeds."""
    settings = subprocess.run(["scontrol", "show", "config"], capture_output=True, text=True, check=True).stdout
    if "OverMemoryKill" not in settings and "task/cgroup" not in settings:
        pytest.skip("this SLURM neither polls nor confines memory")
    experiment = one_block(1)
    sweep.configure(experiment)
    text = sweep.run("--set-resources=run:mem_mb=250*attempt**2", RUN)
    assert attempts(text) == 2
    assert_undisturbed(sweep, undisturbed, experiment)


@pytest.mark.slurm
@long_drill
def test_snakemake_killed_and_restarted(cluster, sweep, undisturbed, wait_until):
    """Its job goes on alone. A restart names the stale lock; once unlocked and the job cancelled, it goes on."""
    experiment = one_block(1000)
    sweep.configure(experiment)
    child = sweep.start(RUN)
    computing(wait_until, sweep)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    time.sleep(1)
    assert len(sweep.jobs()) == 1
    refused = sweep.run(RUN, check=False)
    assert "LockException" in refused
    assert "`bocu resume FILE` waits for what still runs" in refused
    sweep.run("--unlock", RUN, slurm=False)
    subprocess.run(["scancel", *sweep.jobs()], check=True)
    wait_until(lambda: sweep.checkpoints() and not sweep.run_processes(), "the job to end with a checkpoint")
    text = sweep.run(RUN)
    assert attempts(text) == 1
    assert "going on from a checkpoint" in sweep.log()
    assert_undisturbed(sweep, undisturbed, experiment)


@pytest.mark.slurm
@pytest.mark.ci
def test_disk_full(sweep, undisturbed):
    """One line names the file and the reason, no partial file stays, and with room again the sweep ends as ever."""
    experiment = one_block(1)
    sweep.configure(experiment)
    results = sweep.folder / "results"
    results.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(results)], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        text = sweep.run("--retries=0", RUN, slurm=False, check=False)
        assert not text.endswith("exit status 0")
        (line,) = set(re.findall(r"^error: .*", text, re.MULTILINE))
        assert "could not be written: No space left on device" in line
        assert not (sweep.folder / RUN).exists()
        assert not sweep.leftovers()
        subprocess.run(["mount", "-o", "remount,size=1g", str(results)], check=True)
        assert_undisturbed(sweep, undisturbed, experiment)
    finally:
        subprocess.run(["umount", "--lazy", str(results)], check=False)


@long_drill
def test_a_hundred_random_kills(sweep, undisturbed, wait_until):
    """Each killed run is started again and goes on from its checkpoint; the cube is that of an undisturbed sweep."""
    experiment = tiny(
        seeds={"count": 4, "per_job": 2},
        iterations=30_000,
        problems=[{"name": "hills", "parameters": {"grid": 100}}],
        algorithms=["pe-gp-ucb", "mle", "random"],
        checkpoint_seconds=0.2,
    )
    sweep.configure(experiment)
    generator = random.Random(20261121)
    child = sweep.start("--retries=1000", CUBE, slurm=False)
    kills = resumed = 0
    while kills < 100 and child.poll() is None:
        time.sleep(generator.uniform(0.0, 1.5))
        if processes := sweep.run_processes():
            resumed += bool(sweep.checkpoints())
            os.kill(generator.choice(processes), signal.SIGKILL)
            kills += 1
    text = sweep.wait()
    print(f"{kills} kills, {resumed} of them with a checkpoint on disk")
    assert text.endswith("exit status 0"), text
    assert kills == 100
    assert_undisturbed(sweep, undisturbed, experiment)


@pytest.mark.slurm
@long_drill
def test_interrupt_from_the_keyboard(cluster, sweep, undisturbed, wait_until):
    """Snakemake cancels its job, which saves a checkpoint, and unlocks the folder; the next start goes on."""
    experiment = one_block(1000)
    sweep.configure(experiment)
    child = sweep.start(RUN)
    computing(wait_until, sweep)
    os.kill(child.pid, signal.SIGINT)
    assert child.wait(60) != 0
    wait_until(lambda: sweep.checkpoints() and not sweep.run_processes(), "the job to end with a checkpoint")
    text = sweep.run(RUN)
    assert attempts(text) == 1
    assert "going on from a checkpoint" in sweep.log()
    assert_undisturbed(sweep, undisturbed, experiment)
