"""Who has less regret than whom in a table of algorithms: on average and usually, who leads, who sticks.

Two questions of every pair, over the seeds that both have: how much more regret one has in the mean (bootstrap-t,
max-T), and how often it has less (Clopper and Pearson, Bonferroni). All pairs of a table are one family, whichever are
shown, so that a pair has one verdict wherever it stands.
"""

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from bocu.sweep.evaluation.paired_means import paired_means
from bocu.sweep.evaluation.statistics import CONFIDENCE, LEAST_SEEDS, NOTHING, Interval, exact_ends, exact_p_values
from bocu.sweep.experiment.configuration import Margin

VERDICT_SEEDS = 30  #: Paired seeds from which on a test is a verdict; from `LEAST_SEEDS` on it leans.
STUCK_TIMES, STUCK_SPREADS = 3.0, 6.0
STUCK_SHARE = 0.05  #: Share of seeds beyond which median and worst tenth stand beside the mean.
MORE, LESS, TIED, TOO_FEW = "more regret", "less regret", "not told apart", "too few seeds"
LEANS_MORE, LEANS_LESS = f"leans to {MORE}", f"leans to {LESS}"
VERDICTS = (MORE, LESS, TIED, LEANS_MORE, LEANS_LESS, TOO_FEW)  #: On a pair, of its means or of what happens usually.
LEADING, BEHIND, OPEN, LEANS_AHEAD, LEANS_BEHIND = "leading", "behind", "open", "leans ahead", "leans behind"
"""Where a competitor stands, or `TOO_FEW`."""
_OF_THE_LEAST = {(LEADING, BEHIND): LEADING, (LEANS_BEHIND,): LEANS_AHEAD, (OPEN,): OPEN}
"""Where the least stands, by the first of these that others have."""
_ROUNDING = 1e-12


@dataclass(frozen=True)
class PairedDifference:
    """How much more regret one algorithm has than another on the same seeds, and how often it has less."""

    #: mean over seeds; positive: more regret than the other. Its interval holds together with those of all pairs of the
    #: table; no numbers below `LEAST_SEEDS` seeds, as those below.
    difference: Interval
    p_value: float  #: of a mean of 0, corrected for all pairs; at most 5 % just where the interval excludes 0.
    #: share of the seeds that differ in which it has less regret, with the interval that holds together.
    less: Interval
    p_usually: float  #: of a share of a half, likewise.

    @property
    def on_average(self) -> str:
        """One of `VERDICTS`, of the means."""
        return _verdict(self.difference.value > 0, self.p_value, self.difference.count)

    @property
    def usually(self) -> str:
        """One of `VERDICTS`, of the share of seeds."""
        return _verdict(self.less.value < 0.5, self.p_usually, self.difference.count)


def plain(verdict: str) -> str:
    """Return what a verdict says or leans to: `MORE`, `LESS`, `TIED` or `TOO_FEW`."""
    return verdict.removeprefix("leans to ")


def _verdict(more: bool, p_value: float, count: int) -> str:
    if count < LEAST_SEEDS:
        return TOO_FEW
    if not p_value <= 1 - CONFIDENCE:
        return TIED
    if count < VERDICT_SEEDS:
        return LEANS_MORE if more else LEANS_LESS
    return MORE if more else LESS


@dataclass(frozen=True)
class Tail:
    """How an algorithm's seeds spread."""

    median: float  #: over seeds.
    worst_tenth: float  #: mean of the worst tenth of the seeds, rounded up.
    #: seeds that end above three times the median; above the median by six median absolute deviations where the median
    #: is 0 or a seed has negative regret.
    stuck: int
    count: int  #: seeds.

    @property
    def sticks(self) -> bool:
        """Whether so many stick that the mean alone does not tell of them."""
        return self.stuck > STUCK_SHARE * self.count


