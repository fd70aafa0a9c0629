"""The next decision from a log: the best under an uncertainty objective, what it guarantees, and what that costs.

Can the guarantee be trusted? `calibrate` simulates logs from the model of a log, and counts how often advice from them
keeps its word.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from bocu.advice import asked
from bocu.advice import logs as tables
from bocu.advice.asked import DRO, REPLAY
from bocu.advice.choices import Decisions, OneOfNames, what_is_allowed
from bocu.advice.details import NINETY_FIVE, Shifted, details, earned_by, front_of, log_rows
from bocu.advice.logs import AVERAGE, LEAVE_OUT, MISSING, Boxes, Forecast, Log
from bocu.advice.model import CODES, MOST_ROWS_OF_A_FIT, ONE_HOT, Learnt, believed, forgetting_of, influences
from bocu.advice.outcomes import Combined, by_spread, read_outcomes, sign_of, sum_in_words, sum_of
from bocu.advice.radius import Chosen, RadiusEstimate, choose, estimate_radius
from bocu.advice.search import Rule, Search
from bocu.advice.suggestion import Insured, Judged, Price, Ranked, Suggestion
from bocu.advice.time import ESTIMATE, Forgetting, in_time, with_season
from bocu.core.errors import BocuError, shown
from bocu.core.parameters import nearest
from bocu.core.ties import first_best
from bocu.robust.ambiguity.checks import radius as checked_radius
from bocu.robust.ambiguity.conditional_value_at_risk import ConditionalValueAtRisk
from bocu.robust.ambiguity.parameters import SetParameters

#: Standard deviations that a guarantee stays below the model's worst expectation. One side of a normal distribution
#: would take 1.28 for nine in ten; what is more pays for the choice, which goes where the model errs upwards, and for
#: what no Gaussian process says. Found by simulation (`tests/benchmarks/advice.py`).
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
    for option, one, allowed_ones in (("missing", missing, MISSING), ("names", names, CODES)):
        if one not in allowed_ones:
            raise BocuError(f"--{option}: found {shown(one)}; {nearest(one, allowed_ones)}")
    notes: list[str] = []
    table, clock = in_time(tables.read_log_table(log, "log"), time, notes)
    table, sure = with_season(table, clock, season, known or {})
    met = tuple(dict.fromkeys([*met, *(name for name in sure if season and name.startswith(f"{season}, "))]))
    columns = [*met, *(one.name for one in outcomes)]
    chosen, offered, read = asked.what_is_decided(decisions, alternatives, table, columns)
    radius = asked.read_radius(radius)
    objective = asked.objective_of(objective, radius)
    asked.refuse_mixed_up(chosen, met, outcomes, objective)
    stated = asked.stated_set(objective, set, radius, keys or {}, alpha)
    allowed, broken = what_is_allowed(chosen, offered, constraints)
    logs = tables.read_logs(table, chosen, met, [one.name for one in outcomes], missing)
    if len(logs[0].outcome) > MOST_ROWS_OF_A_FIT:  # there is no room for covariances of averages, and no need
        logs = tables.read_logs(table, chosen, met, [one.name for one in outcomes], LEAVE_OUT)
    several = len(outcomes) > 1
    if several and not weights:
        outcomes = by_spread(outcomes, logs)
    seen, sign = sum_of(outcomes, logs), sign_of(outcomes)
    forgetting = forgetting_of(forget, clock.of(table, seen.lines), chosen, seen)
    by_set = stated if isinstance(stated, SetParameters) else None

    def reference(forgetting: Forgetting) -> Forecast:
        if forecast is None:
            found = tables.weighted(seen.contexts, forgetting.of_contexts())
        else:
            found = tables.read_forecast(tables.read_log_table(forecast, "forecast"), met, sure)
        found = tables.given_what_is_known(found, met, sure, from_log=forecast is None)
        return tables.fewer_contexts(found, by_set.family if by_set else None)

    given = reference(forgetting)
    recency = forgetting.of_payoffs_at(clock.of(table, (*seen.lines, *seen.gaps.lines)))
    pairs = list(zip(logs, outcomes, strict=True))
    makers = [functools.partial(Learnt, chosen, one, given, how.sign, recency, names) for one, how in pairs]
    models = [believed(one, make) for one, make in zip(logs, makers, strict=True)]
    learnt = Combined(outcomes, models)
    replayed = None
    if forecast is None and not sure and (objective == REPLAY or forget == ESTIMATE):
        plain = Search(learnt, Rule("so", None, given.weights), allowed)
        spent = by_set if objective == REPLAY else None
        replayed = choose(plain, forgetting.clock, spent, forgetting.contexts, horizon=horizon, sign=sign)
        if replayed.half_life != forgetting.contexts:
            forgetting = replace(forgetting, contexts=replayed.half_life, estimated=True)
            given = reference(forgetting)
            learnt = learnt.asked_of(given.contexts)
    estimate = None
    if by_set is not None and (radius == ESTIMATE or (objective == REPLAY and replayed and replayed.blocks)):
        estimate = estimate_radius(learnt.scaled(seen.contexts), by_set, forgetting.of_contexts, horizon)
        notes += estimate.notes(around_log=forecast is None) if radius == ESTIMATE else []
    covers = objective == REPLAY and estimate is not None
    rule = _rule(objective, stated, radius, estimate, replayed, learnt, given)

    def decided(learnt: Combined) -> tuple[Search, Judge, np.ndarray]:
        search = Search(learnt, rule, allowed)
        return search, Judge(search, sign), search.best(search.optimism if explore else search.values)

    search, judge, best = decided(learnt)
    apart, steady = search.apart(best), search.best(search.expectations)
    worst = rule.worst(search.payoffs(best[None]))[0] if rule.has_worst else given.weights
    doubted = None
    if not all(model.kept.all() for model in models):
        _, other, anyhow = decided(Combined(outcomes, [make() for make in makers]).asked_of(given.contexts))
        doubted = other(anyhow)
    rows = log_rows(learnt, met, outcomes, logs)
    return Suggestion(
        best=judge(best),
        steady=judge(steady),
        second=judge(apart) if apart is not None else None,
        given_up=float((search.expectations(steady[None]) - search.expectations(best[None]))[0]),
        objective=objective,
        set=None if rule.ambiguity is None and estimate is None else "cvar" if objective == "cvar" else set,
        size=rule.size,
        outcome=sum_in_words(outcomes),
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
            *read,
            *broken(seen.decisions),
            *asked.extrapolated(met, seen.contexts, given.contexts),
            *forgetting.notes,
            *models[0].notes,
            *asked.how_coded(chosen, names),
            *asked.how_weighed(outcomes, weights),
        ),
        outcomes=earned_by(best, search) if several else (),
        front=front_of(search, best) if several and not weights else (),
        alternatives=_ranked(offered, search, judge),
        constraints=tuple(constraints),
        outliers=tuple(row for row in rows if row.outlier),
        doubted=doubted,
        units=asked.checked_units(units or {}, [*chosen.names, *columns]),
        search=search,
        evidence=functools.partial(details, search, given, met, best, steady, sign, rows),
    )


def _rule(
    objective: str,
    stated: SetParameters | ConditionalValueAtRisk | None,
    radius: float | str | None,
    estimate: RadiusEstimate | None,
    replayed: Chosen | None,
    learnt: Combined,
    given: Forecast,
) -> Rule:
    """Return what is best, and what worst cases are told for."""
    if not isinstance(stated, SetParameters):
        return Rule(objective, stated, given.weights)
    decides = Rule("so", None, given.weights)
    if replayed is not None and replayed.radius:
        decides = _around(learnt, given, stated, replayed.radius, replayed.cells)
    if radius is None:
        return decides
    if radius == ESTIMATE and estimate:
        size, cells = estimate.radius, estimate.cells
    else:
        size, cells = checked_radius(radius, "--radius"), None
    told = _around(learnt, given, stated, size, cells)
    return Rule(objective, told.ambiguity, given.weights, told.cells, decides if objective == REPLAY else None)


def _around(learnt: Combined, given: Forecast, stated: SetParameters, radius: float, cells: int | None) -> Rule:
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

    def __init__(self, search: Search, sign: float) -> None:
        self.search, self.learnt, self.sign = search, search.learnt, sign

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
    def _draws(self) -> Sequence[Combined]:
        return self.learnt.draws()


def _nearly_worst(search: Search, best: np.ndarray) -> bool:
    """Whether a decision (d,) has its worst expectation next to what its worst context brings."""
    payoffs, rule = search.payoffs(best[None]), search.rule
    least = float(payoffs.min())
    return rule.ambiguity is not None and float(rule.lowest(payoffs)[0]) - least < _NEARLY * (
        float((payoffs @ rule.weights)[0]) - least
    )


def _taught(learnt: Combined, best: np.ndarray, weights: np.ndarray) -> float:
    """Return to within what the expectation of a decision (d,) would be known if it were tried once."""
    met = tables.spread_evenly(len(weights), _TRIED)
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


def _ranked(offered: Mapping[str, np.ndarray], search: Search, judge: Judge) -> tuple[Ranked, ...]:
    """Return the alternatives that may be suggested, best objective first; without a list, of a few names alone."""
    if not offered:
        names = all(isinstance(part, OneOfNames) for part in search.learnt.decisions.parts)
        if not names or len(search.pool) > _FEW:
            return ()
        offered = {str(i): value for i, value in enumerate(search.pool, 1)}
    allowed = {tuple(value) for value in search.pool.tolist()}
    kept = {line: value for line, value in offered.items() if tuple(value.tolist()) in allowed}
    values, lines = search.values(np.array(list(kept.values()))), list(kept)
    left, order = list(range(len(kept))), []
    while left:
        order.append(left.pop(first_best(values[left])))
    decisions = np.array(list(kept.values()))[order]
    draws = judge.expectations(decisions)
    best = np.bincount(draws.argmax(axis=1), minlength=len(order)) / len(draws)
    behind = draws[:, :1] - draws
    low, high = np.quantile(behind, [0.025, 0.975], axis=0)
    return tuple(
        Ranked(
            lines[i],
            judge(decisions[at]),
            float(best[at]),
            (float(behind[:, at].mean()), float(low[at]), float(high[at])),
        )
        for at, i in enumerate(order)
    )


#: Logs that are simulated, by so many processes; a log of fewer rows does not tell what it is like.
LOGS, _PROCESSES, FEWEST_TOLD = 100, 2, 30

#: Variance that payoffs get so that their covariance can be factorised, as a share of the largest.
_JITTER = 1e-8


@dataclass(frozen=True)
class Calibration:
    """How often guarantees from simulated logs were kept; `print` tells it in words."""

    logs: int  #: number of logs that were simulated; 0 of a log that is too short.
    kept: float | None  #: share of them whose guarantee was kept.
    interval: tuple[float, float] | None  #: where that share lies with probability 0.95 (Wilson, 1927).
    rows: int  #: number of rows of the log.

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data, as `--json` prints it."""
        return asdict(self)

    def __str__(self) -> str:
        """Return the line that `bocu suggest --calibrate` prints."""
        if self.kept is None or self.interval is None:
            return f"Cannot tell: the log has {self.rows} rows; {FEWEST_TOLD} are wanted"
        low, high = self.interval
        return (
            f"If your log is like the model, the guarantee is kept in {self.kept:.0%} of such logs ({low:.0%} to "
            f"{high:.0%}, {self.logs} simulated); no log is quite like its model, and the share may be ten points less"
        )


