"""The robust efficient decisions that weighted sums find, what they guarantee, and its hypervolume.

Maximising v(s'f(x)), the worst-case expectation of a weighted sum with positive weights s, gives robust efficient
decisions (Ehrgott et al., 2014, theorem 4.3; section 3 of the DRMOBO paper), though not all of them. Over a fixed net
of weights they make a front. A decision guarantees the worst-case expectation of each output by itself: whatever
distribution of the ambiguity set comes, no output expects less. Hypervolume is that of what is guaranteed.

`values` says what payoffs over the contexts are worth: their worst-case expectation over an ambiguity set, or what
another metric makes of them, each output by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bocu.core.errors import BocuError
from bocu.problems.scalarised_optimum import PayoffTables, Pool, ScalarisedSearch, Values, scalarise, weight_net
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.checks import Floats

MARGIN = 0.1
"""How far the corner of hypervolumes lies below the least guarantees of a front, as a share of their range."""
ONE_POINT = 1e-3  #: Range of guarantees, as a share of their size, below which a front is one point.
WEIGHTS = 33  #: Weights of the net of a front, at least.


@dataclass(frozen=True)
class Front:
    """The best decision for each weight of a net."""

    weights: Floats  #: (m, K).
    values: Floats  #: (m,) what the weighted sum is worth; largest at this decision.
    decisions: Floats  #: (m, Dx), repeated where one decision is the best for several weights.
    guaranteed: Floats  #: (m, K) what each output is worth by itself.

    def corner(self, margin: float = MARGIN) -> Floats:
        """A reference point `(K,)` for hypervolumes: `corner_below` what is guaranteed."""
        return corner_below(self.guaranteed, margin)

    def hypervolume(self, corner: Floats) -> float:
        """Hypervolume of the guarantees above a corner `(K,)`."""
        return hypervolume(self.guaranteed, corner)


def corner_below(guaranteed: Floats, margin: float = MARGIN) -> Floats:
    """Return a corner `(K,)` for hypervolumes: the least guarantees `(m, K)`, less a share `margin` of their range.

    Of a front that is one point, but for what its search missed, it is that share of the guarantees themselves: by a
    range of rounding errors every decision but the best would have no volume at all.
    """
    least, most = guaranteed.min(axis=0), guaranteed.max(axis=0)
    scale = np.where(least == 0.0, 1.0, np.abs(least))
    return least - margin * np.where(most - least > ONE_POINT * scale, most - least, scale)


def guaranteed_share(tried: Floats, best: Floats) -> float:
    """Return the hypervolume of guarantees `(m, K)` as a share of that of the best front's, `(m, K)`.

    It needs no payoffs: cubes hold both, so that what was scored before the corner was mended is measured as now. Not a
    number where the best front guarantees nothing finite.
    """
    if not np.isfinite(best).all():
        return float("nan")
    corner = corner_below(best)
    return hypervolume(tried, corner) / hypervolume(best, corner)


@dataclass(frozen=True)
class RunFront:
    """What the decisions of a run guarantee, beside the best there is."""

    tried: Front  #: the front among all decisions of the run.
    best: Front  #: the front of the problem, at the same weights.
    #: hypervolume of the front among the decisions up to each row, as a share of that of the best, (rows,).
    share: Floats


def guarantees(payoffs: ArrayLike, values: Values) -> Floats:
    """What each output is worth by itself, `(..., K)`, of payoffs `(..., n, K)`."""
    table = np.moveaxis(checks.floats("payoffs", payoffs), -1, -2)
    return values(table.reshape(-1, table.shape[-1])).reshape(table.shape[:-1])


def true_front(table: PayoffTables, dimension: int, outputs: int, values: Values, size: int = WEIGHTS) -> Front:
    """Search for the front of a problem.

    Args:
        table: payoffs (m, n, K) of decisions (m, Dx): `Realisation.table`.
        dimension: Dx.
        outputs: K.
        values: what payoffs are worth.
        size: least number of weights.
    """
    search = ScalarisedSearch(table, dimension, outputs)
    return front_of_pool(search, search.pool(values), size)


def front_of_pool(search: ScalarisedSearch, pool: Pool, size: int = WEIGHTS) -> Front:
    """Search for the front from decisions that were found before, for a net of `size` weights or more."""
    weights = weight_net(search.outputs, size)
    found = search.best(pool, weights)
    return Front(weights, found.values, found.decisions, guarantees(search.payoffs(found.decisions), pool.values))


def front_among(decisions: Floats, payoffs: Floats, weights: Floats, values: Values) -> Front:
    """The best of decisions that are given, such as those that a run has tried, for each weight.

    Args:
        decisions: (r, Dx).
        payoffs: (r, n, K), noise-free.
        weights: (m, K).
        values: what payoffs are worth.

    Raises:
        BocuError: no decision is given.
    """
    if not len(decisions):
        raise BocuError("decisions: found none; a front needs one or more")
    worth = np.stack([values(scalarise(payoffs, row)) for row in weights])
    best = worth.argmax(axis=1)
    return Front(weights, worth.max(axis=1), decisions[best], guarantees(payoffs[best], values))


def growing_share(payoffs: Floats, true: Front, values: Values, corner: Floats | None = None) -> Floats:
    """Hypervolume of the front among the first 1, 2, ... r decisions, as a share of that of the true front.

    Args:
        payoffs: (r, n, K), noise-free.
        true: the front of the problem; its net of weights and its corner count.
        values: what payoffs are worth, as for the true front.
        corner: that of the hypervolumes; the true front's, if left out.

    Returns:
        Shape (r,). It may fall a little: what is best by the net need not guarantee more. Not a number where the best
        front guarantees nothing finite.
    """
    if not np.isfinite(true.guaranteed).all():
        return np.full(len(payoffs), np.nan)
    corner = true.corner() if corner is None else corner
    worth = np.stack([values(scalarise(payoffs, row)) for row in true.weights])
    guaranteed = guarantees(payoffs, values)
    found = np.empty(len(payoffs))
    standing: tuple[int, ...] = ()
    for row in range(len(payoffs)):
        best = tuple(worth[:, : row + 1].argmax(axis=1))
        found[row] = found[row - 1] if best == standing else hypervolume(guaranteed[list(best)], corner)
        standing = best
    return found / true.hypervolume(corner)


def hypervolume(points: Floats, corner: Floats) -> float:
    """Volume between a corner `(K,)` and points `(m, K)` that are to be maximised; points not above it add nothing."""
    import moocore

    above = points[(points > corner).all(axis=1)]
    return float(moocore.hypervolume(above, ref=corner, maximise=True)) if len(above) else 0.0
