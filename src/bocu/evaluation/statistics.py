"""Statistics over seeds: means with standard errors, paired differences, ranks.

Seeds are paired: every algorithm meets the same problem, contexts and noise under one seed, so differences are taken
seed by seed, with Student's intervals over seeds. Lower is better throughout: the numbers are regrets.
"""

import functools
import gc
import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

CONFIDENCE = 0.95
GROWTH_FROM = 0.3
LEAST_SEEDS = 10
"""Paired seeds without which nothing is said of who has less regret."""
_ROUNDING = 1e-12
"""Share of the largest number below which a standard error is rounding."""
_ENUMERATED = 13
"""Gaps with ties up to which all signs are gone through; scipy does so too."""
MORE, LESS, TIED, TOO_FEW = "more regret", "less regret", "not told apart", "too few seeds"
"""Verdicts on a paired difference."""


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
        difference: mean over seeds with Student's interval; positive: more regret than the other.
        worse: share of seeds in which it has more regret.
        p_value: Wilcoxon signed-rank test, two-sided; after Holm's correction where several stand in one table.
        comparisons: number of p values that were corrected together.
    """

    difference: Interval
    worse: float
    p_value: float
    comparisons: int = 1

    @property
    def verdict(self) -> str:
        """`MORE` or `LESS` where the interval and the corrected test agree on it.

        None below `LEAST_SEEDS` seeds, nor where as many comparisons leave the test no chance with so few.
        """
        count = self.difference.count
        if count < LEAST_SEEDS:
            return TOO_FEW
        if self.p_value < 1 - CONFIDENCE:
            if self.difference.low > 0:
                return MORE
            if self.difference.high < 0:
                return LESS
        return TIED if count >= seeds_for_verdict(self.comparisons) else TOO_FEW


@dataclass(frozen=True)
class Leaders:
    """Who shares the least regret of a table.

    Attributes:
        least: label of the least mean regret, however few its seeds.
        group: it and the competitors that are not told apart from it, by mean regret; empty where no competitor shares
            `LEAST_SEEDS` seeds with it.
        undecided: competitors that share too few seeds with it, by mean regret.
    """

    least: str
    group: tuple[str, ...]
    undecided: tuple[str, ...]


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


def mean_slope(slopes: np.ndarray, confidence: float = CONFIDENCE) -> Interval:
    """Return the mean of the slopes that there are, shape (seeds,), with Student's interval over seeds."""
    slopes = slopes[~np.isnan(slopes)]
    mean, error = (float(value) for value in mean_and_error(slopes))
    half = student_factor(len(slopes), confidence) * error
    return Interval(mean, mean - half, mean + half, len(slopes))


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
    from scipy.stats import binomtest

    count, times = len(happened), int(np.sum(happened))
    if not count:
        return Interval(float("nan"), float("nan"), float("nan"), 0), float("nan")
    ends = binomtest(times, count).proportion_ci(confidence)
    tails = [0.0]
    if 0 <= boundary <= 1:
        tails = [float(binomtest(times, count, boundary, side).pvalue) for side in ("less", "greater")]
    return Interval(times / count, float(ends.low), float(ends.high), count), min(1.0, 2.0 * min(tails))


def student_ratio(numerator: np.ndarray, denominator: np.ndarray, confidence: float = CONFIDENCE) -> Interval:
    """Return the ratio of two means over the same seeds with Fieller's (1954) interval.

    It holds every ratio r for which Student's interval of the paired differences `numerator - r denominator` holds 0,
    so that it holds 1 just where the paired difference is not clear of 0.

    Args:
        numerator: one number a seed, shape (seeds,).
        denominator: the same seeds in the same order.
        confidence: coverage of the interval.

    Returns:
        Its ends are infinite where the denominator's mean is not clear of 0; all is not a number where that mean is 0.
    """
    numerator, denominator = np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float)
    count = len(numerator)
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


