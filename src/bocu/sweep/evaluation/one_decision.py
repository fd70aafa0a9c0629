"""What every objective is of one decision, and how its worst expectation falls with the radius."""

from typing import Any

import numpy as np

from bocu.robust.ambiguity.base import AmbiguitySet
from bocu.robust.objectives.functions import UncertaintyObjective

_FLAT = 1e-6  # of the payoffs' range: from there on the curve has reached its floor
_LARGEST = 2.0**12


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
