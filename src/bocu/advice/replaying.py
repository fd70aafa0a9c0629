"""What the suggestions would have earned: a log walked through in time, advised from its past, judged by what is apart.

Rows are dealt into two halves in turn. At each step advice comes from `suggest`, given the rows of one half before that
step and nothing else, or the forecast that was at hand for a row too; it is judged on the other rows of that half after
it. Each half advises once. Whoever judges, rows of the log that did not advise or a model of the half that did not, has
not advised, so luck that advice was fitted to earns it nothing.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from bocu.advice.asked import checked_units, objective_of, read_radius, refuse_mixed_up, stated_set, what_is_decided
from bocu.advice.choices import Decisions, OneOfNames
from bocu.advice.details import NINETY_FIVE
from bocu.advice.logs import LEAVE_OUT, Log, LogTable, read_log_table, read_logs, spread_evenly, weighted
from bocu.advice.model import Learnt
from bocu.advice.outcomes import Outcome, read_outcomes, sign_of, sum_in_words
from bocu.advice.radius import Earned, Gain
from bocu.advice.suggesting import suggest
from bocu.advice.suggestion import in_digits, of, titled
from bocu.advice.time import Clock, in_time
from bocu.core.errors import BocuError, faults_at, shown
from bocu.core.written import table as aligned
from bocu.robust.ambiguity.checks import radius as checked_radius

AUTO, BY_LOG, BY_MODEL = "auto", "log", "model"
JUDGES = (AUTO, BY_LOG, BY_MODEL)

#: Who decides: as was done, the best expectation, and what is suggested.
DONE, STEADY, SUGGESTED = "done", "expectation", "suggested"

#: A row stands for a decision in a context where each number is no further than this share of its range from it.
NEAR = 0.05


@dataclass(frozen=True)
class PartOfLog:
    """What is gained in a part of the rows: where a context is low, or early in the log."""

    name: str  #: of the context, or of the column of times; "row" where rows are in the order of time.
    # low, high: of the values that rows of this part have; dates as text, and of rows without times their numbers.
    low: float | str
    high: float | str
    rows: int  #: number of them.
    gains: dict[str, Gain] | None  #: as those of all rows; None where a part has rows of a single step.


@dataclass(frozen=True)
class Brought(Outcome):
    """One of several outcomes, and what ways to decide bring of it, a row."""

    earned: dict[str, Earned]  #: by who decides.
    gains: dict[str, Gain]  #: more earned, or less paid.


@dataclass(frozen=True)
class Step:
    """Advice from one half of the rows before a step."""

    line: str  #: the last row that advised, as the log calls it.
    rows: int  #: number of rows that advised.
    decisions: dict[str, dict[str, float | int | str]]  #: by who decides.
    size: float | None  #: radius or level of the set; None without one.
    #: the one row that the advice is for, under its own forecast; None: for all until the next step.
    row: str | None = None


@dataclass(frozen=True)
class JudgedRow:
    """A row that ways to decide were judged on."""

    line: str  #: what it is called.
    context: dict[str, float]  #: what was met, by name.
    logged: float  #: what was done and earned, as the log has it.
    earned: dict[str, float]  #: by who decides, in units of the outcome.
    ahead: dict[str, float]  #: what was gained up to this row, all rows before it added up, by pairs of who decides.


@dataclass(frozen=True)
class Replay:
    """What suggestions would have earned; `print` tells it in words.

    Attributes:
        outcome, minimise, objective: what was asked; of several outcomes the weighted sum.
        set, radius: the ambiguity set, and its radius as it was asked for; None where there is none.
        judge: "log" or "model".
        rows: number of rows that the log has.
        judged: number of rows that ways to decide were judged on.
        matched: number of rows for which the log has like ones, whoever judges.
        logged: mean outcome of the rows judged, as the log has it.
        earned: by who decides.
        gains: of the suggested over the done, the suggested over the expectation, the expectation over the done.
        parts: gains where each context is low, middling and high, and early and late in the log.
        outcomes: of several outcomes, what is brought of each.
        blocks: number of steps in time, which intervals stand on.
        advised: number of rows that could be judged.
        forecasts: whether each of them was advised under the forecast that was at hand for it.
        steps: advice, step by step, of both halves.
        judgements: row by row, in the order of time.
        notes: what was done to read the log.
        units: of columns, by name.
    """

    outcome: str
    minimise: bool
    objective: str
    set: str | None
    radius: float | str | None
    judge: str
    rows: int
    judged: int
    matched: int
    logged: float
    earned: dict[str, Earned]
    gains: dict[str, Gain]
    parts: list[PartOfLog]
    outcomes: list[Brought]
    blocks: int
    advised: int
    forecasts: bool
    steps: list[Step]
    judgements: list[JudgedRow]
    notes: tuple[str, ...]
    units: Mapping[str, str] = field(default_factory=dict)

    def unit(self, name: str) -> str:
        """Return the unit of a column as it stands behind a number."""
        return of(self.units.get(name, ""))

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data, as `--json` prints it."""
        return asdict(self)

    def to_html(self) -> str:
        """Return one page that tells all of it, in words and pictures; it needs no other file."""
        from bocu.advice.page import replay_page_of

        return replay_page_of(self.to_dict())

    def __str__(self) -> str:
        """Return the lines that `bocu replay` prints."""
        parts = [[f"note: {note}" for note in self.notes]] if self.notes else []
        parts += [_how(self), _earned(self), _gains(self), _where(self), _advice(self)]
        return "\n".join(line for part in parts for line in (*part, ""))


