"""Robust efficiency by its definition, checked on finite sets of decisions by linear programmes.

A decision y is robust efficient if no other x has an image set `{E_q f(x) : q in U}` inside that of y plus the vectors
that are not 0 and nowhere negative (Ehrgott et al., 2014; definition 1 of the DRMOBO paper, for payoffs that are
maximised). Then whatever distribution x meets, y meets one under which it is no better in any output and worse in one.

For a point z of the first set, `max sum(z - a)` over points `a <= z` of the second is a linear programme, where the
ambiguity set is a polytope. Its value is concave in z and grows with z, so that z need only run through vertices on the
lower side of the first set; these are found by programmes too, one for each facet of the hull of those known.
Meant for small grids: a pair of decisions takes tens of programmes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from bocu.core.errors import BocuError
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.base import AmbiguitySet, Polytope
from bocu.robust.ambiguity.checks import Floats

_TOLERANCE = 1e-7  #: Of payoffs, relative to their range: differences up to this are none.
_FAR = 1e3  # ranges of the payoffs that stand for infinity in hulls


@dataclass(frozen=True)
class ImageSet:
    """What a decision may come to: `{E_q f : q in U}`."""

    payoffs: Floats  #: (n, K) of the decision, in units of the range of those that it is compared with.
    distributions: Polytope  #: U.

    def lowest(self, weights: Floats) -> Floats:
        """The point `(K,)` that is least under weights `(K,)`."""
        found = self.distributions.minimise(self.payoffs @ weights)
        assert found is not None
        return found[1] @ self.payoffs

    @cached_property
    def lower_vertices(self) -> Floats:
        """Points `(m, K)` whose hull plus the vectors that are nowhere negative holds the set."""
        from scipy.spatial import ConvexHull

        outputs = self.payoffs.shape[1]
        points = [self.lowest(weights) for weights in np.vstack([np.eye(outputs), np.full(outputs, 1.0 / outputs)])]
        if outputs == 1:
            return np.array(points[:1])
        asked: set[tuple[float, ...]] = set()
        grown = True
        while grown:
            grown = False
            far = np.min(points, axis=0) + _FAR * np.eye(outputs)
            for facet in ConvexHull(np.vstack([*points, far])).equations:
                weights = -facet[:-1]
                if weights.min() < -_TOLERANCE or weights.sum() <= 0.0:
                    continue
                weights = np.maximum(weights, 0.0) / np.maximum(weights, 0.0).sum()
                key = tuple(weights.round(9))
                if key in asked:
                    continue
                asked.add(key)
                point = self.lowest(weights)
                if point @ weights < min(other @ weights for other in points) - _TOLERANCE:
                    points.append(point)
                    grown = True
        return np.array(points)

    def excess(self, point: Floats) -> float:
        """The largest sum of `point - a` over points `a <= point` of the set; -inf where there is none."""
        found = self.distributions.minimise(self.payoffs.sum(axis=1), self.payoffs.T, point + _TOLERANCE)
        return -np.inf if found is None else float(point.sum()) - found[0]

    def is_dominated_by(self, other: ImageSet) -> bool:
        """Whether the other set lies inside this one plus the vectors that are not 0 and nowhere negative."""
        least = 2.0 * self.payoffs.shape[1] * _TOLERANCE
        return all(self.excess(point) > least for point in other.lower_vertices)


def robust_efficient(payoffs: ArrayLike, reference: ArrayLike, ambiguity_set: AmbiguitySet) -> np.ndarray:
    """Say which decisions of a finite set are robust efficient among them.

    Args:
        payoffs: (decisions, n, K), to be maximised.
        reference: (n,).
        ambiguity_set: total variation, CVaR or Wasserstein.

    Returns:
        (decisions,) of truth values. Payoffs that differ by less than 1e-7 of their range count as equal.

    Raises:
        BocuError: for payoffs of another shape or not finite, and sets that are no polytope.

    Examples:
        >>> from bocu.robust.ambiguity import TotalVariation
        >>> payoffs = [[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]], [[0.0, 0.5], [0.0, 0.5]]]
        >>> robust_efficient(payoffs, [0.5, 0.5], TotalVariation(0.1)).tolist()
        [True, True, False]
    """
    table = checks.finite("payoffs", checks.floats("payoffs", payoffs))
    if table.ndim != 3:
        raise BocuError(f"payoffs has shape {table.shape}: it must be (decisions, contexts, outputs)")
    distributions = ambiguity_set.polytope(reference)
    if table.shape[1] != distributions.contexts:
        raise BocuError(f"payoffs has {table.shape[1]} contexts, the reference {distributions.contexts}")
    scaled = (table - table.min()) / (float(np.ptp(table)) or 1.0)
    sets = [ImageSet(each, distributions) for each in scaled]
    return np.array([not _dominated(place, sets) for place in range(len(sets))], dtype=bool)


def _dominated(place: int, sets: list[ImageSet]) -> bool:
    own = sets[place]
    # Where some weighted sum falls lower for the other, it cannot dominate: most pairs end here.
    floor = own.lower_vertices.min(axis=0) - _TOLERANCE
    return any(
        own.is_dominated_by(other)
        for index, other in enumerate(sets)
        if index != place and (other.lower_vertices.min(axis=0) >= floor).all()
    )
