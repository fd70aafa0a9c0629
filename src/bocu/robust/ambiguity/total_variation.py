"""Total variation, in the L1 convention: `d(q, p) = sum_i |q_i - p_i|`, between 0 and 2; mass may leave the support.

Exact by one sort: the worst distribution takes mass epsilon / 2 from the contexts with the largest payoffs and gives it
to one with the smallest (Tay et al., 2024, Appendix A, with the factor 1/2 of the L1 norm).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bocu.core.about import About
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.base import (
    AmbiguitySet,
    Polytope,
    Rows,
    Tangent,
    Wanted,
    expectation,
    pair,
    sorted_rows,
    unsorted,
)
from bocu.robust.ambiguity.checks import Floats


class TotalVariation(AmbiguitySet):
    """L1 set of radius `epsilon` (0 to 2; larger is as 2).

    Examples:
        >>> TotalVariation(epsilon=0.5).distance([0.5, 0.5], [0.25, 0.75])
        array(0.5)
    """

    about = About(
        title="total variation",
        summary="every distribution whose L1 distance from the reference is the radius or less",
        paper="Tay et al. 2024",
        largest_radius=2.0,
    )
    leaves_support = True
    linear_in_pieces = True
    sensitivity_power = 1.0

    def distance(self, q: ArrayLike, p: ArrayLike) -> Floats:
        """L1 distance `(...)` of distributions `(..., n)`."""
        first, second = pair(q, p)
        return np.asarray(np.abs(first - second).sum(axis=-1))

    def concentration_radius(self, observations: int, contexts: int, delta: float) -> float:
        """`sqrt(2 log((2^n - 2) / delta) / N)` (Weissman et al., 2003, Theorem 2.1): a union bound over all events."""
        checks.concentration(observations, contexts, delta)
        if contexts == 1:
            return 0.0
        if observations == 0:
            return math.inf
        log_events = contexts * math.log(2.0) + math.log1p(-(2.0 ** (1 - contexts)))
        return math.sqrt(2.0 * (log_events - math.log(delta)) / observations)

    def solve(self, f: Floats, p: Floats, wanted: Wanted) -> Rows:
        # Comparing -f in place of f saves a reversal; the payoffs of minimisers are exactly 0.
        order, payoff, mass = sorted_rows(f, p, descending=True)
        cumulative = mass.cumsum(axis=1)
        half = self.epsilon / 2.0
        above = _above_floor(payoff, mass)
        kink = (cumulative <= half).sum(axis=1)
        before = np.subtract(cumulative, mass, out=cumulative)
        removed = _removed(half, above, before, mass, out=before)
        value = expectation(f, p) - np.einsum("bn,bn->b", removed, payoff)
        row = np.arange(len(f))
        last = np.minimum(kink, f.shape[1] - 1)
        level = np.where(kink == last, payoff[row, last], 0.0)
        rows = Rows(value=np.where(half >= above, 0.0, np.maximum(value, 0.0)), slope=-0.5 * level)
        if wanted.distribution:
            rows.distribution = unsorted(order, mass - removed)
            rows.distribution[row, _receivers(f, p)] += removed.sum(axis=1)
        if wanted.rate:
            donors = order[row, last] - row * f.shape[1]
            half_step = np.where(level > 0.0, 0.5, 0.0)
            rows.rate = np.zeros_like(f)
            rows.rate[row, donors] -= half_step
            rows.rate[row, _receivers(f, p)] += half_step
        return rows

    def flattest(self, lower: ArrayLike, upper: ArrayLike) -> Floats:
        """The lower bound, lifted to the smallest upper one: see docs/tay2024.md for the proof."""
        above = np.asarray(upper, dtype=float)
        return np.maximum(np.asarray(lower, dtype=float), above.min(axis=-1, keepdims=True))

    def _values_at(self, f: Floats, p: Floats, radii: list[float]) -> Floats:
        # As `solve` has it, but sorted once for all radii.
        _, payoff, mass = sorted_rows(f, p, descending=True)
        before = mass.cumsum(axis=1)
        before -= mass
        above, mean = _above_floor(payoff, mass), expectation(f, p)
        values, removed = np.empty((len(f), len(radii))), np.empty_like(before)
        for column, half in enumerate(np.array(radii) / 2.0):
            _removed(half, above, before, mass, out=removed)
            value = mean - np.einsum("bn,bn->b", removed, payoff)
            values[:, column] = np.where(half >= above, 0.0, np.maximum(value, 0.0))
        return values

    def tangent(self, f: Floats, p: Floats, tau: Floats) -> Tangent:
        # H(mu) = sum_i p_i min(f_i, 2 mu) is piecewise linear: find theta = 2 mu with H = tau on sorted payoffs.
        _, payoff, mass = sorted_rows(f, p)
        below = np.cumsum(mass * payoff, axis=1)
        above = np.maximum(1.0 - np.cumsum(mass, axis=1), 0.0)
        reached = below + above * payoff >= tau[:, None]
        reached[:, -1] = True
        first = reached.argmax(axis=1)
        row = np.arange(len(f))
        last = first - 1
        base = np.where(last >= 0, below[row, last], 0.0)
        rest = np.where(last >= 0, above[row, last], 1.0)
        theta = np.minimum((tau - base) / np.maximum(rest, np.finfo(float).tiny), payoff[row, first])
        # At the point of contact all mass above theta has moved.
        stays = np.where(f <= theta[:, None], p, 0.0)
        moved = 1.0 - stays.sum(axis=1)
        stays[row, _receivers(f, p)] += moved
        return Tangent(-theta / 2.0, 2.0 * moved, stays)

    def _lower_bound(self, f: Floats, p: Floats, found: Rows) -> Floats:
        # sum_i p_i min(f_i, theta) - epsilon theta / 2 for any level theta.
        return expectation(np.minimum(f, -2.0 * found.slope[:, None]), p) + min(self.epsilon, 2.0) * found.slope

    def _in_reference(self, f: Floats, p: Floats, q: Floats, slope: Floats) -> Floats:
        # v = sum_i p_i min(f_i, theta) - epsilon theta / 2 at the level theta of the context that loses mass last.
        return np.minimum(f, -2.0 * slope[:, None])

    def _sensitivity(self, f: Floats, p: Floats) -> Floats:
        return np.where(p > 0.0, f, 0.0).max(axis=1) / 2.0

    def _floor_distance(self, f: Floats, p: Floats) -> Floats:
        return 2.0 * (1.0 - np.where(f == 0.0, p, 0.0).max(axis=1))

    def _polytope(self, p: Floats) -> Polytope:
        # Variables q and |q - p|.
        n = len(p)
        one = np.eye(n)
        upper = np.block([[one, -one], [-one, -one], [np.zeros((1, n)), np.ones((1, n))]])
        equal = np.append(np.ones(n), np.zeros(n))[None]
        return Polytope(n, upper, np.concatenate([p, -p, [self.epsilon]]), equal, np.ones(1))


def _above_floor(payoff: Floats, mass: Floats) -> Floats:
    """Per row the mass `(B,)` on contexts that pay more than the least."""
    return np.asarray(np.where(payoff > 0.0, mass, 0.0).sum(axis=1))


def _removed(half: float, above: Floats, before: Floats, mass: Floats, out: Floats) -> Floats:
    """Mass `(B, n)` that leaves each context, written to `out`, which may be `before`: the mass of what pays more."""
    np.subtract(np.minimum(half, above)[:, None], before, out=out)
    np.maximum(out, 0.0, out=out)
    return np.minimum(out, mass, out=out)


def _receivers(f: Floats, p: Floats) -> Any:
    """Per row the minimiser with the largest reference mass, lowest index on ties."""
    return np.where(f == 0.0, p, -1.0).argmax(axis=1)
