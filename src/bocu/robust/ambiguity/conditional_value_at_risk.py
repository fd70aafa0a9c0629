"""Conditional value at risk as a set: every q with `q <= p / alpha` is at distance 0, every other at infinity.

The value does not depend on a radius, hence its slope is 0; what changes it is alpha.
"""

from __future__ import annotations

import math
from typing import Annotated, Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.parameters import Number
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.base import (
    AmbiguitySet,
    Polytope,
    Rows,
    Tangent,
    Wanted,
    expectation,
    pair,
    sorted_rows,
    unsorted,
)
from bocu.robust.ambiguity.checks import Floats
from bocu.robust.ambiguity.parameters import SetParameters, named


class ConditionalValueAtRiskParameters(SetParameters):
    """The level of CVaR; no radius matters."""

    name: str = named("cvar")
    alpha: Annotated[Number, Field(gt=0.0, le=1.0)] = Field(description="fraction of the worst outcomes")


class ConditionalValueAtRisk(AmbiguitySet):
    """The distributions whose expectation is at worst the mean of the lowest fraction `alpha` in (0, 1] of outcomes.

    `alpha = 1` is the expectation; as alpha falls to 0 the value falls to the minimum over the reference's support.
    """

    about = About(
        title="conditional value at risk",
        summary="the mean of the worst fraction alpha of outcomes",
    )
    Parameters = ConditionalValueAtRiskParameters
    leaves_support = False
    linear_in_pieces = True
    has_radius = False

    def __init__(self, alpha: float) -> None:
        super().__init__(0.0)
        self.alpha = checks.real("alpha", alpha)
        if math.isnan(self.alpha) or not 0.0 < self.alpha <= 1.0:
            raise BocuError(f"alpha is {self.alpha}: it must lie in (0, 1]")

    @classmethod
    def stated(cls, parameters: ConditionalValueAtRiskParameters, contexts: Floats | None) -> ConditionalValueAtRisk:
        """The set at its level, see `AmbiguitySet.stated`."""
        return cls(parameters.alpha)

    def __repr__(self) -> str:
        return f"ConditionalValueAtRisk(alpha={self.alpha:g})"

    def with_epsilon(self, epsilon: float) -> Self:
        """The set itself: it has no radius (`epsilon` is only checked)."""
        checks.radius(epsilon)
        return self

    def distance(self, q: ArrayLike, p: ArrayLike) -> Floats:
        """0 where `q <= p / alpha` (within 1e-12), else infinity: `(...)` for distributions `(..., n)`."""
        first, second = pair(q, p)
        return np.where((first <= second / self.alpha + 1e-12).all(axis=-1), 0.0, np.inf)

    def solve(self, f: Floats, p: Floats, wanted: Wanted) -> Rows:
        order, payoff, mass = sorted_rows(f, p)
        # Not the sum to a context less its mass, beside which all before it may be lost.
        before = np.zeros_like(mass)
        np.cumsum(mass[:, :-1], axis=1, out=before[:, 1:])
        taken = np.minimum(np.maximum(self.alpha - before, 0.0), mass)
        taken /= taken.sum(axis=1, keepdims=True)
        rows = Rows(value=np.einsum("bn,bn->b", taken, payoff), slope=np.zeros(len(f)))
        if wanted.distribution:
            rows.distribution = unsorted(order, taken)
        if wanted.rate:
            rows.rate = np.zeros_like(f)
        return rows

    def _value_at_zero(self, f: Floats, p: Floats) -> Floats:
        return self.solve(f, p, Wanted(False)).value

    def tangent(self, f: Floats, p: Floats, tau: Floats) -> Tangent:
        # The value is the same at every radius: what is met at 0 is met everywhere.
        return Tangent(np.zeros(len(f)), np.zeros(len(f)), np.zeros_like(f))

    def _lower_bound(self, f: Floats, p: Floats, found: Rows) -> Floats:
        assert found.distribution is not None
        at_risk = _at_risk(f, found.distribution)
        return at_risk - expectation(np.maximum(at_risk[:, None] - f, 0.0), p) / self.alpha

    def _in_reference(self, f: Floats, p: Floats, q: Floats, slope: Floats) -> Floats:
        # v = w - sum_i p_i (w - f_i)_+ / alpha at the value at risk w.
        return np.minimum(f - _at_risk(f, q)[:, None], 0.0) / self.alpha

    def _polytope(self, p: Floats) -> Polytope:
        return Polytope(len(p), np.eye(len(p)), p / self.alpha, np.ones((1, len(p))), np.ones(1))


def _at_risk(f: Floats, q: Floats) -> Floats:
    """The largest payoff `(B,)` that worst cases keep."""
    return np.where(q > 0.0, f, 0.0).max(axis=1)
