"""Statistics of algorithms over many problems: ranks, profiles, targets, means without the tails.

Lower is better throughout: the numbers are regrets. Problems are the blocks wherever problems are compared;
the seeds of a problem are no problems more.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bocu.sweep.evaluation.statistics import CONFIDENCE, Interval, exact_ends, student_intervals

RESAMPLES = 2_000
HALVES = 50
LEAST_TO_HALVE = 4  #: Problems without which halves are single problems.
_BOOTSTRAP_SEED = 20_240_229  #: Intervals of the same numbers are the same in every run and every place of a report.


@dataclass(frozen=True)
class ProblemRanks:
    """Ranks of algorithms over problems, 1 the least mean regret."""

    labels: tuple[str, ...]  #: the algorithms.
    mean: np.ndarray  #: mean rank of each, shape (algorithms,); ties share their mean rank.
    problems: int  #: number of problems on which every algorithm has a number.
    p_value: float  #: Friedman's test that all rank alike.
    nemenyi: np.ndarray  #: p values of Nemenyi's test of all pairs, shape (algorithms, algorithms).
    conover: np.ndarray  #: those of Conover's, after Holm's correction; it finds more, and holds its level less surely.
    critical_difference: float  #: mean ranks further apart than this differ by Nemenyi's test.


@dataclass(frozen=True)
class Ranking:
    """An order of algorithms over problems, and how far it can be relied on."""

    labels: tuple[str, ...]  #: the algorithms, the least mean rank first.
    # mean, low, high: mean rank of each with Student's interval over problems, within what ranks can be, (labels,).
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    #: the largest groups of which Nemenyi's test tells no two apart, in that order; the first one leads.
    groups: tuple[tuple[str, ...], ...]
    problems: int  #: number of problems on which every algorithm has a number.
    halves: int  #: number of random halves of the problems that were ranked by themselves.
    same_order: float  #: share of these in which no two algorithms change places.
    same_pairs: float  #: share of the pairs of algorithms that do not change places, mean over these halves.
    same_first: float  #: share of these in which the first has the least mean rank, alone or beside others.
    # p_value, critical_difference: as of `ProblemRanks`.
    p_value: float
    critical_difference: float

    @property
    def leading(self) -> tuple[str, ...]:
        """The first and all that are not told apart from it."""
        return self.groups[0]

    @property
    def letters(self) -> dict[str, str]:
        """The groups of each label as letters: labels without a common one are told apart."""
        return {
            label: "".join(chr(ord("a") + place) for place, group in enumerate(self.groups) if label in group)
            for label in self.labels
        }

    @property
    def best(self) -> str | None:
        """The method that all others are told apart from; None where no method is best."""
        return self.leading[0] if len(self.leading) == 1 else None


def surviving_ranking(
    means: Mapping[str, Mapping[str, float]], halves: int = HALVES, confidence: float = CONFIDENCE
) -> Ranking | None:
    """Rank algorithms over problems, and rank them again on random halves of the problems.

    Args:
        means: problem -> label -> mean regret over the problem's seeds; problems without all labels are left out.
        halves: number of random halves, each of half the problems, rounded down.
        confidence: coverage of the intervals, and one less the level of the test.

    Returns:
        None where there is no test (see `friedman_over_problems`), or below four problems, of which halves are single.
    """
    from scipy.stats import rankdata

    tested = friedman_over_problems(means, confidence)
    if tested is None or tested.problems < LEAST_TO_HALVE:
        return None
    ranked = rankdata(_complete(means)[1], axis=1)
    order = np.argsort(tested.mean, kind="stable")
    generator = np.random.default_rng(_BOOTSTRAP_SEED)
    drawn = np.stack([generator.permutation(len(ranked))[: len(ranked) // 2] for _ in range(halves)])
    found = ranked[drawn].mean(axis=1)[:, order]
    first, second = np.triu_indices(len(order), 1)
    mean, low, high = student_intervals(ranked.T[order], confidence)
    labels = tuple(tested.labels[place] for place in order)
    return Ranking(
        labels=labels,
        mean=mean,
        low=np.clip(low, 1, len(labels)),
        high=np.clip(high, 1, len(labels)),
        groups=_tie_groups(labels, tested.nemenyi[np.ix_(order, order)] > 1.0 - confidence),
        problems=tested.problems,
        halves=halves,
        same_order=float((np.diff(found, axis=1) >= 0).all(axis=1).mean()),
        same_pairs=float((found[:, first] <= found[:, second]).mean()),
        same_first=float((found[:, 0] <= found.min(axis=1)).mean()),
        p_value=tested.p_value,
        critical_difference=tested.critical_difference,
    )


def _tie_groups(labels: Sequence[str], tied: np.ndarray) -> tuple[tuple[str, ...], ...]:
    """Return the largest runs of labels, in the order of their mean ranks, whose ends are not told apart."""
    ends = [max([start, *(np.flatnonzero(tied[start, start:]) + start)]) for start in range(len(labels))]
    # A run that ends where the one before it does is part of that.
    starts = [start for start, end in enumerate(ends) if start == 0 or end > ends[start - 1]]
    return tuple(tuple(labels[start : ends[start] + 1]) for start in starts)


def friedman_over_problems(
    means: Mapping[str, Mapping[str, float]], confidence: float = CONFIDENCE
) -> ProblemRanks | None:
    """Rank algorithms over problems (Friedman 1937; Nemenyi 1963; Conover 1999; Demsar 2006).

    Args:
        means: problem -> label -> mean regret over the problem's seeds; problems without all labels are left out.
        confidence: one less the level of the critical difference.

    Returns:
        None where there is no test: below three algorithms or two problems, or all equal everywhere.
    """
    import scikit_posthocs
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    labels, table = _complete(means)
    if len(labels) < 3 or len(table) < 2 or not np.ptp(table, axis=1).any():
        return None
    count = len(labels)
    reach = studentized_range.ppf(confidence, count, np.inf) / np.sqrt(2.0)
    return ProblemRanks(
        labels=labels,
        mean=rankdata(table, axis=1).mean(axis=0),
        problems=len(table),
        p_value=float(friedmanchisquare(*table.T).pvalue),
        nemenyi=scikit_posthocs.posthoc_nemenyi_friedman(table).to_numpy(),
        conover=scikit_posthocs.posthoc_conover_friedman(table, p_adjust="holm").to_numpy(),
        critical_difference=float(reach * np.sqrt(count * (count + 1) / (6.0 * len(table)))),
    )


def interquartile_mean(
    own: Sequence[np.ndarray],
    reference: Sequence[np.ndarray],
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return the mean of the middle half of all regrets relative to a reference's mean (Agarwal et al. 2021).

    The bootstrap is stratified by problem, and draws the reference's seeds with those of the algorithm. Percentile
    intervals, which cover less than they say at few seeds (docs/statistics.md); a problem counts by its seeds.

    Args:
        own: for each problem regrets, one a seed.
        reference: for each problem those of the reference, of the same seeds and of positive mean.
        confidence: coverage of the interval.
        resamples: number of bootstrap samples; each draws the seeds of every problem anew.
    """
    value = float(_middle([a / b.mean() for a, b in zip(own, reference, strict=True)]))
    drawn = [
        a[at] / b[at].mean(axis=-1, keepdims=True)
        for a, b, at in zip(own, reference, _drawn(own, resamples), strict=True)
    ]
    return _percentiles(value, _middle(drawn), own, confidence)


