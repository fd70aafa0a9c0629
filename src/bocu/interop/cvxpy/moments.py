"""Every distribution whose moments are near those of the reference: mean and mean square of each context coordinate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pydantic
from numpy.typing import ArrayLike
from pydantic import Field

from bocu.ambiguity import checks
from bocu.ambiguity.base import pair
from bocu.ambiguity.parameters import Radius, SetParameters, named
from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.parameters import Positive
from bocu.interop.cvxpy.sets import ConvexSet

if TYPE_CHECKING:
    from bocu.ambiguity.checks import Floats


class MomentsParameters(SetParameters):
    """How far the moments may lie from those of the reference at radius 1."""

    name: str = named("moments")
    radius: Radius = Field(1.0, description="multiplies both bounds; a number or a rule, as for every set")
    mean: Positive | None = Field(
        None,
        description="how far the mean of each context coordinate may lie from the reference's, in its unit, at radius "
        "1, which is the default",
    )
    square: Positive | None = Field(
        None, description="how far the mean square of each context coordinate may lie from the reference's, at radius 1"
    )

    @pydantic.model_validator(mode="after")
    def _some_bound(self) -> Self:
        if self.mean is None and self.square is None:
            raise ValueError("a set of moments has a bound 'mean', 'square' or both")
        return self


class Moments(ConvexSet):
    """Set of radius `epsilon` in `d(q, p) = max |E_q m - E_p m| / bound`, m each coordinate and its square.

    Args:
        epsilon: radius, which multiplies the bounds.
        contexts: (n, l) points.
        mean: bound on the difference of each coordinate's mean; None: any.
        square: bound on that of its mean square; None: any.
    """

    about = About(
        title="moments",
        summary="every distribution whose mean, or mean square, of each coordinate is near that of the reference",
    )
    Parameters = MomentsParameters

    def __init__(
        self, epsilon: float, contexts: ArrayLike, mean: float | None = None, square: float | None = None
    ) -> None:
        super().__init__(epsilon)
        points = checks.coordinates(contexts, "moments")
        bounds = {"mean": (points, mean), "square": (points**2, square)}
        stated = []
        for name, (values, bound) in bounds.items():
            if bound is not None:
                if not 0.0 < checks.real(name, bound) < np.inf:
                    raise BocuError(f"{name} is {bound}: it must be finite and more than 0")
                stated.append(values.T / float(bound))
        if not stated:
            raise BocuError("moments: found no bound; 'mean', 'square' or both are wanted")
        self._moments = np.concatenate(stated)  # (moments, n), in units of their bounds

    @classmethod
    def stated(cls, parameters: MomentsParameters, contexts: Floats | None) -> Moments:
        """The set of the bounds stated, see `AmbiguitySet.stated`."""
        return cls(0.0, checks.coordinates(contexts, parameters.name), parameters.mean, parameters.square)

    @property
    def contexts(self) -> int:
        return int(self._moments.shape[1])

    def constraints(self, q: Any, reference: Any, radius: Any) -> list[Any]:
        """Every moment within its bound, see `ConvexSet.constraints`."""
        import cvxpy as cp

        return [cp.abs(self._moments @ (q - reference)) <= radius]

    def distance(self, q: ArrayLike, p: ArrayLike) -> Any:
        """The largest difference of a moment, in units of its bound: `(...)` for distributions `(..., n)`."""
        first, second = pair(q, p)
        if first.shape[-1] != self.contexts:
            raise BocuError(f"q has {first.shape[-1]} contexts: this set is made for {self.contexts}")
        return np.abs((first - second) @ self._moments.T).max(axis=-1)
