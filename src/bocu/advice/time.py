"""Time in a log: dates as people write them, and how much rows count as they get older."""

import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bocu.advice.logs import LogTable, is_missing
from bocu.core.errors import BocuError, shown

#: How dates may be written, by what people call it; `pandas.to_datetime` reads them.
FORMATS = {
    "2024-03-31": "ISO8601",
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
    """When rows were.

    Attributes:
        times: of rows in their order, ascending, shape (t,).
        unit: "days", "rows" where the log has no column of times, or "" for a column of numbers.
    """

    times: np.ndarray
    unit: str

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
    return table_rows_at(table, order), Clock(times[order], unit)


def table_rows_at(table: LogTable, rows: np.ndarray) -> LogTable:
    """Return some rows of a table, by their positions (n,)."""
    columns = {name: [column[i] for i in rows] for name, column in table.columns.items()}
    return replace(table, columns=columns, lines=[table.lines[i] for i in rows])


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
    import pandas as pd

    text = pd.Series([None if is_missing(cell) else _text(cell) for cell in cells], dtype=object)
    given = text.notna()
    plain = pd.to_numeric(text, errors="coerce")
    if plain[given].notna().all() and not text[given].str.fullmatch(r"[12]\d{7}").all():
        return plain.to_numpy(dtype=float), ""
    read = {name: days for name, form in FORMATS.items() if np.isfinite(days := _days(text, form))[given].all()}
    if not read:
        at = _first_unread(text, given)
        raise BocuError(
            f"{table.name}: {table.lines[at]}, column '{column}' (time): found {shown(cells[at])}; allowed: numbers, "
            f"or dates of one form: {', '.join(FORMATS)}"
        )
    name = next(iter(read))
    other = _AMBIGUOUS.get(name)
    if other in read and not np.array_equal(read[name][given], read[other][given]):
        if not _ascends(read[name]) and _ascends(read[other]):
            name = other
        notes.append(f"column '{column}': its dates could be day/month or month/day; read as in {name}")
    return read[name], "days"


def _text(cell: Any) -> str:
    """Return a cell as text; what a table holds as a date in its ISO form."""
    if isinstance(cell, str):
        return cell.strip()
    if hasattr(cell, "isoformat"):
        return str(cell.isoformat())
    if isinstance(cell, np.datetime64):
        return str(cell)
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _days(text: Any, form: str) -> np.ndarray:
    """Return days since 1970 (t,) of dates in one form, not a number where one is in another."""
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = pd.to_datetime(text, format=form, errors="coerce", utc=True)
    return np.asarray((read - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1), dtype=float)


def _first_unread(text: Any, given: Any) -> int:
    """Return the row of the first cell that the form which reads most of them does not read."""
    unread = min((np.isnan(_days(text, form)) & given.to_numpy() for form in FORMATS.values()), key=np.sum)
    return int(np.argmax(unread))


def _ascends(times: np.ndarray) -> bool:
    known = times[np.isfinite(times)]
    return bool((np.diff(known) >= 0.0).all())
