"""Bounds on `alpha v + beta delta`, alpha and beta positive, that need no decision to be solved.

With v convex, its slope at epsilon is at most that of a chord, `delta(epsilon) <= (v(epsilon + h) - v(epsilon)) / h`,
so that for h up to `H = beta / alpha`

    alpha v(epsilon) + beta delta(epsilon) <= (beta / h) v(epsilon + h) - (beta / h - alpha) v(epsilon),

in which a distribution of the set of radius epsilon + h bounds the first value from above and a line below v the
second. The same bounds a difference of step s in place of the slope where `h >= s`.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from bocu.ambiguity.base import AmbiguitySet
from bocu.ambiguity.checks import Floats

#: Of the reach at which v is the least payoff, that of chords: the shorter the nearer to the slope, and the more they
#: magnify the errors of their ends.
_SHARE = 0.5


class Chords:
    """Bounds of decisions by chords of v, for `best_slice` of `bocu.ambiguity.search`, arguments as there.

    Attributes:
        promise: (decisions,) estimates of their values: the lines below v, taken for its tangents at epsilon.
        wider: the set of radius epsilon + h.
        magnified: what errors of v are multiplied by at most.
    """

    def __init__(
        self,
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
        self._least = payoffs.min(axis=1)
        level, steepness = lines
        self._low = level - ambiguity_set.epsilon * steepness
        self._rough = np.ones(len(payoffs), dtype=bool)
        self.promise = alpha * self._low - beta * steepness
        self.wider = ambiguity_set.with_epsilon(ambiguity_set.epsilon + self._reach)
        self.magnified = beta / self._reach

    @classmethod
    def where_needed(
        cls,
        payoffs: Floats,
        reference: Floats,
        ambiguity_set: AmbiguitySet,
        alpha: float,
        beta: float,
        step: float | None,
    ) -> Self | None:
        """Return chords where the set of radius epsilon + H holds all mass on any context, and knows lines below v."""
        end = float(ambiguity_set._vertex_distances(reference).max()) - ambiguity_set.epsilon
        reach = max(_SHARE * end, 0.0 if step is None else step)
        if not 0.0 < reach <= end <= beta / alpha:
            return None
        lines = ambiguity_set.lines_below(payoffs, reference, careful=False)
        return lines if lines is None else cls(payoffs, reference, ambiguity_set, alpha, beta, (reach, end), lines)

    def bounds(self, rows: np.ndarray, above: Floats) -> Floats:
        """Bounds of some decisions, lines below v sharpened once, from bounds `above` on v at radius epsilon + h."""
        again = rows[self._rough[rows]]
        lines = self._set.lines_below(self._payoffs[again], self._reference, careful=True) if len(again) else None
        if lines is not None:
            self._low[again] = np.maximum(self._low[again], lines[0] - self._set.epsilon * lines[1])
            self._rough[again] = False
        return np.minimum(self._chord(self._reach, above, rows), self._chord(self._end, self._least[rows], rows))

    def _chord(self, reach: float, above: Floats, rows: np.ndarray) -> Floats:
        slope = self._beta / reach
        bounds: Floats = slope * above - (slope - self._alpha) * self._low[rows]
        return bounds
