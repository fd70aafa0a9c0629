"""Payoffs and a reference from a CSV or NetCDF file, and worst cases as a table.

A CSV file has one row a context and a header. The column `reference` holds the probabilities, columns `context` or
`context_*` the coordinates of the context (needed for MMD and Wasserstein), every other column the payoffs of one
decision. It is text in UTF-8, with or without a byte order mark, as spreadsheets write it: separated by commas, or by
semicolons or tabs, where numbers may have a decimal comma. A NetCDF file has variables `payoffs` (decision, context),
`reference` (context) and, where needed, `contexts` (context, context_dim) or (context).
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bocu.core.errors import BocuError, faults_at, shown, shown_key
from bocu.core.io.files import regular_file
from bocu.core.io.yaml_files import decoded
from bocu.robust.ambiguity.base import WorstCase
from bocu.robust.ambiguity.checks import Floats, floats

_NAMED = 20  # columns that an error names
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?(nan|inf|infinity)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PayoffTable:
    """Contents of a file: payoffs `(decisions, n)` with names, reference `(n,)`, contexts `(n, l)` or `None`."""

    decisions: list[str]
    payoffs: Floats
    reference: Floats
    contexts: Floats | None


def read_table(path: Path) -> PayoffTable:
    """Read a `.csv` or `.nc` file; what is missing or not a number raises `BocuError` with its place."""
    regular_file(path)
    readers = {".csv": _read_csv, ".nc": _read_netcdf}
    if path.suffix not in readers:
        raise BocuError(f"{path}: the name must end in {' or '.join(readers)}")
    return readers[path.suffix](path)


def as_csv(table: PayoffTable, answer: WorstCase) -> str:
    """Lines `decision,value,slope,q1,...,qn`, one a decision, numbers with all their digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["decision", "value", "slope", *(f"q{i + 1}" for i in range(table.payoffs.shape[1]))])
    for name, value, slope, q in zip(table.decisions, answer.value, answer.slope, answer.distribution, strict=True):
        writer.writerow([name, *(repr(float(number) + 0.0) for number in (value, slope, *q))])
    return text.getvalue()


def _read_csv(path: Path) -> PayoffTable:
    with faults_at(f"{path}: "):
        text = decoded(path.read_bytes())
    separator = _separator(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise BocuError(f"{path}, line {reader.line_num}: not CSV: {error}") from None
    if len(rows) < 2:
        raise BocuError(f"{path}: there must be a header and one row a context")
    header = [name.strip() for name in rows[0][1]]
    if "reference" not in header:
        names = ", ".join(map(shown_key, header[:_NAMED]))
        raise BocuError(f"{path}: there is no column 'reference' among {names}{' ...' if header[_NAMED:] else ''}")
    twice = next((name for place, name in enumerate(header) if name in header[:place]), None)
    if twice is not None:
        raise BocuError(f"{path}: the column {twice!r} stands twice; every column needs a name of its own")
    numbers = np.array([_numbers(path, line, row, header, separator) for line, row in rows[1:]])
    coordinates = [i for i, name in enumerate(header) if name == "context" or name.startswith("context_")]
    decisions = [i for i, name in enumerate(header) if i not in coordinates and name != "reference"]
    if not decisions:
        raise BocuError(f"{path}: there is no column of payoffs beside {', '.join(header)}")
    return PayoffTable(
        decisions=[header[i] for i in decisions],
        payoffs=np.ascontiguousarray(numbers[:, decisions].T),
        reference=numbers[:, header.index("reference")],
        contexts=numbers[:, coordinates] if coordinates else None,
    )


def _separator(text: str) -> str:
    """Return what the header is separated by: a semicolon or a tab where it holds one, else a comma."""
    header = text.lstrip("\r\n").partition("\n")[0]
    return next((separator for separator in ";\t" if separator in header), ",")


def _numbers(path: Path, line: int, row: list[str], header: list[str], separator: str) -> list[float]:
    if len(row) != len(header):
        raise BocuError(f"{path}, line {line}: {len(row)} cells where the header has {len(header)}")
    values = []
    for name, cell in zip(header, row, strict=True):
        written = cell if separator == "," else cell.replace(",", ".")
        if not _NUMBER.fullmatch(written.strip()):
            raise BocuError(f"{path}, line {line}, column {shown_key(name)}: {shown(cell)} is not a number")
        values.append(float(written))
    return values


def _read_netcdf(path: Path) -> PayoffTable:
    from netCDF4 import Dataset

    try:
        opened = Dataset(path)
    except OSError as error:
        raise BocuError(f"{path}: not a readable NetCDF file ({error.strerror or error})") from None
    with opened as file:
        missing = [name for name in ("payoffs", "reference") if name not in file.variables]
        if missing:
            raise BocuError(f"{path}: there is no variable {missing[0]!r} among {', '.join(file.variables)}")
        payoffs = np.atleast_2d(_variable(path, file, "payoffs"))
        contexts = _variable(path, file, "contexts") if "contexts" in file.variables else None
        return PayoffTable(
            decisions=[str(i) for i in range(len(payoffs))],
            payoffs=payoffs,
            reference=_variable(path, file, "reference"),
            contexts=contexts[:, None] if contexts is not None and contexts.ndim == 1 else contexts,
        )


def _variable(path: Path, file: Any, name: str) -> Floats:
    try:
        values = np.ma.asarray(file.variables[name][:])
        return floats(name, np.ma.filled(values.astype(np.float64) if values.dtype.kind in "iuf" else values, np.nan))
    except BocuError as error:
        raise BocuError(f"{path}: {error}") from None
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise BocuError(f"{path}: variable '{name}' cannot be read: {error}") from None
