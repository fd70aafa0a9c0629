"""All that is wrong with a log in one go, and a copy of it that is mended as far as that needs no guessing."""

import csv
import functools
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bocu.advice.logs import LogTable, is_missing, number_in
from bocu.advice.time import dates_of

_CURRENCY = re.compile(r"^\s*[€$£¥]\s*|\s*[€$£¥]\s*$")
_MARKS = re.compile(r"(?<=\d)[ '\u00a0\u202f](?=\d{3}(?!\d))")
_ENGLISH = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_GERMAN = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+,\d+")
_COMMA = re.compile(r"[+-]?\d+,\d+")
_NAMED = 5

_Tell = Callable[[Sequence[bool], str, str], None]


@dataclass(frozen=True)
class Fault:
    """What is wrong with a column."""

    column: str  #: its name, or "rows".
    found: str  #: what is wrong.
    lines: tuple[str, ...]  #: rows that have it, as the log calls them.
    repair: str  #: what the repaired copy has; empty where nothing is changed.

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

    def told(name: str, rows: Sequence[bool], found: str, repair: str) -> None:
        if any(rows):
            lines = tuple(line for line, row in zip(table.lines, rows, strict=True) if row)
            faults.append(Fault(name, found, lines, repair))

    for name, cells in table.columns.items():
        if name in names:
            repaired[name] = cells
        elif name == time:
            repaired[name] = _dates(cells, functools.partial(told, name))
        else:
            columns, whole = _numbers(name, cells, functools.partial(told, name))
            repaired.update(columns)
            faults += [Fault(name, found, (), repair) for found, repair in whole]
    rows = list(zip(*repaired.values(), strict=True))
    counts = Counter(rows)
    told("rows", [counts[row] > 1 for row in rows], "stand more than once; each counts", "")
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


def _dates(cells: Sequence[Any], told: _Tell) -> Sequence[Any]:
    """Return a column of dates as the repaired log has it; of numbers as it is."""
    if all(is_missing(cell) or _is_number(str(cell)) for cell in cells):
        return cells
    read, forms = dates_of(cells)
    used = Counter(form for form in forms if form)
    if len(used) < 2 and "" not in forms:
        return cells
    if len(used) > 1:
        usual = used.most_common(1)[0][0]
        mixed = f"two forms of dates are mixed, {' and '.join(sorted(used))}"
        told([form not in ("", usual) for form in forms], mixed, "2024-03-31")
    told([not form and not is_missing(cell) for cell, form in zip(cells, forms, strict=True)], "no date", "left out")
    return [str(np.datetime64(int(at), "D")) if np.isfinite(at) else "" for at in read]


def _numbers(name: str, cells: Sequence[Any], told: _Tell) -> tuple[Mapping[str, Sequence[Any]], list[tuple[str, str]]]:
    """Return a column as the repaired log has it, and what is wrong with the whole of it, each with its repair.

    It is one of numbers, or a column a name where it holds names alone.
    """
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
        told([a != b for a, b in zip(texts, now, strict=True)], what, repair)
        texts = now
    wrong = [has and not _is_number(text) for has, text in zip(given, texts, strict=True)]
    odd = sorted({text for text, is_wrong in zip(texts, wrong, strict=True) if is_wrong})
    if any(given) and sum(wrong) == sum(given):
        levels = [text for text in odd if text]
        called = {level: f"{name} is {level}" for level in levels}
        columns = {of: [str(int(text == level)) if text else "" for text in texts] for level, of in called.items()}
        return columns, [(f"text, {len(levels)} different", f"columns of 0 and 1: {', '.join(called.values())}")]
    told(wrong, f"no number: {', '.join(odd)}", "left out")
    texts = ["" if bad else text for bad, text in zip(wrong, texts, strict=True)]
    same = len({float(text) for text in texts if text}) == 1
    return {name: texts}, [("never changes: nothing can be learnt of it", "")] if same else []


def _is_number(text: str) -> bool:
    return math.isfinite(number_in(text))
