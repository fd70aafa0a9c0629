"""Statistics over seeds: means with standard errors, shares, ratios, ranks.

Seeds are paired: every algorithm meets the same problem, contexts and noise under one seed, so differences are taken
seed by seed, with Student's intervals over seeds. Lower is better throughout: the numbers are regrets.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

CONFIDENCE = 0.95
GROWTH_FROM = 0.3
LEAST_SEEDS = 10  #: Paired seeds without which nothing is said of who has less regret.
_ROUNDING = 1e-12  #: Share of the largest number below which a standard error is rounding.


@dataclass(frozen=True)
class Interval:
    """An estimate with a confidence interval."""

    value: float  #: the estimate.
    # low, high: ends of the interval; not a number where fewer than two seeds stand behind it.
    low: float
    high: float
    count: int  #: seeds behind it.


NOTHING = Interval(float("nan"), float("nan"), float("nan"), 0)


@dataclass(frozen=True)
class Ranks:
    """Ranks of algorithms over seeds, 1 the least regret."""

    #: label -> mean rank over the seeds that all algorithms finished; ties share their mean rank.
    mean: dict[str, float]
    count: int  #: those seeds.
    p_value: float  #: Friedman's test that all algorithms rank alike; not a number below 3 algorithms or 2 seeds.


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


def growth_slopes(rounds: np.ndarray, cumulative: np.ndarray, after: float = GROWTH_FROM) -> np.ndarray:
    """Return for each seed the least-squares slope of log cumulative regret on log t after the first 30 % of rounds.

    Args:
        rounds: t, ascending, shape (rounds,).
        cumulative: cumulative regret, shape (seeds, rounds).
        after: share of the rounds that are left out, another than 30 %.

    Returns:
        Shape (seeds,); not a number for a seed that has a round without regret there, nor where rounds are too few.
    """
    late = rounds > after * rounds[-1]
    slopes = np.full(len(cumulative), np.nan)
    if late.sum() < 2:
        return slopes
    grown = cumulative[:, late]
    positive = (grown > 0.0).all(axis=1)
    centred = np.log(rounds[late]) - np.log(rounds[late]).mean()
    slopes[positive] = np.log(grown[positive]) @ centred / (centred @ centred)
    return slopes


def student_intervals(values: np.ndarray, confidence: float = CONFIDENCE) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean and ends of Student's interval of rows of numbers, one a seed: shape (..., seeds) -> three of (...).

    How often such intervals hold the mean at few seeds and skewed numbers is measured in docs/statistics.md.
    """
    values = np.asarray(values, dtype=float)
    mean, error = mean_and_error(values, axis=-1)
    half = student_factor(values.shape[-1], confidence) * error
    return mean, mean - half, mean + half


def student_mean(values: np.ndarray, confidence: float = CONFIDENCE) -> Interval:
    """Return the mean of one number a seed, shape (seeds,), with Student's interval."""
    mean, low, high = (float(found) for found in student_intervals(values, confidence))
    return Interval(mean, low, high, len(values))


def student_p_value(values: np.ndarray, boundary: float) -> float:
    """Return the two-sided p value of one number a seed, shape (seeds,), against a mean of `boundary`.

    It is below 5 % just where Student's 95 % interval excludes the boundary; not a number below two seeds. Numbers that
    are equal in all seeds, up to rounding, tell of no spread: they have the least p value of a sign-flip test.
    """
    from scipy.stats import t

    values = np.asarray(values, dtype=float)
    mean, error = (float(found) for found in mean_and_error(values - boundary))
    if len(values) < 2:
        return float("nan")
    if error <= _ROUNDING * np.abs(values).max():
        return 1.0 if mean == 0 else 2.0 ** (1 - len(values))
    return float(2.0 * t.sf(abs(mean) / error, len(values) - 1))


