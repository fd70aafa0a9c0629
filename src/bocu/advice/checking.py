"""All that is wrong with a log in one go, and a copy of it that is mended as far as that needs no guessing."""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bocu.advice.logs import LogTable, is_missing
from bocu.advice.time import dates_of

_CURRENCY = re.compile(r"^\s*[€$£¥]\s*|\s*[€$£¥]\s*$")
_MARKS = re.compile(r"(?<=\d)[ '\u00a0\u202f](?=\d{3}(?!\d))")
_ENGLISH = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_GERMAN = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+,\d+")
_COMMA = re.compile(r"[+-]?\d+,\d+")
_NAMED = 5


@dataclass(frozen=True)
class Fault:
    """What is wrong with a column.

    Attributes:
        column: its name, or "rows".
        found: what is wrong.
        lines: rows that have it, as the log calls them.
        repair: what the repaired copy has; empty where nothing is changed.
    """

    column: str
    found: str
    lines: tuple[str, ...]
    repair: str

    def __str__(self) -> str:
        """Return one line."""
        named = ", ".join(self.lines[:_NAMED]) + (f" and {len(self.lines) - _NAMED} more" * (len(self.lines) > _NAMED))
        return (
            f"{self.column}: {self.found}{f' ({named})' if named else ''}{f' -> {self.repair}' if self.repair else ''}"
        )


def check_log(table: LogTable, names: Collection[str] = (), time: str | None = None) -> tuple[list[Fault], LogTable]:
    """Return all faults of a log, and the log repaired.

    Args:
        table: the log.
        names: columns of names to choose from, which are no numbers.
        time: column of dates or numbers.
    """
    faults: list[Fault] = []
    repaired: dict[str, Sequence[Any]] = {}
    for name, cells in table.columns.items():
        if name in names:
            repaired[name] = cells
        elif name == time:
            repaired[name] = _dates(table, name, cells, faults)
        else:
            repaired.update(_numbers(table, name, cells, faults))
    rows = list(zip(*repaired.values(), strict=True))
    counts = Counter(rows)
    twice = tuple(line for line, row in zip(table.lines, rows, strict=True) if counts[row] > 1)
    if twice:
        faults.append(Fault("rows", "stand more than once; each counts", twice, ""))
    return faults, LogTable(table.name, repaired, table.lines)


def csv_of_log(table: LogTable) -> str:
    """Return a table as the text of a CSV file."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(
        ["" if is_missing(cell) else cell for cell in row] for row in zip(*table.columns.values(), strict=True)
    )
    return target.getvalue()


def _dates(table: LogTable, name: str, cells: Sequence[Any], faults: list[Fault]) -> Sequence[Any]:
    if all(is_missing(cell) or _is_number(str(cell)) for cell in cells):
        return cells
    read, forms = dates_of(cells)
    if len(used := set(forms) - {""}) < 2 and "" not in forms:
        return cells
    most = Counter(form for form in forms if form).most_common(1)
    usual = most[0][0] if most else ""
    if len(used) > 1:
        others = tuple(line for line, form in zip(table.lines, forms, strict=True) if form not in ("", usual))
        faults.append(Fault(name, f"two forms of dates are mixed, {' and '.join(sorted(used))}", others, "2024-03-31"))
    unread = [not form and not is_missing(cell) for cell, form in zip(cells, forms, strict=True)]
    _told(faults, table, name, unread, "no date", "left out")
    return [str(np.datetime64(0, "D") + np.timedelta64(int(at), "D")) if np.isfinite(at) else "" for at in read]


def _numbers(table: LogTable, name: str, cells: Sequence[Any], faults: list[Fault]) -> dict[str, Sequence[Any]]:
    """Return a column as the repaired log has it: numbers, or a column a name where it holds names alone."""
    texts = ["" if is_missing(cell) else str(cell).strip() for cell in cells]
    given = [bool(text) for text in texts]
    steps: tuple[tuple[str, str, Callable[[str], str]], ...] = (
        ("currency signs", "without", lambda text: _CURRENCY.sub("", text)),
        ("per cent signs", "without", lambda text: text.removesuffix("%").rstrip()),
        ("marks of thousands", "without", lambda text: _MARKS.sub("", text)),
        ("marks of thousands", "without", lambda text: text.replace(",", "") if _ENGLISH.fullmatch(text) else text),
        ("marks of thousands", "without", lambda text: text.replace(".", "") if _GERMAN.fullmatch(text) else text),
        ("decimal commas", "points", lambda text: text.replace(",", ".") if _COMMA.fullmatch(text) else text),
    )
    points = not any(_COMMA.fullmatch(text) and not _ENGLISH.fullmatch(text) for text in texts)
    for what, repair, mend in steps:
        if what == "marks of thousands" and mend("1,250") != "1,250" and not points:
            continue  # beside 12,5 a comma is a decimal one
        now = [mend(text) if not _is_number(text) else text for text in texts]
        _told(faults, table, name, [a != b for a, b in zip(texts, now, strict=True)], what, repair)
        texts = now
    wrong = [has and not _is_number(text) for has, text in zip(given, texts, strict=True)]
    if any(given) and sum(wrong) == sum(given):
        levels = sorted({text for text in texts if text})
        told = ", ".join(f"{name} is {level}" for level in levels)
        faults.append(Fault(name, f"text, {len(levels)} different", (), f"columns of 0 and 1: {told}"))
        return {f"{name} is {level}": [str(int(text == level)) if text else "" for text in texts] for level in levels}
    _told(
        faults,
        table,
        name,
        wrong,
        "no number: " + ", ".join(sorted({t for t, w in zip(texts, wrong, strict=True) if w})),
        "left out",
    )
    texts = ["" if bad else text for bad, text in zip(wrong, texts, strict=True)]
    if len({float(text) for text in texts if text}) == 1:
        faults.append(Fault(name, "never changes: nothing can be learnt of it", (), ""))
    return {name: texts}


def _told(faults: list[Fault], table: LogTable, name: str, rows: Sequence[bool], what: str, repair: str) -> None:
    if any(rows):
        faults.append(
            Fault(name, what, tuple(line for line, row in zip(table.lines, rows, strict=True) if row), repair)
        )


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text))) and "_" not in text
    except ValueError:
        return False
