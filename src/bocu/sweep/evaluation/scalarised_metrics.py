"""Scoring scalarised payoffs over a grid of contexts: regret of the DRMOBO paper (Eq. 11), under any metric.

The value of a decision x in a round with weights s is v(s'f(x)), v what the metric makes of payoffs over contexts, s =
1 where there is one output. Regret is against the largest value that a search finds, or that of the decision itself
where it is larger, and therefore never negative. Finite decisions are all valued.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core.rounds import FiniteDomain
from bocu.problems.scalarised_optimum import FiniteSearch, PayoffTables, Pool, ScalarisedSearch, scalarise
from bocu.sweep.evaluation.robust_front import Front, RunFront, front_among, front_of_pool, growing_share

if TYPE_CHECKING:
    from bocu.core.rounds import Situation
    from bocu.problems.base import Realisation
    from bocu.sweep.evaluation.metrics import Metric


@dataclass
class _Searched:
    """What was found for rounds that a metric values alike."""

    table: PayoffTables
    situation: "Situation"
    search: ScalarisedSearch
    pool: Pool
    front: Front | None = None


class ScalarisedScores:
    """Regret and value under one metric; what was searched for is kept from seed to seed.

    Args:
        metric: values payoffs over the contexts.
    """

    def __init__(self, metric: "Metric[Any]") -> None:
        self._metric = metric
        self._searched: list[_Searched] = []

    def score(
        self,
        realisation: "Realisation",
        situations: Sequence["Situation"],
        decisions: np.ndarray,
        optima: Mapping[int, float] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Score the decisions of one seed, shape (rows, Dx): regret and value, both (rows,), see `Metric.score`.

        Args:
            realisation: the problem as the seed met it.
            situations: what stood before each row.
            decisions: shape (rows, Dx).
            optima: the largest value of rounds for which it is known.
        """
        weights = _weights(realisation, situations)
        payoffs = realisation.table(decisions)
        regret, value = np.empty(len(decisions)), np.empty(len(decisions))
        for rows in self._alike(situations):
            situation = situations[rows[0]]
            value[rows] = self._metric.values(scalarise(payoffs[rows], weights[rows]), situation)
            known = [optima[situations[row].t] for row in rows if situations[row].t in optima] if optima else []
            if len(known) == len(rows):
                best = np.array(known)
            else:
                best, _ = self._best(realisation, situation, weights[rows])
            # Nothing is subtracted elsewhere: both may be -inf, where no decision meets an aspiration.
            regret[rows] = np.subtract(best, value[rows], out=np.zeros(len(rows)), where=best > value[rows])
        return regret, value

    def best(self, realisation: "Realisation", situations: Sequence["Situation"]) -> tuple[np.ndarray, np.ndarray]:
        """Return the largest value in each situation, shape (rows,), and where it is, (rows, Dx)."""
        weights = _weights(realisation, situations)
        values = np.empty(len(situations))
        decisions = np.empty((len(situations), realisation.description.decisions.dimension))
        for rows in self._alike(situations):
            values[rows], decisions[rows] = self._best(realisation, situations[rows[0]], weights[rows])
        return values, decisions

    def front(self, realisation: "Realisation", situations: Sequence["Situation"], decisions: np.ndarray) -> RunFront:
        """Return `Metric.front` of decisions, shape (rows, Dx), by what counts in the first situation."""
        searched = self._searching(realisation, situations[0])
        if searched.front is None:
            searched.front = front_of_pool(searched.search, searched.pool)
        payoffs, best, values = realisation.table(decisions), searched.front, searched.pool.values
        tried = front_among(decisions, payoffs, best.weights, values)
        return RunFront(tried, best, growing_share(payoffs, best, values))

    def _best(
        self, realisation: "Realisation", situation: "Situation", weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the largest values at weights of shape (rows, K), shape (rows,), and where they are, (rows, Dx)."""
        searched = self._searching(realisation, situation)
        # Rounds share their weights where there is one output: one search serves all.
        distinct, where = np.unique(weights, axis=0, return_inverse=True)
        found = searched.search.best(searched.pool, distinct)
        return found.values[where], found.decisions[where]

    def _alike(self, situations: Sequence["Situation"]) -> list[list[int]]:
        """Gather the rows that the metric values alike."""
        groups: list[list[int]] = []
        for row, situation in enumerate(situations):
            for group in groups:
                if self._metric.same(situation, situations[group[0]]):
                    group.append(row)
                    break
            else:
                groups.append([row])
        return groups

    def _searching(self, realisation: "Realisation", situation: "Situation") -> _Searched:
        table = realisation.table
        for known in self._searched:
            if known.table == table and self._metric.same(situation, known.situation):
                return known
        search = next((known.search for known in self._searched if known.table == table), None)
        if search is None:
            decisions, outputs = realisation.description.decisions, realisation.description.outputs
            if isinstance(decisions, FiniteDomain):
                search = FiniteSearch(table, decisions.points, outputs)
            else:
                search = ScalarisedSearch(table, decisions.dimension, outputs)
        pool = search.pool(lambda payoffs: self._metric.values(payoffs, situation))
        self._searched.append(_Searched(table, situation, search, pool))
        return self._searched[-1]


def _weights(realisation: "Realisation", situations: Sequence["Situation"]) -> np.ndarray:
    """Return the weights of the outputs in each situation, shape (rows, K)."""
    weights = [np.ones(1) if situation.weights is None else situation.weights for situation in situations]
    return np.array(weights).reshape(-1, realisation.description.outputs)
