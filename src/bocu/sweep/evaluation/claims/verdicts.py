"""Verdicts: whether a claim holds of the numbers, fails, leans to a side, or is open.

A comparison is taken seed by seed by the bootstrap-t of `paired_means`, turned as Fieller turns Student's for a ratio,
with Clopper and Pearson's interval for what is 0 or 1. Tests that belong together are one claim with one p value: of
`all` the largest p value for it and, against it, the least, corrected by Bonferroni; of `any` the other way round; of
`atleast` in between (Benjamini and Heller 2008). The claims of a family that were run, over as many seeds that they can
lean to a side, are then corrected by Holm. What follows from a claim that holds, holds, and a claim from which one
follows that fails, fails: this costs no correction, for where the former verdict is right the latter is.
"""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from math import inf, nan, sqrt

import numpy as np

from bocu.core.errors import BocuError
from bocu.sweep.evaluation.claims.expressions import (
    Inequality,
    Leaf,
    Negated,
    Node,
    Ratio,
    Scope,
    Sum,
    implies,
    leaves,
    moved,
    problem_of_measure,
    problems_of,
    stricter,
    thresholds,
)
from bocu.sweep.evaluation.claims.model import Claim
from bocu.sweep.evaluation.claims.numbers import Numbers, Sample, Source, as_numbers, combined, sample
from bocu.sweep.evaluation.claims.places import Place, place_of
from bocu.sweep.evaluation.paired_means import paired_means
from bocu.sweep.evaluation.standings import VERDICT_SEEDS
from bocu.sweep.evaluation.statistics import (
    CONFIDENCE,
    LEAST_SEEDS,
    NOTHING,
    Interval,
    holm,
    share_interval,
    student_ratio,
)

HOLDS, FAILS, LEANS_FOR, LEANS_AGAINST, OPEN = "holds", "fails", "leans for", "leans against", "open"
NOT_COMPARABLE, STAND_IN, NOT_RUN = "not comparable", "on stand-in data", "not run"
OUTCOMES = (HOLDS, FAILS, LEANS_FOR, LEANS_AGAINST, OPEN, NOT_COMPARABLE, STAND_IN, NOT_RUN)
POWER = 0.8
MOST_SEEDS = 10_000  #: Seeds beyond which nobody is told how many a verdict would take.
THRESHOLDS = 8.0  #: Factor by which other thresholds are looked for on both sides of the stated one.
_HALVINGS = 10
UNCHECKED = "nothing in a cube can tell"
TURNS = 4  #: Turns after which the ends of a ratio's interval stand still to the figures that are shown.


@dataclass(frozen=True)
class Finding:
    """What the numbers say of one comparison."""

    comparison: str  #: it, as text.
    where: Scope  #: problem, metric and objective as far as they are not stated in it.
    #: what is compared with the boundary: a number a seed, the difference of two, or a ratio; with its interval over
    #: seeds, not corrected.
    value: Interval
    boundary: float  #: the number that it is compared with; 0 for a difference.
    # for_it, against_it: p values of the evidence for and against it; 1 below `LEAST_SEEDS` paired seeds.
    for_it: float
    against_it: float
    #: how far the mean lies beyond the boundary, in standard deviations of a seed; positive: for it.
    effect: float = 0.0


