"""The best decision over a costly set, most decisions excluded by bounds.

Any distribution q in the set bounds the value of every decision from above, `v(f) <= q.f`, at the price of one
product. The pool of such distributions starts with the steps from the reference towards each context and grows by the
worst cases of the decisions solved so far; since decisions that are near share theirs, few need be solved. At radii
that reach every context the pool says no more than the least payoff: there chords exclude more, where the set knows
lines below v (see `Chords`), and the most promising decisions come next.

What is bounded is `offset + weight v(radius)`, which majorises

- `alpha v(epsilon) + beta delta(epsilon)` with weight alpha and radius `epsilon + beta / alpha`: v is convex, hence
  `v(epsilon) + H delta(epsilon) <= v(epsilon + H)`, and likewise for a difference of step h in place of the slope
  where `H >= h`;
- a difference `alpha v(u, epsilon) + beta (v(u, epsilon + h) - v(l, epsilon)) / h` between bounds u and l, with offset
  `-beta v(l, epsilon) / h`, weight `alpha + beta / h` and radius epsilon: v falls in epsilon. At epsilon 0, where v is
  the expectation, what is left is the one term with radius h.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np

from bocu.core.ties import first_best, tie
from bocu.robust.ambiguity.base import AmbiguitySet, Wanted, worst_case
from bocu.robust.ambiguity.checks import Floats

#: Of the reach at which v is the least payoff, that of chords: the shorter the nearer to the slope, and the more they
#: magnify the errors of their ends.
_SHARE = 0.5


class Chords:
    """Bounds of some decisions by chords of v, for `best_slice`, arguments as there; none is solved for them.

    With v convex, its slope at epsilon is at most that of a chord, `delta(epsilon) <= (v(epsilon + h) - v(epsilon)) /
    h`, so that for h up to `H = beta / alpha`

        alpha v(epsilon) + beta delta(epsilon) <= (beta / h) v(epsilon + h) - (beta / h - alpha) v(epsilon),

    in which the first value is solved, at a radius at which few contexts keep mass, or bounded by a distribution of
    that set, and a line below v bounds the second. The same bounds a difference of step s in place of the slope where
    `h >= s`.

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
                self._above[again] = self._wider.solved(payoffs, self._reference)[0]
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


#: Decisions solved at once: first, and at most.
_FIRST_BLOCK, _LARGEST_BLOCK = 4, 64

#: The search is given up, and all that is left solved at once, where so many solved ones leave such a share open.
_TRIED, _STILL_OPEN = 60, 0.25

Evaluate = Callable[[np.ndarray, AmbiguitySet | None], tuple[Floats, Floats | None]]
"""Indices of decisions in, and the set of which a pool is wanted; values `(k,)` and worst cases of that set `(k, n)`
out."""

Found = tuple[int, float, float, int, int]
"""Index, value, a bound on the values of all other decisions, the number of decisions solved, and the index of the very
largest value. What may tie with the largest is solved, so that the first of them is found as among all values."""


def best_slice(
    payoffs: Floats,
    reference: Floats,
    ambiguity_set: AmbiguitySet,
    alpha: float,
    beta: float,
    step: float | None,
    tolerance: float,
    size: float,
) -> Found:
    """The best decision for `alpha v + beta delta` at the set's epsilon, alpha positive.

    Args:
        payoffs: (decisions, n) checked payoffs.
        reference: (n,) checked reference.
        ambiguity_set: the ambiguity set.
        alpha: weights of value.
        beta: slope.
        step: of the difference that stands for the slope, at most `beta / alpha`; None: the slope is exact.
        tolerance: stop once no other decision can be better by more, ties apart.
        size: magnitude of what values are made of, as `bocu.core.ties` has it.
    """
    wider = ambiguity_set if beta == 0.0 else ambiguity_set.with_epsilon(ambiguity_set.epsilon + beta / alpha)

    def make_chords(rows: np.ndarray) -> Chords | None:
        return None if beta == 0.0 else Chords.where_needed(rows, payoffs, reference, ambiguity_set, alpha, beta, step)

    def evaluate(chosen: np.ndarray, pooled: AmbiguitySet | None) -> tuple[Floats, Floats | None]:
        rows = payoffs[chosen]
        if beta == 0.0:
            asked, found = ambiguity_set.solve_rows(rows, reference[None], (len(rows),), Wanted())
            return alpha * asked.values(found.value), found.distribution
        if step is None:
            now, slope = ambiguity_set.solved(rows, reference)
        else:
            now, later = ambiguity_set.solved_at(
                rows, reference, [ambiguity_set.epsilon, ambiguity_set.epsilon + step]
            ).T
            slope = (later - now) / step
        return alpha * now + beta * slope, worst_case(rows, reference, pooled).distribution if pooled else None

    offset = np.zeros(len(payoffs))
    return _search(payoffs, reference, offset, alpha, wider, evaluate, (tolerance, size), make_chords)


