"""How far forecasts by the model alone are from what finished runs took, by experiment and by class.

    python tests/benchmarks/forecasts.py results/kirschner2020 results/tay2024 [--by algorithm problem set]

Every run file of the folders is asked what its run took (the clock's seconds, so other work on the machine counts) and
forecast from its specification alone (`bocu.experiment.resources`), as `bocu plan` does where no run is known. Start of
a job and import are in neither. A ratio of 2 is a forecast of twice what was measured.
"""

import argparse
from collections import defaultdict
from pathlib import Path

from bocu.core.errors import BocuError
from bocu.core.parameters import Reading
from bocu.experiment.branches import Branch, Component
from bocu.experiment.registry import find
from bocu.experiment.resources import START_SECONDS, estimate
from bocu.sweep.forecast import Measured, measured

PARTS = ("problem", "objective", "set", "algorithm")


def component(part: dict) -> Component:
    """Return the entry that a specification was made from."""
    kind, _, name = part["class"].partition("/")
    bare = Component(name, find(kind, name), None)
    return Component(name, bare.registered, bare.recorded(part["parameters"]))


def branch_of(specification: dict) -> Branch:
    problem, objective, algorithm = (specification[part] for part in ("problem", "objective", "algorithm"))
    return Branch(
        component(problem),
        component(objective) if objective else None,
        component(algorithm),
        specification["iterations"],
        specification["threads"],
    )


def modelled(run: Measured) -> float:
    first, last = run.specification["seeds"]
    return estimate(branch_of(run.specification), last - first + 1).seconds - START_SECONDS


def told(part: str, specification: dict) -> str:
    if part == "set":
        return ((specification["objective"] or {}).get("parameters", {}).get("set") or {"name": "-"})["name"]
    return (specification[part] or {"class": "-/-"})["class"].partition("/")[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+", help="of experiments, below results/")
    parser.add_argument("--by", nargs="*", default=["algorithm"], choices=PARTS, help="apart by these")
    arguments = parser.parse_args()
    line = "{:<60} {:>6} {:>10} {:>10} {:>7}"
    print(line.format("", "files", "measured s", "forecast s", "ratio"))
    for folder in arguments.folders:
        sums: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
        for run in filter(None, map(measured, sorted(folder.glob("runs/**/seeds-*.nc")))):
            try:
                forecast = modelled(run)
            except BocuError as error:  # written by other code
                print(f"left out: {error}")
                continue
            for key in ((), tuple(told(part, run.specification) for part in arguments.by)):
                sums[key] = [a + b for a, b in zip(sums[key], (1, run.seconds, forecast), strict=True)]
        for key, (files, seconds, forecast) in sorted(sums.items()):
            name = f"  {' '.join(key)}" if key else folder.name
            print(line.format(name, int(files), f"{seconds:.1f}", f"{forecast:.1f}", f"{forecast / seconds:.2f}"))


if __name__ == "__main__":
    main()
