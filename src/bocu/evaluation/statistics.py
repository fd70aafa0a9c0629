"""Statistics over seeds: means with standard errors, paired differences, ranks.

Seeds are paired: every algorithm meets the same problem, contexts and noise under one seed, so differences are taken
seed by seed and intervals come from resampling the seeds. Lower is better throughout: the numbers are regrets.
"""

import functools
import gc
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

RESAMPLES = 9_999
CONFIDENCE = 0.95
GROWTH_FROM = 0.3
_BOOTSTRAP_SEED = 20_240_229
"""Intervals of the same numbers are the same in every run and every place of a report."""
_KEPT_COUNTS = 300  # samples of so many seeds, or fewer, are kept from one interval to the next: 24 MB
_DRAWN_AT_ONCE = 2**22  # numbers


@dataclass(frozen=True)
class Interval:
    """An estimate with a confidence interval.

    Attributes:
        value: the estimate.
        low, high: ends of the interval; not a number where fewer than two seeds stand behind it.
        count: seeds behind it.
    """

    value: float
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class PairedDifference:
    """How much more regret one algorithm has than another on the same seeds.

    Attributes:
        difference: mean over seeds with its bootstrap interval; positive: more regret than the other.
        worse: share of seeds in which it has more regret.
        p_value: Wilcoxon signed-rank test, two-sided; after Holm's correction where several stand in one table.
    """

    difference: Interval
    worse: float
    p_value: float


@dataclass(frozen=True)
class Ranks:
    """Ranks of algorithms over seeds, 1 the least regret.

    Attributes:
        mean: label -> mean rank over the seeds that all algorithms finished; ties share their mean rank.
        count: those seeds.
        p_value: Friedman's test that all algorithms rank alike; not a number below 3 algorithms or 2 seeds.
    """

    mean: dict[str, float]
    count: int
    p_value: float


