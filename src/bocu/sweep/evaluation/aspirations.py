"""Regret against an aspiration: what falls short of tau, and what does so beyond what was promised (Saday et al. 2023).

Source: "Robust Bayesian satisficing" (NeurIPS 2023) by its published code, `Bilkent-CYBORG/RoBOS`. With p the
reference, p* the truth and d the distance of a set, a round in which x is taken has the lenient regret
``(tau - p*.f(x))_+`` and the robust satisficing regret ``(tau - kappa d(p*, p) - p*.f(x))_+``. Here kappa, the
fragility, is the least over decisions of ``sup_q (tau - q.f) / d(q, p)``, minus the objective RS: a decision of this
fragility loses at most kappa a unit of distance against tau, wherever contexts come from. The code's kappa is found
from a random start by a local search, and may be less; this one is exact.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from bocu.core.about import About
from bocu.core.parameters import Number, Parameters
from bocu.core.rounds import GRID, FiniteDomain, Situation
from bocu.problems.base import Realisation
from bocu.robust.ambiguity.base import AmbiguitySet
from bocu.robust.ambiguity.parameters import StatedSet, by_default
from bocu.robust.objectives.functions import UncertaintyObjective
from bocu.sweep.evaluation.metrics import Metric


class LenientRegretParameters(Parameters):
    """The aspiration, and under which distribution it is to be met."""

    tau: Number = Field(description="aspiration, in units of the payoff")
    under: Literal["reference", "truth"] = Field(
        "truth", description="the distribution that is announced, or the one that contexts come from"
    )


class LenientRegret(Metric[LenientRegretParameters]):
    """Expected payoff; regret is what it falls short of the aspiration by, whatever the best decision is worth."""

    about = About(
        title="Lenient regret",
        summary="what the expected payoff falls short of an aspiration by",
        paper="Saday et al. 2023",
    )
    protocols: ClassVar[tuple[str, ...]] = GRID
    Parameters: ClassVar[type[Parameters]] = LenientRegretParameters

    def score(
        self, realisation: Realisation, situations: Sequence[Situation], decisions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        self.meet(realisation)
        value, aimed = np.empty(len(decisions)), np.empty(len(decisions))
        for rows, payoffs in self._alike(realisation, situations):
            first = situations[rows[0]]
            value[rows] = self.values(payoffs, first)[decisions[rows]]
            aimed[rows] = self.aspiration(payoffs, first)
        return np.maximum(aimed - value, 0.0), value

    def values(self, payoffs: np.ndarray, situation: Situation) -> np.ndarray:
        return payoffs @ np.asarray(getattr(situation, self.parameters.under))

    def aspiration(self, payoffs: np.ndarray, situation: Situation) -> float:
        """Return what a decision is to be worth in a situation, given payoffs (decisions, contexts)."""
        return self.parameters.tau

    def same(self, situation: Situation, other: Situation) -> bool:
        shared = (getattr(situation, name) is getattr(other, name) for name in ("reference", "truth", "available"))
        return all(shared)


class SatisficingRegretParameters(LenientRegretParameters):
    """The aspiration, and how far the truth is from the reference."""

    set: StatedSet = Field(by_default("mmd"), description="whose distance it is; its radius does not matter")


class SatisficingRegret(LenientRegret):
    """Expected payoff; regret is what it falls short of what the least fragile decision promises by."""

    about = About(
        title="Robust satisficing regret",
        summary="what the expected payoff falls short of what the least fragile decision promises by",
        paper="Saday et al. 2023",
    )
    Parameters: ClassVar[type[Parameters]] = SatisficingRegretParameters
    parameters: SatisficingRegretParameters
    _set: AmbiguitySet

    def meet(self, realisation: Realisation) -> None:
        contexts = realisation.description.contexts
        assert isinstance(contexts, FiniteDomain)
        self._set = self.parameters.set.over(contexts.points)

    def aspiration(self, payoffs: np.ndarray, situation: Situation) -> float:
        """Return tau less fragility times distance; minus infinity where no decision meets tau at the reference."""
        distance = float(self._set.distance(situation.truth, situation.reference))
        if distance == 0.0:
            return self.parameters.tau
        available = payoffs if situation.available is None else payoffs[situation.available]
        best = UncertaintyObjective.rs(self._set, self.parameters.tau)(available, situation.reference).max()
        return self.parameters.tau + float(best) * distance