NAMES = {DONE: "as was done", STEADY: "best expectation", SUGGESTED: "as suggested"}
OVER = {DONE: "what was done", STEADY: "best expectation"}

#: Most pieces of advice that are told.
_ADVICE = 24


def _how(replay: Replay) -> list[str]:
    under = ", each row under the forecast that was at hand for it" if replay.forecasts else ""
    judged = [
        "Judged by a model, fitted to the half of the rows that did not advise: right as far as that model is",
        f"  (the log holds rows like the decisions, within {NEAR:.0%} of each range, for {replay.matched} of them)",
    ]
    if replay.judge == BY_LOG:
        judged = [
            f"Judged by the log: by the outcome of the nearest row that did not advise, within {NEAR:.0%} of the range "
            "of each decision and context"
        ]
    return [
        f"Replayed {replay.judged} of {replay.rows} rows in {replay.blocks} steps in time{under}, each half of the "
        "rows advised from its own past",
        *judged,
    ]


def _earned(replay: Replay) -> list[str]:
    head = [
        replay.outcome + replay.unit(replay.outcome),
        "a row",
        "worst tenth",
        *(one.name for one in replay.outcomes),
    ]
    rows = []
    for who in (DONE, STEADY, SUGGESTED):
        told = [replay.earned[who].mean, replay.earned[who].worst, *(one.earned[who].mean for one in replay.outcomes)]
        rows.append([NAMES[who], *(f"{value:.4g}" for value in told)])
    by_itself = [f"(what was done, by the log itself: {replay.logged:.4g} a row)"] if replay.judge != BY_LOG else []
    return [*aligned(head, rows), *by_itself]


def _gains(replay: Replay) -> list[str]:
    verb = "costs less" if replay.minimise else "earns more"
    lines = [f"What {verb}, a row, with 95 % intervals of paired differences:"]
    for pair, found in replay.gains.items():
        one, _, other = pair.partition(" over ")
        low, high = found.interval
        clear = "" if low > 0.0 else " (clearly less)" if high < 0.0 else " (no clear difference)"
        clear = " (always the same)" if low == high == 0.0 else clear
        lines.append(f"  {NAMES[one]} over {NAMES[other]}: {_with_interval(found)}{clear}")
    return lines


