"""Expected payoff of a decision under a continuous context, and the best decision there is.

Source: Huang et al. (2024), section 5: regret is measured against `max_x E_c f(x, c)`, the expectation by 2^21
scrambled Sobol points (2^16 for the portfolio). Quadrature over the clipped distribution, in one or two context
dimensions, is cheaper and more exact. A decision's regret is the optimum under one rule minus its value under the same
rule: then it is negative by the rounding of the search at most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bocu.core.errors import BocuError
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.checks import Floats
from bocu.robust.contexts.laws import JointLaw

PayoffFunction = Callable[[Floats, Floats], Floats]

# Contexts and decisions that are evaluated at once: a few arrays of 8 MB. A decision's value depends on the first.
_CONTEXTS_AT_A_TIME = 2**14
_PAIRS_AT_A_TIME = 2**20

_DIFFERENCE = 1e-6  # step of the central differences, of a unit cube's width
_REPEATED = 1e-3  # searches that end this close have found the same optimum


@dataclass(frozen=True)
class QuadratureRule:
    """Contexts and weights that stand for a distribution.

    Attributes:
        points: (m, Dc).
        weights: (m,), sum to 1.
    """

    points: Floats = field(repr=False)
    weights: Floats = field(repr=False)


def sobol_rule(law: JointLaw, points: int = 2**21, seed: int = 0) -> QuadratureRule:
    """Scrambled Sobol points of equal weight, a power of 2; `seed` scrambles. Of a sample, its contexts themselves."""
    if law.support is not None:
        return QuadratureRule(*law.support)
    return QuadratureRule(law.points(points, np.random.default_rng(seed)), np.full(points, 1.0 / points))


def quadrature_rule(law: JointLaw, panels: int | None = None, order: int = 8) -> QuadratureRule:
    """Gauss-Legendre rule in every panel of the box, and the atoms at its ends; a product rule in two dimensions.

    Of a sample, its contexts themselves.

    Args:
        law: of one or two dimensions, clipped to a finite box.
        panels: panels of equal width a coordinate; left out, 512 in one dimension and 24 in two. Where a density
            jumps, each part has its share of them.
        order: nodes a panel.

    Raises:
        BocuError: the box is infinite, or the context has more than two dimensions.
    """
    if law.support is not None:
        return QuadratureRule(*law.support)
    if law.dimension > 2 or not np.isfinite([law.lower, law.upper]).all():
        raise BocuError(
            f"quadrature: found {law.dimension} context dimensions on [{law.lower}, {law.upper}]; "
            "allowed: 1 or 2 on a finite box"
        )
    count = panels or (512 if law.dimension == 1 else 24)
    axes = [_panels(law, breaks, count, order) for breaks in law.breaks()]
    weights = law.node_masses([nodes for nodes, _ in axes], [widths for _, widths in axes])
    for axis in range(law.dimension):
        others = tuple(other for other in range(law.dimension) if other != axis)
        kept = weights.sum(axis=others) > 0.0
        weights = weights.compress(kept, axis=axis)
        axes[axis] = (np.concatenate([[law.lower], axes[axis][0], [law.upper]])[kept], kept)
    points = np.stack([axis.ravel() for axis in np.meshgrid(*(nodes for nodes, _ in axes), indexing="ij")], axis=-1)
    return QuadratureRule(points, weights.ravel())


def _panels(law: JointLaw, breaks: Sequence[float], count: int, order: int) -> tuple[Floats, Floats]:
    """Nodes and weights of a Gauss-Legendre rule on the box of one coordinate, no panel across a break."""
    nodes, gauss = np.polynomial.legendre.leggauss(order)
    ends = [law.lower, *(place for place in breaks if law.lower < place < law.upper), law.upper]
    inside, widths = [], []
    for low, high in pairwise(ends):
        share = count if len(ends) == 2 else max(1, math.ceil(count * (high - low) / (law.upper - law.lower)))
        half = 0.5 * (high - low) / share
        middles = low + half * (2 * np.arange(share) + 1)
        inside.append((middles[:, None] + half * nodes).ravel())
        widths.append(np.tile(half * gauss, share))
    return np.concatenate(inside), np.concatenate(widths)


class Optimum(NamedTuple):
    """The best decision `(Dx,)` and its expected payoff."""

    value: float
    decision: Floats


class ExpectedPayoffFunction:
    """`E_c f(x, c)` as a function of decisions in the unit cube.

    Args:
        payoff: f of decisions (..., 1, Dx) and contexts (1, m, Dc), giving (..., m).
        decision_dim: Dx.
        rule: contexts and weights.
    """

    def __init__(self, payoff: PayoffFunction, decision_dim: int, rule: QuadratureRule) -> None:
        self.payoff = payoff
        self.decision_dim = decision_dim
        self.rule = rule

    def __call__(self, decisions: ArrayLike) -> Floats:
        """Expected payoffs `(n,)` of decisions `(n, Dx)`, in bounded memory.

        The value of a decision does not depend on the others in the call, but for what `payoff` itself may do.

        Raises:
            BocuError: where the decisions have another shape.
        """
        x = checks.finite("decisions", checks.floats("decisions", decisions))
        if x.ndim != 2 or x.shape[1] != self.decision_dim:
            raise BocuError(f"decisions has shape {x.shape}: it must be (n, {self.decision_dim})")
        block = max(1, _PAIRS_AT_A_TIME // min(_CONTEXTS_AT_A_TIME, len(self.rule.points)))
        return np.concatenate([np.empty(0), *(self._block(x[i : i + block]) for i in range(0, len(x), block))])

    def _block(self, x: Floats) -> Floats:
        total = np.zeros(len(x))
        for start in range(0, len(self.rule.points), _CONTEXTS_AT_A_TIME):
            part = slice(start, start + _CONTEXTS_AT_A_TIME)
            values = self.payoff(x[:, None, :], self.rule.points[None, part])
            total += (values * self.rule.weights[part]).sum(axis=-1)
        return total

    def optimum(
        self, *, raw: int = 2**13, starts: int = 50, finalists: int = 3, screen: ExpectedPayoffFunction | None = None
    ) -> Optimum:
        """The best decision of the unit cube, by L-BFGS-B with central differences from many starts.

        Args:
            raw: Sobol points of which the best are starts, a power of 2.
            starts: searches.
            finalists: ends of searches, apart from each other, that are searched from again where `screen` is given.
            screen: the same expectation by a cheaper rule, for all but the last searches.
        """
        from scipy.stats import qmc  # slow to import, and planning needs none of it

        cheap = screen or self
        exponent = raw.bit_length() - 1
        tried = qmc.Sobol(self.decision_dim, scramble=True, seed=0).random_base2(exponent)
        best = tried[np.argsort(-cheap(tried), kind="stable")[:starts]]
        found = sorted((cheap.climb(start) for start in best), key=lambda end: -end.value)
        if screen is not None:
            ends = _apart([end.decision for end in found])[:finalists]
            found = sorted((self.climb(end) for end in ends), key=lambda end: -end.value)
        return found[0]

    def climb(self, start: Floats) -> Optimum:
        """The optimum that one search from `start` (Dx,) ends at."""
        from scipy.optimize import minimize

        steps = _DIFFERENCE * np.eye(self.decision_dim)

        def loss(x: Floats) -> tuple[float, Floats]:
            # Differences stay inside the cube, outside of which a payoff need not be defined.
            above, below = np.minimum(x + steps, 1.0), np.maximum(x - steps, 0.0)
            values = self(np.concatenate([x[None], above, below]))
            rise = values[1 : 1 + len(x)] - values[1 + len(x) :]
            return -values[0], -rise / (above - below).diagonal()

        options = {"ftol": 1e-12, "gtol": 1e-6, "maxiter": 200}
        end = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * len(start), options=options)
        return Optimum(-float(end.fun), end.x)


def _apart(decisions: list[Floats]) -> list[Floats]:
    """Leave out decisions that nearly repeat an earlier one."""
    kept: list[Floats] = []
    for decision in decisions:
        if all(np.abs(decision - other).max() > _REPEATED for other in kept):
            kept.append(decision)
    return kept
