"""Whether two results say the same within what seeds leave open: for another CPU, or other packages.

Regret is compared branch by branch under every metric: seed by seed over the seeds that both have, for these meet the
same contexts and noise; where these are too few, all seeds of the one with all of the other (Welch 1947). All are
corrected together by Holm.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from bocu.sweep.evaluation.claims.expressions import WORDS
from bocu.sweep.evaluation.claims.numbers import Numbers, Sample
from bocu.sweep.evaluation.claims.places import Place
from bocu.sweep.evaluation.statistics import (
    CONFIDENCE,
    LEAST_SEEDS,
    NOTHING,
    Interval,
    holm,
    student_mean,
    student_p_value,
)
from bocu.sweep.experiment.record import reduced_to

EQUAL, AGREES, DIFFERS, TOO_FEW, OTHER_ROUNDS = "equal bits", "agrees", "differs", "too few seeds", "other rounds"
ROUNDING = 1e-6  #: Share of the larger regret below which a gap is rounding: packages add up in orders of their own.
REGRETS = ("final", "recommended")  #: Words of checks that stand for what is compared.


@dataclass(frozen=True)
class Agreement:
    """What two results say of one regret."""

    problem: str  #: label of the problem.
    #: "final", cumulative regret, "to round 50", the same up to the last round that both have, or "recommended", that
    #: of what is recommended at last.
    word: str
    place: Place  #: labels of objective, algorithm and metric.
    #: `EQUAL` (in all paired seeds), `AGREES` (the interval holds 0 after the correction), `DIFFERS`, `TOO_FEW` (below
    #: `LEAST_SEEDS` seeds) or `OTHER_ROUNDS`: no round that both have, or not the last of both.
    verdict: str
    paired: bool = True  #: whether seeds were compared one by one.
    gap: Interval = NOTHING  #: mean of the first less that of the second, with its interval, not corrected.
    p_value: float = float("nan")  #: after Holm's correction; not a number where nothing was tested.


@dataclass(frozen=True)
class Agreements:
    """What two results say of every regret that both have."""

    shared: tuple[Agreement, ...]  #: what they say of it.
    alone: tuple[str, ...]  #: "problem/objective/algorithm" that only one of them has.


def agreements(one: Mapping[str, Numbers], other: Mapping[str, Numbers], confidence: float = CONFIDENCE) -> Agreements:
    """Compare two results.

    Args:
        one: numbers by problem.
        other: those to compare with.
        confidence: of the intervals; one less it is the chance that results of the same law differ anywhere.
    """
    sides = [{run for label, numbers in side.items() for run in _runs(label, numbers)} for side in (one, other)]
    compared = [
        found
        for problem in one
        if problem in other
        for found in _of_problem(problem, one[problem], other[problem], confidence)
    ]
    p_values = holm([found.p_value for found in compared])
    settled = [
        replace(found, p_value=p, verdict=DIFFERS) if p < 1 - confidence else replace(found, p_value=p)
        for found, p in zip(compared, p_values, strict=True)
    ]
    alone = sorted(sides[0] ^ sides[1])
    return Agreements(
        tuple(settled), tuple(f"{problem} {objective}/{algorithm}" for problem, objective, algorithm in alone)
    )


def reduced_against(one: Mapping[str, Numbers], other: Mapping[str, Numbers]) -> str:
    """Say over how much less two results are compared than the larger of them holds."""
    scales = []
    for problem in one:
        if problem in other:
            sides = (one[problem], other[problem])
            for what, numbers in (("rounds", [n.known.rounds for n in sides]), ("seeds", [n.finished for n in sides])):
                scales.append((min(numbers), max(numbers), what))
    labels = dict.fromkeys(numbers.data_label for side in (one, other) for numbers in side.values())
    return ", ".join(filter(None, (reduced_to(dict.fromkeys(scales)), *labels)))


def _runs(problem: str, numbers: Numbers) -> Iterator[tuple[str, str, str]]:
    for algorithm, objectives in numbers.known.algorithms.items():
        yield from ((problem, objective, algorithm) for objective in objectives)


def _of_problem(problem: str, one: Numbers, other: Numbers, confidence: float) -> Iterator[Agreement]:
    shared = set(_runs(problem, other))
    for _, objective, algorithm in _runs(problem, one):
        if (problem, objective, algorithm) not in shared:
            continue
        for metric in one.known.metrics:
            if metric not in other.known.metrics:
                continue
            place = Place(objective, algorithm, metric)
            for word in REGRETS:
                if not all(WORDS[word].variable in side.variables for side in (one, other)):
                    continue
                if one.known.rounds != other.known.rounds:
                    shared_rounds = max(one.kept_rounds & other.kept_rounds, default=None)
                    if word != "final" or shared_rounds is None:
                        yield Agreement(problem, word, place, OTHER_ROUNDS)
                        continue
                    until = replace(place, round=shared_rounds)
                    cut = (one.at("at", until), other.at("at", until))
                    yield _compared(Agreement(problem, f"to round {shared_rounds}", place, AGREES), *cut, confidence)
                elif (samples := (one.at(word, place), other.at(word, place))) != ({}, {}):
                    yield _compared(Agreement(problem, word, place, AGREES), *samples, confidence)


def _compared(found: Agreement, one: Sample, other: Sample, confidence: float) -> Agreement:
    both = sorted(set(one) & set(other))
    if len(both) < LEAST_SEEDS <= min(len(one), len(other)) or not both:
        return _unpaired(found, np.array(list(one.values())), np.array(list(other.values())), confidence)
    own, theirs = (np.array([side[seed] for seed in both]) for side in (one, other))
    gaps = own - theirs
    found = replace(found, gap=student_mean(gaps, confidence))
    if not gaps.any():
        return replace(found, verdict=EQUAL)
    if len(both) < LEAST_SEEDS:
        return replace(found, verdict=TOO_FEW)
    if np.abs(gaps).max() <= ROUNDING * max(np.abs(own).max(), np.abs(theirs).max()):
        return found
    return replace(found, p_value=student_p_value(gaps, 0.0))


def _unpaired(found: Agreement, one: np.ndarray, other: np.ndarray, confidence: float) -> Agreement:
    from scipy.stats import ttest_ind

    fewest = min(len(one), len(other))
    found = replace(found, paired=False)
    if fewest < LEAST_SEEDS:
        return replace(found, verdict=TOO_FEW, gap=replace(found.gap, count=fewest))
    test = ttest_ind(one, other, equal_var=False)
    ends = test.confidence_interval(confidence)
    gap = Interval(float(one.mean() - other.mean()), float(ends.low), float(ends.high), fewest)
    return replace(found, gap=gap, p_value=float(test.pvalue))
