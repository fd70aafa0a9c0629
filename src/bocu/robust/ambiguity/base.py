"""The abstract set around a reference distribution, and `worst_case`, the one question that every set answers.

A set is `U(epsilon) = {q in simplex : d(q, p) <= epsilon}` around a reference p. Its value is
`v(epsilon) = min_{q in U} q.f`, convex and non-increasing in epsilon, concave in the payoffs f, equivariant under
shifts and positive scaling of f. Its slope is the right derivative of v in epsilon, the worst-case sensitivity of Tay
et al. (2024). Both equivariances are used here: a set only ever sees payoffs that span [0, 1], rows `(B, n)` of them
(`Normalised`), and answers by `Rows`.
"""

from __future__ import annotations

import copy
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bocu.core.about import About, planning_only
from bocu.core.errors import BocuError
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.checks import Floats
from bocu.robust.ambiguity.parameters import SetParameters, sets_that

ROUNDING = 64 * np.finfo(float).eps  # of a sum of products, relative


@dataclass(frozen=True, slots=True)
class WorstCase:
    """The worst distribution of a set for some payoffs.

    Arrays are numpy or torch, as the payoffs were; `(...)` is the leading shape of the payoffs.

    Attributes:
        value: (...) worst-case expectation, in units of the payoffs.
        distribution: (..., n) a distribution in the set that attains it.
        slope: (...) right derivative of the value in epsilon; `-inf` where it is.
        gap: (...) proven bound on the error of `value`, up to rounding: measured between a dual bound and what the
            distribution, brought within the radius, attains; a set without such a bound has the least payoff for one.
        rate: (..., n) derivative of `distribution` in epsilon, which is also the gradient of `slope` in the payoffs;
            `None` unless asked for.
    """

    value: Any
    distribution: Any
    slope: Any
    gap: Any
    rate: Any = None


def worst_case(payoffs: Any, reference: Any, ambiguity_set: AmbiguitySet, *, rate: bool = False) -> WorstCase:
    """Worst-case expectation of payoffs over a set around a reference distribution.

    Args:
        payoffs: (..., n) payoff of each decision in each context, finite; numpy array or torch tensor.
        reference: (n,) or (..., n) probabilities, each row summing to 1 within 1e-8.
        ambiguity_set: the ambiguity set.
        rate: also return the derivative of the distribution in epsilon.

    Returns:
        numpy in gives numpy out. Tensors in give float64 tensors out, whose `value` carries the envelope gradient (the
        worst distribution) and whose `slope`, where finite, the gradient `rate`.

    Raises:
        BocuError: for payoffs that are not finite, references that are negative or not normalised, shapes that do not
            match; for a set that finds no distribution or value.

    Examples:
        >>> from bocu.robust.ambiguity import TotalVariation, worst_case
        >>> w = worst_case([0.0, 1.0, 2.0], [0.25, 0.5, 0.25], TotalVariation(epsilon=0.25))
        >>> float(w.value), float(w.slope), w.distribution.tolist()
        (0.75, -1.0, [0.375, 0.5, 0.125])
    """
    if is_tensor(payoffs):
        from bocu.robust.ambiguity.tensors import worst_case_of_tensor

        return worst_case_of_tensor(payoffs, reference, ambiguity_set)
    rows = checks.rows(*ambiguity_set.checked(payoffs, reference))
    asked, found = ambiguity_set.solve_rows(*rows, Wanted(distribution=True, rate=rate))
    assert found.distribution is not None
    return WorstCase(
        value=asked.values(found.value),
        distribution=asked.distributions(found.distribution),
        slope=asked.slopes(found.slope),
        gap=asked.slopes(ambiguity_set._gap(asked.f, asked.p, found)),
        rate=None if found.rate is None else asked.distributions(found.rate),
    )


