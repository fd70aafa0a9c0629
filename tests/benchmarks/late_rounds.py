"""Seconds of single rounds late in a run over a box, and their forecast, without playing all rounds before them.

    python tests/benchmarks/late_rounds.py huang2024 ackley-2-4 --algorithms sbo-kde minimax-continuous --at 30 100 300

Decisions up to then are those of GP-UCB, which is cheap, of a problem that reads no file; each algorithm is told them
and asked once, in processor time, its fit included. A first question, for what it imports and compiles, is not counted.
Two versions are compared by calling it in two clones by turns.
"""

import argparse
import os
import time
from dataclasses import replace
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np

from bocu.core.plain import Specification
from bocu.sweep.experiment.branches import Branch
from bocu.sweep.experiment.configuration import read_experiment_file
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.resources import estimate
from bocu.sweep.runs.seed_run import SeedRun, build_problem

ROOT = Path(__file__).parents[2]
Arrays = dict[str, np.ndarray]
INPUTS: dict[str, Path] = {}  # "data": the prepared file of problems that read one


def begun(specification: Specification, seed: int) -> SeedRun:
    return SeedRun(specification, build_problem(specification["problem"], INPUTS), seed)


def branches_of(experiment: str, problem: str) -> dict[str, Branch]:
    """Return the branches of a problem of an experiment of the project, by algorithm."""
    file = ROOT / f"config/experiments/{experiment}.yaml"
    plan = make_plan(read_experiment_file(file), [file])
    return {key[2]: branch for key, branch in plan.branches.items() if key[0] == problem}


def of_gp_ucb(branches: dict[str, Branch], seed: int, rounds: int) -> tuple[Arrays, int]:
    """Play GP-UCB; return what it recorded but its own reports, and the points of the initial design."""
    run = begun(branches["gp-ucb"].specification, seed)
    while run.t <= rounds:
        run.play()
    own = {report.name for report in run.algorithm.reports}
    return {key: array for key, array in run.record.arrays.items() if key not in own}, run.initial


def tell(run: SeedRun, told: Arrays, rows: int) -> None:
    """Tell a run so many rows; what another algorithm reported says nothing of this one, which fits anew."""
    missing = {key: np.full((rows, *array.shape[1:]), np.nan) for key, array in run.record.arrays.items()}
    run.replay({key: told[key][:rows] if key in told else missing[key] for key in missing}, None)


def asked(branch: Branch, seed: int, told: Arrays, rounds: int) -> float:
    """Processor seconds of the decision after `rounds` rounds that were told."""
    run = begun(branch.specification, seed)
    tell(run, told, run.initial + rounds)
    start = time.process_time()
    run.algorithm.ask(run.announced())
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", help="name of one below config/experiments")
    parser.add_argument("problem", help="its label")
    parser.add_argument("--algorithms", nargs="*", default=[], help="labels; all of them if left out")
    parser.add_argument("--at", type=int, nargs="+", default=[30, 100, 300])
    parser.add_argument("--seed", type=int, default=100)
    arguments = parser.parse_args()
    branches = branches_of(arguments.experiment, arguments.problem)
    told, _ = of_gp_ucb(branches, arguments.seed, max(arguments.at))
    for label in arguments.algorithms or branches:
        branch = branches[label]
        asked(branch, arguments.seed, told, min(arguments.at))
        for t in arguments.at:
            seconds = asked(branch, arguments.seed, told, t)
            after, before = (estimate(replace(branch, iterations=n), 1).seconds for n in (t + 1, t))
            print(f"{label:<24} t = {t:<4} {seconds:8.3f} s, forecast {after - before:8.3f} s", flush=True)


if __name__ == "__main__":
    main()
