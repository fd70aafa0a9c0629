"""Expected payoff of a decision under a continuous context, and the best decision there is.

Source: Huang et al. (2024), section 5 and appendix B.2: regret is measured against `max_x E_c f(x, c)`, the expectation
by 2^21 scrambled Sobol points (2^16 for the portfolio). Quadrature over the clipped distribution, in one or two context
dimensions, is cheaper and more exact. A decision's regret is the optimum under one rule minus its value under the same
rule: then it is negative by the rounding of the search at most.

The optima are computed, not typed in: `tests/benchmarks/optima.py` of the repository searches for them and writes
`bocu.problems.stored_optima`, a module, so that scores notice when it changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bocu.core.errors import BocuError
from bocu.core.parameters import nearest
from bocu.core.plain import Specification
from bocu.problems.functions import function_named
from bocu.problems.portfolio import DECISION_DIM
from bocu.problems.stored_optima import STORED
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.checks import Floats
from bocu.robust.contexts.laws import JointLaw, burr_xii, clipped_normal, complicated, uniform

PayoffFunction = Callable[[Floats, Floats], Floats]

# Contexts and decisions that are evaluated at once: a few arrays of 8 MB. A decision's value depends on the first.
_CONTEXTS_AT_A_TIME = 2**14
_PAIRS_AT_A_TIME = 2**20

_DIFFERENCE = 1e-6  # step of the central differences, of a unit cube's width
_REPEATED = 1e-3  # searches that end this close have found the same optimum


@dataclass(frozen=True)
class QuadratureRule:
    """Contexts and weights that stand for a distribution."""

    points: Floats = field(repr=False)  #: (m, Dc).
    weights: Floats = field(repr=False)  #: (m,), sum to 1.


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


RuleName = Literal["sobol", "quadrature"]

# A stored optimum belongs to a payoff whose value there differs by no more than this, relative to 1 + |value|.
_SAME = 1e-7

# Quadrature that misses more of a law's mass has too few nodes for it.
_MISSED = 1e-3

SEARCHED = 5  #: Of many laws that follow one another those under which the whole space of decisions is searched.


@dataclass(frozen=True)
class PayoffUnderLaw:
    """A payoff under a distribution of contexts."""

    #: name in `bocu.problems.functions`; None for the portfolio, whose payoff is read from a file.
    function: str | None
    law: JointLaw  #: what contexts are drawn from.
    stated: Specification  #: the same as an experiment file would state it, as plain data.
    sobol: int = 2**21  #: points of the Sobol rule.
    panels: int | None = None  #: of the quadrature; None for the rule's own choice.
    order: int = 8  #: likewise.
    coarse: int = 64  #: panels of the quadrature that screens starts; 0 for screening by 2^12 Sobol points.
    raw: int = 2**13  #: of the search, see `ExpectedPayoff.optimum`.
    starts: int = 50  #: likewise.
    published: float | None = None  #: the optimum that the published code of Huang et al. (2024) subtracts from.

    @property
    def rules(self) -> tuple[RuleName, ...]:
        """The rules that there are: quadrature in one or two context dimensions only."""
        return ("sobol", "quadrature") if self.law.dimension <= 2 else ("sobol",)

    def rule(self, name: RuleName) -> QuadratureRule:
        """Contexts and weights."""
        if name not in self.rules:
            raise BocuError(f"rule: found '{name}' for {self.law.dimension} context dimensions; allowed: {self.rules}")
        if name == "sobol":
            return sobol_rule(self.law, self.sobol)
        rule = quadrature_rule(self.law, self.panels, self.order)
        if abs(rule.weights.sum() - 1.0) > _MISSED:
            raise BocuError(
                f"rule: 'quadrature' sees {rule.weights.sum():.3g} of the law's mass, which is too narrow; take 'sobol'"
            )
        return rule

    def screening_rule(self) -> QuadratureRule:
        """A cheaper rule, good enough to tell where to search."""
        if self.coarse:
            rule = quadrature_rule(self.law, self.coarse)
            if abs(rule.weights.sum() - 1.0) <= _MISSED:
                return rule
        return sobol_rule(self.law, 2**12)


def _stated(name: str, **parameters: float) -> Specification:
    return {"name": name, "parameters": parameters}


def _portfolio(law: JointLaw, stated: Mapping[str, object], published: float) -> PayoffUnderLaw:
    # Smooth in the contexts, and 16 times the cost of a closed form for a thousandth of the points.
    return PayoffUnderLaw(
        None, law, stated, sobol=2**16, panels=2, order=16, coarse=2, raw=2**10, starts=12, published=published
    )


#: By name.
EXPECTATIONS: dict[str, PayoffUnderLaw] = {
    "ackley": PayoffUnderLaw("ackley", clipped_normal(1, std=0.15), _stated("normal", std=0.15), published=-10.9523),
    "ackley-2-4": PayoffUnderLaw("ackley-2-4", clipped_normal(4, std=0.15), _stated("normal", std=0.15), coarse=0),
    "modified-branin": PayoffUnderLaw(
        "modified-branin", clipped_normal(2), _stated("normal"), coarse=6, published=-9.603
    ),
    "hartmann-6": PayoffUnderLaw("hartmann-6", clipped_normal(1), _stated("normal"), published=2.6127565),
    "hartmann-6-as-printed": PayoffUnderLaw("hartmann-6-as-printed", clipped_normal(1), _stated("normal")),
    "complicated-hartmann": PayoffUnderLaw("hartmann-6", complicated(), _stated("complicated")),
    "complicated-hartmann-as-printed": PayoffUnderLaw("hartmann-6-as-printed", complicated(), _stated("complicated")),
    "newsvendor": PayoffUnderLaw("newsvendor", burr_xii(), _stated("burr-xii"), published=0.464),
    "portfolio-uniform": _portfolio(uniform(2), _stated("uniform"), published=20.0),
    "portfolio-normal": _portfolio(clipped_normal(2), _stated("normal"), published=22.0),
}


def expectation_named(name: str, law: JointLaw | None = None) -> PayoffUnderLaw:
    """Look an expectation up; with a law, under that in place of its own.

    Raises:
        BocuError: there is none of that name.
    """
    if name not in EXPECTATIONS:
        raise BocuError(f"no expectation '{name}'; {nearest(name, EXPECTATIONS)}")
    found = EXPECTATIONS[name]
    return found if law is None else replace(found, law=law, published=None)


def expected_payoff(
    name: str, rule: RuleName = "sobol", payoff: PayoffFunction | None = None, law: JointLaw | None = None
) -> ExpectedPayoffFunction:
    """`E_c f(x, c)` of a named expectation; the portfolio's needs its `payoff`.

    Raises:
        BocuError: unknown name, a rule that is not defined there, or no payoff.
    """
    setting = expectation_named(name, law)
    if setting.function is None:
        if payoff is None:
            raise BocuError(f"{name}: no payoff given; allowed: one read from prepared portfolio data")
        return ExpectedPayoffFunction(payoff, DECISION_DIM, setting.rule(rule))
    function = function_named(setting.function)
    return ExpectedPayoffFunction(payoff or function, function.decision_dim, setting.rule(rule))


def stored_optimum(name: str, rule: RuleName = "sobol") -> Optimum:
    """The optimum computed beforehand; the portfolio's is that of the published surrogate of the real data.

    Raises:
        BocuError: unknown name, or a rule that is not defined there.
    """
    expectation_named(name)
    if (name, rule) not in STORED:
        allowed = [other for named, other in STORED if named == name]
        raise BocuError(f"{name}: no optimum by '{rule}'; allowed: {', '.join(allowed)}")
    value, decision = STORED[name, rule]
    return Optimum(value, np.array(decision))


def optimum_of(
    name: str, rule: RuleName = "sobol", payoff: PayoffFunction | None = None, law: JointLaw | None = None
) -> Optimum:
    """The optimum of a named expectation: the stored one, or a new search where the payoff or the law is another.

    Another payoff (simulated data, refitted hyper-parameters) is told by its value at the stored decision. A search on
    the portfolio takes about a minute by quadrature.
    """
    if law is not None:
        return search(name, rule, payoff, law)
    expected = expected_payoff(name, rule, payoff)
    stored = stored_optimum(name, rule)
    if payoff is None or abs(expected(stored.decision[None])[0] - stored.value) <= _SAME * (1.0 + abs(stored.value)):
        return stored
    return search(name, rule, payoff)


def search(
    name: str, rule: RuleName = "sobol", payoff: PayoffFunction | None = None, law: JointLaw | None = None
) -> Optimum:
    """Search for the optimum of a named expectation from many starts; by Sobol points from that by quadrature."""
    expected = expected_payoff(name, rule, payoff, law)
    setting = expectation_named(name, law)
    if rule == "sobol" and "quadrature" in setting.rules:
        return expected.climb(search(name, "quadrature", payoff, law).decision)
    screen = ExpectedPayoffFunction(expected.payoff, expected.decision_dim, setting.screening_rule())
    return expected.optimum(raw=setting.raw, starts=setting.starts, screen=screen)


def optima_along(
    name: str, laws: Sequence[JointLaw], rule: RuleName = "sobol", payoff: PayoffFunction | None = None
) -> list[Optimum]:
    """Search for the optima of a named expectation under laws that follow one another in small steps.

    A search is made under a few of them, evenly spread with the first and the last; under those between, what it found
    on either side is climbed from.
    """
    searched = np.unique(np.linspace(0, len(laws) - 1, min(len(laws), SEARCHED)).round().astype(int)).tolist()
    found: dict[int, Optimum] = {place: search(name, rule, payoff, laws[place]) for place in searched}
    for place, law in enumerate(laws):
        if place not in found:
            expected = expected_payoff(name, rule, payoff, law)
            before = max(other for other in searched if other < place)
            after = min(other for other in searched if other > place)
            starts = [found[place - 1].decision, found[before].decision, found[after].decision]
            found[place] = max((expected.climb(start) for start in starts), key=lambda end: end.value)
    return [found[place] for place in range(len(laws))]
