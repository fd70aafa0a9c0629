"""What the suggestions would have earned: a log walked through in time, advised from its past, judged by what is apart.

Rows are dealt into two halves in turn. At each step advice comes from `suggest`, given the rows of one half before that
step and nothing else, or the forecast that was at hand for a row too; it is judged on the other rows of that half after
it. Each half advises once. Whoever judges, rows of the log that did not advise or a model of the half that did not, has
not advised, so luck that advice was fitted to earns it nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bocu.advice.asked import checked_units, objective_of, read_radius, refuse_mixed_up, stated_set, what_is_decided
from bocu.advice.choices import Decisions, OneOfNames
from bocu.advice.details import NINETY_FIVE
from bocu.advice.logs import LEAVE_OUT, Log, LogTable, read_log_table, read_logs, weighted
from bocu.advice.model import ONE_HOT, Learnt
from bocu.advice.outcomes import Outcome, read_outcomes, sum_in_words
from bocu.advice.replayed import (
    AUTO,
    BY_LOG,
    BY_MODEL,
    DONE,
    JUDGES,
    NEAR,
    STEADY,
    SUGGESTED,
    Brought,
    JudgedRow,
    PartOfLog,
    Replay,
    Step,
)
from bocu.advice.suggesting import suggest
from bocu.advice.suggestion import Earned, Gain
from bocu.advice.time import Clock, in_time, table_rows_at
from bocu.core.errors import BocuError, shown
from bocu.robust.ambiguity.checks import radius as checked_radius

#: Whose payoffs are compared.
PAIRS = ((SUGGESTED, DONE), (SUGGESTED, STEADY), (STEADY, DONE))

#: The last rows of a half before a step that advise.
_MOST_ADVISING = 1000

#: Rows of each half that are judged, spread evenly, and as many where each is advised under its own forecast.
MOST_JUDGED, MOST_FORECAST = 500, 60

Advise = Callable[[np.ndarray, int | None], Step]


@dataclass(frozen=True)
class Judgement:
    """What ways to decide earn, of rows in order.

    Attributes:
        rows: positions in the log, (n,).
        payoffs: of each outcome, to be maximised, by who decides, (k, n).
        logged: what was done and earned, by the log, (k, n).
        blocks: the step of each row, (n,).
        halves: of each row, (n,).
        doubts: of each half, the standard deviation that its judge has of a mean difference, a pair over some of the
            half's rows, for each outcome, (k,).
    """

    rows: np.ndarray
    payoffs: dict[str, np.ndarray]
    logged: np.ndarray
    blocks: np.ndarray
    halves: np.ndarray
    doubts: tuple[Callable[[tuple[str, str], np.ndarray], np.ndarray], ...]

    def gain(self, pair: tuple[str, str], weights: np.ndarray, chosen: np.ndarray | None = None) -> Gain | None:
        """Return what the first of a pair earns more than the second; None where rows are of a single step.

        Rows of a block share their advice, so its rows are one observation of Student's interval; to its variance comes
        that of the judges, who are independent of each other.

        Args:
            pair: of who decides.
            weights: of outcomes, (k,).
            chosen: which rows count, (n,); None: all.
        """
        some = np.ones(len(self.rows), dtype=bool) if chosen is None else chosen
        differences = weights @ (self.payoffs[pair[0]] - self.payoffs[pair[1]])[:, some]
        blocks = self.blocks[some]
        count = len(np.unique(blocks))
        if count < 2:
            return None
        mean = float(differences.mean())
        sums = np.bincount(blocks, weights=differences - mean)
        error = float(np.sqrt((sums**2).sum() * count / (count - 1))) / len(differences)
        doubts = []
        for half, doubt in enumerate(self.doubts):
            mine = some[self.halves == half]
            if mine.any():
                share = mine.sum() / len(differences)
                doubts.append(share * float(np.linalg.norm(weights * doubt(pair, mine))))
        from scipy import stats

        reach = float(np.hypot(float(stats.t.ppf(0.975, count - 1)) * error, NINETY_FIVE * np.linalg.norm(doubts)))
        return Gain(mean, (mean - reach, mean + reach))


def joined(halves: Sequence[Judgement]) -> Judgement:
    """Return the verdicts on both halves as one, in the order of the log."""
    order = np.argsort(np.concatenate([one.rows for one in halves]), kind="stable")
    return Judgement(
        rows=np.concatenate([one.rows for one in halves])[order],
        payoffs={
            who: np.concatenate([one.payoffs[who] for one in halves], axis=1)[:, order] for who in halves[0].payoffs
        },
        logged=np.concatenate([one.logged for one in halves], axis=1)[:, order],
        blocks=np.concatenate([one.blocks for one in halves])[order],
        halves=np.repeat([0, 1], [len(one.rows) for one in halves])[order],
        doubts=tuple(one.doubts[0] for one in halves),
    )


class Half:
    """One half of the rows: advice from it, and the judgement of that advice.

    Args:
        half: 0 or 1; rows are dealt out in turn.
        logs: one an outcome, of the same rows.
        outcomes: what is earned or paid.
        decisions: what is decided.
        cuts: positions of the first row of each step, and the number of rows.
        judged: which rows may be judged, (t,).
        code: how names are told apart.
        advise: makes a step of the positions of the rows that advise, and of the row that it is for.
        each: whether each row is advised for itself.

    Attributes:
        rows: positions of the rows that are judged, (n,).
        matched: which of them have rows like all that was advised, (n,).
        steps: advice.
    """

    def __init__(
        self,
        half: int,
        logs: Sequence[Log],
        outcomes: Sequence[Outcome],
        decisions: Decisions,
        cuts: np.ndarray,
        judged: np.ndarray,
        code: str,
        advise: Advise,
        *,
        each: bool,
    ) -> None:
        self.seen, self.decisions, self._logs, self._outcomes, self._code = logs[0], decisions, logs, outcomes, code
        positions = np.arange(len(self.seen.outcome))
        mine = positions % 2 == half
        self._others = positions[~mine]
        after = positions[mine & judged & (positions >= cuts[0])]
        most = MOST_FORECAST if each else MOST_JUDGED
        self.rows = after[np.linspace(0, len(after) - 1, min(len(after), most)).round().astype(int)]
        self._blocks = np.searchsorted(cuts, self.rows, side="right") - 1
        self.steps: list[Step] = []
        advised: dict[str, list[np.ndarray]] = {SUGGESTED: [], STEADY: []}
        times = (
            zip(self._blocks.tolist(), self.rows.tolist(), strict=True) if each else enumerate([None] * cuts[:-1].size)
        )
        for block, row in times:
            step = advise(positions[mine & (positions < cuts[block])][-_MOST_ADVISING:], row)
            self.steps.append(step)
            for who, found in advised.items():
                found.append(_values(decisions, step.decisions[who]))
        at = slice(None) if each else self._blocks
        self._decided = {who: np.reshape(found, (-1, len(decisions.parts)))[at] for who, found in advised.items()}
        self._decided[DONE] = self.seen.decisions[self.rows]
        unseen = ~mine | (positions >= cuts[self._blocks][:, None])
        away = {who: np.where(unseen, self._away(found), np.inf) for who, found in self._decided.items() if who != DONE}
        self.matched = np.all([found.min(axis=1) <= NEAR for found in away.values()], axis=0)
        self._nearest = {who: found.argmin(axis=1) for who, found in away.items()}

    def by_log(self) -> Judgement:
        """Judge by the outcome of the nearest row that did not advise, of rows that have one near enough.

        One outcome each, and no average of several, has as much noise as that of what was done.
        """
        found = self._earned()
        nearest = {DONE: self.rows, **self._nearest}
        payoffs = {who: found[:, at[self.matched]] for who, at in nearest.items()}
        return self._verdict(self.matched, payoffs, lambda pair, some: np.zeros(len(found)))

    def by_model(self) -> Judgement:
        """Judge by a model of the rows of the other half, in the contexts that were met."""
        others, met = self._others, self.seen.contexts[self.rows]
        forecast = weighted(met, np.ones(len(met)))
        models = [
            Learnt(
                self.decisions,
                replace(
                    log,
                    decisions=log.decisions[others],
                    contexts=log.contexts[others],
                    outcome=log.outcome[others],
                    lines=tuple(log.lines[i] for i in others.tolist()),
                ),
                forecast,
                one.sign,
                code=self._code,
            )
            for log, one in zip(self._logs, self._outcomes, strict=True)
        ]
        judges = [_Model(model, {who: self._inputs(model, who) for who in self._decided}) for model in models]
        return self._verdict(
            np.ones(len(self.rows), dtype=bool),
            {who: np.stack([judge.payoffs(who) for judge in judges]) for who in self._decided},
            lambda pair, some: np.array([judge.doubt(pair, some) for judge in judges]),
        )

    def _verdict(
        self,
        kept: np.ndarray,
        payoffs: dict[str, np.ndarray],
        doubt: Callable[[tuple[str, str], np.ndarray], np.ndarray],
    ) -> Judgement:
        rows = self.rows[kept]
        return Judgement(rows, payoffs, self._earned()[:, rows], self._blocks[kept], np.zeros(len(rows)), (doubt,))

    def _earned(self) -> np.ndarray:
        """Return what rows of the log earned of each outcome, to be maximised, (k, t)."""
        return np.stack([one.sign * log.outcome for log, one in zip(self._logs, self._outcomes, strict=True)])

    def _inputs(self, model: Learnt, who: str) -> np.ndarray:
        return np.hstack([self.decisions.encode(self._decided[who]), model.scaled(self.seen.contexts[self.rows])])

    def _away(self, values: np.ndarray) -> np.ndarray:
        """Return how far rows of the log (t,) are from decisions (n, d) in the contexts met, (n, t).

        It is the largest difference of a number, as a share of its range; infinite where a name differs.
        """
        met, far = self.seen.contexts, np.zeros((len(values), len(self.seen.outcome)))
        for i, part in enumerate(self.decisions.parts):
            apart = np.abs(values[:, i, None] - self.seen.decisions[:, i])
            far = np.maximum(
                far, np.where(apart > 0.0, np.inf, 0.0) if isinstance(part, OneOfNames) else apart / part.span
            )
        for column in met.T:
            far = np.maximum(far, np.abs(column[self.rows, None] - column) / (np.ptp(column) or 1.0))
        return far


class _Model:
    """A model that judges decisions, by who made them, at inputs (n, D)."""

    def __init__(self, learnt: Learnt, inputs: dict[str, np.ndarray]) -> None:
        self._learnt, self._inputs = learnt, inputs
        self._cross = {who: learnt.posterior.covariance(points) for who, points in inputs.items()}

    def payoffs(self, who: str) -> np.ndarray:
        """Return what decisions are expected to earn, (n,)."""
        here = self._learnt.posterior
        return np.asarray(here.shift + here.scale * (here.mean + self._cross[who] @ here.weights))

    def doubt(self, pair: tuple[str, str], some: np.ndarray) -> float:
        """Return the standard deviation of the mean difference of a pair over some rows (n,)."""
        here = self._learnt.posterior
        first, second = (self._inputs[who][some] for who in pair)
        cross = (self._cross[pair[0]] - self._cross[pair[1]])[some]

        def mean(one: np.ndarray, other: np.ndarray) -> float:
            found = self._learnt.structure.correlation(here.hyperparameters.lengthscales, one, other)
            return here.hyperparameters.output_scale * float(found.mean())

        prior = mean(first, first) - 2.0 * mean(first, second) + mean(second, second)
        explained = float(here.explained(cross.mean(axis=0)[None])[0])
        return float(here.scale * np.sqrt(max(prior - explained, 0.0)))


def _values(decisions: Decisions, named: dict[str, float | int | str]) -> np.ndarray:
    """Return a decision (d,) of its values by name."""
    return np.array(
        [
            float(part.levels.index(str(named[part.name])) if isinstance(part, OneOfNames) else named[part.name])
            for part in decisions.parts
        ]
    )


#: The fewest rows that are replayed, and the part of the log before the first step.
FEWEST_ROWS, _FIRST = 40, 3

#: The log is the judge where it has like rows for this share of what is judged, and for so many.
_ENOUGH_SHARE, _ENOUGH = 0.5, 20

#: The fewest rows that the log judges, and that have a forecast.
_FEWEST_JUDGED = 10

#: Parts that a context or the time is cut into.
_PARTS = 3


def replay(
    log: Any,
    *,
    contexts: Sequence[str],
    outcome: str | Sequence[str],
    decisions: str | Decisions | None = None,
    weights: Mapping[str, float] | None = None,
    forecast: Any = None,
    minimise: bool = False,
    objective: str | None = None,
    time: str | None = None,
    first: int | None = None,
    steps: int = 8,
    judge: str = AUTO,
    alternatives: Any = None,
    units: Mapping[str, str] | None = None,
    **asked: Any,
) -> Replay:
    """Tell what suggestions would have earned against what was done and against expectation alone.

    Args:
        log: path of a CSV file, pandas table, xarray data set, or columns by name.
        decisions: what is decided, as in `suggest`.
        contexts: columns of what is met after deciding.
        outcome: column of what was earned or paid; of several, as "profit,waste:min" or a sequence.
        weights: of several outcomes, what a unit of each counts.
        forecast: like `log`: past forecasts, each row with the time of the row of the log that it was at hand for, and
            `weight` or not; rows of one time are members of one forecast. Left out, the reference is what was met
            before.
        minimise: whether the outcome is a cost.
        objective: as in `suggest`.
        time: column of dates or numbers that rows are in the order of; left out, they are in the order of time.
        first: rows before the first step; left out, a third of them.
        steps: how often advice is asked for anew.
        judge: "log": rows that decided alike in like contexts; "model": a model of the other half; "auto": the log
            where it has like rows for half of what is judged.
        alternatives: as in `suggest`.
        units: of columns, by name.
        asked: further arguments of `suggest`. Rows that lack a value are left out.

    Raises:
        BocuError: arguments or files are at fault, or the log is too short.
    """
    if judge not in JUDGES:
        raise BocuError(f"--judge: found {shown(judge)}; allowed: {', '.join(JUDGES)}")
    outcomes, names = _outcomes(outcome, minimise, weights), tuple(contexts)
    columns = [one.name for one in outcomes]
    radius = read_radius(asked.get("radius"))
    objective = objective_of(objective, radius)
    stated_set(objective, asked.get("set", "tv"), radius, asked.get("keys") or {}, asked.get("alpha", 0.1))
    if isinstance(radius, float):
        checked_radius(radius, "--radius")
    notes: list[str] = []
    table, clock = in_time(read_log_table(log, "log"), time, notes)
    chosen, _ = what_is_decided(decisions, alternatives, table, [*names, *columns])
    refuse_mixed_up(chosen, names, outcomes, objective)
    logs = read_logs(table, chosen, names, columns, LEAVE_OUT)
    seen = logs[0]
    clock = clock.of(table, seen.lines)
    table = table_rows_at(table, np.flatnonzero(np.isin(table.lines, seen.lines)))
    cuts = _cuts(clock.times, first, steps)
    forecasts = None if forecast is None else _forecasts(forecast, time, clock)

    def advise(rows: np.ndarray, row: int | None) -> Step:
        line = str(table.lines[rows[-1]])
        try:
            found = suggest(
                table_rows_at(table, rows),
                decisions=chosen,
                contexts=names,
                outcome=outcome,
                weights=weights,
                forecast=None if row is None or forecasts is None else forecasts[clock.times[row]],
                minimise=minimise,
                objective=objective,
                time=time,
                alternatives=alternatives,
                **asked,
            )
        except BocuError as error:
            raise BocuError(f"as of {line}, from {len(rows)} rows: {error}") from None
        decided = {SUGGESTED: found.decision, STEADY: found.steady.decision}
        return Step(line, len(rows), decided, found.size, None if row is None else str(table.lines[row]))

    judged = np.ones(len(clock.times), dtype=bool)
    if forecasts is not None:
        judged = np.isin(clock.times, list(forecasts))
        notes += _without_forecast(judged[cuts[0] :])
    code, each = asked.get("names", ONE_HOT), forecasts is not None
    halves = [Half(half, logs, outcomes, chosen, cuts, judged, code, advise, each=each) for half in (0, 1)]
    matched, of = (sum(count) for count in zip(*((half.matched.sum(), len(half.rows)) for half in halves), strict=True))
    if judge == AUTO:
        judge = BY_LOG if matched >= max(_ENOUGH, _ENOUGH_SHARE * of) else BY_MODEL
    verdict = joined([half.by_log() if judge == BY_LOG else half.by_model() for half in halves])
    if len(verdict.rows) < _FEWEST_JUDGED or len(np.unique(verdict.blocks)) < 2:
        raise BocuError(
            f"--judge log: the log has like rows for {len(verdict.rows)} of the decisions; {_FEWEST_JUDGED} in two "
            "steps are wanted; take --judge model"
        )
    counted = np.array([one.weight for one in outcomes])
    sign = outcomes[0].sign if len(outcomes) == 1 else 1.0
    payoffs = {who: counted @ found for who, found in verdict.payoffs.items()}
    logged = sign * (counted @ verdict.logged)
    return Replay(
        outcome=sum_in_words(outcomes) if len(outcomes) > 1 else outcomes[0].name,
        minimise=sign < 0.0,
        objective=objective,
        set=asked.get("set", "tv") if radius is not None else None,
        radius=radius,
        judge=judge,
        rows=len(seen.outcome),
        judged=len(verdict.rows),
        matched=int(matched),
        logged=float(logged.mean()),
        earned={who: Earned.of(found, sign) for who, found in payoffs.items()},
        gains=_gains(verdict, counted),
        parts=_parts(verdict, counted, names, seen, time, clock),
        outcomes=_brought(verdict, outcomes) if len(outcomes) > 1 else [],
        blocks=len(np.unique(verdict.blocks)),
        advised=int(of),
        forecasts=forecasts is not None,
        steps=[step for half in halves for step in half.steps],
        judgements=_judgements(verdict, payoffs, logged, names, seen, sign),
        notes=(*notes, *seen.notes),
        units=checked_units(units or {}, [*chosen.names, *names, *columns]),
    )


def _outcomes(outcome: str | Sequence[str], minimise: bool, weights: Mapping[str, float] | None) -> tuple[Outcome, ...]:
    found = read_outcomes(outcome, minimise, weights)
    if len(found) > 1 and not weights:
        raise BocuError(
            "--weights: found none; several outcomes are replayed as one sum, the same at all steps: "
            + ",".join(f"{one.name}=NUMBER" for one in found)
        )
    return found if len(found) > 1 else (replace(found[0], weight=1.0),)


def _forecasts(forecast: Any, time: str | None, clock: Clock) -> dict[float, LogTable]:
    """Return the members of past forecasts, by the time of the row of the log that they were at hand for."""
    if time is None:
        raise BocuError("--forecast: a replay takes for each row the forecast made for its time; --time is wanted")
    table = read_log_table(forecast, "forecast")
    if time not in table.columns:
        raise BocuError(
            f"{table.name}: no column '{time}' (time); a replay takes past forecasts, each for a row of the log by its "
            "time; one for tomorrow alone cannot be replayed"
        )
    table, when = in_time(table, time, [])
    if when.unit != clock.unit:
        kinds = {"days": "dates", "": "numbers"}
        raise BocuError(
            f"{table.name}: column '{time}': found {kinds[when.unit]}, where the log has {kinds[clock.unit]}"
        )
    starts = np.unique(when.times, return_index=True)
    return {
        float(at): table_rows_at(table, rows)
        for at, rows in zip(starts[0], np.split(np.arange(len(when.times)), starts[1][1:]), strict=True)
    }


def _without_forecast(judged: np.ndarray) -> list[str]:
    """Say how many of the rows after the first step (n,) have a forecast, and how many of those are judged."""
    count = int(judged.sum())
    if count < _FEWEST_JUDGED:
        raise BocuError(
            f"--forecast: {count} of the {len(judged)} rows after the first step have a forecast of their time; "
            f"{_FEWEST_JUDGED} are wanted"
        )
    notes = []
    if count < len(judged):
        notes.append(f"{len(judged) - count} of {len(judged)} rows after the first step have no forecast: not judged")
    if count > 2 * MOST_FORECAST:
        notes.append(f"of {count} rows with a forecast {2 * MOST_FORECAST} are judged, spread evenly")
    return notes


def _gains(verdict: Judgement, weights: np.ndarray, chosen: np.ndarray | None = None) -> dict[str, Gain]:
    """Return gains by pairs of who decides; none of rows of a single step."""
    found = {_pair(pair): verdict.gain(pair, weights, chosen) for pair in PAIRS}
    return {pair: gain for pair, gain in found.items() if gain is not None}


def _parts(
    verdict: Judgement, weights: np.ndarray, names: Sequence[str], seen: Log, time: str | None, clock: Clock
) -> list[PartOfLog]:
    """Return the gains where each context is low, middling and high, and in the early, middle and late part."""
    met = seen.contexts[verdict.rows]
    when = verdict.rows + 1.0 if clock.unit == "rows" else clock.times[verdict.rows]
    found = []
    in_time = min(_PARTS, len(np.unique(verdict.blocks)) // 2)  # an interval takes two steps
    columns = [*((name, values, _PARTS) for name, values in zip(names, met.T, strict=True))]
    for name, values, parts in [*columns, (time or "row", when, in_time)]:
        places = _places(values, parts)
        for place in np.unique(places) if np.ptp(places) else ():
            some = places == place
            found.append(
                PartOfLog(
                    name,
                    *_limit(values[some], dated=name == time and clock.unit == "days"),
                    int(some.sum()),
                    _gains(verdict, weights, some) or None,
                )
            )
    return found


def _places(values: np.ndarray, parts: int) -> np.ndarray:
    """Return in which part of like size each of values (n,) lies; equal ones stay together, a few are no part."""
    limits = np.unique(np.quantile(values, np.linspace(0.0, 1.0, parts + 1)[1:-1])) if parts > 1 else np.empty(0)
    places = np.searchsorted(limits, values, side="left")
    for place in range(len(limits)):
        if (places == place).sum() < len(values) / (2 * parts):
            places[places == place] = place + 1
    last = places == len(limits)
    if last.sum() < len(values) / (2 * parts) and not last.all():
        places[last] = places[~last].max()
    return places


def _limit(values: np.ndarray, *, dated: bool) -> tuple[float | str, float | str]:
    """Return the least and the largest of values (n,), of days since 1970 as dates."""
    low, high = float(values.min()), float(values.max())
    return (_date(low), _date(high)) if dated else (low, high)


def _date(days: float) -> str:
    return str(np.datetime64(0, "D") + np.timedelta64(int(np.floor(days)), "D"))


def _brought(verdict: Judgement, outcomes: Sequence[Outcome]) -> list[Brought]:
    return [
        Brought(
            one.name,
            one.minimise,
            one.weight,
            {who: Earned.of(found[i], one.sign) for who, found in verdict.payoffs.items()},
            _gains(verdict, np.eye(len(outcomes))[i]),
        )
        for i, one in enumerate(outcomes)
    ]


def _judgements(
    verdict: Judgement,
    payoffs: dict[str, np.ndarray],
    logged: np.ndarray,
    names: Sequence[str],
    seen: Log,
    sign: float,
) -> list[JudgedRow]:
    ahead = {_pair((one, other)): np.cumsum(payoffs[one] - payoffs[other]) for one, other in PAIRS}
    return [
        JudgedRow(
            seen.lines[row],
            dict(zip(names, seen.contexts[row].tolist(), strict=True)),
            float(logged[i]),
            {who: sign * float(found[i]) for who, found in payoffs.items()},
            {pair: float(found[i]) for pair, found in ahead.items()},
        )
        for i, row in enumerate(verdict.rows.tolist())
    ]


def _pair(pair: tuple[str, str]) -> str:
    return f"{pair[0]} over {pair[1]}"


def _cuts(times: np.ndarray, first: int | None, steps: int) -> np.ndarray:
    """Return the positions of the first row of each step and the number of rows; steps begin with a new time."""
    rows = len(times)
    if rows < FEWEST_ROWS:
        raise BocuError(f"the log is too short to be replayed: found {rows} whole rows; {FEWEST_ROWS} are wanted")
    start = max(rows // _FIRST, FEWEST_ROWS // 2) if first is None else first
    if not FEWEST_ROWS // 4 <= start <= rows - FEWEST_ROWS // 4:
        raise BocuError(
            f"--first: found {start}; allowed: {FEWEST_ROWS // 4} to {rows - FEWEST_ROWS // 4} of {rows} rows"
        )
    if steps < 2:
        raise BocuError(f"--steps: found {steps}; at least 2 are wanted")
    even = np.linspace(start, rows, steps + 1).round().astype(int)
    cuts = np.unique(np.append(np.searchsorted(times, times[even[:-1]], side="left"), rows))
    if len(cuts) < 3 or cuts[0] < FEWEST_ROWS // 4:
        raise BocuError("the log is too short to be replayed: its rows have next to no different times")
    return cuts