class AmbiguitySet(ABC):
    """One ambiguity set: a distance, a radius and what they need (a Gram matrix, costs, an order).

    A set says what it is: its `distance`, and, for payoffs that span [0, 1] over the contexts that it can reach, its
    worst cases (`solve`) and, for robust satisficing, their `tangent` through an aspiration. All else follows here.

    What it may define besides, each with a default that says what is missing or takes longer: `stated`, `Parameters`,
    for experiment files; `contexts`, where it is made for so many; `prepare`, `spanning`, `_values_at`, for
    speed; `_value_at_zero`, where other distributions are at distance 0; `_lower_bound`, for gaps;
    `concentration_radius`; `flattest`, for upper bounds of slopes; `_polytope`; `_in_reference` and
    `_slope_in_reference`, for gradients; `_sensitivity` and `_floor_distance`, for approximations.

    Objects are cheap to re-radius (`with_epsilon` shares every factorisation) and hold no state that answers depend on.
    """

    about: ClassVar[About]

    #: How an experiment file states it: its own keys, beside its name and radius.
    Parameters: ClassVar[type[SetParameters]] = SetParameters

    #: Whether mass may move to contexts that the reference gives none.
    leaves_support: ClassVar[bool]

    #: Whether excluding decisions by bounds is cheaper than solving all of them.
    costly: ClassVar[bool] = False

    #: Whether the digits of a row are the same among any others, up to the order in which a product of matrices sums.
    digits_by_row: ClassVar[bool] = False

    #: Whether worst cases run code that is compiled when it is first called.
    compiled: ClassVar[bool] = False

    #: The most cells of discretised continuous contexts that metrics take it over; None: any number.
    most_cells: ClassVar[int | None] = None

    #: Whether the radius matters.
    has_radius: ClassVar[bool] = True

    #: Whether the slope at radius 0 is finite for payoffs that vary.
    finite_slope_at_zero: ClassVar[bool] = True

    #: Whether values and worst cases are piecewise linear in the radius: nothing of the slope then changes in between.
    linear_in_pieces: ClassVar[bool] = False

    #: The approximations of Tay et al. (2022) are lines in this power of epsilon, the slope of the lower one minus the
    #: sensitivity; None where they are not defined: the value need not lie between the lines.
    sensitivity_power: ClassVar[float | None] = None

    def __init__(self, epsilon: float) -> None:
        self.epsilon = checks.radius(epsilon)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(epsilon={self.epsilon:g})"

    @abstractmethod
    def distance(self, q: ArrayLike, p: ArrayLike) -> Floats:
        """Distance d(q, p) of distributions `(..., n)`, in the unit of epsilon: `(...)`, `inf` where there is none."""

    @abstractmethod
    def solve(self, f: Floats, p: Floats, wanted: Wanted) -> Rows:
        """Return the worst cases of normalised rows: payoffs f `(B, n)`, references p `(1, n)` or `(B, n)`."""

    @abstractmethod
    def tangent(self, f: Floats, p: Floats, tau: Floats) -> Tangent:
        """Return the tangents of v through `(0, tau)`, tau `(B,)` strictly between the floor 0 and v(0)."""

    # What a set may define besides.

    @classmethod
    def stated(cls, parameters: Any, contexts: Floats | None) -> AmbiguitySet:
        """Build the set that parameters state, at radius 0.

        Args:
            parameters: of the type `cls.Parameters`.
            contexts: (n, l) points; None where there are no coordinates.

        Raises:
            BocuError: it needs coordinates and there are none, or the parameters make no set.
        """
        return cls(0.0)

    @classmethod
    @planning_only
    def solve_cost(cls) -> SolveCost:
        """What a round takes to solve, for estimates."""
        return SolveCost(5.5e-8, 0.2)

    @property
    def contexts(self) -> int | None:
        """Number of contexts that the set is made for; `None` when any number will do."""
        return None

    def prepare(self, reference: ArrayLike) -> Self:
        """Do now the work that depends on the reference `(n,)` alone, for the calls that follow; returns the set."""
        checks.distribution(reference, self.contexts)
        return self

    def spanning(self, f: Floats, p: Floats, leading: tuple[int, ...]) -> Normalised:
        """Rows that span [0, 1], of what has been checked: payoffs `(B, n)`, references `(1, n)` or `(B, n)`."""
        if not self.leaves_support and p.min() == 0.0:
            # Contexts without mass stay without: they must neither set the floor nor the scale.
            inside = p > 0.0
            f = np.where(inside, f, np.where(inside, f, np.inf).min(axis=1, keepdims=True))
        low = f.min(axis=1)
        f, scale = f - low[:, None], f.max(axis=1) - low
        scale[scale == 0.0] = 1.0
        return Normalised(np.divide(f, scale[:, None], out=f), p, low, scale, leading)

    def _values_at(self, f: Floats, p: Floats, radii: list[float]) -> Floats:
        only_values = Wanted(distribution=False)
        return np.stack([self.with_epsilon(r).solve(f, p, only_values).value for r in radii], axis=1)

    def _value_at_zero(self, f: Floats, p: Floats) -> Floats:
        """The value at radius 0 for normalised rows: the expectation, unless other distributions are at distance 0."""
        return expectation(f, p)

    def _lower_bound(self, f: Floats, p: Floats, found: Rows) -> Floats:
        """Lower bounds `(B,)` of the values of normalised rows, by duality, whatever was found; 0 where none is known.

        A bound that `solve` proves itself is told by `Rows.gap`.
        """
        return np.zeros(len(f)) if found.gap is None else found.value - found.gap

    def concentration_radius(self, observations: int, contexts: int, delta: float) -> float:
        """Radius within which the empirical distribution lies of the true one with probability `1 - delta`.

        A set that keeps to the support of its reference has none: it leaves out truths with contexts not seen yet.

        Args:
            observations: number N of contexts seen, independent draws from the truth; 0 gives infinity.
            contexts: number n of contexts that there are.
            delta: probability of failure, in (0, 1).

        Raises:
            BocuError: no such radius is known for this set, or an argument is out of range.
        """
        raise BocuError(f"{type(self).__name__} {self.no_concentration()}")

    def flattest(self, lower: ArrayLike, upper: ArrayLike) -> Floats:
        """Payoffs `(..., n)` between bounds of that shape whose slope is the largest, at every reference and radius.

        Raises:
            BocuError: none such are known for this set.
        """
        others = sets_that(lambda family: family.bounds_slopes())
        raise BocuError(f"{type(self).__name__} has no largest slope between bounds in closed form; take {others}")

    def _polytope(self, p: Floats) -> Polytope:
        others = sets_that(lambda family: family._polytope is not AmbiguitySet._polytope)
        raise BocuError(f"{type(self).__name__} is no polytope; take {others}")

    def _in_reference(self, f: Floats, p: Floats, q: Floats, slope: Floats) -> Floats:
        """Gradient of v in the reference `(B, n)`, up to a constant a row, from worst case and slope.

        It is `-slope dd(q, p)/dp`, minus the slope being the multiplier of `d <= epsilon`.
        """
        raise BocuError(
            f"{type(self).__name__} has no gradient in the reference: take a reference that requires none, or a set "
            "that defines _in_reference"
        )

    def _slope_in_reference(
        self, f: Floats, p: Floats, q: Floats, slope: Floats, rate: Floats
    ) -> tuple[Floats, Floats]:
        """Derivatives in epsilon of `_in_reference` `(B, n)` and of the slope `(B,)`."""
        if self.linear_in_pieces:
            return np.zeros_like(f), np.zeros_like(slope)
        raise BocuError(
            f"the slope of {type(self).__name__} has no gradient in the reference and the radius: take ones that "
            "require none, or a set that defines _slope_in_reference"
        )

    def _sensitivity(self, f: Floats, p: Floats) -> Floats:
        """Sensitivity S of the linearisation `E - S s(epsilon)` for normalised rows (Tay et al., 2022)."""
        raise BocuError(self._no_approximation())

    def _floor_distance(self, f: Floats, p: Floats) -> Floats:
        """Distance `s_max` to a distribution on one minimiser, a power of epsilon: `sensitivity_power`."""
        raise BocuError(self._no_approximation())

    def _vertex_distances(self, p: Floats) -> Floats:
        """Distance `(n,)` from each single context to one reference `(n,)`, or a little more."""
        return np.asarray(self.distance(np.eye(len(p)), p))

    # What follows from these.

    def with_epsilon(self, epsilon: float) -> Self:
        """The same set at another radius, sharing whatever was factorised."""
        other = copy.copy(self)
        other.epsilon = checks.radius(epsilon)
        return other

    def values(self, payoffs: ArrayLike, reference: ArrayLike) -> tuple[Floats, Floats]:
        """Value and slope, both `(...)`, without the distribution: arguments and errors as in `worst_case`."""
        return self.solved(*self.checked(payoffs, reference))

    def values_at(self, payoffs: ArrayLike, reference: ArrayLike, radii: ArrayLike) -> Floats:
        """Values at several radii, `(..., R)` for `radii` `(R,)`; sets that follow a path in epsilon walk it once."""
        wanted = [checks.radius(r, "radii") for r in checks.floats("radii", radii).reshape(-1)]
        return self.solved_at(*self.checked(payoffs, reference), wanted)

    def satisficing(self, payoffs: ArrayLike, reference: ArrayLike, tau: ArrayLike) -> Floats:
        """Robust satisficing: `k = max{k <= 0 : v(e) >= tau + k e for all e >= 0}` (Tay et al., 2024, Section 3).

        Args:
            payoffs: as in `worst_case`.
            reference: likewise.
            tau: aspiration in units of the payoffs, a number or an array that broadcasts to `(...)`.

        Returns:
            (...) in payoff units per unit of radius: 0 where tau is no more than the floor of v, `-inf` where tau
            exceeds v(0), for most sets the expectation under the reference.
        """
        asked = self.normalise(payoffs, reference)
        return asked.slopes(self.tangents(asked, tau).slope)

    def tangents(self, asked: Normalised, tau: ArrayLike) -> Tangent:
        """`satisficing` of normalised rows for tau in units of the payoffs, with the points of contact."""
        f, p, low, scale = asked.f, asked.p, asked.low, asked.scale
        aspiration = (checks.matching("tau", tau, asked.leading).reshape(-1) - low) / scale
        # An expectation computed elsewhere differs from ours by rounding, which the division by the range magnifies.
        rounding = ROUNDING * (np.abs(aspiration) + np.abs(low) / scale + 1.0)
        start = self._value_at_zero(f, p)
        answer = Tangent(np.zeros(len(f)), np.zeros(len(f)), np.zeros_like(f))
        at_start = np.abs(aspiration - start) <= rounding
        answer.slope[aspiration > start] = -np.inf
        if at_start.any():
            answer.slope[at_start] = self.with_epsilon(0.0).solve(f[at_start], pick(p, at_start), Wanted(False)).slope
        between = (aspiration > 0) & (aspiration < start) & ~at_start
        if between.any():
            tangent = self.tangent(f[between], pick(p, between), aspiration[between])
            answer.slope[between], answer.radius[between] = tangent.slope, tangent.radius
            answer.distribution[between] = tangent.distribution
        return answer

    @classmethod
    def concentrates(cls) -> bool:
        """Whether `concentration_radius` is known for sets of this class."""
        return cls.concentration_radius is not AmbiguitySet.concentration_radius

    @classmethod
    def no_concentration(cls) -> str:
        """Why it has no radius by concentration, and what has one."""
        return (
            "has no radius by concentration: contexts not seen yet may come, which this set leaves out at every "
            f"radius; take {sets_that(lambda family: family.concentrates())}, or give the radius itself"
        )

    @classmethod
    def bounds_slopes(cls) -> bool:
        """Whether `flattest` is known for sets of this class."""
        return cls.flattest is not AmbiguitySet.flattest

    def polytope(self, reference: ArrayLike) -> Polytope:
        """The set around a reference `(n,)` as linear constraints.

        Raises:
            BocuError: it is no polytope.
        """
        return self._polytope(checks.distribution(reference, self.contexts))

    def _gap(self, f: Floats, p: Floats, found: Rows) -> Floats:
        """Bound `(B,)` on the error of the values found for normalised rows with their distributions."""
        q = found.distribution
        assert q is not None
        lost = ~(np.isfinite(found.value) & np.isfinite(q).all(axis=1)) | np.isnan(found.slope)
        if lost.any():
            row = int(lost.argmax())
            raise BocuError(
                f"{self!r} was not solved in row {row}: value {found.value[row]}, slope {found.slope[row]}, "
                f"{int((~np.isfinite(q[row])).sum())} of {q.shape[1]} probabilities that are not numbers"
            )
        q = q * (p.sum(axis=1) / q.sum(axis=1))[:, None]
        distance = self.distance(q, p) if found.distance is None else found.distance
        # Distances are convex and 0 at the reference: what is too far away is within after this share of the way.
        share = np.divide(self.epsilon, distance, out=np.ones(len(f)), where=~(distance <= self.epsilon))
        mean = expectation(f, p)
        reached = mean + share * (np.einsum("bn,bn->b", q, f) - mean)
        least = np.maximum(self._lower_bound(f, p, found), 0.0)
        return np.maximum(np.maximum(reached - found.value, found.value - least), 0.0)

    def _no_approximation(self) -> str:
        return (
            f"{type(self).__name__} has no minimax approximation (its value need not lie between the two lines): "
            f"take {sets_that(lambda family: family.sensitivity_power is not None)}"
        )

    def normalise(self, payoffs: ArrayLike, reference: ArrayLike) -> Normalised:
        """Checked arguments as rows that span [0, 1]; errors as in `worst_case`."""
        return self.spanning(*checks.rows(*self.checked(payoffs, reference)))

    def solve_rows(self, f: Floats, p: Floats, leading: tuple[int, ...], wanted: Wanted) -> tuple[Normalised, Rows]:
        """Solve payoffs `(B, n)` under references `(1, n)` or `(B, n)` that have been checked, or are our own."""
        asked = self.spanning(f, p, leading)
        return asked, self.solve(asked.f, asked.p, wanted)

    def solved(self, payoffs: Floats, reference: Floats) -> tuple[Floats, Floats]:
        """`values` of arrays that have been checked."""
        asked, found = self.solve_rows(*checks.rows(payoffs, reference), Wanted(distribution=False))
        return asked.values(found.value), asked.slopes(found.slope)

    def solved_at(self, payoffs: Floats, reference: Floats, radii: list[float]) -> Floats:
        """`values_at` of arrays that have been checked."""
        asked = self.spanning(*checks.rows(payoffs, reference))
        return asked.distributions(asked.low[:, None] + asked.scale[:, None] * self._values_at(asked.f, asked.p, radii))

    def checked(self, payoffs: ArrayLike, reference: ArrayLike) -> tuple[Floats, Floats]:
        """Payoffs `(..., n)` and a reference `(n,)` or `(..., n)` for this set; errors as in `worst_case`."""
        payoff = checks.payoffs(payoffs)
        n = payoff.shape[-1]
        if self.contexts is not None and n != self.contexts:
            raise BocuError(f"payoffs has {n} contexts, shape {payoff.shape}: this set is made for {self.contexts}")
        return payoff, checks.distribution(reference, n)


