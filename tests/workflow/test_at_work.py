"""What a command shows where it says nothing for a while, in a real terminal, and in none."""

import contextlib
import os
import pty
import re
import subprocess
import sys

import pytest
from experiments import tiny
from workflow.conftest import BIN

pytestmark = pytest.mark.workflow

ERASE = "\r\x1b[K"
REPORTS = """
import sys, time
from bocu.core.io import progress
progress.SECONDS_OF_SILENCE_IN_A_LOG = 1.0
with progress.AtWork("trial"):
    print("begins", end="", flush=True)
    time.sleep(4)
    print(", and ends")
    print("told", file=sys.stderr)
"""


def in_a_terminal(command, folder):
    """Run a command whose standard error is a terminal; return the standard output and what the terminal got."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, cwd=folder, stderr=theirs, stdout=subprocess.PIPE, text=True) as child:
        os.close(theirs)
        told = b""
        with contextlib.suppress(OSError):  # when all who could write have ended
            while piece := os.read(ours, 4096):
                told += piece
        os.close(ours)
        return child.stdout.read(), told.decode()


@pytest.mark.ci
def test_a_slow_command_counts_seconds_in_a_terminal_and_erases_them(pipeline):
    """It looks at 20,000 blocks, each of a quarter of a millisecond or more."""
    file = pipeline.configuration(tiny(seeds={"count": 10_000, "per_job": 1}))
    out, told = in_a_terminal([BIN / "bocu", "plan", file], pipeline.folder)
    assert "pe-gp-ucb" in out
    assert ERASE not in out
    assert told.startswith(ERASE)
    assert told.endswith(ERASE)
    shown = filter(None, told.split(ERASE))  # nothing between two, where it says something and falls silent again
    seconds = [int(re.fullmatch(r"bocu plan: at work for (\d+) s", line)[1]) for line in shown]
    assert seconds == sorted(seconds)
    assert seconds[0] >= 2


def test_where_there_is_no_terminal_lines_are_whole_and_standard_output_is_as_ever(pipeline):
    done = subprocess.run(
        [sys.executable, "-c", REPORTS], capture_output=True, text=True, cwd=pipeline.folder, check=True
    )
    assert done.stdout == "begins, and ends\n"
    lines = done.stderr.splitlines()
    assert lines[-1] == "told"
    assert len(lines) >= 3
    assert all(line.startswith("trial: at work for ") for line in lines[:-1])
