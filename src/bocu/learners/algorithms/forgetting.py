"""One known prior, payoffs that change with time: TV-GP-UCB, R-GP-UCB, SW-GP-UCB and W-GP-UCB.

TV-GP-UCB (Bogunovic et al. 2016) lets the prior's covariance with the past fade; the others believe in payoffs that
stand still and forget what they were told (`surrogates.forgetful`). TV-GP-UCB's kernel is that of Ziomek et al.
(2025, section 2). Of the other papers (Bogunovic et al. 2016; Zhou and Shroff 2021; Deng et al. 2022) only abstracts
and other people's code were read: rules for blocks, windows, weights and multipliers are as generally known.

The prior is that of a candidate, or the best that the problem knows, which is an oracle's knowledge. Arms are rated by
upper confidence bounds, on a grid of contexts by the objective of these (see `bocu.learners.algorithms.unknown_prior`).
"""

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, Literal, Self, TypeVar

import numpy as np
import pydantic
from pydantic import Field

from bocu.core.about import About, Look
from bocu.core.costs import Size, Work, planning_only
from bocu.core.errors import BocuError
from bocu.core.parameters import Count, Number, Positive, nearest
from bocu.core.protocols import TIME_VARYING
from bocu.core.rounds import Decision, Outline
from bocu.learners.algorithms.beliefs import Offers
from bocu.learners.algorithms.prior_confidence import SQRT_BETA, ConfidenceParameters
from bocu.learners.algorithms.unknown_prior import UnknownPriorAlgorithm
from bocu.learners.surrogates.box_time_varying import BoxPrior
from bocu.learners.surrogates.forgetful import Fading, ForgetfulPosteriors, InformationGain, Memory, Restarts, Window
from bocu.learners.surrogates.time_varying import ArmPosteriors, TimeVaryingPosteriors, TimeVaryingPrior, drifting

MOST_ARMS = 2_000
"""Or pairs of decision and context: a matrix over all of them is kept."""
BEST, FIRST = "best", "first"
WINDOW, RATE = 20, 0.95
"""Observations kept, and the factor by which weights fall, where neither they nor a variation are stated: ours."""


class KnownPriorParameters(ConfidenceParameters):
    """Which prior is believed in, and how wide the bounds are."""

    prior: str = Field(
        FIRST,
        description="the prior that is believed in: label of a candidate; `first`, the first one; or `best`, the best "
        "that the problem knows, as the oracle does",
    )
    confidence: Literal["practice", "finite-arms", "norm", "theorem-4.1", "theorem-3.1", "union-bound"] = Field(  # type: ignore[assignment]
        "practice",
        description="rule for sqrt_beta: `practice`, sqrt(0.8 log(4 t)), as Bogunovic et al. (2016) are said to have "
        "it; `finite-arms`, sqrt(2 log(arms pi^2 t^2 / (6 delta))); `norm`, norm + sqrt(2 (gain + 1 + log(1 / delta))) "
        "with the most that what is remembered can tell; or a rule of Ziomek et al. (2025)",
    )
    norm: Positive = Field(1.0, description="bound on the payoff's norm in the kernel's space, for `confidence: norm`")

    def unused(self) -> Mapping[str, str]:
        known = super().unused()
        if self.sqrt_beta is None and self.confidence == "norm":
            return known
        return {**known, "norm": "it enters `confidence: norm` alone"}


class FadingCovarianceParameters(KnownPriorParameters):
    """Parameters of TV-GP-UCB."""

    forgetting: Annotated[Number, Field(ge=0.0, le=1.0)] | None = Field(
        None, description="share of the payoff's variance that is new in every round; null: that of the prior"
    )


class VariationParameters(KnownPriorParameters):
    """How far payoffs move in how many rounds, where what is remembered follows from it."""

    variation: Positive | None = Field(
        None, description="sum over all rounds of the norms of the payoff's changes, in the kernel's space"
    )
    horizon: Count | None = Field(None, description="rounds that it is the sum over")

    @pydantic.model_validator(mode="after")
    def _together(self) -> Self:
        if (self.variation is None) != (self.horizon is None):
            raise ValueError("variation and horizon go together: state both, or neither")
        return self


class RestartParameters(VariationParameters):
    """Parameters of R-GP-UCB."""

    every: Count | None = Field(
        None,
        description="rounds after which all is forgotten; null: by `variation`, or else 12 forgetting^(-1/4) of the "
        "prior, rounded up, where nothing is forgotten by a prior that forgets nothing",
    )