@dataclass(frozen=True, slots=True)
class Normalised:
    """Payoffs as rows, and the way back to what was asked."""

    f: Floats  #: (B, n) payoffs; 0 is the least that the set can reach, 1 the most.
    p: Floats  #: (1, n) one reference for all, or (B, n).
    low: Floats  #: (B,) shift that was taken off.
    scale: Floats  #: (B,) scale that was taken off.
    leading: tuple[int, ...]  #: leading shape of the payoffs, whose product is B.

    def values(self, values: Floats) -> Floats:
        """Values `(B,)` in units of the payoffs, `(...)`."""
        return (self.low + self.scale * values).reshape(self.leading)

    def slopes(self, slopes: Floats) -> Floats:
        """Slopes `(B,)`, or other differences of values, in units of the payoffs, `(...)`."""
        return (self.scale * slopes).reshape(self.leading)

    def distributions(self, rows: Floats) -> Floats:
        """Distributions `(B, n)`, or their derivatives, as `(..., n)`."""
        return rows.reshape(*self.leading, rows.shape[-1])


@dataclass(slots=True)
class Rows:
    """What a set answers for normalised rows `(B, n)`: fields as in `WorstCase`, optional ones may be missing."""

    value: Floats
    slope: Floats
    distribution: Floats | None = None
    rate: Floats | None = None
    gap: Floats | None = None  #: (B,) between the value and a lower bound that solving it has proved.
    #: (B,) a bound on the distribution's distance from the reference, of sets where that is dear to ask.
    distance: Floats | None = None


