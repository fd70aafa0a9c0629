"""What the scores of an experiment's branches take beside their runs, and what they would if all decisions were valued.

    python tests/benchmarks/scores.py kirschner2020 a-data-driven-sd b-general-sd --seeds 5
    python tests/benchmarks/scores.py tay2024 gp-sample --rounds 1000
    python tests/benchmarks/scores.py --shipped [NAME ...] [--data FOLDER] [--rounds 40]

Every branch of the problems named, or of all that need no data, is played and scored in this process. Processor time;
what is compiled is loaded before. "all" is the score without bounds: every round by itself values all its decisions.

`--shipped` takes two branches each of up to four problems of every shipped experiment, at a few rounds: one early in
its list, which runs fast, and a late one. Best decisions that are searched for beforehand stand apart: they are found
once a problem, however many branches there are. `--data` is a folder of prepared data, `data/` of a finished sweep from
a mirror; problems whose files are not there are left out.
"""

from bocu.core.numerics import pin_kernel

pin_kernel()  # before NumPy is imported

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import yaml

from bocu.core.io.files import read_netcdf
from bocu.sweep.evaluation.metrics import Metric, ObjectiveMetric
from bocu.sweep.evaluation.optima import store_optima
from bocu.sweep.evaluation.scores import score
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.runs.execution import Block, execute

ROOT = Path(__file__).parents[2]


def seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def some(items: Sequence[Any], most: int) -> list[Any]:
    """Return some items, evenly spread, the first left out where there are more."""
    return [items[(place + 1) * len(items) // (most + 1)] for place in range(most)] if len(items) > most else [*items]


def shipped(names: Sequence[str], data: Path | None, rounds: int, seeds: int) -> None:
    os.chdir(tempfile.mkdtemp())
    if data is not None:
        Path("data").symlink_to(data)
    head = ("experiment", "problems", "branches", "runs, s", "scores, s", "ratio", "search, s")
    print("{:>26} {:>8} {:>8} {:>8} {:>9} {:>6} {:>9}".format(*head), flush=True)
    for file in sorted(ROOT.glob("config/experiments/*.yaml")):
        if not names or file.stem in names:
            of_experiment(file, data, rounds, seeds)


def of_experiment(file: Path, data: Path | None, rounds: int, seeds: int) -> None:
    experiment = yaml.safe_load(file.read_text())
    experiment["iterations"] = min(rounds, experiment["iterations"])
    experiment["data"] = {"source": "mirror", "mirror": os.environ["BOCU_MIRROR"]} if data is not None else "simulate"
    plan = make_plan(experiment, [file], sources_file=ROOT / "data/sources.yaml")
    files = {problem: plan.inputs.problem(problem) for problem in plan.problems}
    there = [problem for problem, needed in files.items() if all(map(os.path.exists, map(str, needed.values())))]
    if not there:
        print(f"{file.stem:>26} its data are not there", flush=True)
        return
    problems = some(there, 4)
    took = {"run": 0.0, "score": 0.0, "search": 0.0}
    worst, count = (0.0, ""), 0
    for problem in problems:
        inputs, optima = files[problem], []
        for entry in plan.optima(problem):
            stated = plan.parameters.optima(problem, entry)
            unfolded = {**stated, **{key: json.loads(stated[key]) for key in ("problem", "metrics")}}
            optima.append(f"optima-{problem}-{entry}.nc")
            took["search"] += seconds(lambda to=optima[-1], of=unfolded: store_optima(of, inputs, to))  # noqa: B023
        for branch in some(plan.branches_of(problem), 2):
            metrics = json.loads(plan.parameters.score(branch)["metrics"])

            def play(rounds: int, to: str, last: int, of: Any = branch.specification) -> dict[str, Any]:
                specification = {**of, "iterations": rounds}
                execute(Block({**specification, "seeds": [0, last]}, inputs, "code"), to, "checkpoints")  # noqa: B023
                return specification

            score(["warm.nc"], inputs, play(2, "warm.nc", 0), metrics, "scores.nc", optima=optima)
            run = seconds(lambda: play(branch.iterations, "runs.nc", seeds - 1))  # noqa: B023
            arguments = ["runs.nc"], inputs, branch.specification, metrics, "scores.nc"
            scored = seconds(lambda: score(*arguments, optima=optima))  # noqa: B023
            took["run"] += run
            took["score"] += scored
            count += 1
            worst = max(worst, (scored / run, "/".join(branch.key)))
    print(
        f"{file.stem:>26} {len(problems):8} {count:8} {took['run']:8.2f} {took['score']:9.2f} "
        f"{took['score'] / took['run']:6.2f} {took['search']:9.2f}  at most {worst[0]:.2f}: {worst[1]}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", nargs="?", help="name of a file in config/experiments")
    parser.add_argument("problems", nargs="*", help="labels; with --shipped, names of further files")
    parser.add_argument("--shipped", action="store_true", help="those named, or all, at small settings")
    parser.add_argument("--data", type=Path, help="with --shipped: a folder of data prepared from $BOCU_MIRROR")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rounds", type=int, help="in place of the experiment's; 40 with --shipped")
    arguments = parser.parse_args()
    if arguments.shipped:
        names = [arguments.experiment, *arguments.problems] if arguments.experiment else []
        shipped(names, arguments.data and arguments.data.resolve(), arguments.rounds or 40, arguments.seeds)
        return
    if not arguments.experiment:
        parser.error("name an experiment, or give --shipped")
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
