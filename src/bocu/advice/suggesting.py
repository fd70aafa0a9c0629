"""The next decision from a log: the best under an uncertainty objective, what it guarantees, and what that costs."""

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bocu.advice.asked import (
    DRO,
    REPLAY,
    Alternatives,
    checked_units,
    extrapolated,
    how_coded,
    how_weighed,
    objective_of,
    read_radius,
    refuse_mixed_up,
    stated_set,
    what_is_allowed,
    what_is_decided,
)
from bocu.advice.beforehand import given_what_is_known, with_season
from bocu.advice.cells import Boxes, fewer_contexts
from bocu.advice.choices import Decisions, OneOfNames
from bocu.advice.choosing import choose
from bocu.advice.details import NINETY_FIVE, details, log_rows
from bocu.advice.logs import AVERAGE, LEAVE_OUT, MISSING, Forecast, read_forecast, read_log_table, read_logs, weighted
from bocu.advice.model import CODES, MOST_ROWS_OF_A_FIT, ONE_HOT, Learnt, believed, forgetting_of, influences
from bocu.advice.outcomes import (
    Combined,
    ExpectedOutcome,
    OnFront,
    by_spread,
    front,
    read_outcomes,
    sum_in_words,
    sum_of,
)
from bocu.advice.radius import RadiusEstimate, estimate_radius
from bocu.advice.search import Rule, Search
from bocu.advice.suggestion import Chosen, Insured, Judged, Price, Ranked, Shifted, Suggestion
from bocu.advice.time import ESTIMATE, Forgetting, in_time
from bocu.core.errors import BocuError, shown
from bocu.core.parameters import nearest
from bocu.core.ties import first_best
from bocu.robust.ambiguity.checks import radius as checked_radius
from bocu.robust.ambiguity.conditional_value_at_risk import ConditionalValueAtRisk
from bocu.robust.ambiguity.parameters import SetParameters


def earned_by(value: np.ndarray, learnt: Combined, rule: Rule) -> tuple[ExpectedOutcome, ...]:
    """Return what a decision (d,) brings of each outcome."""
    found = []
    for one, model in zip(learnt.outcomes, learnt.models, strict=True):
        payoffs = model.means(value[None])
        expected = one.sign * float((payoffs @ rule.weights)[0])
        half = NINETY_FIVE * float(model.spreads(value[None], rule.weights)[0])
        worst = one.sign * float(rule.lowest(payoffs)[0]) if rule.has_worst else None
        interval = expected - half, expected + half
        found.append(ExpectedOutcome(one.name, one.minimise, one.weight, expected, interval, worst))
    return tuple(found)


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


#: Standard deviations that a guarantee stays below the model's worst expectation. One side of a normal distribution
#: would take 1.28 for nine in ten; what is more pays for the choice, which goes where the model errs upwards, and for
#: what no Gaussian process says. Found by simulation, of logs other than those that docs/suggest.md tells of
#: (`tests/benchmarks/advice.py`).
BOUND = 1.6

#: Names alone that are ranked without a list, and expectations that are drawn for each set of hyper-parameters.
_FEW, _DRAWS = 12, 500

#: A worst case is nearly the worst context's where it is nearer to it than this share of what is expected above it.
_NEARLY = 0.1

#: The least change of a weight that counts as one.
MOVED = 1e-9

