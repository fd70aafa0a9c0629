"""What a call costs where there is little to do: `python tests/benchmarks/small_calls.py`, processor time, one thread.

Worst cases of total variation for some decisions over 64 contexts, as the inner loop of a continuous search asks for
them (`search`), with checks (`worst_case`), and values alone (`values`); the sort that they contain, an empty call, one
sum of numpy and the checks, which are the floor of a call that checks and sorts;
and the distances from a reference to 1,024 single contexts under MMD, with which every search for the best decision
begins, beside those by the general formula.
"""

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np

from bocu.learners.acquisition.functionals import WorstCaseValue
from bocu.robust.ambiguity import (
    AmbiguitySet,
    MaximumMeanDiscrepancy,
    TotalVariation,
    squared_exponential_gram,
    worst_case,
)
from bocu.robust.contexts.estimates import product_grid


def microseconds(call: Callable[[], Any], calls: int, repeats: int = 15) -> float:
    """Least mean processor time of a call."""
    call()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(calls):
            call()
        times.append((time.process_time() - start) / calls)
    return 1e6 * min(times)


def total_variation(payoffs: Any, reference: Any) -> None:
    """Print what calls of some decisions take."""
    around = TotalVariation(0.3)
    search = WorstCaseValue(around, reference)
    ways: dict[str, Callable[[Any], Any]] = {
        "search": search,
        "worst_case": lambda rows: worst_case(rows, reference, around),
        "values": lambda rows: around.values(rows, reference),
    }
    print("us a call of total variation, the sort in it")
    for decisions in (1, 3, 8, 64, 1024):
        rows, calls = payoffs[:decisions], max(5, 300 // decisions)
        alone = microseconds(lambda rows=rows: (-rows).argsort(axis=1), calls)  # type: ignore[misc]
        for way, call in ways.items():
            least = microseconds(lambda rows=rows, call=call: call(rows), calls)  # type: ignore[misc]
            print(f"{decisions:>6} {way:>12} {least:8.1f} {alone:8.1f}")


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    generator = np.random.default_rng(0)
    payoffs, reference = generator.standard_normal((1024, 64)), generator.dirichlet(np.ones(64))
    total_variation(payoffs, reference)
    empty, total = microseconds(lambda: None, 3000), microseconds(lambda: payoffs[0].sum(), 3000)
    checked = microseconds(lambda: TotalVariation(0.3).normalise(payoffs[0], reference), 300)
    print(f"an empty call {empty:.2f} us, one sum of numpy {total:.2f} us, checks and shapes alone {checked:.1f} us")
    contexts = product_grid([0.0, 0.0], [1.0, 1.0], 32)
    spread = generator.dirichlet(np.ones(len(contexts)))
    kernel = MaximumMeanDiscrepancy(0.1, squared_exponential_gram(contexts, 0.1)).prepare(spread)
    cold = microseconds(lambda: kernel.with_epsilon(0.2)._vertex_distances(spread), 20)
    general = microseconds(lambda: AmbiguitySet._vertex_distances(kernel, spread), 1, 3)
    print(f"MMD, distances to 1,024 single contexts: {cold:.0f} us, by the general formula {general:.0f} us")


if __name__ == "__main__":
    main()
