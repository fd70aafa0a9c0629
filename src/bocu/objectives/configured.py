"""Uncertainty objectives as an experiment file states them: set, radius rule, slope.

The mathematics is that of `bocu.objectives.values`; this module says which of it is meant, and how large the ambiguity
set is in a given round.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import pydantic
from pydantic import Field

from bocu.ambiguity.base import NO_CONCENTRATION, AmbiguitySet
from bocu.ambiguity.mmd.gram import JITTER
from bocu.ambiguity.named import Settings, set_class, set_named
from bocu.core.errors import BocuError
from bocu.core.loading import load
from bocu.core.parameters import NotNegative, Number, Parameters, Positive
from bocu.core.rounds import Situation
from bocu.objectives.values import UncertaintyObjective

INFINITE_SLOPE_AT_ZERO = ("chi2mod", "chi2", "kl", "cr", "phi")


class Concentration(Parameters):
    """The radius within which the distribution of N contexts seen lies of the true one, but for a probability.

    What it comes to is said by the set (`Set.concentration_radius`). Infinite while nothing was seen.
    """

    delta: Annotated[Number, Field(gt=0.0, lt=1.0)] = Field(
        0.1,
        description="probability with which the truth may lie outside after N of n contexts: radius "
        "sqrt(2 log((2^n - 2)/delta)/N) for `tv`; (2 + sqrt(2 log(1/delta)))/sqrt(N) for `mmd`; for `wass` the "
        "diameter times sqrt(log(2/delta)/(2 N)) on a line, half the diameter times the radius of `tv` elsewhere",
    )


Radius = NotNegative | list[NotNegative] | Literal["margin", "announced"] | Concentration


class SetParameters(Parameters):
    """An ambiguity set around the reference; a distance alone is its name."""

    name: Literal["tv", "mmd", "chi2mod", "chi2", "kl", "cr", "cvar", "wass", "phi"] = Field(
        "tv", description="distance between distributions, see docs/ambiguity-sets.md"
    )
    radius: Radius = Field(
        "margin",
        description="a number; a list over the rounds, whose last number stays; `margin`: the distance of the true "
        "distribution from the reference; `announced`: what the problem announces; `{delta: 0.1}`: shrinking with "
        "the number of contexts seen (`tv`, `mmd` and `wass`)",
    )
    lengthscale: Positive = Field(0.1, description="length-scale of the MMD's squared-exponential kernel")
    jitter: NotNegative = Field(JITTER, description="added to the diagonal of the MMD's Gram matrix")
    k: Annotated[Number, Field(ge=1.05, le=100.0)] | None = Field(None, description="order of Cressie-Read, for `cr`")
    alpha: Annotated[Number, Field(gt=0.0, le=1.0)] | None = Field(None, description="level of CVaR, for `cvar`")
    phi: Annotated[str, Field(pattern=r"^[\w.]+:\w+$")] | None = Field(
        None,
        description="for `phi`, a divergence of your own: `module:name` of a pair of functions of arrays, phi and its "
        "conjugate, or of three with the conjugate's derivative; the module must be importable, and editing what they "
        "use reruns what uses them",
    )

    @pydantic.model_validator(mode="before")
    @classmethod
    def _name_alone(cls, data: Any) -> Any:
        return {"name": data} if isinstance(data, str) else data

    @pydantic.model_validator(mode="after")
    def _what_a_set_needs(self) -> Self:
        for name, key in (("cr", "k"), ("cvar", "alpha"), ("phi", "phi")):
            if (self.name == name) != (getattr(self, key) is not None):
                raise ValueError(f"the key '{key}' and the set '{name}' go together")
        if isinstance(self.radius, list) and not self.radius:
            raise ValueError("a list of radii holds one number or more")
        if isinstance(self.radius, Concentration) and not set_class(self.name).concentrates():
            raise ValueError(f"the set '{self.name}' {NO_CONCENTRATION}")
        return self

    def unused(self) -> Mapping[str, str]:
        if self.name == "mmd":
            return {}
        return dict.fromkeys(("lengthscale", "jitter"), f"the set '{self.name}' has no kernel, only 'mmd' has")

    def check(self) -> None:
        """Refuse a divergence of the user's own that is none.

        Raises:
            BocuError: there are no such functions as `phi` names, or they are no divergence.
        """
        if self.phi is not None:
            _phi_divergence(self.phi)

    def over(self, contexts: np.ndarray) -> AmbiguitySet:
        """Build the set over context points of shape (contexts, dimension), at radius 0.

        Raises:
            BocuError: there are no such functions as `phi` names, or they are no divergence.
        """
        if self.phi is not None:
            return _phi_divergence(self.phi)
        settings = Settings(0.0, self.alpha, self.k, contexts, self.lengthscale, self.jitter)
        return set_named(self.name, settings)

    def epsilon(self, situation: Situation, ambiguity_set: AmbiguitySet) -> float:
        """Return the radius in a situation.

        Raises:
            BocuError: the problem announces no radius.
        """
        rule = self.radius
        if isinstance(rule, Concentration):
            return ambiguity_set.concentration_radius(situation.observed, len(situation.reference), rule.delta)
        if isinstance(rule, list):
            return rule[min(max(situation.t, 1), len(rule)) - 1]
        if rule == "margin":
            return float(ambiguity_set.distance(situation.truth, situation.reference))
        if rule == "announced":
            if situation.margin is None:
                raise BocuError("radius: found 'announced', but the problem announces no radius; give another rule")
            return situation.margin
        return float(rule)


def _phi_divergence(target: str) -> AmbiguitySet:
    from bocu.ambiguity.divergences.phi_divergence import PhiDivergence

    try:
        functions = tuple(load(target))
    except Exception as error:  # whatever importing the user's module raises
        raise BocuError(f"phi: found '{target}'; allowed: module:name of two or three functions ({error})") from None
    if len(functions) not in (2, 3):
        raise BocuError(f"phi: found {len(functions)} functions in '{target}'; allowed: two or three")
    if not all(map(callable, functions)):
        raise BocuError(f"phi: found '{target}', which holds what cannot be called; allowed: two or three functions")
    return PhiDivergence(0.0, *functions)


class Difference(Parameters):
    """The slope by a forward difference, as the published code of Tay et al. (2024) has it."""

    difference: Positive = Field(description="step h of (v(epsilon + h) - v(epsilon)) / h, in units of the radius")


Slope = Literal["exact"] | Difference


class Objective(ABC):
    """An uncertainty objective of an experiment.

    Attributes:
        ambiguity: its set and radius rule; None where it has no set.
    """

    Parameters: ClassVar[type[Parameters]]

    def __init__(self, parameters: Any) -> None:
        self.parameters = parameters

    @classmethod
    def from_specification(cls, parameters: Mapping[str, Any]) -> Self:
        return cls(cls.Parameters.model_validate(parameters))

    @property
    def ambiguity(self) -> SetParameters | None:
        return getattr(self.parameters, "set", None)

    @abstractmethod
    def over(self, contexts: np.ndarray) -> UncertaintyObjective:
        """Return the objective over context points of shape (contexts, dimension), at radius 0."""


class StochasticParameters(Parameters):
    """SO has none."""


class Stochastic(Objective):
    """SO: the expectation under the reference."""

    Parameters = StochasticParameters

    def over(self, contexts: np.ndarray) -> UncertaintyObjective:
        return UncertaintyObjective.so()


class RobustParameters(Parameters):
    """RO has none."""


class Robust(Objective):
    """RO: the minimum over all contexts."""

    Parameters = RobustParameters

    def over(self, contexts: np.ndarray) -> UncertaintyObjective:
        return UncertaintyObjective.ro()


class _WithSet(Parameters):
    set: SetParameters = Field(SetParameters(), description="the ambiguity set; a distance alone is its name")


class _WithSlope(_WithSet):
    slope: Slope = Field(
        "exact", description="`exact`, or `{difference: h}`: the forward difference that the published code takes"
    )

    @property
    def difference(self) -> float | None:
        return self.slope.difference if isinstance(self.slope, Difference) else None

    def refuse_infinite(self, why: str) -> None:
        if self.set.name in INFINITE_SLOPE_AT_ZERO:
            raise ValueError(f"the slope of '{self.set.name}' at radius 0 is -inf, {why}; take tv, mmd or wass")


class DistributionallyRobustParameters(_WithSet):
    """DRO: its ambiguity set."""


class DistributionallyRobust(Objective):
    """DRO: the worst expectation over the set."""

    Parameters = DistributionallyRobustParameters

    def over(self, contexts: np.ndarray) -> UncertaintyObjective:
        return UncertaintyObjective.dro(self.parameters.set.over(contexts))


class WorstCaseSensitivityParameters(_WithSlope):
    """WCS: its distance and how the slope is taken; the radius does not matter."""

    @pydantic.model_validator(mode="after")
    def _finite(self) -> Self:
        self.refuse_infinite("so that WCS is")
        return self


class WorstCaseSensitivity(Objective):
    """WCS: the slope of the worst-case expectation at radius 0."""

    Parameters = WorstCaseSensitivityParameters

    def over(self, contexts: np.ndarray) -> UncertaintyObjective:
        return UncertaintyObjective.wcs(self.parameters.set.over(contexts), difference=self.parameters.difference)


class MeanRiskParameters(_WithSlope):
    """MR: its distance, how the slope is taken, and the weight of risk."""

    beta: NotNegative = Field(1.0, description="weight of the slope")

    @pydantic.model_validator(mode="after")
    def _finite(self) -> Self:
        self.refuse_infinite("so that MR is")
        return self


class MeanRisk(Objective):
    """MR: the expectation plus beta times the slope at radius 0."""

    Parameters = MeanRiskParameters

    def over(self, contexts: np.ndarray) -> UncertaintyObjective:
        settings = self.parameters
        return UncertaintyObjective.mr(settings.set.over(contexts), settings.beta, difference=settings.difference)


class GeneralParameters(_WithSlope):
    """GEN: its ambiguity set, how the slope is taken, and both weights."""

    alpha: NotNegative = Field(1.0, description="weight of the worst-case expectation")
    beta: NotNegative = Field(1.0, description="weight of its slope at the radius")

    @pydantic.model_validator(mode="after")
    def _finite(self) -> Self:
        if self.beta > 0.0 and self.set.radius == 0.0:
            self.refuse_infinite("so that GEN at radius 0 is")
        return self


class General(Objective):
    """GEN: alpha times the worst-case expectation plus beta times its slope (Tay et al. 2024)."""

    Parameters = GeneralParameters

    def over(self, contexts: np.ndarray) -> UncertaintyObjective:
        settings = self.parameters
        ambiguity_set = settings.set.over(contexts)
        return UncertaintyObjective.gen(ambiguity_set, settings.alpha, settings.beta, difference=settings.difference)


class SatisficingParameters(_WithSet):
    """RS: its distance and the aspiration; the radius does not matter."""

    tau: Number = Field(description="aspiration, in units of the payoff")


class Satisficing(Objective):
    """RS: the slope of the least steep line from (0, tau) below the worst-case expectation."""

    Parameters = SatisficingParameters

    def over(self, contexts: np.ndarray) -> UncertaintyObjective:
        return UncertaintyObjective.rs(self.parameters.set.over(contexts), self.parameters.tau)
