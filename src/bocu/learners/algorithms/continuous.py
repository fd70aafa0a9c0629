"""Continuous decisions under a context that is seen after them, each by its own functional of the upper bound.

GP-UCB (on decisions alone), StableOpt, SBO-KDE and DRBO-KDE (kernel density estimates of the context): Huang et al.
(2024). ERBO and WDRBO (the contexts seen, hedged by how steep payoffs are in them): Micheli et al. (2025), with the
defaults of the published code, `frmicheli/WDRBO`: radius 0.3 / sqrt(i) after i evaluations, with those of the initial
design, slopes at 100 contexts that are drawn once a run, sqrt_beta 1.5. What law those come from is not published: here
a scrambled Sobol sequence. There the ascent follows the mean alone, and its penalty only ranks where ascents end; here
it follows both. Slopes are central differences over a thousandth of the box.
"""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from bocu.core.about import About, Look
from bocu.core.parameters import Count, Integer, NotNegative, Number, later
from bocu.core.randomness import scrambled_sobol
from bocu.core.rounds import CONTINUOUS, Description, Round
from bocu.learners.acquisition.functionals import (
    ExpectedValue,
    MinimumValue,
    SampledTotalVariation,
    SlopePenalty,
    Stencil,
)
from bocu.learners.acquisition.multistart import FEW_ASCENTS, SearchParameters
from bocu.learners.algorithms.base import Pursued
from bocu.learners.algorithms.botorch_model import BotorchDecisionModelParameters
from bocu.learners.algorithms.continuous_base import (
    Contextual,
    ContextualParameters,
    ContinuousAlgorithm,
    ContinuousAlgorithmParameters,
    DecisionModelParameters,
    Game,
    Posteriors,
)
from bocu.robust.contexts.estimates import box_around_mean, effective_number, kde_radius


class GPUCBParameters(ContinuousAlgorithmParameters):
    """Confidence bound, search, and a model of decisions."""

    search: SearchParameters = Field(FEW_ASCENTS, description="how the acquisition function is maximised")
    model: DecisionModelParameters | BotorchDecisionModelParameters = Field(
        DecisionModelParameters(),
        description="the Gaussian process of payoffs over decisions; or a BoTorch model, such as `botorch-default`",
    )


class GPUCB(ContinuousAlgorithm[GPUCBParameters]):
    """The largest upper confidence bound of a model that does not know of contexts."""

    about = About(
        title="GP-UCB",
        summary="GP-UCB on decisions alone (baseline of Huang et al. 2024)",
        look=Look("sky", "dashed", "^"),
    )
    protocols = CONTINUOUS
    Parameters = GPUCBParameters

    def _game(self, posteriors: Posteriors, round: Round, generator: np.random.Generator) -> Game:
        return np.empty((1, 0)), ExpectedValue()


class StableOptContinuousParameters(ContextualParameters):
    """The box, and the points in it."""

    search: SearchParameters = Field(
        SearchParameters(merge=True), description="how the acquisition function is maximised"
    )
    points: Annotated[Integer, Field(ge=1, le=1_000_000)] = Field(
        1024, description="scrambled Sobol points of the box, new ones in every round"
    )
    ddof: Literal[0, 1] = Field(1, description="the standard deviation divides by the number of contexts less this")
    box: Literal["around-mean", "as-published"] = Field(
        "around-mean",
        description="[mean - sd, mean + sd] of the contexts seen, or the box [mean - 3 sd, mean - sd] that the "
        "published code's points fall into",
    )
    clip_box: bool = Field(
        True,
        description="whether [mean - sd, mean + sd] is cut to the context space, before it becomes another box; the "
        "published code does not cut",
    )


class StableOptContinuous(Contextual[StableOptContinuousParameters]):
    """The largest minimum of the upper bound over contexts within a standard deviation of their mean."""

    about = About(
        title="StableOpt",
        summary="StableOpt: UCB on the minimum over a box around the mean of the contexts",
        paper="Huang et al. 2024",
        look=Look("purple", "dash-dot", "v"),
    )
    protocols = CONTINUOUS
    Parameters = StableOptContinuousParameters

    def _game(self, posteriors: Posteriors, round: Round, generator: np.random.Generator) -> Game:
        space = (self.lower, self.upper) if self.parameters.clip_box else (None, None)
        lower, upper = box_around_mean(self.observed, *space, ddof=self.parameters.ddof)
        if self.parameters.box == "as-published":
            lower, upper = 2.0 * lower - upper, lower
        return scrambled_sobol(lower, upper, self.parameters.points, generator), MinimumValue()


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
    window: Count | None = Field(
        None,
        exclude_if=later(None),
        description="the estimate is of so many contexts, the last ones; null: of all",
    )
    discount: Annotated[Number, Field(gt=0.0, le=1.0)] = Field(
        1.0,
        exclude_if=later(1.0),
        description="what a context of the estimate counts, as a share of what the next one does; 1: all alike",
    )

    def weights(self, count: int) -> np.ndarray | None:
        """Return what each of so many contexts counts in the estimate, (count,) of sum 1; None: all alike."""
        if self.discount == 1.0 and (self.window is None or self.window >= count):
            return None
        weights = self.discount ** np.arange(count - 1.0, -1.0, -1.0)
        weights[: max(0, count - (self.window or count))] = 0.0
        return weights / weights.sum()


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

    def _game(self, posteriors: Posteriors, round: Round, generator: np.random.Generator) -> Game:
        weights = self.parameters.weights(len(self.observed))
        samples = self._estimated(self.parameters.samples, generator, weights)
        return samples, ExpectedValue(drafted_on=self.parameters.draft_samples)


