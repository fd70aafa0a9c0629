"""Every distribution whose moments are near those of the reference: mean and mean square of each context coordinate.

As with CVaR no radius matters: what is within the bounds is at distance 0, all else at infinity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
import pydantic
from numpy.typing import ArrayLike
from pydantic import Field

from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.parameters import Positive
from bocu.interop.cvxpy.sets import ConvexSet
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.base import pair
from bocu.robust.ambiguity.parameters import SetParameters, named

if TYPE_CHECKING:
    from cvxpy import Constraint, Expression

    from bocu.robust.ambiguity.checks import Floats

_MISSED = 1e-7  # shares of a bound that a solution may miss it by


class MomentsParameters(SetParameters):
    """How far the moments may lie from those of the reference; no radius matters."""

    name: str = named("moments")
    mean: Positive | None = Field(
        None,
        description="how far the mean of each context coordinate may lie from the reference's, in its unit; any way if "
        "left out",
    )
    square: Positive | None = Field(
        None, description="how far the mean square of each context coordinate may lie from the reference's, likewise"
    )

    @pydantic.model_validator(mode="after")
    def _some_bound(self) -> Self:
        if self.mean is None and self.square is None:
            raise ValueError("a set of moments has a bound 'mean', 'square' or both")
        return self


class Moments(ConvexSet):
    """The distributions q with `|E_q m - E_p m| <= bound` for m each coordinate, its square, or both.

    Args:
        contexts: (n, l) points.
        mean: bound on the difference of each coordinate's mean; None: any.
        square: bound on that of its mean square; None: any.
    """

    about = About(
        title="moments",
        summary="every distribution whose mean, or mean square, of each coordinate is near that of the reference",
    )
    Parameters = MomentsParameters
    has_radius = False

    def __init__(self, contexts: ArrayLike, mean: float | None = None, square: float | None = None) -> None:
        super().__init__(0.0)
        points = checks.coordinates(contexts, "moments")
        stated = []
        for name, values, bound in (("mean", points, mean), ("square", points**2, square)):
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
        return cls(checks.coordinates(contexts, parameters.name), parameters.mean, parameters.square)

    def __repr__(self) -> str:
        return f"Moments of {self.contexts} contexts"

    @property
    def contexts(self) -> int:
        return int(self._moments.shape[1])

    def with_epsilon(self, epsilon: float) -> Self:
        """The set itself: it has no radius (`epsilon` is only checked)."""
        checks.radius(epsilon)
        return self

    def constraints(self, q: Expression, reference: Expression, radius: Expression) -> list[Constraint]:
        """Every moment within its bound, see `ConvexSet.constraints`."""
        import cvxpy as cp

        return [cp.abs(self._moments @ (q - reference)) <= 1.0]

    def distance(self, q: ArrayLike, p: ArrayLike) -> Floats:
        """0 where every moment lies within its bound (and 1e-7 of it), else infinity: `(...)` for `(..., n)`."""
        first, second = pair(q, p)
        if first.shape[-1] != self.contexts:
            raise BocuError(f"q has {first.shape[-1]} contexts: this set is made for {self.contexts}")
        apart = np.abs((first - second) @ self._moments.T).max(axis=-1)
        return np.where(apart <= 1.0 + _MISSED, 0.0, np.inf)
