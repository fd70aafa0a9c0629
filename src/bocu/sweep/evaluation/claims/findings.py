"""What the numbers say of one comparison: a value with its interval, and the p values for and against it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, nan, sqrt

import numpy as np

from bocu.sweep.evaluation.claims.expressions import Inequality, Leaf, Ratio, Scope, Sum, problems_of
from bocu.sweep.evaluation.claims.numbers import Numbers, Sample, combined, sample
from bocu.sweep.evaluation.paired_means import paired_means
from bocu.sweep.evaluation.statistics import CONFIDENCE, LEAST_SEEDS, Interval, share_interval, student_ratio

NOTHING = Interval(nan, nan, nan, 0)
TURNS = 4
"""Turns after which the ends of a ratio's interval stand still to the figures that are shown."""


@dataclass(frozen=True)
class Finding:
    """What the numbers say of one comparison.

    Attributes:
        comparison: it, as text.
        where: problem, metric and objective as far as they are not stated in it.
        value: what is compared with the boundary: a number a seed, the difference of two, or a ratio; with its interval
            over seeds, not corrected.
        boundary: the number that it is compared with; 0 for a difference.
        for_it, against_it: p values of the evidence for and against it; 1 below `LEAST_SEEDS` paired seeds.
        effect: how far the mean lies beyond the boundary, in standard deviations of a seed; positive: for it.
    """

    comparison: str
    where: Scope
    value: Interval
    boundary: float
    for_it: float
    against_it: float
    effect: float = 0.0


def finding_of(
    leaf: Leaf, numbers_of: Callable[[str], Numbers], turns: int = TURNS, blocks: int | None = None
) -> Finding:
    """Return what the numbers say of a comparison.

    Args:
        leaf: the comparison.
        numbers_of: problem -> its numbers.
        turns: how often the ends of a ratio's interval are mended; 0 where nobody reads them.
        blocks: of numbers by blocks of rounds, how many there are side by side, which count as seeds do.
    """
    comparison, scope = leaf.comparison, leaf.scope
    right = sample(comparison.right, scope, numbers_of)
    boundary = right if isinstance(right, float) else 0.0
    if isinstance(comparison.left, Ratio):
        above = sample(comparison.left.numerator, scope, numbers_of)
        below = sample(comparison.left.denominator, scope, numbers_of)
        value, p_value, effect = _of_ratio(above, below, boundary, turns, blocks)
    else:
        left = sample(comparison.left, scope, numbers_of)
        gaps = _numbers(left if isinstance(right, float) else combined([(1.0, left), (-1.0, right)]))
        if _of_events(comparison):
            value, p_value = share_interval(gaps, boundary)
            effect = _beyond(value.value - boundary, sqrt(max(0.0, boundary * (1 - boundary))))
        else:
            value, p_value, effect = _of_mean(gaps, boundary, blocks)
    effect *= -1 if comparison.relation == "<" else 1
    for_it, against_it = (p_value, 1.0) if effect > 0 else (1.0, p_value)
    if value.count < LEAST_SEEDS or effect == 0 or np.isnan(p_value):
        for_it = against_it = 1.0
    problems = problems_of(leaf)
    where = replace(scope, problem=problems[0] if len(problems) == 1 else "")
    return Finding(str(comparison), where, value, boundary, for_it, against_it, effect)


def _numbers(found: Sample | float) -> np.ndarray:
    assert not isinstance(found, float)
    return np.array(list(found.values()))


def _of_events(comparison: Inequality) -> bool:
    """Say whether a comparison is of something that a seed has or has not, with a number."""
    left = comparison.left
    return (
        not comparison.right.terms
        and isinstance(left, Sum)
        and not left.number
        and [(factor, measure.word in ("sticks", "rejected")) for factor, measure in left.terms] == [(1.0, True)]
    )


def _of_mean(values: np.ndarray, boundary: float, blocks: int | None) -> tuple[Interval, float, float]:
    """Return the mean, the p value against the boundary, and how far beyond it the mean lies in standard deviations."""
    if not len(values):
        return NOTHING, nan, 0.0
    found = paired_means(values - boundary, CONFIDENCE, blocks)
    gap, half, spread = float(found.mean[0]), float(found.half[0]), float(values.std(ddof=1)) if len(values) > 1 else 0
    mean = gap + boundary
    interval = Interval(mean, mean - half, mean + half, int(found.count[0]))
    return interval, float(found.p_value[0]), _beyond(gap, spread)


def _beyond(gap: float, spread: float) -> float:
    return gap / spread if spread else np.sign(gap) * inf if gap else 0.0


def _of_ratio(
    above: Sample | float, below: Sample | float, boundary: float, turns: int, blocks: int | None
) -> tuple[Interval, float, float]:
    """Return a ratio of means as `_of_mean` returns a mean.

    Its interval holds the ratios r for which that of `above - r below` holds 0: Fieller's, with the factor that the
    bootstrap has at each end in the place of Student's.
    """
    from scipy.stats import t

    gap = combined([(1.0, above), (-boundary, below)])
    assert not isinstance(gap, float)
    numerator, denominator = (
        np.array([one if isinstance(one, float) else one[seed] for seed in gap]) for one in (above, below)
    )
    count = len(gap) if blocks is None else blocks
    value = student_ratio(numerator, denominator, count=count)
    for _ in range(turns):
        if not np.isfinite([value.low, value.high]).all() or value.low == value.high:
            break
        gaps = numerator - np.array([[value.low], [value.high]]) * denominator
        factor = paired_means(gaps, blocks=blocks).half / (gaps.std(axis=1, ddof=1) / sqrt(count))
        low, high = (student_ratio(numerator, denominator, 1 - 2 * float(t.sf(f, count - 1)), count) for f in factor)
        value = replace(value, low=low.low, high=high.high)
    _, p_value, effect = _of_mean(_numbers(gap), 0.0, blocks)
    known = np.isfinite([value.low, value.high]).all() and denominator.mean() > 0
    return value, p_value if known else nan, effect
