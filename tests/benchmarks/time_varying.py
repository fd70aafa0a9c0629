"""How much the grown factor saves: one seed of the hills under PE-GP-UCB, grown against factorised anew every round.

Run ``python tests/benchmarks/time_varying.py``. Both ways play the same run; the script stops where their choices part.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from bocu.core.randomness import Streams
from bocu.learners.algorithms.base import Algorithm
from bocu.learners.algorithms.simple import Random
from bocu.learners.algorithms.time_varying import PEGPUCB, FullyBayesian, MaximumLikelihood, Oracle, RegretBalancing
from bocu.learners.surrogates.time_varying import TimeVaryingPosteriors, TimeVaryingPrior
from bocu.problems.hills import Hills, HillsParameters

ROUNDS = 200
SEEDS = 5


class Refactorising(TimeVaryingPosteriors):
    """The same posteriors, each prior by itself, its Gram matrix factorised anew for every prediction."""

    def __init__(self, priors: tuple[TimeVaryingPrior, ...], noise: float) -> None:
        super().__init__(priors, noise)
        self._seen: list[tuple[int, int, float]] = []

    def observe(self, arm: int, t: int, value: float) -> None:
        self._seen.append((arm, t, value))

    def predict(self, t: int) -> tuple[np.ndarray, np.ndarray]:
        if not self._seen:
            return super().predict(t)
        arms, times, values = (np.array(column) for column in zip(*self._seen, strict=True))
        posteriors = [self._posterior(prior, arms, times, values, t) for prior in self.priors]
        return np.array([mean for mean, _ in posteriors]), np.array([sd for _, sd in posteriors])

    def _posterior(
        self, prior: TimeVaryingPrior, arms: np.ndarray, times: np.ndarray, values: np.ndarray, t: int
    ) -> tuple[np.ndarray, np.ndarray]:
        rho = np.sqrt(1.0 - prior.forgetting)
        gram = prior.covariance[np.ix_(arms, arms)] * rho ** np.abs(np.subtract.outer(times, times))
        factor = np.linalg.cholesky(gram + self.noise**2 * np.eye(len(arms)))
        cross = prior.covariance[arms] * (rho ** (t - times))[:, None]
        rows = solve_triangular(factor, cross, lower=True)
        mean = prior.mean + rows.T @ solve_triangular(factor, values - prior.mean[arms], lower=True)
        return mean, np.sqrt(np.maximum(np.diag(prior.covariance) - np.sum(rows**2, axis=0), 0.0))


def play(problem: Hills, kind: type[Algorithm], seed: int, prepare: Callable[[Any], None]) -> tuple[list[int], float]:
    """Play one seed; give the arms and the seconds."""
    streams = Streams(seed)
    realisation = problem.realise(streams)
    noise = realisation.description.noise
    start = time.perf_counter()
    algorithm = kind(realisation.description, None, kind.Parameters(), streams["algorithm"])
    prepare(algorithm)
    arms = []
    for t in range(1, ROUNDS + 1):
        arm = algorithm.ask(realisation.round(t))
        assert isinstance(arm, int)
        algorithm.tell(arm, t, realisation.payoff(arm, t) + noise * streams["noise"].standard_normal())
        arms.append(arm)
    return arms, time.perf_counter() - start


def refactorise(algorithm: PEGPUCB) -> None:
    algorithm.surrogate = Refactorising(algorithm.priors, algorithm.description.noise)


def main() -> None:
    problem = Hills(HillsParameters(), {})
    problem.realise(Streams(0))  # the prior's root is found once a problem
    print(
        f"hills, {ROUNDS} rounds, {len(problem.priors)} priors, {len(problem.positions)} arms; median of {SEEDS} seeds"
    )
    for kind in (PEGPUCB, MaximumLikelihood, FullyBayesian, RegretBalancing, Oracle, Random):
        seconds = np.median([play(problem, kind, seed, lambda algorithm: None)[1] for seed in range(SEEDS)])
        print(f"{kind.__name__:20} {1e3 * seconds:8.1f} ms a seed")
    grown_arms, grown = play(problem, PEGPUCB, 0, lambda algorithm: None)
    anew_arms, anew = play(problem, PEGPUCB, 0, refactorise)
    assert grown_arms == anew_arms, "the two ways chose different arms"
    print(f"PE-GP-UCB, seed 0: grown {1e3 * grown:.1f} ms, anew {1e3 * anew:.1f} ms, ratio {anew / grown:.0f}")


if __name__ == "__main__":
    main()
