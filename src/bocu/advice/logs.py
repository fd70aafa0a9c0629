"""Reading logs and forecasts: tables as people keep them, every fault told in one line, every liberty in a note.

Where rows are many, some stand for all: cells are of like weight, points being split near their weighted median, again
and again, along the axis they spread on.
"""

import codecs
import csv
import datetime
import io
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from bocu.advice.choices import Decisions, OneOfNames
from bocu.core.errors import BocuError, shown
from bocu.core.parameters import nearest
from bocu.robust.ambiguity.base import AmbiguitySet
from bocu.robust.contexts.estimates import effective_number


@dataclass(frozen=True)
class LogTable:
    """Columns of text or numbers."""

    name: str  #: where they come from, for error lines.
    columns: Mapping[str, Sequence[Any]]  #: by name, all of one length.
    lines: Sequence[str]  #: what a row is called in error lines.

    def column(self, name: str, role: str) -> Sequence[Any]:
        """Return a column.

        Raises:
            BocuError: there is none of that name.
        """
        if name not in self.columns:
            raise BocuError(f"{self.name}: no column '{name}' ({role}); found {', '.join(self.columns) or 'none'}")
        return self.columns[name]

    def at(self, rows: np.ndarray) -> "LogTable":
        """Return the rows at some positions (n,)."""
        columns = {name: [column[i] for i in rows] for name, column in self.columns.items()}
        return replace(self, columns=columns, lines=[self.lines[i] for i in rows])


def read_log_table(source: Any, name: str) -> LogTable:
    """Read a CSV or JSON file, a pandas table, an xarray data set, or columns by name; a table is returned as it is.

    Columns of a file are separated by commas, semicolons or tabs, whichever its first line has most of.

    Raises:
        BocuError: the file cannot be read, is empty, has a column twice, or a row of another length.
    """
    if isinstance(source, LogTable):
        return source
    if isinstance(source, str | Path):
        path = Path(source)
        return _read_json(path) if path.suffix.lower() == ".json" else _read_csv(path)
    if hasattr(source, "to_dataframe"):
        source = source.to_dataframe().reset_index()
    return _columns(source, name)


def _read_json(path: Path) -> LogTable:
    """Read a list of rows by name, or columns by name."""
    try:
        found = json.loads(_text_of(path))
    except ValueError as error:
        raise BocuError(f"{path}: found no JSON: {error}") from None
    if isinstance(found, list) and found and all(isinstance(row, dict) for row in found):
        names = list(dict.fromkeys(str(name) for row in found for name in row))
        return LogTable(
            str(path),
            {name: [row.get(name) for row in found] for name in names},
            [f"row {i}" for i in range(1, len(found) + 1)],
        )
    if isinstance(found, dict) and found and all(isinstance(column, list) for column in found.values()):
        return _columns(found, str(path))
    raise BocuError(f'{path}: a list of rows such as {{"rain": 2}} is wanted, or columns such as {{"rain": [2, 0]}}')


def _columns(source: Mapping[Any, Any], name: str) -> LogTable:
    columns = {str(key): list(source[key]) for key in source}
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise BocuError(f"{name}: columns have {', '.join(map(str, sorted(lengths)))} rows; one length is wanted")
    return LogTable(name, columns, [f"row {i}" for i in range(1, max(lengths, default=0) + 1)])


