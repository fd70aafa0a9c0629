"""Optimisers of other packages as algorithms of a sweep, each with its own defaults.

A package is asked through its own ask and tell. Its study is made anew in each round from all that was told, with a
seed from the algorithm's stream, so that a run that is killed goes on with the same decisions. Decisions and contexts
are in the unit cube; of finitely many decisions the one nearest to the package's proposal is taken, and told.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bocu.core.about import Size, Work, planning_only
from bocu.core.rounds import CONTINUOUS, FiniteDomain, Round
from bocu.core.ties import first_best
from bocu.interop.botorch.asking import RebuiltAlgorithm, Stated
from bocu.learners.algorithms.botorch_model import TORCH_NUMBERS

PAYOFF = "payoff"


@dataclass(frozen=True)
class Told:
    """All that a package is told, in the unit cube.

    Attributes:
        decisions: shape (t, Dx).
        contexts: those met, shape (t, Dc).
        payoffs: shape (t,), more is better.
        likely: contexts that an expectation is over, shape (M, Dc): those of the announced reference, else those met.
        weights: their probabilities, shape (M,).
    """

    decisions: np.ndarray
    contexts: np.ndarray
    payoffs: np.ndarray
    likely: np.ndarray
    weights: np.ndarray

    def names(self, with_contexts: bool) -> list[str]:
        """Return names for the coordinates of decisions, then of contexts where these are told."""
        kinds = [("x", self.decisions)] + [("c", self.contexts)] * with_contexts
        return [f"{letter}{place}" for letter, points in kinds for place in range(points.shape[1])]

    def trials(self, with_contexts: bool) -> list[dict[str, float]]:
        """Return what was tried, by name."""
        table = np.hstack([self.decisions, self.contexts]) if with_contexts else self.decisions
        names = self.names(with_contexts)
        return [dict(zip(names, row, strict=True)) for row in table.tolist()]

    def fixed(self, seed: int) -> dict[str, float]:
        """Return a context drawn from those that are likely, by name."""
        drawn = np.random.default_rng(seed).choice(len(self.likely), p=self.weights)
        return dict(zip(self.names(True)[self.decisions.shape[1] :], self.likely[drawn].tolist(), strict=True))

    def pairs(self) -> np.ndarray:
        """Return the decisions tried, each in all likely contexts, shape (t * M, Dx + Dc)."""
        decisions = np.repeat(self.decisions, len(self.likely), axis=0)
        return np.hstack([decisions, np.tile(self.likely, (len(self.decisions), 1))])

    def expected(self, means: np.ndarray) -> np.ndarray:
        """Return the expectation (t,) of what a model says of `pairs` (t * M,)."""
        expected: np.ndarray = means.reshape(len(self.decisions), -1) @ self.weights
        return expected

    def best(self, values: np.ndarray) -> np.ndarray:
        """Return the decision tried (Dx,) whose value of (t,) is best."""
        best: np.ndarray = self.decisions[first_best(values)]
        return best


class Peer(RebuiltAlgorithm[Stated]):
    """An optimiser of another package."""

    protocols = ("general", "data-driven", *CONTINUOUS)

    @classmethod
    @planning_only
    def work(cls, parameters: Stated, size: Size, rounds: int) -> Work:
        return Work({"round": rounds, "told": rounds**2 / 2}, numbers=TORCH_NUMBERS)

    def _proposed(self, round: Round) -> np.ndarray:
        told = self._told(round)
        asked = self._asked(told, int(self.generator.integers(2**31)))
        return np.array([asked[name] for name in told.names(with_contexts=False)])

    def _best(self, round: Round, generator: np.random.Generator) -> np.ndarray:
        told = self._told(round)
        return self._deployed(told, int(generator.integers(2**31)))

    @abstractmethod
    def _asked(self, told: Told, seed: int) -> Mapping[str, float]:
        """Return what the package would try next, by name."""

    @abstractmethod
    def _deployed(self, told: Told, seed: int) -> np.ndarray:
        """Return what the package calls the best decision, shape (Dx,)."""

    def _told(self, round: Round) -> Told:
        space = self.description.contexts
        decisions, contexts = np.hsplit(self.inputs, [self.description.decisions.dimension])
        if isinstance(space, FiniteDomain):
            weights = np.full(space.size, 1.0 / space.size) if round.reference is None else np.asarray(round.reference)
            likely = np.stack([self.contexts.inwards(index) for index in np.flatnonzero(weights)])
            weights = weights[weights > 0.0]
        else:
            likely, weights = contexts, np.full(len(contexts), 1.0 / len(contexts))
        return Told(decisions, contexts, self.payoffs[:, 0], likely, weights)
