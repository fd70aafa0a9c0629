"""What decisions bring of several outcomes, and those that no other beats in all of them."""

import numpy as np

from bocu.advice.details import NINETY_FIVE
from bocu.advice.model import Learnt
from bocu.advice.outcomes import Combined, ExpectedOutcome, OnFront, Outcome, front
from bocu.advice.search import Rule, Search
from bocu.core.ties import first_best


def earned_by(value: np.ndarray, learnt: Combined, rule: Rule) -> tuple[ExpectedOutcome, ...]:
    """Return what a decision (d,) brings of each outcome."""
    return tuple(
        _earned(value[None], one, model, rule) for one, model in zip(learnt.outcomes, learnt.models, strict=True)
    )


def _earned(row: np.ndarray, one: Outcome, model: Learnt, rule: Rule) -> ExpectedOutcome:
    payoffs = model.means(row)
    expected = one.sign * float((payoffs @ rule.weights)[0])
    half = NINETY_FIVE * float(model.spreads(row, rule.weights)[0])
    return ExpectedOutcome(
        name=one.name,
        minimise=one.minimise,
        weight=one.weight,
        expected=expected,
        interval=(expected - half, expected + half),
        guaranteed=one.sign * float(rule.guaranteed(payoffs)[0]) if rule.has_worst else None,
    )


def front_of(learnt: Combined, search: Search, best: np.ndarray) -> tuple[OnFront, ...]:
    """Return decisions that no other candidate beats in the objective of every outcome, each taken for itself.

    Those that are best in one outcome and the suggested decision (d,) are among them, others are spread over the front;
    the best of the first outcome stands first.
    """
    rule = search.rule
    pool = np.vstack([best, search.pool])
    payoffs = [model.means(pool) for model in learnt.models]
    values = np.stack([rule.values(table) for table in payoffs], axis=1)
    heads = [first_best(column) for column in values.T]
    told = {0: ["suggested"]}
    for one, row in zip(learnt.outcomes, heads, strict=True):
        told.setdefault(row, []).append(f"{'least' if one.minimise else 'most'} {one.name}")
    expected = np.stack([table @ rule.weights for table in payoffs], axis=1)
    guaranteed = np.stack([rule.guaranteed(table) for table in payoffs], axis=1) if rule.has_worst else expected
    signs = np.array([one.sign for one in learnt.outcomes])
    names = [one.name for one in learnt.outcomes]
    return tuple(
        OnFront(
            decision=learnt.decisions.shown(pool[row]),
            expected=dict(zip(names, (signs * expected[row]).tolist(), strict=True)),
            guaranteed=dict(zip(names, (signs * guaranteed[row]).tolist(), strict=True)),
            which=", ".join(told.get(row, [])),
        )
        for row in sorted(front(values, [*heads, 0]), key=lambda row: -values[row, 0])
    )
