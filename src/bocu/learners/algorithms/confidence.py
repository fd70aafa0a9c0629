"""Upper confidence bounds on a grid: what is rated highest of the bound over all contexts.

UCB-SO, UCB-RO and the forms of UCB-BOCU (Tay et al. 2024, section 4): UCB-SO is the UCB of Kirschner et al. (2020), and
UCB-BOCU-2 under a DRO objective their DRBO. StableOpt as a baseline of distributionally robust optimisation (Kirschner
et al. 2020, section 4). Cheap approximations of the worst expectation, see `ambiguity.approximations` (Tay et al.
2022).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field

from bocu.core.about import About, Look
from bocu.core.errors import BocuError
from bocu.core.parameters import Parameters
from bocu.core.rounds import GRID, Round
from bocu.core.ties import first_best
from bocu.learners.algorithms.finite_base import BoundParameters, UpperConfidenceAlgorithm
from bocu.robust.ambiguity.approximations import identity_sensitivity, linearised, minimax_approximation
from bocu.robust.ambiguity.base import AmbiguitySet, worst_case
from bocu.robust.ambiguity.mmd.maximum_mean_discrepancy import MaximumMeanDiscrepancyParameters
from bocu.robust.ambiguity.parameters import StatedSet, by_default, sets_that
from bocu.robust.contexts.estimates import around_mean
from bocu.robust.objectives.functions import DistributionallyRobustParameters, Slice, UncertaintyObjective, WithSlope


class UCBSO(UpperConfidenceAlgorithm[BoundParameters]):
    """The largest expectation of the upper bound under the reference."""

    about = About(
        title="UCB-SO",
        summary="UCB on the expectation under the reference",
        paper="Kirschner et al. 2020; Tay et al. 2024",
        look=Look("sky", "dash-dot", ">"),
        aliases={"ucb": "UCB"},
    )
    protocols = GRID

    def _rule(self) -> UncertaintyObjective:
        return UncertaintyObjective.so()


class UCBRO(UpperConfidenceAlgorithm[BoundParameters]):
    """The largest minimum of the upper bound over all contexts."""

    about = About(
        title="UCB-RO",
        summary="UCB on the minimum over all contexts",
        paper="Tay et al. 2024",
        look=Look("orange", "dashed", "d"),
    )
    protocols = GRID

    def _rule(self) -> UncertaintyObjective:
        return UncertaintyObjective.ro()


class UCBBOCU1Parameters(BoundParameters):
    """How wide the bounds are; the step of the slope is the objective's."""

    def unfit(self, name: str, objective: Parameters) -> str:
        if isinstance(objective, DistributionallyRobustParameters):
            return ""
        slope = getattr(objective, "slope", None)
        if slope is None:
            return "it has no slope that upper and lower bounds could be combined in"
        # WCS states no weight: it is all slope.
        if slope == "exact" and getattr(objective, "beta", 1.0) > 0.0:
            return "bounds are combined in a finite difference; give the objective `slope: {difference: h}`"
        return ""


class UCBBOCU1(UpperConfidenceAlgorithm[UCBBOCU1Parameters]):
    """UCB-BOCU-1: `alpha v(u, epsilon) + beta (v(u, epsilon + h) - v(l, epsilon)) / h`, u and l upper and lower bound.

    Where the slope has no weight, as in DRO, this is the objective of the upper bound.
    """

    about = About(
        title="UCB-BOCU-1",
        summary="UCB on the objective, its slope a difference between upper and lower bound",
        paper="Tay et al. 2024",
        look=Look("green", "dashed", "v"),
    )
    protocols = GRID
    pursues_objective = True
    Parameters = UCBBOCU1Parameters

    def _rule(self) -> UncertaintyObjective:
        rule = self._pursued()
        if not isinstance(rule, Slice) or (rule.beta > 0.0 and rule.difference is None):
            raise BocuError(f"found {rule}; DRO, or WCS, MR or GEN with a difference are wanted")
        return rule

    def _optimistic(self, mean: np.ndarray, width: np.ndarray, round: Round) -> int:
        rule = self.rule_in(round)
        assert isinstance(rule, Slice)
        if rule.beta == 0.0:
            return self.best(mean + width, round)
        return rule.argmax_from_bounds(mean + width, mean - width, self.reference(round)).index


class UCBBOCUTrueParameters(BoundParameters):
    """How wide the bounds are."""

    def unfit(self, name: str, objective: Parameters) -> str:
        if isinstance(objective, DistributionallyRobustParameters):
            return ""
        if not isinstance(objective, WithSlope):
            return "it has no slope that could be bounded"
        stated = objective.set
        if stated.family.bounds_slopes():
            return ""
        others = sets_that(lambda family: family.bounds_slopes())
        return f"the largest slope between bounds is not known in closed form for '{stated.name}'; take {others}"