def best_difference(
    upper: Floats,
    lower: Floats,
    reference: Floats,
    ambiguity_set: AmbiguitySet,
    alpha: float,
    beta: float,
    step: float,
    tolerance: float,
    size: float,
) -> Found:
    """The best decision for `alpha v(u, epsilon) + beta (v(u, epsilon + h) - v(l, epsilon)) / h`, beta positive.

    Args:
        upper: (decisions, n) checked bounds u.
        lower: l of payoffs, which may be the same array.
        step: h, positive.
        reference: as in `best_slice`.
        ambiguity_set: likewise.
        alpha: likewise.
        beta: likewise.
        tolerance: likewise.
        size: likewise.
    """
    radius = ambiguity_set.epsilon
    below = ambiguity_set.solved_at(lower, reference, [radius])[:, 0]
    if radius == 0.0:
        mean = ambiguity_set.solved_at(upper, reference, [0.0])[:, 0]
        reach = ambiguity_set.with_epsilon(step)

        def evaluate_at_reference(chosen: np.ndarray, pooled: AmbiguitySet | None) -> tuple[Floats, Floats | None]:
            solved = worst_case(upper[chosen], reference, reach)
            value = alpha * mean[chosen] + beta * (solved.value - below[chosen]) / step
            return value, solved.distribution

        offset = alpha * mean - beta * below / step
        return _search(upper, reference, offset, beta / step, reach, evaluate_at_reference, (tolerance, size))

    def evaluate(chosen: np.ndarray, pooled: AmbiguitySet | None) -> tuple[Floats, Floats | None]:
        rows = upper[chosen]
        now, later = ambiguity_set.solved_at(rows, reference, [radius, radius + step]).T
        value = alpha * now + beta * (later - below[chosen]) / step
        return value, worst_case(rows, reference, pooled).distribution if pooled else None

    weight = alpha + beta / step
    return _search(upper, reference, -beta * below / step, weight, ambiguity_set, evaluate, (tolerance, size))


def _search(
    payoffs: Floats,
    reference: Floats,
    offset: Floats,
    weight: float,
    ambiguity_set: AmbiguitySet,
    evaluate: Evaluate,
    within: tuple[float, float],
    make_chords: Callable[[np.ndarray], Chords | None] | None = None,
) -> Found:
    """The best of values that are at most `offset + weight v(payoffs)` over the set, and within the chords' bounds.

    Chords are made, once, of the decisions that the first leave open, where these are many; offsets are 0 then.
    """
    bound = offset + weight * towards_contexts(payoffs, reference, ambiguity_set)
    exact = np.full(len(payoffs), -np.inf)
    open_ = np.ones(len(payoffs), dtype=bool)
    rounding = 1e-12 * (weight * max(1.0, float(np.abs(payoffs).max())) + float(np.abs(offset).max()))
    block, chords, rank = _FIRST_BLOCK, None, bound
    candidates, solved = np.arange(len(payoffs)), 0
    tolerance, size = within
    while len(candidates):
        given_up = solved >= _TRIED and len(candidates) > _STILL_OPEN * len(payoffs)
        chosen = candidates if given_up else candidates[np.argsort(-rank[candidates], kind="stable")[:block]]
        exact[chosen], pool = evaluate(chosen, None if given_up or chords is not None else ambiguity_set)
        open_[chosen] = False
        solved += len(chosen)
        best = exact.max() + tolerance - tie(exact.max(), size)
        enough = best - rounding
        left = np.flatnonzero(open_ & (bound >= enough))
        rank = bound
        block = min(2 * block, _LARGEST_BLOCK)
        if chords is not None:
            bound[left] = np.minimum(bound[left], chords.bounds(left, enough))
        elif pool is not None and len(left):
            bound[left] = np.minimum(bound[left], offset[left] + weight * (payoffs[left] @ pool.T).min(axis=1))
            if make_chords is not None and len(left) > _LARGEST_BLOCK:
                chords, make_chords = make_chords(left), None
                if chords is not None:
                    rank, block = chords.promise, _FIRST_BLOCK
                    rounding *= max(1.0, chords.magnified / weight)
                    left = np.flatnonzero(open_)
        # Bounds only fall, and what is enough only rises as long as the rounding is the same.
        candidates = left[bound[left] >= best - rounding]
    index = first_best(exact, size)
    others = np.where(open_, bound, exact)
    others[index] = -np.inf
    return index, float(exact[index]), float(others.max()), solved, int(exact.argmax())
