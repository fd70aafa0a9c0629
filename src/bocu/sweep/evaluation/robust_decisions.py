"""What robust decisions are worth: the price of robustness, and what every objective is of one decision.

The price, and what it buys, is a property of a problem and an ambiguity set, whatever was run. With x_so the decision
of the best expectation under the reference, x_r that of the best worst case over the set of radius r: the price is
`E f(x_so) - E f(x_r)`; it buys `v_r(x_r) - v_r(x_so)`, v_r the worst expectation over the set.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core.rounds import SCALARISED, FiniteDomain, Situation
from bocu.core.ties import first_best
from bocu.robust.ambiguity.base import AmbiguitySet
from bocu.robust.ambiguity.parameters import SetParameters
from bocu.robust.objectives.functions import UncertaintyObjective
from bocu.sweep.evaluation.discretised import is_continuous, on_cells
from bocu.sweep.evaluation.metrics import (
    ExpectedPayoff,
    ExpectedPayoffParameters,
    Metric,
    ObjectiveMetric,
    ObjectiveMetricParameters,
)

if TYPE_CHECKING:
    from bocu.problems.base import Realisation

_ROUNDING = 1e-9  #: Of searches, relative to 1 + |value|.
_FLAT = 1e-6  # of the payoffs' range: from there on the curve has reached its floor
_LARGEST = 2.0**12


@dataclass(frozen=True)
class PricesAtRadii:
    """What decisions are worth at radii, each of shape (radii,)."""

    expected: np.ndarray  #: of the robust decision, in expectation.
    worst: np.ndarray  #: of the robust decision, at the worst of the set.
    plain_expected: np.ndarray  #: of the decision of the best expectation, likewise.
    plain_worst: np.ndarray  #: likewise.

    @property
    def price(self) -> np.ndarray:
        """What the robust decision costs in expectation."""
        return self.plain_expected - self.expected

    @property
    def bought(self) -> np.ndarray:
        """What it gains at the worst of the set."""
        return self.worst - self.plain_worst


def prices(realisation: "Realisation", stated: SetParameters, radii: Sequence[float]) -> PricesAtRadii:
    """Work out price and gain at every radius, in the first round's reference.

    Args:
        realisation: a problem of one output; continuous contexts are discretised.
        stated: the ambiguity set, whose own radius does not matter.
        radii: the radii.
    """
    unknown = np.empty(0)
    known = is_continuous(realisation)
    first = Situation(1, unknown if known else realisation.reference(1), unknown if known else realisation.truth(1), 0)
    shown, (situation,) = on_cells(realisation, [first])
    plain = ExpectedPayoff(ExpectedPayoffParameters())
    best = _best_payoffs(shown, situation, plain)
    expected, worst, plain_worst = [], [], []
    for radius in radii:
        robust = ObjectiveMetricParameters(
            objective={
                "class": "bocu.robust.objectives.functions:DistributionallyRobust",
                "parameters": {"set": {**stated.model_dump(mode="json"), "radius": radius}},
            }
        )
        metric = ObjectiveMetric(robust)
        found = _best_payoffs(shown, situation, metric)
        # A search may end no higher than another one: then robustness changes nothing.
        values = metric.values(np.stack([found, best]), situation)
        same = values[1] >= values[0] - _ROUNDING * (1.0 + abs(values[1]))
        chosen = best if same else found
        expected.append(float(plain.values(chosen[None], situation)[0]))
        worst.append(float(values[1] if same else values[0]))
        plain_worst.append(float(values[1]))
    plain_expected = np.full(len(expected), float(plain.values(best[None], situation)[0]))
    return PricesAtRadii(np.array(expected), np.array(worst), plain_expected, np.array(plain_worst))


def _best_payoffs(shown: "Realisation", situation: Situation, metric: Metric) -> np.ndarray:
    """Return the payoffs (contexts,) of the best decision under a metric."""
    metric.meet(shown)
    if isinstance(shown.description.decisions, FiniteDomain) and shown.description.protocol not in SCALARISED:
        payoffs = shown.payoffs(1)
        available = shown.available(1)
        rows = np.arange(len(payoffs)) if available is None else available
        return payoffs[rows[first_best(metric.values(payoffs, situation)[rows])]]
    _, decisions = metric.best(shown, [situation])
    return shown.table(decisions)[0, :, 0]


def objectives_of(
    payoffs: np.ndarray,
    reference: np.ndarray,
    ambiguity_set: AmbiguitySet,
    radius: float,
    tau: float | None = None,
    beta: float | None = None,
) -> dict[str, float]:
    """Return what each objective is of a decision, with the aspiration and the weight that it was taken at.

    Args:
        payoffs: of the decision, shape (contexts,).
        reference: shape (contexts,).
        ambiguity_set: its radius does not matter.
        radius: of DRO.
        tau: aspiration of RS; None: midway between SO and DRO.
        beta: weight of the slope in MR; None: half the radius.

    Returns:
        "so", "dro", "ro", "wcs", "mr", "rs", "tau", "beta"; slopes in payoff a unit of radius, perhaps -inf.
    """

    def value(objective: UncertaintyObjective) -> float:
        return float(objective(payoffs[None], reference)[0])

    so, dro = value(UncertaintyObjective.so()), value(UncertaintyObjective.dro(ambiguity_set.with_epsilon(radius)))
    aspired = (so + dro) / 2.0 if tau is None else tau
    weight = radius / 2.0 if beta is None else beta
    slope = value(UncertaintyObjective.wcs(ambiguity_set))
    found: dict[str, Any] = {"so": so, "dro": dro, "ro": value(UncertaintyObjective.ro()), "wcs": slope}
    found |= {"mr": so + weight * slope if weight else so, "rs": value(UncertaintyObjective.rs(ambiguity_set, aspired))}
    return {**found, "tau": aspired, "beta": weight}


def reach(payoffs: np.ndarray, reference: np.ndarray, ambiguity_set: AmbiguitySet, least: float) -> float:
    """Return a radius from which on the worst expectation is at its floor, to a factor of 1.1; at least `least`."""
    flat = _FLAT * max(float(np.ptp(payoffs)), 1e-300)
    floor = float(ambiguity_set.values_at(payoffs[None], reference, [_LARGEST])[0, 0])
    radius = _LARGEST
    while radius > 1e-3:
        smaller = radius / 1.1
        if float(ambiguity_set.values_at(payoffs[None], reference, [smaller])[0, 0]) > floor + flat:
            break
        radius = smaller
    return max(1.05 * radius, 1.05 * least)
