"""UCB-BOCU-KDE: any uncertainty objective of the upper confidence bound, with continuous decisions and contexts.

Sets of divergences around a continuous reference: Husain et al. (2023, equation 14); UCB under any objective: Tay et
al. (2024, UCB-BOCU-2); the density estimate: Huang et al. (2024). Over M samples in place of the reference these are a
finite problem, which is solved exactly. It is a sample average: a divergence leaves mass on the samples, so that beyond
its largest distance from M equal samples to one alone, log M for `kl` and (M - 1) / 2 for `chi2mod`, a radius changes
nothing any more: the value is the minimum over the samples.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from bocu.core.about import About, Look
from bocu.core.parameters import Integer
from bocu.core.rounds import CONTINUOUS, Round
from bocu.learners.acquisition.base import Functional
from bocu.learners.acquisition.objectives import functional
from bocu.learners.algorithms.botorch_model import BotorchModelParameters
from bocu.learners.algorithms.continuous_base import ModelParameters
from bocu.learners.algorithms.sampled_reference import SampledReference, SampledReferenceParameters
from bocu.robust.objectives.functions import Stochastic

if TYPE_CHECKING:
    from bocu.learners.surrogates.continuous.model import Posterior


class UCBDensityParameters(SampledReferenceParameters):
    """Confidence bound, model, and what stands for the reference."""

    model: ModelParameters | BotorchModelParameters = Field(
        ModelParameters(), description="the Gaussian process of payoffs; or a BoTorch model, such as `botorch-default`"
    )
    reference: Literal["kde", "empirical"] = Field(
        "kde",
        description="`kde`: `samples` draws from a kernel density estimate of the contexts seen; `empirical`: the "
        "contexts seen themselves, whatever `samples` says",
    )
    others: Annotated[Integer, Field(ge=0, le=1_000_000)] = Field(
        128,
        description="scrambled Sobol contexts without reference mass, which a worst case may move mass to; none are "
        "drawn where it cannot, as with divergences and CVaR",
    )


class UCBDensity(SampledReference[UCBDensityParameters]):
    """The best decision by the objective pursued of the upper confidence bound."""

    about = About(
        title="UCB-BOCU-KDE",
        summary="UCB under the objective over a kernel density estimate of the context, or the contexts seen (ours)",
        look=Look("sky", "dotted", "*"),
    )
    protocols = CONTINUOUS
    Parameters = UCBDensityParameters

    def _game(
        self, posteriors: Sequence["Posterior"], round: Round, generator: np.random.Generator
    ) -> tuple[np.ndarray, Functional]:
        points, rule, reference = self._sampled(round, generator, self.parameters.others if self._spreads else 0)
        return points, functional(rule, reference, posteriors[0].scale)

    def _drawn(self, generator: np.random.Generator) -> np.ndarray:
        return self.observed if self.parameters.reference == "empirical" else super()._drawn(generator)

    @property
    def _spreads(self) -> bool:
        """Whether contexts without reference mass can change the value."""
        ambiguity = self._pursued.ambiguity
        if ambiguity is None:
            return not isinstance(self._pursued, Stochastic)
        return getattr(ambiguity.family, "leaves_support", True)
