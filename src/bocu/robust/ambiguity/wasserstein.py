"""1-Wasserstein distance for a matrix of transport costs; mass may move to any context.

Exact: `v = max_{l >= 0} H(l) - l epsilon`, `H(l) = sum_i p_i min_j (f_j + l C_ij)` concave and piecewise linear in one
variable (Kantorovich duality; Gao and Kleywegt, 2023), solved by cutting lines; slope `-l*`, smallest maximiser. Where
the costs are distances on a line, H takes O(n) in place of O(n^2) (`bocu.robust.ambiguity.wasserstein_chain`).
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bocu.core.about import About, planning_only
from bocu.core.errors import BocuError
from bocu.core.loading import naming_extras
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.base import AmbiguitySet, Polytope, Rows, SolveCost, Tangent, Wanted, expectation, pair, pick
from bocu.robust.ambiguity.checks import Floats
from bocu.robust.ambiguity.parameters import SetParameters
from bocu.robust.ambiguity.total_variation import TotalVariation

Targets = NDArray[np.intp]

#: Costs are distances on a line where they miss them by no more than this many roundings of the largest.
_ROUNDINGS = 64


class Line:
    """Contexts on a line, from one end to the other.

    Attributes:
        order: (n,) the contexts along the line.
        positions: (n,) theirs, increasing from 0.
    """

    def __init__(self, positions: Floats) -> None:
        self.order = np.argsort(positions, kind="stable")
        self.positions = positions[self.order]

    @classmethod
    def of(cls, cost: Floats) -> Self | None:
        """The line on which costs `(n, n)` are distances, wherever it lies in space; None where there is none."""
        end = int(cost[0].argmax())
        positions = cost[end]
        tolerance = _ROUNDINGS * np.finfo(float).eps * positions.max()
        on_line = np.abs(np.abs(positions[:, None] - positions) - cost).max() <= tolerance
        return cls(positions) if on_line else None

    def distance(self, q: Floats, p: Floats) -> Floats:
        """Integral of the distance `(...)` of the distribution functions of q and p `(..., n)`."""
        above = np.cumsum((q - p)[..., self.order], axis=-1)[..., :-1]
        return np.abs(above) @ np.diff(self.positions)

    def cut(
        self, f: Floats, p: Floats, epsilon: float, *, keep: bool
    ) -> tuple[Targets, Targets, Floats, Floats, Floats]:
        """`wasserstein_chain.cut`, contexts in their own order."""
        from bocu.robust.ambiguity.wasserstein_chain import cut

        dear, cheap, lines, at, value = cut(*self._along(f, p), self.positions, epsilon, keep)
        return self._back(dear), self._back(cheap), lines, at, value

    def touch(self, f: Floats, p: Floats, tau: Floats) -> tuple[Floats, Floats, Targets]:
        """`wasserstein_chain.touch`, contexts in their own order."""
        from bocu.robust.ambiguity.wasserstein_chain import touch

        root, radius, targets = touch(*self._along(f, p), self.positions, np.ascontiguousarray(tau))
        return root, radius, self._back(targets)

    def _along(self, f: Floats, p: Floats) -> tuple[Floats, Floats]:
        return np.ascontiguousarray(f[:, self.order]), np.ascontiguousarray(p[:, self.order])

    def _back(self, targets: Targets) -> Targets:
        back = np.empty_like(targets)
        back[:, self.order] = self.order[targets]
        return back


#: Pivots of the network simplex before a transport counts as not solved: 1,024 contexts take some ten thousand.
_MOST_PIVOTS = 10_000_000


class Wasserstein(AmbiguitySet):
    """Set of radius `epsilon`, in units of `cost`.

    Args:
        epsilon: mean cost that nature may spend on moving mass.
        cost: (n, n) symmetric, not negative, zero on the diagonal; usually Euclidean distances between contexts.
            Contexts at zero cost from each other are one context: mass moves between them for free.
    """

    about = About(
        title="Wasserstein",
        summary="every distribution that the reference becomes by moving mass at a mean cost of the radius or less",
    )
    leaves_support = True
    linear_in_pieces = True
    costly = True
    compiled = True
    sensitivity_power = 1.0

    def __init__(self, epsilon: float, cost: ArrayLike) -> None:
        super().__init__(epsilon)
        matrix = checks.square("cost", cost)
        if matrix.min() < 0:
            i, j = (int(v) for v in np.argwhere(matrix < 0)[0])
            raise BocuError(f"cost[{i}, {j}] is {matrix[i, j]}: costs must be 0 or more")
        if np.diag(matrix).any():
            i = int(np.flatnonzero(np.diag(matrix))[0])
            raise BocuError(f"cost[{i}, {i}] is {matrix[i, i]}: staying must cost 0")
        self.cost = matrix
        self._free = bool((matrix == 0.0).sum() > len(matrix))
        self._line = Line.of(matrix)

    @classmethod
    def stated(cls, parameters: SetParameters, contexts: Floats | None) -> Wasserstein:
        """The set whose costs are Euclidean distances, see `AmbiguitySet.stated`."""
        points = checks.coordinates(contexts, parameters.name)
        difference = points[:, None, :] - points[None, :, :]
        return cls(0.0, np.sqrt((difference**2).sum(axis=-1)))

    @classmethod
    @planning_only
    def solve_cost(cls) -> SolveCost:
        """That of the chain recursion and of its compiler."""
        return SolveCost(5e-7, 0.8, 180.0)

    @property
    def contexts(self) -> int:
        return len(self.cost)

    def distance(self, q: ArrayLike, p: ArrayLike) -> Floats:
        """Smallest transport cost `(...)` between distributions `(..., n)`.

        On a line by the distribution functions, elsewhere by the network simplex of POT (Bonneel et al., 2011).
        """
        first, second = pair(q, p, self.contexts)
        if self._line is not None:
            return self._line.distance(first, second)
        n = self.contexts
        pairs = zip(first.reshape(-1, n), second.reshape(-1, n), strict=True)
        return np.array([_transport(a, b, self.cost) for a, b in pairs]).reshape(first.shape[:-1])

    def concentration_radius(self, observations: int, contexts: int, delta: float) -> float:
        """`diameter sqrt(log(2 / delta) / (2 N))` on a line, half the diameter times the radius of TV elsewhere.

        By the inequality of Dvoretzky, Kiefer and Wolfowitz with the constant of Massart (1990), and since mass that
        moves at all moves by the diameter at most.
        """
        checks.concentration(observations, contexts, delta)
        diameter = float(self.cost.max())
        if self._line is None:
            return diameter / 2.0 * TotalVariation(0.0).concentration_radius(observations, contexts, delta)
        if diameter == 0.0:
            return 0.0
        return diameter * math.sqrt(math.log(2.0 / delta) / (2.0 * observations)) if observations else math.inf

    def solve(self, f: Floats, p: Floats, wanted: Wanted) -> Rows:
        with_plans = wanted.distribution or wanted.rate
        lines = self._cut(f, p, with_plans)
        moving = lines.at > 0.0
        spent = np.multiply(lines.at, self.epsilon, out=np.zeros_like(lines.at), where=moving)
        rows = Rows(value=lines.value - spent, slope=-lines.at)
        if not with_plans:
            return rows
        span = np.where(moving, lines.dear_cost - lines.cheap_cost, 1.0)
        share = np.where(moving, np.clip((self.epsilon - lines.cheap_cost) / span, 0.0, 1.0), 1.0)
        dear, cheap = _moved(lines.dear, p), _moved(lines.cheap, p)
        rows.distribution = share[:, None] * dear + (1.0 - share)[:, None] * cheap
        rows.distance = share * lines.dear_cost + (1.0 - share) * lines.cheap_cost
        if wanted.rate:
            rows.rate = np.where(moving, 1.0 / span, 0.0)[:, None] * (dear - cheap)
        return rows

    def _lower_bound(self, f: Floats, p: Floats, found: Rows) -> Floats:
        return found.value  # a value of the dual function

    def _cut(self, f: Floats, p: Floats, with_plans: bool) -> _Lines:
        """The two supporting lines of H, one steeper than epsilon, one not, that meet at the maximiser."""
        if self._line is not None:
            dear, cheap, numbers, at, value = self._line.cut(f, p, self.epsilon, keep=with_plans)
            dear_height, dear_cost, cheap_height, cheap_cost = numbers
            return _Lines(dear, cheap, dear_height, dear_cost, cheap_height, cheap_cost, at, value)
        lines = self._ends(f, p)
        # At a radius of 0 the maximisers are unbounded; the smallest is where the last mass stops moving.
        active = np.flatnonzero(lines.dear_cost > self.epsilon)
        while len(active):
            crossing = lines.crossing(active)
            plan = _Plan.best(f[active], pick(p, active), self.cost, crossing)
            lines.at[active], lines.value[active] = crossing, plan.value
            # Payoffs span [0, 1]: what is lower than the lines' crossing by more than rounding is a new line.
            new = plan.value < lines.height(active, crossing) - 4e-15
            steep = plan.spent > self.epsilon
            lines.replace_dear(active[new & steep], plan, new & steep)
            lines.replace_cheap(active[new & ~steep], plan, new & ~steep)
            active = active[new]
        return lines

    def tangent(self, f: Floats, p: Floats, tau: Floats) -> Tangent:
        if self._line is not None:
            price, radius, targets = self._line.touch(f, p, tau)
            return Tangent(-price, radius, _moved(targets, p))
        # Newton's method from the left on a concave piecewise-linear H ends at the root after finitely many lines.
        lines = self._ends(f, p)
        root = tau / lines.dear_cost
        active = np.arange(len(f))
        while len(active):
            plan = _Plan.best(f[active], pick(p, active), self.cost, root[active])
            lines.dear[active], lines.dear_cost[active] = plan.targets, plan.spent
            short = tau[active] - plan.value
            going = (short > 4e-15) & (plan.spent > 0.0)
            active = active[going]
            root[active] += short[going] / plan.spent[going]
        return Tangent(-root, lines.dear_cost, _moved(lines.dear, p))

    def _in_reference(self, f: Floats, p: Floats, q: Floats, slope: Floats) -> Floats:
        # v = sum_i p_i min_j (f_j + l C_ij) - l epsilon at the price l of moving mass.
        targets = _Plan.best(f, p, self.cost, -slope).targets
        moved = self.cost[np.arange(f.shape[1]), targets]
        return np.take_along_axis(f, targets, axis=1) - slope[:, None] * moved

    def _ends(self, f: Floats, p: Floats) -> _Lines:
        """The steepest line, all mass to the nearest minimiser, and the flat one, no mass moved at a cost."""
        count, n = f.shape
        nearest = np.empty((count, n), dtype=np.intp)
        for row in range(count):
            minimisers = np.flatnonzero(f[row] == 0.0)
            nearest[row] = minimisers[self.cost[:, minimisers].argmin(axis=1)]
        stay = self._stay(f)
        flat = expectation(np.take_along_axis(f, stay, axis=1), p)
        dear_cost = _spent(nearest, p, self.cost)
        zero = np.zeros(count)
        return _Lines(nearest, stay, zero.copy(), dear_cost, flat, zero.copy(), zero.copy(), zero.copy())

    def _stay(self, f: Floats) -> Targets:
        """Where mass goes that may move at no cost: itself, or the worst context `(B, n)` at zero cost from it."""
        stay = np.broadcast_to(np.arange(f.shape[1]), f.shape).copy()
        if self._free:
            for row in range(len(f)):
                stay[row] = np.where(self.cost == 0.0, f[row], np.inf).argmin(axis=1)
        return stay

    def _value_at_zero(self, f: Floats, p: Floats) -> Floats:
        return expectation(np.take_along_axis(f, self._stay(f), axis=1) if self._free else f, p)

    def _polytope(self, p: Floats) -> Polytope:
        # Variables q and the transported mass, row by row from p.
        n = len(p)
        upper = np.append(np.zeros(n), np.asarray(self.cost).ravel())[None]
        leaves = np.hstack([np.zeros((n, n)), np.kron(np.eye(n), np.ones((1, n)))])
        arrives = np.hstack([-np.eye(n), np.kron(np.ones((1, n)), np.eye(n))])
        values = np.append(p, np.zeros(n))
        return Polytope(n, upper, np.array([self.epsilon]), np.vstack([leaves, arrives]), values)

    def _vertex_distances(self, p: Floats) -> Floats:
        return p @ self.cost

    def _sensitivity(self, f: Floats, p: Floats) -> Floats:
        steepest = np.zeros(len(f))
        with np.errstate(divide="ignore"):
            inverse = np.where(self.cost > 0.0, 1.0 / self.cost, 0.0)
        for i in np.flatnonzero(p.max(axis=0) > 0.0):
            here = ((f[:, i, None] - f) * inverse[i]).max(axis=1)
            np.maximum(steepest, np.where(p[:, i] > 0.0, here, 0.0), out=steepest)
        return steepest

    def _floor_distance(self, f: Floats, p: Floats) -> Floats:
        to_each = np.broadcast_to(p @ self.cost, f.shape)
        return np.where(f == 0.0, to_each, np.inf).min(axis=1)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The cheapest target of every source at given prices, `(m, n)`; value and transport cost spent `(m,)`."""

    targets: Targets
    value: Floats
    spent: Floats

    @classmethod
    def best(cls, f: Floats, p: Floats, cost: Floats, price: Floats) -> _Plan:
        """`argmin_j f_j + price C_ij`; works on blocks of rows of no more numbers than two matrices `(m, n)`."""
        count, n = f.shape
        targets = np.empty((count, n), dtype=np.intp)
        block = max(1, min(2 * count // n, 1 + 65536 // (n * n)))
        for start in range(0, count, block):
            rows = slice(start, start + block)
            total = price[rows, None, None] * cost
            total += f[rows, None, :]
            total.argmin(axis=2, out=targets[rows])
        spent = _spent(targets, p, cost)
        value = expectation(np.take_along_axis(f, targets, axis=1), p) + price * spent
        return cls(targets, value, spent)


@dataclass(frozen=True, slots=True)
class _Lines:
    """Two lines a row that bound H from above, `height + cost * l`: a dear one and a cheap one, with their plans."""

    dear: Targets
    cheap: Targets
    dear_height: Floats
    dear_cost: Floats
    cheap_height: Floats
    cheap_cost: Floats
    at: Floats
    value: Floats

    def crossing(self, rows: Targets) -> Floats:
        """Where the two lines of these rows meet."""
        rise = self.cheap_height[rows] - self.dear_height[rows]
        return rise / (self.dear_cost[rows] - self.cheap_cost[rows])

    def height(self, rows: Targets, at: Floats) -> Floats:
        """Height of the dear line."""
        return self.dear_height[rows] + at * self.dear_cost[rows]

    def replace_dear(self, rows: Targets, plan: _Plan, chosen: NDArray[np.bool_]) -> None:
        """Take the plan's line as the dear one in some rows."""
        self.dear[rows], self.dear_cost[rows] = plan.targets[chosen], plan.spent[chosen]
        self.dear_height[rows] = plan.value[chosen] - self.at[rows] * plan.spent[chosen]

    def replace_cheap(self, rows: Targets, plan: _Plan, chosen: NDArray[np.bool_]) -> None:
        """Take the plan's line as the cheap one in some rows."""
        self.cheap[rows], self.cheap_cost[rows] = plan.targets[chosen], plan.spent[chosen]
        self.cheap_height[rows] = plan.value[chosen] - self.at[rows] * plan.spent[chosen]


def _spent(targets: Targets, p: Floats, cost: Floats) -> Floats:
    return expectation(cost[np.arange(targets.shape[1]), targets], p)


def _moved(targets: Targets, p: Floats) -> Floats:
    """Distributions `(B, n)` after each source has sent its mass to its target."""
    count, n = targets.shape
    flat = targets + np.arange(0, count * n, n)[:, None]
    moved = np.bincount(flat.ravel(), np.broadcast_to(p, targets.shape).ravel(), count * n)
    return np.asarray(moved, dtype=np.float64).reshape(count, n)


def _transport(q: Floats, p: Floats, cost: Floats) -> float:
    # POT looks for array libraries as it is imported; torch alone would take longer than all transports of a run.
    for library in ("PYTORCH", "JAX", "CUPY", "TENSORFLOW"):
        os.environ.setdefault(f"POT_BACKEND_DISABLE_{library}", "1")
    with naming_extras():
        from ot import emd2

    sources, targets = np.flatnonzero(p), np.flatnonzero(q)
    mass = q[targets] * (p.sum() / q.sum())
    found, log = emd2(p[sources], mass, cost[np.ix_(sources, targets)], numItermax=_MOST_PIVOTS, log=True)
    if log["warning"] is not None:
        raise BocuError(f"the transport between q and p was not solved: {log['warning']}")
    return float(found)
