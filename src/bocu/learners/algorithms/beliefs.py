"""What is believed of payoffs under each of several candidate priors, and how decisions are rated under each.

`GridBeliefs`: over a grid of decisions and contexts a decision is rated by the objective of its upper confidence bounds
over all contexts, as UCB-BOCU-2 does under one prior (Tay et al. 2024, section 4); payoffs stand still, or change with
time (`DriftingBeliefs`), each pair of decision and context being an arm. `TimeVaryingBeliefs`: the context is the time
step (Ziomek et al. 2025), arms are finite, and a decision is rated by the upper confidence bound of its payoff now.
`algorithms.box_beliefs` has those where arms are a box.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from bocu.core.errors import BocuError
from bocu.core.parameters import Number
from bocu.core.plain import State
from bocu.core.rounds import Context, Decision, Round
from bocu.core.ties import first_best
from bocu.learners.acquisition.multistart import SearchParameters
from bocu.learners.algorithms.base import AlgorithmParameters, open_decisions
from bocu.learners.algorithms.theorems import Delta
from bocu.learners.surrogates.box_time_varying import SlopeTail
from bocu.learners.surrogates.grid import GridPosterior, GridPrior
from bocu.learners.surrogates.time_varying import TimeVaryingPosteriors
from bocu.robust.objectives.functions import UncertaintyObjective

_SQUARED_PI = math.pi**2
SQRT_BETA: dict[str, Callable[[int, int, float], float]] = {
    "theorem-4.1": lambda arms, t, delta: math.sqrt(2.0 * math.log(2.0 * arms * _SQUARED_PI * t**2 / delta)),
    "theorem-3.1": lambda arms, t, delta: math.sqrt(2.0 * math.log(1.5 * arms * _SQUARED_PI * t**2 / delta)),
    "union-bound": lambda arms, t, delta: math.sqrt(2.0 * math.log(0.5 * arms * _SQUARED_PI * t**2 / delta)),
}
"""Valid choices of sqrt_beta for finitely many points as a function of points, t and delta, from the loosest on:
Theorem 4.1(A) as printed, Theorem 3.1 at a third of delta, and what a union bound over points, times and both tails
needs."""


def squared_noise_bound(noise: float, priors: int, t: int, delta: float) -> float:
    """Return xi_t: the sum of n noise terms stays within sqrt(xi_t n) (Ziomek et al. 2025, Theorem 4.1).

    Args:
        noise: standard deviation of the observation noise, in units of the payoff.
        priors: number of candidate priors.
        t: the round, from 1 on.
        delta: probability with which the bounds may fail.

    Returns:
        ``2 noise^2 log(priors pi^2 t^2 / delta)``, in squared units of the payoff.
    """
    return 2.0 * noise**2 * math.log(priors * _SQUARED_PI * t**2 / delta)


def box_sqrt_beta(t: int, delta: float, slope: SlopeTail, sides: np.ndarray) -> float:
    """Return sqrt_beta of Theorem 4.1(B): for all points of a box at once.

    It is that of ``tau^d`` points in round t at a third of delta, ``tau = d t^2 r b sqrt(log(6 d a / delta))``: a net
    so fine that no payoff changes by more than 1 / t^2 between its points, but with a probability that is counted in
    delta. The print has ``3 d a / (2 delta)`` inside, which may be below 1, and is not what Theorem 3.3 has in its net.

    Args:
        t: the round, from 1 on.
        delta: probability with which the statements may fail.
        slope: tail of the payoff's slope under the prior.
        sides: lengths of the box's sides, shape (d,); r is the largest.

    Raises:
        BocuError: 6 d a is not above delta, so that there is no net.
    """
    dimension = len(sides)
    inside = math.log(6.0 * dimension * slope.a / delta)
    if inside <= 0.0:
        raise BocuError(f"slope tail: a: found {slope.a}; allowed: so large that 6 d a exceeds delta")
    net = dimension * t**2 * float(np.max(sides)) * slope.b * math.sqrt(inside)
    points = dimension * math.log(max(net, 1.0))
    return math.sqrt(2.0 * (math.log(1.5 * _SQUARED_PI * t**2 / delta) + points))


class ConfidenceParameters(AlgorithmParameters):
    """How wide the confidence intervals are, and how an objective's slope is taken."""

    delta: Delta = Field(0.1, description="probability with which the confidence statements may fail")
    confidence: Literal["theorem-4.1", "theorem-3.1", "union-bound"] = Field(
        "theorem-4.1",
        description="rule for sqrt_beta, from the loosest to the tightest; all are valid for finitely many arms, or "
        "pairs of arm and context; in a box of arms Theorem 4.1 is its part B, and the only one",
    )
    sqrt_beta: Annotated[Number, Field(ge=0.0)] | None = Field(
        None, description="a constant multiplier of the standard deviation in place of the rule; null: the rule"
    )
    slope: Literal["exact", "as-pursued"] = Field(
        "exact",
        description="on a grid of contexts: `exact`, whatever the objective states, or as the objective states it",
    )


