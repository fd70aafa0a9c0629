"""Judges: objectives that recorded runs are scored by. Judging reads what happened and reruns nothing."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from bocu.parameters import Parameters
from bocu.problems.base import Realisation


class NoParameters(Parameters):
    """Nothing to set."""


class Judge(ABC):
    """Values decisions round by round, and says what was the best to be had."""

    Parameters: ClassVar[type[Parameters]] = NoParameters

    def __init__(self, parameters: Any) -> None:
        self.parameters = parameters

    @abstractmethod
    def values(self, payoffs: np.ndarray, reference: np.ndarray) -> np.ndarray:
        """Give the value of every decision.

        Args:
            payoffs: shape (decisions, contexts).
            reference: shape (contexts,).

        Returns:
            Shape (decisions,).
        """

    def score(self, realisation: Realisation, decisions: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Judge the decisions of rounds 1, 2, ... of one seed.

        Returns:
            Regret against the best decision that was available in the round, and value of the decision taken, both of
            shape (rounds,), in units of the payoff.
        """
        best = np.empty(len(decisions))
        value = np.empty(len(decisions))
        # Rounds that hand out the same arrays have the same best; they are kept alive, so that identities stay theirs.
        rounds = self._rounds(realisation, len(decisions))
        found: dict[tuple[int, int], float] = {}
        for row, (values, available) in enumerate(rounds):
            value[row] = values[decisions[row]]
            key = (id(values), id(available))
            if key not in found:
                found[key] = (values if available is None else values[available]).max()
            best[row] = found[key]
        return best - value, value

    def _rounds(self, realisation: Realisation, rounds: int) -> list[tuple[np.ndarray, np.ndarray | None]]:
        """Give the values of all decisions, and which are available, round by round."""
        found = []
        known: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        for t in range(1, rounds + 1):
            payoffs, reference = realisation.payoffs(t), realisation.reference(t)
            # A problem that stands still hands out the same arrays: value them once.
            if known is None or payoffs is not known[0] or reference is not known[1]:
                known = (payoffs, reference, self.values(payoffs, reference))
            found.append((known[2], realisation.round(t).available))
        return found


class Stochastic(Judge):
    """Expected payoff under the reference (SO)."""

    def values(self, payoffs: np.ndarray, reference: np.ndarray) -> np.ndarray:
        return payoffs @ reference


class Robust(Judge):
    """Payoff in the worst of all contexts, whatever the reference (RO)."""

    def values(self, payoffs: np.ndarray, reference: np.ndarray) -> np.ndarray:
        return payoffs.min(axis=1)


class BestFixedDecision(Stochastic):
    """Expected payoff, against the single decision that would have been best over the whole run.

    Regret of one round may be negative: a learner that follows the changes can beat every fixed decision. Decisions
    that were unavailable in some round do not compete; where none is left, regret is not a number.
    """

    def score(self, realisation: Realisation, decisions: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        rounds = self._rounds(realisation, len(decisions))
        values = np.stack([values for values, _ in rounds])
        always = np.ones(values.shape[1], dtype=bool)
        for _, available in rounds:
            if available is not None:
                always &= np.isin(np.arange(len(always)), available)
        value = values[np.arange(len(decisions)), np.asarray(decisions)]
        if not always.any():
            return np.full(len(value), np.nan), value
        best = int(np.argmax(np.where(always, values.sum(axis=0), -np.inf)))
        return values[:, best] - value, value
