"""Distributions over a grid of contexts as an experiment file states them, and how they change from round to round."""

from typing import Any, Literal, Self

import numpy as np
import pydantic
from pydantic import Field

from bocu.core.errors import BocuError, shown
from bocu.core.parameters import NotNegative, Number, Parameters, Positive
from bocu.robust.contexts.estimates import discretised
from bocu.robust.contexts.laws import LawParameters
from bocu.robust.contexts.references import Estimate
from bocu.robust.contexts.shifts import Schedule, ShiftParameters, restated


class NormalParameters(Parameters):
    """A normal distribution, the same in every context coordinate, evaluated on the grid and normalised."""

    mean: Number = Field(0.5, description="mean of every coordinate")
    sd: Positive | None = Field(None, description="standard deviation of every coordinate; or give the variance")
    variance: Positive | None = Field(None, description="variance of every coordinate; or give the sd")

    @pydantic.model_validator(mode="after")
    def _one_spread(self) -> Self:
        if (self.sd is None) == (self.variance is None):
            raise ValueError("a normal distribution has an 'sd' or a 'variance', one of the two")
        return self

    def weights(self, points: np.ndarray) -> np.ndarray:
        """Return its density on points, normalised."""
        variance = self.variance if self.variance is not None else (self.sd or 0.0) ** 2
        # The largest exponent is taken off: far from the mean all densities would otherwise be 0.
        exponent = -((points - self.mean) ** 2).sum(axis=1) / (2.0 * variance)
        return discretised(lambda _: np.exp(exponent - exponent.max()), points)


class Normal(Parameters):
    """A normal distribution."""

    normal: NormalParameters = Field(description="its mean, and its `sd` or `variance`")

    def weights_on(self, points: np.ndarray) -> np.ndarray:
        """Evaluate it on context points (contexts, dimension)."""
        return self.normal.weights(points)

    def stated(self) -> LawParameters:
        """Return the same as a law."""
        std = self.normal.sd if self.normal.sd is not None else (self.normal.variance or 0.0) ** 0.5
        return restated("normal", {"mean": self.normal.mean, "std": std})


class Weights(Parameters):
    """A distribution that is written out."""

    weights: list[NotNegative] = Field(min_length=1, description="one weight a context; they are normalised")

    def weights_on(self, points: np.ndarray) -> np.ndarray:
        """Return the weights, normalised, of as many context points."""
        weights = np.asarray(self.weights)
        if len(weights) != len(points) or not weights.sum() > 0.0:
            raise BocuError(
                f"weights: found {len(weights)} that sum to {weights.sum():g}; {len(points)} with a positive sum wanted"
            )
        return weights / weights.sum()

    def stated(self) -> LawParameters:
        """Refuse: weights of contexts are no law of theirs."""
        raise BocuError("shift: weights that are written out do not shift; state them as the law `histogram`")


class ByLaw(Parameters):
    """The density of a law at the contexts, normalised."""

    law: LawParameters = Field(description="the law: `{name, parameters}`, or a name alone (see `bocu list laws`)")

    def weights_on(self, points: np.ndarray) -> np.ndarray:
        """Evaluate it on context points (contexts, dimension)."""
        return self.law.weights_on(points)

    def stated(self) -> LawParameters:
        """Return the law."""
        return self.law


Distribution = Literal["uniform"] | Normal | Weights | ByLaw

Reference = Distribution | list[Distribution] | Literal["announced"] | Estimate
"""What is told before a round: stated, over the rounds where it is a list; the truth's own law; or estimated."""


def weights_on(distribution: Distribution, points: np.ndarray) -> np.ndarray:
    """Evaluate a distribution on context points of shape (contexts, dimension)."""
    if isinstance(distribution, str):
        return np.full(len(points), 1.0 / len(points))
    return distribution.weights_on(points)


def as_law(distribution: object) -> LawParameters:
    """Return a distribution, or what a problem has in place of one, as a law, which may shift.

    Raises:
        BocuError: it is none.
    """
    if distribution == "uniform":
        return restated("uniform", {})
    if not hasattr(distribution, "stated"):
        raise BocuError(f"shift: found the truth {shown(distribution)}, which is no law; state it as `{{law: ...}}`")
    return distribution.stated()


def listed(entry: object) -> list[Any]:
    """Return the distributions over the rounds that a reference or a truth states, one or more."""
    if isinstance(entry, list):
        return entry
    # Nothing is known of what is announced or estimated before there is something to see.
    return ["uniform"] if entry == "announced" or isinstance(entry, Estimate) else [entry]


def shifting(truth: object, shift: ShiftParameters, dimension: int) -> Schedule:
    """Return the laws that contexts come from, round by round.

    Raises:
        BocuError: there are several to shift, or the one is no law.
    """
    if isinstance(truth, list):
        raise BocuError(f"shift: the truth is a list of {len(truth)} distributions, one a round; take one to shift")
    return Schedule(as_law(truth), shift, dimension)