class WindowParameters(VariationParameters):
    """Parameters of SW-GP-UCB."""

    window: Count | None = Field(
        None, description="newest observations that are kept; null: by `variation`, or else 20, which is ours"
    )


class WeightParameters(VariationParameters):
    """Parameters of W-GP-UCB."""

    rate: Annotated[Number, Field(gt=0.0, le=1.0)] | None = Field(
        None,
        description="factor by which the weight of an observation falls every round; null: by `variation`, or else "
        "0.95, which is ours",
    )
    deviation: Literal["squared-weights", "weights"] = Field(
        "squared-weights", description="what the standard deviation is reckoned with; means have the weights themselves"
    )


Known = TypeVar("Known", bound=KnownPriorParameters)
Varied = TypeVar("Varied", bound=VariationParameters)


class KnownPriorAlgorithm(UnknownPriorAlgorithm[Known]):
    """Upper confidence bounds under one prior. `chosen_prior` is its index among the candidates, or -1.

    Raises:
        BocuError: the problem has no such prior, or too many pairs of decision and context.
    """

    boxes = False
    protocols = (*TIME_VARYING, "general", "data-driven")  # type: ignore[assignment]

    @classmethod
    @planning_only
    def refuses(cls, protocol: str, outline: Outline) -> str:
        stands = protocol not in TIME_VARYING and not outline.drifting
        return super().refuses(protocol, outline) or ("its payoffs stand still" if stands else "")

    @classmethod
    def check(cls, parameters: Any, outline: Outline) -> None:
        labels = outline.priors
        if labels is not None and parameters.prior not in (BEST, FIRST, *labels):
            raise BocuError(f"prior: no candidate '{parameters.prior}'; {nearest(parameters.prior, [BEST, *labels])}")

    @classmethod
    @planning_only
    def work(cls, parameters: Any, size: Size, rounds: int) -> Work:
        return super().work(parameters, replace(size, priors=1, kernels=1, arms=size.points, contexts=1), rounds)

    def valid_sqrt_beta(self, t: int, prior: int = 0) -> float:
        delta, rule = self.parameters.delta, self.parameters.confidence
        if rule == "practice":
            return math.sqrt(0.8 * math.log(4.0 * t))
        if rule == "finite-arms":
            return math.sqrt(2.0 * math.log(self.surrogate.points * math.pi**2 * t**2 / (6.0 * delta)))
        if rule == "norm":
            gain = self.gain.of(self._remembered(t))
            return self.parameters.norm + math.sqrt(2.0 * (gain + 1.0 + math.log(1.0 / delta)))
        return SQRT_BETA[rule](self.surrogate.points, t, delta)

    @cached_property
    def gain(self) -> InformationGain:
        """The most that observations can tell of payoffs that stand still."""
        return InformationGain(self.priors[0], self.description.noise)

    def _remembered(self, t: int) -> int:
        """Return how many observations are remembered in round `t` at most."""
        return t - 1

    def _candidates(self) -> tuple[Any, ...]:
        known = self.description
        label = self.parameters.prior
        if label == BEST:
            if known.best_prior is None:
                raise BocuError("the problem knows no best prior")
            self._source = known.best_prior
        else:
            offered = super()._candidates()
            places = {prior.label: place for place, prior in reversed([*enumerate(offered)])}
            if label != FIRST and label not in places:
                raise BocuError(f"prior: no candidate '{label}'; {nearest(label, [BEST, FIRST, *places])}")
            self._source = offered[0 if label == FIRST else places[label]]
        return (self._over_arms(self._source),)

    def _over_arms(self, prior: Any) -> TimeVaryingPrior:
        if isinstance(prior, TimeVaryingPrior):
            return prior
        if isinstance(prior, BoxPrior):
            raise BocuError(f"prior '{prior.label}' is over a box; one over finitely many arms is wanted")
        if prior.size > MOST_ARMS:
            raise BocuError(f"found {prior.size} pairs of decision and context; allowed: up to {MOST_ARMS} here")
        return drifting(prior, 0.0, prior.label)

    def _indices(self) -> list[int]:
        places = (place for place, prior in enumerate(self.description.priors) if prior is self._source)
        return [next(places, -1)]

    def _choose(self, offers: Offers) -> tuple[int, Decision]:
        return offers.first_best([0])

    def _trust(self) -> np.ndarray:
        return np.ones(1)