def _text_of(path: Path) -> str:
    """Return the text of a file in UTF-8 or, where it begins with a byte order mark, in UTF-16."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BocuError(f"{path}: {error.strerror}") from None
    encoding = "utf-16" if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        raise BocuError(f"{path}: found text that is not in UTF-8; save it as UTF-8") from None
    if "\0" in text:
        raise BocuError(f"{path}: found no text; a CSV file is wanted")
    return text


def _read_csv(path: Path) -> LogTable:
    text = _text_of(path)
    first = next((line for line in text.splitlines() if line.strip()), "")
    separator = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        numbered = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        raise BocuError(f"{path}: {error}") from None
    numbered = [(line, row) for line, row in numbered if any(row)]
    if not numbered:
        raise BocuError(f"{path}: the file is empty; a first line with names of columns is wanted")
    (_, head), *body = numbered
    while head and not head[-1]:  # separators at the ends of lines
        head.pop()
    for name in head:
        if not name:
            raise BocuError(f"{path}: column {head.index(name) + 1} has no name; the first line names columns")
        if head.count(name) > 1:
            raise BocuError(f"{path}: the column {shown(name)} stands twice")
    for line, row in body:
        while len(row) > len(head) and not row[-1]:
            row.pop()
        if len(row) != len(head):
            hint = "; decimal commas need semicolons between columns" if separator == "," else ""
            raise BocuError(f"{path}: line {line}: found {len(row)} values, the first line names {len(head)}{hint}")
    return LogTable(
        str(path),
        {name: [row[i] for _, row in body] for i, name in enumerate(head)},
        [f"line {line}" for line, _ in body],
    )


#: The fewest usable rows that anything is learnt from.
FEWEST_ROWS = 3

#: What becomes of rows that lack contexts and nothing else: averaged over what these may have been, or left out.
MISSING = AVERAGE, LEAVE_OUT = "average", "leave-out"

#: Beyond this, squares and products of values are no finite numbers.
LARGEST = 1e100

WEIGHT = "weight"
_MISSING = {"", "na", "n/a", "nan", "none", "null", "-", "?"}
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_MARKED = re.compile(r"[+-]?\d{1,3}(?:[ ',.\u00a0\u202f]\d{3})+(?:[.,]\d+)?")
_DATE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}:\d{2}|\d{1,2}\.?[ -][A-Za-z]{3,}|[A-Za-z]{3,}\.? \d{1,2},? \d{4}"
)
_NAMED = 5  # rows that a note names


@dataclass(frozen=True)
class LoggedRows:
    """What was decided, met and earned, row by row."""

    decisions: np.ndarray  #: shape (t, d), plain values as `Decisions` has them.
    contexts: np.ndarray  #: shape (t, l), in their own units; not a number where they are missing.
    outcome: np.ndarray  #: shape (t,).
    lines: tuple[str, ...]  #: what each row is called, (t,).

    def at(self, rows: np.ndarray) -> Self:
        """Return the rows at some positions (n,)."""
        lines = tuple(self.lines[i] for i in rows.tolist())
        part = {"decisions": self.decisions[rows], "contexts": self.contexts[rows], "outcome": self.outcome[rows]}
        return replace(self, **part, lines=lines)


@dataclass(frozen=True)
class Log(LoggedRows):
    """The whole rows of a log, and what else it has."""

    gaps: LoggedRows  #: rows that lack contexts, and nothing else; they count on their own terms.
    notes: tuple[str, ...]  #: what was done to read it, and what it does not tell, a line each.


@dataclass(frozen=True)
class Forecast:
    """A distribution of contexts."""

    contexts: np.ndarray  #: shape (n, l), different points in their own units.
    weights: np.ndarray  #: shape (n,), that sum to 1.
    notes: tuple[str, ...] = ()


def read_logs(
    table: LogTable, decisions: Decisions, contexts: Sequence[str], outcomes: Sequence[str], missing: str = AVERAGE
) -> list[Log]:
    """Read decisions, contexts and outcomes of a log: one log an outcome, all of the same rows.

    Rows that lack a decision or an outcome are left out, those that lack contexts alone count apart or are left out
    too; notes say so.

    Args:
        table: the log.
        decisions: what is decided.
        contexts: columns of what was met.
        outcomes: columns of what was earned or paid.
        missing: of `MISSING`, what becomes of rows that lack contexts alone.

    Raises:
        BocuError: a column is missing or holds what it must not, too few rows are whole, all values of an outcome are
            equal.
    """
    notes: list[str] = []
    decided = read_rows(table, decisions, notes)
    met = [_numbers(table, name, "context", notes) for name in contexts]
    earned = [_numbers(table, name, "outcome", notes) for name in outcomes]
    rows = np.column_stack([decided, *met, *earned])
    d, until = len(decisions.parts), len(decisions.parts) + len(contexts)
    absent = np.isnan(rows)
    whole = ~absent.any(axis=1)
    gappy = ~whole & ~absent[:, :d].any(axis=1) & ~absent[:, until:].any(axis=1)
    if missing != AVERAGE:
        gappy[:] = False
    used = whole | gappy
    if not used.all():
        notes.append(f"left out {_rows(table, ~used)}: a value is missing")
    if gappy.any():
        notes.append(
            f"{_rows(table, gappy)}: a context is missing; counted as an average over contexts of the log, with the "
            "noise that this adds"
        )
    if whole.sum() < FEWEST_ROWS:
        raise BocuError(f"{table.name}: found {whole.sum()} whole rows; at least {FEWEST_ROWS} are wanted")
    outside = used.copy()
    outside[used] = ~decisions.inside(rows[used][:, :d])
    if outside.any():
        notes.append(f"{_rows(table, outside)}: a decision out of bounds; learnt from, never suggested")
    kept = rows[whole]
    for i, name in enumerate([*decisions.names, *contexts]):
        if np.ptp(kept[:, i]) == 0.0:
            notes.append(f"column '{name}' never changes: what it does to the payoff cannot be learnt from this log")
    repeated = len(kept) - len(np.unique(kept, axis=0))
    if repeated:
        notes.append(f"{repeated} of {len(kept)} rows repeat another; each counts as an observation of its own")
    for i, name in enumerate(outcomes, until):
        if np.ptp(kept[:, i]) == 0.0:
            raise BocuError(f"{table.name}: column '{name}': every value is {kept[0, i]:g}; nothing can be learnt")

    def at(chosen: np.ndarray, outcome: int) -> LoggedRows:
        some, lines = rows[chosen], tuple(table.lines[i] for i in np.flatnonzero(chosen).tolist())
        return LoggedRows(some[:, :d], some[:, d:until], some[:, outcome], lines)

    return [Log(**vars(at(whole, i)), gaps=at(gappy, i), notes=tuple(notes)) for i in range(until, rows.shape[1])]


def read_rows(table: LogTable, decisions: Decisions, notes: list[str]) -> np.ndarray:
    """Return decisions (t, d), not a number where one is missing.

    Raises:
        BocuError: a column is missing or holds what it must not.
    """
    found = []
    for part in decisions.parts:
        if isinstance(part, OneOfNames):
            found.append(_levels(table, part))
            continue
        numbers = _numbers(table, part.name, "decision", notes)
        broken = np.isfinite(numbers) & (numbers != np.round(numbers))
        if part.whole and broken.any():
            at = int(np.argmax(broken))
            raise BocuError(
                f"{table.name}: {table.lines[at]}, column '{part.name}': found {numbers[at]:g}; allowed: whole numbers"
            )
        found.append(numbers)
    return np.column_stack(found)


def read_forecast(table: LogTable, contexts: Sequence[str], known: Mapping[str, float] | None = None) -> Forecast:
    """Read contexts and, where there is a column `weight`, their weights; without it rows count alike.

    What is known is not read.

    Raises:
        BocuError: there is no row, a value is missing or no number, weights are negative or sum to 0.
    """
    notes: list[str] = []
    names = [*contexts, *([WEIGHT] if WEIGHT in table.columns and WEIGHT not in contexts else [])]
    constant = {name: [value] * len(table.lines) for name, value in (known or {}).items()}
    table = replace(table, columns={**table.columns, **constant})
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


def given_what_is_known(
    reference: Forecast, names: Sequence[str], known: Mapping[str, float], *, from_log: bool
) -> Forecast:
    """Return a reference where some contexts are known.

    The others of a log are weighted by how near it came to what is known: a normal kernel over the known columns, in
    standard deviations, of the width of Scott (1992), n^(-1 / (k + 4)) for k columns. Those of a forecast stay.

    Raises:
        BocuError: what is known is no context.
    """
    for name in known:
        if name not in names:
            raise BocuError(f"--known: found {shown(name)}; {nearest(name, names)}")
    if not known:
        return reference
    columns, values = [names.index(name) for name in known], np.array(list(known.values()))
    contexts, weights, notes = reference.contexts.copy(), reference.weights, reference.notes
    if from_log:
        met = contexts[:, columns]
        spread = np.sqrt(weights @ (met - weights @ met) ** 2)
        width = effective_number(weights) ** (-1.0 / (len(columns) + 4))
        away = ((met - values) / np.where(spread > 0.0, spread * width, 1.0)) ** 2
        nearness = away.sum(axis=1)
        weights = weights * np.exp(-0.5 * (nearness - nearness.min()))
        weights = weights / weights.sum()
        told = ", ".join(f"{name} = {value:.4g}" for name, value in known.items())
        count = effective_number(weights)
        notes = (*notes, f"known beforehand: {told}; other contexts as in rows near it, which count as {count:.0f}")
    contexts[:, columns] = values
    return weighted(contexts, weights, notes)


def weighted(contexts: np.ndarray, weights: np.ndarray, notes: tuple[str, ...] = ()) -> Forecast:
    """Merge equal contexts (n, l) and let weights (n,) sum to 1."""
    points, places = np.unique(contexts, axis=0, return_inverse=True)
    totals = np.bincount(places.reshape(-1), weights=weights)
    return Forecast(points, totals / totals.sum(), notes)


def spread_evenly(count: int, most: int) -> np.ndarray:
    """Return the positions of so many rows, or of at most `most` that are spread evenly over them."""
    return np.arange(count) if count <= most else np.linspace(0, count - 1, most).round().astype(int)


def _numbers(table: LogTable, name: str, role: str, notes: list[str]) -> np.ndarray:
    """Return a column as numbers (t,), not a number where a value is missing."""
    column = table.column(name, role)
    texts = [cell.strip() for cell in column if isinstance(cell, str) and not is_missing(cell)]
    if texts and all(text.endswith("%") for text in texts):
        column = [cell.strip().removesuffix("%").rstrip() if isinstance(cell, str) else cell for cell in column]
        texts = [text.removesuffix("%").rstrip() for text in texts]
        notes.append(f"{table.name}: column '{name}' is in per cent: 12% is read as 12")
    commas = any(_DECIMAL_COMMA.fullmatch(text) for text in texts)
    if commas:
        if any("." in text for text in texts):
            raise BocuError(f"{table.name}: column '{name}': found decimal points and decimal commas; one is wanted")
        if all(_THOUSANDS.fullmatch(text) or text.isdigit() for text in texts):
            raise BocuError(
                f"{table.name}: column '{name}': found {shown(next(text for text in texts if ',' in text))}, which may "
                "be thousands or thousandths; numbers without marks of thousands are wanted"
            )
        notes.append(f"{table.name}: column '{name}' has decimal commas, read as points")
    return np.array([_number(table, name, i, cell, commas) for i, cell in enumerate(column)], dtype=float)


def _number(table: LogTable, name: str, row: int, cell: Any, commas: bool) -> float:
    if is_missing(cell):
        return math.nan
    text = cell.strip() if isinstance(cell, str) else cell
    try:
        marked = commas and isinstance(text, str)
        found = math.nan if _is_no_number(text) else float(text.replace(",", ".") if marked else text)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if abs(found) <= LARGEST:
        return found
    wanted = "a finite number is wanted" if not math.isfinite(found) else f"allowed: up to {LARGEST:g}"
    raise BocuError(f"{table.name}: {table.lines[row]}, column '{name}': found {shown(cell)}; {wanted}{_hint(text)}")


def _hint(cell: Any) -> str:
    """Say what may be meant by what is no number."""
    if not isinstance(cell, str):
        return ""
    if _DATE.search(cell):
        return ", not a date: --time takes those, and a number such as the day of the year may be a context"
    if _MARKED.fullmatch(cell):
        return ", without marks of thousands"
    if cell.endswith("%"):
        return "; per cent signs stand in all rows of a column or in none"
    return ", without a currency" if cell[:1] in "€$£¥" or cell[-1:] in "€$£¥" else ""


def _is_no_number(cell: Any) -> bool:
    """Whether Python would read as a number what people do not mean as one: truth values, 1_000, times."""
    return isinstance(cell, bool | np.bool_ | np.datetime64 | datetime.date) or (
        isinstance(cell, str) and ("_" in cell or not cell.isascii())
    )


def _levels(table: LogTable, part: OneOfNames) -> np.ndarray:
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


def number_in(text: str | None) -> float:
    """Return a text as a number; not a number where it is none, or missing."""
    try:
        return math.nan if text is None or "_" in text else float(text)
    except ValueError:
        return math.nan


def is_missing(cell: Any) -> bool:
    """Whether a cell holds no value."""
    if isinstance(cell, str):
        return cell.strip().lower() in _MISSING
    # Of a missing value of pandas no comparison is true or false.
    return cell is None or type(cell).__name__ == "NAType" or bool(cell != cell)


def _rows(table: LogTable, chosen: np.ndarray) -> str:
    """Name rows for people: "2 rows (line 3, line 9)"."""
    named = [table.lines[i] for i in np.flatnonzero(chosen).tolist()]
    more = ", ..." if len(named) > _NAMED else ""
    return f"{len(named)} row{'s' if len(named) > 1 else ''} ({', '.join(named[:_NAMED])}{more})"


#: A cell, or how points are sorted further: by axis, threshold, and what is left (up to the threshold) and right of it.
_Tree = int | tuple[int, float, "_Tree", "_Tree"]


@dataclass(frozen=True)
class Boxes:
    """A partition of the space into boxes."""

    root: _Tree
    count: int  #: number of cells.

    @classmethod
    def around(cls, points: np.ndarray, weights: np.ndarray, most: int) -> "Boxes":
        """Partition the space by at most so many cells, none empty of points (n, l), weighted (n,), 0 or more."""
        leaves = iter(range(most))

        def split(rows: np.ndarray, quota: int) -> _Tree:
            spans = np.ptp(points[rows], axis=0)
            axis = int(np.argmax(spans))
            if quota < 2 or spans[axis] == 0.0:
                return next(leaves)
            values, places = np.unique(points[rows, axis], return_inverse=True)
            shares = np.cumsum(np.bincount(places, weights=weights[rows]))
            whole = shares[-1] if shares[-1] > 0.0 else 1.0
            at = int(np.argmin(np.abs(shares[:-1] / whole - (quota // 2) / quota)))
            goes_left = places <= at
            left, right = rows[goes_left], rows[~goes_left]
            fewest_right = min(quota - quota // 2, len(right))
            threshold = float((values[at] + values[at + 1]) / 2.0)
            return axis, threshold, split(left, quota - fewest_right), split(right, fewest_right)

        root = split(np.arange(len(points)), most)
        return cls(root, next(leaves, most))

    def of(self, points: np.ndarray) -> np.ndarray:
        """Return the cell (n,) of each point (n, l)."""
        found = np.empty(len(points), dtype=int)

        def sort(node: _Tree, rows: np.ndarray) -> None:
            if isinstance(node, int):
                found[rows] = node
                return
            axis, threshold, left, right = node
            goes_left = points[rows, axis] <= threshold
            sort(left, rows[goes_left])
            sort(right, rows[~goes_left])

        sort(self.root, np.arange(len(points)))
        return found

    def shares(self, points: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the share (count,) of the weights (n,) of points (n, l) that lies in each cell."""
        totals = np.bincount(self.of(points), weights=weights, minlength=self.count)
        return totals / totals.sum()


