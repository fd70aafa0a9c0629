"""What a set is asked and answers: rows of payoffs `(B, n)` that span [0, 1] over the contexts that it can reach.

And what several sets do with them: sort them, or state themselves as linear constraints.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bocu.core.errors import BocuError
from bocu.robust.ambiguity.checks import Floats


@dataclass(frozen=True, slots=True)
class Normalised:
    """Payoffs as rows, and the way back to what was asked.

    Attributes:
        f: (B, n) payoffs; 0 is the least that the set can reach, 1 the most.
        p: (1, n) one reference for all, or (B, n).
        low: (B,) shift that was taken off.
        scale: (B,) scale that was taken off.
        leading: leading shape of the payoffs, whose product is B.
    """

    f: Floats
    p: Floats
    low: Floats
    scale: Floats
    leading: tuple[int, ...]

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
    """What a set answers for normalised rows `(B, n)`: fields as in `WorstCase`, optional ones may be missing.

    Attributes:
        gap: (B,) between the value and a lower bound that solving it has proved.
        distance: (B,) a bound on the distribution's distance from the reference, of sets where that is dear to ask.
    """

    value: Floats
    slope: Floats
    distribution: Floats | None = None
    rate: Floats | None = None
    gap: Floats | None = None
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
    """What solving takes, measured: `points x seconds x (contexts / 64)^growth`.

    Attributes:
        seconds: a point of a payoff table with 64 contexts.
        growth: exponent of the number of contexts.
        memory_mb: what its compiled code takes, MB.
        searched: share of the decisions that a search for the best one solves, in a table with 64 contexts; bounds
            exclude the others. It grows with the contexts, up to all.
        search: seconds of a search for the best decision, however small the table.
    """

    seconds: float
    growth: float = 0.0
    memory_mb: float = 0.0
    searched: float = 1.0
    search: float = 0.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which optional outputs a caller needs; sets skip the work of the others."""

    distribution: bool = True
    rate: bool = False


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
    """Distributions q, the first n of the variables v: `upper @ v <= bounds`, `equal @ v = values`, `v >= 0`.

    Attributes:
        contexts: n.
    """

    contexts: int
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