@dataclass(slots=True)
class Tangent:
    """Where the tangents of v through `(0, tau)` touch it, a row each: slope and radius `(B,)`, worst case `(B, n)`."""

    slope: Floats
    radius: Floats
    distribution: Floats

    def inverse_radius(self) -> Floats:
        """1 / radius `(B,)`, by which value's gradients become the slope's: `slope = (q.f - tau) / radius`; 0 at 0."""
        return np.divide(1.0, self.radius, out=np.zeros_like(self.radius), where=self.radius > 0.0)


@dataclass(frozen=True, slots=True)
class SolveCost:
    """What solving takes, measured: `points x seconds x (contexts / 64)^growth`."""

    seconds: float  #: a point of a payoff table with 64 contexts.
    growth: float = 0.0  #: exponent of the number of contexts.
    memory_mb: float = 0.0  #: what its compiled code takes, MB.
    #: share of the decisions that a search for the best one solves, in a table with 64 contexts; bounds exclude the
    #: others. It grows with the contexts, up to all.
    searched: float = 1.0
    search: float = 0.0  #: seconds of a search for the best decision, however small the table.


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which optional outputs a caller needs; sets skip the work of the others."""

    distribution: bool = True
    rate: bool = False


def is_tensor(values: object) -> bool:
    """Whether `values` is a torch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, torch.Tensor)


