"""Time in a log: dates as people write them, and rows that count the less the older they are.

A row of weight w counts w times in the reference, and as an observation with 1 / w times the noise (the weights of
Deng et al., 2022, as noise variances). Half-lives of both are given, or estimated: that of the reference by what
decisions under it would have earned (`radius.choose`), that of payoffs by squared errors of what they foretold.
"""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from bocu.advice.logs import LogTable, is_missing, number_in, spread_evenly
from bocu.core.errors import BocuError, shown
from bocu.core.parameters import nearest
from bocu.learners.surrogates.continuous.fitting import LogPosterior, Priors, best_hyperparameters
from bocu.learners.surrogates.continuous.model import Posterior, standardise
from bocu.learners.surrogates.continuous.structure import Structure

_ISO = "ISO 8601"

#: How dates may be written, by what people call it.
FORMATS = {
    "2024-03-31": _ISO,
    "20240331": "%Y%m%d",
    "31.03.2024": "%d.%m.%Y",
    "31.03.2024 14:30": "%d.%m.%Y %H:%M",
    "31/03/2024": "%d/%m/%Y",
    "31/03/2024 14:30": "%d/%m/%Y %H:%M",
    "03/31/2024": "%m/%d/%Y",
    "03/31/2024 14:30": "%m/%d/%Y %H:%M",
    "31 Mar 2024": "%d %b %Y",
    "31 March 2024": "%d %B %Y",
    "Mar 31, 2024": "%b %d, %Y",
    "March 31, 2024": "%B %d, %Y",
}
_AMBIGUOUS = {"31/03/2024": "03/31/2024", "31/03/2024 14:30": "03/31/2024 14:30"}

#: What is asked for where a number is to be found in the log.
ESTIMATE = "estimate"

_DAYS = {"h": 1.0 / 24.0, "d": 1.0, "w": 7.0, "y": 365.25}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([hdwy]?)")

#: Rows count no less than this beside the newest, or covariances would lose their digits.
_LEAST = 2.0**-20


@dataclass(frozen=True)
class Clock:
    """When rows were."""

    times: np.ndarray  #: of rows in their order, ascending, shape (t,).
    unit: str  #: "days", "rows" where the log has no column of times, or "" for a column of numbers.

    def of(self, table: LogTable, lines: Sequence[str]) -> "Clock":
        """Return the times of some rows of the table that this is the clock of, by what they are called."""
        at = dict(zip(table.lines, self.times.tolist(), strict=True))
        return Clock(np.array([at[line] for line in lines]), self.unit)

    def recency(self, half_life: float, rows: int | None = None) -> np.ndarray:
        """Return how much the first so many rows count beside the last of them: half as much a half-life before."""
        times = self.times[:rows]
        return np.asarray(np.maximum(np.exp2((times - times[-1]) / half_life), _LEAST))


def in_time(table: LogTable, column: str | None, notes: list[str]) -> tuple[LogTable, Clock]:
    """Put the rows of a log in the order of a column of dates or numbers; without one they are as they stand.

    Rows without a time are left out. A note says so, and how dates were read that could mean two days.

    Raises:
        BocuError: there is no such column, or it holds what is neither a date nor a number.
    """
    if column is None:
        return table, Clock(np.arange(float(len(table.lines))), "rows")
    cells = table.column(column, "time")
    times, unit = _times(table, column, cells, notes)
    known = np.isfinite(times)
    if not known.all():
        notes.append(f"left out {int((~known).sum())} rows without a time in column '{column}'")
    order = np.flatnonzero(known)[np.argsort(times[known], kind="stable")]
    if not len(order):
        raise BocuError(f"{table.name}: column '{column}' (time): every value is missing")
    return table.at(order), Clock(times[order], unit)


#: Days of each season that may be asked for.
SEASONS = {"year": 365.25, "week": 7.0, "day": 1.0}


def with_season(
    table: LogTable, clock: Clock, season: str | None, known: Mapping[str, float]
) -> tuple[LogTable, dict[str, float]]:
    """Return a log with two more contexts, the place in a season, and what is known, these of the next row among it.

    The next row is as long after the last as rows are apart (median).

    Raises:
        BocuError: there is no such season, or rows have no dates.
    """
    if season is None:
        return table, dict(known)
    if season not in SEASONS:
        raise BocuError(f"--season: found {shown(season)}; {nearest(season, SEASONS)}")
    if clock.unit != "days":
        raise BocuError("--season: rows have no dates; --time names their column")
    after = float(np.median(np.diff(clock.times))) if len(clock.times) > 1 else 0.0
    angle = 2.0 * np.pi * np.append(clock.times, clock.times[-1] + after) / SEASONS[season]
    waves = {f"{season}, cosine": np.cos(angle), f"{season}, sine": np.sin(angle)}
    columns = {**table.columns, **{name: wave[:-1].tolist() for name, wave in waves.items()}}
    return replace(table, columns=columns), {**known, **{name: float(wave[-1]) for name, wave in waves.items()}}


