"""Closed forms of the worst expectation within a divergence of a reference that may be continuous.

Source: Husain et al. (2023), "Distributionally robust Bayesian optimization with phi-divergences", by its abstract and
by the dual form that others cite: chi-squared ``E u - sqrt(epsilon Var u)``, total variation
``E u - epsilon / 2 (sup u - inf u)``. Both are lower bounds of the worst expectation (the linearisations at radius 0 of
Tay et al. 2022). The first is exact while ``sqrt(epsilon / Var) (sup u - E) <= 1``, where the worst density is nowhere
negative, the second while at least epsilon / 2 of the reference's mass has the largest payoff: under a density it never
has.
"""

import numpy as np

from bocu.learners.acquisition.base import Functional
from bocu.robust.ambiguity import checks


class MeanLessDeviation:
    """`E u - sqrt(factor epsilon Var u)`: chi-squared sets.

    Args:
        epsilon: the radius.
        reference: probabilities, shape (M,).
        factor: 1 for `chi2`, 2 for `chi2mod`, which is half of it.

    Raises:
        BocuError: the radius is negative, or the reference no distribution.
    """

    def __init__(self, epsilon: float, reference: np.ndarray, factor: float = 1.0) -> None:
        self.steepness = float(np.sqrt(factor * checks.radius(epsilon)))
        self.reference = checks.distribution(reference)

    def __call__(self, payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean = payoffs @ self.reference
        centred = payoffs - mean[:, None]
        deviation = np.sqrt(centred**2 @ self.reference)
        # Where payoffs are all the same any direction is as good.
        unit = centred / np.where(deviation > 0.0, deviation, 1.0)[:, None]
        return mean - self.steepness * deviation, self.reference * (1.0 - self.steepness * unit)

    def screening(self, contexts: int) -> tuple[np.ndarray, Functional]:
        """Return all contexts, and the form itself."""
        return np.arange(contexts), self


class MeanLessRange:
    """`E u - epsilon / 2 (max u - min u)`, both over all contexts: total variation.

    Args:
        epsilon: L1 radius, 0 to 2; larger is as 2.
        reference: probabilities, shape (M,), some of which may be 0.

    Raises:
        BocuError: the radius is negative, or the reference no distribution.
    """

    def __init__(self, epsilon: float, reference: np.ndarray) -> None:
        self.moved = min(checks.radius(epsilon) / 2.0, 1.0)
        self.reference = checks.distribution(reference)

    def __call__(self, payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows, highest, lowest = np.arange(len(payoffs)), payoffs.argmax(axis=1), payoffs.argmin(axis=1)
        weights = np.tile(self.reference, (len(payoffs), 1))
        weights[rows, highest] -= self.moved
        weights[rows, lowest] += self.moved
        return np.einsum("bm,bm->b", weights, payoffs), weights

    def screening(self, contexts: int) -> tuple[np.ndarray, Functional]:
        """Return all contexts, and the form itself."""
        return np.arange(contexts), self
