"""What a round on a grid of contexts costs by ambiguity set, objective and number of contexts, and the fit of it.

    python tests/benchmarks/valuations.py [--output valuations.json] [set ...]

Each case is a process of its own, one numeric thread: UCB-BOCU-2 on a draw over 1,024 decisions and a square grid of
contexts; the mean core seconds of rounds 11 to 30 (the first ones, in which the model knows nothing, take longer). What
the objective takes beyond what UCB-SO takes on the same grid is fitted in log space by

    seconds a round = points x valuation x (contexts / 64)^growth

with points = decisions x contexts, and then raised to the costliest objective; `experiment.resources` holds both
numbers.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from cells import branch_of, in_a_process

from bocu.sweep.runs.seed_run import SeedRun, build_problem

DECISIONS = 1024
SIDES = (8, 12, 16, 24, 32)
OBJECTIVES = ("gen", "dro")
SETS = ("mmd", "tv", "cr", "wass")
SKIPPED, ROUNDS = 10, 30
LIMIT_SECONDS = 60.0  # core seconds of a case, after which fewer rounds are averaged and no larger grid is tried


def cell(name: str, objective: str, side: int) -> float:
    """Return the mean core seconds of a round."""
    ambiguity_set = {"name": name, **({"k": 3.0} if name == "cr" else {})}
    slope = {} if objective == "dro" else {"slope": {"difference": 1e-3}}
    weights = {"alpha": 1.0, "beta": 1.0} if objective == "gen" else {}
    problem = {"name": "gp-sample", "parameters": {"context_points": [side, side]}}
    pursued = {"name": objective, "parameters": {"set": ambiguity_set, **slope, **weights}}
    if name == "none":
        branch = branch_of(problem, "ucb-so", ROUNDS)
    else:
        branch = branch_of(problem, "ucb-bocu-2", ROUNDS, [pursued])
    run = SeedRun(branch.specification, build_problem(branch.specification["problem"], {}), 0)
    seconds: list[float] = []
    while not run.finished and sum(seconds) < LIMIT_SECONDS:
        start = time.process_time()
        run.play()
        if run.t > 1:
            seconds.append(time.process_time() - start)
    return float(np.mean(seconds[SKIPPED:] or seconds[-1:]))


def fit(rows: list[dict[str, Any]]) -> tuple[float, float]:
    """Return valuation and growth that no measured round of a set passes."""
    contexts = np.array([row["side"] ** 2 for row in rows])
    seconds = np.log([max(row["seconds"] - row["without"], 1e-9) / (DECISIONS * row["side"] ** 2) for row in rows])
    growth, _ = np.polyfit(np.log(contexts / 64), seconds, 1)
    growth = max(growth, 0.0)
    return float(np.exp(np.max(seconds - growth * np.log(contexts / 64)))), float(growth)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="set", help=f"of {', '.join(SETS)}")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.cell:
        name, objective, side = arguments.cell
        print(json.dumps(cell(name, objective, int(side))))
        return
    without = {side: in_a_process(__file__, "none", "-", str(side)) for side in SIDES}
    rows: list[dict[str, Any]] = []
    print(f"{'set':>8} {'objective':>9} {'contexts':>8} {'seconds a round':>15} {'UCB-SO':>8}")
    for name in arguments.sets or SETS:
        for objective in OBJECTIVES:
            for side in SIDES:
                seconds = in_a_process(__file__, name, objective, str(side))
                rows.append(
                    {"set": name, "objective": objective, "side": side, "seconds": seconds, "without": without[side]}
                )
                print(f"{name:>8} {objective:>9} {side**2:>8} {seconds:>15.4f} {without[side]:>8.4f}", flush=True)
                if seconds * ROUNDS > LIMIT_SECONDS:
                    break
        valuation, growth = fit([row for row in rows if row["set"] == name])
        print(f"{name:>8}: valuation {valuation:.1e} s, growth {growth:.2f}", flush=True)
    if arguments.output:
        arguments.output.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
