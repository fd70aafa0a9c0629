"""Time and memory of aggregation: scores, cube and summary of many blocks.

    python tests/benchmarks/aggregation.py --branches 100 --blocks 100

A block is 10 seeds x 1,000 rounds. One block is run for real; the others are copies under other seeds, which scoring
cannot tell from real ones. Each stage runs in a process of its own, one after the other.
"""

from bocu.core.numerics import pin_kernel

pin_kernel()  # before NumPy is imported

import argparse
import json
import multiprocessing
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bocu.sweep.experiment.plan import Plan
from bocu.sweep.experiment.planning import make_plan

SEEDS, ROUNDS = 10, 1000
ROOT = Path(__file__).parents[2]


def plan_of(branches: int, blocks: int) -> Plan:
    algorithms = [
        {"name": "pe-gp-ucb", "label": f"a-{i}", "parameters": {"delta": (i + 1) / (branches + 2)}}
        for i in range(branches)
    ]
    experiment = {
        "name": "aggregation",
        "seeds": {"count": blocks * SEEDS, "per_job": SEEDS},
        "iterations": ROUNDS,
        "problems": [{"name": "hills", "parameters": {"grid": 60}}],
        "algorithms": algorithms,
        "figures": [],
    }
    return make_plan(experiment, sources_file=ROOT / "data/sources.yaml")


def make_runs(plan: Plan) -> None:
    """Write the run files."""
    import netCDF4

    from bocu.sweep.runs.execution import Block, execute

    for branch in plan.branches.values():
        for first, last in plan.blocks_of(branch):
            file = Path(plan.paths.run_file(branch, first, last))
            specification = {**branch.specification, "seeds": [first, last]}
            if branch is next(iter(plan.branches.values())) and first == 0:
                execute(Block(specification, {}, "benchmark"), file, "checkpoints")
                original = file
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(original, file)
            with netCDF4.Dataset(file, "a") as data:
                data["seed"][:] = range(first, last + 1)
                data.setncattr("specification", json.dumps(specification))


def score_all(plan: Plan) -> None:
    from bocu.sweep.evaluation.scores import score

    for branch in plan.branches.values():
        metrics = json.loads(plan.parameters.score(branch)["metrics"])
        score(plan.products.runs(branch), {}, branch.specification, metrics, plan.paths.score_file(branch))


def cube(plan: Plan) -> None:
    from bocu.sweep.evaluation.cubes import build_cube

    build_cube(json.loads(plan.parameters.cube("hills")["description"]), plan.paths.cube("hills"))


def summary(plan: Plan) -> None:
    from bocu.sweep.evaluation.cubes import build_summary

    build_summary(plan.products.cubes(), plan.paths.summary())


def measured(stage: Callable[[Plan], None], plan: Plan, queue: Any) -> None:
    start = time.perf_counter()
    stage(plan)
    queue.put((time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--branches", type=int, default=10)
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    plan = plan_of(arguments.branches, arguments.blocks)
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        print(f"{arguments.branches} branches x {arguments.blocks} blocks x {SEEDS} seeds x {ROUNDS} rounds")
        for stage in (make_runs, score_all, cube, summary):
            context = multiprocessing.get_context("spawn")
            queue = context.Queue()
            process = context.Process(target=measured, args=(stage, plan, queue))
            process.start()
            seconds, megabytes = queue.get()
            process.join()
            rows[stage.__name__] = {"seconds": seconds, "mb": megabytes}
            print(f"{stage.__name__:>10}: {seconds:8.1f} s, {megabytes:6.0f} MB resident at most", flush=True)
        os.chdir(ROOT)
    if arguments.output:
        arguments.output.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
