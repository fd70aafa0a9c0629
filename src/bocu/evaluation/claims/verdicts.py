"""Verdicts: whether a claim holds of the numbers, fails, or is undecided.

A comparison is taken seed by seed, with Student's interval, Fieller's for a ratio and Clopper and Pearson's for what is
0 or 1. Tests that belong together are one claim with one p value: of `all` the largest p value for it and, against it,
the least, corrected by Bonferroni; of `any` the other way round; of `atleast` in between (Benjamini and Heller 2008).
The claims of a family that have a check are then corrected by Holm, those that were not run and those of too few seeds
as if they had no evidence at all.
"""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np

from bocu.core.errors import BocuError
from bocu.evaluation.claims.expansion import Group, Leaf, Negated, Node, Scope, leaves, problems_of
from bocu.evaluation.claims.expressions import Inequality, Measure, Ratio, WrittenNumber
from bocu.evaluation.claims.model import Claim
from bocu.evaluation.claims.numbers import Numbers, Sample, Source, as_numbers, combined, sample
from bocu.evaluation.statistics import (
    CONFIDENCE,
    LEAST_SEEDS,
    Interval,
    holm,
    share_interval,
    student_mean,
    student_p_value,
    student_ratio,
)

HOLDS, FAILS, UNDECIDED, NOT_RUN = "holds", "fails", "undecided", "not run"
_NOTHING = Interval(float("nan"), float("nan"), float("nan"), 0)
UNCHECKED = "nothing in a cube can tell"


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
    """

    comparison: str
    where: Scope
    value: Interval
    boundary: float
    for_it: float
    against_it: float


@dataclass(frozen=True)
class Verdict:
    """What becomes of a claim.

    Attributes:
        outcome: `HOLDS`, `FAILS`, `UNDECIDED` or `NOT_RUN`.
        reason: why it is undecided or not run, and problems without a cube, which count as without evidence.
        p_value: of the side with more evidence, after Holm's correction; not a number where nothing was run.
        corrected: number of claims that were corrected together.
        findings: what the numbers say of each comparison.
        for_it, against_it: p values before the correction.
    """

    outcome: str
    reason: str = ""
    p_value: float = float("nan")
    corrected: int = 1
    findings: tuple[Finding, ...] = ()
    for_it: float = 1.0
    against_it: float = 1.0

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
        known: dict[tuple[str, str], Numbers] = {}

        def numbers_of(experiment: str, problem: str) -> Numbers:
            if (experiment, problem) not in known:
                cube = cube_of(experiment, problem)
                if cube is None:
                    raise _NoCube(problem, experiment)
                known[experiment, problem] = as_numbers(cube, files)
            return known[experiment, problem]

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
    findings, missing = [], []
    for leaf in leaves(claim.node):
        try:
            findings.append(_finding(leaf, numbers_of))
        except _NoCube as error:
            findings.append(Finding(str(leaf.comparison), leaf.scope, _NOTHING, 0.0, 1.0, 1.0))
            missing.append(error)
    if not any(finding.value.count for finding in findings):
        return Verdict(NOT_RUN, str(missing[0]) if missing else "none of its runs is finished")
    for_it, against_it = _evidence(claim.node, iter(findings))
    absent = ", ".join(dict.fromkeys(error.problem for error in missing))
    reason = f"no cube of {absent}" if absent else ""
    return Verdict(UNDECIDED, reason, findings=tuple(findings), for_it=for_it, against_it=against_it)


def corrected(claims: Sequence[Claim], judged: Sequence[Verdict]) -> list[Verdict]:
    """Settle outcomes by Holm's correction within each family."""
    found = list(judged)
    for family in dict.fromkeys(claim.corrected_with for claim in claims):
        members = [place for place, claim in enumerate(claims) if claim.corrected_with == family]
        places = [place for place in members if claims[place].check is not None]
        p_values = holm([min(judged[place].for_it, judged[place].against_it) for place in places])
        for place, p in zip(places, p_values, strict=True):
            found[place] = _settled(judged[place], p, len(places))
    return found


