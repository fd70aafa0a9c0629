"""Uncertainty objectives as an experiment file states them: which mathematics of `objectives.functions` is meant.

A class here is all that an objective needs: algorithms pursue it, and runs are scored by it.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Annotated, ClassVar, Generic, Literal, Self, TypeVar, cast

import numpy as np
import pydantic
from pydantic import Field

from bocu.core.about import About
from bocu.core.parameters import NoParameters, NotNegative, Number, Parameters, ParametersType, Positive
from bocu.core.rounds import ANNOUNCED, CONTINUOUS, FINITE, SCALARISED
from bocu.robust.ambiguity.base import AmbiguitySet
from bocu.robust.ambiguity.parameters import SetParameters, StatedSet, by_default, sets_that
from bocu.robust.objectives.functions import UncertaintyObjective


class Difference(Parameters):
    """The slope by a forward difference, as the published code of Tay et al. (2024) has it."""

    difference: Positive = Field(description="step h of (v(epsilon + h) - v(epsilon)) / h, in units of the radius")


Slope = Literal["exact"] | Difference


class Objective(ABC, Generic[ParametersType]):
    """An uncertainty objective of an experiment.

    Attributes:
        ambiguity: its set and radius rule; None where it has no set.
    """

    about: ClassVar[About]
    Parameters: ClassVar[type[Parameters]]

    #: Protocols whose runs it can score.
    protocols: ClassVar[tuple[str, ...]] = ANNOUNCED + CONTINUOUS

    #: Whether values depend on the reference.
    reference_matters: ClassVar[bool] = True

    #: Whether values depend on the radius of its set, where it has one.
    radius_matters: ClassVar[bool] = True

    def __init__(self, parameters: ParametersType) -> None:
        self.parameters = parameters

    @classmethod
    def from_specification(cls, parameters: Mapping[str, object]) -> Self:
        """Build the objective of a run specification."""
        return cls(cast("ParametersType", cls.Parameters.model_validate(parameters)))

    @property
    def ambiguity(self) -> SetParameters | None:
        """Its set and radius rule; None where it has no set."""
        return getattr(self.parameters, "set", None)

    @abstractmethod
    def over(self, contexts: np.ndarray | None) -> UncertaintyObjective:
        """Return the objective over context points of shape (contexts, dimension), at radius 0.

        Args:
            contexts: None where they are no finite set, which objectives without a set do not mind.
        """


class Stochastic(Objective[NoParameters]):
    """SO: the expectation under the reference."""

    about = About(title="SO", summary="stochastic: the expectation under the reference")

    Parameters = NoParameters

    def over(self, contexts: np.ndarray | None) -> UncertaintyObjective:
        return UncertaintyObjective.so()


class Robust(Objective[NoParameters]):
    """RO: the minimum over all contexts."""

    about = About(title="RO", summary="robust: the minimum over all contexts")
    protocols = FINITE + CONTINUOUS + SCALARISED
    reference_matters = False

    Parameters = NoParameters

    def over(self, contexts: np.ndarray | None) -> UncertaintyObjective:
        return UncertaintyObjective.ro()


class ValueAtRiskParameters(Parameters):
    """VaR: its level."""

    alpha: Annotated[Number, Field(ge=0.0, lt=1.0)] = Field(
        0.1, description="fraction of the worst outcomes that is left out of account; 0: the minimum over the support"
    )


class ValueAtRisk(Objective[ValueAtRiskParameters]):
    """VaR: the lowest payoff but for a fraction of the worst outcomes."""

    about = About(
        title="VaR",
        summary="value at risk: the lowest payoff but for the worst fraction alpha of outcomes",
        paper="Nguyen et al. 2021",
    )
    Parameters = ValueAtRiskParameters

    def over(self, contexts: np.ndarray | None) -> UncertaintyObjective:
        return UncertaintyObjective.var(self.parameters.alpha)


class WithSet(Parameters):
    """An objective over an ambiguity set."""

    set: StatedSet = Field(by_default("tv"), description="the ambiguity set; a name alone has its defaults")


class WithSlope(WithSet):
    """An objective that takes the slope of the worst-case expectation in the radius."""

    slope: Slope = Field(
        "exact", description="`exact`, or `{difference: h}`: the forward difference that the published code takes"
    )

    @property
    def difference(self) -> float | None:
        """Step of the difference that stands for the slope; None: the slope is exact."""
        return self.slope.difference if isinstance(self.slope, Difference) else None

    def at_zero(self) -> bool:
        """Whether the slope is taken at radius 0, where it must be finite."""
        return True

    @pydantic.model_validator(mode="after")
    def _finite_slope(self) -> Self:
        if self.at_zero() and not self.set.family.finite_slope_at_zero:
            others = sets_that(lambda family: family.finite_slope_at_zero)
            raise ValueError(
                f"the slope of '{self.set.name}' at radius 0 is -inf, so that the objective is; take {others}"
            )
        return self


WithSetType = TypeVar("WithSetType", bound=WithSet)


class OverASet(Objective[WithSetType]):
    """An objective over an ambiguity set, which its parameters have."""

    @abstractmethod
    def around(self, ambiguity_set: AmbiguitySet) -> UncertaintyObjective:
        """Return the objective over a set."""

    def over(self, contexts: np.ndarray | None) -> UncertaintyObjective:
        return self.around(self.parameters.set.over(contexts))


class DistributionallyRobustParameters(WithSet):
    """DRO: its ambiguity set."""


class DistributionallyRobust(OverASet[DistributionallyRobustParameters]):
    """DRO: the worst expectation over the set."""

    about = About(
        title="DRO",
        summary="distributionally robust: the worst expectation over an ambiguity set",
        paper="Kirschner et al. 2020",
    )
    Parameters = DistributionallyRobustParameters

    def around(self, ambiguity_set: AmbiguitySet) -> UncertaintyObjective:
        return UncertaintyObjective.dro(ambiguity_set)


class WorstCaseSensitivityParameters(WithSlope):
    """WCS: its distance and how the slope is taken; the radius does not matter."""


class WorstCaseSensitivity(OverASet[WorstCaseSensitivityParameters]):
    """WCS: the slope of the worst-case expectation at radius 0."""

    about = About(
        title="WCS",
        summary="worst-case sensitivity: how fast that expectation falls with the radius at 0",
        paper="Tay et al. 2024",
    )
    radius_matters = False
    Parameters = WorstCaseSensitivityParameters

    def around(self, ambiguity_set: AmbiguitySet) -> UncertaintyObjective:
        return UncertaintyObjective.wcs(ambiguity_set, difference=self.parameters.difference)


class MeanRiskParameters(WithSlope):
    """MR: its distance, how the slope is taken, and the weight of risk."""

    beta: NotNegative = Field(1.0, description="weight of the slope")


class MeanRisk(OverASet[MeanRiskParameters]):
    """MR: the expectation plus beta times the slope at radius 0."""

    about = About(
        title="MR",
        summary="mean and risk: expectation plus beta times the sensitivity",
        paper="Tay et al. 2024",
    )
    radius_matters = False
    Parameters = MeanRiskParameters

    def around(self, ambiguity_set: AmbiguitySet) -> UncertaintyObjective:
        settings = self.parameters
        return UncertaintyObjective.mr(ambiguity_set, settings.beta, difference=settings.difference)


class GeneralParameters(WithSlope):
    """GEN: its ambiguity set, how the slope is taken, and both weights."""

    alpha: NotNegative = Field(1.0, description="weight of the worst-case expectation")
    beta: NotNegative = Field(1.0, description="weight of its slope at the radius")

    def at_zero(self) -> bool:
        return self.beta > 0.0 and self.set.radius == 0.0


class General(OverASet[GeneralParameters]):
    """GEN: alpha times the worst-case expectation plus beta times its slope (Tay et al. 2024)."""

    about = About(
        title="GEN",
        summary="general: alpha times the worst expectation plus beta times its slope",
        paper="Tay et al. 2024",
    )
    Parameters = GeneralParameters

    def around(self, ambiguity_set: AmbiguitySet) -> UncertaintyObjective:
        settings = self.parameters
        return UncertaintyObjective.gen(ambiguity_set, settings.alpha, settings.beta, difference=settings.difference)


class SatisficingParameters(WithSet):
    """RS: its distance and the aspiration; the radius does not matter."""

    tau: Number = Field(description="aspiration, in units of the payoff")


class Satisficing(OverASet[SatisficingParameters]):
    """RS: the slope of the least steep line from (0, tau) below the worst-case expectation."""

    about = About(title="RS", summary="robust satisficing at an aspiration tau", paper="Tay et al. 2024")
    radius_matters = False
    Parameters = SatisficingParameters

    def around(self, ambiguity_set: AmbiguitySet) -> UncertaintyObjective:
        return UncertaintyObjective.rs(ambiguity_set, self.parameters.tau)
