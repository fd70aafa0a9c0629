"""Conditional value at risk as a set: every q with `q <= p / alpha` is at distance 0, every other at infinity.

The value does not depend on a radius, hence its slope is 0; what changes it is alpha.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from bocu.ambiguity import checks
from bocu.ambiguity.base import AmbiguitySet, Rows, Tangent, Wanted, pair
from bocu.ambiguity.checks import Floats
from bocu.ambiguity.sorting import sorted_rows, unsorted
from bocu.core.errors import BocuError


class ConditionalValueAtRisk(AmbiguitySet):
    """The distributions whose expectation is at worst the mean of the lowest fraction `alpha` in (0, 1] of outcomes.

    `alpha = 1` is the expectation; as alpha falls to 0 the value falls to the minimum over the reference's support.
    """

    leaves_support = False

    def __init__(self, alpha: float) -> None:
        super().__init__(0.0)
        self.alpha = checks.real("alpha", alpha)
        if math.isnan(self.alpha) or not 0.0 < self.alpha <= 1.0:
            raise BocuError(f"alpha is {self.alpha}: it must lie in (0, 1]")

    def __repr__(self) -> str:
        return f"ConditionalValueAtRisk(alpha={self.alpha:g})"

    def with_epsilon(self, epsilon: float) -> Self:
        """The set itself: it has no radius (`epsilon` is only checked)."""
        checks.radius(epsilon)
        return self

    def distance(self, q: ArrayLike, p: ArrayLike) -> Any:
        """0 where `q <= p / alpha` (within 1e-12), else infinity: `(...)` for distributions `(..., n)`."""
        first, second = pair(q, p)
        return np.where((first <= second / self.alpha + 1e-12).all(axis=-1), 0.0, np.inf)

    def _rows(self, f: Floats, p: Floats, wanted: Wanted) -> Rows:
        order, payoff, mass = sorted_rows(f, p)
        before = np.cumsum(mass, axis=1)
        before -= mass
        taken = np.minimum(np.maximum(self.alpha - before, 0.0), mass)
        taken /= taken.sum(axis=1, keepdims=True)
        rows = Rows(value=np.einsum("bn,bn->b", taken, payoff), slope=np.zeros(len(f)))
        if wanted.distribution:
            rows.distribution = unsorted(order, taken)
        if wanted.rate:
            rows.rate = np.zeros_like(f)
        return rows

    def _satisficing_rows(self, f: Floats, p: Floats, tau: Floats, rounding: Floats) -> tuple[Floats, Floats]:
        # The value is the same at every radius, 0 included: the aspiration is met by it or not at all.
        tangent = self._satisfice(f, p, tau - rounding)
        return tangent.slope, tangent.gradient()

    def _satisfice(self, f: Floats, p: Floats, tau: Floats) -> Tangent:
        met = tau <= self._rows(f, p, Wanted(False)).value
        return Tangent(np.where(met, 0.0, -np.inf), np.zeros(len(f)), np.zeros_like(f))
