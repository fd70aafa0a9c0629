"""The decision that pays: under which past and which radius later blocks of the log would have earned most.

A radius that covers the next block is not one that pays: in expectation a robust decision beats a plain one only where
the reference is wrong. Options are half-lives of the reference and radii around it, 0 among them. The log is replayed:
what each option would have decided from the rows before a block is scored by the fitted payoff in the block's contexts.
The simplest option within one standard error of the best is taken.
"""

import itertools
from collections.abc import Sequence

import numpy as np

from bocu.advice.cells import Boxes, rows_of_a_fit
from bocu.advice.radius import FEWEST_BLOCKS, DistanceAhead, blocks_of
from bocu.advice.search import Search
from bocu.advice.suggestion import Chosen, Earned, Gain
from bocu.advice.time import Clock
from bocu.core.ties import first_best
from bocu.robust.ambiguity.parameters import SetParameters

#: Half-lives that are tried, as parts of the time that the log spans, and radii, in median distances of its blocks.
HALF_LIVES, RADII = (None, 1 / 3, 1 / 8, 1 / 16, 1 / 32), (0.0, 0.125, 0.25, 0.5, 1.0, 2.0)

#: A block counts half as much as one that is so many blocks later, as a part of all.
_BLOCKS_FADE = 1 / 4

#: The last rows of the log that are replayed, candidates, and points that a reference is gathered into.
_MOST_ROWS, _CANDIDATES, _POINTS = 1000, 512, 24


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
    options = sorted(itertools.product(halves, radii), key=_plainness)
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
    age = np.arange(len(starts))[::-1] / (_BLOCKS_FADE * len(starts))
    taken = _simplest(scores, np.exp2(-age))
    return Chosen(
        *options[taken],
        len(options),
        len(starts),
        horizon,
        cells,
        Earned.of(scores[taken], sign),
        _gain(scores[taken] - scores[0]),
    )


def _plainness(option: tuple[float | None, float]) -> tuple[float, float]:
    """Order options from the plainest on: small radii before large ones, and long half-lives before short ones."""
    half, radius = option
    return radius, 0.0 if half is None else 1.0 / half


def _decided(
    payoffs: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    stated: SetParameters | None,
    radii: Sequence[float],
    cells: int | None,
) -> list[int]:
    """Return which candidate each radius decides for, from payoffs (n, s) in weighted points (s, l) of the past."""
    boxes = Boxes.around(points, weights, cells or _POINTS)
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


def _simplest(scores: np.ndarray, weights: np.ndarray) -> int:
    """Return the first option of scores (n, blocks) that is within one standard error of the best, blocks weighted."""
    share = weights / weights.sum()
    best = first_best(scores @ share)
    behind = scores[best] - scores
    mean = behind @ share
    error = np.sqrt((((behind - mean[:, None]) * share) ** 2).sum(axis=1) / (1.0 - (share**2).sum()))
    return int(np.argmax(mean <= error))


def _gain(differences: np.ndarray) -> Gain:
    """Return Student's interval of the mean of differences (blocks,)."""
    from scipy import stats

    mean, count = float(differences.mean()), len(differences)
    reach = float(stats.t.ppf(0.975, count - 1)) * float(differences.std(ddof=1)) / float(np.sqrt(count))
    return Gain(mean, (mean - reach, mean + reach))