def _where(replay: Replay) -> list[str]:
    others = (DONE, STEADY)
    rows = [
        [
            f"{part.name} {values_in_words(asdict(part))}{replay.unit(part.name)}",
            str(part.rows),
            *(_with_interval(part.gains[f"{SUGGESTED} over {who}"]) if part.gains else "-" for who in others),
        ]
        for part in replay.parts
    ]
    title = "As suggested, by parts of the rows (of twenty such intervals one is expected to miss):"
    return titled(title, ["where", "rows", *(f"over {OVER[who]}" for who in others)], rows) if rows else []


def values_in_words(part: Mapping[str, Any]) -> str:
    """Return "0 to 2.5", the values of a part as plain data."""
    low, high = (in_digits(part[end], 4) for end in ("low", "high"))
    return low if low == high else f"{low} to {high}"


def _with_interval(found: Gain) -> str:
    low, high = found.interval
    return f"{found.gain:.4g} ({low:.4g} to {high:.4g})"


def _advice(replay: Replay) -> list[str]:
    names, ways = list(replay.steps[0].decisions[SUGGESTED]), {SUGGESTED: "suggested", STEADY: "by expectation"}
    head = ["as of", "rows", *(f"{name} {way}" for way in ways.values() for name in names)]
    rows = [
        [step.line, str(step.rows), *(in_digits(step.decisions[who][name], 4) for who in ways for name in names)]
        for step in replay.steps[:_ADVICE]
    ]
    if replay.forecasts:
        head, rows = ["for", *head], [[step.row or "", *row] for step, row in zip(replay.steps, rows, strict=False)]
    more = len(replay.steps) - len(rows)
    others = [f"  and {more} others (--json has all)"] if more else []
    return [*titled("Advice of both halves:", head, rows), *others]


#: Whose payoffs are compared.
PAIRS = ((SUGGESTED, DONE), (SUGGESTED, STEADY), (STEADY, DONE))

#: The last rows of a half before a step that advise.
_MOST_ADVISING = 1000

#: Rows of each half that are judged, spread evenly, and as many where each is advised under its own forecast.
MOST_JUDGED, MOST_FORECAST = 500, 60


