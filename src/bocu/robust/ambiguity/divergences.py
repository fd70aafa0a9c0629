"""phi-divergences, `d(q, p) = sum_i p_i phi(q_i / p_i)`: what they share, and those with a closed form.

How worst cases move with the reference; those that form a curve with one parameter, as of Kullback-Leibler and
Cressie-Read; and scalar roots of many rows at once. Those of a user's own: `bocu.robust.ambiguity.phi_divergence`.

With `r = q / p` and l minus the slope, the multiplier of the radius, `dv/dp_i = l (phi(r_i) - r_i phi'(r_i))`. Contexts
without mass stay without: nothing depends on them.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from bocu.core.about import About, planning_only
from bocu.core.errors import BocuError
from bocu.core.parameters import Number
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.base import (
    ROUNDING,
    AmbiguitySet,
    Rows,
    SolveCost,
    Tangent,
    Wanted,
    expectation,
    pair,
    pick,
    relative,
    sorted_rows,
)
from bocu.robust.ambiguity.checks import Floats
from bocu.robust.ambiguity.parameters import SetParameters, named


class Divergence(AmbiguitySet):
    """Sets in a phi-divergence that keep to the support of the reference."""

    leaves_support = False
    finite_slope_at_zero = False

    @abstractmethod
    def _dual(self, f: Floats, p: Floats, multiplier: Floats, value: Floats) -> Floats:
        """The dual function `(m,)` at multipliers `(m,)` above 0, other variables as they are at the value `(m,)`."""

    def _lower_bound(self, f: Floats, p: Floats, found: Rows) -> Floats:
        if self.epsilon == 0.0:
            return expectation(f, p)
        bound = np.zeros(len(f))
        rows = np.flatnonzero((found.slope < 0.0) & np.isfinite(found.slope))
        if len(rows):
            bound[rows] = self._dual(f[rows], pick(p, rows), -found.slope[rows], found.value[rows])
        return bound

    @abstractmethod
    def _intercept(self, ratio: Floats) -> Floats:
        """`phi(r) - r phi'(r)`, elementwise: where the tangent of phi at r meets the axis."""

    @abstractmethod
    def _bending(self, ratio: Floats) -> Floats:
        """`r phi''(r)`, elementwise, at r > 0."""

    def _in_reference(self, f: Floats, p: Floats, q: Floats, slope: Floats) -> Floats:
        inside = p > 0.0
        ratio = np.divide(q, p, out=np.ones_like(q), where=inside)
        finite = np.isfinite(slope)
        gradient = -np.where(finite, slope, 0.0)[:, None] * self._intercept(ratio)
        # At radius 0 the value is the expectation.
        return np.where(finite[:, None], gradient, f)

    def _slope_in_reference(
        self, f: Floats, p: Floats, q: Floats, slope: Floats, rate: Floats
    ) -> tuple[Floats, Floats]:
        kept = q > 0.0
        ratio = np.divide(q, p, out=np.ones_like(q), where=kept)
        growth = np.divide(rate, q, out=np.zeros_like(q), where=kept)
        steep = np.where(np.isfinite(slope), -slope, 0.0)
        turn = self._bending(ratio) * growth
        # d is epsilon along the path: the multiplier falls by the Hessian of d, applied to the rate on both sides.
        bend = steep * np.einsum("bn,bn->b", turn, rate)
        moved = -bend[:, None] * self._intercept(np.where(kept, ratio, 0.0))
        return moved - steep[:, None] * turn * np.where(kept, ratio, 0.0), bend


#: The curve's parameter is a logarithm relative to the range of the payoffs; beyond these the ends are reached.
LOWEST, HIGHEST = -40.0, 40.0


@dataclass(slots=True)
class Point:
    """Points of the curve, one a row: `q` and `tilt` `(m, n)`, the rest `(m,)`.

    `multiplier` is minus the slope of v there, `penalty` its product with the divergence, `steepness` the derivative of
    the divergence in u; along the curve q moves in the direction `q (tilt - q.tilt)`.
    """

    q: Floats
    value: Floats
    divergence: Floats
    multiplier: Floats
    penalty: Floats
    steepness: Floats
    tilt: Floats


class CurveDivergence(Divergence):
    """A phi-divergence solved by one scalar root a row."""

    #: The step of u, relative where u is large, below which a root is found.
    tolerance: ClassVar[float] = 4e-15

    @abstractmethod
    def _point(self, u: Floats, f: Floats, p: Floats, *, small: bool) -> Point:
        """The points at u `(m,)` of rows f `(m, n)`; `small` asks for a divergence that is accurate near 0."""

    def _lowest(self, p: Floats) -> float:
        """Smallest u to look at: nothing is left there of the context that loses its mass last."""
        return LOWEST

    @abstractmethod
    def _start(self, f: Floats, p: Floats, mean: Floats) -> Floats:
        """First guess of u `(m,)` for rows f `(m, n)` with expectations `(m,)`, exact as epsilon falls to 0."""

    @abstractmethod
    def _floor_radius(self, mass: Floats) -> Floats:
        """Radius at which the floor is reached when the minimisers hold `mass` `(m,)` of the reference."""

    def solve(self, f: Floats, p: Floats, wanted: Wanted) -> Rows:
        mean = expectation(f, p)
        varies = f.max(axis=1) > 0.0
        minimisers = np.where(f == 0.0, p, 0.0)
        mass = minimisers.sum(axis=1)
        at_floor = varies & (self.epsilon >= self._floor_radius(mass))
        start = self.epsilon == 0.0
        rows = Rows(value=np.where(at_floor, 0.0, mean), slope=np.where(varies & start & ~at_floor, -np.inf, 0.0))
        if wanted.distribution:
            rows.distribution = np.broadcast_to(p, f.shape).copy()
            rows.distribution[at_floor] = minimisers[at_floor] / mass[at_floor, None]
        if wanted.rate:
            rows.rate = np.zeros_like(f)
        inner = np.flatnonzero(varies & ~at_floor)
        if start or not len(inner):
            return rows
        if len(inner) < len(f):
            f, p, mean = f[inner], pick(p, inner), mean[inner]
        point = self._at_radius(f, p, mean)
        rows.value[inner], rows.slope[inner] = point.value, -point.multiplier
        if rows.distribution is not None:
            rows.distribution[inner] = point.q
        if rows.rate is not None:
            rows.rate[inner] = _rate(point, f)
        return rows

    def _at_radius(self, f: Floats, p: Floats, mean: Floats) -> Point:
        small = self.epsilon < 1e-3
        log_radius = np.log(self.epsilon)

        def excess(u: Floats, rows: np.ndarray) -> tuple[Floats, Floats]:
            everything = len(rows) == len(f)
            point = self._point(u, f if everything else f[rows], p if everything else pick(p, rows), small=small)
            divergence = np.maximum(point.divergence, np.finfo(float).tiny)
            # Where the divergence is lost in rounding its derivative says nothing: 0 has the bracket halved.
            lost = divergence > point.divergence
            with np.errstate(invalid="ignore"):
                return np.log(divergence) - log_radius, np.where(lost, 0.0, point.steepness / divergence)

        # In logarithms the divergence is concave in u and a line near the reference, where Newton needs one step.
        start = self._start(f, p, mean)
        return self._point(
            newton_decreasing(excess, start, self._lowest(p), HIGHEST, self.tolerance), f, p, small=small
        )

    def tangent(self, f: Floats, p: Floats, tau: Floats) -> Tangent:
        # The penalised value H = v + multiplier * divergence rises along u from the floor to the expectation.
        def deficit(u: Floats, rows: np.ndarray) -> Floats:
            point = self._point(u, f[rows], pick(p, rows), small=True)
            return tau[rows] - point.value - point.penalty

        count = len(f)
        root, _ = bracketed(deficit, np.full(count, self._lowest(p)), np.full(count, HIGHEST))
        point = self._point(root, f, p, small=True)
        return Tangent(-point.multiplier, point.divergence, point.q)


def _rate(point: Point, f: Floats) -> Floats:
    """Derivative of q in epsilon `(m, n)`: the curve's direction at the speed at which f.q falls by the multiplier."""
    direction = point.q * (point.tilt - np.einsum("bn,bn->b", point.q, point.tilt)[:, None])
    fall = -np.einsum("bn,bn->b", direction, f)
    speed = np.divide(point.multiplier, fall, out=np.zeros_like(fall), where=fall != 0.0)
    return speed[:, None] * direction


