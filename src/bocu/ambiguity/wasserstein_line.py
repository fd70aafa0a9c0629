"""The 1-Wasserstein distance of contexts on a line.

There the cost of a transport is the integral of `|F_q - F_p|`, F the distribution functions.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from bocu.ambiguity.checks import Floats

#: Costs are distances on a line where they miss them by no more than this many roundings of the largest.
_ROUNDINGS = 64


class Line:
    """Contexts on a line, from one end to the other.

    Attributes
    ----------
    order : (n,) the contexts along the line.
    positions : (n,) theirs, increasing from 0.
    """

    def __init__(self, positions: Floats) -> None:
        self.order = np.argsort(positions, kind="stable")
        self.positions = positions[self.order]

    @classmethod
    def of(cls, cost: Floats) -> Self | None:
        """The line on which costs `(n, n)` are distances, wherever it lies in space; None where there is none."""
        end = int(cost[0].argmax())
        positions = cost[end]
        tolerance = _ROUNDINGS * np.finfo(float).eps * positions.max()
        on_line = np.abs(np.abs(positions[:, None] - positions) - cost).max() <= tolerance
        return cls(positions) if on_line else None

    def distance(self, q: Floats, p: Floats) -> Floats:
        """Integral of the distance `(...)` of the distribution functions of q and p `(..., n)`."""
        above = np.cumsum((q - p)[..., self.order], axis=-1)[..., :-1]
        distance: Floats = np.abs(above) @ np.diff(self.positions)
        return distance