class UCBBOCUTrue(UpperConfidenceAlgorithm[UCBBOCUTrueParameters]):
    """The upper bound of Tay et al. (2024, equations 10 and 11), which is what their regret bound is proved of.

    The paper calls it bilevel and runs UCB-BOCU-1 and 2 in its place; under total variation it has a closed form.
    """

    about = About(
        title="UCB-BOCU, true bound",
        summary="the objective's own upper bound, the largest slope of any payoffs between the bounds included",
        paper="Tay et al. 2024",
        look=Look("blue", "long-dash", ">"),
    )
    protocols = GRID
    pursues_objective = True
    Parameters = UCBBOCUTrueParameters

    def _rule(self) -> UncertaintyObjective:
        rule = self._pursued().exact()
        if not isinstance(rule, Slice):
            raise BocuError(f"found {rule}; DRO, WCS, MR or GEN are wanted")
        return rule

    def _optimistic(self, mean: np.ndarray, width: np.ndarray, round: Round) -> int:
        rule, reference = self.rule_in(round), self.reference(round)
        assert isinstance(rule, Slice)
        if rule.beta == 0.0:
            return self.best(mean + width, round)
        return first_best(rule.upper_bound(mean + width, mean - width, reference))


class UCBBOCU2Parameters(BoundParameters):
    """How wide the bound is, and how the objective's slope is taken."""

    slope: Literal["exact", "as-pursued"] = Field(
        "exact",
        description="`exact`, whatever the objective states; or as the objective states it, a forward difference where "
        "the published code is to be followed",
    )


class UCBBOCU2(UpperConfidenceAlgorithm[UCBBOCU2Parameters]):
    """UCB-BOCU-2: the objective of the upper bound, slopes exact unless they are to be as pursued."""

    about = About(
        title="UCB-BOCU-2",
        summary="the objective of the upper bound (Tay et al. 2024); under DRO the DRBO of Kirschner et al. (2020)",
        look=Look("blue", "solid", "<"),
        aliases={"drbo": "DRBO"},
    )
    protocols = GRID
    pursues_objective = True
    Parameters = UCBBOCU2Parameters

    def _rule(self) -> UncertaintyObjective:
        pursued = self._pursued()
        return pursued.exact() if self.parameters.slope == "exact" else pursued


class StableOptParameters(BoundParameters):
    """Bounds, and where the radius comes from."""

    set: StatedSet = Field(
        by_default("mmd"),
        description="distance and radius rule that give the radius, which is then read as a Euclidean distance of "
        "contexts",
    )


class StableOpt(UpperConfidenceAlgorithm[StableOptParameters]):
    """The largest minimum of the upper bound over the contexts within the radius of the reference's mean.

    The context nearest to the mean, of the lowest index, where none is within the radius; all where it is infinite.
    """

    about = About(
        title="StableOpt",
        summary="StableOpt: UCB on the minimum over contexts near the reference's mean",
        paper="Kirschner et al. 2020",
        look=Look("purple", "dashed", "h"),
    )
    protocols = GRID
    Parameters = StableOptParameters

    @property
    def ambiguity(self) -> StatedSet:
        return self.parameters.set

    def rule_in(self, round: Round) -> UncertaintyObjective:
        radius = 0.0 if round.epsilon is None else round.epsilon
        return MinimumOver(around_mean(self.posterior.prior.contexts, self.reference(round), radius))

    def _rule(self) -> UncertaintyObjective:
        return UncertaintyObjective.ro()


@dataclass(frozen=True)
class MinimumOver(UncertaintyObjective):
    """The minimum over some of the contexts, whatever the reference."""

    contexts: np.ndarray  #: their indices.

    def __call__(self, payoffs: object, reference: object) -> Any:
        """Return the minima, shape (..., decisions), of payoffs (..., decisions, contexts)."""
        return np.asarray(payoffs)[..., self.contexts].min(axis=-1)


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
    """An approximation of DRO; where the radius is infinite the floor itself, which needs none."""

    #: of payoffs, reference and set at a finite radius: `linearised`, the line of the sensitivity, a lower bound; or
    #: `minimax_approximation`, the middle between the lower and the upper line.
    approximate: Callable[..., Any]
    ambiguity_set: AmbiguitySet  #: the ambiguity set.
    identity: bool  #: whether the sensitivity is that of the identity in place of the Gram matrix.

    def __call__(self, payoffs: Any, reference: Any) -> Any:
        """Return the approximations, shape (..., decisions), of payoffs (..., decisions, contexts)."""
        if np.isinf(self.ambiguity_set.epsilon):
            return worst_case(payoffs, reference, self.ambiguity_set).value
        steep = identity_sensitivity(payoffs) if self.identity else None
        return self.approximate(payoffs, reference, self.ambiguity_set, sensitivities=steep)

    def with_epsilon(self, epsilon: float) -> Self:
        """Approximate at another radius."""
        return replace(self, ambiguity_set=self.ambiguity_set.with_epsilon(epsilon))


class ApproximatedRobustness(UpperConfidenceAlgorithm[ApproximationParameters]):
    """The best decision by an approximation of the worst expectation of the upper bound."""

    Parameters = ApproximationParameters
    approximation: ClassVar[Callable[..., Any]]

    def _rule(self) -> UncertaintyObjective:
        objective = self._pursued()
        if not isinstance(objective, Slice) or objective.beta != 0.0:
            raise BocuError(f"found {objective}; DRO is wanted")
        kind = type(self).approximation
        return Approximation(kind, objective.ambiguity_set, self.parameters.sensitivity == "identity")


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
    approximation = staticmethod(linearised)


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
    approximation = staticmethod(minimax_approximation)
