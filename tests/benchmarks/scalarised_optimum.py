"""What the search for the best decision of DRMOBO's problems misses, and what it costs: docs/drmobo.md.

    OMP_NUM_THREADS=1 python tests/benchmarks/scalarised_optimum.py

Against Nelder-Mead from the best of 20,000 random decisions and from the search's own answer.
"""

import argparse
import time

import numpy as np
from scipy.optimize import minimize

from bocu.problems.scalarised import (
    ScalarisedAckley,
    ScalarisedHartmann,
    ScalarisedHartmannParameters,
    ScalarisedModifiedBranin,
    ScalarisedNewsvendor,
    ScalarisedNewsvendorParameters,
    TwoOutputsParameters,
)
from bocu.problems.scalarised_optimum import ScalarisedSearch, scalarise
from bocu.robust.ambiguity import ModifiedChiSquared, TotalVariation

SETS = (TotalVariation(0.1), TotalVariation(0.5), TotalVariation(1.0), ModifiedChiSquared(0.1))
PROBLEMS = (
    (ScalarisedAckley, TwoOutputsParameters),
    (ScalarisedModifiedBranin, TwoOutputsParameters),
    (ScalarisedHartmann, ScalarisedHartmannParameters),
    (ScalarisedNewsvendor, ScalarisedNewsvendorParameters),
)
ROWS, COMPARED, RANDOM = 150, 15, 20_000
OPTIONS = {"xatol": 1e-9, "fatol": 1e-11, "maxiter": 2000}


def missed(search, values, weights, found, seed):
    """How much better Nelder-Mead ends, at one row of weights."""

    def loss(x):
        return -values(scalarise(search.payoffs(np.clip(x, 0.0, 1.0)[None]), weights[None]))[0]

    random = np.random.default_rng(seed).random((RANDOM, search.dimension))
    raw = np.concatenate([values(scalarise(search.payoffs(part), weights)) for part in np.array_split(random, 10)])
    starts = (random[raw.argmax()], found.decisions[seed])
    return max(-minimize(loss, start, method="Nelder-Mead", options=OPTIONS).fun for start in starts)


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    for kind, parameters in PROBLEMS:
        problem = kind(parameters(outputs=2), {})
        search = ScalarisedSearch(problem.payoffs, problem.dimensions[0], 2)
        weights = np.random.default_rng(0).dirichlet(np.ones(2), size=ROWS)
        for ambiguity_set in SETS:

            def values(payoffs, ambiguity_set=ambiguity_set, reference=problem.reference):
                return ambiguity_set.values(payoffs, reference)[0]

            start = time.process_time()
            pool = search.pool(values)
            net = time.process_time() - start
            found = search.best(pool, weights)
            seed = time.process_time() - start - net
            rows = range(0, ROWS, ROWS // COMPARED)
            worst = max(missed(search, values, weights[row], found, row) - found.values[row] for row in rows)
            told = f"{kind.__name__:15} {ambiguity_set!r:32} missed {max(worst, 0.0):.1e} of {np.ptp(found.values):.2g}"
            print(f"{told}; net {net:.2f} s, {ROWS} rows {seed:.2f} s", flush=True)


if __name__ == "__main__":
    main()
