"""Contexts on a line: their 1-Wasserstein distance, and where worst cases send mass.

There the cost of a transport is the integral of `|F_q - F_p|`, F the distribution functions; worst cases are those of
`bocu.robust.ambiguity.wasserstein_chain`, in the order of the contexts.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from bocu.robust.ambiguity.checks import Floats

Targets = NDArray[np.intp]

#: Costs are distances on a line where they miss them by no more than this many roundings of the largest.
_ROUNDINGS = 64


class Line:
    """Contexts on a line, from one end to the other.

    Attributes:
        order: (n,) the contexts along the line.
        positions: (n,) theirs, increasing from 0.
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

    def cut(
        self, f: Floats, p: Floats, epsilon: float, *, keep: bool
    ) -> tuple[Targets, Targets, Floats, Floats, Floats]:
        """`wasserstein_chain.cut`, contexts in their own order."""
        from bocu.robust.ambiguity.wasserstein_chain import cut

        dear, cheap, lines, at, value = cut(*self._along(f, p), self.positions, epsilon, keep)
        return self._back(dear), self._back(cheap), lines, at, value

    def touch(self, f: Floats, p: Floats, tau: Floats) -> tuple[Floats, Floats, Targets]:
        """`wasserstein_chain.touch`, contexts in their own order."""
        from bocu.robust.ambiguity.wasserstein_chain import touch

        root, radius, targets = touch(*self._along(f, p), self.positions, np.ascontiguousarray(tau))
        return root, radius, self._back(targets)

    def _along(self, f: Floats, p: Floats) -> tuple[Floats, Floats]:
        return np.ascontiguousarray(f[:, self.order]), np.ascontiguousarray(p[:, self.order])

    def _back(self, targets: Targets) -> Targets:
        back = np.empty_like(targets)
        back[:, self.order] = self.order[targets]
        return back