class SearchedParameters(ConfidenceParameters):
    """Confidence intervals, and the search for the best arm where arms are a box."""

    search: SearchParameters = Field(
        SearchParameters(restarts=20), description="in a box of arms: how the confidence bound is maximised"
    )


class Ratings(ABC):
    """How each prior rates the decisions that are available in a round."""

    @abstractmethod
    def first_best(self, priors: Sequence[int] | np.ndarray) -> tuple[int, Decision]:
        """Return prior and decision of the best rating among `priors`; ties go to the first of each."""

    @abstractmethod
    def best_on_average(self, weights: np.ndarray) -> Decision:
        """Return the decision of the best weighted mean of the priors' ratings; weights of shape (priors,)."""


class Beliefs(ABC):
    """The posteriors of several priors given the same observations.

    Attributes:
        points: number of points that the payoff has in one round: confidence statements hold at all of them.
        arms: number of decisions. Of a box both are 0.
        log_evidence: log density of the observations under each prior, in nats, shape (priors,).
    """

    points: int
    arms: int

    def available(self, round: Round) -> np.ndarray:
        """Return which decisions may be taken: indices, ascending; in a box corners of the open boxes, (boxes, 2, D).

        Raises:
            BocuError: what is announced is none, or not among the decisions.
        """
        available = open_decisions(round, self.arms)
        return np.arange(self.arms) if available is None else available

    def member(self, decision: Decision) -> Decision:
        """Return a decision as it is kept: an index, or coordinates (D,)."""
        return int(decision)

    @property
    @abstractmethod
    def log_evidence(self) -> np.ndarray:
        """The log marginal likelihood of what was observed under every prior, shape (priors,)."""

    def valid_sqrt_beta(self, rule: str, t: int, delta: float, prior: int) -> float:
        """Return the multiplier of a prior's deviation with which confidence statements hold in round `t`.

        Args:
            rule: its name in `SQRT_BETA`.
            t: the round, from 1 on.
            delta: probability with which the statements may fail.
            prior: whose it is.
        """
        return SQRT_BETA[rule](self.points, t, delta)

    @abstractmethod
    def ratings(self, round: Round, available: np.ndarray, sqrt_beta: np.ndarray) -> Ratings:
        """Rate the available decisions by upper bounds `mean + sqrt_beta deviation`.

        Args:
            round: what is announced.
            available: indices, ascending; in a box the corners of the open boxes, shape (boxes, 2, D).
            sqrt_beta: one for each prior, shape (priors,).
        """

    @abstractmethod
    def foresee(self, prior: int, decision: Decision, round: Round) -> tuple[np.ndarray, np.ndarray]:
        """Return posterior mean and standard deviation of a decision's payoff, shape (contexts of the round,)."""

    def rate(self, payoffs: np.ndarray, round: Round) -> float:
        """Return the rating of payoffs over the contexts of a round, shape (contexts,)."""
        raise NotImplementedError(f"{type(self).__name__} has no objective")

    def place(self, context: Context) -> int:
        """Return the place of a context in what `foresee` gives; the only one where it is the time."""
        return 0

    @abstractmethod
    def observe(self, decision: Decision, context: Context, value: float, t: int) -> None:
        """Condition all posteriors on a payoff of round `t`, from 1 on."""

    @abstractmethod
    def recommend(self, weights: np.ndarray, round: Round | None, sqrt_beta: np.ndarray) -> Decision:
        """Return the decision to deploy where priors are trusted by `weights`, shape (priors,)."""

    @abstractmethod
    def state(self) -> State:
        """Return all that the observations left behind."""

    @abstractmethod
    def restore(self, state: State) -> None:
        """Put back what `state` gave, bit for bit."""


