"""Maximum mean discrepancy, `d(q, p) = sqrt((q - p)' M (q - p))` for a Gram matrix M; mass may leave the support.

Exact along the critical line (see `ambiguity.mmd.critical_line`), or in closed form while no context of a positive
reference runs out of mass: `v = E - epsilon S`, `S^2 = f' M^-1 (f - c)`. Every value comes with its duality gap: for
any vector a, `min_i (f - M a)_i + p.M a - epsilon |a|_M` is a lower bound (Kirschner et al., 2020, in the RKHS of M).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from bocu.core.about import About, planning_only
from bocu.core.parameters import NotNegative, Positive
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.base import AmbiguitySet, Rows, SolveCost, Tangent, Wanted, expectation, pair
from bocu.robust.ambiguity.checks import Floats
from bocu.robust.ambiguity.mmd.gram import JITTER, Gram, mmd_radius, squared_exponential_gram
from bocu.robust.ambiguity.mmd.path import PreparedReference, vertex_distances
from bocu.robust.ambiguity.parameters import SetParameters, named

#: A kernel whose values on the diagonal exceed 1 by no more counts as bounded by 1: that is jitter.
_JITTER_ABOVE_ONE = 1e-3


class MaximumMeanDiscrepancyParameters(SetParameters):
    """The squared-exponential kernel of the distance."""

    name: str = named("mmd")
    lengthscale: Positive = Field(0.1, description="length-scale of the squared-exponential kernel")
    jitter: NotNegative = Field(JITTER, description="added to the diagonal of the Gram matrix")


class MaximumMeanDiscrepancy(AmbiguitySet):
    """Set of radius `epsilon` in the norm of a Gram matrix.

    Args:
        epsilon: radius, in the square root of kernel units.
        gram: (n, n) symmetric positive definite, used as it is; `squared_exponential_gram` and `with_jitter` make one.

    Raises:
        BocuError: if `gram` is not finite, symmetric and positive definite.
    """

    about = About(
        title="MMD",
        summary="every distribution whose maximum mean discrepancy from the reference is the radius or less",
        paper="Kirschner et al. 2020",
        largest_radius=math.sqrt(2.0),  # of a kernel between 0 and 1; but for the jitter
    )
    Parameters = MaximumMeanDiscrepancyParameters
    leaves_support = True
    costly = True
    digits_by_row = True
    compiled = True
    most_cells = 256
    sensitivity_power = 1.0

    def __init__(self, epsilon: float, gram: ArrayLike) -> None:
        super().__init__(epsilon)
        self._gram = Gram(gram)
        self._prepared: dict[bytes, PreparedReference] = {}

    @classmethod
    def stated(cls, parameters: MaximumMeanDiscrepancyParameters, contexts: Floats | None) -> MaximumMeanDiscrepancy:
        """The set of a squared-exponential kernel, see `AmbiguitySet.stated`."""
        points = checks.coordinates(contexts, parameters.name)
        return cls(0.0, squared_exponential_gram(points, parameters.lengthscale, parameters.jitter))

    @classmethod
    @planning_only
    def solve_cost(cls) -> SolveCost:
        """That of the critical line, whose pivots grow with the contexts, and of its compiler."""
        return SolveCost(8e-7, 1.15, 110.0, searched=0.17, search=8e-4)

    @property
    def contexts(self) -> int:
        return len(self._gram.matrix)

    @property
    def gram(self) -> Floats:
        """(n, n) the Gram matrix."""
        return self._gram.matrix

    def prepare(self, reference: ArrayLike) -> Self:
        """Factorise now for one reference `(n,)`; later calls with the same numbers reuse it."""
        self._reference(checks.distribution(reference, self.contexts))
        return self

    def distance(self, q: ArrayLike, p: ArrayLike) -> Floats:
        """Norm of `q - p` `(...)` for distributions `(..., n)`."""
        first, second = pair(q, p, self.contexts)
        return np.sqrt((((first - second) @ self._gram.factor) ** 2).sum(axis=-1))

    def concentration_radius(self, observations: int, contexts: int, delta: float) -> float:
        """`(2 + sqrt(2 log(1 / delta))) / sqrt(N)` (Kirschner et al., 2020, Lemma 3), for a kernel bounded by 1.

        Times the root of the largest kernel value where that is more than 1.
        """
        checks.concentration(observations, contexts, delta)
        largest = float(np.diag(self.gram).max())
        bound = largest if largest > 1.0 + _JITTER_ABOVE_ONE else 1.0
        return mmd_radius(observations, delta, largest_kernel_value=bound)

    def solve(self, f: Floats, p: Floats, wanted: Wanted) -> Rows:
        mean = expectation(f, p)
        if len(p) == 1:
            return self._around(self._reference(p[0]), f, mean, wanted)
        gap = np.zeros(len(f))
        rows = Rows(mean, np.zeros(len(f)), gap=gap)
        if wanted.distribution:
            rows.distribution = np.empty_like(f)
        if wanted.rate:
            rows.rate = np.empty_like(f)
        for where, reference in self._groups(p):
            part = self._around(reference, f[where], mean[where], wanted)
            rows.value[where], rows.slope[where], gap[where] = part.value, part.slope, part.gap
            if rows.distribution is not None:
                rows.distribution[where] = part.distribution
            if rows.rate is not None:
                rows.rate[where] = part.rate
        return rows

    def _around(self, reference: PreparedReference, f: Floats, mean: Floats, wanted: Wanted) -> Rows:
        """Solve rows that share a reference, under which their expectation is `mean`."""
        if self.epsilon == 0.0:
            slope, rate = reference.at_reference(f)
            distribution = np.broadcast_to(reference.p, f.shape).copy() if wanted.distribution else None
            return Rows(mean, slope, distribution, rate if wanted.rate else None, np.zeros(len(f)))
        (points,) = reference.at_radii(f, [self.epsilon])
        return Rows(
            *points.value_and_slope(mean),
            reference.p + points.r if wanted.distribution else None,
            points.rate_in_epsilon(f) if wanted.rate else None,
            points.gap,
        )

    def _values_at(self, f: Floats, p: Floats, radii: list[float]) -> Floats:
        values = np.repeat(expectation(f, p)[:, None], len(radii), axis=1)
        positive = sorted({r for r in radii if r > 0.0})
        for where, reference in self._groups(p) if positive else ():
            points = dict(zip(positive, reference.at_radii(f[where], positive), strict=True))
            for column, radius in enumerate(radii):
                if radius > 0.0:
                    mean = np.ascontiguousarray(values[where, column])
                    values[where, column], _ = points[radius].value_and_slope(mean)
        return values

    def tangent(self, f: Floats, p: Floats, tau: Floats) -> Tangent:
        answer = Tangent(np.empty(len(f)), np.empty(len(f)), np.empty_like(f))
        for where, reference in self._groups(p):
            part = reference.satisficing(f[where], tau[where])
            answer.slope[where], answer.radius[where] = part.slope, part.radius
            answer.distribution[where] = part.distribution
        return answer

    def _in_reference(self, f: Floats, p: Floats, q: Floats, slope: Floats) -> Floats:
        image, norm = self._deviation(q - p)
        left = norm > 0.0  # else v is the expectation
        scale = np.divide(slope, norm, out=np.zeros_like(norm), where=left)
        return np.where(left[:, None], scale[:, None] * image, f)

    def _slope_in_reference(
        self, f: Floats, p: Floats, q: Floats, slope: Floats, rate: Floats
    ) -> tuple[Floats, Floats]:
        if self.epsilon == 0.0:  # the path leaves the reference on a straight line
            return np.zeros_like(f), np.zeros_like(slope)
        # On the path the norm is epsilon: the slope bends by its Hessian, applied to the rate on both sides.
        image, _ = self._deviation(q - p)
        moving, speed = self._deviation(rate)
        bend = np.where(slope < 0.0, -slope * (speed**2 - 1.0) / self.epsilon, 0.0)
        along = bend - slope / self.epsilon
        return (along[:, None] * image + slope[:, None] * moving) / self.epsilon, bend

    def _deviation(self, r: Floats) -> tuple[Floats, Floats]:
        """`M r` `(B, n)` and the norm of r `(B,)`."""
        image = r @ self._gram.matrix
        return image, np.sqrt(np.maximum(np.einsum("bn,bn->b", r, image), 0.0))

    def _sensitivity(self, f: Floats, p: Floats) -> Floats:
        return -self.with_epsilon(0.0).solve(f, p, Wanted(False)).slope

    def _floor_distance(self, f: Floats, p: Floats) -> Floats:
        distances = self._reference(p[0]).distances if len(p) == 1 else vertex_distances(p, self._gram.matrix)
        return np.where(f == 0.0, distances, np.inf).min(axis=1)

    def _vertex_distances(self, p: Floats) -> Floats:
        return np.sqrt(self._reference(p).squared_distances)

    def _groups(self, p: Floats) -> Iterator[tuple[Any, PreparedReference]]:
        """Rows that share a reference, and that reference."""
        if len(p) == 1:
            yield slice(None), self._reference(p[0])
            return
        distinct, group = np.unique(p, axis=0, return_inverse=True)
        for index, reference in enumerate(distinct):
            yield np.flatnonzero(group.reshape(-1) == index), PreparedReference(reference, self._gram)

    def _reference(self, p: Floats) -> PreparedReference:
        """Only the last few references are kept: a run changes its reference at most once a round."""
        key = p.tobytes()
        if key not in self._prepared:
            while len(self._prepared) >= 4:
                self._prepared.pop(next(iter(self._prepared)))
            self._prepared[key] = PreparedReference(p.copy(), self._gram)
        return self._prepared[key]