RowIndices = NDArray[np.intp]

#: Most steps to a root, and the width of a bracket, relative where points are large, that is narrow enough.
_STEPS, _NARROW = 120, 1e-14


def newton_decreasing(
    function: Callable[[Floats, RowIndices], tuple[Floats, Floats]],
    start: Floats,
    lower: float,
    upper: float,
    tolerance: float,
) -> Floats:
    """Roots `(B,)` of decreasing functions between `lower` and `upper`, by Newton steps kept inside the bracket.

    Args:
        function: takes points `(m,)` and the rows `(m,)` they belong to; gives values and derivatives `(m,)`.
        start: (B,) first points.
        lower: ends of the bracket, the same for all rows.
        upper: likewise.
        tolerance: a row is done when its step is below `tolerance * max(1, |root|)`.
    """
    root = np.clip(start, lower, upper)
    low = np.full(len(root), lower)
    high = np.full(len(root), upper)
    active = np.arange(len(root))
    last = np.full(len(root), np.inf)
    for _ in range(_STEPS):
        point = root[active]
        value, derivative = function(point, active)
        positive = value > 0.0
        low[active] = np.where(positive, point, low[active])
        high[active] = np.where(positive, high[active], point)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = -value / derivative
        target = point + step
        left, right = low[active], high[active]
        # A Newton step that leaves the bracket, or that shrinks too slowly, becomes a bisection.
        bad = ~((target > left) & (target < right)) & (value != 0.0) | (np.abs(step) > 0.75 * last[active])
        target = np.where(bad, 0.5 * (left + right), target)
        moved = np.abs(target - point)
        last[active] = moved
        root[active] = target
        active = active[moved > tolerance * np.maximum(1.0, np.abs(target))]
        if not len(active):
            break
    return root