def read_half_life(text: str | float, unit: str) -> float:
    """Read a half-life: "90d", "12h", "6w", "2y", or a plain number of rows or of the unit of a column of numbers.

    Raises:
        BocuError: it is none, or not in the unit of the log's times.
    """
    found = _DURATION.fullmatch(str(text).strip().lower())
    length, letter = (float(found[1]), found[2]) if found else (0.0, "")
    if length <= 0.0 or math.isinf(length):
        raise BocuError(f"--forget: found {shown(text)}; allowed: a half-life, as 90d, 12h, 6w or 2y, or estimate")
    if unit == "days":
        if not letter:
            raise BocuError(f"--forget: found {shown(text)}; dates want a unit: {text}d, or h, w, y")
        return length * _DAYS[letter]
    if letter:
        where = "rows have no dates without --time" if unit == "rows" else "the column of times holds numbers, no dates"
        raise BocuError(f"--forget: found {shown(text)}; allowed: a plain number, as {where}")
    return length


def _times(table: LogTable, column: str, cells: Sequence[Any], notes: list[str]) -> tuple[np.ndarray, str]:
    """Return times (t,) in days or as the numbers they are, not a number where one is missing, and their unit."""
    text = [None if is_missing(cell) else _text(cell) for cell in cells]
    given = np.array([cell is not None for cell in text])
    plain = np.array([number_in(cell) for cell in text])
    if not np.isnan(plain[given]).any() and not all(
        re.fullmatch(r"[12]\d{7}", cell) for cell in text if cell is not None
    ):
        return plain, ""
    every = _days(text)
    read = {name: days for name, days in every.items() if np.isfinite(days)[given].all()}
    if not read:
        forms = dates_of(cells)[1]
        if all(form for form, has in zip(forms, given, strict=True) if has):
            used = list(dict.fromkeys(form for form in forms if form))
            first = {form: table.lines[forms.index(form)] for form in used}
            raise BocuError(
                f"{table.name}: column '{column}' (time): two forms of dates are mixed, "
                f"{' and '.join(f'{form} ({line})' for form, line in first.items())}; one is wanted "
                "(`bocu suggest LOG --check` proposes a repair)"
            )
        at = int(np.argmax(min((np.isnan(days) & given for days in every.values()), key=np.sum)))
        raise BocuError(
            f"{table.name}: {table.lines[at]}, column '{column}' (time): found {shown(cells[at])}; allowed: numbers, "
            f"or dates of one form: {', '.join(FORMATS)}"
        )
    name = next(iter(read))
    other = _AMBIGUOUS.get(name)
    if other in read and not np.array_equal(read[name][given], read[other][given]):
        if (np.diff(read[name][given]) < 0.0).any() and (np.diff(read[other][given]) >= 0.0).all():
            name = other
        notes.append(f"column '{column}': its dates could be day/month or month/day; read as in {name}")
    return read[name], "days"


def dates_of(cells: Sequence[Any]) -> tuple[np.ndarray, list[str]]:
    """Return dates in days since 1970 (t,), each in the form that reads most cells that read it, and these forms.

    Where a cell is missing or no date it is not a number, and its form is empty.
    """
    text = [None if is_missing(cell) else _text(cell) for cell in cells]
    read = _days(text)
    found, forms = np.full(len(text), np.nan), [""] * len(text)
    for name in sorted(read, key=lambda name: int(np.isfinite(read[name]).sum())):
        for i in np.flatnonzero(np.isfinite(read[name])).tolist():
            found[i], forms[i] = read[name][i], name
    return found, forms


def _text(cell: Any) -> str:
    """Return a cell as text; what a table holds as a date in its ISO form."""
    if isinstance(cell, str):
        return cell.strip()
    if hasattr(cell, "isoformat"):
        return str(cell.isoformat())
    if isinstance(cell, np.datetime64):
        return str(cell)
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _days(text: Sequence[str | None]) -> dict[str, np.ndarray]:
    """Return days since 1970 (t,) of dates by the form they are read in, not a number where one is in another."""
    return {
        name: np.array([math.nan if cell is None else _day(cell, form) for cell in text])
        for name, form in FORMATS.items()
    }


