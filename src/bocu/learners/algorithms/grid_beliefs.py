"""What is believed of payoffs over a grid of decisions and contexts under each of several candidate priors.

A decision is rated by the objective of its upper confidence bounds over all contexts, as UCB-BOCU-2 does under one
prior (Tay et al. 2024, section 4). Payoffs stand still, or change with time as those of Ziomek et al. (2025) do, each
pair of decision and context being an arm.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.plain import State
from bocu.core.rounds import Context, Decision, Round
from bocu.core.ties import first_best
from bocu.learners.algorithms.beliefs import Beliefs, Offers
from bocu.learners.surrogates.grid import GridPosterior, GridPrior
from bocu.learners.surrogates.time_varying import TimeVaryingPosteriors
from bocu.robust.objectives.functions import UncertaintyObjective


class GridOffers(Offers):
    """Ratings of a round's tables of payoffs, worked out for the priors that are asked after.

    Args:
        rule: what rates a table, at the radius of the round.
        round: what is announced.
        available: indices of the decisions; None: all of them.
        table: payoffs under the prior of an index, shape (decisions, contexts).
    """

    def __init__(
        self,
        rule: UncertaintyObjective,
        round: Round,
        available: np.ndarray | None,
        table: Callable[[int], np.ndarray],
    ) -> None:
        if round.reference is None:
            raise BocuError(f"round {round.t}: reference: none is announced; one over the contexts is wanted")
        self._rule = rule
        self._reference = round.reference
        self._available = available
        self._table = table

    def first_best(self, priors: Sequence[int] | np.ndarray) -> tuple[int, int]:
        best = [self._rule.argmax(self._payoffs(int(prior)), self._reference) for prior in priors]
        first = first_best([offer.value for offer in best])
        return int(priors[first]), self._index(best[first].index)

    def best_on_average(self, weights: np.ndarray) -> int:
        trusted = np.flatnonzero(weights)  # a rating may be -inf, whose product with 0 is no number
        if len(trusted) == 1:
            return self.first_best(trusted)[1]
        tables = [(weights[prior], self._payoffs(int(prior))) for prior in trusted]
        averaged = sum(weight * self._rule(table, self._reference) for weight, table in tables)
        if np.isneginf(averaged).all():  # an aspiration out of reach: the decision that comes nearest to it
            averaged = sum(weight * (table @ self._reference) for weight, table in tables)
        return self._index(first_best(averaged))

    def _index(self, position: int) -> int:
        return position if self._available is None else int(self._available[position])

    def _payoffs(self, prior: int) -> np.ndarray:
        table = self._table(prior)
        return table if self._available is None else table[self._available]


class GridBeliefs(Beliefs):
    """Beliefs over a grid of decisions and contexts; recommended is the best rated lower confidence bound.

    A posterior's fields over the grid are brought up to date when its prior is asked after, so that a rule that trusts
    one prior pays for one.

    Attributes:
        posteriors: one for each prior.
        rule: what rates a table of payoffs, at a radius that may change from round to round.
    """

    def __init__(self, priors: Sequence[GridPrior], rule: UncertaintyObjective) -> None:
        self.posteriors = [GridPosterior(prior) for prior in priors]
        self.rule = rule
        self.points = priors[0].size
        self.arms = priors[0].shape[0]

    @property
    def log_evidence(self) -> np.ndarray:
        return np.array([posterior.log_evidence() for posterior in self.posteriors])

    def rule_in(self, round: Round) -> UncertaintyObjective:
        """Return the rule at what was announced for a round."""
        return self.rule if round.epsilon is None else self.rule.with_epsilon(round.epsilon)

    def offers(self, round: Round, available: np.ndarray, sqrt_beta: np.ndarray) -> Offers:
        among = None if len(available) == self.arms else available
        return GridOffers(self.rule_in(round), round, among, partial(self._bounds, round, sqrt_beta))

    def moments(self, prior: int, round: Round) -> tuple[np.ndarray, np.ndarray]:
        """Return posterior mean and standard deviation in a round, both of shape (decisions, contexts)."""
        posterior = self.posteriors[prior]
        return posterior.mean(), posterior.deviation()

    def foresee(self, prior: int, decision: Decision, round: Round) -> tuple[np.ndarray, np.ndarray]:
        mean, deviation = self.moments(prior, round)
        return mean[int(decision)].copy(), deviation[int(decision)].copy()

    def rate(self, payoffs: np.ndarray, round: Round) -> float:
        return float(self.rule_in(round)(payoffs[None, :], round.reference)[0])

    def place(self, context: Context) -> int:
        return int(context)

    def observe(self, decision: Decision, context: Context, value: float, t: int) -> None:
        for posterior in self.posteriors:
            posterior.add(int(decision), int(context), value)

    def recommend(self, weights: np.ndarray, round: Round | None, sqrt_beta: np.ndarray) -> int:
        if round is None:
            return 0
        table = partial(self._bounds, round, -sqrt_beta)
        return GridOffers(self.rule_in(round), round, None, table).best_on_average(weights)

    def state(self) -> State:
        return {"posteriors": [posterior.state() for posterior in self.posteriors]}

    def restore(self, state: Mapping[str, Any]) -> None:
        for posterior, stored in zip(self.posteriors, state["posteriors"], strict=True):
            posterior.restore(stored)

    def _bounds(self, round: Round, factors: np.ndarray, prior: int) -> np.ndarray:
        mean, deviation = self.moments(prior, round)
        return mean + factors[prior] * deviation


class DriftingBeliefs(GridBeliefs):
    """Beliefs over a grid whose payoffs change with time: every pair of decision and context is an arm of the priors.

    Args:
        process: of the pairs, of which those of one decision stand together.
        contexts: their number.
        rule: what rates a table of payoffs.
    """

    def __init__(self, process: TimeVaryingPosteriors, contexts: int, rule: UncertaintyObjective) -> None:
        self.process = process
        self.rule = rule
        self.points = self.process.arms
        self.contexts = contexts
        self.arms = self.points // contexts

    @property
    def log_evidence(self) -> np.ndarray:
        return self.process.log_evidence

    def moments(self, prior: int, round: Round) -> tuple[np.ndarray, np.ndarray]:
        mean, deviation = self.process.predict(round.t)
        shape = self.arms, self.contexts
        return mean[prior].reshape(shape), deviation[prior].reshape(shape)

    def observe(self, decision: Decision, context: Context, value: float, t: int) -> None:
        self.process.observe(int(decision) * self.contexts + int(context), t, value)

    def state(self) -> State:
        return self.process.state()

    def restore(self, state: Mapping[str, object]) -> None:
        self.process.restore(dict(state))
