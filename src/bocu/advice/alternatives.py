"""Decisions given as a list of alternatives: a table with a row each, from which alone one is suggested."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bocu.advice.choices import Decisions, OneOfNames, Range
from bocu.advice.logs import read_rows
from bocu.advice.tables import LogTable
from bocu.core.errors import BocuError, shown


@dataclass(frozen=True)
class Alternatives:
    """What there is to choose from.

    Attributes:
        values: shape (n, d), plain values as `Decisions` has them.
        lines: what each row is called, (n,).
        notes: what was done to read them.
    """

    values: np.ndarray
    lines: tuple[str, ...]
    notes: tuple[str, ...]


def decisions_of(table: LogTable, log: LogTable, others: Collection[str]) -> Decisions:
    """Return what is decided: each column that alternatives and log both have, but for contexts and outcomes.

    Numbers go from the smallest to the largest that either has, and are whole where all are; anything else is a choice
    of the names that either has.

    Raises:
        BocuError: they have no such column in common.
    """
    names = [name for name in table.columns if name in log.columns and name not in others]
    if not names:
        raise BocuError(
            f"{table.name}: found the columns {', '.join(table.columns) or 'none'}; at least one decision that the log "
            "has too is wanted"
        )
    return Decisions(tuple(_part(name, [*table.columns[name], *log.columns[name]]) for name in names))


def read_alternatives(table: LogTable, decisions: Decisions) -> Alternatives:
    """Read alternatives.

    Raises:
        BocuError: a column is missing or holds what it must not, a value is missing, out of bounds or no whole number,
            or there is no row.
    """
    notes: list[str] = []
    values = read_rows(table, decisions, notes)
    if not len(values):
        raise BocuError(f"{table.name}: found no row; at least one alternative is wanted")
    for faulty, what in (
        (np.isnan(values).any(axis=1), "a value is missing; an alternative has all"),
        (~decisions.inside(values), "out of the bounds of --decisions"),
    ):
        if faulty.any():
            raise BocuError(f"{table.name}: {table.lines[int(np.argmax(faulty))]}: {what}")
    return Alternatives(values, tuple(table.lines), tuple(notes))


def _part(name: str, cells: Sequence[Any]) -> Range | OneOfNames:
    texts = [str(cell).strip() for cell in cells if cell is not None and str(cell).strip()]
    try:
        numbers = np.array([float(text) for text in texts])
    except ValueError:
        levels = tuple(dict.fromkeys(texts))
        if len(levels) < 2:
            raise BocuError(f"--alternatives: column '{name}' has {shown(levels[0])} alone: no choice") from None
        return OneOfNames(name, levels)
    finite = numbers[np.isfinite(numbers)]
    if not len(finite):
        raise BocuError(f"--alternatives: column '{name}': found no number and no name")
    low, high = float(finite.min()), float(finite.max())
    if low == high:
        high = low + max(1.0, abs(low))
    return Range(name, low, high, bool((finite == np.round(finite)).all()))
