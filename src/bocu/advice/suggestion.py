"""The next decision from a log: the best under an uncertainty objective, what it guarantees, and what that costs."""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from bocu.advice.allowed import Allowed, Constrained, Free, Listed
from bocu.advice.alternatives import Alternatives, decisions_of, read_alternatives
from bocu.advice.choices import Choice, Decisions, read_decisions
from bocu.advice.constraints import read_constraints
from bocu.advice.details import NINETY_FIVE, Details, Row, details, log_rows
from bocu.advice.fronts import earned_by, front_of
from bocu.advice.large import fewer_contexts
from bocu.advice.logs import AVERAGE, MISSING, Forecast, Log, read_forecast, read_logs, weighted
from bocu.advice.model import Influence, Learnt, forgetting_of, influences
from bocu.advice.names import HAMMING, ONE_HOT, checked_code
from bocu.advice.outcomes import (
    Combined,
    Earned,
    OnFront,
    Outcome,
    by_spread,
    read_outcomes,
    sum_in_words,
)
from bocu.advice.radius import RadiusEstimate, estimate_radius
from bocu.advice.search import Rule, Search
from bocu.advice.tables import Table, read_table
from bocu.advice.time import ESTIMATE, in_time
from bocu.ambiguity.base import AmbiguitySet
from bocu.ambiguity.checks import radius as checked_radius
from bocu.ambiguity.conditional_value_at_risk import ConditionalValueAtRisk
from bocu.ambiguity.parameters import SetParameters
from bocu.core.errors import BocuError, shown
from bocu.core.loading import from_registry
from bocu.core.parameters import Reading, nearest, validate

OBJECTIVES = {
    "dro": "the worst expectation over the set",
    "so": "the expectation under the forecast",
    "ro": "the worst context of the forecast",
    "cvar": "the mean over the worst share `alpha` of contexts",
}

#: The least change of a weight that counts as one.
MOVED = 1e-9


@dataclass(frozen=True)
class Judged:
    """A decision and what is expected of it, in units of the outcome.

    Attributes:
        decision: by name.
        expected: outcome under the forecast.
        interval: where that expectation lies with probability 0.95, by the model.
        guaranteed: expectation under the worst distribution; None where no worst case was asked for.
    """

    decision: dict[str, float | int | str]
    expected: float
    interval: tuple[float, float]
    guaranteed: float | None


@dataclass(frozen=True)
class Price:
    """The best decision at one size of the set.

    Attributes:
        size: radius, or level of `cvar`.
        decision: by name.
        guaranteed: its worst expectation at that size.
        expected: its outcome under the forecast.
        price: what it is expected to earn less (or cost more) than the decision of best expectation.
    """

    size: float
    decision: dict[str, float | int | str]
    guaranteed: float
    expected: float
    price: float


@dataclass(frozen=True)
class Shifted:
    """A context whose weight the worst distribution changes.

    Attributes:
        context: by name.
        weight: in the forecast.
        worst: in the worst distribution.
    """

    context: dict[str, float]
    weight: float
    worst: float


@dataclass(frozen=True)
class Ranked:
    """One of several alternatives.

    Attributes:
        line: what its row is called.
        judged: what is expected of it.
    """

    line: str
    judged: Judged


