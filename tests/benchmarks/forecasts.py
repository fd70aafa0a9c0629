"""How far forecasts by the model alone are from what runs take: of finished experiments, or of rounds played now.

    python tests/benchmarks/forecasts.py finished results/kirschner2020 results/tay2024 [--by problem algorithm]
    python tests/benchmarks/forecasts.py played config/experiments/tay2024.yaml --problems gp-sample --seconds 5

`finished` asks every run file what its run took by the clock, so other work on the machine counts. `played` plays one
seed of each branch, of problems that read no file, until its rounds took so many processor seconds. Forecasts are made
from the specification alone (`experiment.resources`), as `bocu plan` does where no run is known; start of jobs
and imports are left out. A ratio of 2 is a forecast of twice what was measured.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from timed_rounds import measure

from bocu.core.errors import BocuError
from bocu.core.parameters import NoParameters
from bocu.sweep.experiment.branches import Branch, Component
from bocu.sweep.experiment.configuration import read_experiment_file
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.registry import find
from bocu.sweep.experiment.resources import START_SECONDS, estimate
from bocu.sweep.forecast import measured

PARTS = ("problem", "objective", "set", "algorithm")
LINE = "{:<64} {:>6} {:>10} {:>10} {:>6}"


def component(part: dict[str, Any]) -> Component:
    """Return the entry that a specification was made from."""
    kind, _, name = part["class"].partition("/")
    bare = Component(name, find(kind, name), NoParameters())
    return replace(bare, parameters=bare.recorded(part["parameters"]))


def branch_of(specification: dict[str, Any]) -> Branch:
    problem, objective, algorithm = (specification[part] for part in ("problem", "objective", "algorithm"))
    return Branch(
        component(problem),
        component(objective) if objective else None,
        component(algorithm),
        specification["iterations"],
        specification["threads"],
    )


def called(part: str, specification: dict[str, Any]) -> str:
    if part == "set":
        stated = ((specification["objective"] or {}).get("parameters") or {}).get("set")
        return stated["name"] if stated else "-"
    return specification[part]["class"].partition("/")[2] if specification[part] else "-"


def finished(folder: Path, by: list[str]) -> Iterator[tuple[str, int, float, float]]:
    """Yield a row of all run files of an experiment, and one of each kind of them."""
    sums: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for run in filter(None, map(measured, sorted(folder.glob("runs/**/seeds-*.nc")))):
        first, last = run.specification["seeds"]
        try:
            forecast = estimate(branch_of(dict(run.specification)), last - first + 1).seconds - START_SECONDS
        except BocuError as error:  # written by other code
            print(f"left out: {error}")
            continue
        for key in ((), tuple(called(part, dict(run.specification)) for part in by)):
            sums[key] = [a + b for a, b in zip(sums[key], (1, run.seconds, forecast), strict=True)]
    for key, (files, seconds, forecast) in sorted(sums.items()):
        yield f"  {' '.join(key)}" if key else folder.name, int(files), seconds, forecast


def played(file: Path, problems: list[str], seconds: float) -> Iterator[tuple[str, int, float, float]]:
    """Yield a row of each branch: its rounds that were played."""
    plan = make_plan(read_experiment_file(file), [file])
    for branch in plan.branches.values():
        if problems and branch.problem.label not in problems:
            continue
        whole = measure(branch.specification, seconds).whole
        shorter = replace(branch, iterations=whole.rounds)
        forecast = estimate(shorter, 1).seconds - estimate(shorter, 0).seconds
        yield "/".join(branch.key), whole.rounds, whole.seconds, forecast


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    of_files = commands.add_parser("finished")
    of_files.add_argument("folders", type=Path, nargs="+", help="of experiments, below results/")
    of_files.add_argument("--by", nargs="*", default=["algorithm"], choices=PARTS, help="apart by these")
    of_rounds = commands.add_parser("played")
    of_rounds.add_argument("file", type=Path, help="of an experiment")
    of_rounds.add_argument("--problems", nargs="*", default=[], help="labels; all of them if left out")
    of_rounds.add_argument("--seconds", type=float, default=5.0)
    arguments = parser.parse_args()
    print(
        LINE.format("", "files" if arguments.command == "finished" else "rounds", "measured s", "forecast s", "ratio")
    )
    if arguments.command == "finished":
        rows = (row for folder in arguments.folders for row in finished(folder, arguments.by))
    else:
        rows = played(arguments.file, arguments.problems, arguments.seconds)
    for name, count, seconds, forecast in rows:
        print(LINE.format(name, count, f"{seconds:.2f}", f"{forecast:.2f}", f"{forecast / seconds:.2f}"), flush=True)


if __name__ == "__main__":
    main()
