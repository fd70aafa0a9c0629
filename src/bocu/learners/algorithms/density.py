"""SBO-KDE and DRBO-KDE: decisions under a kernel density estimate of the context (Huang et al., 2024)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from bocu.core.about import About, Look
from bocu.core.parameters import Integer, NotNegative
from bocu.core.randomness import scrambled_sobol
from bocu.core.rounds import CONTINUOUS, Round
from bocu.learners.acquisition.base import Functional
from bocu.learners.acquisition.functionals import ExpectedValue, SampledTotalVariation
from bocu.learners.algorithms.continuous_base import Contextual, ContextualParameters
from bocu.learners.algorithms.search_parameters import FEW_ASCENTS, SearchParameters
from bocu.robust.contexts.estimates import KernelDensity, kde_radius

if TYPE_CHECKING:
    from bocu.learners.surrogates.continuous.model import Posterior


class SBOKDEParameters(ContextualParameters):
    """How the estimate is sampled."""

    search: SearchParameters = Field(FEW_ASCENTS, description="how the acquisition function is maximised")
    samples: Annotated[Integer, Field(ge=1, le=1_000_000)] = Field(
        1024, description="draws from the density estimate, new ones in every round"
    )
    draft_samples: Annotated[Integer, Field(ge=0, le=1_000_000)] = Field(
        128,
        description="where each sample costs as much as the next, as with many context coordinates, ascents begin on "
        "so many of them and end on all; 0: on all from the beginning",
    )


class SBOKDE(Contextual[SBOKDEParameters]):
    """The mean of the upper bound over samples of the estimate."""

    about = About(
        title="SBO-KDE",
        summary="UCB on the expectation under a kernel density estimate of the context",
        paper="Huang et al. 2024",
        look=Look("vermillion", "dash-dot", "o"),
    )
    protocols = CONTINUOUS
    Parameters = SBOKDEParameters

    def _game(
        self, posteriors: Sequence["Posterior"], round: Round, generator: np.random.Generator
    ) -> tuple[np.ndarray, Functional]:
        return self._sample(generator), ExpectedValue(drafted_on=self.parameters.draft_samples)

    def _sample(self, generator: np.random.Generator) -> np.ndarray:
        estimate = KernelDensity.fit(self.observed, self.lower, self.upper)
        return estimate.sample(generator, self.parameters.samples)


class DRBOKDEParameters(SBOKDEParameters):
    """How robust, and against what."""

    radius: Literal["shrinking"] | NotNegative = Field(
        "shrinking",
        description="L1 radius of the set around the estimate: a number, or `shrinking`: t^(-2 / (4 + Dc)) after t "
        "contexts of Dc coordinates",
    )
    infimum_points: Annotated[Integer, Field(ge=1, le=1_000_000)] = Field(
        1024, description="scrambled Sobol points that stand for all contexts, beside the samples"
    )
    infimum_over: Literal["contexts", "as-published"] = Field(
        "contexts",
        description="box of these points: the context space, or the box [2 lower - upper, lower] of the published code",
    )
    infimum_of_samples: bool = Field(
        True,
        description="whether the infimum is over the samples too; the published code takes it over the points alone, "
        "so that mass may leave a sample for a better context",
    )


class DRBOKDE(SBOKDE):
    """The worst mean of the upper bound over distributions within a total variation distance of the estimate.

    Mass that leaves the samples goes to the worst of all contexts: of the samples and of Sobol points, which are drawn
    once a round. As published it goes to the worst of the Sobol points, and only from samples that are better.
    """

    about = About(
        title="DRBO-KDE",
        summary="UCB on the worst expectation within a total variation of that estimate",
        paper="Huang et al. 2024",
        look=Look("blue", "dash-dot", "s"),
    )
    protocols = CONTINUOUS
    Parameters = DRBOKDEParameters
    parameters: DRBOKDEParameters

    def _game(
        self, posteriors: Sequence["Posterior"], round: Round, generator: np.random.Generator
    ) -> tuple[np.ndarray, Functional]:
        samples = self._sample(generator)
        lower, upper = self.lower, self.upper
        if self.parameters.infimum_over == "as-published":
            lower, upper = 2.0 * lower - upper, lower
        others = scrambled_sobol(lower, upper, self.parameters.infimum_points, generator)
        stated = self.parameters.radius
        radius = kde_radius(*self.observed.shape) if stated == "shrinking" else stated
        functional = SampledTotalVariation(
            radius, len(samples), self.parameters.infimum_of_samples, self.parameters.draft_samples
        )
        return np.concatenate([samples, others]), functional