def calibrate(log: Any, *, logs: int = LOGS, tell: Callable[[], None] | None = None, **asked: Any) -> Calibration:
    """Simulate logs from the model of a log, ask of each what is asked, and count how often guarantees were kept.

    A payoff function is drawn from the model at hyper-parameters as probable as the log has them, and noise; decisions
    and contexts are those of the log. What is true of a decision is its worst expectation by that function.

    Args:
        log: as `suggest` takes it.
        logs: how many to simulate.
        tell: called after each.
        asked: further arguments of `suggest`.

    Raises:
        BocuError: arguments or files are at fault, or there is no guarantee.
    """
    table = tables.read_log_table(log, "log")
    found = suggest(table, **asked)
    if found.best.guaranteed is None:
        raise BocuError("--calibrate: found no guarantee to check; --radius says what it is to hold for")
    if found.rows < FEWEST_TOLD:
        return Calibration(0, None, None, found.rows)
    kept = 0
    with ProcessPoolExecutor(_PROCESSES, initializer=_prepare, initargs=(table, asked)) as pool:
        for was_kept in pool.map(_is_kept, range(logs)):
            kept += was_kept
            if tell is not None:
                tell()
    from scipy.stats import binomtest

    low, high = binomtest(kept, logs).proportion_ci(method="wilson")
    return Calibration(logs, kept / logs, (float(low), float(high)), found.rows)


