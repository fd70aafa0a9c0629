"""What a page shows beside a suggestion: slices of the payoff, guarantees by radius, trade-offs, rows that stand out.

All of it is asked of the same model and the same set as the suggestion, and is plain data.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bocu.advice.logs import Forecast, Log
from bocu.advice.model import standardised_residuals
from bocu.advice.outcomes import Combined, ExpectedOutcome, OnFront, Outcome, front
from bocu.advice.search import Search
from bocu.core.ties import first_best

#: Standard deviations to either side of the mean that hold 95 % of a normal distribution.
NINETY_FIVE = 1.959964

_SLICE_POINTS, _CURVE_POINTS, _NEAR_THE_FRONT = 41, 25, 24
#: The curve goes to so many times the radius that was asked for.
_FARTHEST = 2.0


@dataclass(frozen=True)
class LoggedRow:
    """A row of the log, as the model sees it."""

    line: str  #: what it is called.
    # decision, context: by name; None where a context is missing.
    decision: dict[str, float | int | str]
    context: dict[str, float | None]
    outcome: float  #: what it earned, or the weighted sum of what it did.
    #: what it earned more than all other rows tell, in standard deviations; None of a row of a weighted sum, and of
    #: rows of a long log that do not stand out.
    residual: float | None
    outlier: bool  #: whether it is not believed, and left out of what is learnt.


@dataclass(frozen=True)
class ColumnSlice:
    """How the outcome goes with one column, all else as suggested."""

    name: str  #: of the column.
    #: "decision", where contexts are as in the forecast, or "context", where other contexts are at their means.
    role: str
    at: Sequence[float | int | str]  #: values of the column, (n,); names of a choice.
    expected: list[float]  #: outcome, (n,).
    # low, high: where that expectation lies with probability 0.95, by the model, (n,).
    low: list[float]
    high: list[float]
    #: under the worst distribution for each, (n,); None of contexts and where there is no worst case.
    worst: list[float] | None
    suggested: float | int | str  #: the value of the suggested decision, or the mean of the context in the forecast.
    #: for each whole row of the log its value and what it earned, carried over to the slice: what the slice has there,
    #: and what the row earned more than the model expects of it, (t, 2); in order of the rows.
    rows: list[tuple[float | int | str, float]]


@dataclass(frozen=True)
class RadiusCurve:
    """Guarantees against the size of the set."""

    size: list[float]  #: radii, or levels of `cvar`, (n,).
    suggested: list[float]  #: worst expectation of the suggested decision, (n,).
    steady: list[float]  #: that of the decision of best expectation, (n,).


@dataclass(frozen=True)
class TradeOff:
    """What is worst against what is expected."""

    decisions: list[dict[str, float | int | str]]  #: on the front, best guarantee first.
    # expected, worst: of each, (n,).
    expected: list[float]
    worst: list[float]
    #: pairs of what the decisions nearest to the best of both are expected to earn and guarantee, (m, 2).
    others: list[tuple[float, float]]


@dataclass(frozen=True)
class Shifted:
    """A context and its weights."""

    context: dict[str, float]  #: by name.
    weight: float  #: in the forecast.
    worst: float  #: in the worst distribution.


@dataclass(frozen=True)
class Weighed(Shifted):
    """A context, its weights, and the outcome of the suggested decision that is expected there."""

    expected: float


@dataclass(frozen=True)
class Details:
    """All that a page shows beside the suggestion itself."""

    rows: list[LoggedRow]  #: the log, whole rows first.
    slices: list[ColumnSlice]  #: one a decision and one a context.
    curve: RadiusCurve | None  #: None where there is no set.
    trade_off: TradeOff | None  #: None where there is no worst case.
    #: of the forecast, those whose weight the worst distribution changes most first, then by weight.
    contexts: list[Weighed]


def log_rows(
    learnt: Combined, names: Sequence[str], outcomes: Sequence[Outcome], logs: Sequence[Log]
) -> list[LoggedRow]:
    """Return the rows of the log; an outlier in any outcome is one."""
    models = learnt.models
    lacking = np.full(len(logs[0].gaps.outcome), np.nan)
    residuals = np.stack([np.concatenate([standardised_residuals(model), lacking]) for model in models])
    doubted = np.append(~np.all([model.kept for model in models], axis=0), np.zeros(len(lacking), dtype=bool))
    weights = np.array([one.sign * one.weight for one in outcomes]) if len(outcomes) > 1 else np.ones(1)
    first = logs[0]
    earned = weights @ np.stack([np.concatenate([log.outcome, log.gaps.outcome]) for log in logs])
    decided = np.vstack([first.decisions, first.gaps.decisions])
    met = np.vstack([first.contexts, first.gaps.contexts])
    sign = outcomes[0].sign
    return [
        LoggedRow(
            line=line,
            decision=learnt.decisions.shown(decided[i]),
            context={name: None if np.isnan(met[i, j]) else float(met[i, j]) for j, name in enumerate(names)},
            outcome=float(earned[i]),
            residual=sign * float(residuals[0, i]) if len(models) == 1 and np.isfinite(residuals[0, i]) else None,
            outlier=bool(doubted[i]),
        )
        for i, line in enumerate([*first.lines, *first.gaps.lines])
    ]


def earned_by(value: np.ndarray, search: Search) -> tuple[ExpectedOutcome, ...]:
    """Return what a decision (d,) brings of each outcome."""
    rule, found = search.rule, []
    for one, model in zip(search.learnt.outcomes, search.learnt.models, strict=True):
        payoffs = model.means(value[None])
        expected = one.sign * float((payoffs @ rule.weights)[0])
        half = NINETY_FIVE * float(model.spreads(value[None], rule.weights)[0])
        worst = one.sign * float(rule.lowest(payoffs)[0]) if rule.has_worst else None
        interval = expected - half, expected + half
        found.append(ExpectedOutcome(**vars(one), expected=expected, interval=interval, worst=worst))
    return tuple(found)


def front_of(search: Search, best: np.ndarray) -> tuple[OnFront, ...]:
    """Return decisions that no other candidate beats in the objective of every outcome, each taken for itself.

    Those that are best in one outcome and the suggested decision (d,) are among them, others are spread over the front;
    the best of the first outcome stands first.
    """
    rule, learnt = search.rule, search.learnt
    pool = np.vstack([best, search.pool])
    payoffs = [model.means(pool) for model in learnt.models]
    values = np.stack([rule.values(table) for table in payoffs], axis=1)
    heads = [first_best(column) for column in values.T]
    told = {0: ["suggested"]}
    for one, row in zip(learnt.outcomes, heads, strict=True):
        told.setdefault(row, []).append(f"{'least' if one.minimise else 'most'} {one.name}")
    expected = np.stack([table @ rule.weights for table in payoffs], axis=1)
    worst = np.stack([rule.lowest(table) for table in payoffs], axis=1) if rule.has_worst else expected
    signs = np.array([one.sign for one in learnt.outcomes])
    names = [one.name for one in learnt.outcomes]
    return tuple(
        OnFront(
            decision=learnt.decisions.shown(pool[row]),
            expected=dict(zip(names, (signs * expected[row]).tolist(), strict=True)),
            worst=dict(zip(names, (signs * worst[row]).tolist(), strict=True)),
            which=", ".join(told.get(row, [])),
        )
        for row in sorted(front(values, [*heads, 0]), key=lambda row: -values[row, 0])
    )


def details(
    search: Search,
    given: Forecast,
    names: Sequence[str],
    best: np.ndarray,
    steady: np.ndarray,
    sign: float,
    rows: list[LoggedRow],
) -> Details:
    """Return what a page shows of the suggested decision `best` (d,), beside that of best expectation, `steady`.

    `names` are those of the contexts of the forecast `given`; the sign is -1 where the outcome is minimised, else 1.
    """
    payoffs = search.payoffs(best[None])
    worst = search.rule.worst(payoffs)[0] if search.rule.has_worst else given.weights
    order = np.lexsort((-given.weights, -np.round(np.abs(worst - given.weights), 9)))
    return Details(
        rows=rows,
        slices=list(_slices(search, given, names, best, sign)),
        curve=_curve(search, best, steady, sign),
        trade_off=_trade_off(search, sign) if search.rule.has_worst else None,
        contexts=[
            Weighed(dict(zip(names, given.contexts[i].tolist(), strict=True)), one, other, sign * float(payoffs[0, i]))
            for i, (one, other) in zip(order, np.stack([given.weights, worst], axis=1)[order].tolist(), strict=True)
        ],
    )


def _slices(
    search: Search, given: Forecast, names: Sequence[str], best: np.ndarray, sign: float
) -> Iterator[ColumnSlice]:
    """Return the slices of all columns, decisions first; rows are carried over by what they earned more."""
    learnt, rule, log = search.learnt, search.rule, search.learnt.log
    surplus = learnt.earned - learnt.pair_means(log.decisions, log.contexts)

    def of(
        name: str, role: str, at: Sequence[Any], suggested: Any, lines: tuple[np.ndarray, ...], rows: Sequence[Any]
    ) -> ColumnSlice:
        expected, half, worst, there = lines
        carried = list(zip(rows, (sign * (there + surplus)).tolist(), strict=True))
        low, high = (sign * expected - half).tolist(), (sign * expected + half).tolist()
        lowest = (sign * worst).tolist() if len(worst) else None
        return ColumnSlice(name, role, at, (sign * expected).tolist(), low, high, lowest, suggested, carried)

    for i, part in enumerate(learnt.decisions.parts):
        values = part.spaced(_SLICE_POINTS)
        moved = _with(best, i, values)
        payoffs = learnt.means(moved)
        half = NINETY_FIVE * learnt.spreads(moved, rule.weights)
        worst = rule.lowest(payoffs) if rule.has_worst else np.empty(0)
        there = learnt.means(_with(best, i, log.decisions[:, i])) @ rule.weights
        at, rows = ([part.shown(value) for value in column] for column in (values, log.decisions[:, i]))
        yield of(part.name, "decision", at, part.shown(best[i]), (payoffs @ rule.weights, half, worst, there), rows)
    mean = given.weights @ given.contexts
    for i, (name, met) in enumerate(zip(names, log.contexts.T, strict=True)):
        both = np.concatenate([met, given.contexts[:, i]])
        values = np.linspace(both.min(), both.max(), _SLICE_POINTS) if np.ptp(both) else both[:1]
        expected, spread = learnt.pairs(np.tile(best, (len(values), 1)), _with(mean, i, values))
        there = learnt.pair_means(np.tile(best, (len(met), 1)), _with(mean, i, met))
        lines = expected, NINETY_FIVE * spread, np.empty(0), there
        yield of(name, "context", values.tolist(), float(mean[i]), lines, met.tolist())


def _curve(search: Search, best: np.ndarray, steady: np.ndarray, sign: float) -> RadiusCurve | None:
    size = search.rule.size
    if size is None:
        return None
    both = search.payoffs(np.stack([best, steady]))
    rules = search.rule.at_sizes(_CURVE_POINTS, _FARTHEST)
    values = sign * np.array([rule.lowest(both) for rule in rules])
    return RadiusCurve([rule.size or 0.0 for rule in rules], (values[:, 0]).tolist(), (values[:, 1]).tolist())


def _trade_off(search: Search, sign: float) -> TradeOff:
    expected, worst = search.expectations(search.pool), search.rule.lowest(search.payoffs(search.pool))
    both = np.stack([worst, expected], axis=1)
    chosen = front(both, [first_best(worst), first_best(expected)])
    chosen.sort(key=lambda i: -worst[i])
    short = ((both.max(axis=0) - both) / np.maximum(np.ptp(both, axis=0), 1e-300)).sum(axis=1)
    others = np.argsort(short, kind="stable")[:_NEAR_THE_FRONT]
    return TradeOff(
        [search.learnt.decisions.shown(search.pool[i]) for i in chosen],
        (sign * expected[chosen]).tolist(),
        (sign * worst[chosen]).tolist(),
        list(zip((sign * expected[others]).tolist(), (sign * worst[others]).tolist(), strict=True)),
    )


def _with(point: np.ndarray, column: int, values: np.ndarray) -> np.ndarray:
    """Return a point (d,) with each of some values (n,) in one column, (n, d)."""
    moved = np.tile(point, (len(values), 1))
    moved[:, column] = values
    return moved
