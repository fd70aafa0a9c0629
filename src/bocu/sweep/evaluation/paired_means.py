"""Means of paired differences over seeds: the interval and the p value of one test, the symmetric bootstrap-t.

Seeds are drawn anew with replacement, the same for all pairs of a table; what is compared is the mean in units of its
own standard error, so that a skewed law widens the interval (Hall 1988, "Theoretical comparison of bootstrap confidence
intervals", section 3). Over several pairs the largest of their statistics is compared (max-T; Westfall and Young 1993),
which keeps what the pairs have in common. `tests/benchmarks/verdicts.py` measures how often it errs.

Rounds of one run take the place of seeds in moving blocks (Kuensch 1989, "The jackknife and the bootstrap for general
stationary observations"), which go on from the last round to the first (Politis and Romano 1992): each counts alike.
"""

import functools
from dataclasses import dataclass

import numpy as np

RESAMPLES = 4_999  #: One less than a round number, so that the quantile is one of the statistics.
_LEAST_ERROR = 0.2
"""Share of the sample's standard error that a resample's is at least.

A resample that lacks the one seed in which a method got stuck has hardly a spread: unbounded, its statistic would widen
the intervals of the whole table without end. With half, tables with such methods have too many false verdicts.
"""
_ROUNDING = 1e-12  #: Share of the largest number below which a standard error is rounding.


@dataclass(frozen=True)
class PairedMeans:
    """Means of several samples over the same seeds, each attribute of shape (pairs,)."""

    mean: np.ndarray  #: over the seeds that a pair has.
    half: np.ndarray  #: half the width of its interval, by itself; never less than that of Student's.
    half_together: np.ndarray  #: half the width of intervals that hold all means together.
    #: two-sided, of a mean of 0, by itself; at most 1 less the confidence just where the interval excludes 0.
    p_value: np.ndarray
    p_together: np.ndarray  #: corrected for all pairs, likewise with the intervals that hold together.
    count: np.ndarray  #: seeds of each pair.


def moving_blocks(rounds: np.ndarray, length: int) -> np.ndarray:
    """Return what blocks of so many rounds come to over as many as there are; shape (rounds,), one begins in each."""
    around = np.concatenate([[0.0], np.cumsum(np.concatenate([rounds, rounds[: length - 1]]))])
    return np.asarray((around[length:] - around[:-length]) * (len(rounds) / length))


def paired_means(gaps: np.ndarray, confidence: float = 0.95, blocks: int | None = None) -> PairedMeans:
    """Return means with intervals and p values, by themselves and for all pairs together.

    Args:
        gaps: differences, shape (pairs, seeds), not a number where a pair lacks a seed.
        confidence: coverage of the intervals.
        blocks: of `moving_blocks` in the place of seeds, how many fit side by side; a resample draws as many.

    Returns:
        Numbers that are equal in all n seeds have an interval without width and the p value 2^(1 - n) of as many signs
        that are alike, times the pairs where they stand together; 1 where all are 0. Below two seeds only the mean is a
        number.
    """
    from scipy.stats import t

    gaps = np.atleast_2d(np.asarray(gaps, dtype=float))
    there = ~np.isnan(gaps)
    known, seeds = np.where(there, gaps, 0.0), there.sum(axis=1)
    count = seeds if blocks is None else np.full(len(gaps), blocks)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = known.sum(axis=1) / seeds
        centred = np.where(there, gaps - mean[:, None], 0.0)
        error = np.sqrt((centred**2).sum(axis=1) * (count / seeds) / (count - 1) / count)
        found = np.abs(mean) / error
    constant = error <= _ROUNDING * np.abs(known).max(axis=1, initial=0.0)
    drawn = _resampled(centred, there, np.where(constant | (count < 2), np.inf, error), blocks)
    alike = np.where(mean == 0, 1.0, 2.0 ** (1.0 - count))
    answers = []
    for statistics, several in ((drawn, 1), (drawn.max(axis=1, keepdims=True, initial=0.0), len(gaps))):
        rank = int(np.ceil(confidence * (RESAMPLES + 1))) - 1
        factor = np.maximum(np.sort(statistics, axis=0)[rank], t.isf((1 - confidence) / 2, count - 1))
        p = np.maximum((1 + (statistics >= found).sum(axis=0)) / (RESAMPLES + 1), 2 * t.sf(found, count - 1))
        p = np.where(constant, np.minimum(1.0, several * alike), np.where(count < 2, np.nan, p))
        answers.append((np.where(constant, 0.0, error) * factor, p))
    (half, p_value), (half_together, p_together) = answers
    return PairedMeans(mean, half, half_together, p_value, p_together, count)


def _resampled(centred: np.ndarray, there: np.ndarray, error: np.ndarray, blocks: int | None) -> np.ndarray:
    """Return the sizes of the studentised means of resamples, shape (RESAMPLES, pairs).

    Args:
        centred: numbers less their mean, 0 where there are none, shape (pairs, seeds).
        there: whether there is a number, same shape.
        error: their standard errors, shape (pairs,); infinite for pairs that are left out, whose statistics are 0.
        blocks: as of `paired_means`.
    """
    if blocks is None:
        weights = _weights(centred.shape[1])
        count = np.maximum(weights @ there.T, 2.0)
        mean, squared = weights @ centred.T / count, weights @ (centred**2).T / count
    else:
        starts = np.random.default_rng(blocks).integers(centred.shape[1], size=(RESAMPLES, blocks))
        count = np.full((RESAMPLES, len(centred)), max(blocks, 2.0))
        mean, squared = (np.stack([row[starts].mean(axis=1) for row in rows], axis=1) for rows in (centred, centred**2))
    spread = np.sqrt(np.maximum(squared - mean**2, 0.0) / (count - 1))
    return np.abs(mean) / np.maximum(spread, _LEAST_ERROR * error)


@functools.cache
def _weights(seeds: int) -> np.ndarray:
    """Return how often each seed is drawn, shape (RESAMPLES, seeds): the same for all tables of as many seeds."""
    return np.random.default_rng(seeds).multinomial(seeds, np.full(seeds, 1 / seeds), size=RESAMPLES).astype(float)