def _day(cell: str, form: str) -> float:
    try:
        if form != _ISO:
            when = datetime.strptime(cell, form)
        else:
            when = datetime.fromisoformat(f"{cell}-01" if re.fullmatch(r"\d{4}-\d{2}", cell) else cell)
    except ValueError:
        return math.nan
    return (when.replace(tzinfo=when.tzinfo or UTC) - datetime.fromtimestamp(0, UTC)) / timedelta(days=1)


#: Half-lives that are tried, as parts of the time that the log spans.
_PARTS = (1.0, 0.5, 0.25, 0.125, 0.0625)

#: Blocks that are foretold from what lay before them, after a third of the log, and the fewest rows of one.
_BLOCKS, _FIRST, _FEWEST_ROWS = 8, 3, 3

#: Rows, spread evenly over a longer log, that half-lives are estimated from.
_ROWS = 300


@dataclass(frozen=True)
class Forgetting:
    """Half-lives of rows; None where none is forgotten."""

    clock: Clock  #: when rows were.
    contexts: float | None = None  #: in the reference.
    payoffs: float | None = None  #: as observations of the payoff.
    estimated: bool = False  #: whether they were estimated from the log.

    def of_contexts(self, rows: int | None = None) -> np.ndarray:
        """Return how much the first so many rows (all of them, if None) count in a reference after the last of them."""
        if self.contexts is None:
            return np.ones(len(self.clock.times[:rows]))
        return self.clock.recency(self.contexts, rows)

    def of_payoffs_at(self, clock: Clock) -> np.ndarray | None:
        """Return how much rows of a clock, in any order, count as observations; None where all count alike."""
        if self.payoffs is None:
            return None
        # What is counted from is the last time of this one, which stands last.
        times = np.minimum(clock.times, self.clock.times[-1])
        return Clock(np.append(times, self.clock.times[-1]), clock.unit).recency(self.payoffs)[:-1]

    @property
    def notes(self) -> list[str]:
        """Return what is forgotten, a line each."""
        if self.contexts is None and self.payoffs is None:
            return ["nothing is forgotten: later rows were foretold as well without"] if self.estimated else []
        found = "estimated from the log" if self.estimated else "as asked for"
        told = [
            f"{what} never" if half is None else f"{what} after {half:.3g} {self.clock.unit}".rstrip()
            for what, half in (("contexts", self.contexts), ("payoffs", self.payoffs))
        ]
        return [f"older rows count less, {found}; they count half as {' and as '.join(told)}"]


def estimate_forgetting(clock: Clock, structure: Structure, inputs: np.ndarray, outputs: np.ndarray) -> Forgetting:
    """Estimate the half-life of payoffs from a log in the order of time; that of contexts is left to a replay.

    A half-life is taken where it foretells later rows better than to forget nothing, by more than one standard error
    over the blocks that were foretold. Inputs (t, D) and outputs (t,) are the model's.

    Raises:
        BocuError: the log is too short, or spans no time.
    """
    rows = spread_evenly(len(outputs), _ROWS)
    count = len(rows)
    fewest = 3 * _BLOCKS * _FEWEST_ROWS // 2
    if count < fewest:
        raise BocuError(f"--forget estimate: the log is too short: it has {count} rows, {fewest} are wanted")
    here = Clock(clock.times[rows], clock.unit)
    span = float(np.ptp(here.times))
    if span == 0.0:
        raise BocuError("--forget estimate: all rows of the log are of one time")
    cuts = np.linspace(count // _FIRST, count, _BLOCKS + 1).round().astype(int)
    _, _, standard = standardise(outputs[rows])
    priors, inputs = Priors(), inputs[rows]
    # At hyper-parameters of all rows alike: those of weighted rows foretold worse, few being left to tell noise from
    # restlessness.
    found = best_hyperparameters(
        LogPosterior(structure, inputs, standard, priors), priors.starts(structure.inputs, None, 0)
    )

    def losses(half_life: float | None) -> np.ndarray:
        """Return mean squared errors of what is foretold of the payoffs of blocks."""
        scores = []
        for start, end in itertools.pairwise(cuts.tolist()):
            inflation = None if half_life is None else 1.0 / here.recency(half_life, start)
            posterior = Posterior(structure, found, inputs[:start], standard[:start], inflation)
            scores.append(float(((standard[start:end] - posterior.moments(inputs[start:end])[0]) ** 2).mean()))
        return np.array(scores)

    never, best, least = losses(None), None, 0.0
    for part in _PARTS:
        gained = losses(part * span) - never
        if gained.mean() + gained.std(ddof=1) / np.sqrt(len(gained)) < 0.0 and gained.mean() < least:
            best, least = part * span, float(gained.mean())
    return Forgetting(clock, None, best, estimated=True)