class Walk:
    """Advice to both halves of the rows, step by step, and the judgement of that advice.

    Args:
        logs: one an outcome, of the same rows.
        outcomes: what is earned or paid.
        decisions: what is decided.
        cuts: positions of the first row of each step, and the number of rows.
        judged: which rows may be judged, (t,).
        advise: makes a step of the positions of the rows that advise, and of the row that it is for.
        each: whether each row is advised for itself.

    Attributes:
        rows: positions of the rows that are judged, (n,); even ones are of one half, odd ones of the other.
        blocks: the step of each, (n,).
        matched: which of them have rows like all that was advised, (n,).
        steps: advice, to one half and then to the other.
        payoffs: once they are judged, of each outcome, to be maximised, by who decides, (k, n).
    """

    def __init__(
        self,
        logs: Sequence[Log],
        outcomes: Sequence[Outcome],
        decisions: Decisions,
        cuts: np.ndarray,
        judged: np.ndarray,
        advise: Callable[[np.ndarray, int | None], Step],
        *,
        each: bool,
    ) -> None:
        self.seen, self.decisions, self._logs, self._outcomes = logs[0], decisions, logs, outcomes
        #: What rows of the log earned of each outcome, to be maximised, (k, t).
        self._earned = np.stack([one.sign * log.outcome for log, one in zip(logs, outcomes, strict=True)])
        positions = np.arange(len(self.seen.outcome))
        most, spread = MOST_FORECAST if each else MOST_JUDGED, []
        for half in (0, 1):
            after = positions[(positions % 2 == half) & judged & (positions >= cuts[0])]
            spread.append(after[spread_evenly(len(after), most)])
        self.rows = np.sort(np.concatenate(spread))
        self.blocks = np.searchsorted(cuts, self.rows, side="right") - 1
        self.steps: list[Step] = []
        self.payoffs: dict[str, np.ndarray] = {}
        self._judges: list[list[_Model]] = []  # of each half, a model an outcome
        advised = {who: np.empty((len(self.rows), len(decisions.parts))) for who in (SUGGESTED, STEADY)}
        for half in (0, 1):
            ours = np.flatnonzero(self.rows % 2 == half)
            served = ours[:, None] if each else [ours[self.blocks[ours] == block] for block in range(len(cuts) - 1)]
            for turn, some in enumerate(served):
                start = cuts[self.blocks[some[0]] if each else turn]
                past = positions[(positions % 2 == half) & (positions < start)]
                step = advise(past[-_MOST_ADVISING:], int(self.rows[some[0]]) if each else None)
                self.steps.append(step)
                for who, values in advised.items():
                    values[some] = _values(decisions, step.decisions[who])
        self._decided = {**advised, DONE: self.seen.decisions[self.rows]}
        unseen = (self.rows[:, None] % 2 != positions % 2) | (positions >= cuts[self.blocks][:, None])
        self._nearest, self.matched = {DONE: self.rows}, np.ones(len(self.rows), dtype=bool)
        for who, values in advised.items():
            away = np.where(unseen, self._away(values), np.inf)
            self._nearest[who] = away.argmin(axis=1)
            self.matched &= away.min(axis=1) <= NEAR

    @property
    def logged(self) -> np.ndarray:
        """What was done and earned, by the log, (k, n)."""
        return self._earned[:, self.rows]

    def judge_by_log(self) -> None:
        """Judge by the outcome of the nearest row that did not advise, of rows that have one near enough.

        One outcome each, and no average of several, has as much noise as that of what was done.
        """
        self.payoffs = {who: self._earned[:, rows[self.matched]] for who, rows in self._nearest.items()}
        self.rows, self.blocks = self.rows[self.matched], self.blocks[self.matched]

    def judge_by_model(self, code: str) -> None:
        """Judge the rows of each half by a model of those of the other, in the contexts met; `code`: as of `Learnt`."""
        self.payoffs = {who: np.empty((len(self._logs), len(self.rows))) for who in self._decided}
        for half in (0, 1):
            mine, others = self.rows % 2 == half, np.arange(1 - half, len(self.seen.outcome), 2)
            met = self.seen.contexts[self.rows[mine]]
            decided = {who: self.decisions.encode(values[mine]) for who, values in self._decided.items()}
            judges = []
            for log, one in zip(self._logs, self._outcomes, strict=True):
                model = Learnt(self.decisions, log.at(others), weighted(met, np.ones(len(met))), one.sign, code=code)
                inputs = {who: np.hstack([coded, model.scaled(met)]) for who, coded in decided.items()}
                judges.append(_Model(model, inputs))
            for who, found in self.payoffs.items():
                found[:, mine] = [judge.payoffs(who) for judge in judges]
            self._judges.append(judges)

    def gains(self, weights: np.ndarray, chosen: np.ndarray | None = None) -> dict[str, Gain]:
        """Return what the first of each pair earns more than the second; nothing where rows are of a single step.

        Outcomes have weights (k,), rows (n,) may be chosen. Rows of a block share their advice, so they are one
        observation of Student's interval; to its variance comes that of the judges, who are independent of each other.
        """
        from scipy import stats

        some = np.ones(len(self.rows), dtype=bool) if chosen is None else chosen
        blocks, found = self.blocks[some], {}
        count = len(np.unique(blocks))
        for pair in PAIRS if count > 1 else ():
            differences = weights @ (self.payoffs[pair[0]] - self.payoffs[pair[1]])[:, some]
            mean = float(differences.mean())
            sums = np.bincount(blocks, weights=differences - mean)
            error = float(np.sqrt((sums**2).sum() * count / (count - 1))) / len(differences)
            doubts = []
            for half, judges in enumerate(self._judges):
                mine = some[self.rows % 2 == half]
                if mine.any():
                    doubt = np.array([judge.doubt(pair, mine) for judge in judges])
                    doubts.append(mine.sum() / len(differences) * float(np.linalg.norm(weights * doubt)))
            reach = float(np.hypot(float(stats.t.ppf(0.975, count - 1)) * error, NINETY_FIVE * np.linalg.norm(doubts)))
            found[" over ".join(pair)] = Gain(mean, (mean - reach, mean + reach))
        return found

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