def tail(regrets: Collection[float]) -> Tail:
    """Return how the regrets of some seeds spread; no numbers where there is none."""
    values = np.sort(np.array(list(regrets), dtype=float))
    count = len(values)
    if not count:
        return Tail(nan, nan, 0, 0)
    median = float(np.median(values))
    limit = STUCK_TIMES * median
    if median <= 0 or values[0] < 0:
        limit = median + STUCK_SPREADS * float(np.median(np.abs(values - median)))
    beyond = values > limit + _ROUNDING * np.abs(values).max()
    return Tail(median, float(values[-((count + 9) // 10) :].mean()), int(beyond.sum()), count)


class Standings:
    """A table of final regrets, and all that is told of its pairs; every reader takes the same numbers from it.

    Args:
        regrets: label -> seed -> regret, all that stand in the table.
        competing: labels that may lead; yardsticks may not. All, if left out.
        random: label of random decisions, which the margin is also a share of; None: they are not there.
        margin: how much more regret than the least still leads with it.
    """

    def __init__(
        self,
        regrets: Mapping[str, Mapping[int, float]],
        competing: Collection[str] | None = None,
        random: str | None = None,
        margin: Margin | Mapping[str, Any] | None = None,
    ) -> None:
        self.regrets = regrets
        self.means = {label: float(np.mean(list(own.values()))) for label, own in regrets.items() if own}
        some = [label for label in regrets if competing is None or label in competing]
        self.competing = sorted((label for label in some if label in self.means), key=lambda label: self.means[label])
        self.without_seeds = [label for label in some if label not in self.means]
        shares = margin if isinstance(margin, Margin) else Margin.model_validate(margin or {})
        of_least = self.means[self.competing[0]] if self.competing else 0.0
        self.margin = max(0.0, shares.least * of_least, shares.random * self.means.get(random or "", 0.0))

    @property
    def least(self) -> str | None:
        """Label of the competitor of the least mean regret; None where none has a seed."""
        return self.competing[0] if self.competing else None

    def against(self, reference: str) -> dict[str, PairedDifference]:
        """Return how all others stand to one, by their labels."""
        return {label: self._pairs[label, reference] for label in self.regrets if label != reference}

    @functools.cached_property
    def standing(self) -> dict[str, str]:
        """Where each competitor stands, by mean regret.

        `LEADING`: the least, and who has at most the margin more, as the interval has it; `BEHIND`: told apart from the
        least; `OPEN`: neither. The least leads where anybody is the one or the other.
        """
        found = dict.fromkeys([*self.competing, *self.without_seeds], TOO_FEW)
        for label in self.competing[1:]:
            gap = self._pairs[label, self.competing[0]]
            verdict = gap.on_average
            if verdict == TOO_FEW:
                continue
            if gap.difference.count >= VERDICT_SEEDS and gap.difference.high <= self.margin:
                found[label] = LEADING
            else:
                found[label] = {MORE: BEHIND, LEANS_MORE: LEANS_BEHIND}.get(verdict, OPEN)
        rivals = {found[label] for label in self.competing[1:]}
        if self.competing:
            found[self.competing[0]] = next(
                (to for some, to in _OF_THE_LEAST.items() if rivals.intersection(some)), TOO_FEW
            )
        return found

    @property
    def leading(self) -> list[str]:
        """Labels of those who lead, by mean regret."""
        return [label for label, where in self.standing.items() if where == LEADING]

    @property
    def alone(self) -> str | None:
        """Label of who leads where all others are behind; None where nobody does so."""
        rest = {where for label, where in self.standing.items() if label != self.least}
        return self.least if rest == {BEHIND} else None

    @functools.cached_property
    def _pairs(self) -> dict[tuple[str, str], PairedDifference]:
        """All pairs, either way round."""
        labels, seeds = list(self.regrets), sorted({seed for own in self.regrets.values() for seed in own})
        known = [own.get(seed, np.nan) for own in self.regrets.values() for seed in seeds]
        table = np.reshape(np.array(known, dtype=float), (len(labels), len(seeds)))
        one, other = np.triu_indices(len(labels), 1)
        gaps = table[one] - table[other]
        count = (~np.isnan(gaps)).sum(axis=1)
        told = np.flatnonzero(count >= LEAST_SEEDS)  # others say nothing, and would widen what these say
        found = paired_means(gaps[told], CONFIDENCE)
        times = (gaps[told] < 0).sum(axis=1)
        differing = times + (gaps[told] > 0).sum(axis=1)
        ends = exact_ends(times, differing, 1 - (1 - CONFIDENCE) / max(len(told), 1))
        usual = np.minimum(1.0, len(told) * exact_p_values(times, differing, 0.5))
        places = {int(pair): place for place, pair in enumerate(told)}
        pairs: dict[tuple[str, str], PairedDifference] = {}
        for pair, (i, j) in enumerate(zip(one, other, strict=True)):
            if (place := places.get(pair)) is None:
                own = gaps[pair][~np.isnan(gaps[pair])]
                value = float(own.mean()) if len(own) else nan
                gap = PairedDifference(Interval(value, nan, nan, len(own)), nan, NOTHING, nan)
            else:
                mean, half = float(found.mean[place]), float(found.half_together[place])
                n = int(differing[place])
                share = Interval(times[place] / n, float(ends[0][place]), float(ends[1][place]), n) if n else NOTHING
                difference = Interval(mean, mean - half, mean + half, int(count[pair]))
                gap = PairedDifference(difference, float(found.p_together[place]), share, float(usual[place]))
            pairs[labels[i], labels[j]], pairs[labels[j], labels[i]] = gap, _turned(gap)
        return pairs


def _turned(gap: PairedDifference) -> PairedDifference:
    """Return how the other stands to the one."""
    (to_mean, to_share) = (
        Interval(whole - own.value, whole - own.high, whole - own.low, own.count)
        for whole, own in ((0.0, gap.difference), (1.0, gap.less))
    )
    return PairedDifference(to_mean, gap.p_value, to_share, gap.p_usually)
