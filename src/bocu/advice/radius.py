"""A radius from the log: how far do later contexts lie from earlier ones?

What is bounded is the distance from the reference (all contexts of the log, older ones less where rows are forgotten)
to the empirical distribution of the contexts of the next `horizon` rows. The log is replayed: blocks of so many rows
are each compared with what lay before them, and the radius is the order statistic of these distances that a further,
exchangeable one stays below with the probability asked for (split conformal prediction, Vovk et al., 2005). Where the
distances may grow along the log, the same is done with what is left of them around a straight line, which is drawn on
to the next block as steeply as its slope and one standard error, and the larger radius is taken.

Sets that compare probabilities context by context (`tv`, `kl`, ...) find two samples of continuous contexts infinitely
far apart, or as far as can be. For them distances are between shares of a few cells of like weight: those of the
reference reweighted cell by cell until its shares are the block's, which is in the set just where its shares are.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bocu.advice.cells import Boxes, gathered
from bocu.core.errors import BocuError
from bocu.robust.ambiguity.base import AmbiguitySet
from bocu.robust.ambiguity.parameters import SetParameters

#: Probability with which the next block is to lie within the radius.
COVERAGE = 0.9

#: The fewest distances, whose largest covers a further one with probability 0.8; of nine with 0.9.
FEWEST_BLOCKS, _ENOUGH_BLOCKS = 4, 9

#: Distances that a log is cut for where it is long enough: the second largest covers with probability 0.9.
_WANTED_BLOCKS = 19

#: Rows of a block that are preferred to more blocks.
_WANTED_ROWS = 5

#: Part of the log that no block is taken from, so that references are not much smaller than the whole.
_FIRST_REFERENCE = 3

#: Cells of sets that compare context by context, for short blocks and from so many rows on.
_CELLS, _MORE_CELLS, _ROWS_FOR_MORE = 4, 8, 32

#: Points that a reference is gathered into before distances that need coordinates.
_POINTS = 128


@dataclass(frozen=True)
class RadiusEstimate:
    """A radius that was estimated from a log.

    Attributes:
        radius: in units of the set.
        horizon: rows of a block, and of the future that the radius is for.
        blocks: number of distances it was found from.
        rank: of the order statistic, the least distance being the first.
        coverage: probability asked for.
        largest, median: of these distances.
        growth: by how much distances may grow from block to block, where that made the radius larger; else 0.
        cells: number of cells that contexts were sorted into; None where distances are between points.
        distances: of the blocks, in the order of time, (blocks,).
        trend: straight line through these, at each block, (blocks,).
    """

    radius: float
    horizon: int
    blocks: int
    rank: int
    coverage: float
    largest: float
    median: float
    growth: float
    cells: int | None
    distances: tuple[float, ...]
    trend: tuple[float, ...]

    def notes(self, *, around_log: bool) -> list[str]:
        """Return what it is, a line each.

        Args:
            around_log: whether the reference is the distribution of the log's contexts, and not another forecast.
        """
        grown = f", and may grow by {self.growth:.2g} a block" if self.growth else ""
        among = f" over {self.cells} cells of contexts" if self.cells else ""
        told = [
            f"radius {self.radius:.4g} estimated from the log: {self.blocks} blocks of {self.horizon} rows lay "
            f"{self.median:.3g} (median) to {self.largest:.3g} (largest) from the rows before them{among}{grown}; the "
            f"next {self.horizon} rows are to lie within it with probability {self.coverage:.0%}"
        ]
        if not around_log:
            told.append(
                "the radius is how far rows of the log lay from the rows before them; that they lie no further from "
                "the forecast cannot be learnt from a log without past forecasts"
            )
        return told


def estimate_radius(
    contexts: np.ndarray,
    stated: SetParameters,
    recency: Callable[[int], np.ndarray] | None = None,
    horizon: int | None = None,
    coverage: float = COVERAGE,
) -> RadiusEstimate:
    """Estimate the radius that the contexts of the next rows stay within.

    Args:
        contexts: of the log in the order of time, in units of the model, shape (t, l).
        stated: the set.
        recency: returns the weights (n,) of the first n rows as they were after row n; None: all alike.
        horizon: rows of a block; None: as many as leave 19 blocks, or fewer blocks but 9 of a short log.
        coverage: probability asked for; of fewer than nine blocks what they are enough for.

    Raises:
        BocuError: the log is too short, or the set has no finite distance.
    """
    rows = len(contexts)
    horizon, starts = blocks_of(rows, horizon)
    blocks = len(starts)
    if blocks < FEWEST_BLOCKS:
        longest = (rows - rows // _FIRST_REFERENCE) // FEWEST_BLOCKS
        hint = f"; --horizon is at most {longest} here" if longest else ""
        raise BocuError(
            f"--radius estimate: the log is too short: its {rows} rows leave {blocks} blocks of {horizon} rows to "
            f"compare with what was before them, {FEWEST_BLOCKS} are wanted{hint}; give --radius a number, or log on"
        )
    coverage = min(coverage, blocks / (blocks + 1))
    between = DistanceAhead(stated, horizon)
    weigh = recency or np.ones
    found = np.array([between(contexts[:start], weigh(start), contexts[start : start + horizon]) for start in starts])
    if not np.isfinite(found).all():
        raise BocuError(
            f"--radius estimate: the set '{stated.name}' finds blocks of the log infinitely far from the rows before "
            "them; give --radius a number, or take --set tv, kl, chi2, mmd or wass"
        )
    steady, growing = _order_statistic(found, coverage), _drawn_on(found, coverage)
    return RadiusEstimate(
        radius=float(max(steady, growing)),
        horizon=horizon,
        blocks=blocks,
        rank=_rank(blocks, coverage),
        coverage=coverage,
        largest=float(found.max()),
        median=float(np.median(found)),
        growth=_slope(found) if growing > steady else 0.0,
        cells=between.cells,
        distances=tuple(found.tolist()),
        trend=tuple((found.mean() + _steepness(found) * _centred(found)).tolist()),
    )


def blocks_of(rows: int, horizon: int | None) -> tuple[int, range]:
    """Return the rows of a block and where blocks of a log start, from a third of it on; None: as are wanted."""
    left = rows - rows // _FIRST_REFERENCE
    if horizon is None:
        horizon = max(1, min(_WANTED_ROWS, left // _ENOUGH_BLOCKS), left // _WANTED_BLOCKS)
    return horizon, range(rows - left // horizon * horizon, rows, horizon)


class DistanceAhead:
    """What an estimate bounds: the distance of a set from weighted contexts to a block of as many rows as follow.

    Args:
        stated: the set.
        horizon: number of rows that follow.

    Attributes:
        cells: number of cells that contexts are sorted into; None where distances are between points.
    """

    def __init__(self, stated: SetParameters, horizon: int) -> None:
        self.stated = stated
        self.cells: int | None = _MORE_CELLS if horizon >= _ROWS_FOR_MORE else _CELLS
        self._by_cells: AmbiguitySet | None = None
        try:
            self._by_cells = stated.over(None)
        except BocuError:  # the distance depends on where contexts lie
            self.cells = None

    def __call__(self, past: np.ndarray, weights: np.ndarray, block: np.ndarray) -> float:
        """Return the distance from contexts (t, l), with weights (t,), to those (horizon, l) that follow."""
        alike = np.ones(len(block))
        if self.cells is not None and self._by_cells is not None:
            cells = Boxes.around(past, weights, self.cells)
            return float(self._by_cells.distance(cells.shares(block, alike), cells.shares(past, weights)))
        points, mass = gathered(past, weights, _POINTS)
        both, places = np.unique(np.vstack([points, block]), axis=0, return_inverse=True)
        places = places.reshape(-1)
        before = np.bincount(places[: len(points)], mass / mass.sum(), minlength=len(both))
        after = np.bincount(places[len(points) :], alike / len(block), minlength=len(both))
        return float(self.stated.over(both).distance(after, before))


def _order_statistic(values: np.ndarray, coverage: float) -> float:
    """Return the least of values (n,) that a further, exchangeable one stays below with the probability given."""
    return float(np.sort(values)[_rank(len(values), coverage) - 1])


def _rank(count: int, coverage: float) -> int:
    return math.ceil(coverage * (count + 1) - 1e-9)


def _slope(values: np.ndarray) -> float:
    """Return the least-squares slope of values (n,) in their position, and one standard error more.

    How fast distances grow is known no better from so few of them, and at the slope itself a drifting log's next block
    lay too far too often.
    """
    at, slope = _centred(values), _steepness(values)
    left = values - values.mean() - slope * at
    return slope + math.sqrt(float(left @ left) / (len(values) - 2) / float(at @ at))


def _steepness(values: np.ndarray) -> float:
    """Return the least-squares slope of values (n,) in their position."""
    at = _centred(values)
    return float(at @ values / (at @ at))


def _centred(values: np.ndarray) -> np.ndarray:
    """Return the positions of values (n,), less their mean."""
    return np.arange(len(values)) - (len(values) - 1) / 2.0


def _drawn_on(values: np.ndarray, coverage: float) -> float:
    """Return the bound for the next of values (n,) that grow along a line; minus infinity where they do not.

    What is left of them around the least-squares line is scaled by its leverage, as Student's prediction interval has
    it, so that at the values and at the next position it has one variance.
    """
    count, at = len(values), _centred(values)
    spread, ahead = float(at @ at), (count + 1) / 2.0
    if (steeper := _slope(values)) <= 0.0:
        return -math.inf
    left = values - values.mean() - _steepness(values) * at
    left /= np.sqrt(1.0 - 1.0 / count - at**2 / spread)
    scale = math.sqrt(1.0 + 1.0 / count + ahead**2 / spread)
    return float(values.mean() + steeper * ahead + scale * _order_statistic(left, coverage))