#: Contexts of the forecast that a decision is tried in, spread evenly over them.
_TRIED = 128


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
    objective: str | None = None,
    alpha: float = 0.1,
    minimise: bool = False,
    explore: bool = False,
    time: str | None = None,
    forget: str | float | None = None,
    horizon: int | None = None,
    constraints: Sequence[str] = (),
    alternatives: Any = None,
    weights: Mapping[str, float] | None = None,
    names: str = ONE_HOT,
    missing: str = AVERAGE,
    known: Mapping[str, float] | None = None,
    season: str | None = None,
    units: Mapping[str, str] | None = None,
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
        radius: of the set, or "estimate": what covers nine in ten later blocks; "dro" needs it, "so" and "replay" tell
            worst cases with it.
        keys: further keys of the set.
        objective: "replay", "dro", "so", "ro" or "cvar"; left out, "dro" at a radius that is a number, else "replay".
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
        known: contexts that are known before deciding, by name; the reference is conditioned on them.
        season: "year", "week" or "day" of dates, whose place is a context that is known.
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
    if names not in CODES:
        raise BocuError(f"--names: found {shown(names)}; {nearest(names, CODES)}")
    notes: list[str] = []
    table, clock = in_time(read_log_table(log, "log"), time, notes)
    table, sure = with_season(table, clock, season, known or {})
    met = tuple(dict.fromkeys([*met, *(name for name in sure if season and name.startswith(f"{season}, "))]))
    chosen, offered = what_is_decided(decisions, alternatives, table, [*met, *(one.name for one in outcomes)])
    radius = read_radius(radius)
    objective = objective_of(objective, radius)
    refuse_mixed_up(chosen, met, outcomes, objective)
    stated = stated_set(objective, set, radius, keys or {}, alpha)
    allowed, broken = what_is_allowed(chosen, offered, constraints)
    logs = read_logs(table, chosen, met, [one.name for one in outcomes], missing)
    if len(logs[0].outcome) > MOST_ROWS_OF_A_FIT:  # there is no room for covariances of averages, and no need
        logs = read_logs(table, chosen, met, [one.name for one in outcomes], LEAVE_OUT)
    several = len(outcomes) > 1
    if several and not weights:
        outcomes = by_spread(outcomes, logs)
    seen = sum_of(outcomes, logs) if several else logs[0]
    sign = 1.0 if several else outcomes[0].sign
    forgetting = forgetting_of(forget, clock.of(table, seen.lines), chosen, seen, sign)
    by_set = stated if isinstance(stated, SetParameters) else None

    def reference(forgetting: Forgetting) -> Forecast:
        if forecast is None:
            found = weighted(seen.contexts, forgetting.of_contexts())
        else:
            found = read_forecast(read_log_table(forecast, "forecast"), met, sure)
        found = given_what_is_known(found, met, sure, from_log=forecast is None)
        return fewer_contexts(found, by_set.family if by_set else None)

    given = reference(forgetting)
    recency = forgetting.of_payoffs_at(clock.of(table, (*seen.lines, *seen.gaps.lines)))
    makers = [
        functools.partial(Learnt, chosen, one, given, how.sign, recency, names)
        for one, how in zip(logs, outcomes, strict=True)
    ]
    models = [believed(one, make) for one, make in zip(logs, makers, strict=True)]
    learnt = Combined(outcomes, models) if several else models[0]
    replayed = None
    if forecast is None and not sure and (objective == REPLAY or forget == ESTIMATE):
        plain = Search(learnt, Rule("so", None, given.weights), allowed)
        spent = by_set if objective == REPLAY else None
        replayed = choose(plain, forgetting.clock, spent, forgetting.contexts, horizon=horizon, sign=sign)
        if replayed.half_life != forgetting.contexts:
            forgetting = dataclasses.replace(forgetting, contexts=replayed.half_life, estimated=True)
            given = reference(forgetting)
            learnt = learnt.asked_of(given.contexts)
    estimate = None
    if by_set is not None and (radius == ESTIMATE or (objective == REPLAY and replayed and replayed.blocks)):
        estimate = estimate_radius(learnt.scaled(seen.contexts), by_set, forgetting.of_contexts, horizon)
        notes += estimate.notes(around_log=forecast is None) if radius == ESTIMATE else []
    covers = objective == REPLAY and estimate is not None
    rule = _rule(objective, stated, radius, estimate, replayed, learnt, given)
    search = Search(learnt, rule, allowed)

    best = search.best(search.optimism if explore else search.values)
    apart = search.apart(best)
    steady = search.best(search.expectations)
    worst = rule.worst(search.payoffs(best[None]))[0] if rule.has_worst else given.weights
    judge = Judge(search, learnt, sign)
    doubted = None
    if not all(model.kept.all() for model in models):
        anyhow = [make() for make in makers]
        everything = (Combined(outcomes, anyhow) if several else anyhow[0]).asked_of(given.contexts)
        other = Search(everything, rule, allowed)
        doubted = Judge(other, everything, sign)(other.best(other.optimism if explore else other.values))
    rows = log_rows(learnt, met, outcomes, logs)
    return Suggestion(
        best=judge(best),
        steady=judge(steady),
        second=judge(apart) if apart is not None else None,
        given_up=float((search.expectations(steady[None]) - search.expectations(best[None]))[0]),
        objective=objective,
        set=None if rule.ambiguity is None and estimate is None else "cvar" if objective == "cvar" else set,
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
        taught=_taught(learnt, best, given.weights),
        optimistic=sign * float(search.optimism(best[None])[0]) if explore else None,
        rows=len(seen.outcome) + len(seen.gaps.outcome),
        contexts=len(given.weights),
        estimate=estimate,
        replayed=replayed if objective == REPLAY else None,
        insured=_insured(search, judge, given, best, by_set, estimate) if covers and by_set and estimate else None,
        half_lives=(forgetting.contexts, forgetting.payoffs),
        time_unit=clock.unit,
        reference="log" if forecast is None else "forecast",
        nearly_worst=_nearly_worst(search, best),
        notes=(
            *notes,
            *seen.notes,
            *given.notes,
            *(offered.notes if offered else ()),
            *broken(seen),
            *extrapolated(met, seen.contexts, given.contexts),
            *forgetting.notes,
            *models[0].notes,
            *how_coded(chosen, names),
            *how_weighed(outcomes, weights),
        ),
        outcomes=earned_by(best, learnt, rule) if isinstance(learnt, Combined) else (),
        front=front_of(learnt, search, best) if isinstance(learnt, Combined) and not weights else (),
        alternatives=_ranked(offered, search, judge),
        constraints=tuple(constraints),
        outliers=tuple(row for row in rows if row.outlier),
        doubted=doubted,
        units=checked_units(units or {}, [*chosen.names, *met, *(one.name for one in outcomes)]),
        search=search,
        evidence=functools.partial(details, search, given, met, best, steady, sign, rows),
    )