@dataclass(frozen=True)
class Verdict:
    """What becomes of a claim."""

    outcome: str  #: one of `OUTCOMES`.
    #: why it is no verdict or what it follows from, and problems without a cube, which are without evidence.
    reason: str = ""
    p_value: float = nan  #: of the side with more evidence, after Holm's correction; not a number where there was none.
    corrected: int = 0  #: number of claims that were corrected together.
    findings: tuple[Finding, ...] = ()  #: what the numbers say of each comparison.
    # for_it, against_it: p values before the correction.
    for_it: float = 1.0
    against_it: float = 1.0
    rests_on: int = 0  #: the least paired seeds of a comparison that the evidence needs.
    #: processor time of one seed of all runs that it compares; not a number where it was not kept.
    seconds: float = nan
    #: seeds that would settle it with a power of 80 %, were means and spreads what they seem; 0: `MOST_SEEDS` would not
    #: do; None: it is settled, or too few seeds tell of means and spreads.
    seeds_wanted: int | None = None
    #: of a check with some, the strictest with which it holds by itself, all moved by one factor; empty: none within a
    #: factor of `THRESHOLDS`.
    thresholds: tuple[float, ...] | None = None
    #: of a claim that is judged over rounds, their length -> p values for and against it, the first that of the
    #: findings; these count as seeds do.
    blocks: Mapping[int, tuple[float, float]] = field(default_factory=dict)

    @property
    def most(self) -> int:
        """The largest number of seeds that a comparison rests on."""
        return max((finding.value.count for finding in self.findings), default=0)

    @property
    def raw_p_value(self) -> float:
        """That of the side with more evidence, before the correction; not a number where nothing was run."""
        return min(self.for_it, self.against_it) if self.findings else nan

    @property
    def hours_wanted(self) -> float:
        """Core hours of the seeds wanted."""
        return (self.seeds_wanted or nan) * self.seconds / 3600

    @property
    def seeds(self) -> int:
        """The least number of seeds that a comparison rests on, of those that rest on any."""
        return min((finding.value.count for finding in self.findings if finding.value.count), default=0)


def verdict(claim: Claim, cube: Source, names: Mapping[str, str] | None = None) -> Verdict:
    """Return the verdict on one claim by itself, from the cube of one problem, whatever that is called.

    Args:
        claim: the claim; its check is about one problem.
        cube: the cube, or its numbers.
        names: what labels of algorithms, objectives and metrics of the check are called in this cube, where they have
            another name, such as those of a sweep.

    Raises:
        BocuError: the cube does not have what the check asks for, or the check is about several problems.
    """
    problems = [] if claim.check is None else problems_of(claim.node)
    if len(problems) > 1:
        raise BocuError(f"{claim.id}: found a check about {', '.join(problems)}; allowed: one about one problem")
    with ExitStack() as files:
        numbers = as_numbers(cube, files).named(names or {})
        return corrected([claim], [_judged(claim, lambda problem: numbers)])[0]


def verdicts(claims: Sequence[Claim], cube_of: "Callable[[str, str], Source | None]") -> list[Verdict]:
    """Return the verdicts on claims, corrected within their families.

    Args:
        claims: the claims, each family whole.
        cube_of: experiment and problem -> its cube, or its numbers; None where there is none.
    """
    with ExitStack() as files:

        @functools.cache
        def numbers_of(experiment: str, problem: str) -> Numbers:
            if (cube := cube_of(experiment, problem)) is None:
                raise _NoCube(problem, experiment)
            return as_numbers(cube, files)

        found = []
        for claim in claims:
            try:
                found.append(_judged(claim, functools.partial(numbers_of, claim.experiment)))
            except BocuError as error:
                found.append(Verdict(NOT_RUN, str(error)))
    return corrected(claims, found)


class _NoCube(BocuError):
    """There are no results of a problem."""

    def __init__(self, problem: str, experiment: str) -> None:
        self.problem = problem
        super().__init__(f"there is no cube of '{problem}' of {experiment}")