def share_interval(happened: np.ndarray, boundary: float, confidence: float = CONFIDENCE) -> tuple[Interval, float]:
    """Return the share of seeds in which something happened, and the two-sided p value against another share.

    The interval is that of Clopper and Pearson (1934), the test the exact binomial one of both sides, twice its smaller
    tail: below 5 % just where the 95 % interval excludes the other share.

    Args:
        happened: 1 or 0 a seed, shape (seeds,).
        boundary: the other share.
        confidence: coverage of the interval.
    """
    count, times = len(happened), int(np.sum(happened))
    if not count:
        return NOTHING, float("nan")
    low, high = (float(end) for end in exact_ends(times, count, confidence))
    return Interval(times / count, low, high, count), float(exact_p_values(times, count, boundary))


def exact_ends(
    times: np.ndarray | float, count: np.ndarray | float, confidence: float = CONFIDENCE
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of Clopper and Pearson's intervals of shares; times may be fractions, as of ties counted half."""
    from scipy.stats import beta

    times, count, tail = np.asarray(times, dtype=float), np.asarray(count, dtype=float), (1 - confidence) / 2
    with np.errstate(invalid="ignore"):
        low = np.where(times > 0, beta.ppf(tail, times, count - times + 1), 0.0)
        return low, np.where(times < count, beta.isf(tail, times + 1, count - times), 1.0)


def exact_p_values(times: np.ndarray | int, count: np.ndarray | int, boundary: float) -> np.ndarray:
    """Return twice the smaller binomial tails of shares, at most 1; 0 for a boundary that is no share."""
    from scipy.stats import binom

    if not 0 <= boundary <= 1:
        return np.zeros(np.shape(times))
    times = np.asarray(times)
    below, above = binom.cdf(times, count, boundary), binom.sf(times - 1, count, boundary)
    return np.asarray(np.minimum(1.0, 2.0 * np.minimum(below, above)))


def student_ratio(
    numerator: np.ndarray, denominator: np.ndarray, confidence: float = CONFIDENCE, count: int | None = None
) -> Interval:
    """Return the ratio of two means over the same seeds with Fieller's (1954) interval.

    It holds every ratio r for which Student's interval of the paired differences `numerator - r denominator` holds 0,
    so that it holds 1 just where the paired difference is not clear of 0.

    Args:
        numerator: one number a seed, shape (seeds,).
        denominator: the same seeds in the same order.
        confidence: coverage of the interval.
        count: how many of the numbers are independent of each other; all, if left out.

    Returns:
        Its ends are infinite where the denominator's mean is not clear of 0; all is not a number where that mean is 0.
    """
    numerator, denominator = np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float)
    count = len(numerator) if count is None else count
    base = float(denominator.mean()) if count else 0.0
    if base == 0:
        return Interval(float("nan"), float("nan"), float("nan"), count)
    ratio = float(numerator.mean() / base)
    if count < 2:
        return Interval(ratio, float("nan"), float("nan"), count)
    # With s = r - ratio and e = numerator - ratio d: s^2 (base^2 - t^2 var(d)) + 2 s t^2 cov(e, d) - t^2 var(e) <= 0.
    (left, mixed), (_, below) = np.cov(numerator - ratio * denominator, denominator) / count
    squared = student_factor(count, confidence) ** 2
    leading = base**2 - squared * below
    if leading <= 0:
        return Interval(ratio, -float("inf"), float("inf"), count)
    middle = -squared * mixed
    half = float(np.sqrt(middle**2 + squared * leading * left))
    return Interval(ratio, ratio + (middle - half) / leading, ratio + (middle + half) / leading, count)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p values for their number by Holm's (1979) step-down method; those that are not numbers stay so."""
    found = np.array(p_values, dtype=float)
    order = np.argsort(found)[: np.count_nonzero(~np.isnan(found))]
    found[order] = np.minimum(1.0, np.maximum.accumulate(found[order] * np.arange(len(order), 0, -1)))
    return [float(p) for p in found]


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Correct p values, all of them numbers, by Benjamini and Hochberg's (1995) method: the false discovery rate."""
    found, count = np.array(p_values, dtype=float), len(p_values)
    order = np.argsort(found)[::-1]
    found[order] = np.minimum(1.0, np.minimum.accumulate(found[order] / (np.arange(count, 0, -1) / count)))
    return [float(p) for p in found]


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
