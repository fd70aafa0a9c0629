"""Reading logs and forecasts: tables as people keep them, every fault told in one line, every liberty in a note."""

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bocu.advice.choices import Choice, Decisions
from bocu.core.errors import BocuError, shown

#: The fewest usable rows that anything is learnt from.
FEWEST_ROWS = 3

WEIGHT = "weight"
_MISSING = {"", "na", "n/a", "nan", "none", "null", "-", "?"}
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_NAMED = 5  # rows that a note names


@dataclass(frozen=True)
class Table:
    """Columns of text or numbers.

    Attributes:
        name: where they come from, for error lines.
        columns: by name, all of one length.
        lines: what a row is called in error lines.
    """

    name: str
    columns: Mapping[str, Sequence[Any]]
    lines: Sequence[str]

    def column(self, name: str, role: str) -> Sequence[Any]:
        """Return a column.

        Raises:
            BocuError: there is none of that name.
        """
        if name not in self.columns:
            raise BocuError(f"{self.name}: no column '{name}' ({role}); found {', '.join(self.columns) or 'none'}")
        return self.columns[name]


@dataclass(frozen=True)
class Log:
    """What was decided, met and earned, rows without gaps.

    Attributes:
        decisions: shape (t, d), plain values as `Decisions` has them.
        contexts: shape (t, l), in their own units.
        outcome: shape (t,).
        lines: what each row is called, (t,).
        notes: what was done to read it, and what it does not tell, a line each.
    """

    decisions: np.ndarray
    contexts: np.ndarray
    outcome: np.ndarray
    lines: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Forecast:
    """A distribution of contexts.

    Attributes:
        contexts: shape (n, l), different points in their own units.
        weights: shape (n,), that sum to 1.
    """

    contexts: np.ndarray
    weights: np.ndarray
    notes: tuple[str, ...] = ()


def read_table(source: Any, name: str) -> Table:
    """Read a CSV file, a pandas table, an xarray data set, or columns by name; what was read is returned as it is.

    Columns of a file are separated by commas, semicolons or tabs, whichever its first line has most of.

    Raises:
        BocuError: the file cannot be read, is empty, has a column twice, or a row of another length.
    """
    if isinstance(source, Table):
        return source
    if isinstance(source, str | Path):
        return _read_csv(Path(source))
    if hasattr(source, "to_dataframe"):
        source = source.to_dataframe().reset_index()
    columns = {str(key): list(source[key]) for key in source}
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise BocuError(f"{name}: columns have {', '.join(map(str, sorted(lengths)))} rows; one length is wanted")
    return Table(name, columns, [f"row {i}" for i in range(1, max(lengths, default=0) + 1)])


def read_log(table: Table, decisions: Decisions, contexts: Sequence[str], outcome: str) -> Log:
    """Read decisions, contexts and outcome of a log; rows with a gap are left out, and a note says so.

    Raises:
        BocuError: a column is missing or holds what it must not, too few rows are whole, all outcomes are equal.
    """
    notes: list[str] = []
    decided = [
        _levels(table, part) if isinstance(part, Choice) else _numbers(table, part.name, "decision", notes)
        for part in decisions.parts
    ]
    met = [_numbers(table, name, "context", notes) for name in contexts]
    earned = _numbers(table, outcome, "outcome", notes)
    rows = np.column_stack([*decided, *met, earned])
    whole = ~np.isnan(rows).any(axis=1)
    if not whole.all():
        notes.append(f"left out {_rows(table, ~whole)}: a value is missing")
    if whole.sum() < FEWEST_ROWS:
        raise BocuError(f"{table.name}: found {whole.sum()} whole rows; at least {FEWEST_ROWS} are wanted")
    for i, part in enumerate(decisions.parts):
        if not isinstance(part, Choice) and part.whole:
            broken = whole & (rows[:, i] != np.round(rows[:, i]))
            if broken.any():
                at = int(np.argmax(broken))
                raise BocuError(
                    f"{table.name}: {table.lines[at]}, column '{part.name}': found {rows[at, i]:g}; "
                    "allowed: whole numbers"
                )
    d = len(decisions.parts)
    outside = whole.copy()
    outside[whole] = ~decisions.inside(rows[whole][:, :d])
    if outside.any():
        notes.append(f"{_rows(table, outside)}: a decision out of bounds; learnt from, never suggested")
    kept = rows[whole]
    for i, name in enumerate([*decisions.names, *contexts]):
        if np.ptp(kept[:, i]) == 0.0:
            notes.append(f"column '{name}' never changes: what it does to the payoff cannot be learnt from this log")
    repeated = len(kept) - len(np.unique(kept, axis=0))
    if repeated:
        notes.append(f"{repeated} of {len(kept)} rows repeat another; each counts as an observation of its own")
    if np.ptp(kept[:, -1]) == 0.0:
        raise BocuError(f"{table.name}: column '{outcome}': every value is {kept[0, -1]:g}; nothing can be learnt")
    lines = tuple(table.lines[i] for i in np.flatnonzero(whole).tolist())
    return Log(kept[:, :d], kept[:, d:-1], kept[:, -1], lines, tuple(notes))