class TableRatings(Ratings):
    """Ratings of a round's tables of payoffs, worked out for the priors that are asked after.

    Args:
        rule: what rates a table, at the radius of the round; None: there is one context, and payoffs rate themselves.
        round: what is announced.
        available: indices of the decisions; None: all of them.
        table: payoffs under the prior of an index, shape (decisions, contexts).
    """

    def __init__(
        self,
        rule: UncertaintyObjective | None,
        round: Round,
        available: np.ndarray | None,
        table: Callable[[int], np.ndarray],
    ) -> None:
        if rule is not None and round.reference is None:
            raise BocuError(f"round {round.t}: reference: none is announced; one over the contexts is wanted")
        self._rule = rule
        self._reference: Any = round.reference  # an array wherever there is a rule
        self._available = available
        self._table = table

    def first_best(self, priors: Sequence[int] | np.ndarray) -> tuple[int, int]:
        if self._rule is None:
            ratings = np.concatenate([self._payoffs(int(prior))[:, 0] for prior in priors])
            place, index = divmod(first_best(ratings), len(ratings) // len(priors))
            return int(priors[place]), self._index(index)
        best = [self._rule.argmax(self._payoffs(int(prior)), self._reference) for prior in priors]
        first = first_best([one.value for one in best])
        return int(priors[first]), self._index(best[first].index)

    def best_on_average(self, weights: np.ndarray) -> int:
        trusted = np.flatnonzero(weights)  # a rating may be -inf, whose product with 0 is no number
        if len(trusted) == 1:
            return self.first_best(trusted)[1]
        tables = [(weights[prior], self._payoffs(int(prior))) for prior in trusted]
        if self._rule is None:
            ratings = np.stack([table[:, 0] for _, table in tables])
            return self._index(first_best(weights[trusted] @ ratings))
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

    rule: UncertaintyObjective | None

    def __init__(self, priors: Sequence[GridPrior], rule: UncertaintyObjective) -> None:
        self.posteriors = [GridPosterior(prior) for prior in priors]
        self.rule = rule
        self.points = priors[0].size
        self.arms = priors[0].shape[0]

    @property
    def log_evidence(self) -> np.ndarray:
        return np.array([posterior.log_evidence() for posterior in self.posteriors])

    def rule_in(self, round: Round) -> UncertaintyObjective | None:
        """Return the rule at what was announced for a round."""
        return self.rule if self.rule is None or round.epsilon is None else self.rule.with_epsilon(round.epsilon)

    def ratings(self, round: Round, available: np.ndarray, sqrt_beta: np.ndarray) -> Ratings:
        among = None if len(available) == self.arms else available
        return TableRatings(self.rule_in(round), round, among, partial(self._bounds, round, sqrt_beta))

    def moments(self, prior: int, round: Round) -> tuple[np.ndarray, np.ndarray]:
        """Return posterior mean and standard deviation in a round, both of shape (decisions, contexts)."""
        posterior = self.posteriors[prior]
        return posterior.mean(), posterior.deviation()

    def foresee(self, prior: int, decision: Decision, round: Round) -> tuple[np.ndarray, np.ndarray]:
        mean, deviation = self.moments(prior, round)
        return mean[int(decision)].copy(), deviation[int(decision)].copy()

    def rate(self, payoffs: np.ndarray, round: Round) -> float:
        rule = self.rule_in(round)
        return float(payoffs[0] if rule is None else rule(payoffs[None, :], round.reference)[0])

    def place(self, context: Context) -> int:
        return int(context)

    def observe(self, decision: Decision, context: Context, value: float, t: int) -> None:
        for posterior in self.posteriors:
            posterior.add(int(decision), int(context), value)

    def recommend(self, weights: np.ndarray, round: Round | None, sqrt_beta: np.ndarray) -> int:
        if round is None:
            return 0
        table = partial(self._bounds, round, -sqrt_beta)
        return TableRatings(self.rule_in(round), round, None, table).best_on_average(weights)

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
        rule: what rates a table of payoffs; None: there is one context.
    """

    def __init__(self, process: TimeVaryingPosteriors, contexts: int, rule: UncertaintyObjective | None) -> None:
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


class TimeVaryingBeliefs(DriftingBeliefs):
    """Beliefs where the context is the time step itself; recommended is the decision of the highest mean now."""

    def __init__(self, posteriors: TimeVaryingPosteriors) -> None:
        super().__init__(posteriors, 1, None)

    def place(self, context: Context) -> int:
        return 0

    def observe(self, decision: Decision, context: Context, value: float, t: int) -> None:
        super().observe(decision, 0, value, int(context))

    def recommend(self, weights: np.ndarray, round: Round | None, sqrt_beta: np.ndarray) -> int:
        return first_best(weights @ self.process.predict(self.process.time)[0])