def _rule(
    objective: str,
    stated: SetParameters | ConditionalValueAtRisk | None,
    radius: float | str | None,
    estimate: RadiusEstimate | None,
    replayed: Chosen | None,
    learnt: Learnt | Combined,
    given: Forecast,
) -> Rule:
    """Return what is best, and what worst cases are told for."""
    if not isinstance(stated, SetParameters):
        return Rule(objective, stated, given.weights)
    cells = estimate.cells if estimate else None
    decides = Rule("so", None, given.weights)
    if replayed is not None and replayed.radius:
        decides = _around(learnt, given, stated, replayed.radius, replayed.cells)
    if radius is None:
        return decides
    told = (
        _around(learnt, given, stated, estimate.radius, cells)
        if radius == ESTIMATE and estimate
        else _around(learnt, given, stated, checked_radius(radius, "--radius"), None)
    )
    return Rule(objective, told.ambiguity, given.weights, told.cells, decides if objective == REPLAY else None)


def _around(
    learnt: Learnt | Combined, given: Forecast, stated: SetParameters, radius: float, cells: int | None
) -> Rule:
    """Return the worst expectation over a set around a forecast, of so many cells of contexts or of them all."""
    points = learnt.scaled(given.contexts)
    if cells is None:
        return Rule(DRO, stated.over(points).with_epsilon(radius), given.weights)
    owners = Boxes.around(points, given.weights, cells).of(points)
    return Rule(DRO, stated.over(None).with_epsilon(radius), given.weights, owners)


def _insured(
    search: Search, judge: "Judge", given: Forecast, best: np.ndarray, stated: SetParameters, estimate: RadiusEstimate
) -> Insured:
    """Return the decision of best worst case over the set that covers the next block, and what it costs."""
    rule = _around(search.learnt, given, stated, estimate.radius, estimate.cells)
    value = search.best(search.lowest_by(rule))
    price = search.expectations(best[None]) - search.expectations(value[None])
    return Insured(
        radius=estimate.radius,
        coverage=estimate.coverage,
        horizon=estimate.horizon,
        decision=search.learnt.decisions.shown(value),
        guaranteed=judge.sign * judge.kept_by(value, rule),
        price=float(price[0]),
    )


