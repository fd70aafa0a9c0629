"""Cells of a table, each measured in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from bocu.sweep.experiment.branches import Branch
from bocu.sweep.experiment.planning import make_plan

Entry = str | dict[str, Any]


def branch_of(problem: Entry, algorithm: Entry, rounds: int, objectives: Sequence[Entry] = ()) -> Branch:
    """Return the one branch of an experiment."""
    experiment = {
        "name": "cell",
        "seeds": 1,
        "iterations": rounds,
        "problems": [problem],
        "objectives": [*objectives],
        "algorithms": [algorithm],
        "metrics": ["so"],
        "figures": [],
    }
    (branch,) = make_plan(experiment).branches.values()
    return branch


def in_a_process(file: str, *words: str) -> Any:
    """Return what a benchmark prints of one cell, with one numeric thread."""
    command = [sys.executable, file, "--cell", *words]
    one_thread = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **one_thread})
    return json.loads(done.stdout)