def gathered(points: np.ndarray, weights: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return at most so many points (m, l) and weights (m,): the weighted mean of each cell, and its weight.

    Points (n, l) that are no more than that are returned as they are.
    """
    if len(points) <= most:
        return points, weights
    _, means, totals = _cells(points, weights, most)
    return means[totals > 0.0], totals[totals > 0.0]


def _cells(points: np.ndarray, weights: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the cell of each point (n,), and of each cell the weighted mean (m, l) and the weight (m,)."""
    where = Boxes.around(points, weights, most).of(points)
    totals = np.bincount(where, weights=weights)
    sums = np.stack([np.bincount(where, weights=weights * column) for column in points.T], axis=1)
    return where, sums / np.where(totals > 0.0, totals, 1.0)[:, None], totals


def representatives(points: np.ndarray, most: int) -> np.ndarray:
    """Return the positions of at most so many points (n, l), ascending: of each cell the one nearest to its mean."""
    if len(points) <= most:
        return np.arange(len(points))
    where, means, _ = _cells(points, np.ones(len(points)), most)
    away = ((points - means[where]) ** 2).sum(axis=1)
    order = np.lexsort((away, where))
    first = np.flatnonzero(np.diff(where[order], prepend=-1))
    return np.sort(order[first])


#: The most different contexts that expectations are taken over, and to how many more are gathered.
MOST_CONTEXTS, GATHERED = 2000, 1000

#: Numbers of an intermediate table that is made at once, 128 MiB.
_AT_ONCE = 2**24


def fewer_contexts(forecast: Forecast, family: type[AmbiguitySet] | None) -> Forecast:
    """Gather the contexts of a forecast that has more of them than a set takes, or than tables have room for."""
    most = family.most_cells if family is not None else None
    count = len(forecast.weights)
    if count <= (most or MOST_CONTEXTS):
        return forecast
    kept = most or GATHERED
    span = np.ptp(forecast.contexts, axis=0)
    span[span == 0.0] = 1.0
    points, weights = gathered(forecast.contexts / span, forecast.weights, kept)
    note = f"{count} different contexts were gathered into {len(weights)}, the means of cells of like weight"
    return Forecast(points * span, weights / weights.sum(), (*forecast.notes, note))


def rows_of_a_fit(inputs: np.ndarray, most: int) -> np.ndarray:
    """Return the positions of at most so many rows of inputs (t, D), spread over their order and over the inputs."""
    return representatives(np.column_stack([np.linspace(0.0, 1.0, len(inputs)), inputs]), most)


def in_parts(measure: Callable[[np.ndarray], np.ndarray], values: np.ndarray, width: int) -> np.ndarray:
    """Return a measure of values (n, d), whose tables are so wide, by no more rows at once than memory has room for."""
    step = max(1, _AT_ONCE // max(width, 1))
    if len(values) <= step:
        return measure(values)
    return np.concatenate([measure(values[start : start + step]) for start in range(0, len(values), step)])
