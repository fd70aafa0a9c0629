"""What is kept of a choice that a candidate prior was trusted with, and what is reported of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bocu.core.ties import first_best
from bocu.learners.algorithms.base import Reported

PAYOFF = "payoff"
"""Unit of reported quantities that are in units of the problem's payoff."""


@dataclass(frozen=True)
class Choice:
    """Who chose in a round, and what was predicted for the chosen arm before its payoff was seen.

    Attributes:
        prior: index of the prior; -1: none, the decision came from outside.
        mean: posterior mean under that prior, in units of the payoff.
        sd: posterior standard deviation, in units of the payoff.
        width: half-width of the confidence interval, sqrt_beta times `sd`.
    """

    prior: int
    mean: float
    sd: float
    width: float


NOBODY = Choice(prior=-1, mean=math.nan, sd=math.nan, width=math.nan)

CHOICE_REPORTS = (
    Reported("chosen_prior", "candidate prior trusted with the choice, by its index; -1: none", dtype="int16"),
    Reported("predicted_mean", "posterior mean of the chosen arm under the chosen prior, before observing", PAYOFF),
    Reported("predicted_sd", "posterior standard deviation of the chosen arm under the chosen prior", PAYOFF),
    Reported("confidence_width", "half-width of the confidence interval: sqrt_beta times predicted_sd", PAYOFF),
)
ACTIVE_REPORT = Reported(
    "active_priors", "whether the prior is still a candidate after the round", dtype="int8", per_prior=True
)
WEIGHT_REPORT = Reported("prior_weight", "posterior weight of the prior, before observing", per_prior=True)


@dataclass
class Prediction:
    """What is predicted for the arm that was asked for, over the contexts that may be met.

    Attributes:
        prior: index of the prior that chose.
        mean, sd: of its prediction, shape (contexts,), or of one alone where the context that was met is known.
        sqrt_beta: multiplier of `sd` in the confidence bound; or the half-width itself where `known` is set.
        known: the choice, where it was recorded.
        value: objective of the arm's lower bounds; not a number where contexts are not chosen.
    """

    prior: int
    mean: np.ndarray
    sd: np.ndarray
    sqrt_beta: float
    known: Choice | None = None
    value: float = math.nan

    @classmethod
    def recorded(cls, choice: Choice, value: float) -> "Prediction":
        """Return what stands for a choice that was recorded before its outcome came."""
        return cls(choice.prior, np.empty(0), np.empty(0), math.nan, choice, value)

    def met(self, place: int) -> Choice:
        """Return the choice once the context is known."""
        if self.known is not None:
            return self.known
        mean, sd = float(self.mean[place]), float(self.sd[place])
        return Choice(self.prior, mean, sd, self.sqrt_beta * sd)


class Deployable:
    """The arm that each prior has rated highest by its lower bounds, among those that it chose."""

    def __init__(self, priors: int) -> None:
        self._arm = np.full(priors, -1, dtype=np.int64)
        self._value = np.full(priors, -np.inf)

    def note(self, prior: int, arm: int, value: float) -> None:
        """Take in a choice of a prior; one that no prior or no value stands behind changes nothing."""
        if prior >= 0 and not math.isnan(value) and (self._arm[prior] < 0 or first_best((self._value[prior], value))):
            self._arm[prior], self._value[prior] = arm, value

    def decision(self, trust: np.ndarray) -> int:
        """Return the arm of the prior trusted most; of any where that one chose none; before any choice the first."""
        own = first_best(trust)
        chosen = own if self._arm[own] >= 0 else first_best(self._value)
        return max(int(self._arm[chosen]), 0)

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint keeps."""
        return {"arm": self._arm.copy(), "value": self._value.copy()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` returned."""
        self._arm = np.array(state["arm"], dtype=np.int64)
        self._value = np.array(state["value"], dtype=float)


def one_hot(index: int, size: int) -> np.ndarray:
    """Return weights of shape (size,), all of it on one index."""
    weights = np.zeros(size)
    weights[index] = 1.0
    return weights
