"""A steady, a peaked and a flat decision: the synthetic problem of robust satisficing (Saday et al. 2023, section 5).

The paper's function is made by hand and comes with its code, `Bilkent-CYBORG/RoBOS`, as a table; ours are three bumps
that follow it to within 0.025: over 8 decisions in [-3.5, 3.5] and 50 contexts in [-12, 12], here scaled to [0, 1], one
decision is best where the reference N(2, 1) lies, one is nearly as good under it and stays good under the truth
N(0, 5^2), one is worth 0.3 in every context. At the aspiration 0.6 only the first two are feasible, and the second is
the less fragile one. The model is the code's, with length-scale 0.2 for decisions: they know nothing of one another.
"""

import numpy as np
from pydantic import Field

from bocu.core.about import About
from bocu.core.parameters import Count, Positive
from bocu.core.randomness import Streams
from bocu.problems.distributions import Distribution, Normal, NormalParameters, Reference
from bocu.problems.finite import FiniteParameters, FiniteProblem
from bocu.problems.given_design import InitialDesign
from bocu.problems.kirschner import Bump, bump_payoffs

DECISION_WIDTH, CONTEXT_WIDTH = 7.0, 24.0
"""Of the paper's intervals, which are scaled to [0, 1] and whose middle is 0."""

BUMPS = (
    Bump(0.75, 1.0 / 7.0, 0.35 / DECISION_WIDTH, 0.5 - 2.0 / CONTEXT_WIDTH, 7.0 / CONTEXT_WIDTH),
    Bump(0.98, 6.0 / 7.0, 0.7 / DECISION_WIDTH, 0.5 + 2.0 / CONTEXT_WIDTH, 2.5 / CONTEXT_WIDTH),
    Bump(0.35, 3.0 / 7.0, 0.35 / DECISION_WIDTH, 0.5 + 2.0 / CONTEXT_WIDTH, 26.0 / CONTEXT_WIDTH),
)
"""The steady, the peaked and the flat one."""


class SatisficingBumpsParameters(FiniteParameters):
    """Parameters of the function and its model, those of the published code."""

    decision_points: list[Count] = Field([8], description="points of the decision, evenly spaced over [0, 1]")
    context_points: list[Count] = Field([50], description="points of the context, evenly spaced over [0, 1]")
    reference: Reference = Field(
        Normal(normal=NormalParameters(mean=0.5 + 2.0 / CONTEXT_WIDTH, sd=1.0 / CONTEXT_WIDTH)),
        description="reference distribution over the contexts; left out: the paper's N(2, 1), scaled",
    )
    truth: Distribution | list[Distribution] = Field(
        Normal(normal=NormalParameters(mean=0.5, sd=5.0 / CONTEXT_WIDTH)),
        description="distribution that contexts come from; left out: the paper's N(0, 5^2), scaled",
    )
    initial: InitialDesign = Field(
        3,
        description="points of the initial design, drawn uniformly from decisions and contexts; or `{file: ...}`: the "
        "design itself",
    )
    lengthscale: Positive = Field(
        5.0 / CONTEXT_WIDTH, description="length-scale of the model's kernel over contexts, 5 in the paper's units"
    )
    decision_lengthscale: Positive = Field(
        0.2 / DECISION_WIDTH, description="length-scale of the model's kernel over decisions, 0.2 in the paper's units"
    )
    noise: Positive = Field(0.02, description="standard deviation of the observation noise, which algorithms know")


class SatisficingBumps(FiniteProblem[SatisficingBumpsParameters]):
    """The three bumps."""

    about = About(
        title="Steady or peaked",
        summary="a steady, a peaked and a flat decision; the truth is far wider than the reference",
        paper="after Saday et al. 2023",
    )
    Parameters = SatisficingBumpsParameters
    units = "1"
    decision_names = ("decision",)
    decision_units = ("1",)
    context_names = ("context",)
    context_units = ("1",)

    def _lengthscales(self) -> tuple[float, float]:
        return self.parameters.decision_lengthscale, self.parameters.lengthscale

    def payoff_table(self, streams: Streams) -> np.ndarray:
        """Return the same table to every seed."""
        return bump_payoffs(BUMPS, self.decisions[:, 0], self.contexts[:, 0])
