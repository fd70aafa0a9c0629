"""DRO-BO with phi-divergences: closed forms over continuous contexts (after the abstract of Husain et al., 2023).

UCB-BOCU-KDE solves the finite game on the sampled contexts exactly, for every divergence. This one takes the closed
forms of `acquisition.closed_forms`, for `chi2`, `chi2mod` and `tv`: no solver, and a penalty that goes on growing
where the exact worst case has reached the least payoff. On grids they are `sensitivity-approximation`; for `kl`, whose
dual has one variable left, take `ucb-bocu-kde`, which solves it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bocu.core.about import About, Look
from bocu.core.errors import BocuError
from bocu.core.parameters import Parameters
from bocu.core.rounds import CONTINUOUS, Round
from bocu.learners.acquisition.base import Functional
from bocu.learners.acquisition.closed_forms import MeanLessDeviation, MeanLessRange
from bocu.learners.algorithms.confidence_density import UCBDensity, UCBDensityParameters
from bocu.robust.ambiguity.divergences.chi_squared import ChiSquared, ModifiedChiSquared
from bocu.robust.objectives.functions import DistributionallyRobustParameters, Slice

if TYPE_CHECKING:
    from bocu.learners.surrogates.continuous.model import Posterior

CLOSED = ("chi2", "chi2mod", "tv")


class ClosedFormParameters(UCBDensityParameters):
    """As those of UCB-BOCU-KDE; `others` also are where total variation looks for the largest payoff."""

    def unfit(self, name: str, objective: Parameters) -> str:
        if not isinstance(objective, DistributionallyRobustParameters):
            return "closed forms are those of the worst expectation; take dro"
        if objective.set.name not in CLOSED:
            return f"'{objective.set.name}' has no closed form; take {', '.join(CLOSED)}, or ucb-bocu-kde"
        return super().unfit(name, objective)


class ClosedFormDivergence(UCBDensity):
    """The best decision by a closed-form lower bound of the worst expectation of the upper confidence bound."""

    about = About(
        title="DRO-BO-φ (after its abstract)",
        summary="UCB on closed-form lower bounds of the worst expectation within a divergence of the density estimate",
        paper="after the abstract of Husain et al. 2023",
        look=Look("blue", "dotted", "P"),
    )
    protocols = CONTINUOUS
    Parameters = ClosedFormParameters

    def _game(
        self, posteriors: Sequence["Posterior"], round: Round, generator: np.random.Generator
    ) -> tuple[np.ndarray, Functional]:
        points, rule, reference = self._sampled(round, generator, self.parameters.others if self._spreads else 0)
        if not isinstance(rule, Slice):
            raise BocuError(f"found {rule}; a worst expectation is wanted")
        ambiguity = rule.ambiguity_set
        if isinstance(ambiguity, ChiSquared | ModifiedChiSquared):
            factor = 2.0 if isinstance(ambiguity, ModifiedChiSquared) else 1.0
            return points, MeanLessDeviation(ambiguity.epsilon, reference, factor)
        return points, MeanLessRange(ambiguity.epsilon, reference)
