"""Many rows: what stands for all of them.

Cells are of like weight: points are split near their weighted median, again and again, along the axis they spread on.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bocu.advice.logs import Forecast
from bocu.robust.ambiguity.base import AmbiguitySet

#: A cell, or how points are sorted further: by axis, threshold, and what is left (up to the threshold) and right of it.
_Tree = int | tuple[int, float, "_Tree", "_Tree"]


@dataclass(frozen=True)
class Boxes:
    """A partition of the space into boxes.

    Attributes:
        count: number of cells.
    """

    root: _Tree
    count: int

    @classmethod
    def around(cls, points: np.ndarray, weights: np.ndarray, most: int) -> "Boxes":
        """Partition the space by at most so many cells, none empty of points (n, l), weighted (n,), 0 or more."""
        leaves = iter(range(most))

        def split(rows: np.ndarray, quota: int) -> _Tree:
            spans = np.ptp(points[rows], axis=0)
            axis = int(np.argmax(spans))
            if quota < 2 or spans[axis] == 0.0:
                return next(leaves)
            values, places = np.unique(points[rows, axis], return_inverse=True)
            shares = np.cumsum(np.bincount(places, weights=weights[rows]))
            whole = shares[-1] if shares[-1] > 0.0 else 1.0
            at = int(np.argmin(np.abs(shares[:-1] / whole - (quota // 2) / quota)))
            goes_left = places <= at
            left, right = rows[goes_left], rows[~goes_left]
            fewest_right = min(quota - quota // 2, len(right))
            threshold = float((values[at] + values[at + 1]) / 2.0)
            return axis, threshold, split(left, quota - fewest_right), split(right, fewest_right)

        root = split(np.arange(len(points)), most)
        return cls(root, next(leaves, most))

    def of(self, points: np.ndarray) -> np.ndarray:
        """Return the cell (n,) of each point (n, l)."""
        found = np.empty(len(points), dtype=int)

        def sort(node: _Tree, rows: np.ndarray) -> None:
            if isinstance(node, int):
                found[rows] = node
                return
            axis, threshold, left, right = node
            goes_left = points[rows, axis] <= threshold
            sort(left, rows[goes_left])
            sort(right, rows[~goes_left])

        sort(self.root, np.arange(len(points)))
        return found

    def shares(self, points: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the share (count,) of the weights (n,) of points (n, l) that lies in each cell."""
        totals = np.bincount(self.of(points), weights=weights, minlength=self.count)
        return totals / totals.sum()


def gathered(points: np.ndarray, weights: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return at most so many points (m, l) and weights (m,): the weighted mean of each cell, and its weight.

    Points (n, l) that are no more than that are returned as they are.
    """
    if len(points) <= most:
        return points, weights
    _, means, totals = _cells(points, weights, most)
    return means[totals > 0.0], totals[totals > 0.0]


def _cells(points: np.ndarray, weights: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the cell of each point (n,), and of each cell the weighted mean (m, l) and the weight (m,)."""
    where = Boxes.around(points, weights, most).of(points)
    totals = np.bincount(where, weights=weights)
    sums = np.stack([np.bincount(where, weights=weights * column) for column in points.T], axis=1)
    return where, sums / np.where(totals > 0.0, totals, 1.0)[:, None], totals


def representatives(points: np.ndarray, most: int) -> np.ndarray:
    """Return the positions of at most so many points (n, l), ascending: of each cell the one nearest to its mean."""
    if len(points) <= most:
        return np.arange(len(points))
    where, means, _ = _cells(points, np.ones(len(points)), most)
    away = ((points - means[where]) ** 2).sum(axis=1)
    order = np.lexsort((away, where))
    first = np.flatnonzero(np.diff(where[order], prepend=-1))
    return np.sort(order[first])


#: The most different contexts that expectations are taken over, and to how many more are gathered.
MOST_CONTEXTS, GATHERED = 2000, 1000

#: Numbers of an intermediate table that is made at once, 128 MiB.
_AT_ONCE = 2**24


def fewer_contexts(forecast: Forecast, family: type[AmbiguitySet] | None) -> Forecast:
    """Gather the contexts of a forecast that has more of them than a set takes, or than tables have room for."""
    most = family.most_cells if family is not None else None
    count = len(forecast.weights)
    if count <= (most or MOST_CONTEXTS):
        return forecast
    kept = most or GATHERED
    span = np.ptp(forecast.contexts, axis=0)
    span[span == 0.0] = 1.0
    points, weights = gathered(forecast.contexts / span, forecast.weights, kept)
    note = f"{count} different contexts were gathered into {len(weights)}, the means of cells of like weight"
    return Forecast(points * span, weights / weights.sum(), (*forecast.notes, note))


def rows_of_a_fit(inputs: np.ndarray, most: int) -> np.ndarray:
    """Return the positions of at most so many rows of inputs (t, D), spread over their order and over the inputs."""
    return representatives(np.column_stack([np.linspace(0.0, 1.0, len(inputs)), inputs]), most)


def in_parts(measure: Callable[[np.ndarray], np.ndarray], values: np.ndarray, width: int) -> np.ndarray:
    """Return a measure of values (n, d), whose tables are so wide, by no more rows at once than memory has room for."""
    step = max(1, _AT_ONCE // max(width, 1))
    if len(values) <= step:
        return measure(values)
    return np.concatenate([measure(values[start : start + step]) for start in range(0, len(values), step)])