def read_forecast(table: Table, contexts: Sequence[str]) -> Forecast:
    """Read contexts and, where there is a column `weight`, their weights; without it rows count alike.

    Raises:
        BocuError: there is no row, a value is missing or no number, weights are negative or sum to 0.
    """
    notes: list[str] = []
    names = [*contexts, *([WEIGHT] if WEIGHT in table.columns and WEIGHT not in contexts else [])]
    rows = np.column_stack([_numbers(table, name, "context", notes) for name in names])
    if not len(rows):
        raise BocuError(f"{table.name}: found no row; at least one context is wanted")
    missing = np.isnan(rows).any(axis=1)
    if missing.any():
        raise BocuError(f"{table.name}: {_rows(table, missing)}: a value is missing; a forecast has none")
    weights = rows[:, -1] if len(names) > len(contexts) else np.ones(len(rows))
    if weights.min() < 0.0 or weights.sum() == 0.0:
        raise BocuError(f"{table.name}: column '{WEIGHT}': weights must be 0 or more, and one of them positive")
    return weighted(rows[:, : len(contexts)], weights, tuple(notes))


def weighted(contexts: np.ndarray, weights: np.ndarray, notes: tuple[str, ...] = ()) -> Forecast:
    """Merge equal contexts (n, l) and let weights (n,) sum to 1."""
    points, places = np.unique(contexts, axis=0, return_inverse=True)
    totals = np.bincount(places.reshape(-1), weights=weights)
    return Forecast(points, totals / totals.sum(), notes)


def _read_csv(path: Path) -> Table:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BocuError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BocuError(f"{path}: found text that is not in UTF-8; save it as UTF-8") from None
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    try:
        numbered = [
            (reader.line_num, [cell.strip() for cell in row])
            for reader in [csv.reader(io.StringIO(text), delimiter=separator)]
            for row in reader
        ]
    except csv.Error as error:
        raise BocuError(f"{path}: {error}") from None
    numbered = [(line, row) for line, row in numbered if any(row)]
    if not numbered:
        raise BocuError(f"{path}: the file is empty; a first line with names of columns is wanted")
    (_, head), *body = numbered
    for name in head:
        if head.count(name) > 1:
            raise BocuError(f"{path}: the column {shown(name)} stands twice")
    for line, row in body:
        if len(row) != len(head):
            hint = "; decimal commas need semicolons between columns" if separator == "," else ""
            raise BocuError(f"{path}: line {line}: found {len(row)} values, the first line names {len(head)}{hint}")
    return Table(
        str(path),
        {name: [row[i] for _, row in body] for i, name in enumerate(head)},
        [f"line {line}" for line, _ in body],
    )


def _numbers(table: Table, name: str, role: str, notes: list[str]) -> np.ndarray:
    """Return a column as numbers (t,), not a number where a value is missing."""
    column = table.column(name, role)
    commas = any(isinstance(cell, str) and _DECIMAL_COMMA.fullmatch(cell.strip()) for cell in column)
    if commas:
        if any(isinstance(cell, str) and "." in cell for cell in column):
            raise BocuError(f"{table.name}: column '{name}': found decimal points and decimal commas; one is wanted")
        notes.append(f"{table.name}: column '{name}' has decimal commas, read as points")
    return np.array([_number(table, name, i, cell, commas) for i, cell in enumerate(column)], dtype=float)


def _number(table: Table, name: str, row: int, cell: Any, commas: bool) -> float:
    if is_missing(cell):
        return math.nan
    try:
        found = float(cell.strip().replace(",", ".") if commas and isinstance(cell, str) else cell)
    except (TypeError, ValueError):
        found = math.inf
    if math.isinf(found):
        raise BocuError(
            f"{table.name}: {table.lines[row]}, column '{name}': found {shown(cell)}; a finite number is wanted"
        )
    return found


def _levels(table: Table, part: Choice) -> np.ndarray:
    """Return the positions (t,) of the names that a column holds, not a number where one is missing."""
    found = []
    for row, cell in enumerate(table.column(part.name, "decision")):
        text = str(cell).strip()
        if text in part.levels:
            found.append(float(part.levels.index(text)))
        elif is_missing(cell):
            found.append(math.nan)
        else:
            raise BocuError(
                f"{table.name}: {table.lines[row]}, column '{part.name}': found {shown(text)}; "
                f"allowed: {', '.join(part.levels)}"
            )
    return np.array(found)


def is_missing(cell: Any) -> bool:
    """Whether a cell holds no value."""
    return cell is None or cell != cell or (isinstance(cell, str) and cell.strip().lower() in _MISSING)


def _rows(table: Table, chosen: np.ndarray) -> str:
    """Name rows for people: "2 rows (line 3, line 9)"."""
    named = [table.lines[i] for i in np.flatnonzero(chosen).tolist()]
    more = ", ..." if len(named) > _NAMED else ""
    return f"{len(named)} row{'s' if len(named) > 1 else ''} ({', '.join(named[:_NAMED])}{more})"
