"""The distributions that lie in several sets at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
import pydantic
from numpy.typing import ArrayLike
from pydantic import Field

from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.interop.cvxpy.formulations import inside
from bocu.interop.cvxpy.sets import ConvexSet
from bocu.robust.ambiguity.base import AmbiguitySet
from bocu.robust.ambiguity.parameters import Radius, SetParameters, StatedSet, named

if TYPE_CHECKING:
    from cvxpy import Constraint, Expression

    from bocu.robust.ambiguity.checks import Floats


class IntersectionParameters(SetParameters):
    """The sets whose common distributions are meant."""

    name: str = named("intersection")
    radius: Radius = Field(1.0, description="multiplies the radii of the parts; a number or a rule, as for every set")
    of: list[StatedSet] = Field(
        min_length=1,
        description="its parts: sets, each with a number above 0 for a radius where it has one; the intersection's "
        "own radius, 1 if left out, multiplies them",
    )

    @pydantic.model_validator(mode="after")
    def _radii_that_are_numbers(self) -> Self:
        for place, part in enumerate(self.of):
            if part.family.has_radius and not (isinstance(part.radius, int | float) and part.radius > 0.0):
                raise ValueError(
                    f"the set '{part.name}' at place {place} of an intersection has the radius {part.radius!r}; a "
                    "number above 0 is wanted, which the intersection's own radius multiplies"
                )
        return self


class Intersection(ConvexSet):
    """Set of radius `epsilon` in `d(q, p) = max_i d_i(q, p) / epsilon_i`, over its parts i.

    At radius 1 every part has the radius that it was given. Parts without a radius (CVaR, moments) are as they are;
    where no part has one, the intersection has none either.

    Args:
        epsilon: what the radii of the parts are multiplied by.
        parts: the sets, of ours or of classes that state their constraints; their radii are more than 0.

    Examples:
        >>> from bocu.robust.ambiguity import ConditionalValueAtRisk, TotalVariation, worst_case
        >>> both = Intersection(1.0, [TotalVariation(0.5), ConditionalValueAtRisk(0.8)])
        >>> round(float(worst_case([0.0, 1.0, 2.0], [0.4, 0.4, 0.2], both).value), 6)
        0.5
    """

    about = About(title="intersection", summary="every distribution that lies in several sets at once")
    Parameters = IntersectionParameters

    def __init__(self, epsilon: float, parts: Sequence[AmbiguitySet]) -> None:
        super().__init__(epsilon)
        if not parts:
            raise BocuError("parts is empty: one set or more is wanted")
        for part in parts:
            if part.has_radius and not 0.0 < part.epsilon < np.inf:
                raise BocuError(
                    f"{part!r} has the radius {part.epsilon}: in an intersection it must be finite, above 0"
                )
        self.parts = tuple(parts)
        self.leaves_support = all(part.leaves_support for part in parts)  # type: ignore[misc]
        self.has_radius = any(part.has_radius for part in parts)  # type: ignore[misc]
        sizes = {part.contexts for part in parts if part.contexts is not None}
        if len(sizes) > 1:
            raise BocuError(
                f"the parts are made for {' and '.join(map(str, sorted(sizes)))} contexts: not for the same"
            )
        self._contexts = sizes.pop() if sizes else None

    @classmethod
    def stated(cls, parameters: IntersectionParameters, contexts: Floats | None) -> Intersection:
        """The set of the parts stated, see `AmbiguitySet.stated`."""
        built = []
        for part in parameters.of:
            radius = part.radius if isinstance(part.radius, int | float) else 0.0  # CVaR has none
            built.append(part.over(contexts).with_epsilon(radius))
        return cls(0.0, built)

    @property
    def contexts(self) -> int | None:
        return self._contexts

    def constraints(self, q: Expression, reference: Expression, radius: Expression) -> list[Constraint]:
        """Those of all parts, see `ConvexSet.constraints`."""
        return [
            constraint
            for part in self.parts
            for constraint in inside(part, q, reference, part.epsilon * radius if part.has_radius else radius)
        ]

    def distance(self, q: ArrayLike, p: ArrayLike) -> Floats:
        """The largest distance of a part in units of its radius: `(...)` for distributions `(..., n)`."""
        scales = [part.epsilon if part.has_radius else 1.0 for part in self.parts]
        return np.max([part.distance(q, p) / scale for part, scale in zip(self.parts, scales, strict=True)], axis=0)
