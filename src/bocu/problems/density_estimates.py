"""How far density estimates of a context are from its law: table 2 of Huang et al. (2024) as payoffs.

A decision is a number of contexts to estimate from; its payoff is minus the distance of the estimate. A seed draws its
contexts once, so that numbers of contexts are compared on the same draws.
"""

from typing import Literal

import numpy as np
import pydantic
from pydantic import Field

from bocu.core.about import About
from bocu.core.parameters import Count
from bocu.core.randomness import Streams
from bocu.problems.candidates import Lengthscale
from bocu.problems.finite import LENGTHSCALE, FiniteParameters, FiniteProblem
from bocu.problems.given_design import InitialDesign
from bocu.problems.optima import expectation_named
from bocu.robust.contexts.estimates import OBSERVATIONS, KernelDensity, distance_of_estimate
from bocu.robust.contexts.laws import ContextLaw


class EstimateDistancesParameters(FiniteParameters):
    """Parameters of the law; those of the model do not matter."""

    contexts_of: Literal["hartmann-6", "complicated-hartmann"] = Field(
        "hartmann-6", description="problem whose law of the context is estimated"
    )
    decision_points: list[Count] = Field([len(OBSERVATIONS)], description="one for each number of contexts, four")
    context_points: list[Count] = Field([1], description="one: the distance does not depend on a further context")
    initial: InitialDesign = Field(0, description="points of the initial design")
    lengthscale: Lengthscale = Field(0.1, description=LENGTHSCALE)

    @pydantic.field_validator("decision_points", "context_points")
    @classmethod
    def _as_it_is(cls, value: list[int], info: pydantic.ValidationInfo) -> list[int]:
        allowed = [len(OBSERVATIONS) if info.field_name == "decision_points" else 1]
        if value != allowed:
            raise ValueError(f"found {value}; allowed: {allowed}")
        return value


class EstimateDistances(FiniteProblem[EstimateDistancesParameters]):
    """Decisions 0 to 3 estimate from 10, 100, 200 and 300 contexts as drawn, with Silverman's bandwidth."""

    about = About(
        title="Density estimates",
        summary="minus the L1 distance of a density estimate, by the number of contexts that it is made from",
        paper="Huang et al. 2024, table 2",
    )
    Parameters = EstimateDistancesParameters
    decision_names = ("contexts",)
    context_names = ("context",)

    def payoff_table(self, streams: Streams) -> np.ndarray:
        """Return minus the distances, between 0 and 2, shape (4, 1)."""
        law = expectation_named(self.parameters.contexts_of).law
        assert isinstance(law, ContextLaw)
        drawn = law.unclipped().sample(streams["problem"], max(OBSERVATIONS))
        found = [distance_of_estimate(KernelDensity.fit(drawn[:count]), law) for count in OBSERVATIONS]
        return -np.array(found)[:, None]
