"""What is believed of payoffs over a grid of decisions and contexts under each of several candidate priors.

A decision is rated by the objective of its upper confidence bounds over all contexts, as UCB-BOCU-2 does under one
prior (Tay et al. 2024, section 4). Payoffs stand still, or change with time as those of Ziomek et al. (2025) do, each
pair of decision and context being an arm.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bocu.algorithms.beliefs import Beliefs, Offers
from bocu.core.errors import BocuError
from bocu.core.rounds import Context, Round
from bocu.objectives.functions import UncertaintyObjective
from bocu.surrogates.grid import GridPosterior, GridPrior
from bocu.surrogates.time_varying import TimeVaryingPosteriors, TimeVaryingPrior


class GridOffers(Offers):
    """Ratings of a round's tables of upper confidence bounds, worked out for the priors that are asked after.

    Args:
        beliefs: the posteriors.
        round: what is announced.
        available: indices of the decisions; None: all of them.
        factor: by which standard deviations are multiplied before they are added to means.
    """

    def __init__(self, beliefs: "GridBeliefs", round: Round, available: np.ndarray | None, factor: float) -> None:
        if round.reference is None:
            raise BocuError(f"round {round.t}: reference: none is announced; one over the contexts is wanted")
        self._beliefs = beliefs
        self._round = round
        self._rule = beliefs.rule_in(round)
        self._reference = round.reference
        self._available = available
        self._factor = factor

    def first_best(self, priors: Sequence[int] | np.ndarray) -> tuple[int, int]:
        best = [self._rule.argmax(self._bounds(int(prior)), self._reference) for prior in priors]
        first = int(np.argmax([offer.value for offer in best])) if len(best) > 1 else 0
        return int(priors[first]), best[first].index

    def best_on_average(self, weights: np.ndarray) -> int:
        trusted = np.flatnonzero(weights)  # a rating may be -inf, whose product with 0 is no number
        if len(trusted) == 1:
            return self.first_best(trusted)[1]
        ratings = [self._rule(self._bounds(int(prior)), self._reference) for prior in trusted]
        return int(np.argmax(sum(weights[prior] * rating for prior, rating in zip(trusted, ratings, strict=True))))

    def _bounds(self, prior: int) -> np.ndarray:
        mean, deviation = self._beliefs.moments(prior, self._round)
        if self._available is not None:
            mean, deviation = mean[self._available], deviation[self._available]
        return mean + self._factor * deviation


class GridBeliefs(Beliefs):
    """Beliefs over a grid of decisions and contexts; recommended is the best rated lower confidence bound.

    A posterior's fields over the grid are brought up to date when its prior is asked after, so that a rule that trusts
    one prior pays for one.

    Attributes:
        posteriors: one for each prior.
        rule: what rates a table of payoffs, at a radius that may change from round to round.
        decisions: their number.
    """

    def __init__(self, priors: Sequence[GridPrior], rule: UncertaintyObjective) -> None:
        self.posteriors = [GridPosterior(prior) for prior in priors]
        self.rule = rule
        self.points = priors[0].size
        self.decisions = priors[0].shape[0]

    @property
    def log_evidence(self) -> np.ndarray:
        return np.array([posterior.log_evidence() for posterior in self.posteriors])

    def rule_in(self, round: Round) -> UncertaintyObjective:
        """Return the rule at what was announced for a round."""
        return self.rule if round.epsilon is None else self.rule.with_epsilon(round.epsilon)

    def offers(self, round: Round, available: np.ndarray, sqrt_beta: float) -> Offers:
        return GridOffers(self, round, None if len(available) == self.decisions else available, sqrt_beta)

    def moments(self, prior: int, round: Round) -> tuple[np.ndarray, np.ndarray]:
        """Return posterior mean and standard deviation in a round, both of shape (decisions, contexts)."""
        posterior = self.posteriors[prior]
        return posterior.mean(), posterior.deviation()

    def foresee(self, prior: int, decision: int, round: Round) -> tuple[np.ndarray, np.ndarray]:
        mean, deviation = self.moments(prior, round)
        return mean[decision].copy(), deviation[decision].copy()

    def rate(self, payoffs: np.ndarray, round: Round) -> float:
        return float(self.rule_in(round)(payoffs[None, :], round.reference)[0])

    def place(self, context: Context) -> int:
        return int(context)

    def observe(self, decision: int, context: Context, value: float, t: int) -> None:
        for posterior in self.posteriors:
            posterior.add(decision, int(context), value)

    def recommend(self, weights: np.ndarray, round: Round | None, sqrt_beta: float) -> int:
        return 0 if round is None else GridOffers(self, round, None, -sqrt_beta).best_on_average(weights)

    def state(self) -> dict[str, Any]:
        return {"posteriors": [posterior.state() for posterior in self.posteriors]}

    def restore(self, state: Mapping[str, Any]) -> None:
        for posterior, stored in zip(self.posteriors, state["posteriors"], strict=True):
            posterior.restore(stored)


class DriftingBeliefs(GridBeliefs):
    """Beliefs over a grid whose payoffs change with time: every pair of decision and context is an arm of the priors.

    Args:
        priors: over pairs, of which those of one decision stand together.
        contexts: their number.
        noise: standard deviation of the observation noise, in units of the payoff.
        rule: what rates a table of payoffs.
    """

    def __init__(
        self, priors: Sequence[TimeVaryingPrior], contexts: int, noise: float, rule: UncertaintyObjective
    ) -> None:
        self.process = TimeVaryingPosteriors(priors, noise)
        self.rule = rule
        self.points = self.process.arms
        self.contexts = contexts
        self.decisions = self.points // contexts

    @property
    def log_evidence(self) -> np.ndarray:
        return self.process.log_evidence

    def moments(self, prior: int, round: Round) -> tuple[np.ndarray, np.ndarray]:
        mean, deviation = self.process.predict(round.t)
        shape = self.decisions, self.contexts
        return mean[prior].reshape(shape), deviation[prior].reshape(shape)

    def observe(self, decision: int, context: Context, value: float, t: int) -> None:
        self.process.observe(decision * self.contexts + int(context), t, value)

    def state(self) -> dict[str, Any]:
        return self.process.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        self.process.restore(dict(state))
