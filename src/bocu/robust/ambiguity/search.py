"""The best decision over a costly set, most decisions excluded by bounds.

Any distribution q in the set bounds the value of every decision from above, `v(f) <= q.f`, at the price of one
product. The pool of such distributions starts with the steps from the reference towards each context and grows by the
worst cases of the decisions solved so far; since decisions that are near share theirs, few need be solved.

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

import numpy as np

from bocu.core.ties import first_best, tie
from bocu.robust.ambiguity.base import AmbiguitySet, Wanted, worst_case
from bocu.robust.ambiguity.checks import Floats


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
    return _search(payoffs, reference, offset, alpha, wider, evaluate, (tolerance, size))


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
) -> Found:
    """The best of values that are at most `offset + weight v(payoffs)` over the set."""
    bound = offset + weight * towards_contexts(payoffs, reference, ambiguity_set)
    exact = np.full(len(payoffs), -np.inf)
    open_ = np.ones(len(payoffs), dtype=bool)
    rounding = 1e-12 * (weight * max(1.0, float(np.abs(payoffs).max())) + float(np.abs(offset).max()))
    block, candidates, solved = _FIRST_BLOCK, np.arange(len(payoffs)), 0
    tolerance, size = within
    while len(candidates):
        given_up = solved >= _TRIED and len(candidates) > _STILL_OPEN * len(payoffs)
        chosen = candidates if given_up else candidates[np.argsort(-bound[candidates], kind="stable")[:block]]
        exact[chosen], pool = evaluate(chosen, None if given_up else ambiguity_set)
        open_[chosen] = False
        solved += len(chosen)
        enough = exact.max() + tolerance - tie(exact.max(), size) - rounding
        left = np.flatnonzero(open_ & (bound >= enough))
        if pool is not None and len(left):
            bound[left] = np.minimum(bound[left], offset[left] + weight * (payoffs[left] @ pool.T).min(axis=1))
        candidates = left[bound[left] >= enough]
        block = min(2 * block, _LARGEST_BLOCK)
    index = first_best(exact, size)
    others = np.where(open_, bound, exact)
    others[index] = -np.inf
    return index, float(exact[index]), float(others.max()), solved, int(exact.argmax())
