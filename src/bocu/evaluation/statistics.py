"""Statistics over seeds: means with standard errors, paired differences, ranks.

Seeds are paired: every algorithm meets the same problem, contexts and noise under one seed, so differences are taken
seed by seed and intervals come from resampling the seeds. Lower is better throughout: the numbers are regrets.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

RESAMPLES = 9_999
CONFIDENCE = 0.95
GROWTH_FROM = 0.3
_BOOTSTRAP_SEED = 20_240_229
"""Intervals of the same numbers are the same in every run and every place of a report."""


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
    from scipy.stats import sem

    values = np.asarray(values, dtype=float)
    count = values.shape[axis]
    empty = np.full(np.delete(values.shape, axis), np.nan)
    mean = values.mean(axis=axis) if count else empty
    return mean, np.asarray(sem(values, axis=axis)) if count > 1 else empty


def student_factor(count: int, confidence: float = CONFIDENCE) -> float:
    """Return how many standard errors Student's interval of a mean reaches; not a number for a `count` of 1."""
    from scipy.stats import t

    return float(t.ppf(0.5 + confidence / 2.0, count - 1)) if count > 1 else float("nan")


def growth_exponent(rounds: np.ndarray, cumulative: np.ndarray, confidence: float = CONFIDENCE) -> Interval:
    """Return the exponent b of regret that grows like t^b: below 1 the regret of a round vanishes, at 1 it stays.

    For each seed the least-squares slope of log cumulative regret on log t over the rounds after the first 30 %; then
    their mean, with Student's interval over seeds. Seeds without regret there have no exponent and are left out.

    Args:
        rounds: t, ascending, shape (rounds,).
        cumulative: cumulative regret, shape (seeds, rounds).
        confidence: coverage of the interval.
    """
    late = rounds > GROWTH_FROM * rounds[-1]
    if late.sum() < 2:
        return Interval(float("nan"), float("nan"), float("nan"), 0)
    grown = cumulative[:, late]
    logs = np.log(grown[(grown > 0.0).all(axis=1)])
    centred = np.log(rounds[late]) - np.log(rounds[late]).mean()
    slopes = logs @ centred / (centred @ centred)
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
    from scipy.stats import bootstrap

    values = np.asarray(values, dtype=float)
    if len(values) < 2:
        mean = float(values.mean()) if len(values) else float("nan")
        return Interval(mean, float("nan"), float("nan"), len(values))
    mean = float(values.mean())
    if np.ptp(values) == 0:
        return Interval(mean, mean, mean, len(values))
    found = bootstrap(
        (values,),
        np.mean,
        confidence_level=confidence,
        n_resamples=resamples,
        method="BCa",
        rng=np.random.default_rng(_BOOTSTRAP_SEED),
        vectorized=True,
    ).confidence_interval
    return Interval(mean, float(found.low), float(found.high), len(values))


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
    draws = np.random.default_rng(_BOOTSTRAP_SEED).integers(0, count, (resamples, count))
    below = denominator[draws].mean(axis=1)
    ratios = numerator[draws].mean(axis=1)[below != 0] / below[below != 0]
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
    found: dict[str, PairedDifference] = {}
    base = regrets[reference]
    for label, own in regrets.items():
        if label == reference:
            continue
        seeds = sorted(set(own) & set(base))
        gaps = np.array([own[seed] - base[seed] for seed in seeds])
        worse = float((gaps > 0).mean()) if len(gaps) else float("nan")
        found[label] = PairedDifference(bootstrap_mean(gaps, confidence), worse, _signed_rank(gaps))
    corrected = holm([each.p_value for each in found.values()])
    return {
        label: PairedDifference(each.difference, each.worse, p)
        for (label, each), p in zip(found.items(), corrected, strict=True)
    }


def _signed_rank(gaps: np.ndarray) -> float:
    from scipy.stats import wilcoxon

    if len(gaps) < 2:
        return float("nan")
    if not gaps.any():
        return 1.0  # no difference in any seed: the test itself is not defined there
    return float(wilcoxon(gaps).pvalue)


def holm(p_values: list[float]) -> list[float]:
    """Correct p values for their number by Holm's step-down method; those that are not numbers stay so."""
    from statsmodels.stats.multitest import multipletests

    known = [position for position, p in enumerate(p_values) if not np.isnan(p)]
    corrected = list(p_values)
    if known:
        for position, p in zip(known, multipletests([p_values[i] for i in known], method="holm")[1], strict=True):
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
