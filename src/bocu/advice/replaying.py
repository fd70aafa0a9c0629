"""What the suggestions would have earned: a log walked through in time, advised from its past, judged by what is apart.

Rows are dealt into two halves in turn. At each step advice comes from `suggest`, given the rows of one half before that
step and nothing else; it is judged on the other rows of that half after it. Whoever judges has not advised: either rows
of the log that the adviser did not have and that decided alike in like contexts, or a model fitted to the other half.
So luck that advice was fitted to earns it nothing. Each half advises once.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from bocu.advice.choices import Choice, Decisions, read_decisions
from bocu.advice.details import NINETY_FIVE
from bocu.advice.logs import LEAVE_OUT, Log, read_log, weighted
from bocu.advice.model import Learnt
from bocu.advice.names import ONE_HOT
from bocu.advice.suggesting import suggest
from bocu.advice.tables import Table, read_table
from bocu.advice.time import in_time, rows_of
from bocu.core.errors import BocuError, shown
from bocu.evaluation.statistics import student_factor

AUTO, BY_LOG, BY_MODEL = "auto", "log", "model"
JUDGES = (AUTO, BY_LOG, BY_MODEL)

#: Who decides: as was done, the best expectation, and what is suggested.
DONE, STEADY, SUGGESTED = "done", "expectation", "suggested"

#: The fewest rows that are replayed, and the part of the log before the first step.
FEWEST_ROWS, _FIRST = 40, 3

#: A row stands for a decision in a context where each number is no further than this share of its range from it.
NEAR = 0.05

#: The log is the judge where it has like rows for this share of what is judged, and for so many.
_ENOUGH_SHARE, _ENOUGH = 0.5, 20

#: The fewest rows that the log judges.
_FEWEST_MATCHED = 10

#: The last rows of a half before a step that advise, and rows of each half that are judged, spread evenly.
_MOST_ADVISING, _MOST_JUDGED = 1000, 500

#: Share of the worst rows whose mean is told.
_WORST = 0.1


@dataclass(frozen=True)
class Earned:
    """What one way to decide earns.

    Attributes:
        mean: of the rows that were judged, in units of the outcome.
        worst: mean over their worst tenth.
    """

    mean: float
    worst: float


@dataclass(frozen=True)
class Gain:
    """What one way to decide earns more (or costs less) than another, a row.

    Attributes:
        gain: mean of the paired differences; more is better.
        interval: where it lies with probability 0.95.
    """

    gain: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Step:
    """Advice at one step, from one half of the rows before it.

    Attributes:
        line: the last row that advised, as the log calls it.
        rows: number of rows that advised.
        decisions: by who decides.
        size: radius or level of the set; None without one.
    """

    line: str
    rows: int
    decisions: dict[str, dict[str, float | int | str]]
    size: float | None


@dataclass(frozen=True)
class Replay:
    """What suggestions would have earned; `print` tells it in words.

    Attributes:
        outcome, minimise, objective: what was asked.
        judge: "log" or "model".
        rows: number of rows that the log has.
        judged: number of rows that ways to decide were judged on.
        matched: number of rows for which the log has like ones, whoever judges.
        logged: mean outcome of the rows judged, as the log has it.
        earned: by who decides.
        gains: of the suggested over the done, the suggested over the expectation, the expectation over the done.
        steps: advice, step by step, of both halves.
        notes: what was done to read the log.
    """

    outcome: str
    minimise: bool
    objective: str
    judge: str
    rows: int
    judged: int
    matched: int
    logged: float
    earned: dict[str, Earned]
    gains: dict[str, Gain]
    steps: list[Step]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data, as `--json` prints it."""
        return asdict(self)

    def __str__(self) -> str:
        from bocu.advice.replay_words import told

        return told(self)


