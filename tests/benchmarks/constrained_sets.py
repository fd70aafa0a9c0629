"""Time sets that CVXPY solves: compiled once and solved again, against building the problem for each decision.

Run ``OMP_NUM_THREADS=1 python tests/benchmarks/constrained_sets.py [--rows 20] [--contexts 64]``. Same payoffs, same
tolerances, side by side; our exact solver of the same set beside them, and the largest difference of the values.
"""

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from ambiguity.cases import KINDS, make_set, random_instance
from ambiguity.oracle import solve, worst_case_problem

from bocu.interop.cvxpy import programme_of
from bocu.interop.cvxpy.programme import TOLERANCES
from bocu.robust.ambiguity import worst_case


def seconds(function: Callable[[], object]) -> tuple[float, object]:
    """Return the processor time of one call, which others on the machine hardly change, and what it returns."""
    start = time.process_time()
    found = function()
    return time.process_time() - start, found


def compare(kind: str, contexts: int, rows: int) -> str:
    """Return a line of the table."""
    points, payoffs, reference = random_instance(0, contexts, rows)
    payoffs = (payoffs - payoffs.min(axis=1, keepdims=True)) / np.ptp(payoffs, axis=1)[:, None]
    ambiguity_set = make_set(kind, 0.2, points)
    worst_case(payoffs, reference, ambiguity_set)
    first, programme = seconds(lambda: programme_of(ambiguity_set, contexts))
    first += seconds(lambda: programme.solve(payoffs[0], reference, 0.2))[0]
    again, reused = seconds(lambda: [programme.solve(row, reference, 0.2).value for row in payoffs])
    built, rebuilt = seconds(
        lambda: [solve(*worst_case_problem(ambiguity_set, reference), row, **TOLERANCES) for row in payoffs]
    )
    own, exact = seconds(lambda: worst_case(payoffs, reference, ambiguity_set).value)
    error = max(np.abs(np.asarray(values) - exact).max() for values in (reused, rebuilt))
    cells = [kind, f"{1e3 * first:.0f}", *(f"{1e3 * taken / rows:.3g}" for taken in (again, built, own))]
    return "| " + " | ".join([*cells, f"{built / again:.1f}", f"{error:.0e}"]) + " |"


def main() -> None:
    """Measure every kind of set and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20, help="decisions that are solved")
    parser.add_argument("--contexts", type=int, default=64)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        "| set | first, ms | compiled once, ms | built for each, ms | exact solver, ms | ratio | largest difference |"
    )
    print("|---|---|---|---|---|---|---|")
    for kind in KINDS:
        print(compare(kind, arguments.contexts, arguments.rows), flush=True)


if __name__ == "__main__":
    main()
