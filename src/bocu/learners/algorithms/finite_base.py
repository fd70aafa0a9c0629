"""What the algorithms on a grid of decisions and contexts have in common.

They believe in the Gaussian process that the problem states, rate payoff tables by a rule (an uncertainty objective, or
one of their own) and decide for the best rated decision of some optimistic or sampled table; ties go to the lowest
index. Under the protocol "simulator" they choose the context of largest uncertainty and recommend by the pessimistic
rule of Kirschner et al. (2020, equation 10): the decision whose lower confidence bound was rated highest in its own
round, before its payoff was seen.
"""

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from pydantic import Field

from bocu.core.about import Size, Work, planning_only
from bocu.core.errors import BocuError
from bocu.core.plain import State
from bocu.core.rounds import Context, Decision, Description, FiniteDomain, Round
from bocu.core.ties import first_best
from bocu.learners.algorithms.base import (
    PESSIMISTIC,
    SIMULATOR,
    Algorithm,
    AlgorithmParameters,
    BestTried,
    Pursued,
    Reported,
    announced,
    open_decisions,
    plain_round,
)
from bocu.learners.algorithms.theorems import GridWidth, Knowledge, width
from bocu.learners.surrogates.grid import GridPosterior
from bocu.robust.objectives.functions import UncertaintyObjective


class BoundParameters(AlgorithmParameters):
    """How wide the confidence bounds are."""

    sqrt_beta: GridWidth = Field(
        math.sqrt(2.0),
        description="multiplier of the posterior standard deviation in confidence bounds: a number, or by a theorem, "
        "such as `{theorem: tay-2024}`",
    )


Bounds = TypeVar("Bounds", bound=BoundParameters)


