"""What the scores of an experiment's branches take beside their runs, and what they would if all decisions were valued.

    python tests/benchmarks/scores.py kirschner2020 a-data-driven-sd b-general-sd --seeds 5
    python tests/benchmarks/scores.py tay2024 gp-sample --rounds 1000

Every branch of the problems named, or of all that need no data, is played and scored in this process. Processor time;
what is compiled is loaded before. "all" is the score without bounds: every round by itself values all its decisions.
"""

from bocu.core.numerics import pin_kernel

pin_kernel()  # before NumPy is imported

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import yaml

from bocu.core.io.files import read_netcdf
from bocu.sweep.evaluation.metrics import Metric, ObjectiveMetric
from bocu.sweep.evaluation.scores import score
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.runs.execution import Block, execute

ROOT = Path(__file__).parents[2]


def seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", help="name of a file in config/experiments")
    parser.add_argument("problems", nargs="*", help="labels")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rounds", type=int, help="in place of the experiment's")
    arguments = parser.parse_args()
    file = ROOT / f"config/experiments/{arguments.experiment}.yaml"
    experiment = yaml.safe_load(file.read_text())
    if arguments.rounds:
        experiment["iterations"] = arguments.rounds
    plan = make_plan(experiment, [file], sources_file=ROOT / "data/sources.yaml")
    os.chdir(tempfile.mkdtemp())
    print(f"{'branch':>60} {'run, s':>8} {'score, s':>9} {'ratio':>6} {'all, s':>8} {'ratio':>6}")
    for branch in plan.branches.values():
        problem = branch.problem.label
        if plan.inputs.problem(problem) or (arguments.problems and problem not in arguments.problems):
            continue
        metrics = json.loads(plan.parameters.score(branch)["metrics"])
        specification = branch.specification

        def play(seeds: int, specification: Any = specification) -> None:
            execute(Block({**specification, "seeds": [0, seeds - 1]}, {}, "code"), f"runs-{seeds}.nc", "checkpoints")

        def scored(output: str, seeds: int, specification: Any = specification, metrics: Any = metrics) -> None:
            score([f"runs-{seeds}.nc"], {}, specification, metrics, output)

        play(1)
        scored("score-1.nc", 1)
        run = seconds(lambda play=play: play(arguments.seeds))
        took = seconds(lambda scored=scored: scored("score.nc", arguments.seeds))
        with patch.object(ObjectiveMetric, "best_and_taken", Metric.best_and_taken):
            plainly = seconds(lambda scored=scored: scored("all.nc", arguments.seeds))
        for name in ("regret", "value"):
            ours, theirs = (read_netcdf(made)[name].values for made in ("score.nc", "all.nc"))
            if not np.array_equal(ours, theirs, equal_nan=True):
                print(f"{name}: {(ours != theirs).sum()} of {ours.size} differ, by {np.nanmax(np.abs(ours - theirs))}")
        print(
            f"{'/'.join((problem, branch.objective.label if branch.objective else 'any', branch.algorithm.label)):>60} "
            f"{run:8.2f} {took:9.2f} {took / run:6.2f} {plainly:8.2f} {plainly / run:6.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