#: What `suggest` takes, with its defaults.
_ASKED = inspect.signature(suggest)


def replay(
    log: Any,
    *,
    forecast: Any = None,
    first: int | None = None,
    steps: int = 8,
    judge: str = AUTO,
    units: Mapping[str, str] | None = None,
    **asked: Any,
) -> Replay:
    """Tell what suggestions would have earned against what was done and against expectation alone.

    Args:
        log: as `suggest` takes it; rows that lack a value are left out.
        forecast: like `log`: past forecasts, each row with the time of the row of the log that it was at hand for, and
            `weight` or not; rows of one time are members of one forecast. Left out, the reference is what was met
            before.
        first: rows before the first step; left out, a third of them.
        steps: how often advice is asked for anew.
        judge: "log": rows that decided alike in like contexts; "model": a model of the other half; "auto": the log
            where it has like rows for half of what is judged.
        units: of columns, by name.
        asked: further arguments of `suggest`, `contexts`, `outcome` and `decisions` among them; several outcomes have
            `weights`.

    Raises:
        BocuError: arguments or files are at fault, or the log is too short.
    """
    if judge not in JUDGES:
        raise BocuError(f"--judge: found {shown(judge)}; allowed: {', '.join(JUDGES)}")
    given = _ASKED.bind(log, **asked)
    given.apply_defaults()
    what = SimpleNamespace(**given.arguments)
    outcomes, names, time = read_outcomes(what.outcome, what.minimise, what.weights), tuple(what.contexts), what.time
    if len(outcomes) > 1 and not what.weights:
        raise BocuError(
            "--weights: found none; several outcomes are replayed as one sum, the same at all steps: "
            + ",".join(f"{one.name}=NUMBER" for one in outcomes)
        )
    columns = [one.name for one in outcomes]
    radius = read_radius(what.radius)
    objective = objective_of(what.objective, radius)
    stated_set(objective, what.set, radius, what.keys or {}, what.alpha)
    if isinstance(radius, float):
        checked_radius(radius, "--radius")
    notes: list[str] = []
    table, clock = in_time(read_log_table(log, "log"), time, notes)
    chosen, *_ = what_is_decided(what.decisions, what.alternatives, table, [*names, *columns])
    refuse_mixed_up(chosen, names, outcomes, objective)
    logs = read_logs(table, chosen, names, columns, LEAVE_OUT)
    seen = logs[0]
    clock = clock.of(table, seen.lines)
    table = table.at(np.flatnonzero(np.isin(table.lines, seen.lines)))
    cuts = _cuts(clock.times, first, steps)
    forecasts = None if forecast is None else _forecasts(forecast, time, clock)

    def advise(rows: np.ndarray, row: int | None) -> Step:
        line = str(table.lines[rows[-1]])
        with faults_at(f"as of {line}, from {len(rows)} rows: "):
            found = suggest(
                table.at(rows),
                **{**asked, "decisions": chosen, "objective": objective},
                forecast=None if row is None or forecasts is None else forecasts[clock.times[row]],
            )
        decided = {SUGGESTED: found.decision, STEADY: found.steady.decision}
        return Step(line, len(rows), decided, found.size, None if row is None else str(table.lines[row]))

    judged = np.ones(len(clock.times), dtype=bool)
    if forecasts is not None:
        judged = np.isin(clock.times, list(forecasts))
        notes += _without_forecast(judged[cuts[0] :])
    walk = Walk(logs, outcomes, chosen, cuts, judged, advise, each=forecasts is not None)
    matched, advised = int(walk.matched.sum()), len(walk.rows)
    if judge == AUTO:
        judge = BY_LOG if matched >= max(_ENOUGH, _ENOUGH_SHARE * advised) else BY_MODEL
    if judge == BY_LOG:
        walk.judge_by_log()
    else:
        walk.judge_by_model(what.names)
    if len(walk.rows) < _FEWEST_JUDGED or len(np.unique(walk.blocks)) < 2:
        raise BocuError(
            f"--judge log: the log has like rows for {len(walk.rows)} of the decisions; {_FEWEST_JUDGED} in two "
            "steps are wanted; take --judge model"
        )
    counted = np.array([one.weight for one in outcomes])
    sign = sign_of(outcomes)
    payoffs = {who: counted @ found for who, found in walk.payoffs.items()}
    logged = sign * (counted @ walk.logged)
    brought = []
    for i, (one, unit) in enumerate(zip(outcomes, np.eye(len(outcomes)), strict=True)):
        earned = {who: Earned.of(found[i], one.sign) for who, found in walk.payoffs.items()}
        brought.append(Brought(**vars(one), earned=earned, gains=walk.gains(unit)))
    return Replay(
        outcome=sum_in_words(outcomes),
        minimise=sign < 0.0,
        objective=objective,
        set=what.set if radius is not None else None,
        radius=radius,
        judge=judge,
        rows=len(seen.outcome),
        judged=len(walk.rows),
        matched=matched,
        logged=float(logged.mean()),
        earned={who: Earned.of(found, sign) for who, found in payoffs.items()},
        gains=walk.gains(counted),
        parts=_parts(walk, counted, names, seen, time, clock),
        outcomes=brought if len(outcomes) > 1 else [],
        blocks=len(np.unique(walk.blocks)),
        advised=advised,
        forecasts=forecasts is not None,
        steps=walk.steps,
        judgements=_judgements(walk, payoffs, logged, names, seen, sign),
        notes=(*notes, *seen.notes),
        units=checked_units(units or {}, [*chosen.names, *names, *columns]),
    )


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
        float(at): table.at(rows)
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