def probability_of_improvement(
    own: Sequence[np.ndarray], other: Sequence[np.ndarray], confidence: float = CONFIDENCE, resamples: int = RESAMPLES
) -> Interval:
    """Return the probability of less regret than another algorithm, the mean over problems; ties count half.

    As in Agarwal et al. (2021), but on the same seed, since seeds are paired here, in place of any two runs.

    Args:
        own: for each problem regrets, one a seed.
        other: those of the other algorithm, of the same seeds.
        confidence: coverage of the interval, by bootstrap stratified by problem; where all seeds of each problem are
            alike, so that it has no width, that of Clopper and Pearson over all pairs.
        resamples: number of bootstrap samples.
    """
    wins = [(a < b) + 0.5 * (a == b) for a, b in zip(own, other, strict=True)]
    value = float(np.mean([each.mean() for each in wins]))
    drawn = [each[at].mean(axis=-1) for each, at in zip(wins, _drawn(wins, resamples), strict=True)]
    found = _percentiles(value, np.mean(drawn, axis=0), wins, confidence)
    if found.low < found.high or np.isnan(found.low):
        return found
    low, high = exact_ends(value * found.count, found.count, confidence)
    return Interval(value, float(low), float(high), found.count)


def sign_test(regrets: np.ndarray) -> float:
    """Return the p value of the sign test that two algorithms have less regret than the other equally often.

    It speaks of the problems at hand: where chances differ from problem to problem, pairs vary less than the test has
    it, and its p value is too large if anything.

    Args:
        regrets: of both on the same problem and seed, shape (2, pairs); ties tell nothing and are left out.
    """
    from scipy.stats import binomtest

    own, other = regrets
    wins, losses = int((own < other).sum()), int((own > other).sum())
    return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0


