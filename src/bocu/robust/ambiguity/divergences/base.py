"""What phi-divergences share, `d(q, p) = sum_i p_i phi(q_i / p_i)`.

How worst cases move with the reference; those that form a curve with one parameter, as of Kullback-Leibler and
Cressie-Read; and scalar roots of many rows at once.

With `r = q / p` and l minus the slope, the multiplier of the radius, `dv/dp_i = l (phi(r_i) - r_i phi'(r_i))`. Contexts
without mass stay without: nothing depends on them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bocu.robust.ambiguity.base import AmbiguitySet, Rows, Tangent, Wanted, expectation, pick
from bocu.robust.ambiguity.checks import Floats


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


def newton_decreasing(
    function: Callable[[Floats, RowIndices], tuple[Floats, Floats]],
    start: Floats,
    lower: float,
    upper: float,
    tolerance: float = 4e-15,
    iterations: int = 120,
) -> Floats:
    """Roots `(B,)` of decreasing functions between `lower` and `upper`, by Newton steps kept inside the bracket.

    Args:
        function: takes points `(m,)` and the rows `(m,)` they belong to; gives values and derivatives `(m,)`.
        start: (B,) first points.
        lower: ends of the bracket, the same for all rows.
        upper: likewise.
        tolerance: a row is done when its step is below `tolerance * max(1, |root|)`.
        iterations: most steps to take.
    """
    root = np.clip(start, lower, upper)
    low = np.full(len(root), lower)
    high = np.full(len(root), upper)
    active = np.arange(len(root))
    last = np.full(len(root), np.inf)
    for _ in range(iterations):
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


def bracketed(
    function: Callable[[Floats, RowIndices], Floats],
    lower: Floats,
    upper: Floats,
    tolerance: float = 1e-14,
    iterations: int = 120,
) -> tuple[Floats, Floats]:
    """Brackets `(B,)`, `(B,)` of the sign changes of monotone functions, by the method of Chandrupatla (1997).

    Args:
        function: takes points `(m,)` and rows `(m,)`, gives values `(m,)`; its sign differs at `lower` and `upper`.
        lower: (B,) ends of the brackets.
        upper: likewise.
        tolerance: a bracket is narrow enough below `tolerance * max(1, |point|)`, or where the value is 0.
        iterations: most steps to take.

    Returns:
        Two points a row: the better end first, then the other end, where the sign is different (or the value 0).
    """
    everything = np.arange(len(lower))
    a, b = upper.astype(float), lower.astype(float)
    value_a, value_b = function(a, everything), function(b, everything)
    c, value_c = a.copy(), value_a.copy()
    fraction = np.full(len(a), 0.5)
    active = everything[(value_a != 0.0) & (value_b != 0.0)]
    for _ in range(iterations):
        if not len(active):
            break
        x = a[active] + fraction[active] * (b[active] - a[active])
        value = function(x, active)
        same = np.sign(value) == np.sign(value_a[active])
        c[active] = np.where(same, a[active], b[active])
        value_c[active] = np.where(same, value_a[active], value_b[active])
        b[active] = np.where(same, b[active], a[active])
        value_b[active] = np.where(same, value_b[active], value_a[active])
        a[active], value_a[active] = x, value
        width = np.abs(b[active] - a[active])
        limit = tolerance * np.maximum(1.0, np.abs(a[active]))
        active = active[(width > 2.0 * limit) & (value != 0.0)]
        fraction[active] = _fraction(a, b, c, value_a, value_b, value_c, active, tolerance)
    swap = np.abs(value_b) < np.abs(value_a)
    return np.where(swap, b, a), np.where(swap, a, b)


def _fraction(
    a: Floats,
    b: Floats,
    c: Floats,
    value_a: Floats,
    value_b: Floats,
    value_c: Floats,
    rows: RowIndices,
    tolerance: float,
) -> Floats:
    """Where to look next between a and b: inverse quadratic interpolation where it is safe, else the middle."""
    fa, fb, fc = value_a[rows], value_b[rows], value_c[rows]
    width = b[rows] - a[rows]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        xi = (a[rows] - b[rows]) / (c[rows] - b[rows])
        phi = (fa - fb) / (fc - fb)
        quadratic = fa / (fb - fa) * fc / (fb - fc) + (c[rows] - a[rows]) / width * fa / (fc - fa) * fb / (fc - fb)
        safe = (phi**2 < xi) & ((1.0 - phi) ** 2 < 1.0 - xi) & np.isfinite(quadratic)
        edge = np.minimum(0.5, tolerance * np.maximum(1.0, np.abs(a[rows])) / np.abs(width))
    return np.clip(np.where(safe, quadratic, 0.5), edge, 1.0 - edge)
