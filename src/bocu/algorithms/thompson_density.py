"""TS-BOCU with continuous decisions and contexts, over samples of a kernel density estimate.

Thompson sampling under an uncertainty objective (Tay et al., 2024, algorithm 1), its reference the samples that SBO-KDE
(Huang et al., 2024) draws: neither paper has the two together.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import numpy as np
import pydantic
from pydantic import Field

from bocu.acquisition.base import Functional, Surface
from bocu.acquisition.objectives import ObjectiveValue
from bocu.algorithms.base import Pursued
from bocu.algorithms.botorch_model import names_factory
from bocu.algorithms.continuous_base import Contextual, ContinuousAlgorithmParameters, ProductModelParameters
from bocu.contexts.estimates import KernelDensity
from bocu.core.about import About, Look
from bocu.core.errors import BocuError
from bocu.core.parameters import Integer, Parameters
from bocu.core.protocols import CONTINUOUS
from bocu.core.randomness import scrambled_sobol
from bocu.core.rounds import Description, Round, Situation
from bocu.objectives.stated import DistributionallyRobustParameters, GeneralParameters, Objective

if TYPE_CHECKING:
    from bocu.surrogates.continuous.model import Posterior


class ThompsonDensityParameters(ContinuousAlgorithmParameters):
    """How the posterior and the estimate are sampled; `sqrt_beta` does not enter."""

    model: ProductModelParameters = Field(ProductModelParameters(), description="the Gaussian process of payoffs")
    features: Annotated[Integer, Field(ge=1, le=1_000_000)] = Field(
        1024, description="random Fourier features of the prior's sample, which the data then correct exactly"
    )
    samples: Annotated[Integer, Field(ge=1, le=1_000_000)] = Field(
        128, description="draws from the density estimate, new ones in every round, each of the same reference mass"
    )
    others: Annotated[Integer, Field(ge=0, le=1_000_000)] = Field(
        128, description="scrambled Sobol contexts without reference mass, which a worst case may move mass to"
    )

    @pydantic.field_validator("model", mode="before")
    @classmethod
    def _no_factory(cls, data: object) -> object:
        if names_factory(data):
            raise ValueError(
                "samples are drawn from our own model, whose kernel is a product over decisions and contexts; "
                "a BoTorch model is not taken here"
            )
        return data

    def unfit(self, name: str, objective: Parameters) -> str:
        if isinstance(objective, DistributionallyRobustParameters | GeneralParameters):
            radius = objective.set.radius
            if isinstance(radius, str):
                return f"the radius '{radius}' is not known over continuous contexts; give a number, a list or a delta"
        return ""


class ThompsonDensity(Contextual[ThompsonDensityParameters]):
    """The best decision of a payoff function that is sampled from the posterior, by the objective pursued.

    Raises:
        BocuError: the objective is none that an experiment states.
    """

    about = About(
        title="TS-BOCU-KDE",
        summary="Thompson sampling under the objective over a kernel density estimate of the context (ours)",
        look=Look("vermillion", "dash-dot-dot", "X"),
    )
    protocols = CONTINUOUS
    pursues_objective = True
    Parameters = ThompsonDensityParameters

    def __init__(
        self,
        description: Description,
        objective: Pursued,
        parameters: ThompsonDensityParameters,
        generator: np.random.Generator,
    ) -> None:
        super().__init__(description, objective, parameters, generator)
        if not isinstance(objective, Objective):
            raise BocuError(f"found objective {objective!r}; one of bocu.objectives.stated is wanted")
        if reason := self.parameters.unfit("", objective.parameters):
            raise BocuError(reason)
        self._pursued = objective

    def _game(
        self, posteriors: Sequence["Posterior"], round: Round, generator: np.random.Generator
    ) -> tuple[np.ndarray, Functional]:
        drawn = KernelDensity.fit(self.observed, self.lower, self.upper).sample(generator, self.parameters.samples)
        others = scrambled_sobol(self.lower, self.upper, self.parameters.others, generator)
        # Equal contexts, as many as are clipped to a bound, would make distances between distributions degenerate.
        points, owner = np.unique(np.concatenate([drawn, others]), axis=0, return_inverse=True)
        reference = np.bincount(owner.reshape(-1)[: len(drawn)], minlength=len(points)) / len(drawn)
        rule = self._pursued.over(points)
        ambiguity = self._pursued.ambiguity
        if ambiguity is not None and not isinstance(ambiguity.radius, str):
            situation = Situation(round.t, reference, reference, len(self.observed))
            rule = rule.with_epsilon(ambiguity.epsilon(situation, ambiguity.over(points)))
        return points, ObjectiveValue(rule, reference, posteriors[0].scale)

    def _explored(self, posteriors: Sequence["Posterior"], points: np.ndarray, round: Round) -> Surface:
        from bocu.acquisition.samples import SampledSurface

        posterior = posteriors[0]
        waves = posterior.prior_sample(self.parameters.features, self.generator)
        return SampledSurface(posterior, points, waves, self.generator.standard_normal(len(posterior.inputs)))