def _judged(claim: Claim, numbers_of: Callable[[str], Numbers]) -> Verdict:
    """Return evidence and findings of a claim; its outcome takes its family."""
    if claim.check is None:
        return Verdict(NOT_RUN, UNCHECKED)
    find = _finder(numbers_of, claim.blocks[0] if claim.blocks else 0)
    findings, missing = [], []
    spent: dict[tuple[str, str, str], float] = {}
    stand_ins: dict[str, None] = {}
    for leaf in leaves(claim.node):
        try:
            findings.append(find(leaf))
            for measure in leaf.comparison.measures:
                numbers = numbers_of(problem_of_measure(measure, leaf.scope))
                place = place_of(measure, leaf.scope, numbers.known)
                spent[numbers.known.problem, place.objective, place.algorithm] = _seconds(numbers, place)
                stand_ins |= dict.fromkeys(filter(None, [numbers.data_label]))
        except _NoCube as error:
            findings.append(Finding(str(leaf.comparison), leaf.scope, NOTHING, 0.0, 1.0, 1.0))
            missing.append(error)
    if not any(finding.value.count for finding in findings):
        return Verdict(NOT_RUN, str(missing[0]) if missing else "none of its runs is finished")
    for_it, against_it = _evidence(claim.node, findings)
    rests_on = 0
    for count in sorted({finding.value.count for finding in findings}):
        kept = [replace(one, for_it=1.0, against_it=1.0) if one.value.count < count else one for one in findings]
        rests_on = count if _evidence(claim.node, kept) == (for_it, against_it) else rests_on
    absent = ", ".join(dict.fromkeys(error.problem for error in missing))
    apart = claim.not_comparable or claim.stand_in or "; ".join(stand_ins)
    few = max(finding.value.count for finding in findings) < LEAST_SEEDS
    farthest = None if missing or few else _farthest(claim.node, find)
    finders = {length: _finder(numbers_of, length) for length in claim.blocks}
    blocks = {n: _evidence(claim.node, map(each, leaves(claim.node))) for n, each in finders.items()}
    outcome = NOT_COMPARABLE if claim.not_comparable else STAND_IN if apart else OPEN
    reason = "; ".join(filter(None, [apart, absent and f"no cube of {absent}"]))
    return Verdict(
        outcome, reason, nan, 0, tuple(findings), for_it, against_it, rests_on, sum(spent.values()),
        thresholds=farthest, blocks=blocks,
    )  # fmt: skip