class FiniteAlgorithm(Algorithm[Bounds]):
    """A rule applied to what is believed of a payoff table. Decisions and contexts are indices.

    An observation whose decision was neither asked for nor reinstated informs the posterior, but is never recommended
    under the simulator.

    Attributes:
        posterior: what is known of the payoffs.
        rule: what rates a payoff table, at a radius that may change from round to round.

    Raises:
        BocuError: decisions or contexts are not finite, or the problem states no Gaussian process over them.
    """

    @classmethod
    @planning_only
    def work(cls, parameters: Bounds, size: Size, rounds: int) -> Work:
        distinct = min(rounds / 2, size.arms)  # decisions observed, on average
        counts = {
            "round": rounds,
            "point": size.points * rounds,
            "history": size.points * distinct * rounds,
            "solve": rounds**3 / 3,
        }
        numbers = 12 * size.points + 2 * rounds**2 + 2 * size.arms * min(rounds, size.arms)
        return Work(counts, numbers, tables=rounds)

    def __init__(
        self, description: Description, objective: Pursued, parameters: Bounds, generator: np.random.Generator
    ) -> None:
        super().__init__(description, objective, parameters, generator)
        spaces = description.decisions, description.contexts
        if not all(isinstance(space, FiniteDomain) for space in spaces) or description.model is None:
            raise BocuError("finite decisions and contexts with a Gaussian process over them are wanted")
        self.posterior = GridPosterior(description.model)
        self.rule = self._rule()
        self.simulates = description.protocol == SIMULATOR
        self.reports: tuple[Reported, ...] = (PESSIMISTIC,) if self.simulates else ()
        self._round: Round | None = None
        self._asked: int | None = None
        self._pending = self._told = math.nan
        self._best = BestTried()

    def rule_in(self, round: Round) -> UncertaintyObjective:
        """Return the rule at what was announced for a round."""
        return self.rule if round.epsilon is None else self.rule.with_epsilon(round.epsilon)

    def ask(self, round: Round) -> int:
        self._round = round
        self._asked = self._choose(round, open_decisions(round, len(self.posterior.prior.decisions)))
        if self.simulates:
            mean, deviation = self._moments(self._asked)
            lower = mean - self.sqrt_beta(round) * deviation
            self._pending = float(self.rule_in(round)(lower[None, :], self.reference(round))[0])
        return self._asked

    def choose_context(self, decision: Decision, round: Round) -> Context:
        """Choose the context in which the payoff of the decision is least known."""
        return first_best(self._moments(int(decision))[1])

    def tell(self, decision: Decision, context: Context, value: float) -> None:
        chosen = int(decision)
        self._told = self._pending if self._asked in (None, chosen) else math.nan
        self._asked, self._pending = None, math.nan
        self._best.note(0, chosen, self._told)
        self.posterior.add(chosen, int(context), float(value))

    def report(self) -> dict[str, Any]:
        return {PESSIMISTIC.name: self._told} if self.simulates else {}

    def reinstate(self, report: Mapping[str, Any], round: Round) -> None:
        self._round = round
        self._asked, self._pending = None, float(report.get(PESSIMISTIC.name, math.nan))

    def recommend(self) -> int:
        """Return the decision to deploy; before any round the first one.

        Under the simulator it is one of those tried, by the pessimistic rule; otherwise the best of all by the lower
        confidence bounds of now, at what was announced last.
        """
        if self.simulates or self._round is None:
            return self._best.decision()
        lower = self.posterior.mean() - self.sqrt_beta(self._round) * self.posterior.deviation()
        return self.best(lower, self._round)

    def sqrt_beta(self, round: Round) -> float:
        """Return the multiplier of the posterior standard deviation in a round."""
        stated = self.parameters.sqrt_beta
        if isinstance(stated, float):
            return stated
        prior = self.posterior.prior
        known = Knowledge(
            t=max(1, round.t),
            coordinates=prior.decisions.shape[1],
            decisions=prior.shape[0],
            contexts=prior.shape[1],
            noise=self.description.noise / float(np.min(prior.noise)),
            log_determinant=self.posterior.log_determinant(),
        )
        return width(stated, known)

    def best(self, payoffs: np.ndarray, round: Round) -> int:
        """Find the row of payoffs, shape (decisions, contexts), that the rule rates highest."""
        return self.rule_in(round).argmax(payoffs, self.reference(round)).index

    def best_tried(self) -> int:
        """Return the best of the decisions tried by the posterior mean, at what was announced last; before any, 0."""
        if self._round is None or not self.posterior.count:
            return 0
        tried = np.unique(self.posterior.decisions)
        return int(tried[self.best(self.posterior.mean_of(tried), self._round)])

    def reference(self, round: Round) -> np.ndarray:
        """Return the reference distribution that was announced for a round, shape (contexts,)."""
        if round.reference is None:
            raise BocuError(f"round {round.t}: reference: none is announced; one over the contexts is needed")
        return round.reference

    def state(self) -> State:
        state: State = {"posterior": self.posterior.state(), "best": self._best.state()}
        return state if self._round is None else {**state, "round": plain_round(self._round)}

    def restore(self, state: State) -> None:
        self.posterior.restore(state["posterior"])
        self._best.restore(state["best"])
        self._round = announced(state.get("round"))
        self._asked, self._pending, self._told = None, math.nan, math.nan

    @abstractmethod
    def _rule(self) -> UncertaintyObjective:
        """Return the rule, at a radius that does not matter."""

    @abstractmethod
    def _choose(self, round: Round, available: np.ndarray | None) -> int:
        """Choose among the available decisions, ascending indices; None: all of them."""

    def _moments(self, decision: int) -> tuple[np.ndarray, np.ndarray]:
        """Return posterior mean and standard deviation of a decision, both of shape (contexts,)."""
        return self.posterior.mean()[decision], self.posterior.deviation()[decision]

    def _pursued(self) -> UncertaintyObjective:
        """Return the objective that was handed in, for rules that follow it."""
        if not isinstance(self.objective, UncertaintyObjective):
            raise BocuError(f"found objective {self.objective!r}; an UncertaintyObjective is wanted")
        return self.objective


class UpperConfidenceAlgorithm(FiniteAlgorithm[Bounds]):
    """The rule applied to the upper confidence bound `mean + sqrt_beta deviation`."""

    Parameters = BoundParameters

    def tell(self, decision: Decision, context: Context, value: float) -> None:
        super().tell(decision, context, value)
        # The next decision needs it whatever is recommended before: so it counts as time to learn.
        self.posterior.deviation()

    def _choose(self, round: Round, available: np.ndarray | None) -> int:
        mean, deviation = self.posterior.mean(), self.posterior.deviation()
        if available is None:
            return self._optimistic(mean, self.sqrt_beta(round) * deviation, round)
        return int(available[self._optimistic(mean[available], self.sqrt_beta(round) * deviation[available], round)])

    def _optimistic(self, mean: np.ndarray, width: np.ndarray, round: Round) -> int:
        """Find the best row given posterior means and the half-widths of bounds, both (decisions, contexts)."""
        return self.best(mean + width, round)
