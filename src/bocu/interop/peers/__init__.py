"""Optimisers of other packages as algorithms of a sweep, each with its own defaults.

A package is asked through its own ask and tell. Its study is made anew in each round from all that was told, with a
seed from the algorithm's stream, so that a run that is killed goes on with the same decisions. Decisions and contexts
are in the unit cube; of finitely many decisions the one nearest to the package's proposal is taken, and told.
"""

from abc import abstractmethod
from collections.abc import Mapping

import numpy as np

from bocu.core.about import Size, Work, planning_only
from bocu.core.rounds import CONTINUOUS, Round
from bocu.interop.botorch.asking import RebuiltAlgorithm, Stated
from bocu.learners.algorithms.botorch_model import TORCH_NUMBERS
from bocu.learners.algorithms.told import ToldTrials

PAYOFF = "payoff"


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
    def _asked(self, told: ToldTrials, seed: int) -> Mapping[str, float]:
        """Return what the package would try next, by name."""

    @abstractmethod
    def _deployed(self, told: ToldTrials, seed: int) -> np.ndarray:
        """Return what the package calls the best decision, shape (Dx,)."""

    def _told(self, round: Round) -> ToldTrials:
        decisions, contexts = np.hsplit(self.inputs, [self.description.decisions.dimension])
        return ToldTrials.of(decisions, contexts, self.payoffs[:, 0], self.description.contexts, round.reference)
