"""The expectations that regret is measured against, and their optima.

Settings: Huang et al. (2024), appendix B.2. The optima are computed, not typed in: `python -m bocu.problems.optima`
searches for them and writes `bocu.problems.stored_optima`, a module, so that scores notice when it changes.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.parameters import nearest
from bocu.core.plain import Specification
from bocu.problems.expected import (
    ExpectedPayoffFunction,
    Optimum,
    PayoffFunction,
    QuadratureRule,
    quadrature_rule,
    sobol_rule,
)
from bocu.problems.functions import function_named
from bocu.problems.portfolio import DECISION_DIM, PortfolioPayoff
from bocu.problems.stored_optima import STORED
from bocu.robust.contexts.laws import JointLaw, burr_xii, clipped_normal, complicated, uniform

RuleName = Literal["sobol", "quadrature"]

# A stored optimum belongs to a payoff whose value there differs by no more than this, relative to 1 + |value|.
_SAME = 1e-7

# Quadrature that misses more of a law's mass has too few nodes for it.
_MISSED = 1e-3

SEARCHED = 5
"""Of many laws that follow one another those under which the whole space of decisions is searched."""


@dataclass(frozen=True)
class PayoffUnderLaw:
    """A payoff under a distribution of contexts.

    Attributes:
        function: name in `bocu.problems.functions`; None for the portfolio, whose payoff is read from a file.
        law: what contexts are drawn from.
        stated: the same as an experiment file would state it, as plain data.
        sobol: points of the Sobol rule.
        panels: of the quadrature; None for the rule's own choice.
        order: likewise.
        coarse: panels of the quadrature that screens starts; 0 for screening by 2^12 Sobol points.
        raw: of the search, see `ExpectedPayoff.optimum`.
        starts: likewise.
        published: the optimum that the published code of Huang et al. (2024) subtracts from.
    """

    function: str | None
    law: JointLaw
    stated: Specification
    sobol: int = 2**21
    panels: int | None = None
    order: int = 8
    coarse: int = 64
    raw: int = 2**13
    starts: int = 50
    published: float | None = None

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
    found = STORED.get(name, {})
    if rule not in found:
        raise BocuError(f"{name}: no optimum by '{rule}'; allowed: {', '.join(found)}")
    value, decision = found[rule]
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Search for all optima and write the module that stores them."""
    parser = argparse.ArgumentParser(prog="python -m bocu.problems.optima", description=main.__doc__)
    parser.add_argument("portfolio", type=Path, help="the prepared portfolio data, real")
    file = Path(__file__).with_name("stored_optima.py")
    parser.add_argument("--output", type=Path, default=file, help="the module (default: the package's own)")
    options = parser.parse_args(arguments)
    surrogate = PortfolioPayoff.load(options.portfolio, "published")
    lines = []
    for name, setting in EXPECTATIONS.items():
        payoff = surrogate if setting.function is None else None
        lines.append(f'    "{name}": {{')
        for rule in setting.rules:
            found = search(name, rule, payoff)
            lines.append(f'        "{rule}": ({found.value!r}, {found.decision.tolist()!r}),')
            print(f"{name:32} {rule:10} {found.value:.10f} at {np.round(found.decision, 6).tolist()}", flush=True)
        lines.append("    },")
    options.output.write_text("\n".join([_HEADER, *lines, "}", ""]), encoding="utf-8")


_HEADER = '''"""Optima of expected payoffs: value and decision, by rule. Written by `python -m bocu.problems.optima`."""

STORED: dict[str, dict[str, tuple[float, list[float]]]] = {'''


if __name__ == "__main__":
    main()