@dataclass(frozen=True)
class Suggestion:
    """What to decide, and why; `print` tells it in words.

    Attributes:
        best: the decision.
        steady: the decision of best expectation under the forecast.
        second: the best decision that differs; None where all are alike.
        given_up: what it is expected to earn less (or cost more) than the decision of best expectation.
        objective, set, size: what it is best under; `size` is the radius or the level of `cvar`.
        outcome, minimise, explore: what was asked.
        shifted: contexts by how much weight the worst distribution moves, largest first.
        means: mean of each context under the forecast and under the worst distribution.
        prices: best decisions by the size of the set.
        influences: how each column acts.
        noise: standard deviation of a single outcome around its expectation.
        optimistic: when exploring, the worst expectation that the decision may yet turn out to have.
        rows, contexts: numbers of rows learnt from and of contexts in the forecast.
        estimate: of the radius; None where it was given.
        half_lives: of contexts and of payoffs, in `time_unit`; None where nothing is forgotten.
        time_unit: "days", "rows", or "" of a column of numbers.
        notes: what was done to read the files, and what they do not tell.
        outcomes: of several outcomes what the decision brings of each; empty of one.
        front: of several outcomes without stated weights, decisions that no other beats in all of them.
        alternatives: of a list of alternatives all, best first.
        constraints: as they were written.
        outliers: rows of the log far from what all others tell.
        units: of columns, by name.
        evidence: makes `details`.
    """

    best: Judged
    steady: Judged
    second: Judged | None
    given_up: float
    objective: str
    set: str | None
    size: float | None
    outcome: str
    minimise: bool
    explore: bool
    shifted: list[Shifted]
    means: dict[str, tuple[float, float]]
    prices: list[Price]
    influences: list[Influence]
    noise: float
    optimistic: float | None
    rows: int
    contexts: int
    estimate: RadiusEstimate | None
    half_lives: tuple[float | None, float | None]
    time_unit: str
    notes: tuple[str, ...]
    outcomes: tuple[Earned, ...] = ()
    front: tuple[OnFront, ...] = ()
    alternatives: tuple[Ranked, ...] = ()
    constraints: tuple[str, ...] = ()
    outliers: tuple[Row, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    evidence: Callable[[], Details] | None = field(default=None, repr=False, compare=False)

    @property
    def decision(self) -> dict[str, float | int | str]:
        """The decision by name."""
        return self.best.decision

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data, as `--json` prints it."""
        plain = asdict(replace(self, evidence=None))
        del plain["evidence"]
        return {**plain, "details": asdict(self.details)}

    @functools.cached_property
    def details(self) -> Details:
        """Slices, curves, weights and rows of the log, for pictures; worked out when first asked for."""
        assert self.evidence is not None
        return self.evidence()

    def to_html(self) -> str:
        """Return one page that tells all of it, in words and pictures; it needs no other file."""
        from bocu.advice.page import page_of

        return page_of(self.to_dict())

    def __str__(self) -> str:
        from bocu.advice.words import told

        return told(self)


def suggest(
    log: Any,
    *,
    contexts: Sequence[str],
    outcome: str | Sequence[str],
    decisions: str | Decisions | None = None,
    forecast: Any = None,
    set: str = "tv",
    radius: float | str | None = None,
    keys: Mapping[str, Any] | None = None,
    objective: str = "dro",
    alpha: float = 0.1,
    minimise: bool = False,
    explore: bool = False,
    constraints: Sequence[str] = (),
    alternatives: Any = None,
    weights: Mapping[str, float] | None = None,
    names: str = ONE_HOT,
    missing: str = AVERAGE,
    units: Mapping[str, str] | None = None,
    time: str | None = None,
    forget: str | float | None = None,
    horizon: int | None = None,
) -> Suggestion:
    """Suggest the next decision.

    Args:
        log: path of a CSV or JSON file, pandas table, xarray data set, or columns by name.
        contexts: columns of what is met after deciding.
        outcome: column of what was earned or paid; of several, as "profit,waste:min" or a sequence.
        decisions: what is decided, as "price:1..20,staff:int:1..8,shelf:{low,high}"; may be left out where there are
            alternatives.
        forecast: like `log`, with the columns of the contexts and, if rows do not count alike, `weight`; left out,
            the contexts of the log.
        set: name of the ambiguity set; distances between contexts are in units of their range.
        radius: of the set, or "estimate"; "dro" needs it, "so" tells worst cases with it.
        keys: further keys of the set.
        objective: "dro", "so", "ro" or "cvar".
        alpha: of "cvar", the share of worst contexts.
        minimise: whether the outcome is a cost.
        explore: suggest what may yet turn out best, in place of what is best as far as is known.
        constraints: linear ones between decisions, as "staff + 2*shelf <= 10".
        alternatives: like `log`, with a row for each decision that there is to choose from, and no other.
        weights: of several outcomes, what a unit of each counts; left out, they count by their spread, and decisions
            that no other beats in all outcomes are told too.
        names: how names to choose from are told apart, "one-hot" or "hamming".
        missing: what becomes of rows that lack contexts alone, "average" or "leave-out".
        units: of columns, by name; they are told beside numbers.
        time: column of dates or numbers that rows are in the order of; left out, they are in the order of time.
        forget: half-life of rows, as "90d" or a number of rows, or "estimate"; left out, all count alike.
        horizon: rows that an estimated radius is to hold for; left out, what the log is long enough for.

    Raises:
        BocuError: arguments or files are at fault; one line says where.
    """
    met = tuple(contexts)
    outcomes = read_outcomes(outcome, minimise, weights)
    if missing not in MISSING:
        raise BocuError(f"--missing: found {shown(missing)}; {nearest(missing, MISSING)}")
    radius = _read_radius(radius)
    stated = _stated(objective, set, radius, keys or {}, alpha)
    ordering: list[str] = []
    table, clock = in_time(read_table(log, "log"), time, ordering)
    chosen, offered = _decided(decisions, alternatives, table, [*met, *(one.name for one in outcomes)])
    _refuse_mixed_up(chosen, met, outcomes, objective)
    allowed, broken = _allowed(chosen, offered, constraints)
    logs = read_logs(table, chosen, met, [one.name for one in outcomes], missing)
    seen = logs[0]
    code = checked_code(names)
    forgetting = forgetting_of(forget, clock, chosen, seen, outcomes[0].sign, code)
    given = (
        weighted(seen.contexts, forgetting.of_contexts())
        if forecast is None
        else read_forecast(read_table(forecast, "forecast"), met)
    )
    given = fewer_contexts(given, stated.family if isinstance(stated, SetParameters) else None)
    several = len(outcomes) > 1
    if several and not weights:
        outcomes = by_spread(outcomes, logs)
    models = [Learnt(chosen, one, given, how.sign, code, forgetting) for one, how in zip(logs, outcomes, strict=True)]
    learnt = Combined(outcomes, models) if several else models[0]
    sign = 1.0 if several else outcomes[0].sign
    estimate = None
    if isinstance(stated, SetParameters) and radius == ESTIMATE:
        estimate = estimate_radius(learnt.scaled(seen.contexts), stated, forgetting.of_contexts, horizon)
    ambiguity = _sized(stated, estimate.radius if estimate else radius, learnt.scaled(given.contexts))
    rule = Rule(objective, ambiguity, given.weights)
    search = Search(learnt, rule, allowed)

    best = search.best(search.optimism if explore else search.values)
    apart = search.apart(best)
    steady = search.best(search.expectations)
    worst = rule.worst(search.payoffs(best[None]))[0] if rule.has_worst else given.weights
    judge = _Judge(search, learnt, sign)
    rows = log_rows(learnt, met, outcomes, logs)
    return Suggestion(
        best=judge(best),
        steady=judge(steady),
        second=judge(apart) if apart is not None else None,
        given_up=float((search.expectations(steady[None]) - search.expectations(best[None]))[0]),
        objective=objective,
        set=None if rule.ambiguity is None else "cvar" if objective == "cvar" else set,
        size=rule.size,
        outcome=sum_in_words(outcomes) if several else outcomes[0].name,
        minimise=sign < 0.0,
        explore=explore,
        shifted=_shifted(met, given, worst),
        means={
            name: (float(given.weights @ given.contexts[:, i]), float(worst @ given.contexts[:, i]))
            for i, name in enumerate(met)
        },
        prices=_prices(search, steady, judge),
        influences=influences(learnt, met),
        noise=learnt.noise,
        optimistic=sign * float(search.optimism(best[None])[0]) if explore else None,
        rows=len(seen.outcome) + len(seen.gaps.outcome),
        contexts=len(given.weights),
        estimate=estimate,
        half_lives=(forgetting.contexts, forgetting.payoffs),
        time_unit=clock.unit,
        notes=(
            *ordering,
            *seen.notes,
            *given.notes,
            *(offered.notes if offered else ()),
            *broken(seen),
            *_extrapolated(met, seen.contexts, given.contexts),
            *_how_coded(chosen, code),
            *_how_weighed(outcomes, weights),
            *forgetting.notes,
            *learnt.notes,
            *(estimate.notes(around_log=forecast is None) if estimate else ()),
        ),
        outcomes=earned_by(best, learnt, rule) if isinstance(learnt, Combined) else (),
        front=front_of(learnt, search, best) if isinstance(learnt, Combined) and not weights else (),
        alternatives=_ranked(offered, search, judge) if offered else (),
        constraints=tuple(constraints),
        outliers=tuple(row for row in rows if row.outlier),
        units=_units(units or {}, [*chosen.names, *met, *(one.name for one in outcomes)]),
        evidence=functools.partial(details, search, given, met, best, steady, sign, rows),
    )


class _Judge:
    """Tells of decisions what is expected of them, in units of the outcome."""

    def __init__(self, search: Search, learnt: Learnt | Combined, sign: float) -> None:
        self.search, self.learnt, self.sign = search, learnt, sign

    def __call__(self, value: np.ndarray) -> Judged:
        search, row = self.search, value[None]
        expected = self.sign * float(search.expectations(row)[0])
        half = NINETY_FIVE * float(self.learnt.spreads(row, search.rule.weights)[0])
        guaranteed = float(search.rule.guaranteed(search.payoffs(row))[0]) if search.rule.has_worst else None
        return Judged(
            decision=self.learnt.decisions.shown(value),
            expected=expected,
            interval=(expected - half, expected + half),
            guaranteed=None if guaranteed is None else self.sign * guaranteed,
        )


def _prices(search: Search, steady: np.ndarray, judge: _Judge) -> list[Price]:
    """Return the best decisions by the size of the set, from the smallest set on; none where there is no set."""
    found = []
    most = float(search.expectations(steady[None])[0])
    for rule in search.rule.sizes():
        value = search.best(search.guaranteed_by(rule))
        expected = float(search.expectations(value[None])[0])
        found.append(
            Price(
                size=rule.size or 0.0,
                decision=search.learnt.decisions.shown(value),
                guaranteed=judge.sign * float(rule.guaranteed(search.payoffs(value[None]))[0]),
                expected=judge.sign * expected,
                price=most - expected,
            )
        )
    return found


def _shifted(names: tuple[str, ...], forecast: Forecast, worst: np.ndarray) -> list[Shifted]:
    """Return the contexts whose weight differs, by how much, largest first."""
    moved = np.abs(worst - forecast.weights)
    order = [i for i in np.argsort(-moved, kind="stable") if moved[i] > MOVED]
    return [
        Shifted(
            dict(zip(names, forecast.contexts[i].tolist(), strict=True)), float(forecast.weights[i]), float(worst[i])
        )
        for i in order
    ]


def _extrapolated(names: tuple[str, ...], seen: np.ndarray, asked: np.ndarray) -> list[str]:
    """Return a line for each context that the forecast has outside the log's range."""
    notes = []
    for i, name in enumerate(names):
        outside = int(((asked[:, i] < seen[:, i].min()) | (asked[:, i] > seen[:, i].max())).sum())
        if outside:
            notes.append(
                f"the forecast has '{name}' outside the log's {seen[:, i].min():g} to {seen[:, i].max():g} in "
                f"{outside} of {len(asked)} contexts: there the model extrapolates"
            )
    return notes


def _decided(
    decisions: str | Decisions | None, alternatives: Any, log: Table, others: Sequence[str]
) -> tuple[Decisions, Alternatives | None]:
    """Return what is decided and, where they are listed, the alternatives."""
    if decisions is None and alternatives is None:
        raise BocuError("--decisions: found none; what is decided is wanted, or a list of --alternatives")
    chosen = read_decisions(decisions) if isinstance(decisions, str) else decisions
    if alternatives is None:
        assert chosen is not None
        return chosen, None
    table = read_table(alternatives, "alternatives")
    chosen = chosen or decisions_of(table, log, others)
    return chosen, read_alternatives(table, chosen)


def _allowed(
    decisions: Decisions, offered: Alternatives | None, constraints: Sequence[str]
) -> tuple[Allowed, Callable[[Log], list[str]]]:
    """Return what may be suggested, and what there is to say of a log under the constraints."""
    if not constraints:
        return Listed(offered.values) if offered else Free(decisions), lambda log: []
    stated = read_constraints(constraints, decisions)

    def broken(log: Log) -> list[str]:
        kept = stated.met(log.decisions)
        return [
            f"{(~kept[:, k]).sum()} of {len(kept)} logged decisions do not keep '{text}'; learnt from, never suggested"
            for k, text in enumerate(stated.texts)
            if not kept[:, k].all()
        ]

    if offered is None:
        return Constrained(stated), broken
    left = offered.values[stated.met(offered.values).all(axis=1)]
    if not len(left):
        raise BocuError(f"--alternatives: none of {len(offered.values)} keeps {' and '.join(map(shown, constraints))}")
    return Listed(left), broken


def _ranked(offered: Alternatives, search: Search, judge: _Judge) -> tuple[Ranked, ...]:
    """Return the alternatives that may be suggested, best objective first."""
    allowed = {tuple(value) for value in search.pool.tolist()}
    kept = [i for i, value in enumerate(offered.values.tolist()) if tuple(value) in allowed]
    values = search.values(offered.values[kept])
    return tuple(
        Ranked(offered.lines[kept[i]], judge(offered.values[kept[i]])) for i in np.argsort(-values, kind="stable")
    )


def _how_coded(decisions: Decisions, code: str) -> list[str]:
    """Say how names to choose from are told apart, where there are any."""
    names = [part.name for part in decisions.parts if isinstance(part, Choice)]
    if not names:
        return []
    how = (
        "different or not, however they differ (Hamming kernel)"
        if code == HAMMING
        else "one-hot, each with a length-scale of its own"
    )
    return [f"names of {', '.join(names)} are told apart {how}"]


def _how_weighed(outcomes: Sequence[Outcome], weights: Mapping[str, float] | None) -> list[str]:
    """Say what outcomes count, where there are several."""
    if len(outcomes) == 1:
        return []
    told = ", ".join(f"{one.name} {one.weight:.4g}" for one in outcomes)
    stated = "as stated" if weights else "none were stated: one over the spread of each in the log"
    return [f"weights of outcomes: {told} ({stated}); what is not known of one is taken as independent of another"]


def _units(units: Mapping[str, str], columns: Sequence[str]) -> dict[str, str]:
    for name in units:
        if name not in columns:
            raise BocuError(f"units: found {shown(name)}, which is no column asked for; {nearest(name, columns)}")
    return dict(units)


def _refuse_mixed_up(
    decisions: Decisions, contexts: tuple[str, ...], outcomes: Sequence[Outcome], objective: str
) -> None:
    if not contexts:
        raise BocuError("--contexts: found none; at least one column is wanted")
    columns = [*decisions.names, *contexts, *(one.name for one in outcomes)]
    for name in columns:
        if columns.count(name) > 1:
            raise BocuError(f"column '{name}' has two roles; a column is a decision, a context or the outcome, once")
    if objective not in OBJECTIVES:
        raise BocuError(f"--objective: found {shown(objective)}; {nearest(objective, OBJECTIVES)}")


def _stated(
    objective: str, name: str, radius: float | str | None, keys: Mapping[str, Any], alpha: float
) -> SetParameters | ConditionalValueAtRisk | None:
    """Return what states the set that worst cases are told for, or None where there is none."""
    has_set = objective in ("dro", "so") and (radius is not None or objective == "dro")
    if keys and not has_set:
        raise BocuError(
            f"--{next(iter(keys))}: nothing takes it: there is no set without --radius, nor under ro or cvar"
        )
    if objective == "cvar":
        if not 0.0 < alpha <= 1.0:
            raise BocuError(f"--alpha: found {alpha:g}; allowed: more than 0 and at most 1")
        return ConditionalValueAtRisk(alpha)
    if objective == "ro":
        return None
    family = from_registry("find")("set", name, "--set: ", Path()).load()
    if radius is None:
        if objective == "dro":
            raise BocuError(f"--radius: the objective 'dro' over the set '{name}' needs one, or {ESTIMATE}")
        return None
    if not isinstance(radius, str) and math.isinf(radius):
        raise BocuError("--radius: found inf; allowed: a finite number, or --objective ro, which trusts no forecast")
    if not family.has_radius:
        raise BocuError(f"--set: '{name}' has no radius; allowed here: a set that has one, or --objective cvar")
    return validate(SetParameters, {**keys, "name": name}, "--", Reading(Path(), imports=True))


def _sized(
    stated: SetParameters | ConditionalValueAtRisk | None, radius: float | str | None, points: np.ndarray
) -> AmbiguitySet | None:
    """Return the set of a radius over contexts (n, l) in the units of the model, or None where there is none."""
    if isinstance(stated, SetParameters):
        return stated.over(points).with_epsilon(checked_radius(radius, "--radius"))
    return stated


def _read_radius(radius: float | str | None) -> float | str | None:
    """Return a number, `ESTIMATE` or None."""
    if radius is None or radius == ESTIMATE:
        return radius
    try:
        return float(radius)
    except ValueError:
        raise BocuError(f"--radius: found {shown(radius)}; allowed: a number, or {ESTIMATE}") from None
