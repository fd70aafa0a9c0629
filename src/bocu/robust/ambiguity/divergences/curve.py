"""Divergences whose worst cases form a curve with one parameter: the base of Kullback-Leibler and Cressie-Read.

For each row the candidates q(u), u real, run from the floor (u small) to the reference (u large), and the divergence
falls along the way. A radius picks the point with `d(q(u), p) = epsilon`, robust satisficing the one where the tangent
of v passes through (0, tau).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bocu.robust.ambiguity.base import Rows, Tangent, Wanted, expectation, pick
from bocu.robust.ambiguity.checks import Floats
from bocu.robust.ambiguity.divergences.base import Divergence
from bocu.robust.ambiguity.divergences.roots import bracketed, newton_decreasing

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