class DRBOKDEParameters(SBOKDEParameters):
    """How robust, and against what."""

    radius: Literal["shrinking"] | NotNegative = Field(
        "shrinking",
        description="L1 radius of the set around the estimate: a number, or `shrinking`: t^(-2 / (4 + Dc)) after t "
        "contexts of Dc coordinates, their effective number where some count less",
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

    def _game(self, posteriors: Posteriors, round: Round, generator: np.random.Generator) -> Game:
        weights = self.parameters.weights(len(self.observed))
        samples = self._estimated(self.parameters.samples, generator, weights)
        lower, upper = self.lower, self.upper
        if self.parameters.infimum_over == "as-published":
            lower, upper = 2.0 * lower - upper, lower
        others = scrambled_sobol(lower, upper, self.parameters.infimum_points, generator)
        radius = self.parameters.radius
        if radius == "shrinking":
            count = len(self.observed) if weights is None else effective_number(weights)
            radius = kde_radius(count, self.observed.shape[1])
        functional = SampledTotalVariation(
            radius, len(samples), self.parameters.infimum_of_samples, self.parameters.draft_samples
        )
        return np.concatenate([samples, others]), functional


STEP = 1e-3  #: To either side of a context in differences, in the unit cube.
PUBLISHED_RADIUS = 0.3  #: Of the published code, after one evaluation.


class ERBOParameters(ContextualParameters):
    """As every algorithm with contexts."""


class ERBO(Contextual[ERBOParameters]):
    """The largest mean of the upper bound over the contexts seen."""

    about = About(
        title="ERBO",
        summary="UCB on the mean over the contexts seen",
        paper="Micheli et al. 2025",
        look=Look("orange", "dash-dot", "<"),
    )
    protocols = CONTINUOUS
    Parameters = ERBOParameters

    def _game(self, posteriors: Posteriors, round: Round, generator: np.random.Generator) -> Game:
        return self.observed, ExpectedValue()


class WDRBOParameters(ContextualParameters):
    """How far contexts may move, and where slopes are taken."""

    radius: Literal["shrinking"] | NotNegative = Field(
        "shrinking",
        description="1-Wasserstein radius around the contexts seen, in units of the context: a number, or `shrinking`: "
        "0.3 / sqrt(i) after i evaluations, those of the initial design included",
    )
    points: Annotated[Integer, Field(ge=1, le=1_000_000)] = Field(
        100, description="scrambled Sobol contexts at which slopes are taken, drawn once a run"
    )
    floor: bool = Field(
        False,
        description="whether the value is no less than the smallest payoff in any of these contexts; the published "
        "code's may be",
    )


class WDRBO(Contextual[WDRBOParameters]):
    """The largest mean of the upper bound over the contexts seen, less the radius times its steepest slope."""

    about = About(
        title="WDRBO",
        summary="UCB on a lower bound of the worst expectation within a Wasserstein distance of the contexts seen",
        paper="Micheli et al. 2025",
        look=Look("green", "solid", "D"),
    )
    protocols = CONTINUOUS
    Parameters = WDRBOParameters

    def __init__(
        self, description: Description, objective: Pursued, parameters: WDRBOParameters, generator: np.random.Generator
    ) -> None:
        super().__init__(description, objective, parameters, generator)
        points = scrambled_sobol(self.lower, self.upper, parameters.points, generator)
        self.stencil = Stencil.around(points, STEP, self.contexts.width)

    def _game(self, posteriors: Posteriors, round: Round, generator: np.random.Generator) -> Game:
        seen = len(self.observed)
        stated = self.parameters.radius
        radius = PUBLISHED_RADIUS / np.sqrt(seen) if stated == "shrinking" else stated
        penalty = SlopePenalty(radius, seen, self.stencil, self.parameters.floor)
        return np.concatenate([self.observed, self.stencil.contexts]), penalty
