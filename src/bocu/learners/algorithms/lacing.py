"""V-UCB and CV-UCB: value at risk and its mean on a simulator, contexts by lacing values (Nguyen et al., 2021).

Sources: Nguyen, Dai, Low and Jaillet, "Value-at-risk optimization with Gaussian processes" (ICML 2021) and "Optimizing
conditional value-at-risk of black-box functions" (NeurIPS 2021), by their published code, `qphong/BayesOpt-LV`. The
decision is the best by the upper confidence bound u; the context a lacing value, one whose interval from l to u covers
the risk measure's, from that of l to that of u; of several the one of most probability. Recommended is, of the
decisions tried, the best by the posterior mean.
"""

from abc import abstractmethod
from typing import Annotated

import numpy as np
from pydantic import Field

from bocu.core.about import About, Look
from bocu.core.errors import BocuError
from bocu.core.parameters import Number, Parameters
from bocu.core.rounds import Context, Decision, Round
from bocu.core.ties import first_best
from bocu.learners.algorithms.base import SIMULATOR
from bocu.learners.algorithms.finite_base import BoundParameters, UpperConfidenceAlgorithm
from bocu.robust.ambiguity.conditional_value_at_risk import ConditionalValueAtRisk
from bocu.robust.objectives.functions import (
    DistributionallyRobustParameters,
    Quantile,
    Slice,
    UncertaintyObjective,
    ValueAtRiskParameters,
)

_ROUNDING = 1e-9  # of bounds, in posterior standard deviations, and of probabilities


class LacingParameters(BoundParameters):
    """How wide the bounds are; the level is the objective's."""

    sqrt_beta: Annotated[Number, Field(ge=0.0)] = Field(
        3.0,
        description="multiplier of the posterior standard deviation in confidence bounds; 3 as in the published code",
    )


class VUCBParameters(LacingParameters):
    """Parameters of V-UCB."""

    def unfit(self, name: str, objective: Parameters) -> str:
        return "" if isinstance(objective, ValueAtRiskParameters) else "it pursues a value at risk; take var"


class CVUCBParameters(LacingParameters):
    """Parameters of CV-UCB."""

    def unfit(self, name: str, objective: Parameters) -> str:
        cvar = isinstance(objective, DistributionallyRobustParameters) and objective.set.name == "cvar"
        return "" if cvar else "it pursues a conditional value at risk; take dro over cvar"


class _LacingAlgorithm(UpperConfidenceAlgorithm[LacingParameters]):
    """The objective of the upper bound, and a lacing value for its context."""

    protocols = (SIMULATOR,)
    pursues_objective = True
    Parameters = LacingParameters

    def choose_context(self, decision: Decision, round: Round) -> Context:
        """Choose the lacing value of most probability; of equal ones the lowest index."""
        mean, deviation = self._moments(int(decision))
        width = self.parameters.sqrt_beta * deviation
        lower, upper, reference = mean - width, mean + width, self.reference(round)
        level = self._level(lower, upper, reference)
        slack = _ROUNDING * float(deviation.max())
        lacing = (lower <= level(lower, reference) + slack) & (upper >= level(upper, reference) - slack)
        return first_best(np.where(lacing, reference, -1.0))

    def recommend(self) -> int:
        return self.best_tried()

    @abstractmethod
    def _level(self, lower: np.ndarray, upper: np.ndarray, reference: np.ndarray) -> Quantile:
        """Return the value at risk whose interval is to be laced; all arrays of shape (contexts,)."""


class VUCB(_LacingAlgorithm):
    """The best value at risk of the upper bound."""

    about = About(
        title="V-UCB",
        summary="UCB on the value at risk on a simulator, contexts by lacing values",
        paper="Nguyen et al. 2021",
        look=Look("purple", "dotted", "o"),
    )
    Parameters = VUCBParameters

    def _rule(self) -> UncertaintyObjective:
        rule = self._pursued()
        if not isinstance(rule, Quantile):
            raise BocuError(f"found {rule}; a value at risk is wanted")
        return rule

    def _level(self, lower: np.ndarray, upper: np.ndarray, reference: np.ndarray) -> Quantile:
        assert isinstance(self.rule, Quantile)
        return self.rule


class CVUCB(_LacingAlgorithm):
    """The best conditional value at risk of the upper bound; laced is the widest value at risk up to its level."""

    about = About(
        title="CV-UCB",
        summary="UCB on the conditional value at risk on a simulator, contexts by lacing values",
        paper="Nguyen et al. 2021",
        look=Look("orange", "dotted", "s"),
    )
    Parameters = CVUCBParameters

    def _rule(self) -> UncertaintyObjective:
        rule = self._pursued()
        if not isinstance(rule, Slice) or not isinstance(rule.ambiguity_set, ConditionalValueAtRisk):
            raise BocuError(f"found {rule}; a conditional value at risk is wanted")
        return rule

    def _level(self, lower: np.ndarray, upper: np.ndarray, reference: np.ndarray) -> Quantile:
        assert isinstance(self.rule, Slice)
        assert isinstance(self.rule.ambiguity_set, ConditionalValueAtRisk)
        # Both values at risk are constant between the levels at which one of them steps up.
        steps = np.concatenate([np.cumsum(reference[bound.argsort(kind="stable")]) for bound in (lower, upper)])
        alpha = min(self.rule.ambiguity_set.alpha, 1.0 - _ROUNDING)
        levels = [Quantile(float(step)) for step in np.unique(np.append(steps, 0.0)) if step <= alpha]
        widths = [float(level(upper, reference) - level(lower, reference)) for level in levels]
        return levels[first_best(widths, float(np.abs((lower, upper)).max()))]