def _parts(
    walk: Walk, weights: np.ndarray, names: Sequence[str], seen: Log, time: str | None, clock: Clock
) -> list[PartOfLog]:
    """Return the gains where each context is low, middling and high, and in the early, middle and late part."""
    met = seen.contexts[walk.rows]
    when = walk.rows + 1.0 if clock.unit == "rows" else clock.times[walk.rows]
    found = []
    in_time = min(_PARTS, len(np.unique(walk.blocks)) // 2)  # an interval takes two steps
    columns = [*((name, values, _PARTS) for name, values in zip(names, met.T, strict=True))]
    for name, values, parts in [*columns, (time or "row", when, in_time)]:
        places = _places(values, parts)
        for place in np.unique(places) if np.ptp(places) else ():
            some = places == place
            ends: list[Any] = [float(values[some].min()), float(values[some].max())]
            if name == time and clock.unit == "days":
                ends = [str(np.datetime64(int(np.floor(day)), "D")) for day in ends]
            found.append(PartOfLog(name, ends[0], ends[1], int(some.sum()), walk.gains(weights, some) or None))
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


def _judgements(
    walk: Walk, payoffs: dict[str, np.ndarray], logged: np.ndarray, names: Sequence[str], seen: Log, sign: float
) -> list[JudgedRow]:
    ahead = {f"{one} over {other}": np.cumsum(payoffs[one] - payoffs[other]) for one, other in PAIRS}
    return [
        JudgedRow(
            seen.lines[row],
            dict(zip(names, seen.contexts[row].tolist(), strict=True)),
            float(logged[i]),
            {who: sign * float(found[i]) for who, found in payoffs.items()},
            {pair: float(found[i]) for pair, found in ahead.items()},
        )
        for i, row in enumerate(walk.rows.tolist())
    ]


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
