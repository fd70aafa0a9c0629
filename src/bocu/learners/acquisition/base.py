"""What an acquisition function is: a value for each decision, with its gradient, to be maximised.

`SurfaceAcquisition` composes the two halves that all of them have: a surface, the optimistic payoff (or any other
payoff) of a decision in each of M contexts, and a functional that makes one number of these M payoffs::

    acquisition = SurfaceAcquisition(SeparableSurface(posterior, samples, sqrt_beta=1.5), Expectation())
    best = maximise(acquisition, raw=1024, restarts=50, generator=generator)
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Self

import numpy as np

Pullback = Callable[[np.ndarray], np.ndarray]
"""Maps weights (B, M), the derivative of some value in the payoffs, to the derivative in the decisions, (B, Dx)."""

#: Numbers in the largest array of one block of a surface: it then stays in a processor's cache.
BLOCK_NUMBERS = 2**18


class Acquisition(ABC):
    """A function of decisions in [0, 1]^Dx, to be maximised."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Number of coordinates Dx of a decision."""

    @abstractmethod
    def __call__(self, decisions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return values (B,) and gradients (B, Dx) at decisions (B, Dx).

        Where the function has kinks, the gradient is one of its supergradients.
        """

    def screen(self, decisions: np.ndarray) -> np.ndarray:
        """Return values (B,) that may be cheap and rough: they only choose where an ascent starts."""
        return self(decisions)[0]

    def warm(self) -> "Acquisition":
        """Return the same function for one search: its calls may begin where those before ended, ours do not."""
        return self

    def draft(self) -> "Acquisition | None":
        """Return nearly the same function, for ascents to come near their tops; None where none is much cheaper."""
        return None

    def few(self) -> "Acquisition | None":
        """Return the same function of few samples, to find neighbourhoods of tops on; None where it saves little."""
        return None


class Surface(ABC):
    """The payoff of decisions in M contexts, with its gradient in the decisions."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Number of coordinates Dx of a decision."""

    @property
    @abstractmethod
    def contexts(self) -> int:
        """Number of contexts M."""

    @property
    @abstractmethod
    def block(self) -> int:
        """Number of decisions that are best evaluated at once; more need more memory than they save time."""

    @property
    def compressed(self) -> bool:
        """Whether a decision costs much less than evaluating it in every context."""
        return True

    @abstractmethod
    def evaluate(self, decisions: np.ndarray) -> tuple[np.ndarray, Pullback]:
        """Return payoffs (B, M) at decisions (B, Dx), and how weights on them pull on the decisions."""

    @abstractmethod
    def payoffs(self, decisions: np.ndarray) -> np.ndarray:
        """Return payoffs (B, M) at decisions (B, Dx), without what gradients need."""

    @abstractmethod
    def rough(self, indices: np.ndarray) -> "Surface":
        """Return a surface over the contexts of these indices that may be cheaper and rougher, to choose starts by."""

    def draft(self) -> "Surface | None":
        """Return nearly the same surface, wrong by a few digits beyond the sixth; None where none is much cheaper."""
        return None


class Functional(ABC):
    """One number out of the payoffs of a decision in all contexts."""

    @abstractmethod
    def __call__(self, payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return values (B,) of payoffs (B, M), and the derivative (a supergradient) in the payoffs, (B, M)."""

    def screening(self, contexts: int) -> "tuple[np.ndarray, Functional]":
        """Choose where ascents start.

        Args:
            contexts: their number M.

        Returns:
            Indices of the contexts to screen on, shape (m,), and this functional or a cheap stand-in over these.
        """
        return np.arange(contexts), self

    def warm(self) -> Self:
        """Return the same functional, for the calls of one search: answers may depend on those before by rounding."""
        return self

    def drafting(self, contexts: int) -> "tuple[np.ndarray, Functional] | None":
        """Return indices of few samples of M contexts, shape (m,), and the functional over them.

        None where it is not of samples, or few tell little about where it is large.
        """
        return None


class SurfaceAcquisition(Acquisition):
    """A functional of a surface.

    Args:
        surface: payoffs over M contexts.
        functional: over as many contexts.
    """

    def __init__(self, surface: Surface, functional: Functional) -> None:
        self.surface = surface
        self.functional = functional
        self._screening: SurfaceAcquisition | None = None

    @property
    def dimension(self) -> int:
        return self.surface.dimension

    def __call__(self, decisions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, gradients = np.empty(len(decisions)), np.empty(decisions.shape)
        for rows in _blocks(len(decisions), self.surface.block):
            payoffs, pullback = self.surface.evaluate(decisions[rows])
            values[rows], weights = self.functional(payoffs)
            gradients[rows] = pullback(weights)
        return values, gradients

    def screen(self, decisions: np.ndarray) -> np.ndarray:
        if self._screening is None:
            indices, functional = self.functional.screening(self.surface.contexts)
            self._screening = SurfaceAcquisition(self.surface.rough(indices), functional)
        return self._screening.values(decisions)

    def values(self, decisions: np.ndarray) -> np.ndarray:
        """Return values (B,) at decisions (B, Dx), without gradients."""
        values = np.empty(len(decisions))
        for rows in _blocks(len(decisions), self.surface.block):
            values[rows] = self.functional(self.surface.payoffs(decisions[rows]))[0]
        return values

    def warm(self) -> "SurfaceAcquisition":
        return SurfaceAcquisition(self.surface, self.functional.warm())

    def draft(self) -> "SurfaceAcquisition | None":
        draft = self.surface.draft()
        return None if draft is None else SurfaceAcquisition(draft, self.functional)

    def few(self) -> "SurfaceAcquisition | None":
        few = None if self.surface.compressed else self.functional.drafting(self.surface.contexts)
        return None if few is None else SurfaceAcquisition(self.surface.rough(few[0]), few[1])


def _blocks(count: int, size: int) -> Iterator[slice]:
    """Cut `count` rows into slices of about equal length, none longer than `size`."""
    pieces = -(-count // max(1, size))
    for piece in range(pieces):
        yield slice(piece * count // pieces, (piece + 1) * count // pieces)
