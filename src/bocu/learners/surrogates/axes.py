"""The coordinate axes behind a set of points: what is a product over dimensions is worked out once a level."""

from dataclasses import dataclass
from math import prod

import numpy as np


@dataclass(frozen=True, eq=False)
class Axes:
    """The distinct coordinates of a set of points, dimension by dimension.

    Attributes:
        levels: distinct coordinates of each dimension, ascending.
        index: for each dimension the level of every point, shape (points,); ``levels[d][index[d]]`` are its
            coordinates, exactly.
    """

    levels: tuple[np.ndarray, ...]
    index: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, points: np.ndarray) -> "Axes":
        """Find the axes of points, shape (points, D)."""
        found = [np.unique(column, return_inverse=True) for column in points.T]
        return cls(tuple(levels for levels, _ in found), tuple(index for _, index in found))

    @property
    def hull_size(self) -> int:
        """Points of the smallest full grid that holds all points."""
        return prod(len(levels) for levels in self.levels)
