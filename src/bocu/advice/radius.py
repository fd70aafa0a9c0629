"""Later blocks of a log: how far do their contexts lie from earlier ones, and which decisions would have paid in them?

**The radius that covers.** What is bounded is the distance from the reference (all contexts of the log, older ones less
where rows are forgotten) to the empirical distribution of the contexts of the next `horizon` rows. The log is replayed:
blocks of so many rows are each compared with what lay before them, and the radius is the order statistic of these
distances that a further, exchangeable one stays below with the probability asked for (split conformal prediction, Vovk
et al., 2005). Where the distances may grow along the log, the same is done with what is left of them around a straight
line, drawn on to the next block as steeply as its slope and one standard error, and the larger radius is taken.

Sets that compare probabilities context by context (`tv`, `kl`, ...) find two samples of continuous contexts infinitely
far apart, or as far as can be. For them distances are between shares of a few cells of like weight: those of the
reference reweighted cell by cell until its shares are the block's, which is in the set just where its shares are.

**The decision that pays.** A radius that covers the next block is not one that pays: in expectation a robust decision
beats a plain one only where the reference is wrong. Options are half-lives of the reference and radii around it, 0
among them. The log is replayed: what each option would have decided from the rows before a block is scored by the
fitted payoff in the block's contexts. The simplest option within one standard error of the best is taken.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bocu.advice.logs import Boxes, gathered, rows_of_a_fit
from bocu.advice.search import Search
from bocu.advice.time import Clock
from bocu.core.errors import BocuError
from bocu.core.ties import first_best
from bocu.robust.ambiguity.base import AmbiguitySet
from bocu.robust.ambiguity.parameters import SetParameters

#: Probability that the next block is to lie within the radius; of fewer than nine blocks what they are enough for.
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

#: Points that a reference is gathered into before distances that need coordinates, and before a decision by replay.
_POINTS, _FEWER_POINTS = 128, 24

#: Half-lives that are tried, as parts of the time that the log spans, and radii, in median distances of its blocks.
HALF_LIVES, RADII = (None, 1 / 3, 1 / 8, 1 / 16, 1 / 32), (0.0, 0.125, 0.25, 0.5, 1.0, 2.0)

#: The last rows of the log that are replayed, and candidates.
_MOST_ROWS, _CANDIDATES = 1000, 512

#: Share of the worst rows or blocks whose mean is told.
_WORST = 0.1


@dataclass(frozen=True)
class RadiusEstimate:
    """A radius that was estimated from a log."""

    radius: float  #: in units of the set.
    horizon: int  #: rows of a block, and of the future that the radius is for.
    blocks: int  #: number of distances it was found from.
    rank: int  #: of the order statistic, the least distance being the first.
    coverage: float  #: probability asked for.
    # largest, median: of these distances.
    largest: float
    median: float
    growth: float  #: by how much distances may grow from block to block, where that made the radius larger; else 0.
    cells: int | None  #: number of cells that contexts were sorted into; None where distances are between points.
    distances: tuple[float, ...]  #: of the blocks, in the order of time, (blocks,).
    trend: tuple[float, ...]  #: straight line through these, at each block, (blocks,).

    def notes(self, *, around_log: bool) -> list[str]:
        """Return what it is, a line each; `around_log`: the reference is the log's contexts, and no other forecast."""
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
) -> RadiusEstimate:
    """Estimate the radius that the contexts of the next rows stay within.

    Args:
        contexts: of the log in the order of time, in units of the model, shape (t, l).
        stated: the set.
        recency: returns the weights (n,) of the first n rows as they were after row n; None: all alike.
        horizon: rows of a block; None: as many as leave 19 blocks, or fewer blocks but 9 of a short log.

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
    coverage = min(COVERAGE, blocks / (blocks + 1))
    between = DistanceAhead(stated, horizon)
    weigh = recency or np.ones
    found = np.array([between(contexts[:start], weigh(start), contexts[start : start + horizon]) for start in starts])
    if not np.isfinite(found).all():
        raise BocuError(
            f"--radius estimate: the set '{stated.name}' finds blocks of the log infinitely far from the rows before "
            "them; give --radius a number, or take --set tv, kl, chi2, mmd or wass"
        )
    steady, (growing, steeper, trend) = _order_statistic(found, coverage), _drawn_on(found, coverage)
    return RadiusEstimate(
        radius=float(max(steady, growing)),
        horizon=horizon,
        blocks=blocks,
        rank=_rank(blocks, coverage),
        coverage=coverage,
        largest=float(found.max()),
        median=float(np.median(found)),
        growth=steeper if growing > steady else 0.0,
        cells=between.cells,
        distances=tuple(found.tolist()),
        trend=tuple(trend.tolist()),
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
        self.cells: int | None
        self._by_cells: AmbiguitySet | None
        try:
            self._by_cells, self.cells = stated.over(None), _MORE_CELLS if horizon >= _ROWS_FOR_MORE else _CELLS
        except BocuError:  # the distance depends on where contexts lie
            self._by_cells = self.cells = None

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


def _drawn_on(values: np.ndarray, coverage: float) -> tuple[float, float, np.ndarray]:
    """Return the bound for the next of values (n,) that grow along a line, how steep it is, and the line (n,).

    The line is that of least squares. How fast distances grow is known no better from so few of them than to one
    standard error, which is added: at the slope itself a drifting log's next block lay too far too often. What is left
    around the line is scaled by its leverage, as Student's prediction interval has it, so that at the values and at the
    next position it has one variance. The bound of values that do not grow is minus infinity.
    """
    count, at = len(values), np.arange(len(values)) - (len(values) - 1) / 2.0
    spread, ahead = float(at @ at), (count + 1) / 2.0
    slope = float(at @ values / spread)
    line = values.mean() + slope * at
    left = values - values.mean() - slope * at
    steeper = slope + math.sqrt(float(left @ left) / (count - 2) / spread)
    if steeper <= 0.0:
        return -math.inf, steeper, line
    left /= np.sqrt(1.0 - 1.0 / count - at**2 / spread)
    scale = math.sqrt(1.0 + 1.0 / count + ahead**2 / spread)
    return float(values.mean() + steeper * ahead + scale * _order_statistic(left, coverage)), steeper, line


@dataclass(frozen=True)
class Earned:
    """What one way to decide earns."""

    mean: float  #: of the rows that were judged, in units of the outcome.
    worst: float  #: mean over their worst tenth.
    total: float  #: over all of them.

    @classmethod
    def of(cls, payoffs: np.ndarray, sign: float) -> "Earned":
        """Return what payoffs (n,), to be maximised, amount to in units of the outcome."""
        worst = np.sort(payoffs)[: max(1, round(_WORST * len(payoffs)))]
        return cls(sign * float(payoffs.mean()), sign * float(worst.mean()), sign * float(payoffs.sum()))


@dataclass(frozen=True)
class Gain:
    """What one way to decide earns more (or costs less) than another, a row."""

    gain: float  #: mean of the paired differences; more is better.
    interval: tuple[float, float]  #: where it lies with probability 0.95.

    @classmethod
    def of_blocks(cls, differences: np.ndarray) -> "Gain":
        """Return the mean of differences (blocks,) with Student's interval."""
        from scipy import stats

        mean, count = float(differences.mean()), len(differences)
        reach = float(stats.t.ppf(0.975, count - 1)) * float(differences.std(ddof=1)) / float(np.sqrt(count))
        return cls(mean, (mean - reach, mean + reach))


