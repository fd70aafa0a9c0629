"""The robust efficient decisions that weighted sums find, what they guarantee, and its hypervolume.

Maximising v(s'f(x)), the worst-case expectation of a weighted sum with positive weights s, gives robust efficient
decisions (Ehrgott et al., 2014, theorem 4.3; section 3 of the DRMOBO paper), though not all of them. Over a fixed net
of weights they make a front. A decision guarantees the worst-case expectation of each output by itself: whatever
distribution of the ambiguity set comes, no output expects less. Hypervolume is that of what is guaranteed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bocu.ambiguity import checks
from bocu.ambiguity.base import AmbiguitySet
from bocu.ambiguity.checks import Floats
from bocu.core.errors import BocuError
from bocu.problems.scalarised_optimum import ScalarisedSearch, scalarise, weight_net


@dataclass(frozen=True)
class Front:
    """The best decision for each weight of a net.

    Attributes:
        weights: (m, K).
        values: (m,) worst-case expectation of the weighted sum; largest at this decision.
        decisions: (m, Dx), repeated where one decision is the best for several weights.
        guaranteed: (m, K) worst-case expectation of each output.
    """

    weights: Floats
    values: Floats
    decisions: Floats
    guaranteed: Floats

    def corner(self, margin: float = 0.1) -> Floats:
        """A reference point `(K,)` for hypervolumes: the least guarantees, less a share `margin` of their range."""
        least, most = self.guaranteed.min(axis=0), self.guaranteed.max(axis=0)
        return least - margin * np.where(most > least, most - least, 1.0)

    def hypervolume(self, corner: Floats) -> float:
        """Hypervolume of the guarantees above a corner `(K,)`."""
        return hypervolume(self.guaranteed, corner)


def guarantees(payoffs: ArrayLike, reference: Floats, ambiguity_set: AmbiguitySet) -> Floats:
    """Worst-case expectation of each output, `(..., K)`, of payoffs `(..., n, K)`."""
    table = checks.floats("payoffs", payoffs)
    value, _ = ambiguity_set.values(np.moveaxis(table, -1, -2), reference)
    return value


def true_front(
    table: Callable[[Floats], Floats],
    dimension: int,
    outputs: int,
    reference: Floats,
    ambiguity_set: AmbiguitySet,
    size: int = 33,
) -> Front:
    """Search for the front of a problem.

    Args:
        table: payoffs (m, n, K) of decisions (m, Dx): `Realisation.table`.
        dimension: Dx.
        outputs: K.
        reference: (n,).
        ambiguity_set: the ambiguity set.
        size: least number of weights.
    """
    search = ScalarisedSearch(table, dimension, outputs)
    weights = weight_net(outputs, size)
    found = search.best(search.pool(lambda payoffs: ambiguity_set.values(payoffs, reference)[0]), weights)
    return Front(weights, found.values, found.decisions, guarantees(table(found.decisions), reference, ambiguity_set))


def front_among(
    decisions: Floats, payoffs: Floats, weights: Floats, reference: Floats, ambiguity_set: AmbiguitySet
) -> Front:
    """The best of decisions that are given, such as those that a run has tried, for each weight.

    Args:
        decisions: (r, Dx).
        payoffs: (r, n, K), noise-free.
        weights: (m, K).
        reference: (n,).
        ambiguity_set: the ambiguity set.

    Raises:
        BocuError: no decision is given.
    """
    if not len(decisions):
        raise BocuError("decisions: found none; a front needs one or more")
    values = np.stack([ambiguity_set.values(scalarise(payoffs, row), reference)[0] for row in weights])
    best = values.argmax(axis=1)
    return Front(weights, values.max(axis=1), decisions[best], guarantees(payoffs[best], reference, ambiguity_set))


def growing_hypervolume(
    payoffs: Floats, weights: Floats, reference: Floats, ambiguity_set: AmbiguitySet, corner: Floats
) -> Floats:
    """Hypervolume `(r,)` of the front among the first 1, 2, ... r decisions, by their payoffs `(r, n, K)`."""
    values = np.stack([ambiguity_set.values(scalarise(payoffs, row), reference)[0] for row in weights])
    guaranteed = guarantees(payoffs, reference, ambiguity_set)
    found = np.empty(len(payoffs))
    standing: tuple[int, ...] = ()
    for row in range(len(payoffs)):
        best = tuple(values[:, : row + 1].argmax(axis=1))
        found[row] = found[row - 1] if best == standing else hypervolume(guaranteed[list(best)], corner)
        standing = best
    return found


def hypervolume(points: Floats, corner: Floats) -> float:
    """Volume between a corner `(K,)` and points `(m, K)` that are to be maximised; points not above it add nothing."""
    import moocore

    above = points[(points > corner).all(axis=1)]
    return float(moocore.hypervolume(above, ref=corner, maximise=True)) if len(above) else 0.0
