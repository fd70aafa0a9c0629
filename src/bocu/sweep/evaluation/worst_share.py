"""What a decision comes to when things go badly: the mean of the worst outcomes under the true distribution."""

from typing import Annotated

import numpy as np
from pydantic import Field

from bocu.core.about import About
from bocu.core.parameters import Number, Parameters
from bocu.core.rounds import CONTEXTUAL, Situation
from bocu.problems.base import Realisation
from bocu.robust.ambiguity import ConditionalValueAtRisk, worst_case
from bocu.sweep.evaluation.metrics import Metric


class WorstShareParameters(Parameters):
    """How much of the distribution counts as bad."""

    share: Annotated[Number, Field(gt=0.0, le=1.0)] = Field(
        0.1, description="probability of the worst outcomes, such as 0.1 for the worst decile"
    )


class WorstShare(Metric[WorstShareParameters]):
    """Mean payoff of the worst outcomes: contexts, or single situations where contexts gather several of them.

    Source: conditional value at risk, Rockafellar and Uryasev (2000), of the truth and not of a reference.
    """

    about = About(
        title="Worst share of outcomes",
        summary="mean payoff of the worst tenth of outcomes, of single seasons where contexts gather several",
    )
    protocols = CONTEXTUAL
    Parameters = WorstShareParameters
    _realisation: Realisation

    def meet(self, realisation: Realisation) -> None:
        self._realisation = realisation

    def values(self, payoffs: np.ndarray, situation: Situation) -> np.ndarray:
        outcomes, probabilities = self._realisation.outcomes(max(situation.t, 1))
        worst = ConditionalValueAtRisk(self.parameters.share)
        return worst_case(outcomes, probabilities, worst).value

    def same(self, situation: Situation, other: Situation) -> bool:
        return situation.truth is other.truth