def paired_differences(
    regrets: Mapping[str, Mapping[int, float]], reference: str, confidence: float = CONFIDENCE, chosen: bool = False
) -> dict[str, PairedDifference]:
    """Compare every algorithm with a reference, seed by seed.

    Args:
        regrets: label -> seed -> regret.
        reference: label of the algorithm to compare with.
        confidence: coverage of the intervals.
        chosen: whether these numbers chose the reference, as the least of them, say. Any pair might then have been
            compared, and p values are corrected for all pairs.

    Returns:
        label -> difference (the algorithm's regret minus the reference's) over the seeds that both finished, for all
        but the reference. The p values are corrected together (Holm 1979).
    """
    others = [label for label in regrets if label != reference]
    pairs = [(label, reference) for label in others]
    if chosen:
        pairs += itertools.combinations(others, 2)
    gaps = [_paired(regrets[one], regrets[other]) for one, other in pairs]
    p_values = holm(_signed_ranks_of(gaps))
    comparisons = sum(not np.isnan(p) for p in p_values)
    found = {}
    for label, gap, p in zip(others, gaps, p_values, strict=False):  # the first pairs are those with the reference
        worse = float((gap > 0).mean()) if len(gap) else float("nan")
        found[label] = PairedDifference(student_mean(gap, confidence), worse, p, comparisons)
    return found


def smallest_p_value(comparisons: int, seeds: int) -> float:
    """Return the least p value of the signed-rank test after Holm's correction: when all differences have one sign."""
    return min(1.0, comparisons * 2.0 ** (1 - seeds)) if seeds else 1.0


def seeds_for_verdict(comparisons: int) -> int:
    """Return the least paired seeds with which as many comparisons, corrected together, can have a verdict."""
    return next(n for n in itertools.count(LEAST_SEEDS) if smallest_p_value(comparisons, n) < 1 - CONFIDENCE)


def leaders(regrets: Mapping[str, Mapping[int, float]], competing: Collection[str]) -> Leaders | None:
    """Return who shares the least regret, as far as the seeds can tell.

    Args:
        regrets: label -> seed -> regret, all that stand in one table.
        competing: labels that may lead; yardsticks may not.

    Returns:
        None where no competitor has a seed.
    """
    means = {label: float(np.mean(list(own.values()))) for label, own in regrets.items() if own and label in competing}
    if not means:
        return None
    least = min(means, key=lambda label: means[label])
    gaps = paired_differences(regrets, least, chosen=True)
    rivals = {label: gaps[label].verdict for label in sorted(means, key=lambda label: means[label]) if label != least}
    decided = [label for label, verdict in rivals.items() if verdict != TOO_FEW]
    tied = tuple(label for label in decided if rivals[label] != MORE)
    return Leaders(
        least=least,
        group=(least, *tied) if decided else (),
        undecided=tuple(label for label, verdict in rivals.items() if verdict == TOO_FEW),
    )


def _paired(own: Mapping[int, float], other: Mapping[int, float]) -> np.ndarray:
    return np.array([own[seed] - other[seed] for seed in sorted(set(own) & set(other))])


def _signed_ranks_of(gaps: Sequence[np.ndarray]) -> list[float]:
    """Return the p value of each of several samples of gaps; those of equal size are tested in one call."""
    found = [float("nan")] * len(gaps)
    for count in {len(gap) for gap in gaps}:
        places = [place for place, gap in enumerate(gaps) if len(gap) == count]
        for place, p in zip(places, _signed_ranks(np.stack([gaps[place] for place in places])), strict=True):
            found[place] = p
    return found


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
        found[row] = _tied_signed_rank(gaps[row]) if count <= _ENUMERATED else wilcoxon(gaps[row]).pvalue
    return [float(p) for p in found]


def _tied_signed_rank(gaps: np.ndarray) -> float:
    """Return the p value of a few gaps with ties or zeros from all signs that they may have.

    It is what scipy returns after a second for a dozen gaps, and a report has hundreds of pairs.
    """
    from scipy.stats import rankdata

    known = gaps[gaps != 0]
    ranked = rankdata(np.abs(known))
    totals = (np.arange(2 ** len(known))[:, None] >> np.arange(len(known)) & 1) @ ranked
    total = ranked[known > 0].sum()
    return min(1.0, 2 * float(min((totals <= total).mean(), (totals >= total).mean())))


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