def expectation(f: Floats, p: Floats) -> Floats:
    """Row-wise `p.f`: f `(B, n)`, p `(1, n)` or `(B, n)`."""
    return f @ p[0] if len(p) == 1 else np.einsum("bn,bn->b", f, p)


def pick(p: Floats, rows: Any) -> Floats:
    """The references of some rows; a shared reference stays shared."""
    return p if len(p) == 1 else p[rows]


def pair(q: ArrayLike, p: ArrayLike, n: int | None = None) -> tuple[Floats, Floats]:
    """Two checked distributions `(..., n)`, broadcast against each other."""
    second = checks.distribution(p, n, name="p")
    first = checks.distribution(q, second.shape[-1], name="q")
    try:
        return tuple(np.broadcast_arrays(first, second))  # type: ignore[return-value]
    except ValueError:
        raise BocuError(f"q has shape {first.shape}, which does not match that of p, {second.shape}") from None


def relative(q: Floats, p: Floats) -> tuple[Floats, Any]:
    """Density ratio q/p on the support of p (1 elsewhere), and a mask `(...)` of rows where q leaves the support."""
    inside = p > 0
    with np.errstate(over="ignore"):
        ratio = np.divide(q, p, out=np.ones_like(q), where=inside)
    return ratio, ((q > 0) & ~inside).any(axis=-1)


