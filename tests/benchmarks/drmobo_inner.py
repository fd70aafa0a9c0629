"""Time DRMOBO's search against the same search whose inner problem is solved by CVXPY, decision by decision.

Run ``OMP_NUM_THREADS=1 python tests/benchmarks/drmobo_inner.py [--initial 13] [--restarts 10] [--raw 128]``: the model
is fitted to Ackley with two outputs on 100 contexts, then its acquisition function is maximised both ways from the
same state of the generator, by turns; times are processor seconds, the least of three turns. The conic problem is built
once and solved again for each decision's payoffs by Clarabel; gradients come from its distribution.
"""

import argparse
import os
import sys
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from ambiguity.oracle import solve, worst_case_problem

from bocu.core.randomness import Streams
from bocu.learners.acquisition.base import Functional, SurfaceAcquisition
from bocu.learners.acquisition.functionals import WorstCaseValue
from bocu.learners.acquisition.multistart import maximise
from bocu.learners.acquisition.surfaces import WeightedSurface, surface
from bocu.learners.surrogates.continuous.model import ContinuousGP, FitSettings
from bocu.learners.surrogates.continuous.structure import product
from bocu.problems.scalarised import ScalarisedAckley, TwoOutputsParameters
from bocu.robust.ambiguity import (
    AmbiguitySet,
    ConditionalValueAtRisk,
    KullbackLeibler,
    MaximumMeanDiscrepancy,
    ModifiedChiSquared,
    TotalVariation,
    squared_exponential_gram,
)

TURNS = 3


class ConicWorstCase:
    """The worst-case expectation by one conic solve a decision."""

    def __init__(self, ambiguity_set: AmbiguitySet, reference: np.ndarray) -> None:
        self._problem, self._payoffs = worst_case_problem(ambiguity_set, reference)
        self.solves = 0

    def __call__(self, payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        worst = np.empty_like(payoffs)
        for row, here in enumerate(payoffs):
            solve(self._problem, self._payoffs, here)
            worst[row] = self._problem.variables()[0].value
        self.solves += len(payoffs)
        return np.einsum("bm,bm->b", worst, payoffs), worst

    def screening(self, contexts: int) -> tuple[np.ndarray, Functional]:
        return np.arange(contexts), self


def observed(initial: int, contexts: int) -> tuple[ScalarisedAckley, list[ContinuousGP]]:
    """The problem and a model of each output, after `initial` observations."""
    problem = ScalarisedAckley(TwoOutputsParameters(outputs=2, contexts=contexts), {})
    realisation = problem.realise(Streams(100))
    kernel = product(2, 1, "squared-exponential", "squared-exponential")
    models = [ContinuousGP(kernel, FitSettings()) for _ in range(2)]
    for decision, context in realisation.initial_design(np.random.default_rng(0), initial):
        for model, value in zip(models, realisation.payoff(decision, context), strict=True):
            model.add(decision, problem.contexts[context], float(value))
    return problem, models


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--initial", type=int, default=13)
    parser.add_argument("--contexts", type=int, default=100)
    parser.add_argument("--raw", type=int, default=128)
    parser.add_argument("--restarts", type=int, default=10)
    arguments = parser.parse_args()

    problem, models = observed(arguments.initial, arguments.contexts)
    start = time.process_time()
    posteriors = [model.posterior(np.random.default_rng(1)) for model in models]
    print(f"fit of two models to {arguments.initial} observations: {time.process_time() - start:.3f} s")
    upper = WeightedSurface([surface(each, problem.contexts, 1.5) for each in posteriors], np.array([0.4, 0.6]))

    def search(functional: Functional) -> tuple[float, float]:
        start = time.process_time()
        acquisition = SurfaceAcquisition(upper, functional)
        best = maximise(acquisition, np.random.default_rng(2), raw=arguments.raw, restarts=arguments.restarts)
        return time.process_time() - start, best.value

    ambiguity_sets: dict[str, AmbiguitySet] = {
        "total variation 0.1": TotalVariation(0.1),
        "chi-squared 0.1": ModifiedChiSquared(0.1),
        "total variation 0.5": TotalVariation(0.5),
        "chi-squared 0.5": ModifiedChiSquared(0.5),
        "Kullback-Leibler 0.1": KullbackLeibler(0.1),
        "CVaR 0.3": ConditionalValueAtRisk(0.3),
        "MMD 0.1": MaximumMeanDiscrepancy(0.1, squared_exponential_gram(problem.contexts, 0.1)),
    }
    print(f"{'ambiguity set':22s} {'ours, s':>9s} {'CVXPY, s':>9s} {'solves':>7s} {'ratio':>7s} {'gain of ours':>13s}")
    for name, ambiguity_set in ambiguity_sets.items():
        own, conic = WorstCaseValue(ambiguity_set, problem.reference), ConicWorstCase(ambiguity_set, problem.reference)
        search(own)  # the first one compiles
        turns = [(search(own), search(conic)) for _ in range(TURNS)]
        seconds, theirs = (min(spent for spent, _ in each) for each in zip(*turns, strict=True))
        (_, value), (_, conic_value) = turns[0]
        row = f"{name:22s} {seconds:9.3f} {theirs:9.2f} {conic.solves // TURNS:7d} {theirs / seconds:7.0f}"
        print(row, f"{value - conic_value:13.1e}", flush=True)


if __name__ == "__main__":
    main()
