"""A fixed discretisation of the unit box of contexts: its points, and the mass that a law has in their cells.

64 points in one dimension, 16 x 16 in two, each in the middle of its cell; beyond, 1,024 scrambled Sobol points, whose
cells are what lies nearest to them. A refined discretisation has four times as many.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bocu.core.randomness import scrambled_sobol
from bocu.robust.ambiguity.checks import Floats
from bocu.robust.contexts.laws import ContextLaw, JointLaw

if TYPE_CHECKING:
    from scipy.spatial import KDTree

PER_COORDINATE = {1: 64, 2: 16}  #: Points a coordinate, by the number of coordinates.
OTHERWISE = 1_024
REFINEMENT = 4
_DRAWS = 2**17  #: Quasi-random contexts that tell the masses of cells around Sobol points.
_SCRAMBLED_BY, _DRAWN_BY = 0, 1


def points_of(dimension: int) -> int:
    """Return the number of points over a box of so many coordinates."""
    return PER_COORDINATE[dimension] ** dimension if dimension in PER_COORDINATE else OTHERWISE


@dataclass(frozen=True)
class Cells:
    """Points that stand for the cells of the unit box."""

    points: Floats = field(repr=False)  #: (n, Dc).
    per_coordinate: int | None  #: of a product grid, the number of points a coordinate; None for Sobol points.

    def masses(self, law: JointLaw) -> Floats:
        """Return the probability `(n,)` that a law has in each cell.

        Exact for independent coordinates on a product grid and for laws of finitely many contexts, else by counting.

        Args:
            law: clipped to the unit box; its atoms at the ends belong to the cells there.
        """
        if self.per_coordinate is not None and isinstance(law, ContextLaw):
            edges = np.linspace(0.0, 1.0, self.per_coordinate + 1)[1:-1]
            shares = [np.diff(one.cumulative(edges), prepend=0.0, append=1.0) for one in law.marginals]
            return _normalised(functools.reduce(np.multiply.outer, shares).ravel())
        if law.support is not None:
            contexts, probabilities = law.support
            where = self._cell_of(np.clip(contexts, 0.0, 1.0))
            return _normalised(np.bincount(where, weights=probabilities, minlength=len(self.points)).astype(float))
        drawn = law.points(_DRAWS, np.random.default_rng(_DRAWN_BY))
        return _normalised(np.bincount(self._cell_of(drawn), minlength=len(self.points)).astype(float))

    def _cell_of(self, contexts: Floats) -> np.ndarray:
        if self.per_coordinate is None:
            return np.asarray(self._tree.query(contexts)[1])
        count = self.per_coordinate
        place = np.clip((contexts * count).astype(int), 0, count - 1)
        return np.ravel_multi_index(tuple(place.T), (count,) * contexts.shape[1])

    @functools.cached_property
    def _tree(self) -> KDTree:
        from scipy.spatial import KDTree  # slow to import, and planning needs none of it

        return KDTree(self.points)


@functools.cache
def cells(dimension: int, *, refined: bool = False) -> Cells:
    """Return the discretisation of the unit box of so many coordinates; refined, that of four times as many points."""
    lower, upper = np.zeros(dimension), np.ones(dimension)
    if dimension not in PER_COORDINATE:
        count = OTHERWISE * (REFINEMENT if refined else 1)
        return Cells(scrambled_sobol(lower, upper, count, np.random.default_rng(_SCRAMBLED_BY)), None)
    count = PER_COORDINATE[dimension] * (round(math.pow(REFINEMENT, 1.0 / dimension)) if refined else 1)
    middles = (np.arange(count) + 0.5) / count
    grid = np.stack(np.meshgrid(*[middles] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)
    return Cells(grid, count)


def _normalised(masses: Floats) -> Floats:
    masses = np.maximum(masses, 0.0)
    return masses / masses.sum()