def replay(
    log: Any,
    *,
    decisions: str,
    contexts: Sequence[str],
    outcome: str,
    minimise: bool = False,
    objective: str = "dro",
    time: str | None = None,
    first: int | None = None,
    steps: int = 8,
    judge: str = AUTO,
    **asked: Any,
) -> Replay:
    """Tell what suggestions would have earned against what was done and against expectation alone.

    Args:
        log: path of a CSV file, pandas table, xarray data set, or columns by name.
        decisions: what is decided, as in `suggest`.
        contexts: columns of what is met after deciding.
        outcome: column of what was earned or paid.
        minimise: whether the outcome is a cost.
        objective: "dro", "so", "ro" or "cvar".
        time: column of dates or numbers that rows are in the order of; left out, they are in the order of time.
        first: rows before the first step; left out, a third of them.
        steps: how often advice is asked for anew.
        judge: "log": rows that decided alike in like contexts; "model": a model of the other half; "auto": the log
            where it has like rows for half of what is judged.
        asked: further arguments of `suggest`, but no forecast: the reference is what was met before. Rows that lack a
            value are left out.

    Raises:
        BocuError: arguments or files are at fault, or the log is too short.
    """
    if judge not in JUDGES:
        raise BocuError(f"--judge: found {shown(judge)}; allowed: {', '.join(JUDGES)}")
    notes: list[str] = []
    table, clock = in_time(read_table(log, "log"), time, notes)
    chosen, names = read_decisions(decisions), tuple(contexts)
    seen = read_log(table, chosen, names, outcome, LEAVE_OUT)
    clock = clock.of(table, seen.lines)
    table = _only(table, seen.lines)
    code = asked.get("names", ONE_HOT)
    cuts = _cuts(clock.times, first, steps)
    sign = -1.0 if minimise else 1.0

    def advise(rows: np.ndarray) -> Step:
        line = str(table.lines[rows[-1]])
        try:
            found = suggest(
                rows_of(table, rows),
                decisions=decisions,
                contexts=names,
                outcome=outcome,
                minimise=minimise,
                objective=objective,
                time=time,
                **asked,
            )
        except BocuError as error:
            raise BocuError(f"as of {line}, from {len(rows)} rows: {error}") from None
        return Step(line, len(rows), {SUGGESTED: found.decision, STEADY: found.steady.decision}, found.size)

    halves = [_Half(half, seen, chosen, cuts, sign, code, advise) for half in (0, 1)]
    matched = sum(int(half.matched.sum()) for half in halves)
    judged = sum(len(half.rows) for half in halves)
    if judge == AUTO:
        judge = BY_LOG if matched >= max(_ENOUGH, _ENOUGH_SHARE * judged) else BY_MODEL
    verdicts = [half.by_log() if judge == BY_LOG else half.by_model() for half in halves]
    payoffs = {who: np.concatenate([verdict.payoffs[who] for verdict in verdicts]) for who in verdicts[0].payoffs}
    blocks = np.concatenate([verdict.blocks for verdict in verdicts])
    if len(blocks) < _FEWEST_MATCHED or len(np.unique(blocks)) < 2:
        raise BocuError(
            f"--judge log: the log has like rows for {len(blocks)} of the decisions; {_FEWEST_MATCHED} in two steps "
            "are wanted; take --judge model"
        )
    return Replay(
        outcome=outcome,
        minimise=minimise,
        objective=objective,
        judge=judge,
        rows=len(seen.outcome),
        judged=len(blocks),
        matched=matched,
        logged=sign * float(np.concatenate([verdict.logged for verdict in verdicts]).mean()),
        earned={who: _earned(found, sign) for who, found in payoffs.items()},
        gains={
            f"{one} over {other}": _gain(
                payoffs[one] - payoffs[other], blocks, [verdict.doubts[one, other] for verdict in verdicts]
            )
            for one, other in _PAIRS
        },
        steps=[step for half in halves for step in half.steps],
        notes=(*notes, *seen.notes),
    )


_PAIRS = ((SUGGESTED, DONE), (SUGGESTED, STEADY), (STEADY, DONE))


@dataclass(frozen=True)
class _Verdict:
    """Payoffs of rows by who decides, (n,), the outcomes that were logged (n,), and the step of each row (n,).

    `doubts` are standard deviations of mean differences that the judge has, whatever the rows.
    """

    payoffs: dict[str, np.ndarray]
    logged: np.ndarray
    blocks: np.ndarray
    doubts: dict[tuple[str, str], float]


