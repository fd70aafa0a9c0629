"""TS-BOCU with continuous decisions and contexts, over samples of a kernel density estimate.

Thompson sampling under an uncertainty objective (Tay et al., 2024, algorithm 1), its reference the samples that SBO-KDE
(Huang et al., 2024) draws: neither paper has the two together.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import numpy as np
import pydantic
from pydantic import Field

from bocu.core.about import About, Look
from bocu.core.parameters import Integer
from bocu.core.rounds import CONTINUOUS, Round
from bocu.learners.acquisition.base import Functional, Surface
from bocu.learners.acquisition.objectives import ObjectiveValue
from bocu.learners.algorithms.botorch_model import names_factory
from bocu.learners.algorithms.continuous_base import ProductModelParameters
from bocu.learners.algorithms.sampled_reference import SampledReference, SampledReferenceParameters

if TYPE_CHECKING:
    from bocu.learners.surrogates.continuous.model import Posterior


class ThompsonDensityParameters(SampledReferenceParameters):
    """How the posterior and the estimate are sampled; `sqrt_beta` does not enter."""

    model: ProductModelParameters = Field(ProductModelParameters(), description="the Gaussian process of payoffs")
    features: Annotated[Integer, Field(ge=1, le=1_000_000)] = Field(
        1024, description="random Fourier features of the prior's sample, which the data then correct exactly"
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


class ThompsonDensity(SampledReference[ThompsonDensityParameters]):
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
    Parameters = ThompsonDensityParameters

    def _game(
        self, posteriors: Sequence["Posterior"], round: Round, generator: np.random.Generator
    ) -> tuple[np.ndarray, Functional]:
        points, rule, reference = self._sampled(round, generator, self.parameters.others)
        return points, ObjectiveValue(rule, reference, posteriors[0].scale)

    def _explored(self, posteriors: Sequence["Posterior"], points: np.ndarray, round: Round) -> Surface:
        from bocu.learners.acquisition.samples import SampledSurface

        posterior = posteriors[0]
        waves = posterior.prior_sample(self.parameters.features, self.generator)
        return SampledSurface(posterior, points, waves, self.generator.standard_normal(len(posterior.inputs)))
