"""Points on the MMD path of one reference, for many rows of payoffs: closed form where it holds, else critical line.

A point is a deviation `r = q - p` and its path parameter t (see `ambiguity.mmd.critical_line`), which together are
a primal and a dual solution: value `E + f.r`, slope `-|r| / t`, and the lower bound of the dual vector `-r / t`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bocu.core.errors import BocuError
from bocu.robust.ambiguity.base import ROUNDING, Tangent
from bocu.robust.ambiguity.checks import Floats
from bocu.robust.ambiguity.mmd.departure import Departure
from bocu.robust.ambiguity.mmd.gram import SINGULAR, Gram

#: Gap, in ranges of the payoffs, above which a row is solved by the other method or refused.
_ACCEPTED_GAP = 1e-8
_LARGEST_GAP = 1e-6

#: Residual at which the walk computes its inverse anew; rows that miss the gap are walked again with 0.
_DRIFT = 1e-9

#: Radii beyond are as these: their squares have to be numbers, above 0.
_LEAST_RADIUS, _LARGEST_RADIUS = 1e-150, 1e150

#: Share of contexts that may be empty for the path to be followed from the reference.
_FEW_EMPTY = 0.3


@dataclass(slots=True)
class PathPoints:
    """One point a row: r `(B, n)`, t `(B,)` (0 at the reference, infinite on the floor), rate dr/dt `(B, n)`.

    And what `PreparedReference` says of it: its norm, its gain `f.r` and its duality gap, all `(B,)`.
    """

    r: Floats
    t: Floats
    rate: Floats
    norm: Floats
    gain: Floats
    gap: Floats

    @classmethod
    def empty(cls, shape: tuple[int, int]) -> PathPoints:
        """Return zeros for points of a shape (B, n), to be filled in by `put`."""
        (rows, _) = shape
        return cls(np.zeros(shape), np.zeros(rows), np.zeros(shape), np.zeros(rows), np.zeros(rows), np.zeros(rows))

    def put(self, rows: np.ndarray, other: PathPoints) -> None:
        """Overwrite some rows."""
        for name in self.__slots__:
            getattr(self, name)[rows] = getattr(other, name)

    @property
    def accepted(self) -> bool:
        """Whether no row has a gap to speak of."""
        return bool((self.gap <= _ACCEPTED_GAP).all())

    def value_and_slope(self, mean: Floats) -> tuple[Floats, Floats]:
        """`v = E + f.r` and `-|r| / t`, both `(B,)`; exactly 0 on the floor."""
        moving = (self.t > 0.0) & np.isfinite(self.t)
        slope = -np.divide(self.norm, self.t, out=np.zeros_like(self.t), where=moving)
        return np.where(np.isinf(self.t), 0.0, mean + self.gain), slope

    def rate_in_epsilon(self, f: Floats) -> Floats:
        """Derivative of q in epsilon `(B, n)`: `|r| d|r| = A2 t dt` with `A2 = -f.dr/dt`."""
        speed = -np.einsum("bn,bn->b", f, self.rate) * np.where(np.isfinite(self.t), self.t, 0.0)
        moving = speed > 0.0
        return np.divide(self.norm, speed, out=np.zeros_like(speed), where=moving)[:, None] * self.rate


class PreparedReference:
    """A reference `(n,)` with a Gram matrix, and what depends on the two alone."""

    def __init__(self, p: Floats, gram: Gram) -> None:
        self.p = np.ascontiguousarray(p)
        self.gram = gram
        self.embedded = gram.matrix @ self.p
        self.positive = bool(self.p.all())

    @cached_property
    def squared_distances(self) -> Floats:
        """Squared distance `(n,)` to each single context, rounded up."""
        diagonal, inner = np.diag(self.gram.matrix), self.p @ self.embedded
        rounding = ROUNDING * (diagonal + 2.0 * np.abs(self.embedded) + inner)
        return np.maximum(diagonal - 2.0 * self.embedded + inner, 0.0) + rounding

    @cached_property
    def distances(self) -> Floats:
        """Distance `(1, n)` to each single context."""
        return vertex_distances(self.p[None], self.gram.matrix)

    @cached_property
    def _departure(self) -> Departure:
        return Departure(self.p, self.gram.matrix)

    def leaving(self, f: Floats) -> tuple[Floats, Floats]:
        """Direction dr/dt in which the worst case leaves the reference `(B, n)`, and its norm `-delta(0)` `(B,)`."""
        if self.positive:
            direction = -self.gram.steepest(f)
        else:
            direction = self._departure.directions(f, *self._departure.within(f))
        steepness = np.sqrt(np.maximum(-np.einsum("bn,bn->b", direction, f), 0.0))
        return direction, steepness

    def at_reference(self, f: Floats) -> tuple[Floats, Floats]:
        """Slope at radius 0 `(B,)` and the rate of the distribution there `(B, n)`."""
        direction, steepness = self.leaving(f)
        scale = np.divide(1.0, steepness, out=np.zeros_like(steepness), where=steepness > 0.0)
        return -steepness, scale[:, None] * direction

    def at_radii(self, f: Floats, radii: list[float]) -> list[PathPoints]:
        """Points at increasing positive radii, walking the path of a row once for all of them."""
        radii = [min(max(radius, _LEAST_RADIUS), _LARGEST_RADIUS) for radius in radii]
        highest = f.max(axis=1)
        answers = [PathPoints.empty(f.shape) for _ in radii]
        left = np.flatnonzero(highest)
        if self.positive:
            left = self._interior(f, left, radii, answers)
        if len(left):
            self._walk(f, left, radii, answers)
        return answers

    def satisficing(self, f: Floats, tau: Floats) -> Tangent:
        """Where the tangent of v, of slope `-|r| / t`, passes through `(0, tau)`, for tau between floor and mean."""
        (points,) = followed = self._follow_once(f, [np.inf], tau, _DRIFT)
        if not points.accepted:
            self._follow_doubtful(f, [np.inf], tau, followed)
        if not (points.gap <= _LARGEST_GAP).all():
            raise BocuError(f"the MMD path was not followed to tau: {SINGULAR}")
        # Where the path is still straight its tangents pass through the expectation only: the slope is that at 0.
        _, steepness = self.leaving(f)
        slope = np.divide(points.norm, points.t, out=np.full(len(f), np.inf), where=points.t > 0.0)
        return Tangent(-np.minimum(slope, steepness), points.norm, self.p + points.r)

    def _interior(self, f: Floats, rows: np.ndarray, radii: list[float], answers: list[PathPoints]) -> np.ndarray:
        """Fill the rows that stay inside the simplex up to the largest radius; returns the others."""
        once = -self.gram.centred(f[rows] @ self.gram.inverse)
        steepness = np.sqrt(np.maximum(-np.einsum("bn,bn->b", once, f[rows]), np.finfo(float).tiny))
        left_over = self.p + (radii[-1] / steepness)[:, None] * once
        empty = (left_over < 0.0).sum(axis=1)
        few = (empty > 0) & (empty <= _FEW_EMPTY * len(self.p))
        inside = empty == 0
        if inside.any():
            chosen = rows[inside]
            direction, steepness = self.leaving(f[chosen])
            for radius, answer in zip(radii, answers, strict=True):
                answer.put(chosen, self._straight(f[chosen], direction, steepness, radius))
        far = ~inside
        if few.any():
            far[few] = ~self._walk_from_reference(f, rows[few], once[few], radii, answers)
        return rows[far]

    def _walk_from_reference(
        self, f: Floats, rows: np.ndarray, directions: Floats, radii: list[float], answers: list[PathPoints]
    ) -> np.ndarray:
        """Fill the rows where few contexts become empty; returns which of them are solved."""
        from bocu.robust.ambiguity.mmd.critical_line import follow_from_reference

        payoffs = np.ascontiguousarray(f[rows])
        most = max(2, int(2 * _FEW_EMPTY * len(self.p)))
        inverse = self.gram.centred_inverse
        r, t, rate, solved = follow_from_reference(payoffs, directions, self.p, inverse, np.array(radii), most)
        for index, (radius, answer) in enumerate(zip(radii, answers, strict=True)):
            points = self._certified(payoffs, r[:, index], t[:, index], rate[:, index], radius)
            # Explicit inverses of nearly singular matrices cost digits, and so does a long way with few contexts left.
            solved &= (points.gap <= _ACCEPTED_GAP) & (np.abs(points.norm - radius) <= 1e-9 * radius)
            solved &= np.abs(points.r.sum(axis=1)) <= 1e-9
            answer.put(rows, points)
        return solved

    def _straight(self, f: Floats, direction: Floats, steepness: Floats, radius: float) -> PathPoints:
        t = radius / steepness
        r = np.maximum(t[:, None] * direction, -self.p)
        return self._certified(f, r, t, direction, radius)

    def _walk(self, f: Floats, rows: np.ndarray, radii: list[float], answers: list[PathPoints]) -> None:
        """Fill rows that are not constant, from the floor."""
        payoffs = f[rows]
        followed = self._follow_once(payoffs, radii, np.empty(0), _DRIFT)
        if not all(points.accepted for points in followed):
            self._follow_doubtful(payoffs, radii, np.empty(0), followed)
        for radius, points, answer in zip(radii, followed, answers, strict=True):
            if not points.accepted:
                self._close_to_reference(payoffs, np.flatnonzero(~(points.gap <= _ACCEPTED_GAP)), radius, points)
            answer.put(rows, points)

    def _follow_doubtful(self, f: Floats, radii: list[float], tau: Floats, answers: list[PathPoints]) -> None:
        """Follow rows with a gap once more, without trust in updates, and keep what is better."""
        doubtful = np.flatnonzero(~np.all([points.gap <= _ACCEPTED_GAP for points in answers], axis=0))
        careful = self._follow_once(f[doubtful], radii, tau[doubtful] if len(tau) else tau, 0.0)
        for points, again in zip(answers, careful, strict=True):
            better = ~(points.gap[doubtful] <= again.gap)
            points.put(doubtful[better], _some(again, better))

    def _follow_once(self, f: Floats, radii: list[float], tau: Floats, drift: float) -> list[PathPoints]:
        from bocu.robust.ambiguity.mmd.critical_line import follow

        payoffs = np.ascontiguousarray(f)
        r, t, rate, _ = follow(payoffs, self.p, self.embedded, self.gram.matrix, np.array(radii), tau, drift)
        return [self._certified(payoffs, r[:, k], t[:, k], rate[:, k], radius) for k, radius in enumerate(radii)]

    def _close_to_reference(self, f: Floats, rows: np.ndarray, radius: float, points: PathPoints) -> None:
        """The smallest radii are the hardest on the path, and the straight line from the reference solves them."""
        straight = self._straight(f[rows], *self.leaving(f[rows]), radius)
        better = straight.gap <= points.gap[rows]
        points.put(rows[better], _some(straight, better))
        worst = int(points.gap[rows].argmax())
        if not points.gap[rows[worst]] <= _LARGEST_GAP:
            raise BocuError(
                f"MMD at epsilon = {radius:g} was solved only to a duality gap of {points.gap[rows[worst]]:.1e} of the "
                f"payoffs' range in row {int(rows[worst])}: {SINGULAR}"
            )

    def _certified(self, f: Floats, r: Floats, t: Floats, rate: Floats, radius: float) -> PathPoints:
        """Pull points that rounding left outside the set onto it; with norms, gains and duality gaps, in units of f."""
        # A walk that lost its way may have left the range of numbers: its gap is then not a number, and not accepted.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            image = r @ self.gram.matrix
            norm = np.sqrt(np.maximum(np.einsum("bn,bn->b", r, image), 0.0))
            shrink = 1.0 / np.maximum(norm / radius, 1.0)
            r, norm = r * shrink[:, None], norm * shrink
            image *= shrink[:, None]
            image /= t[:, None]
            gain = np.einsum("bn,bn->b", f, r)
            # On the floor, at infinite t, the dual vector is 0 and the bound the smallest payoff.
            value = np.where(np.isinf(t), 0.0, f @ self.p + gain)
            gap = np.abs(value - ((f + image).min(axis=1) - image @ self.p - norm**2 / t))
        return PathPoints(r, t, rate, norm, gain, gap)


def vertex_distances(p: Floats, gram: Floats) -> Floats:
    """Distances `(B, n)` of references `(B, n)` to each single context j, the root of `|e_j - p|^2`."""
    image = p @ gram
    squared = np.diag(gram) - 2.0 * image + np.einsum("bn,bn->b", image, p)[:, None]
    return np.sqrt(np.maximum(squared, 0.0))


def _some(points: PathPoints, chosen: np.ndarray) -> PathPoints:
    return PathPoints(*(getattr(points, name)[chosen] for name in PathPoints.__slots__))