class _Half:
    """One half of the rows: advice from it, and the judgement of that advice.

    Attributes:
        rows: positions of the rows that are judged, (n,).
        matched: which of them have rows like all that was advised, (n,).
        steps: advice.
    """

    def __init__(
        self,
        half: int,
        seen: Log,
        decisions: Decisions,
        cuts: np.ndarray,
        sign: float,
        code: str,
        advise: Callable[[np.ndarray], Step],
    ) -> None:
        self.seen, self.decisions, self.sign, self._code = seen, decisions, sign, code
        positions = np.arange(len(seen.outcome))
        mine = positions % 2 == half
        self._others = positions[~mine]
        after = positions[mine & (positions >= cuts[0])]
        self.rows = after[np.linspace(0, len(after) - 1, min(len(after), _MOST_JUDGED)).round().astype(int)]
        self.steps: list[Step] = []
        self._blocks = np.searchsorted(cuts, self.rows, side="right") - 1
        advised = {SUGGESTED: [], STEADY: []}  # type: dict[str, list[np.ndarray]]
        for cut in cuts[:-1]:
            step = advise(positions[mine & (positions < cut)][-_MOST_ADVISING:])
            self.steps.append(step)
            for who, found in advised.items():
                found.append(_values(decisions, step.decisions[who]))
        self._decided = {who: np.array(found)[self._blocks] for who, found in advised.items()}
        self._decided[DONE] = seen.decisions[self.rows]
        unseen = ~mine | (positions >= cuts[self._blocks][:, None])
        away = {who: np.where(unseen, self._away(found), np.inf) for who, found in self._decided.items() if who != DONE}
        self.matched = np.all([found.min(axis=1) <= NEAR for found in away.values()], axis=0)
        self._nearest = {who: found.argmin(axis=1) for who, found in away.items()}

    def by_log(self) -> _Verdict:
        """Judge by the outcome of the nearest row that did not advise, of rows that have one near enough.

        One outcome each, and no average of several, has as much noise as that of what was done.
        """
        rows = self.rows[self.matched]
        payoffs = {DONE: self.sign * self.seen.outcome[rows]}
        payoffs |= {who: self.sign * self.seen.outcome[at[self.matched]] for who, at in self._nearest.items()}
        return _Verdict(payoffs, payoffs[DONE], self._blocks[self.matched], dict.fromkeys(_PAIRS, 0.0))

    def by_model(self) -> _Verdict:
        """Judge by a model of the rows of the other half, in the contexts that were met."""
        others, met = self._others, self.seen.contexts[self.rows]
        log = replace(
            self.seen,
            decisions=self.seen.decisions[others],
            contexts=self.seen.contexts[others],
            outcome=self.seen.outcome[others],
            lines=tuple(self.seen.lines[i] for i in others.tolist()),
        )
        learnt = Learnt(self.decisions, log, weighted(met, np.ones(len(met))), self.sign, code=self._code)
        at = {
            who: np.hstack([self.decisions.encode(values), learnt.scaled(met)]) for who, values in self._decided.items()
        }
        here = learnt.posterior
        cross = {who: here.covariance(points) for who, points in at.items()}
        return _Verdict(
            {who: here.shift + here.scale * (here.mean + found @ here.weights) for who, found in cross.items()},
            self.sign * self.seen.outcome[self.rows],
            self._blocks,
            {(one, other): _doubt(learnt, at[one], at[other], cross[one] - cross[other]) for one, other in _PAIRS},
        )

    def _away(self, values: np.ndarray) -> np.ndarray:
        """Return how far rows of the log (t,) are from decisions (n, d) in the contexts met, (n, t).

        It is the largest difference of a number, as a share of its range; infinite where a name differs.
        """
        met, far = self.seen.contexts, np.zeros((len(values), len(self.seen.outcome)))
        for i, part in enumerate(self.decisions.parts):
            apart = np.abs(values[:, i, None] - self.seen.decisions[:, i])
            far = np.maximum(far, np.where(apart > 0.0, np.inf, 0.0) if isinstance(part, Choice) else apart / part.span)
        for column in met.T:
            far = np.maximum(far, np.abs(column[self.rows, None] - column) / (np.ptp(column) or 1.0))
        return far


def _doubt(learnt: Learnt, points: np.ndarray, others: np.ndarray, cross: np.ndarray) -> float:
    """Return the standard deviation of the mean payoff at points (n, D) less that at others (n, D).

    `cross` (n, t) is the covariance of each difference with the log.
    """
    here = learnt.posterior

    def mean(first: np.ndarray, second: np.ndarray) -> float:
        found = learnt.structure.correlation(here.hyperparameters.lengthscales, first, second)
        return here.hyperparameters.output_scale * float(found.mean())

    prior = mean(points, points) - 2.0 * mean(points, others) + mean(others, others)
    explained = float(here.explained(cross.mean(axis=0)[None])[0])
    return float(here.scale * np.sqrt(max(prior - explained, 0.0)))


def _earned(payoffs: np.ndarray, sign: float) -> Earned:
    worst = np.sort(payoffs)[: max(1, round(_WORST * len(payoffs)))]
    return Earned(sign * float(payoffs.mean()), sign * float(worst.mean()))


def _gain(differences: np.ndarray, blocks: np.ndarray, doubts: Sequence[float]) -> Gain:
    """Return the mean of differences (n,) in blocks (n,), and its interval.

    Rows of a block share their advice, so its rows are one observation of Student's interval; to its variance comes
    that of the judges, who are independent of each other.
    """
    mean, count = float(differences.mean()), len(np.unique(blocks))
    sums = np.bincount(blocks, weights=differences - mean)
    error = float(np.sqrt((sums**2).sum() * count / (count - 1))) / len(differences)
    doubt = float(np.sqrt(np.square(doubts).sum())) / len(doubts)
    half = float(np.hypot(student_factor(count) * error, NINETY_FIVE * doubt))
    return Gain(mean, (mean - half, mean + half))


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


def _only(table: Table, lines: Sequence[str]) -> Table:
    """Return the rows of a table that are called so."""
    kept = set(lines)
    return rows_of(table, np.array([i for i, line in enumerate(table.lines) if line in kept]))


def _values(decisions: Decisions, named: dict[str, float | int | str]) -> np.ndarray:
    """Return a decision (d,) of its values by name."""
    return np.array(
        [
            float(part.levels.index(str(named[part.name])) if isinstance(part, Choice) else named[part.name])
            for part in decisions.parts
        ]
    )