@dataclass(frozen=True)
class Chosen:
    """The option that was taken, and what it would have earned in later blocks of the log, by the fitted payoff."""

    half_life: float | None  #: of rows in the reference, in units of the clock; None: all count alike.
    radius: float  #: around the reference; 0: the best expectation.
    options: int  #: number of options it was chosen from.
    # blocks, horizon: number of blocks and rows of one; 0 blocks where the log is too short.
    blocks: int
    horizon: int
    cells: int | None = None  #: that the radius is spent on; None: on single contexts.
    earned: Earned | None = None  #: a row, in units of the outcome.
    gain: Gain | None = None  #: over the best expectation with all rows alike; None where the log is too short.


def choose(
    search: Search,
    clock: Clock,
    stated: SetParameters | None,
    half_life: float | None,
    *,
    horizon: int | None,
    sign: float,
) -> Chosen:
    """Choose half-life and radius by replay.

    Args:
        search: candidates and model, of all rows.
        clock: when rows were.
        stated: the set; None: radius 0 alone.
        half_life: the one half-life to take; None: all of `HALF_LIVES`.
        horizon: rows of a block; None: what leaves enough blocks.
        sign: 1 where the outcome is maximised, -1 where it is minimised.
    """
    contexts = search.learnt.log.contexts
    rows = min(len(contexts), _MOST_ROWS)
    contexts, clock = contexts[-rows:], Clock(clock.times[-rows:], clock.unit)
    horizon, starts = blocks_of(rows, horizon)
    if len(starts) < FEWEST_BLOCKS:
        return Chosen(half_life, 0.0, 1, 0, horizon)
    points = search.learnt.scaled(contexts)
    radii, cells = [0.0], None
    if stated is not None:
        between = DistanceAhead(stated, horizon)
        apart = [between(points[:at], np.ones(at), points[at : at + horizon]) for at in starts]
        middle, cells = float(np.median(apart)), between.cells
        radii = [part * middle for part in RADII] if 0.0 < middle < np.inf else radii
    span = float(np.ptp(clock.times))
    halves: list[float | None] = [half_life]
    if half_life is None and span > 0.0:
        halves = [None if part is None else part * span for part in HALF_LIVES]
    # From the plainest on: small radii before large ones, and long half-lives before short ones.
    options = sorted(itertools.product(halves, radii), key=lambda option: (option[1], 1.0 / (option[0] or math.inf)))
    learnt = search.learnt.asked_of(contexts)
    pool = search.pool[rows_of_a_fit(search.pool, _CANDIDATES)]
    payoffs = learnt.means(pool)
    scores = np.empty((len(options), len(starts)))
    for block, start in enumerate(starts):
        later = payoffs[:, start : start + horizon].mean(axis=1)
        for half in halves:
            weights = np.ones(start) if half is None else clock.recency(half, start)
            found = _decided(payoffs[:, :start], points[:start], weights, stated, radii, cells)
            for radius, best in zip(radii, found, strict=True):
                scores[options.index((half, radius)), block] = later[best]
    behind = scores[first_best(scores.mean(axis=1))] - scores
    error = behind.std(axis=1, ddof=1) / math.sqrt(len(starts))
    taken = int(np.argmax(behind.mean(axis=1) <= error))
    earned, gain = Earned.of(scores[taken], sign), Gain.of_blocks(scores[taken] - scores[0])
    return Chosen(*options[taken], len(options), len(starts), horizon, cells, earned, gain)


def _decided(
    payoffs: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    stated: SetParameters | None,
    radii: Sequence[float],
    cells: int | None,
) -> list[int]:
    """Return which candidate each radius decides for, from payoffs (n, s) in weighted points (s, l) of the past."""
    boxes = Boxes.around(points, weights, cells or _FEWER_POINTS)
    owners = np.zeros((len(points), boxes.count))
    owners[np.arange(len(points)), boxes.of(points)] = weights
    shares = owners.sum(axis=0)
    owners, shares = owners[:, shares > 0.0] / shares[shares > 0.0], shares[shares > 0.0] / shares.sum()
    means = payoffs @ owners
    found = [first_best(means @ shares)]
    if stated is None or len(radii) == 1:
        return found * len(radii)
    around = stated.over(None if cells else owners.T @ points)
    return found + [first_best(around.with_epsilon(radius).values(means, shares)[0]) for radius in radii[1:]]
