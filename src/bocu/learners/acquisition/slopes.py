"""An expectation less what contexts may move: the penalty of Wasserstein-robust optimisation over a box.

Source: Micheli et al. (2025): `E u - epsilon L`, L the steepest slope of the optimistic payoff u in the context, which
bounds the worst expectation within a 1-Wasserstein distance epsilon from below.
"""

from dataclasses import dataclass

import numpy as np

from bocu.core.errors import BocuError
from bocu.learners.acquisition.base import Functional
from bocu.robust.ambiguity import checks


@dataclass(frozen=True)
class Stencil:
    """Pairs of contexts around points, by whose differences slopes are taken.

    Attributes:
        contexts: shape (2 P D, D): ahead of each of P points in each of D coordinates, then behind, in the same order.
        reach: distance between a pair in units of the slope's context, shape (P, D).
    """

    contexts: np.ndarray
    reach: np.ndarray

    @classmethod
    def around(cls, points: np.ndarray, step: float, width: np.ndarray) -> "Stencil":
        """Place pairs around points (P, D) of the unit cube, cut to it.

        Args:
            points: where slopes are taken.
            step: to either side, in the unit cube.
            width: length of a coordinate of the cube in units of the slope's context, shape (D,).
        """
        moved = step * np.eye(points.shape[1])
        ahead, behind = (np.clip(points[:, None] + sign * moved, 0.0, 1.0) for sign in (1.0, -1.0))
        reach = np.einsum("pdd->pd", ahead - behind) * width
        flat = [each.reshape(-1, points.shape[1]) for each in (ahead, behind)]
        return cls(np.concatenate(flat), reach)


class SlopePenalty:
    """The mean over the first contexts, less a radius times the steepest slope over a stencil, which come after.

    Args:
        epsilon: the radius, in units of the context.
        seen: number of the contexts that the mean is over.
        stencil: the others.
        floor: whether the value is no less than the smallest payoff in any of the contexts, which the worst expectation
            is not.

    Raises:
        BocuError: the radius is negative, or the mean is over no context.
    """

    def __init__(self, epsilon: float, seen: int, stencil: Stencil, floor: bool = False) -> None:
        self.epsilon = checks.radius(epsilon)
        if seen < 1:
            raise BocuError(f"contexts: found {seen} seen; allowed: 1 or more")
        self.seen = seen
        self.stencil = stencil
        self.floor = floor

    def __call__(self, payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = np.arange(len(payoffs))
        half = self.stencil.reach.size
        ahead, behind = payoffs[:, self.seen : self.seen + half], payoffs[:, self.seen + half :]
        slopes = (ahead - behind).reshape(len(payoffs), *self.stencil.reach.shape) / self.stencil.reach
        norms = np.linalg.norm(slopes, axis=2)
        steepest = norms.argmax(axis=1)
        norm = norms[rows, steepest]
        values = payoffs[:, : self.seen].mean(axis=1) - self.epsilon * norm
        weights = np.zeros_like(payoffs)
        weights[:, : self.seen] = 1.0 / self.seen
        direction = slopes[rows, steepest] / np.where(norm > 0.0, norm, 1.0)[:, None]
        pull = np.zeros((len(payoffs), *self.stencil.reach.shape))
        pull[rows, steepest] = -self.epsilon * direction / self.stencil.reach[steepest]
        weights[:, self.seen : self.seen + half] = pull.reshape(len(payoffs), half)
        weights[:, self.seen + half :] = -weights[:, self.seen : self.seen + half]
        if self.floor:
            lowest = payoffs.argmin(axis=1)
            below = values < payoffs[rows, lowest]
            values[below] = payoffs[rows, lowest][below]
            weights[below] = 0.0
            weights[rows[below], lowest[below]] = 1.0
        return values, weights

    def screening(self, contexts: int) -> tuple[np.ndarray, Functional]:
        """Return all contexts, and the penalised mean itself."""
        return np.arange(contexts), self
