"""Cressie-Read divergences of order k > 1, `phi_k(t) = (t^k - k t + k - 1) / (k (k - 1))`; mass stays in the support.

The worst case is `q_i ~ p_i (w - f_i)_+^{1/(k-1)}` for one scalar w (the dual of Duchi and Namkoong, 2021, with phi as
above). `k = 2` is the modified chi-squared divergence, `k -> 1` is Kullback-Leibler.

For a large k the power makes mass of a w - f far below the last digit of w. Hence first the last context that keeps
mass is found, then `u = log(w - f)` there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from bocu.core.about import About, planning_only
from bocu.core.errors import BocuError
from bocu.core.parameters import Number
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.base import SolveCost, Tangent, expectation, pair, pick, relative
from bocu.robust.ambiguity.checks import Floats
from bocu.robust.ambiguity.divergences.base import LOWEST, CurveDivergence, Point
from bocu.robust.ambiguity.parameters import SetParameters, named

#: Orders that double precision carries; nearer to 1 use Kullback-Leibler.
SMALLEST_ORDER, LARGEST_ORDER = 1.05, 100.0

#: Below, exp is about to leave the range of doubles.
_DEEP = -700.0

#: Sums of p_i (q_i / p_i)^k that are nearer to 1 are too near to take 1 from them.
_NEAR = 0.05

_TINY = 1e-300

#: The smallest mass beside which the end of the curve holds for any.
_EVEN = 1e-16

#: Whether w lies beyond payoffs `(m,)`, from the points of the curve there and the rows `(m,)`.
Beyond = Callable[[Point, Floats, NDArray[np.intp]], NDArray[np.bool_]]


class CressieReadParameters(SetParameters):
    """The order of the divergence."""

    name: str = named("cr")
    k: Annotated[Number, Field(ge=SMALLEST_ORDER, le=LARGEST_ORDER)] = Field(description="order of the divergence")


class CressieRead(CurveDivergence):
    """Set of radius `epsilon` in the Cressie-Read divergence of order `k`, 1.05 to 100.

    The slope at `epsilon = 0` is `-inf` unless the payoffs are constant on the support.
    """

    about = About(
        title="Cressie-Read",
        summary="every distribution whose Cressie-Read divergence of order k from the reference is the radius or less",
        paper="Tay et al. 2024",
    )
    Parameters = CressieReadParameters

    def __init__(self, epsilon: float, k: float) -> None:
        super().__init__(epsilon)
        self.k = checks.real("k", k)
        if math.isnan(self.k) or not SMALLEST_ORDER <= self.k <= LARGEST_ORDER:
            raise BocuError(f"k is {self.k}: it must lie in [{SMALLEST_ORDER}, {LARGEST_ORDER:g}], above 1")

    @classmethod
    def stated(cls, parameters: CressieReadParameters, contexts: Floats | None) -> CressieRead:
        """The set of an order, see `AmbiguitySet.stated`."""
        return cls(0.0, parameters.k)

    @classmethod
    @planning_only
    def solve_cost(cls) -> SolveCost:
        """That of its scalar roots."""
        return SolveCost(8e-7)

    def __repr__(self) -> str:
        return f"CressieRead(epsilon={self.epsilon:g}, k={self.k:g})"

    def distance(self, q: ArrayLike, p: ArrayLike) -> Floats:
        """Divergence `(...)` of distributions `(..., n)`; infinite where q leaves the support of p."""
        first, second = pair(q, p)
        ratio, outside = relative(first, second)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            logarithm = np.log(ratio)
            terms = second * _phi(logarithm, self.k)
            # Where p (q / p)^k is a number, (q / p)^k may be none.
            steep = np.exp(np.log(first) + (self.k - 1.0) * logarithm) / (self.k * (self.k - 1.0))
            terms = np.where(self.k * logarithm > -_DEEP, steep, terms)
        return np.where(outside, np.inf, terms.sum(axis=-1))

    #: Newton's last step; what it leaves is its square. Rounding moves roots by more than the base's.
    tolerance = 1e-12

    def _lowest(self, p: Floats) -> float:
        # The ratio q / p of the last context is exp(u / (k - 1)), which a small mass below it has yet to outweigh.
        smallest = math.log(p.min(initial=1.0, where=p > 0.0))
        return (LOWEST + min(smallest - math.log(_EVEN), 0.0)) * max(1.0, self.k - 1.0)

    def _at_radius(self, f: Floats, p: Floats, mean: Floats) -> Point:
        # The floor is not reached: some context beyond the minimisers keeps mass.
        last = self._last(f, p, 1, lambda point, knot, rows: point.divergence >= self.epsilon)
        point = super()._at_radius(f - last[:, None], p, mean - last)
        point.value += last
        return point

    def tangent(self, f: Floats, p: Floats, tau: Floats) -> Tangent:
        last = self._last(f, p, 0, lambda point, knot, rows: knot + point.value + point.penalty <= tau[rows])
        return super().tangent(f - last[:, None], p, tau - last)

    def _last(self, f: Floats, p: Floats, least: int, beyond: Beyond) -> Floats:
        """Payoff `(m,)` of the last context that keeps mass: the largest payoff that w lies beyond.

        Found by halving the sorted payoffs, the largest first; `least` counts payoffs above the smallest that w is
        known to lie beyond.
        """
        payoffs = np.sort(f, axis=1)
        low, high = (f == 0.0).sum(axis=1) - 1 + least, np.full(len(f), f.shape[1] - 1)
        at = high.copy()
        while len(active := np.flatnonzero(low < high)):
            knot = payoffs[active, at[active]]
            point = self._point(np.full(len(active), -np.inf), f[active] - knot[:, None], pick(p, active), small=True)
            further = beyond(point, knot, active)
            low[active] = np.where(further, at[active], low[active])
            high[active] = np.where(further, high[active], at[active] - 1)
            at = (low + high + 1) // 2
        return payoffs[np.arange(len(f)), low]

    def _point(self, u: Floats, f: Floats, p: Floats, *, small: bool) -> Point:
        # f is relative to the last context that keeps mass, u the logarithm of w relative to it.
        k, order = self.k, 1.0 / (self.k - 1.0)
        over_last = np.exp(u)[:, None]
        above = np.where(f <= 0.0, over_last - f, 0.0)
        span = np.maximum(over_last[:, 0] - f.min(axis=1), _TINY)
        share = above / span[:, None]
        power = share if k == 2.0 else share**order
        if u.min() < _DEEP:
            # exp(u) leaves the range of doubles long before its power does.
            power = np.where(f == 0.0, np.exp(order * (u - np.log(span)))[:, None], power)
        q = p * power
        total = q.sum(axis=1)
        q /= total[:, None]
        normal = total ** (k - 1.0)
        value = np.einsum("bn,bn->b", q, f)
        multiplier = (k - 1.0) * span * normal
        moment = np.einsum("bn,bn->b", q, share)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            divergence = (moment / normal - 1.0) / (k * (k - 1.0))
        penalty = span * (moment - normal) / k
        near = np.flatnonzero(small & (k * (k - 1.0) * divergence < _NEAR))
        if len(near):
            logarithm = _log_ratio(u[near], f[near], pick(p, near), span[near], share[near], order, total[near])
            divergence[near] = expectation(_phi(logarithm, k), pick(p, near))
            penalty[near] = multiplier[near] * divergence[near]
        # dq/du = q (g - mean g) / (k - 1), g = exp(u) / (w - f); the divergence moves by -f.dq/du over the multiplier.
        tilt = np.divide(-over_last, above, out=np.where(f == 0.0, -1.0, 0.0), where=f < 0.0)
        weighted = q * tilt
        moved = np.einsum("bn,bn->b", weighted, f) - value * weighted.sum(axis=1)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            steepness = moved / ((k - 1.0) * multiplier)
        return Point(q, value, divergence, multiplier, penalty, steepness, tilt)

    def _start(self, f: Floats, p: Floats, mean: Floats) -> Floats:
        # For a large w the ratios within the support are 1 - (f - E) / ((k - 1) w), up to a factor.
        k = self.k
        weights = np.where(f <= 0.0, p, 0.0)
        mass = weights.sum(axis=1)
        inner = np.einsum("bn,bn->b", weights, f) / mass
        variance = np.einsum("bn,bn->b", weights, (f - inner[:, None]) ** 2) / mass
        with np.errstate(divide="ignore", over="ignore"):
            radius = np.expm1(np.log1p(k * (k - 1.0) * self.epsilon) + (k - 1.0) * np.log(mass)) / (k * (k - 1.0))
        far = np.sqrt(variance / (2.0 * np.maximum(radius, _TINY))) / (k - 1.0) + inner
        return np.log(np.maximum(far, _TINY))

    def _dual(self, f: Floats, p: Floats, multiplier: Floats, value: Floats) -> Floats:
        # w - C (sum_i p_i (w - f_i)_+^(k/(k-1)))^((k-1)/k), C^k = 1 + k (k - 1) epsilon, without its cancellation.
        k, factor = self.k, self.k * (self.k - 1.0)
        growth = math.log(self.epsilon) + math.log(factor)
        if growth < -_DEEP:
            growth = math.log1p(factor * self.epsilon)
        w = np.maximum(value + np.exp(np.log(multiplier) + growth) / (k - 1.0), _TINY)
        with np.errstate(divide="ignore"):
            exponent = k / (k - 1.0) * np.log1p(-np.minimum(f / w[:, None], 1.0))
            short = np.maximum(expectation(np.expm1(exponent), p), -0.5)
            log_total = np.where(short > -0.5, np.log1p(short), np.log(expectation(np.exp(exponent), p)))
        return -w * np.expm1(growth / k + (k - 1.0) / k * log_total)

    def _intercept(self, ratio: Floats) -> Floats:
        return (1.0 - ratio**self.k) / self.k

    def _bending(self, ratio: Floats) -> Floats:
        return ratio ** (self.k - 1.0)

    def _floor_radius(self, mass: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return (mass ** (1.0 - self.k) - 1.0) / (self.k * (self.k - 1.0))


def _log_ratio(u: Floats, f: Floats, p: Floats, span: Floats, share: Floats, order: float, total: Floats) -> Floats:
    """`log(q / p)`, by logarithms that keep their digits at both ends of the share of w - f in its largest."""
    below = (f - f.min(axis=1)[:, None]) / span[:, None]
    with np.errstate(divide="ignore"):
        logarithm = np.where((below < 0.5) & (f <= 0.0), np.log1p(-np.minimum(below, 0.5)), np.log(share))
    if u.min() < _DEEP:
        logarithm = np.where(f == 0.0, (u - np.log(span))[:, None], logarithm)
    logarithm *= order
    short = np.maximum(expectation(np.expm1(logarithm), p), -0.99)
    return logarithm - np.where(short > -0.99, np.log1p(short), np.log(total))[:, None]


def _phi(a: Floats, k: float) -> Floats:
    """`phi_k(t)` with `a = log t` (minus infinity for t = 0), by its series where t^k is near 1."""
    with np.errstate(over="ignore", invalid="ignore"):
        series = a**2 * (0.5 + a * ((k + 1) / 6 + a * ((k**2 + k + 1) / 24 + a * (k**3 + k**2 + k + 1) / 120)))
        return np.where(k * np.abs(a) < 3e-3, series, (np.expm1(k * a) - k * np.expm1(a)) / (k * (k - 1.0)))