def bracketed(function: Callable[[Floats, RowIndices], Floats], lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Brackets `(B,)`, `(B,)` of the sign changes of monotone functions, by the method of Chandrupatla (1997).

    Args:
        function: takes points `(m,)` and rows `(m,)`, gives values `(m,)`; its sign differs at `lower` and `upper`.
        lower: (B,) ends of the brackets.
        upper: likewise.

    Returns:
        Two points a row: the better end first, then the other end, where the sign is different (or the value 0).
    """
    from scipy.optimize.elementwise import find_root  # slow to import, and planning needs none of it

    narrow = {"xatol": _NARROW, "xrtol": _NARROW, "fatol": 0.0, "frtol": 0.0}
    rows = np.arange(len(lower))
    with np.errstate(all="ignore"):
        found = find_root(function, (lower, upper), args=(rows,), tolerances=narrow, maxiter=_STEPS)
    (low, high), (at_low, at_high) = found.bracket, found.f_bracket
    swap = np.abs(at_high) < np.abs(at_low)
    return np.where(swap, high, low), np.where(swap, low, high)


#: The exponential of what is as low is 0, that of what is higher may leave the range of doubles.
_VANISHING, _STEEP = -800.0, 600.0


class KullbackLeibler(CurveDivergence):
    """Set of radius `epsilon` nats around the reference, `d(q, p) = sum_i q_i log(q_i / p_i)`.

    The worst case is an exponential tilt, `q_i ~ p_i exp(-f_i / lambda)`, with slope `-lambda` (Huang et al., 2024, and
    the dual of Hu and Hong, 2013, with its logarithm); lambda solves one scalar equation.

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
            logarithm = np.maximum(np.where(np.isfinite(ratio), np.log(ratio), -np.log(second)), _VANISHING)
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

    `phi_k(t) = (t^k - k t + k - 1) / (k (k - 1))`: `k = 2` is the modified chi-squared divergence, `k -> 1` is
    Kullback-Leibler. The worst case is `q_i ~ p_i (w - f_i)_+^{1/(k-1)}` for one scalar w (the dual of Duchi and
    Namkoong, 2021, with this phi). For a large k the power makes mass of a w - f far below the last digit of w. Hence
    first the last context that keeps mass is found, then `u = log(w - f)` there.

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


#: Stands for an infinite radius, whose products with 0 would not be numbers, and for masses next to nothing.
_LARGEST, _SMALLEST = 1e300, 1e-300


class _ChiSquaredFamily(Divergence):
    """Sets `sum_i q_i^2 / p_i <= 1 + factor * epsilon`.

    Exact from sums over sorted payoffs: on the support of the worst distribution the ratios q / p are affine in f, and
    that support is the longest prefix on which they are not negative (Tay et al., 2022; 2024).
    """

    sensitivity_power = 0.5
    factor: ClassVar[float]

    def distance(self, q: ArrayLike, p: ArrayLike) -> Floats:
        """Divergence `(...)` of distributions `(..., n)`; infinite where q leaves the support of p."""
        first, second = pair(q, p)
        ratio, outside = relative(first, second)
        return np.where(outside, np.inf, ((first - second) * (ratio - 1.0)).sum(axis=-1) / self.factor)

    def solve(self, f: Floats, p: Floats, wanted: Wanted) -> Rows:
        rho = min(self.factor * self.epsilon, _LARGEST)
        weights, mass, slack = p, 1.0, rho
        centred = f - expectation(f, p)[:, None]
        # The ratios of the whole support are 1 - t (f - E), t^2 = rho / Var: most small radii end here. Where rounding
        # in E might decide, sums that have none do.
        shrunk = rho * (centred.max(axis=1) + ROUNDING) ** 2 > expectation(centred**2, p)
        if shrunk.any():
            last = np.full(len(f), np.inf)
            last[shrunk] = _last_of_support(f[shrunk], pick(p, shrunk), rho)
            weights = np.where(f > last[:, None], 0.0, p)
            held, lost = weights.sum(axis=1), (p - weights).sum(axis=1)
            mass, slack = held / (held + lost), np.maximum((rho * held - lost) / (held + lost), 0.0)
            weights /= held[:, None]
            # Moments on the chosen support, centred twice: a large radius makes much of a small spread.
            centred = f - np.einsum("bn,bn->b", weights, f)[:, None]
            centred -= np.einsum("bn,bn->b", weights, centred)[:, None]
        mean = f[:, 0] - centred[:, 0]
        weighted = weights * centred
        spread = np.einsum("bn,bn->b", weighted, centred)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(spread > 0.0, -0.5 * self.factor * mass * np.sqrt(spread / slack), 0.0)
            if wanted.distribution or wanted.rate:
                tilt = np.where(spread > 0.0, np.sqrt(slack) / np.sqrt(spread), 0.0)
        rows = Rows(value=np.maximum(mean - np.sqrt(slack * spread), 0.0), slope=slope)
        if wanted.distribution:
            # What rounding leaves of the mean would, beside a small spread, move the sum of the ratios.
            weighted -= weights * weighted.sum(axis=1, keepdims=True)
            rows.distribution = np.maximum(weights - tilt[:, None] * weighted, 0.0)
            rows.distribution /= rows.distribution.sum(axis=1, keepdims=True)
        if wanted.rate:
            moving = tilt * spread > 0.0
            speed = np.divide(0.5 * self.factor * mass, tilt * spread, out=np.zeros_like(tilt), where=moving)
            rows.rate = -speed[:, None] * weighted
        return rows

    def tangent(self, f: Floats, p: Floats, tau: Floats) -> Tangent:
        half = CressieRead(self.epsilon, 2.0).tangent(f, p, tau)
        scale = 0.5 * self.factor
        return Tangent(scale * half.slope, half.radius / scale, half.distribution)

    def _dual(self, f: Floats, p: Floats, multiplier: Floats, value: Floats) -> Floats:
        scale = 0.5 * self.factor
        return CressieRead(scale * self.epsilon, 2.0)._dual(f, p, multiplier / scale, value)

    def _intercept(self, ratio: Floats) -> Floats:
        return (1.0 - ratio**2) / self.factor

    def _bending(self, ratio: Floats) -> Floats:
        return 2.0 / self.factor * ratio

    def _sensitivity(self, f: Floats, p: Floats) -> Floats:
        mean = expectation(f, p)
        return np.sqrt(self.factor * expectation((f - mean[:, None]) ** 2, p))

    def _floor_distance(self, f: Floats, p: Floats) -> Floats:
        return np.sqrt((1.0 / np.where(f == 0.0, p, 0.0).max(axis=1) - 1.0) / self.factor)


class ChiSquared(_ChiSquaredFamily):
    """Set of radius `epsilon` in `sum_i p_i (q_i / p_i - 1)^2`; its slope at 0 is `-inf` for payoffs that vary."""

    about = About(
        title="chi-squared",
        summary="every distribution whose chi-squared divergence from the reference is the radius or less",
    )
    factor = 1.0


class ModifiedChiSquared(_ChiSquaredFamily):
    """Set of radius `epsilon` in `(1/2) sum_i p_i (q_i / p_i - 1)^2`; its slope at 0 is `-inf` for payoffs that vary.

    Radii of `ChiSquared` are twice these.
    """

    about = About(
        title="modified chi-squared",
        summary="as chi-squared, with half the divergence",
        paper="Tay et al. 2022",
    )
    factor = 2.0


def _last_of_support(f: Floats, p: Floats, rho: float) -> Floats:
    """Largest payoff `(B,)` on the support of the worst distribution; 0 where that is the set of minimisers."""
    _, payoff, mass = sorted_rows(f, p)
    held = np.cumsum(mass, axis=1)
    # With A_k(w) = sum_i p_i (w - f_i)_+^k the worst case is p (w - f)_+ / A_1, at distance A_2 / A_1^2 - 1, which
    # falls as w grows: the support reaches beyond a payoff iff the distance with w there exceeds rho. Sums of what is
    # not negative, the smallest payoffs first, keep the digits of masses however small; the unit those of products.
    unit = np.maximum(held[:, :1], _SMALLEST)
    step = payoff[:, 1:] - payoff[:, :-1]
    below = held[:, :-1] * step
    below /= unit
    first = np.cumsum(below, axis=1)
    second = np.cumsum((2.0 * first - below) * step, axis=1)
    bound = (1.0 + rho) * unit / held[:, -1:] if rho < _LARGEST else np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        second /= first
        inside = second > bound * first
    inside &= payoff[:, 1:] > 0.0
    longest = f.shape[1] - 1 - inside[:, ::-1].argmax(axis=1)
    row = np.arange(len(f))
    return np.where(inside.any(axis=1), payoff[row, longest], 0.0)
