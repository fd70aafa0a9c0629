"""Upper confidence bounds on a grid: UCB-SO, UCB-RO and the three forms of UCB-BOCU (Tay et al. 2024, section 4).

UCB-SO is the UCB of Kirschner et al. (2020), and UCB-BOCU-2 under a DRO objective their DRBO.
"""

from typing import Literal

import numpy as np
from pydantic import Field

from bocu.core.about import About, Look
from bocu.core.errors import BocuError
from bocu.core.parameters import Parameters
from bocu.core.rounds import GRID, Round
from bocu.core.ties import first_best
from bocu.learners.algorithms.finite_base import BoundParameters, UpperConfidenceAlgorithm
from bocu.robust.ambiguity.parameters import sets_that
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
