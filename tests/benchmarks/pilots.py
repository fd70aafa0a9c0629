"""What pilots forecast, against whole runs: of classes that say what they take, and as if they said nothing.

python tests/benchmarks/pilots.py
"""

from bocu.core.numerics import pin_kernel

pin_kernel()  # before NumPy is imported

import argparse
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bocu.sweep import forecast
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.resources import START_SECONDS, BlockEstimate, estimate
from bocu.sweep.runs import pilot
from bocu.sweep.runs.execution import Block, execute

ROOT = Path(__file__).parents[2]
MMD = {"label": "dro", "name": "dro", "parameters": {"set": {"name": "mmd", "radius": 0.2}}}
CASES = [
    ("hills", "random", 1500, 2),
    ("hills", "pe-gp-ucb", 1500, 2),
    ("gp-sample", "ucb-so", 1000, 1),
    ("gp-sample", "ucb-bocu-2", 500, 1),
    ("newsvendor", "gp-ucb", 90, 1),
]


def branch_of(problem: str, algorithm: str, rounds: int) -> Any:
    experiment = {
        "name": "cell",
        "seeds": 1,
        "iterations": rounds,
        "problems": [problem],
        "objectives": [MMD] if algorithm == "ucb-bocu-2" else [],
        "metrics": ["so"],
        "algorithms": [algorithm],
        "figures": [],
    }
    (branch,) = make_plan(experiment, sources_file=ROOT / "data/sources.yaml").branches.values()
    return branch


def as_unknown(branch: Any, seeds: int) -> BlockEstimate:
    return replace(estimate(branch, seeds), unknown=("ignored",))


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    os.chdir(tempfile.mkdtemp())
    head = ("model", "pilot", "unknown", "caution")
    print(f"{'branch':>22} {'rounds':>6} {'played':>6} {'run, s':>8} {' '.join(f'{name:>8}' for name in head)}")
    for problem, algorithm, rounds, seeds in CASES:
        branch = branch_of(problem, algorithm, rounds)
        found = pilot.in_a_process(branch.specification, {}, 0)
        said = [estimate(branch, seeds).seconds - START_SECONDS, forecast.by_pilot(branch, found, seeds).seconds]
        with patch.object(forecast, "estimate", as_unknown):
            said.append(forecast.by_pilot(branch, found, seeds).seconds)
        said.append(60.0 + seeds * rounds)
        start = time.perf_counter()
        specification = {**branch.specification, "seeds": [0, seeds - 1]}
        execute(Block(specification, {}, "measured"), f"{problem}-{algorithm}.nc", "checkpoints")
        seconds = time.perf_counter() - start
        shares = " ".join(f"{value / seconds:>8.2f}" for value in said)
        name = f"{problem}/{algorithm}"
        print(f"{name:>22} {rounds:>6} {found.whole.rounds:>6} {seconds:>8.2f} {shares}", flush=True)


if __name__ == "__main__":
    main()