#: The search that a process simulates from, with models at other hyper-parameters.
_prepared: list[tuple[Search, list[Combined]]] = []


def _prepare(table: Any, asked: dict[str, Any]) -> None:
    search = suggest(table, **asked).search
    assert search is not None
    _prepared.append((search, search.learnt.draws()))


def _is_kept(seed: int) -> bool:
    """Whether the guarantee from one simulated log is kept."""
    world, (search, draws) = np.random.default_rng(seed), _prepared[-1]
    drawn = draws[seed % len(draws)]
    functions = [_Drawn(model, world) for model in drawn.models]
    again = [model.again(function.log(world)) for model, function in zip(drawn.models, functions, strict=True)]
    learnt = Combined(drawn.outcomes, again)
    other = Search(learnt, search.rule, search.allowed)
    value = other.best(other.values)
    truth = sum(
        one.weight * function.payoffs(value, world) for one, function in zip(learnt.outcomes, functions, strict=True)
    )
    promised = Judge(other, 1.0).kept_by(value, search.rule)
    return bool(search.rule.lowest(np.asarray(truth)[None])[0] >= promised)


class _Drawn:
    """A payoff function that is drawn from a model, first at the rows of its log."""

    def __init__(self, model: Learnt, world: np.random.Generator) -> None:
        self._model = model
        here = model.posterior
        self._prior = here.covariance(here.inputs)
        left = self._prior - self._prior @ here.solve(self._prior)
        self._rows = here.mean + self._prior @ here.weights + _normal(left, world)

    def log(self, world: np.random.Generator) -> Log:
        """Return the log with what such a function would have brought, to be maximised."""
        model, here = self._model, self._model.posterior
        earned = here.shift + here.scale * self._rows + model.noise * world.normal(size=len(self._rows))
        kept, log = np.flatnonzero(model.kept), model.log
        none = log.gaps.at(np.arange(0))
        return replace(log.at(kept), outcome=earned[: len(kept)], gaps=none, notes=())

    def payoffs(self, value: np.ndarray, world: np.random.Generator) -> np.ndarray:
        """Return what a decision (d,) brings in the contexts of the forecast, (C,)."""
        model, here = self._model, self._model.posterior
        cross, own = model.priors(value)
        prior = self._prior + _JITTER * float(self._prior.max()) * np.eye(len(self._prior))
        solved = np.linalg.solve(prior, np.column_stack([self._rows - here.mean, cross.T]))
        mean = here.mean + cross @ solved[:, 0]
        return np.asarray(here.shift + here.scale * (mean + _normal(own - cross @ solved[:, 1:], world)))


def _normal(covariance: np.ndarray, world: np.random.Generator) -> np.ndarray:
    """Draw from a normal distribution of mean 0."""
    spread, directions = np.linalg.eigh((covariance + covariance.T) / 2.0)
    return np.asarray(directions @ (np.sqrt(np.maximum(spread, 0.0)) * world.normal(size=len(spread))))
