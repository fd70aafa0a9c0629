"""The best decision over a costly ball, most decisions excluded by bounds.

Any distribution q in the ball bounds the value of every decision from above, `v(f) <= q.f`, at the price of one
product. The pool of such distributions starts with the steps from the reference towards each context and grows by the
worst cases of the decisions solved so far; since decisions that are near share theirs, few need be solved. For
`alpha v(epsilon) + beta delta(epsilon)` the same holds with the ball of radius `epsilon + beta / alpha`, because v is
convex: `v(epsilon) + h delta(epsilon) <= v(epsilon + h)`.
"""

from __future__ import annotations

import numpy as np

from bocu.ambiguity.ball import Ball, worst_case
from bocu.ambiguity.checks import Floats

#: Decisions solved at once: first, and at most.
_FIRST_BLOCK, _LARGEST_BLOCK = 4, 64


def best_slice(
    payoffs: Floats, reference: Floats, ball: Ball, alpha: float, beta: float, tolerance: float
) -> tuple[int, float, float, int]:
    """The best decision for `alpha v + beta delta` at the ball's epsilon, alpha positive.

    Parameters
    ----------
    payoffs
        (decisions, n) checked payoffs.
    reference
        (n,) checked reference.
    ball
        the ambiguity set.
    alpha, beta
        weights of value and slope.
    tolerance
        stop once no other decision can be better by more.

    Returns
    -------
    index, value, a bound on the values of all other decisions, and the number of decisions solved.
    """
    wider = ball if beta == 0.0 else ball.with_epsilon(ball.epsilon + beta / alpha)
    bound = alpha * _towards_contexts(payoffs, reference, wider)
    exact = np.full(len(payoffs), -np.inf)
    open_ = np.ones(len(payoffs), dtype=bool)
    rounding = 1e-12 * alpha * max(1.0, float(np.abs(payoffs).max()))
    block = _FIRST_BLOCK
    while open_.any():
        best = exact.max()
        candidates = np.flatnonzero(open_ & (bound >= best + tolerance - rounding))
        if not len(candidates):
            break
        chosen = candidates[np.argsort(-bound[candidates], kind="stable")[:block]]
        solved = worst_case(payoffs[chosen], reference, ball)
        exact[chosen] = alpha * solved.value if beta == 0.0 else alpha * solved.value + beta * solved.slope
        open_[chosen] = False
        pool = solved.distribution
        if wider is not ball:
            pool = worst_case(payoffs[chosen], reference, wider).distribution
        left = candidates[open_[candidates]]
        if len(left):
            bound[left] = np.minimum(bound[left], alpha * (payoffs[left] @ pool.T).min(axis=1))
        block = min(2 * block, _LARGEST_BLOCK)
    index = int(exact.argmax())
    others = np.where(open_, bound, exact)
    others[index] = -np.inf
    return index, float(exact[index]), float(others.max()), int((~open_).sum())


def _towards_contexts(payoffs: Floats, reference: Floats, ball: Ball) -> Floats:
    """Bound `(decisions,)` from moving a share of the mass to one context: distances are convex along the way."""
    distance = ball._vertex_distances(reference)
    share = np.divide(min(ball.epsilon, 1e300), distance, out=np.ones_like(distance), where=distance > 0.0)
    np.clip(share, 0.0, 1.0, out=share)
    mean = payoffs @ reference
    return mean + ((payoffs - mean[:, None]) * share).min(axis=1)
