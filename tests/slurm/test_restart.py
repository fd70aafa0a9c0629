"""Restarts beside jobs that a killed Snakemake left in SLURM's queue. What is expected stands in each docstring."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from experiments import tiny
from slurm.conftest import CUBE
from slurm.test_faults import numbers

pytestmark = [pytest.mark.slurm, pytest.mark.drill]

ROOT = Path(__file__).parents[2]


def experiment(**changes):
    """Two blocks that take several seconds."""
    return tiny(
        seeds={"count": 2, "per_job": 1},
        iterations=8_000,
        algorithms=["pe-gp-ucb"],
        problems=[{"name": "hills", "parameters": {"grid": 100}}],
        checkpoint_seconds=1,
        **changes,
    )


def bocu(sweep, *arguments, **options):
    return subprocess.Popen(
        [str(Path(sys.executable).with_name("bocu")), *arguments],
        cwd=sweep.folder,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )


def status(sweep):
    return bocu(sweep, "status", "experiment.yaml").communicate()[0]


def seconds_computed(process):
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(process).cpu_times().user
    return 0.0


def killed_while_computing(sweep, wait_until, *targets):
    """Start a sweep, kill its Snakemake while a block computes; return that block's process, stopped."""
    child = sweep.start(*targets)
    wait_until(sweep.checkpoints, "a checkpoint")
    process = max(sweep.run_processes(), key=seconds_computed)
    os.kill(process, signal.SIGSTOP)  # as long as it takes
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    return process


def assert_whole(sweep, undisturbed, text):
    """The sweep ended well, no job failed, and it came to the numbers of an undisturbed one."""
    assert "Error in rule" not in text, text
    assert "Traceback" not in text, text
    assert numbers(sweep.folder / CUBE).identical(numbers(undisturbed(experiment())))
    assert not sweep.leftovers()
    assert not sweep.checkpoints()


def test_a_restart_right_away_waits_for_the_jobs_that_still_run(cluster, sweep, undisturbed, wait_until):
    """The new job of the block that runs waits and takes its result; no job fails; the old one's log stays."""
    sweep.configure(experiment())
    process = killed_while_computing(sweep, wait_until, CUBE)
    sweep.run("--unlock", slurm=False)
    sweep.start(CUBE)
    waiting = "another process runs this block; waiting for it"
    logs = sweep.folder / "results/.slurm-logs"
    wait_until(lambda: any(waiting in log.read_text() for log in logs.rglob("*.log")), "a job that waits")
    os.kill(process, signal.SIGCONT)
    text = sweep.wait()
    assert text.endswith("exit status 0"), text
    assert_whole(sweep, undisturbed, text)
    logs = [log.read_text().split(" attempt on ")[1:] for log in sweep.folder.glob("results/tiny/logs/runs/**/*.log")]
    taken = [attempts for attempts in logs if "stands already" in attempts[-1]]
    assert all("rounds: 8000 of 8000" in first and "after waiting 0 s" in first for first, _ in taken)
    assert any("after waiting 0 s" not in second for _, second in taken)


def test_resume_waits_for_the_jobs_of_a_killed_call_and_makes_it_again(cluster, sweep, undisturbed, wait_until):
    """`bocu status` names the jobs; `bocu resume` waits for them, unlocks, and calls Snakemake as before."""
    sweep.configure(experiment())
    (sweep.folder / "data").mkdir()
    (sweep.folder / "data/sources.yaml").symlink_to(ROOT / "data/sources.yaml")
    process = killed_while_computing(sweep, wait_until, CUBE)
    found = status(sweep)
    assert "was killed; `bocu resume` waits for its" in found, found
    assert "running hills/any/pe-gp-ucb/seeds-" in found, found
    rows = {line.split()[2]: line.split() for line in found.splitlines() if line.startswith("hills ")}
    assert int(rows["pe-gp-ucb"][6]) >= 1, found  # running
    assert [row[8] for row in rows.values()] == ["0"], found  # failed
    refused = sweep.run(CUBE, check=False)
    assert "note: results/tiny/" in refused
    assert "locked by a Snakemake that was killed; `bocu resume FILE`" in refused
    child = bocu(sweep, "resume", "experiment.yaml", "--every", "0.5", start_new_session=True)
    sweep.started.append(child)
    assert "waiting for jobs of SLURM: " in child.stdout.readline()
    os.kill(process, signal.SIGCONT)
    text = child.communicate()[0]
    assert child.returncode == 0, text
    assert_whole(sweep, undisturbed, text)
    assert "killed" not in status(sweep)
    assert not list(sweep.folder.glob("results/.calls/*"))
