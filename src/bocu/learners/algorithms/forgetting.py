"""TV-GP-UCB: one known prior, payoffs that change with time (Bogunovic et al. 2016, as in Ziomek et al. 2025).

The prior is that of a candidate, or the best that the problem knows, which is an oracle's knowledge. Arms are rated by
upper confidence bounds, on a grid of contexts by the objective of these (see `bocu.learners.algorithms.unknown_prior`).
"""

import math
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from bocu.core.about import About, Look, Size, Work, planning_only
from bocu.core.errors import BocuError
from bocu.core.parameters import Number, nearest
from bocu.core.rounds import TIME_VARYING, Decision, Outline
from bocu.learners.algorithms.beliefs import Offers
from bocu.learners.algorithms.prior_confidence import SQRT_BETA, ConfidenceParameters
from bocu.learners.algorithms.unknown_prior import UnknownPriorAlgorithm
from bocu.learners.surrogates.box_time_varying import BoxPrior
from bocu.learners.surrogates.time_varying import TimeVaryingPosteriors, TimeVaryingPrior, drifting

MOST_ARMS = 2_000
"""Or pairs of decision and context: a matrix over all of them is kept."""
BEST, FIRST = "best", "first"


class TVGPUCBParameters(ConfidenceParameters):
    """Which prior is believed in, how fast it forgets, and how wide the bounds are."""

    prior: str = Field(
        FIRST,
        description="the prior that is believed in: label of a candidate; `first`, the first one; or `best`, the best "
        "that the problem knows, as the oracle does",
    )
    confidence: Literal["practice", "finite-arms", "theorem-4.1", "theorem-3.1", "union-bound"] = Field(  # type: ignore[assignment]
        "practice",
        description="rule for sqrt_beta: `practice`, sqrt(0.8 log(4 t)), as Bogunovic et al. (2016) are said to have "
        "it; `finite-arms`, sqrt(2 log(arms pi^2 t^2 / (6 delta))); or a rule of Ziomek et al. (2025)",
    )
    forgetting: Annotated[Number, Field(ge=0.0, le=1.0)] | None = Field(
        None, description="share of the payoff's variance that is new in every round; null: that of the prior"
    )


class TVGPUCB(UnknownPriorAlgorithm[TVGPUCBParameters]):
    """The largest upper confidence bound under one prior whose covariance with the past fades at one rate.

    `chosen_prior` is its index among the candidates, or -1.

    Raises:
        BocuError: the problem has no such prior, or too many pairs of decision and context.
    """

    about = About(
        title="TV-GP-UCB",
        summary="GP-UCB under one prior that forgets at one rate",
        paper="Bogunovic et al. 2016, as in Ziomek et al. 2025",
        look=Look("black", "solid", "s"),
    )
    Parameters = TVGPUCBParameters
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
        return SQRT_BETA[rule](self.surrogate.points, t, delta)

    def _posteriors(self) -> TimeVaryingPosteriors:
        (prior,) = self.priors
        rate = self.parameters.forgetting
        used = prior if rate is None else replace(prior, forgetting=rate)
        return TimeVaryingPosteriors([used], self.description.noise)

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