def mean_and_error(values: np.ndarray, axis: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard error of the mean over an axis.

    Args:
        values: any shape, without missing values.
        axis: the axis of the seeds.

    Returns:
        Both of the shape without `axis`. The standard error (n - 1 in the variance) is not a number for one value,
        and both are for none.
    """
    values = np.asarray(values, dtype=float)
    count = values.shape[axis]
    empty = np.full(np.delete(values.shape, axis), np.nan)
    mean = values.mean(axis=axis) if count else empty
    return mean, np.asarray(values.std(axis=axis, ddof=1) / np.sqrt(count)) if count > 1 else empty


@functools.cache
def student_factor(count: int, confidence: float = CONFIDENCE) -> float:
    """Return how many standard errors Student's interval of a mean reaches; not a number for a `count` of 1."""
    from scipy.stats import t

    return float(t.ppf(0.5 + confidence / 2.0, count - 1)) if count > 1 else float("nan")


def growth_exponent(rounds: np.ndarray, cumulative: np.ndarray, confidence: float = CONFIDENCE) -> Interval:
    """Return the exponent b of regret that grows like t^b: below 1 the regret of a round vanishes, at 1 it stays.

    The mean of `growth_slopes`, with Student's interval over seeds. Seeds without regret there have no exponent and are
    left out.

    Args:
        rounds: t, ascending, shape (rounds,).
        cumulative: cumulative regret, shape (seeds, rounds).
        confidence: coverage of the interval.
    """
    return mean_slope(growth_slopes(rounds, cumulative), confidence)


def growth_slopes(rounds: np.ndarray, cumulative: np.ndarray) -> np.ndarray:
    """Return for each seed the least-squares slope of log cumulative regret on log t after the first 30 % of rounds.

    Args:
        rounds: t, ascending, shape (rounds,).
        cumulative: cumulative regret, shape (seeds, rounds).

    Returns:
        Shape (seeds,); not a number for a seed that has a round without regret there, nor where rounds are too few.
    """
    late = rounds > GROWTH_FROM * rounds[-1]
    slopes = np.full(len(cumulative), np.nan)
    if late.sum() < 2:
        return slopes
    grown = cumulative[:, late]
    positive = (grown > 0.0).all(axis=1)
    centred = np.log(rounds[late]) - np.log(rounds[late]).mean()
    slopes[positive] = np.log(grown[positive]) @ centred / (centred @ centred)
    return slopes


def mean_slope(slopes: np.ndarray, confidence: float = CONFIDENCE) -> Interval:
    """Return the mean of the slopes that there are, shape (seeds,), with Student's interval over seeds."""
    slopes = slopes[~np.isnan(slopes)]
    mean, error = (float(value) for value in mean_and_error(slopes))
    half = student_factor(len(slopes), confidence) * error
    return Interval(mean, mean - half, mean + half, len(slopes))


def bootstrap_mean(values: np.ndarray, confidence: float = CONFIDENCE, resamples: int = RESAMPLES) -> Interval:
    """Return the mean with a bias-corrected, accelerated bootstrap interval (Efron 1987).

    Args:
        values: one number a seed, shape (seeds,).
        confidence: coverage of the interval.
        resamples: number of bootstrap samples.
    """
    return bootstrap_means(np.asarray(values, dtype=float)[None], confidence, resamples)[0]


def bootstrap_means(values: np.ndarray, confidence: float = CONFIDENCE, resamples: int = RESAMPLES) -> list[Interval]:
    """Do as `bootstrap_mean` for rows of numbers, shape (rows, seeds), each as if it were alone."""
    from scipy.stats import bootstrap

    values = np.asarray(values, dtype=float)
    count = values.shape[1]
    means = values.mean(axis=1) if count else np.full(len(values), np.nan)
    if count < 2:
        return [Interval(float(mean), float("nan"), float("nan"), count) for mean in means]
    found = [Interval(float(mean), float(mean), float(mean), count) for mean in means]
    rows = np.flatnonzero(np.ptp(values, axis=1) != 0)
    if not len(rows):
        return found
    interval = bootstrap(
        (values[rows],),
        np.mean,
        axis=-1,
        confidence_level=confidence,
        n_resamples=0,
        bootstrap_result=_Resampled(resampled_means(values[rows], resamples)),
        method="BCa",
        vectorized=True,
    ).confidence_interval
    for row, low, high in zip(rows, interval.low, interval.high, strict=True):
        found[row] = Interval(float(means[row]), float(low), float(high), count)
    return found


@dataclass(frozen=True)
class _Resampled:
    """What scipy takes for the result of an earlier bootstrap: means of samples that were drawn by other means."""

    bootstrap_distribution: np.ndarray


def resampled_means(values: np.ndarray, resamples: int = RESAMPLES) -> np.ndarray:
    """Return the means of bootstrap samples of rows of numbers, the same samples for every row.

    A sample counts how often it holds each number, so that the means of a row are one product with a matrix: no sample
    is ever written out, which took most of the time of a report.

    Args:
        values: shape (rows, numbers).
        resamples: number of samples.

    Returns:
        Shape (rows, resamples).
    """
    count = values.shape[1]
    if count <= _KEPT_COUNTS:
        return _products(_sample_counts(count, resamples), values) / count
    draws, means = np.random.default_rng(_BOOTSTRAP_SEED), np.empty((len(values), resamples))
    step = max(1, _DRAWN_AT_ONCE // count)
    for start in range(0, resamples, step):
        stop = min(resamples, start + step)
        counts = _counted(draws.integers(0, count, (stop - start, count)))
        means[:, start:stop] = _products(counts, values) / count
    return means


@functools.lru_cache(maxsize=4)
def _sample_counts(count: int, resamples: int) -> np.ndarray:
    """Return how often each of `count` numbers stands in every bootstrap sample, shape (resamples, count)."""
    return _counted(np.random.default_rng(_BOOTSTRAP_SEED).integers(0, count, (resamples, count)))


def _products(counts: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the totals of samples, shape (rows, samples): row by row, so that rounding depends on no other row."""
    return np.stack([counts @ row for row in values])


def _counted(draws: np.ndarray) -> np.ndarray:
    samples, count = draws.shape
    places = (draws + count * np.arange(samples)[:, None]).ravel()
    return np.bincount(places, minlength=samples * count).reshape(samples, count).astype(float)


def bootstrap_ratio(
    numerator: np.ndarray, denominator: np.ndarray, confidence: float = CONFIDENCE, resamples: int = RESAMPLES
) -> Interval:
    """Return the ratio of two means over the same seeds, with a percentile interval that resamples seeds as pairs.

    Args:
        numerator: one number a seed, shape (seeds,).
        denominator: the same seeds in the same order.
        confidence: coverage of the interval.
        resamples: number of bootstrap samples.
    """
    numerator, denominator = np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float)
    count = len(numerator)
    base = denominator.mean() if count else 0.0
    if base == 0:
        return Interval(float("nan"), float("nan"), float("nan"), count)
    ratio = float(numerator.mean() / base)
    if count < 2:
        return Interval(ratio, float("nan"), float("nan"), count)
    above, below = resampled_means(np.stack([numerator, denominator]), resamples)
    ratios = above[below != 0] / below[below != 0]
    tail = (1 - confidence) / 2
    low, high = np.quantile(ratios, [tail, 1 - tail])
    return Interval(ratio, float(low), float(high), count)


def paired_differences(
    regrets: Mapping[str, Mapping[int, float]], reference: str, confidence: float = CONFIDENCE
) -> dict[str, PairedDifference]:
    """Compare every algorithm with a reference, seed by seed.

    Args:
        regrets: label -> seed -> regret.
        reference: label of the algorithm to compare with.
        confidence: coverage of the intervals.

    Returns:
        label -> difference (the algorithm's regret minus the reference's) over the seeds that both finished, for all
        but the reference. The p values are corrected together (Holm 1979).
    """
    base = regrets[reference]
    gaps: dict[str, np.ndarray] = {}
    for label, own in regrets.items():
        if label != reference:
            seeds = sorted(set(own) & set(base))
            gaps[label] = np.array([own[seed] - base[seed] for seed in seeds])
    found: dict[str, PairedDifference] = {}
    for count in dict.fromkeys(map(len, gaps.values())):
        labels = [label for label, own in gaps.items() if len(own) == count]
        table = np.stack([gaps[label] for label in labels])
        worse = (table > 0).mean(axis=1) if count else np.full(len(labels), np.nan)
        intervals, p_values = bootstrap_means(table, confidence), _signed_ranks(table)
        for row, label in enumerate(labels):
            found[label] = PairedDifference(intervals[row], float(worse[row]), p_values[row])
    corrected = holm([found[label].p_value for label in gaps])
    return {
        label: PairedDifference(found[label].difference, found[label].worse, p)
        for label, p in zip(gaps, corrected, strict=True)
    }


def _signed_ranks(gaps: np.ndarray) -> list[float]:
    """Return the p value of every row of gaps, shape (rows, seeds), each as if it were alone."""
    from scipy.stats import wilcoxon

    rows, count = gaps.shape
    if count < 2:
        return [float("nan")] * rows
    found = np.ones(rows)  # no difference in any seed: the test itself is not defined there
    sizes = np.sort(np.abs(gaps), axis=1)
    # Zeros and ties change how scipy tests, of all rows of a call.
    plain = (sizes[:, 0] > 0) & (np.diff(sizes, axis=1) > 0).all(axis=1)
    if plain.any():
        found[plain] = wilcoxon(gaps[plain], axis=1).pvalue
    for row in np.flatnonzero(~plain & gaps.any(axis=1)):
        found[row] = wilcoxon(gaps[row]).pvalue
    return [float(p) for p in found]


def holm(p_values: list[float]) -> list[float]:
    """Correct p values for their number by Holm's step-down method; those that are not numbers stay so."""
    from statsmodels.stats.multitest import multipletests

    known = [position for position, p in enumerate(p_values) if not np.isnan(p)]
    corrected = list(p_values)
    if not known:
        return corrected
    gc.freeze()  # the library collects garbage whenever it is called: 0.2 s, unless what there is stands aside
    try:
        found = multipletests([p_values[i] for i in known], method="holm")[1]
    finally:
        gc.unfreeze()
    for position, p in zip(known, found, strict=True):
        corrected[position] = float(p)
    return corrected


def ranks(regrets: Mapping[str, Mapping[int, float]]) -> Ranks:
    """Rank algorithms within every seed that all of them finished.

    Args:
        regrets: label -> seed -> regret.
    """
    from scipy.stats import friedmanchisquare, rankdata

    labels = list(regrets)
    shared = sorted(set.intersection(*(set(own) for own in regrets.values()))) if labels else []
    if not shared:
        return Ranks({label: float("nan") for label in labels}, 0, float("nan"))
    table = np.array([[regrets[label][seed] for label in labels] for seed in shared])
    mean = rankdata(table, axis=1).mean(axis=0)
    testable = len(labels) >= 3 and len(shared) >= 2 and bool(np.ptp(table, axis=1).any())
    p_value = float(friedmanchisquare(*table.T).pvalue) if testable else float("nan")
    return Ranks(dict(zip(labels, (float(rank) for rank in mean), strict=True)), len(shared), p_value)
