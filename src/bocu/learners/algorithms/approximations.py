"""Distributionally robust decisions by cheap approximations of the worst expectation (Tay et al. 2022).

The approximation (see `ambiguity.approximations`) takes the place of the worst expectation of the upper bound.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field

from bocu.core.about import About, Look
from bocu.core.errors import BocuError
from bocu.core.parameters import Parameters
from bocu.core.rounds import GRID
from bocu.learners.algorithms.finite_base import BoundParameters, UpperConfidenceAlgorithm
from bocu.robust.ambiguity.approximations import identity_sensitivity, linearised, minimax_approximation
from bocu.robust.ambiguity.base import AmbiguitySet, worst_case
from bocu.robust.ambiguity.mmd.maximum_mean_discrepancy import MaximumMeanDiscrepancyParameters
from bocu.robust.ambiguity.parameters import sets_that
from bocu.robust.objectives.functions import DistributionallyRobustParameters, Slice, UncertaintyObjective


class ApproximationParameters(BoundParameters):
    """Bounds, and how steep the line of the approximation is."""

    sensitivity: Literal["exact", "identity"] = Field(
        "exact",
        description="sensitivity of the worst expectation at radius 0; `identity`: the published code's stand-in for "
        "`mmd`, its Gram matrix replaced by the identity",
    )

    def unfit(self, name: str, objective: Parameters) -> str:
        if not isinstance(objective, DistributionallyRobustParameters):
            return "only the worst expectation itself is approximated; take dro"
        stated = objective.set
        if stated.family.sensitivity_power is None:
            others = sets_that(lambda family: family.sensitivity_power is not None)
            return f"'{stated.name}' has no such approximation; take {others}"
        if self.sensitivity == "identity" and not isinstance(stated, MaximumMeanDiscrepancyParameters):
            return f"the sensitivity `identity` stands in for that of mmd, not of '{stated.name}'"
        return ""


@dataclass(frozen=True)
class Approximation(UncertaintyObjective):
    """An approximation of DRO; where the radius is infinite the floor itself, which needs none.

    Attributes:
        ambiguity_set: the ambiguity set.
        identity: whether the sensitivity is that of the identity in place of the Gram matrix.
    """

    ambiguity_set: AmbiguitySet
    identity: bool

    def __call__(self, payoffs: Any, reference: Any) -> Any:
        """Return the approximations, shape (..., decisions), of payoffs (..., decisions, contexts)."""
        if np.isinf(self.ambiguity_set.epsilon):
            return worst_case(payoffs, reference, self.ambiguity_set).value
        return self._approximate(payoffs, reference, identity_sensitivity(payoffs) if self.identity else None)

    def with_epsilon(self, epsilon: float) -> Self:
        """Approximate at another radius."""
        return replace(self, ambiguity_set=self.ambiguity_set.with_epsilon(epsilon))

    @abstractmethod
    def _approximate(self, payoffs: object, reference: object, sensitivities: object) -> Any:
        """Approximate at a finite radius."""


class Linearisation(Approximation):
    """The line of the sensitivity: a lower bound."""

    def _approximate(self, payoffs: Any, reference: Any, sensitivities: Any) -> Any:
        return linearised(payoffs, reference, self.ambiguity_set, sensitivities=sensitivities)


class Minimax(Approximation):
    """The middle between the lower and the upper line."""

    def _approximate(self, payoffs: Any, reference: Any, sensitivities: Any) -> Any:
        return minimax_approximation(payoffs, reference, self.ambiguity_set, sensitivities=sensitivities)


class ApproximatedRobustness(UpperConfidenceAlgorithm[ApproximationParameters]):
    """The best decision by an approximation of the worst expectation of the upper bound."""

    Parameters = ApproximationParameters
    approximation: ClassVar[type[Approximation]]

    def _rule(self) -> UncertaintyObjective:
        objective = self._pursued()
        if not isinstance(objective, Slice) or objective.beta != 0.0:
            raise BocuError(f"found {objective}; DRO is wanted")
        return self.approximation(objective.ambiguity_set, self.parameters.sensitivity == "identity")


class SensitivityApproximation(ApproximatedRobustness):
    """The worst expectation by its linearisation at radius 0."""

    about = About(
        title="Sensitivity approximation",
        summary="UCB on the linearised worst expectation",
        paper="Tay et al. 2022",
        look=Look("sky", "long-dash", "p"),
    )
    protocols = GRID
    pursues_objective = True
    approximation = Linearisation


class MinimaxApproximation(ApproximatedRobustness):
    """The worst expectation by the minimax approximation."""

    about = About(
        title="Minimax approximation",
        summary="UCB on the minimax approximation of the worst expectation",
        paper="Tay et al. 2022",
        look=Look("orange", "dash-dot-dot", "X"),
    )
    protocols = GRID
    pursues_objective = True
    approximation = Minimax
