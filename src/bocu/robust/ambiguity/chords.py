"""Bounds on `alpha v + beta delta`, alpha and beta positive, that need no decision to be solved.

With v convex, its slope at epsilon is at most that of a chord, `delta(epsilon) <= (v(epsilon + h) - v(epsilon)) / h`,
so that for h up to `H = beta / alpha`

    alpha v(epsilon) + beta delta(epsilon) <= (beta / h) v(epsilon + h) - (beta / h - alpha) v(epsilon),

in which the first value is solved, at a radius at which few contexts keep mass, or bounded by a distribution of that
set, and a line below v bounds the second. The same bounds a difference of step s in place of the slope where `h >= s`.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from bocu.robust.ambiguity.base import AmbiguitySet
from bocu.robust.ambiguity.checks import Floats

#: Of the reach at which v is the least payoff, that of chords: the shorter the nearer to the slope, and the more they
#: magnify the errors of their ends.
_SHARE = 0.5


class Chords:
    """Bounds of some decisions by chords of v, for `best_slice` of `bocu.robust.ambiguity.search`, arguments as there.

    Attributes:
        promise: (decisions,) estimates of their values, the lines below v taken for its tangents at epsilon; NaN for
            decisions that there are no chords of.
        magnified: what errors of v are multiplied by at most.
    """

    def __init__(
        self,
        rows: np.ndarray,
        payoffs: Floats,
        reference: Floats,
        ambiguity_set: AmbiguitySet,
        alpha: float,
        beta: float,
        reaches: tuple[float, float],
        lines: tuple[Floats, Floats],
    ) -> None:
        self._payoffs, self._reference, self._set = payoffs, reference, ambiguity_set
        self._alpha, self._beta = alpha, beta
        self._reach, self._end = reaches
        level, steepness = lines
        low = level - ambiguity_set.epsilon * steepness
        self._low, self.promise, self._least, self._above = np.full((4, len(payoffs)), np.nan)
        self._low[rows], self._least[rows] = low, payoffs[rows].min(axis=1)
        self.promise[rows] = alpha * low - beta * steepness
        self._stage = np.zeros(len(payoffs), dtype=np.int64)
        self._wider = ambiguity_set.with_epsilon(ambiguity_set.epsilon + self._reach)
        self._above[rows] = towards_contexts(payoffs[rows], reference, self._wider)
        self.magnified = beta / self._reach

    @classmethod
    def where_needed(
        cls,
        rows: np.ndarray,
        payoffs: Floats,
        reference: Floats,
        ambiguity_set: AmbiguitySet,
        alpha: float,
        beta: float,
        step: float | None,
    ) -> Self | None:
        """Return chords of the decisions `rows`, if the set of radius epsilon + H holds all mass on any context.

        None where it does not, or lines below v are not known.
        """
        end = float(ambiguity_set._vertex_distances(reference).max()) - ambiguity_set.epsilon
        reach = max(_SHARE * end, 0.0 if step is None else step)
        if not 0.0 < reach <= end <= beta / alpha:
            return None
        lines = ambiguity_set.lines_below(payoffs[rows], reference, careful=False)
        if lines is None:
            return None
        return cls(rows, payoffs, reference, ambiguity_set, alpha, beta, (reach, end), lines)

    def bounds(self, rows: np.ndarray, enough: float) -> Floats:
        """Bounds of some decisions, sharpened where they are not less than `enough`.

        First by the value at radius epsilon + h, which takes little at so wide a radius, then by lines nearer to v.
        """
        bounds = self._chords(rows)
        for stage in (1, 2):
            open_ = (bounds >= enough) & (self._stage[rows] < stage)
            again = rows[open_]
            if not len(again):
                continue
            self._stage[again] = stage
            payoffs = self._payoffs[again]
            if stage == 1:
                self._above[again] = self._wider.values(payoffs, self._reference)[0]
            else:
                self._raise_lines(again, self._set.lines_below(payoffs, self._reference, careful=True))
            bounds[open_] = self._chords(again)
        return bounds

    def _raise_lines(self, rows: np.ndarray, lines: tuple[Floats, Floats] | None) -> None:
        if lines is not None:
            self._low[rows] = np.maximum(self._low[rows], lines[0] - self._set.epsilon * lines[1])

    def _chords(self, rows: np.ndarray) -> Floats:
        """The lesser of both chords: to radius epsilon + h, and to where v is the least payoff."""
        return np.minimum(
            self._chord(self._reach, self._above[rows], rows), self._chord(self._end, self._least[rows], rows)
        )

    def _chord(self, reach: float, above: Floats, rows: np.ndarray) -> Floats:
        slope = self._beta / reach
        bounds: Floats = slope * above - (slope - self._alpha) * self._low[rows]
        return bounds


def towards_contexts(payoffs: Floats, reference: Floats, ambiguity_set: AmbiguitySet) -> Floats:
    """Bound `(decisions,)` from moving a share of the mass to one context: distances are convex along the way."""
    distance = ambiguity_set._vertex_distances(reference)
    share = np.divide(min(ambiguity_set.epsilon, 1e300), distance, out=np.ones_like(distance), where=distance > 0.0)
    mean = payoffs @ reference
    apart = payoffs - mean[:, None]
    apart *= np.minimum(share, 1.0)
    return mean + apart.min(axis=1)
