"""What a model of trials is told, and expectations over the contexts that are likely."""

from dataclasses import dataclass

import numpy as np

from bocu.core.rounds import Domain, FiniteDomain
from bocu.core.ties import first_best
from bocu.learners.algorithms.continuous_base import Scaling


@dataclass(frozen=True)
class ToldTrials:
    """What a model is told of trials, in the unit cube, and what its expectations are over."""

    decisions: np.ndarray  #: shape (t, Dx).
    contexts: np.ndarray  #: those met, shape (t, Dc).
    payoffs: np.ndarray  #: shape (t,), more is better.
    #: contexts that an expectation is over, shape (M, Dc): those of the announced reference, else those met.
    likely: np.ndarray
    weights: np.ndarray  #: their probabilities, shape (M,).

    @classmethod
    def of(
        cls,
        decisions: np.ndarray,
        contexts: np.ndarray,
        payoffs: np.ndarray,
        space: Domain,
        reference: np.ndarray | None,
    ) -> "ToldTrials":
        """Return what was tried, likely by the reference, shape (contexts,); None: by none, all contexts alike.

        Of a box of contexts none is announced: those met are likely.
        """
        if isinstance(space, FiniteDomain):
            weights = np.full(space.size, 1.0 / space.size) if reference is None else np.asarray(reference)
            inwards = Scaling(space).inwards
            likely = np.stack([inwards(index) for index in np.flatnonzero(weights)])
            weights = weights[weights > 0.0]
        else:
            likely, weights = contexts, np.full(len(contexts), 1.0 / len(contexts))
        return cls(decisions, contexts, payoffs, likely, weights)

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
        return means.reshape(len(self.decisions), -1) @ self.weights

    def best(self, values: np.ndarray) -> np.ndarray:
        """Return the decision tried (Dx,) whose value of (t,) is best."""
        return self.decisions[first_best(values)]
