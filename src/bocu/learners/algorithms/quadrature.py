"""DRBQO: distributionally robust Bayesian quadrature optimisation, under a simulator (Nguyen et al., 2020).

Contexts are a fixed sample, the reference on them uniform, the set `chi2mod`. As in the published code,
`thanhnguyentang/drbqo`: the decision is the best of a sample of the posterior by 1,000 random Fourier features, or now
and then a uniform one; the context is the one of which least is known; recommended is, of the decisions tried, the best
by the posterior mean.
"""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from bocu.core.about import About, Look
from bocu.core.parameters import Integer, Number, Parameters
from bocu.core.rounds import Round
from bocu.learners.algorithms.base import SIMULATOR
from bocu.learners.algorithms.thompson import ThompsonParameters, ThompsonSampling
from bocu.robust.objectives.functions import DistributionallyRobustParameters


class DRBQOParameters(ThompsonParameters):
    """How the posterior is sampled, and how often it is not."""

    posterior: Literal["pathwise", "fourier"] = Field(
        "fourier", description="`pathwise`: exact samples; `fourier`: random Fourier features, redrawn every round"
    )
    features: Annotated[Integer, Field(ge=1, le=1_000_000)] = Field(
        1000, description="number of Fourier features, each counted"
    )
    exploration: Annotated[Number, Field(ge=0.0, le=1.0)] = Field(
        0.1, description="probability with which a decision is drawn uniformly"
    )

    def unfit(self, name: str, objective: Parameters) -> str:
        if not isinstance(objective, DistributionallyRobustParameters):
            return "it pursues a worst expectation; take dro"
        return ""


class DRBQO(ThompsonSampling):
    """The best worst expectation of a sample of the posterior, or a uniform decision."""

    about = About(
        title="DRBQO",
        summary="Thompson sampling of the worst expectation on a simulator, some decisions uniform",
        paper="Nguyen et al. 2020",
        look=Look("orange", "solid", "^"),
    )
    protocols = (SIMULATOR,)  # type: ignore[assignment]
    pursues_objective = True
    Parameters = DRBQOParameters
    parameters: DRBQOParameters

    def _choose(self, round: Round, available: np.ndarray | None) -> int:
        if self.generator.random() < self.parameters.exploration:
            among = np.arange(len(self.posterior.prior.decisions)) if available is None else available
            return int(among[self.generator.integers(len(among))])
        return super()._choose(round, available)

    def recommend(self) -> int:
        return self.best_tried()
