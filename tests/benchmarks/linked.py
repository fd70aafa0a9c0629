"""What machine code for total variation spares whole runs: `python tests/benchmarks/linked.py [case ...]`.

The same run is played twice in one process, by turns a round with machine code and one with numpy: processor time of
one thread in all rounds, and whether both runs recorded the same numbers. Linking, once a process, is not among it.
"""

import argparse
import math
import os
import sys
import time
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

from finite import CASES, dro  # noqa: E402
from played import numbers  # noqa: E402

from bocu.ambiguity.moved_mass import LINKED  # noqa: E402
from bocu.experiment.planning import make_plan  # noqa: E402
from bocu.runs.seed_run import SeedRun, build_problem  # noqa: E402

BRANIN = {"name": "modified-branin-grid", "parameters": {"contexts": 64}}
RUNS = {name: case[:3] for name, case in CASES.items() if name.startswith("tv-")}
RUNS |= {"drmobo": (BRANIN, dro("tv"), "drmobo"), "drbo-kde": ({"name": "ackley"}, None, "drbo-kde")}


def played_both_ways(case: str, rounds: int, seed: int) -> tuple[float, float, bool]:
    """Seconds with machine code and without, and whether all numbers are the same."""
    problem, objective, algorithm = RUNS[case]
    experiment: dict[str, Any] = {"name": "linked", "seeds": 1, "iterations": rounds, "algorithms": [algorithm]}
    experiment |= {"problems": [{"label": "p", **problem}], "figures": []}
    experiment |= {"objectives": [{"label": "o", **objective}]} if objective else {}
    plan = make_plan(experiment, sources_file=Path(__file__).parents[2] / "data/sources.yaml")
    (branch,) = plan.branches.values()
    specification = branch.specification
    realised = build_problem(specification["problem"], {})
    runs = [SeedRun(specification, realised, seed) for _ in range(2)]
    ways, seconds = (LINKED.find(make=True), None), [0.0, 0.0]
    LINKED._next = math.inf  # not by itself
    while not runs[0].finished:
        for place in (0, 1) if runs[0].t % 2 else (1, 0):
            LINKED._function = ways[place]
            start = time.process_time()
            runs[place].play()
            seconds[place] += time.process_time() - start
    return seconds[0], seconds[1], numbers(runs[0]) == numbers(runs[1])


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=sorted(RUNS), metavar="case", help=f"of {', '.join(RUNS)}")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    for case in arguments.cases:
        for seed in range(arguments.seeds):
            linked, plain, same = played_both_ways(case, arguments.rounds, seed)
            said = "same numbers" if same else "OTHER NUMBERS"
            print(
                f"{case:>16} seed {seed}: {linked:.2f} s, by numpy {plain:.2f} s, {plain / linked:.3f}, {said}",
                flush=True,
            )


if __name__ == "__main__":
    main()
