"""Kullback-Leibler divergence in nats, `d(q, p) = sum_i q_i log(q_i / p_i)`; mass stays in the reference's support.

The worst case is an exponential tilt, `q_i ~ p_i exp(-f_i / lambda)`, with slope `-lambda` (Huang et al., 2024, and the
dual of Hu and Hong, 2013, with its logarithm); lambda solves one scalar equation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bocu.core.about import About, planning_only
from bocu.robust.ambiguity.base import SolveCost, expectation, pair, relative
from bocu.robust.ambiguity.checks import Floats
from bocu.robust.ambiguity.divergences.base import CurveDivergence, Point

#: The exponential of what is as low is 0, that of what is higher may leave the range of doubles.
_DEEP, _STEEP = -800.0, 600.0


class KullbackLeibler(CurveDivergence):
    """Set of radius `epsilon` nats around the reference.

    The slope at `epsilon = 0` is `-inf` unless the payoffs are constant on the support.
    """

    about = About(
        title="Kullback-Leibler",
        summary="every distribution whose Kullback-Leibler divergence from the reference is the radius or less",
    )

    @classmethod
    @planning_only
    def solve_cost(cls) -> SolveCost:
        """That of its scalar roots."""
        return SolveCost(2e-7)

    def distance(self, q: ArrayLike, p: ArrayLike) -> Floats:
        """`KL(q, p)` `(...)` of distributions `(..., n)`; infinite where q leaves the support of p."""
        first, second = pair(q, p)
        ratio, outside = relative(first, second)
        n = first.shape[-1]
        with np.errstate(divide="ignore"):
            logarithm = np.maximum(np.where(np.isfinite(ratio), np.log(ratio), -np.log(second)), _DEEP)
        rows = (array.reshape(-1, n) for array in (logarithm, first, second))
        return np.where(outside, np.inf, _stable(*rows).reshape(outside.shape))

    def _point(self, u: Floats, f: Floats, p: Floats, *, small: bool) -> Point:
        temperature = np.exp(u)
        q = f * (-1.0 / temperature)[:, None]
        exponent = q.copy() if small else None
        np.exp(q, out=q)
        q *= p
        total = q.sum(axis=1)
        q /= total[:, None]
        value = np.einsum("bn,bn->b", q, f)
        second = np.einsum("bn,bn,bn->b", q, f, f)
        if exponent is None:
            divergence = -value / temperature - np.log(total)
        else:
            divergence = _stable(exponent - np.log(total)[:, None], q, p)
        variance = np.maximum(second - value**2, 0.0)
        return Point(q, value, divergence, temperature, temperature * divergence, -variance / temperature**2, f)

    def _start(self, f: Floats, p: Floats, mean: Floats) -> Floats:
        variance = expectation((f - mean[:, None]) ** 2, p)
        return 0.5 * np.log(variance / (2.0 * self.epsilon))

    def _floor_radius(self, mass: Floats) -> Floats:
        return -np.log(mass)

    def _dual(self, f: Floats, p: Floats, multiplier: Floats, value: Floats) -> Floats:
        exponent = f * (-1.0 / multiplier)[:, None]
        short = np.maximum(expectation(np.expm1(exponent), p), -0.5)
        log_total = np.where(short > -0.5, np.log1p(short), np.log(expectation(np.exp(exponent), p)))
        return -multiplier * (self.epsilon + log_total)

    def _intercept(self, ratio: Floats) -> Floats:
        return 1.0 - ratio

    def _bending(self, ratio: Floats) -> Floats:
        return np.ones_like(ratio)


def _stable(a: Floats, q: Floats, p: Floats) -> Floats:
    """`sum_i p_i (a e^a - e^a + 1)` with `a = log(q / p)`, by its series near 0, by q where e^a may be no number."""
    tiny, large = np.abs(a) < 3e-3, a > _STEEP
    series = a**2 * (0.5 + a / 3.0 + a**2 / 8.0 + a**3 / 30.0)
    least = np.minimum(a, _STEEP)
    divergence = np.where(tiny, series, least * np.exp(least) - np.expm1(least))
    divergence[large] = 1.0
    return np.einsum("bn,bn->b", np.broadcast_to(p, a.shape), divergence) + np.where(large, q * (a - 1.0), 0.0).sum(1)