class Judge:
    """Tells of decisions what is expected of them, in units of the outcome."""

    def __init__(self, search: Search, learnt: Learnt | Combined, sign: float) -> None:
        self.search, self.learnt, self.sign = search, learnt, sign

    def __call__(self, value: np.ndarray) -> Judged:
        search, row = self.search, value[None]
        expected = self.sign * float(search.expectations(row)[0])
        half = NINETY_FIVE * float(self.learnt.spreads(row, search.rule.weights)[0])
        robust = search.rule.has_worst
        return Judged(
            decision=self.learnt.decisions.shown(value),
            expected=expected,
            interval=(expected - half, expected + half),
            worst=self.sign * float(search.rule.lowest(search.payoffs(row))[0]) if robust else None,
            guaranteed=self.sign * self.kept_by(value, search.rule) if robust else None,
        )

    def kept_by(self, value: np.ndarray, rule: Rule) -> float:
        """Return the worst expectation that a decision (d,) keeps, as far as a log can tell: a lower bound.

        It is the worst expectation of the model's payoffs, less so many standard deviations of it: of the payoffs under
        the distribution that is worst, with noise as uneven as the rows have it, and between hyper-parameters as
        probable as the log has them.
        """
        row = value[None]
        told = float(rule.lowest(self.learnt.means(row))[0])
        variance = 0.0
        for one in self._draws:
            payoffs = one.means(row)
            worst = rule.worst(payoffs)
            known = float(one.spreads(row, worst)[0]) ** 2 + one.unevenness(value, worst[0])
            variance += known + (float(rule.lowest(payoffs)[0]) - told) ** 2
        return told - BOUND * float(np.sqrt(variance / len(self._draws)))

    def expectations(self, values: np.ndarray) -> np.ndarray:
        """Draw what decisions (n, d) are expected to bring, at hyper-parameters as probable as the log has them."""
        world, found = np.random.default_rng(0), []
        for one in self._draws:
            mean, covariance = one.joint(values, self.search.rule.weights)
            spread, directions = np.linalg.eigh((covariance + covariance.T) / 2.0)
            steps = directions * np.sqrt(np.maximum(spread, 0.0))
            found.append(mean + world.normal(size=(_DRAWS, len(values))) @ steps.T)
        return np.vstack(found)

    @functools.cached_property
    def _draws(self) -> Sequence[Learnt | Combined]:
        return self.learnt.draws()


def _nearly_worst(search: Search, best: np.ndarray) -> bool:
    """Whether a decision (d,) has its worst expectation next to what its worst context brings."""
    payoffs, rule = search.payoffs(best[None]), search.rule
    least = float(payoffs.min())
    return rule.ambiguity is not None and float(rule.lowest(payoffs)[0]) - least < _NEARLY * (
        float((payoffs @ rule.weights)[0]) - least
    )


def _taught(learnt: Learnt | Combined, best: np.ndarray, weights: np.ndarray) -> float:
    """Return to within what the expectation of a decision (d,) would be known if it were tried once."""
    met = np.unique(np.linspace(0, len(weights) - 1, _TRIED).round().astype(int))
    shares = weights[met] / weights[met].sum() if weights[met].sum() else np.full(len(met), 1.0 / len(met))
    return NINETY_FIVE * float(np.sqrt(shares @ learnt.variances_after(best, weights, met)))


def _prices(search: Search, steady: np.ndarray, judge: Judge) -> list[Price]:
    """Return the best decisions by the size of the set, from the smallest set on; none where there is no set."""
    found = []
    most = float(search.expectations(steady[None])[0])
    for rule, value in search.best_by_size():
        expected = float(search.expectations(value[None])[0])
        found.append(
            Price(
                size=rule.size or 0.0,
                decision=search.learnt.decisions.shown(value),
                worst=judge.sign * float(rule.lowest(search.payoffs(value[None]))[0]),
                guaranteed=judge.sign * judge.kept_by(value, rule),
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
            dict(zip(names, forecast.contexts[i].tolist(), strict=True)),
            float(forecast.weights[i]),
            float(worst[i]) if worst[i] > MOVED else 0.0,  # what rounding leaves of a weight is none
        )
        for i in order
    ]


def _ranked(offered: Alternatives | None, search: Search, judge: Judge) -> tuple[Ranked, ...]:
    """Return the alternatives that may be suggested, best objective first; without a list, of a few names alone."""
    if offered is None:
        names = all(isinstance(part, OneOfNames) for part in search.learnt.decisions.parts)
        if not names or len(search.pool) > _FEW:
            return ()
        offered = Alternatives(search.pool, tuple(str(i + 1) for i in range(len(search.pool))), ())
    allowed = {tuple(value) for value in search.pool.tolist()}
    kept = [i for i, value in enumerate(offered.values.tolist()) if tuple(value) in allowed]
    values = search.values(offered.values[kept])
    left, order = list(range(len(kept))), []
    while left:
        order.append(left.pop(first_best(values[left])))
    decisions = offered.values[[kept[i] for i in order]]
    draws = judge.expectations(decisions)
    best = np.bincount(draws.argmax(axis=1), minlength=len(order)) / len(draws)
    behind = draws[:, :1] - draws
    low, high = np.quantile(behind, [0.025, 0.975], axis=0)
    return tuple(
        Ranked(
            offered.lines[kept[i]],
            judge(offered.values[kept[i]]),
            float(best[at]),
            (float(behind[:, at].mean()), float(low[at]), float(high[at])),
        )
        for at, i in enumerate(order)
    )
