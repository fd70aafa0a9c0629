"""What suggestions would have earned: the record of a replay, and the words that tell it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from bocu.advice.outcomes import Outcome
from bocu.advice.radius import Earned, Gain
from bocu.advice.suggestion import of, shown, titled
from bocu.core.written import table

AUTO, BY_LOG, BY_MODEL = "auto", "log", "model"
JUDGES = (AUTO, BY_LOG, BY_MODEL)

#: Who decides: as was done, the best expectation, and what is suggested.
DONE, STEADY, SUGGESTED = "done", "expectation", "suggested"

#: A row stands for a decision in a context where each number is no further than this share of its range from it.
NEAR = 0.05


@dataclass(frozen=True)
class PartOfLog:
    """What is gained in a part of the rows: where a context is low, or early in the log.

    Attributes:
        name: of the context, or of the column of times; "row" where rows are in the order of time.
        low, high: of the values that rows of this part have; dates as text, and of rows without times their numbers.
        rows: number of them.
        gains: as those of all rows; None where a part has rows of a single step.
    """

    name: str
    low: float | str
    high: float | str
    rows: int
    gains: dict[str, Gain] | None


@dataclass(frozen=True)
class Brought(Outcome):
    """One of several outcomes, and what ways to decide bring of it, a row.

    Attributes:
        earned: by who decides.
        gains: more earned, or less paid.
    """

    earned: dict[str, Earned]
    gains: dict[str, Gain]


@dataclass(frozen=True)
class Step:
    """Advice from one half of the rows before a step.

    Attributes:
        line: the last row that advised, as the log calls it.
        rows: number of rows that advised.
        decisions: by who decides.
        size: radius or level of the set; None without one.
        row: the one row that the advice is for, under its own forecast; None: for all until the next step.
    """

    line: str
    rows: int
    decisions: dict[str, dict[str, float | int | str]]
    size: float | None
    row: str | None = None


@dataclass(frozen=True)
class JudgedRow:
    """A row that ways to decide were judged on.

    Attributes:
        line: what it is called.
        context: what was met, by name.
        logged: what was done and earned, as the log has it.
        earned: by who decides, in units of the outcome.
        ahead: what was gained up to this row, all rows before it added up, by pairs of who decides.
    """

    line: str
    context: dict[str, float]
    logged: float
    earned: dict[str, float]
    ahead: dict[str, float]


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
    return [*table(head, rows), *by_itself]


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
    low, high = (shown(part[end], 4) for end in ("low", "high"))
    return low if low == high else f"{low} to {high}"


def _with_interval(found: Gain) -> str:
    low, high = found.interval
    return f"{found.gain:.4g} ({low:.4g} to {high:.4g})"


def _advice(replay: Replay) -> list[str]:
    names, ways = list(replay.steps[0].decisions[SUGGESTED]), {SUGGESTED: "suggested", STEADY: "by expectation"}
    head = ["as of", "rows", *(f"{name} {way}" for way in ways.values() for name in names)]
    rows = [
        [step.line, str(step.rows), *(shown(step.decisions[who][name], 4) for who in ways for name in names)]
        for step in replay.steps[:_ADVICE]
    ]
    if replay.forecasts:
        head, rows = ["for", *head], [[step.row or "", *row] for step, row in zip(replay.steps, rows, strict=False)]
    more = len(replay.steps) - len(rows)
    others = [f"  and {more} others (--json has all)"] if more else []
    return [*titled("Advice of both halves:", head, rows), *others]
