"""How wide confidence intervals are where the prior is one of several (Ziomek et al. 2025, Theorem 4.1)."""

import math
from collections.abc import Callable
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from bocu.core.errors import BocuError
from bocu.core.parameters import Number
from bocu.learners.algorithms.base import AlgorithmParameters
from bocu.learners.algorithms.search_parameters import SearchParameters
from bocu.learners.algorithms.theorems import Delta
from bocu.learners.surrogates.box_time_varying import SlopeTail

_SQUARED_PI = math.pi**2
SQRT_BETA: dict[str, Callable[[int, int, float], float]] = {
    "theorem-4.1": lambda arms, t, delta: math.sqrt(2.0 * math.log(2.0 * arms * _SQUARED_PI * t**2 / delta)),
    "theorem-3.1": lambda arms, t, delta: math.sqrt(2.0 * math.log(1.5 * arms * _SQUARED_PI * t**2 / delta)),
    "union-bound": lambda arms, t, delta: math.sqrt(2.0 * math.log(0.5 * arms * _SQUARED_PI * t**2 / delta)),
}
"""Valid choices of sqrt_beta for finitely many points as a function of points, t and delta, from the loosest on:
Theorem 4.1(A) as printed, Theorem 3.1 at a third of delta, and what a union bound over points, times and both tails
needs."""


def squared_noise_bound(noise: float, priors: int, t: int, delta: float) -> float:
    """Return xi_t: the sum of n noise terms stays within sqrt(xi_t n) (Ziomek et al. 2025, Theorem 4.1).

    Args:
        noise: standard deviation of the observation noise, in units of the payoff.
        priors: number of candidate priors.
        t: the round, from 1 on.
        delta: probability with which the bounds may fail.

    Returns:
        ``2 noise^2 log(priors pi^2 t^2 / delta)``, in squared units of the payoff.
    """
    return 2.0 * noise**2 * math.log(priors * _SQUARED_PI * t**2 / delta)


def box_sqrt_beta(t: int, delta: float, slope: SlopeTail, sides: np.ndarray) -> float:
    """Return sqrt_beta of Theorem 4.1(B): for all points of a box at once.

    It is that of ``tau^d`` points in round t at a third of delta, ``tau = d t^2 r b sqrt(log(6 d a / delta))``: a net
    so fine that no payoff changes by more than 1 / t^2 between its points, but with a probability that is counted in
    delta. The print has ``3 d a / (2 delta)`` inside, which may be below 1, and is not what Theorem 3.3 has in its net.

    Args:
        t: the round, from 1 on.
        delta: probability with which the statements may fail.
        slope: tail of the payoff's slope under the prior.
        sides: lengths of the box's sides, shape (d,); r is the largest.

    Raises:
        BocuError: 6 d a is not above delta, so that there is no net.
    """
    dimension = len(sides)
    inside = math.log(6.0 * dimension * slope.a / delta)
    if inside <= 0.0:
        raise BocuError(f"slope tail: a: found {slope.a}; allowed: so large that 6 d a exceeds delta")
    net = dimension * t**2 * float(np.max(sides)) * slope.b * math.sqrt(inside)
    points = dimension * math.log(max(net, 1.0))
    return math.sqrt(2.0 * (math.log(1.5 * _SQUARED_PI * t**2 / delta) + points))


class ConfidenceParameters(AlgorithmParameters):
    """How wide the confidence intervals are, and how an objective's slope is taken."""

    delta: Delta = Field(0.1, description="probability with which the confidence statements may fail")
    confidence: Literal["theorem-4.1", "theorem-3.1", "union-bound"] = Field(
        "theorem-4.1",
        description="rule for sqrt_beta, from the loosest to the tightest; all are valid for finitely many arms, or "
        "pairs of arm and context; in a box of arms Theorem 4.1 is its part B, and the only one",
    )
    sqrt_beta: Annotated[Number, Field(ge=0.0)] | None = Field(
        None, description="a constant multiplier of the standard deviation in place of the rule; null: the rule"
    )
    slope: Literal["exact", "as-pursued"] = Field(
        "exact",
        description="on a grid of contexts: `exact`, whatever the objective states, or as the objective states it",
    )


class SearchedParameters(ConfidenceParameters):
    """Confidence intervals, and the search for the best arm where arms are a box."""

    search: SearchParameters = Field(
        SearchParameters(restarts=20), description="in a box of arms: how the confidence bound is maximised"
    )
