"""Metrics: what recorded runs are scored by. Scoring reads what happened and reruns nothing.

Every objective is one as it stands (`ObjectiveMetric`); classes of their own are for what takes more.

Of scalarised payoffs over a grid of contexts the value of a decision x in a round with weights s is v(s'f(x)), v what
the metric makes of payoffs over contexts, s = 1 where there is one output. Regret is against the largest value that a
search finds, or that of the decision itself where it is larger, and therefore never negative (DRMOBO paper, Eq. 11).
Finite decisions are all valued.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Literal

import numpy as np
from pydantic import Field

from bocu.core.about import About
from bocu.core.loading import load, made
from bocu.core.parameters import NoParameters, Parameters, ParametersType
from bocu.core.plain import Plain, Specification
from bocu.core.rounds import EVERY, SCALARISED, TIME_VARYING, BoxDomain, Domain, FiniteDomain, Situation
from bocu.core.ties import first_best
from bocu.problems.base import Realisation
from bocu.problems.scalarised_optimum import FiniteSearch, PayoffTables, Pool, ScalarisedSearch, scalarise
from bocu.robust.objectives.functions import Objective, UncertaintyObjective
from bocu.sweep.evaluation.deployed import Deployed
from bocu.sweep.evaluation.discretised import is_continuous, on_cells
from bocu.sweep.evaluation.robust_front import Front, RunFront, front_among, front_of_pool, growing_share
from bocu.sweep.evaluation.under import PathPoint
from bocu.sweep.runs.protocol import Announcer


@dataclass(frozen=True)
class _Valued:
    """What every decision was worth in some rounds of a seed."""

    payoffs: np.ndarray
    situation: Situation
    values: np.ndarray


@dataclass
class _Searched:
    """What was found for rounds that a metric values alike."""

    table: PayoffTables
    situation: Situation
    search: ScalarisedSearch
    pool: Pool
    front: Front | None = None


class Metric(ABC, Generic[ParametersType]):
    """Values decisions round by round, and says what was the best to be had."""

    about: ClassVar[About]
    #: The protocols of the problems that it can value.
    protocols: ClassVar[tuple[str, ...]]
    Parameters: ClassVar[type[Parameters]] = NoParameters
    #: Whether continuous contexts are scored on their discretisation; else only under a stated law.
    discretised: ClassVar[bool] = True
    #: Whether it compares finitely many decisions, and so scores none in a box.
    finite_decisions: ClassVar[bool] = False
    #: The largest value of each round, where it was searched for before; rounds without are searched for.
    optima: Mapping[int, float] = {}

    def __init__(self, parameters: ParametersType) -> None:
        self.parameters = parameters
        # Both are kept from seed to seed.
        self._searched: list[_Searched] = []
        self._valued: list[_Valued] = []

    def best(self, realisation: Realisation, situations: Sequence[Situation]) -> tuple[np.ndarray, np.ndarray]:
        """Return the best value of each situation, shape (rows,), and a decision that has it, (rows, dimension).

        Args:
            realisation: a problem with continuous decisions and a finite set of contexts, or discretised; of a metric
                that needs no discretisation also with continuous ones.
            situations: what stands before each row.
        """
        self.meet(realisation)
        weights = _weights(realisation, situations)
        values = np.empty(len(situations))
        decisions = np.empty((len(situations), realisation.description.decisions.dimension))
        for rows in self._gathered(situations):
            values[rows], decisions[rows] = self._best(realisation, situations[rows[0]], weights[rows])
        return values, decisions

    @abstractmethod
    def values(self, payoffs: np.ndarray, situation: Situation) -> np.ndarray:
        """Return the value of every decision.

        Args:
            payoffs: shape (decisions, contexts).
            situation: what stood before the round.

        Returns:
            Shape (decisions,).
        """

    def meet(self, realisation: Realisation) -> None:
        """Prepare for the rounds of one seed."""

    def score(
        self, realisation: Realisation, situations: Sequence[Situation], decisions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Score the decisions of one seed, one for each situation.

        Args:
            realisation: the problem as the seed met it; where its contexts are continuous, it is scored on their
                discretisation.
            situations: what stood before each row of the run.
            decisions: indices, shape (rows,); in a box coordinates, shape (rows, dimension).

        Returns:
            Regret against the best decision that was available in the round, and value of the decision taken, both of
            shape (rows,), in units of the payoff.
        """
        realisation, situations = on_cells(realisation, situations)
        self.meet(realisation)
        domain = realisation.description.decisions
        if isinstance(domain, BoxDomain) or realisation.description.protocol in SCALARISED:
            return self._score_scalarised(realisation, situations, _coordinates(domain, decisions))
        best, value = np.empty(len(decisions)), np.empty(len(decisions))
        known, self._valued = self._valued, []
        for rows, payoffs in self._alike(realisation, situations):
            first = situations[rows[0]]
            if len(rows) == 1:
                best[rows], value[rows] = self.best_and_taken(payoffs, first, decisions[rows[0]])
                continue
            values = self._values_of(payoffs, first, known)
            value[rows] = values[decisions[rows]]
            # Rows that share what is available have the same best.
            found: dict[int, float] = {}
            for row in rows:
                available = situations[row].available
                if id(available) not in found:
                    found[id(available)] = (values if available is None else values[available]).max()
                best[row] = found[id(available)]
        # Equal values have no regret, be they -inf: where no decision meets an aspiration.
        return np.subtract(best, value, out=np.zeros_like(value), where=best != value), value

    def front(self, realisation: Realisation, situations: Sequence[Situation], decisions: np.ndarray) -> RunFront:
        """Return what the decisions of a run guarantee in the first situation, beside the best front.

        Args:
            realisation: the problem as the seed met it, of several outputs.
            situations: what stood before each row of the run.
            decisions: indices, shape (rows,); in a box coordinates, shape (rows, dimension).
        """
        self.meet(realisation)
        searched = self._searching(realisation, situations[0])
        if searched.front is None:
            searched.front = front_of_pool(searched.search, searched.pool)
        chosen = _coordinates(realisation.description.decisions, decisions)
        payoffs, best, values = realisation.table(chosen), searched.front, searched.pool.values
        return RunFront(front_among(chosen, payoffs, best.weights, values), best, growing_share(payoffs, best, values))

    def _score_scalarised(
        self, realisation: Realisation, situations: Sequence[Situation], decisions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what `score` does, of decisions by their coordinates, shape (rows, Dx)."""
        weights = _weights(realisation, situations)
        payoffs = realisation.table(decisions)
        regret, value = np.empty(len(decisions)), np.empty(len(decisions))
        for rows in self._gathered(situations):
            situation = situations[rows[0]]
            value[rows] = self.values(scalarise(payoffs[rows], weights[rows]), situation)
            known = [self.optima[situations[row].t] for row in rows if situations[row].t in self.optima]
            if len(known) == len(rows):
                best = np.array(known)
            else:
                best, _ = self._best(realisation, situation, weights[rows])
            # Nothing is subtracted elsewhere: both may be -inf, where no decision meets an aspiration.
            regret[rows] = np.subtract(best, value[rows], out=np.zeros(len(rows)), where=best > value[rows])
        return regret, value

    def _best(
        self, realisation: Realisation, situation: Situation, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the largest values at weights of shape (rows, K), shape (rows,), and where they are, (rows, Dx)."""
        searched = self._searching(realisation, situation)
        # Rounds share their weights where there is one output: one search serves all.
        distinct, where = np.unique(weights, axis=0, return_inverse=True)
        found = searched.search.best(searched.pool, distinct)
        return found.values[where], found.decisions[where]

    def _gathered(self, situations: Sequence[Situation]) -> list[list[int]]:
        """Gather the rows that the metric values alike."""
        groups: list[list[int]] = []
        for row, situation in enumerate(situations):
            for group in groups:
                if self.same(situation, situations[group[0]]):
                    group.append(row)
                    break
            else:
                groups.append([row])
        return groups

    def _searching(self, realisation: Realisation, situation: Situation) -> _Searched:
        table = realisation.table
        for known in self._searched:
            if known.table == table and self.same(situation, known.situation):
                return known
        search = next((known.search for known in self._searched if known.table == table), None)
        if search is None:
            decisions, outputs = realisation.description.decisions, realisation.description.outputs
            if isinstance(decisions, FiniteDomain):
                search = FiniteSearch(table, decisions.points, outputs)
            else:
                search = ScalarisedSearch(table, decisions.dimension, outputs)
        pool = search.pool(lambda payoffs: self.values(payoffs, situation))
        self._searched.append(_Searched(table, situation, search, pool))
        return self._searched[-1]

    def _values_of(self, payoffs: np.ndarray, situation: Situation, known: Sequence["_Valued"]) -> np.ndarray:
        """Return the value of every decision, as the seed before had it where both met the same."""
        for one in known:
            if self.same(situation, one.situation) and np.array_equal(payoffs, one.payoffs):
                self._valued.append(one)
                return one.values
        self._valued.append(_Valued(payoffs, situation, self.values(payoffs, situation)))
        return self._valued[-1].values

    def best_and_taken(self, payoffs: np.ndarray, situation: Situation, taken: int) -> tuple[float, float]:
        """Return the largest value of the decisions available in a round by itself, and that of the one taken.

        Args:
            payoffs: shape (decisions, contexts).
            situation: what stood before the round.
            taken: index of the decision.
        """
        values, available = self.values(payoffs, situation), situation.available
        return float((values if available is None else values[available]).max()), float(values[taken])

    def _alike(
        self, realisation: Realisation, situations: Sequence[Situation]
    ) -> Iterator[tuple[list[int], np.ndarray]]:
        """Yield the rows, one after another, that give every decision the same value, and their payoffs."""
        rows: list[int] = []
        stood: np.ndarray | None = None
        for row, situation in enumerate(situations):
            payoffs = realisation.payoffs(max(situation.t, 1))
            if stood is not None and not (payoffs is stood and self.same(situation, situations[rows[0]])):
                yield rows, stood
                rows = []
            rows.append(row)
            stood = payoffs
        if stood is not None:
            yield rows, stood

    def same(self, situation: Situation, other: Situation) -> bool:
        """Say whether two situations give every decision the same value, for the same payoffs."""
        return situation.reference is other.reference


def _weights(realisation: Realisation, situations: Sequence[Situation]) -> np.ndarray:
    """Return the weights of the outputs in each situation, shape (rows, K)."""
    weights = [np.ones(1) if situation.weights is None else situation.weights for situation in situations]
    return np.array(weights).reshape(-1, realisation.description.outputs)


def _coordinates(domain: Domain, decisions: np.ndarray) -> np.ndarray:
    """Return decisions by their coordinates, shape (rows, dimension)."""
    return domain.points[decisions] if isinstance(domain, FiniteDomain) else decisions


class ExpectedPayoffParameters(Parameters):
    """Which distribution the expectation is taken under."""

    under: Literal["reference", "truth"] = Field(
        "reference", description="the distribution that is announced, or the one that contexts come from"
    )


class ExpectedPayoff(Metric[ExpectedPayoffParameters]):
    """Expected payoff (SO). Of continuous problems that under the true distribution, whatever the parameter says.

    There it is computed by the problem's own rule, exactly; under a stated law on the discretisation, as any metric.
    """

    about = About(
        title="SO",
        summary="expected payoff under the reference or the truth, against the best available decision",
    )
    protocols: ClassVar[tuple[str, ...]] = EVERY
    discretised = False
    Parameters: ClassVar[type[Parameters]] = ExpectedPayoffParameters

    def score(
        self, realisation: Realisation, situations: Sequence[Situation], decisions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        if is_continuous(realisation):
            rounds = np.array([situation.t for situation in situations])
            realisation.optima = self.optima
            value, best = realisation.expected_in_rounds(decisions, rounds)
            return best - value, value
        return super().score(realisation, situations, decisions)

    def best(self, realisation: Realisation, situations: Sequence[Situation]) -> tuple[np.ndarray, np.ndarray]:
        if is_continuous(realisation):
            return realisation.best_in_rounds(np.array([situation.t for situation in situations]))
        return super().best(realisation, situations)

    def values(self, payoffs: np.ndarray, situation: Situation) -> np.ndarray:
        return payoffs @ np.asarray(getattr(situation, self.parameters.under))

    def same(self, situation: Situation, other: Situation) -> bool:
        return getattr(situation, self.parameters.under) is getattr(other, self.parameters.under)


class BestFixedDecision(ExpectedPayoff):
    """Expected payoff, against the single decision that would have been best over the whole run.

    Regret of one round may be negative: a learner that follows the changes can beat every fixed decision. Decisions
    that were unavailable in some round do not compete; where none is left, regret is not a number.
    """

    about = About(
        title="Best fixed decision",
        summary="expected payoff, against the best single decision in hindsight",
    )
    protocols = TIME_VARYING
    finite_decisions = True

    def score(
        self, realisation: Realisation, situations: Sequence[Situation], decisions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        values = np.empty((len(decisions), realisation.payoffs(1).shape[0]))
        for rows, payoffs in self._alike(realisation, situations):
            values[rows] = self.values(payoffs, situations[rows[0]])
        always = np.ones(values.shape[1], dtype=bool)
        for situation in situations:
            if situation.available is not None:
                open_ = np.zeros_like(always)
                open_[situation.available] = True
                always &= open_
        value = values[np.arange(len(decisions)), decisions]
        if not always.any():
            return np.full(len(value), np.nan), value
        best = first_best(np.where(always, values.sum(axis=0), -np.inf))
        return values[:, best] - value, value


class ObjectiveMetricParameters(Parameters):
    """The objective, as a specification states it."""

    objective: Plain = Field(description="its class, and its parameters as plain data")


class ObjectiveMetric(Metric[ObjectiveMetricParameters]):
    """An objective, over a finite set of contexts at the radius that its own rule gives where it has a set."""

    Parameters: ClassVar[type[Parameters]] = ObjectiveMetricParameters
    _over: UncertaintyObjective
    _announcer: Announcer

    def __init__(self, parameters: ObjectiveMetricParameters) -> None:
        super().__init__(parameters)
        stated = parameters.objective
        self.objective: Objective = load(stated["class"]).from_specification(stated["parameters"])

    def meet(self, realisation: Realisation) -> None:
        contexts = realisation.description.contexts
        points = contexts.points if isinstance(contexts, FiniteDomain) else None
        self._over = self.objective.over(points)
        self._announcer = Announcer(self.objective.ambiguity, points)

    def values(self, payoffs: np.ndarray, situation: Situation) -> np.ndarray:
        return self._in(situation)(payoffs, situation.reference)

    def best_and_taken(self, payoffs: np.ndarray, situation: Situation, taken: int) -> tuple[float, float]:
        return self._in(situation).best_and_taken(payoffs, situation.reference, taken, situation.available)

    def _in(self, situation: Situation) -> UncertaintyObjective:
        return self._over.with_epsilon(self._announcer.epsilon(situation) or 0.0)

    def same(self, situation: Situation, other: Situation) -> bool:
        if self.objective.reference_matters and situation.reference is not other.reference:
            return False
        return self._announcer.epsilon(situation) == self._announcer.epsilon(other)


@dataclass(frozen=True)
class Scorer:
    """A metric, and the law that it scores under."""

    metric: Metric  #: what values decisions.
    under: PathPoint | None = None  #: None: the law that was met.
    #: whose recommendation after the last round it scores, alone; None: it scores every decision taken.
    deployed: Deployed | None = None

    def met(
        self, realisation: Realisation, situations: Sequence[Situation], refined: bool = False
    ) -> tuple[Realisation, Sequence[Situation]]:
        """Return what the metric is shown of a problem: discretised where a law has to be, and under that law."""
        if self.under is None:
            return realisation, situations
        realisation, situations = on_cells(realisation, situations, refined)
        return realisation, self.under.applied(realisation, situations)

    def score(
        self, realisation: Realisation, situations: Sequence[Situation], decisions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Score the decisions of one seed: see `Metric.score`."""
        return self.metric.score(*self.met(realisation, situations), decisions)

    def front(self, realisation: Realisation, situations: Sequence[Situation], decisions: np.ndarray) -> RunFront:
        """Return what the decisions of a run guarantee: see `Metric.front`."""
        return self.metric.front(*self.met(realisation, situations), decisions)


def build_scorer(specification: Specification) -> Scorer:
    """Build the metric of a plain specification: `class`, `parameters`, and where it has them `under`, `deployed`."""
    target = load(specification["class"])
    metric = made(specification["class"], target, target.Parameters.model_validate(specification["parameters"]))
    under = specification.get("under")
    return Scorer(metric, None if under is None else PathPoint.model_validate(under), specification.get("deployed"))
