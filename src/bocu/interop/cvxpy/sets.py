"""Ambiguity sets that CVXPY solves: a function of the user's own, bounds on moments, and what sets have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeAlias

import numpy as np
import pydantic
from numpy.typing import ArrayLike
from pydantic import Field

from bocu.core.about import About, planning_only
from bocu.core.errors import BocuError
from bocu.core.loading import from_registry, load
from bocu.core.parameters import READING, Positive
from bocu.interop.cvxpy.formulations import inside
from bocu.interop.cvxpy.programme import STEP, Programme, Solution
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.base import AmbiguitySet, Rows, SolveCost, Tangent, Wanted, pair
from bocu.robust.ambiguity.parameters import Radius, SetParameters, StatedSet, named

if TYPE_CHECKING:
    from cvxpy import Constraint, Expression

    from bocu.robust.ambiguity.checks import Floats

Function: TypeAlias = "Callable[[Expression, Expression, Expression, Floats | None], list[Constraint] | Constraint]"
"""q (n,), reference (n,), radius, all CVXPY expressions, and context points (n, l) or None, in; constraints out."""

_MISSED = 1e-7  # shares of a bound that a solution may miss it by
_MOST_PRICES = 60  # of a satisficing slope: a handful, each a square of the error before


class ConvexSet(AmbiguitySet):
    """A set that is stated by CVXPY constraints, `constraints(q, reference, radius)`.

    Values are as exact as the gap says, some 1e-10 of the payoffs' range. The slope is the multiplier of the radius; at
    radius 0, and where the radius is no variable of the constraints, a difference of step 1e-5. Where the value has a
    kink in the radius, it lies between the slopes of both sides.
    """

    leaves_support = True
    costly = True
    most_cells = 256

    def __init__(self, epsilon: float) -> None:
        super().__init__(epsilon)
        self._programmes: dict[int, Programme] = {}

    @classmethod
    @planning_only
    def solve_cost(cls) -> SolveCost:
        """That of a solve of 64 contexts by a compiled programme, all decisions solved, and of CVXPY in memory."""
        return SolveCost(5e-5, 0.5, 150.0)

    @abstractmethod
    def constraints(self, q: Expression, reference: Expression, radius: Expression) -> list[Constraint]:
        """Return the constraints that say: q lies in the set of this radius around the reference.

        Args:
            q: CVXPY variable (n,), not negative and of sum 1.
            reference: CVXPY parameter (n,); a constant where the constraints cannot be compiled once for all.
            radius: CVXPY variable; a parameter or constant likewise.
        """

    def programme(self, contexts: int) -> Programme:
        """Return what is compiled for a number of contexts.

        Raises:
            BocuError: the constraints are not convex by CVXPY's rules.
        """
        if contexts not in self._programmes:
            self._programmes[contexts] = Programme(contexts, self.constraints, self._name())
        return self._programmes[contexts]

    def distance(self, q: ArrayLike, p: ArrayLike) -> Floats:
        """Least radius `(...)` of the set around p that holds q, distributions `(..., n)`; a solve each."""
        first, second = pair(q, p)
        n = first.shape[-1]
        rows = zip(first.reshape(-1, n), second.reshape(-1, n), strict=True)
        return np.array([self.programme(n).distance(*row) for row in rows]).reshape(first.shape[:-1])

    def _name(self) -> str:
        return type(self).__name__

    def solve(self, f: Floats, p: Floats, wanted: Wanted) -> Rows:
        programme = self.programme(f.shape[1])
        now = self._solutions(programme, f, p, self.epsilon)
        rows = Rows(
            value=np.array([one.value for one in now]),
            slope=np.array([np.nan if one.slope is None else one.slope for one in now]),
            distribution=np.array([one.distribution for one in now]).reshape(f.shape),
            gap=np.array([one.gap for one in now]),
            distance=np.full(len(f), self.epsilon),  # by what it is missed is in the gap
        )
        assert rows.distribution is not None
        assert rows.gap is not None
        at_end = self.epsilon == 0.0 or not programme.radius_varies
        if at_end or wanted.rate:
            later = self._solutions(programme, f, p, self.epsilon + STEP)
            rows.rate = (np.array([one.distribution for one in later]).reshape(f.shape) - rows.distribution) / STEP
            if at_end:
                rows.slope = (np.array([one.value for one in later]) - rows.value) / STEP
        if not self.leaves_support:
            rows.distribution[np.broadcast_to(p == 0.0, f.shape)] = 0.0  # what the solver left there is rounding
            rows.distribution /= rows.distribution.sum(axis=1, keepdims=True)
            solved, rows.value = rows.value, np.einsum("bn,bn->b", rows.distribution, f)
            rows.gap += np.abs(rows.value - solved)
        rows.slope = np.minimum(rows.slope, 0.0)
        return rows

    @staticmethod
    def _solutions(programme: Programme, f: Floats, p: Floats, radius: float) -> list[Solution]:
        return [programme.solve(payoffs, p[min(row, len(p) - 1)], radius) for row, payoffs in enumerate(f)]

    def tangent(self, f: Floats, p: Floats, tau: Floats) -> Tangent:
        # The least of (q.f - tau) / radius, by Dinkelbach (1967): a price of the radius, the best q at it, its price.
        programme = self.programme(f.shape[1])
        tangent = Tangent(np.zeros(len(f)), np.zeros(len(f)), np.zeros_like(f))
        for row, payoffs in enumerate(f):
            reference, price = p[min(row, len(p) - 1)], STEP
            if tau[row] > programme.solve(payoffs, reference, 0.0).value + STEP**2:
                tangent.slope[row] = -np.inf  # some sets hold more than the reference at radius 0
                continue
            for _ in range(_MOST_PRICES):
                radius, q = programme.tilted(payoffs, reference, price)
                short = tau[row] - float(q @ payoffs)
                if short <= 0.0 or radius <= 0.0 or short / radius <= price * (1.0 + 1e-9):
                    break
                price = short / radius
                tangent.slope[row], tangent.radius[row], tangent.distribution[row] = -price, radius, q
        return tangent


class ConstraintsParameters(SetParameters):
    """Which function states the constraints."""

    name: str = named("constraints")
    of: Annotated[str, Field(pattern=r"^(.+:|constraint/)[A-Za-z_]\w*(@\w+)?$")] = Field(
        description="`module:function` or `file.py:function` that returns CVXPY constraints for q, reference, radius "
        "and context points; editing what it uses reruns what uses it",
    )

    @pydantic.field_validator("of")
    @classmethod
    def _as_specifications_call_it(cls, written: str, info: pydantic.ValidationInfo) -> str:
        reading = (info.context or {}).get(READING)
        if ":" not in written or reading is None or reading.folder is None:
            return written
        try:
            identity: str = from_registry("find")("constraint", written, folder=reading.folder).identity
        except BocuError as error:
            raise ValueError(str(error).partition("; ")[2]) from None  # what was found is said anyway
        return identity


class Constraints(ConvexSet):
    """The set that a function of one's own states.

    Args:
        epsilon: radius.
        function: `function(q, reference, radius, contexts)` returns CVXPY constraints, convex in q and the radius
            together; the set grows with the radius and holds the reference at every radius.
        contexts: (n, l) points that the function is handed.

    Examples:
        >>> import cvxpy as cp
        >>> from bocu.robust.ambiguity import worst_case
        >>> near = Constraints(0.1, lambda q, reference, radius, contexts: [cp.norm_inf(q - reference) <= radius])
        >>> round(float(worst_case([0.0, 1.0, 2.0], [0.25, 0.5, 0.25], near).value), 6)
        0.8
    """

    about = About(title="constraints", summary="every distribution that meets CVXPY constraints of one's own")
    Parameters = ConstraintsParameters

    def __init__(self, epsilon: float, function: Function, contexts: ArrayLike | None = None) -> None:
        super().__init__(epsilon)
        if not callable(function):
            raise BocuError(f"function is {function!r}: it must be a function that returns CVXPY constraints")
        self.function = function
        self._points = None if contexts is None else checks.coordinates(contexts, "constraints")
        self._known: set[tuple[bytes, float]] = set()

    @classmethod
    def stated(cls, parameters: ConstraintsParameters, contexts: Floats | None) -> Constraints:
        """The set of the function named, see `AmbiguitySet.stated`."""
        try:
            function = load(parameters.of)
        except BocuError as error:
            raise BocuError(f"of: {error}") from None
        except Exception as error:  # whatever importing the user's module raises
            raise BocuError(
                f"of: found '{parameters.of}'; a function that can be imported is wanted ({error})"
            ) from None
        if not callable(function):
            raise BocuError(f"of: found '{parameters.of}', which cannot be called; a function is wanted")
        return cls(0.0, function, contexts)

    @property
    def contexts(self) -> int | None:
        return None if self._points is None else len(self._points)

    def constraints(self, q: Expression, reference: Expression, radius: Expression) -> list[Constraint]:
        """What the function returns."""
        found: Any = self.function(q, reference, radius, self._points)
        return list(found) if isinstance(found, list | tuple) else [found]

    def _name(self) -> str:
        return str(getattr(self.function, "__name__", "constraints"))

    def solve(self, f: Floats, p: Floats, wanted: Wanted) -> Rows:
        programme = self.programme(f.shape[1])
        least = 0.0 if programme.radius_varies else self.epsilon
        for reference in p:
            key = reference.tobytes(), least
            if key not in self._known:
                if not programme.holds(reference, reference, least):
                    raise BocuError(
                        f"{self._name()}: the constraints leave out the reference itself at radius {least:g}; a set "
                        "around the reference is wanted"
                    )
                self._known.add(key)
        return super().solve(f, p, wanted)

    def _vertex_distances(self, p: Floats) -> Floats:
        if not self.programme(len(p)).radius_varies:
            return np.full(len(p), np.inf)  # bounds that are not known exclude nothing
        return super()._vertex_distances(p)


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

    As with CVaR no radius matters: what is within the bounds is at distance 0, all else at infinity.

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
