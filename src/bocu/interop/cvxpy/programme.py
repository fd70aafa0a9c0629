"""`min q.f` over constraints on q, compiled once and solved by Clarabel for each payoffs, reference and radius.

How much is compiled once depends on the constraints. Where they are convex in q and radius together and follow CVXPY's
rules of parametrised programmes, the radius is a variable held at its value, and the multiplier of that is the slope
(the envelope theorem). Otherwise the radius is a parameter, or reference and radius are written in as numbers and the
programme is compiled for each pair; slopes are differences then, and there is no distance.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.loading import naming_extras

if TYPE_CHECKING:
    from cvxpy import Constraint, Expression, Problem

    from bocu.robust.ambiguity.base import AmbiguitySet
    from bocu.robust.ambiguity.checks import Floats

Constrain: TypeAlias = "Callable[[Expression, Expression, Expression], list[Constraint]]"
"""q (n,), reference (n,) and radius, CVXPY expressions, in; constraints out."""

TOLERANCES: Mapping[str, float] = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
"""Of Clarabel, for payoffs that span [0, 1]: what it cannot reach is told by the gap."""

#: Step of differences in the radius: a hundred thousand times the error of values.
STEP = 1e-5

#: A solution with a larger gap, in ranges of the payoffs, is none.
LARGEST_GAP = 1e-6

_ZERO, _WITHIN = 1e-8, 1e-6  # a least radius below is 0; distributions this much further out are taken for within


@dataclass(frozen=True, slots=True)
class Solution:
    """One worst case.

    Attributes:
        value: `min q.f`.
        distribution: (n,) the q that attains it.
        slope: derivative of the value in the radius; None where the radius is no variable.
        gap: between the value and Clarabel's dual bound, with what the constraints are missed by.
    """

    value: float
    distribution: Floats
    slope: float | None
    gap: float


class Programme:
    """The worst case over constraints, for one number of contexts. An answer depends on no earlier one.

    Attributes:
        radius_varies: the radius is a variable: slopes are exact, distances known.
        reused: compiled once for all references and radii.

    Raises:
        BocuError: the constraints are none, or not convex by CVXPY's rules.
    """

    def __init__(self, contexts: int, constrain: Constrain, name: str = "constraints") -> None:
        self.contexts, self.name = contexts, name
        self._constrain = constrain
        for self.reused, self.radius_varies in ((True, True), (True, False), (False, True), (False, False)):
            self._built = _Built(self, np.full(contexts, 1.0 / contexts), 0.0)
            if self._built.convex:
                return
        raise BocuError(f"{name}: not convex by the rules of CVXPY (see dcp.cvxpy.org): {self._built.fault}")

    def solve(self, payoffs: Floats, reference: Floats, radius: float) -> Solution:
        """Solve for payoffs (n,) that span about [0, 1].

        Raises:
            BocuError: no distribution is within, or Clarabel does not reach an answer.
        """
        if np.isinf(radius):
            return self._at_any_radius(payoffs, reference)
        at = self._at(reference, radius)
        found = at.solved(payoffs)
        if "Infeasible" in str(found.status):
            raise BocuError(f"{self.name}: no distribution is within at radius {radius:g}")
        q = _distribution(np.asarray(found.x)[at.columns])
        value = float(q @ payoffs)
        gap = abs(value - found.obj_val_dual) + float(max(found.r_prim, found.r_dual))
        if not gap <= LARGEST_GAP:
            raise BocuError(
                f"{self.name}: Clarabel stopped ({found.status}) at radius {radius:g} with a gap of {gap:.1e}"
            )
        slope = -float(np.asarray(found.z) @ at.held) if self.radius_varies else None
        return Solution(value, q, slope, gap)

    def _at_any_radius(self, payoffs: Floats, reference: Floats) -> Solution:
        """Solve for the largest set that there is."""
        at = self._at(reference, 0.0)
        if not self.radius_varies:
            raise BocuError(f"{self.name}: the radius is inf: it must be finite, since it is no variable here")
        at.payoffs.value, at.price.value = payoffs, 0.0
        found = self._answer(at.tilted, "at any radius")
        q = _distribution(at.q.value)
        value = float(q @ payoffs)
        return Solution(value, q, 0.0, abs(value - found.obj_val_dual) + float(max(found.r_prim, found.r_dual)))

    def distance(self, q: Floats, reference: Floats) -> float:
        """Return the least radius at which q (n,) is within; infinity where there is none.

        Raises:
            BocuError: the radius is no variable.
        """
        at = self._at(reference, 0.0)
        if not self.radius_varies:
            raise BocuError(
                f"{self.name}: measures no distance, since its constraints are not convex in the radius; "
                "give the radius as a number"
            )
        at.target.value = q
        if self._answer(at.nearest, "for a distance", may_be_empty=True) is None:
            return float("inf")
        least = float(at.radius.value)
        return least if least > _ZERO else 0.0

    def holds(self, q: Floats, reference: Floats, radius: float) -> bool:
        """Say whether q (n,) is within."""
        if self.radius_varies:
            return self.distance(q, reference) <= radius + _WITHIN
        at = self._at(reference, radius)
        at.target.value = q
        return self._answer(at.nearest, "for a distribution", may_be_empty=True) is not None

    def tilted(self, payoffs: Floats, reference: Floats, price: float) -> tuple[float, Floats]:
        """Minimise `q.f + price radius` over q and the radius, price positive; return the radius and q (n,).

        Raises:
            BocuError: as `distance`.
        """
        at = self._at(reference, 0.0)
        if not self.radius_varies:
            raise BocuError(f"{self.name}: no satisficing, since its constraints are not convex in the radius")
        at.payoffs.value, at.price.value = payoffs, price
        self._answer(at.tilted, "at any radius")
        return max(float(at.radius.value), 0.0), _distribution(at.q.value)

    def _at(self, reference: Floats, radius: float) -> _Built:
        """Return what is compiled, at a reference and radius."""
        reference = reference / reference.sum()  # a plan of transports balances to more digits than references sum to 1
        if not self.reused and not self._built.is_for(reference, radius):
            self._built = _Built(self, reference, radius)
        built = self._built
        if self.reused:
            built.reference.value = reference
        built.at.value = radius
        return built

    def _answer(self, problem: Problem, where: str, may_be_empty: bool = False) -> Any:
        """Solve afresh and return Clarabel's solution; None where there is none and need not be."""
        import cvxpy as cp

        data, chain, inverse = _data_of(problem)
        found = _solved(problem, data, chain)
        if "Infeasible" in str(found.status):
            if may_be_empty:
                return None
            raise BocuError(f"{self.name}: no distribution is within {where}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a radius is asked for, which is good to 1e-7 or is refused
                problem.unpack_results(found, chain, inverse)
        except cp.error.SolverError:
            raise BocuError(f"{self.name}: Clarabel found no answer {where} ({found.status})") from None
        return found

    def constraints(self, q: Expression, reference: Expression, radius: Expression) -> list[Constraint]:
        """Return the constraints of the user's function.

        Raises:
            BocuError: it fails, or returns something else.
        """
        import cvxpy as cp

        try:
            found: Any = self._constrain(q, reference, radius)
            found = list(found) if isinstance(found, list | tuple) else [found]
        except BocuError:
            raise
        except Exception as error:  # whatever the user's function raises
            raise BocuError(f"{self.name}: {type(error).__name__}: {' '.join(str(error).split())}") from None
        for part in found:
            if not isinstance(part, cp.Constraint):
                raise BocuError(f"{self.name}: found {part!r} among the constraints; CVXPY constraints are wanted")
        return found


class _Built:
    """The compiled programmes of one `Programme`: over the same variables, with different ends."""

    def __init__(self, programme: Programme, reference: Floats, radius: float) -> None:
        with naming_extras():
            import cvxpy as cp

        n = programme.contexts
        self._plain = reference
        self._key = reference.tobytes(), radius if not programme.radius_varies else None
        self.payoffs, self.target = cp.Parameter(n), cp.Parameter(n, nonneg=True)
        self.at: Any = cp.Parameter(nonneg=True)
        self.price = cp.Parameter(nonneg=True)
        self.q: Expression = cp.Variable(n, nonneg=True)
        self.reference: Any = cp.Constant(reference)
        if programme.reused:
            self.reference = cp.Parameter(n, nonneg=True, value=reference)
        self.at.value = radius
        if programme.radius_varies:
            self.radius: Any = cp.Variable(nonneg=True)
        else:
            self.radius = self.at if programme.reused else cp.Constant(radius)
        within = [cp.sum(self.q) == 1.0, *programme.constraints(self.q, self.reference, self.radius)]
        ends = [*within, self.radius == self.at] if programme.radius_varies else within
        worth = self.payoffs @ self.q
        self.worst = cp.Problem(cp.Minimize(worth), ends)
        self.nearest = cp.Problem(cp.Minimize(self.radius), [*within, self.q == self.target])
        self.tilted = cp.Problem(cp.Minimize(worth + self.price * self.radius), within)
        self.convex = self.worst.is_dpp()
        self.fault = "" if self.convex else next((str(c) for c in within if not c.is_dcp()), "its parameters")
        self._ready: tuple[tuple[bytes, float], Any, Any] | None = None

    @functools.cached_property
    def columns(self) -> np.ndarray:
        """Where the distribution stands among Clarabel's variables (n,)."""
        self.payoffs.value = marks = np.arange(1.0, len(self._plain) + 1.0)
        cost = _data_of(self.worst)[0]["c"]
        found = np.flatnonzero(cost)
        columns = found[np.argsort(cost[found])]
        assert (cost[columns] == marks).all()
        return columns

    @functools.cached_property
    def held(self) -> Floats:
        """How Clarabel's right-hand sides move with the radius."""
        self.payoffs.value, at = np.zeros(len(self._plain)), self.at.value
        before = _data_of(self.worst)[0]["b"]
        self.at.value = at + 1.0
        after = _data_of(self.worst)[0]["b"]
        self.at.value = at
        return after - before

    def solved(self, payoffs: Floats) -> Any:
        """Return Clarabel's solution of the worst case; for another row of payoffs only the costs are written anew."""
        columns = self.columns
        key = np.asarray(self.reference.value).tobytes(), float(self.at.value)
        if self._ready is None or self._ready[0] != key:
            self.payoffs.value = payoffs
            data, chain, _ = _data_of(self.worst)
            self._ready = key, data, chain
        _, data, chain = self._ready
        cost = np.zeros(len(data["c"]))
        cost[columns] = payoffs
        return _solved(self.worst, {**data, "c": cost}, chain)

    def is_for(self, reference: Floats, radius: float) -> bool:
        return self._key == (reference.tobytes(), radius if self._key[1] is not None else None)


def _distribution(found: Any) -> Floats:
    """Return what a solver found without what rounding left below 0, and with sum 1."""
    q = np.maximum(np.asarray(found), 0.0)
    return q / q.sum()


def _data_of(problem: Problem) -> Any:
    """Return what Clarabel takes for a problem at the present values of its parameters, and the way back."""
    import cvxpy as cp

    return problem.get_problem_data(cp.CLARABEL, solver_opts=dict(TOLERANCES))


def _solved(problem: Problem, data: Any, chain: Any) -> Any:
    """Return Clarabel's own solution. No warm start: the answer would depend on what was solved before."""
    return chain.solve_via_data(problem, data, warm_start=False, solver_opts=dict(TOLERANCES))


def programme_of(ambiguity_set: AmbiguitySet, contexts: int) -> Programme:
    """Return the programme of a set, of ours or of another class that states its constraints.

    Args:
        ambiguity_set: the set; its radius does not matter.
        contexts: n.

    Raises:
        BocuError: as `bocu.interop.cvxpy.inside`.
    """
    from bocu.interop.cvxpy.formulations import inside

    def constrain(q: Expression, reference: Expression, radius: Expression) -> list[Constraint]:
        return inside(ambiguity_set, q, reference, radius)

    return Programme(contexts, constrain, type(ambiguity_set).__name__)