def sorted_rows(f: Floats, p: Floats, *, descending: bool = False) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Contexts of each row in the order of their payoffs.

    Args:
        f: (B, n) payoffs.
        p: (1, n) shared or (B, n) own references.
        descending: largest payoffs first.

    Returns:
        order : (B, n) positions in the flattened `(B, n)` array, so that `f.ravel()[order]` is sorted by row.
        f, p : (B, n) both in that order.
    """
    order = (-f if descending else f).argsort(axis=1)
    sorted_p = p[0].take(order) if len(p) == 1 else np.take_along_axis(p, order, axis=1)
    if len(f) > 1:
        order += np.arange(0, f.size, f.shape[1])[:, None]
    return order, f.take(order), sorted_p


def unsorted(order: NDArray[np.intp], values: Floats) -> Floats:
    """Undo `sorted_rows`: values `(B, n)` in sorted order back to the order of the contexts."""
    back = np.empty_like(values)
    back.ravel()[order.ravel()] = values.ravel()
    return back


def at_first(mask: NDArray[np.bool_], values: Floats, otherwise: Floats | float) -> Floats:
    """Per row the value `(B,)` at the first true entry of `mask` `(B, n)`, or `otherwise` where there is none."""
    first = mask.argmax(axis=1)
    row = np.arange(len(mask))
    return np.where(mask[row, first], values[row, first], otherwise)


_EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@dataclass(frozen=True)
class Polytope:
    """Distributions q, the first n of the variables v: `upper @ v <= bounds`, `equal @ v = values`, `v >= 0`."""

    contexts: int  #: n.
    upper: Floats
    bounds: Floats
    equal: Floats
    values: Floats

    def minimise(
        self, cost: Floats, upper: Floats | None = None, bounds: Floats | None = None
    ) -> tuple[float, Floats] | None:
        """The least `cost @ q` and its q `(n,)` under further `upper @ q <= bounds`; None where there is no q."""
        from scipy.optimize import linprog

        rest = self.equal.shape[1] - self.contexts
        more = np.empty((0, self.contexts)) if upper is None else upper
        rows = np.vstack([self.upper, np.hstack([more, np.zeros((len(more), rest))])])
        limits = self.bounds if bounds is None else np.concatenate([self.bounds, bounds])
        found = linprog(
            np.append(cost, np.zeros(rest)), rows, limits, self.equal, self.values, method="highs", options=_EXACT
        )
        if found.status == 2:
            return None
        if not found.success:
            raise BocuError(f"linear programme: {found.message}")
        return float(found.fun), found.x[: self.contexts]