def performance_profile(regrets: Mapping[str, np.ndarray], factors: np.ndarray) -> dict[str, np.ndarray]:
    """Return the share of problem-seed pairs in which the regret is within factors of the least (Dolan and More 2002).

    Args:
        regrets: label -> regret of each pair, shape (pairs,); not a number where a run is missing: never within.
        factors: at least 1, shape (factors,).

    Returns:
        label -> shares, shape (factors,).

    Raises:
        ValueError: a regret is negative, where no factor means anything.
    """
    table = np.array(list(regrets.values()), dtype=float)
    if (table < 0).any():
        raise ValueError(f"performance profile: regrets have to be at least 0; found {np.nanmin(table):g}")
    least = np.fmin.reduce(table, axis=0)
    within = table[..., None] <= least[:, None] * np.asarray(factors)
    return dict(zip(regrets, within.mean(axis=1), strict=True))


def effort_to_target(effort: np.ndarray, regret: np.ndarray, target: np.ndarray | float) -> np.ndarray:
    """Return the effort at which each seed is first at a target or below it; infinite where it never is.

    Args:
        effort: rounds or seconds so far, shape (rounds,) or (seeds, rounds).
        regret: of each round, shape (seeds, rounds).
        target: one for all, or one a seed, shape (seeds,), such as a fraction of the regret of random decisions.

    Returns:
        Shape (seeds,).
    """
    reached = regret <= np.reshape(target, (-1, 1))
    spent = np.broadcast_to(effort, regret.shape)
    first = reached.argmax(axis=1)
    return np.where(reached.any(axis=1), spent[np.arange(len(regret)), first], np.inf)


def share_reached(efforts: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the share of runs whose effort to the target, shape (runs,), is at most that `at`, shape (points,)."""
    return np.asarray(np.searchsorted(np.sort(efforts), at, side="right") / len(efforts))


def ranks_over_time(regret: np.ndarray, confidence: float = CONFIDENCE) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean rank of every algorithm in every round with Student's interval over seeds, within what ranks can be.

    Args:
        regret: up to each round, shape (algorithms, seeds, rounds), without missing values.
        confidence: coverage of the intervals.

    Returns:
        Mean and ends, of shape (algorithms, rounds) each.
    """
    from scipy.stats import rankdata

    ranked = rankdata(regret, axis=0)
    mean, low, high = student_intervals(np.moveaxis(ranked, 1, -1), confidence)
    return mean, np.clip(low, 1, len(regret)), np.clip(high, 1, len(regret))


def _complete(means: Mapping[str, Mapping[str, float]]) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the labels and the means of the problems that have all of them, shape (problems, labels)."""
    labels = tuple(dict.fromkeys(label for own in means.values() for label in own))
    rows = np.array([[own.get(label, np.nan) for label in labels] for own in means.values()], dtype=float)
    return labels, rows[~np.isnan(rows).any(axis=1)] if len(rows) else rows


def _middle(samples: Sequence[np.ndarray]) -> np.ndarray:
    from scipy.stats import trim_mean

    return np.asarray(trim_mean(np.concatenate(samples, axis=-1), 0.25, axis=-1))


def _drawn(samples: Sequence[np.ndarray], resamples: int) -> Iterator[np.ndarray]:
    """Return for each problem the places of the seeds that resamples draw, shape (resamples, seeds)."""
    generator = np.random.default_rng(_BOOTSTRAP_SEED)
    for sample in samples:
        yield generator.integers(len(sample), size=(resamples, len(sample)))


def _percentiles(value: float, drawn: np.ndarray, samples: Sequence[np.ndarray], confidence: float) -> Interval:
    """Return a statistic with the percentile interval of its resamples, shape (resamples,)."""
    ends = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    low, high = ends if min(len(sample) for sample in samples) > 1 else (np.nan, np.nan)
    return Interval(value, float(low), float(high), sum(len(sample) for sample in samples))