class TVGPUCB(KnownPriorAlgorithm[FadingCovarianceParameters]):
    """The largest upper confidence bound under a covariance with the past that fades at one rate."""

    about = About(
        title="TV-GP-UCB",
        summary="GP-UCB under one prior that forgets at one rate",
        paper="Bogunovic et al. 2016, as in Ziomek et al. 2025",
        look=Look("black", "solid", "s"),
    )
    Parameters = FadingCovarianceParameters

    def _posteriors(self) -> ArmPosteriors:
        (prior,) = self.priors
        rate = self.parameters.forgetting
        used = prior if rate is None else replace(prior, forgetting=rate)
        return TimeVaryingPosteriors([used], self.description.noise)


class _Forgetting(KnownPriorAlgorithm[Varied]):
    """Believes in payoffs that stand still, and forgets."""

    def _posteriors(self) -> ArmPosteriors:
        return ForgetfulPosteriors(self.priors[0], self.description.noise, self._memory())

    @abstractmethod
    def _memory(self) -> Memory:
        """Return what is remembered in which round."""

    def _varied(self) -> tuple[float, float]:
        """Return the gain of all rounds, in nats, and rounds over variation."""
        horizon, variation = self.parameters.horizon, self.parameters.variation
        assert horizon is not None
        assert variation is not None
        return self.gain.of(horizon), horizon / variation

    def _block(self) -> int:
        gain, rounds = self._varied()
        return math.ceil(gain**0.25 * math.sqrt(rounds))


class RGPUCB(_Forgetting[RestartParameters]):
    """GP-UCB that starts anew every so many rounds."""

    about = About(
        title="R-GP-UCB (after its abstracts)",
        summary="GP-UCB that forgets everything every so many rounds",
        paper="after the abstracts of Bogunovic et al. 2016 and Zhou and Shroff 2021",
        look=Look("black", "dashed", "D"),
    )
    Parameters = RestartParameters

    @cached_property
    def every(self) -> int | None:
        """Rounds of a block; None: nothing is forgotten."""
        if self.parameters.every is not None:
            return self.parameters.every
        if self.parameters.variation is not None:
            return self._block()
        forgetting = self.priors[0].forgetting
        return math.ceil(12.0 * forgetting**-0.25) if forgetting > 0.0 else None

    def _memory(self) -> Memory:
        return Restarts(self.every)

    def _remembered(self, t: int) -> int:
        return t - 1 if self.every is None else (t - 1) % self.every


class SWGPUCB(_Forgetting[WindowParameters]):
    """GP-UCB on the newest observations."""

    about = About(
        title="SW-GP-UCB (after its abstract)",
        summary="GP-UCB on the newest observations",
        paper="after the abstract of Zhou and Shroff 2021",
        look=Look("black", "dash-dot", "^"),
    )
    Parameters = WindowParameters

    @cached_property
    def window(self) -> int:
        """Observations that are kept."""
        if self.parameters.window is None and self.parameters.variation is not None:
            return self._block()
        return self.parameters.window or WINDOW

    def _memory(self) -> Memory:
        return Window(self.window)

    def _remembered(self, t: int) -> int:
        return min(t - 1, self.window)


class WGPUCB(_Forgetting[WeightParameters]):
    """GP-UCB on observations whose weight falls by a factor every round.

    Raises:
        BocuError: payoffs vary so much that no weight would be left.
    """

    about = About(
        title="W-GP-UCB (after its abstract)",
        summary="GP-UCB on observations whose weight falls every round",
        paper="after the abstract of Deng et al. 2022",
        look=Look("black", "dash-dot-dot", "v"),
    )
    Parameters = WeightParameters

    @cached_property
    def rate(self) -> float:
        """The factor."""
        if self.parameters.rate is not None or self.parameters.variation is None:
            return self.parameters.rate or RATE
        gain, rounds = self._varied()
        rate = 1.0 - gain**-0.25 / math.sqrt(rounds)
        if rate <= 0.0:
            raise BocuError(f"variation: found {self.parameters.variation}; at that weights would fall by {rate:g}")
        return rate

    def _memory(self) -> Memory:
        return Fading(self.rate, squared=self.parameters.deviation == "squared-weights")