def _settled(own: Verdict, p_value: float, family: int) -> Verdict:
    if own.outcome == NOT_RUN:
        return replace(own, corrected=family)
    own = replace(own, p_value=p_value, corrected=family)
    if p_value < 1 - CONFIDENCE:
        return replace(own, outcome=HOLDS if own.for_it < own.against_it else FAILS)
    if own.reason:
        return own
    fewest = min(finding.value.count for finding in own.findings)
    if fewest < LEAST_SEEDS:
        return replace(own, reason=f"too few seeds: {fewest} paired, a verdict takes {LEAST_SEEDS}")
    if min(own.for_it, own.against_it) < 1 - CONFIDENCE:
        return replace(own, reason=f"not after Holm's correction for {family} claims")
    several = len(own.findings) > 1
    return replace(own, reason="not told apart in every part" if several else "the interval holds the boundary")


def _evidence(node: Node, findings: Iterator[Finding]) -> tuple[float, float]:
    """Return the p values for and against a test; findings are those of its comparisons, in their order."""
    if isinstance(node, Leaf):
        found = next(findings)
        return found.for_it, found.against_it
    if isinstance(node, Negated):
        for_it, against_it = _evidence(node.node, findings)
        return against_it, for_it
    assert isinstance(node, Group)
    both = [_evidence(inner, findings) for inner in node.nodes]
    missed = len(both) - node.wanted + 1  # as many have to fail for all of it to fail
    return (
        _partly([for_it for for_it, _ in both], node.wanted),
        _partly([against_it for _, against_it in both], missed),
    )


def _partly(p_values: Sequence[float], wanted: int) -> float:
    """Return the p value that at least so many of several hold, however they depend on each other."""
    return min(1.0, (len(p_values) - wanted + 1) * sorted(p_values)[wanted - 1])


def _finding(leaf: Leaf, numbers_of: Callable[[str], Numbers]) -> Finding:
    comparison, scope = leaf.comparison, leaf.scope
    if isinstance(comparison.left, WrittenNumber):  # numbers stand on the right
        turned = Inequality(comparison.right, ">" if comparison.relation == "<" else "<", comparison.left)
        return replace(_finding(Leaf(turned, scope), numbers_of), comparison=str(comparison))
    right = sample(comparison.right, scope, numbers_of)
    if isinstance(comparison.left, Ratio):
        assert isinstance(right, float)
        above = sample(comparison.left.numerator, scope, numbers_of)
        below = sample(comparison.left.denominator, scope, numbers_of)
        value, p_value, towards = _of_ratio(above, below, right)
        boundary = right
    else:
        left = sample(comparison.left, scope, numbers_of)
        boundary = right if isinstance(right, float) else 0.0
        gaps = left if isinstance(right, float) else combined([(1.0, left), (-1.0, right)])
        assert not isinstance(gaps, float)
        value, p_value = _of_sample(np.array(list(gaps.values())), boundary, _of_events(comparison))
        towards = value.value - boundary
    for_it, against_it = (p_value, 1.0) if (towards < 0) == (comparison.relation == "<") else (1.0, p_value)
    if value.count < LEAST_SEEDS or towards == 0 or np.isnan(p_value):
        for_it = against_it = 1.0
    problems = problems_of(leaf)
    where = replace(scope, problem=problems[0] if len(problems) == 1 else "")
    return Finding(str(comparison), where, value, boundary, for_it, against_it)


def _of_events(comparison: Inequality) -> bool:
    """Say whether a comparison is of something that a seed has or has not, with a number."""
    left = comparison.left
    return (
        isinstance(comparison.right, WrittenNumber)
        and isinstance(left, Measure)
        and left.word in ("sticks", "rejected")
    )


def _of_sample(values: np.ndarray, boundary: float, events: bool) -> tuple[Interval, float]:
    if events:
        return share_interval(values, boundary)
    return student_mean(values), student_p_value(values, boundary)


def _of_ratio(above: Sample | float, below: Sample | float, boundary: float) -> tuple[Interval, float, float]:
    """Return the ratio, the p value against the boundary, and on which side of it the ratio is."""
    gap = combined([(1.0, above), (-boundary, below)])
    assert not isinstance(gap, float)
    numerator = np.array([above if isinstance(above, float) else above[seed] for seed in gap])
    denominator = np.array([below if isinstance(below, float) else below[seed] for seed in gap])
    value = student_ratio(numerator, denominator)
    known = np.isfinite([value.low, value.high]).all() and denominator.mean() > 0
    gaps = np.array(list(gap.values()))
    return value, student_p_value(gaps, 0.0) if known else float("nan"), float(gaps.mean()) if len(gaps) else 0.0