def _finder(numbers_of: Callable[[str], Numbers], length: int) -> Callable[..., Finding]:
    """Return what finds of a comparison; over rounds, in moving blocks, where these have a length."""
    if not length:
        return functools.partial(finding_of, numbers_of=numbers_of)

    def find(leaf: Leaf, turns: int = TURNS) -> Finding:
        (problem,) = problems_of(leaf)
        rounds = numbers_of(problem).known.rounds
        numbers = numbers_of(problem).by_blocks(min(length, rounds))
        return finding_of(leaf, lambda _: numbers, turns, max(1, rounds // length))

    return find


def _farthest(node: Node, find: Callable[..., Finding]) -> tuple[float, ...] | None:
    """Return the strictest thresholds with which a test holds by itself, moved alike; None: it has none."""
    stated = thresholds(node)
    if not stated:
        return None

    def holds(times: float) -> bool:
        asked = stricter(node, times)
        return _evidence(asked, [find(leaf, turns=0) for leaf in leaves(asked)])[0] < 1 - CONFIDENCE

    near, far = 1 / THRESHOLDS, THRESHOLDS
    if not holds(near):
        return ()
    for _ in range(_HALVINGS):
        middle = sqrt(near * far)
        near, far = (middle, far) if holds(middle) else (near, middle)
    return tuple(moved(relation, number, near) for relation, number in stated)


def _seconds(numbers: Numbers, place: Place) -> float:
    """Return the time that one seed of some runs took; not a number where it was not kept."""
    try:
        times = numbers.at("seconds", Place(place.objective, place.algorithm, ""))
    except BocuError:
        return nan
    return float(np.mean(list(times.values()))) * numbers.known.rounds if times else nan


def corrected(claims: Sequence[Claim], judged: Sequence[Verdict]) -> list[Verdict]:
    """Settle outcomes by Holm's correction within each family, and by what follows from what."""
    found = list(judged)
    for family in dict.fromkeys(claim.corrected_with for claim in claims):
        members = [place for place, claim in enumerate(claims) if claim.corrected_with == family]
        places = [place for place in members if judged[place].outcome == OPEN]
        for place in places:
            found[place] = decided(judged[place], nan, 0, "")
        places = [place for place in places if judged[place].most >= LEAST_SEEDS]
        p_values = holm([judged[place].raw_p_value for place in places])
        for place, p in zip(places, p_values, strict=True):
            found[place] = decided(judged[place], p, len(places), f"Holm's correction for {len(places)} claims")
        for strong, weak in ((FAILS, HOLDS), (LEANS_AGAINST, LEANS_FOR)):
            _follow(claims, found, places, strong, weak)
        for place in places:
            least = min(finding.value.count for finding in found[place].findings)
            settled = found[place].outcome in (HOLDS, FAILS) or found[place].blocks
            if not settled and least >= LEAST_SEEDS:
                wanted = _seeds_wanted(claims[place].node, found[place])
                found[place] = replace(found[place], seeds_wanted=wanted)
    return found


def _follow(claims: Sequence[Claim], found: list[Verdict], places: Sequence[int], against: str, for_it: str) -> None:
    """Settle what follows among the claims of a family: from what fails, or leans against, and from what holds."""
    decided = {place: found[place] for place in places if found[place].outcome in (against, for_it)}
    left = [place for place in places if found[place].outcome not in (HOLDS, FAILS) and place not in decided]
    for open_ in left:
        for place, own in decided.items():
            if claims[place].experiment != claims[open_].experiment:
                continue
            ends = (open_, place) if own.outcome == against else (place, open_)
            if implies(*(claims[end].node for end in ends)):
                told = f"follows from '{claims[place].id}', which {own.outcome}"
                found[open_] = replace(found[open_], outcome=own.outcome, reason=told, p_value=own.p_value)
                break


def decided(own: Verdict, p_value: float, corrected: int, correction: str) -> Verdict:
    """Return a claim's verdict by its p value after a correction, told in words."""
    towards, level = own.for_it < own.against_it, 1 - CONFIDENCE
    own = replace(own, p_value=p_value, corrected=corrected)
    if p_value < level and own.rests_on >= VERDICT_SEEDS:
        return replace(own, outcome=HOLDS if towards else FAILS)
    if own.raw_p_value < level:
        why = f"{own.rests_on} {'blocks of rounds' if own.blocks else 'paired seeds'}, a verdict takes {VERDICT_SEEDS}"
        if p_value >= level:
            why = f"by an uncorrected interval, not after {correction}"
        leaning = LEANS_FOR if towards else LEANS_AGAINST
        return replace(own, outcome=leaning, reason="; ".join(filter(None, (own.reason, why))))
    if own.reason:
        return replace(own, outcome=OPEN)
    fewest, what = min(finding.value.count for finding in own.findings), "blocks" if own.blocks else "seeds"
    if fewest < LEAST_SEEDS:
        why = f"too few {what}: {fewest} paired, a claim leans from {LEAST_SEEDS} on"
        return replace(own, outcome=OPEN, reason=why)
    several = len(own.findings) > 1
    why = "not told apart in every part" if several else "the interval holds the boundary"
    return replace(own, outcome=OPEN, reason=why)


def _seeds_wanted(node: Node, own: Verdict) -> int:
    """Return with how many seeds each part would be clear of its boundary with a power of 80 %, after Bonferroni."""
    from scipy.stats import norm

    def enough(seeds: int) -> bool:
        expected = []
        for finding in own.findings:
            p = min(1.0, float(2 * norm.sf(abs(finding.effect) * sqrt(seeds) - norm.ppf(POWER))))
            for_it, against_it = (p, 1.0) if finding.effect > 0 else (1.0, p)
            expected.append(replace(finding, for_it=for_it, against_it=against_it))
        return min(_evidence(node, expected)) * own.corrected < 1 - CONFIDENCE

    low, high = VERDICT_SEEDS - 1, MOST_SEEDS
    if not enough(high):
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _evidence(node: Node, findings: Iterable[Finding]) -> tuple[float, float]:
    """Return the p values for and against a test; findings are those of its comparisons, in their order."""
    left = iter(findings)
    if isinstance(node, Leaf):
        found = next(left)
        return found.for_it, found.against_it
    if isinstance(node, Negated):
        for_it, against_it = _evidence(node.node, left)
        return against_it, for_it
    fors, againsts = zip(*(_evidence(inner, left) for inner in node.nodes), strict=True)
    # as many have to fail for all of it to fail
    return _partly(fors, node.wanted), _partly(againsts, len(node.nodes) - node.wanted + 1)


def _partly(p_values: Sequence[float], wanted: int) -> float:
    """Return the p value that at least so many of several hold, however they depend on each other."""
    return min(1.0, (len(p_values) - wanted + 1) * sorted(p_values)[wanted - 1])


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
