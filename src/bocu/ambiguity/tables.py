"""Payoffs and a reference from a CSV or NetCDF file, and worst cases as a table.

A CSV file has one row a context and a header. The column `reference` holds the probabilities, columns `context` or
`context_*` the coordinates of the context (needed for MMD and Wasserstein), every other column the payoffs of one
decision. A NetCDF file has variables `payoffs` (decision, context), `reference` (context) and, where needed, `contexts`
(context, context_dim) or (context).
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bocu.ambiguity.ball import WorstCase
from bocu.ambiguity.checks import Floats
from bocu.errors import BocuError


@dataclass(frozen=True, slots=True)
class Table:
    """Contents of a file: payoffs `(decisions, n)` with names, reference `(n,)`, contexts `(n, l)` or `None`."""

    decisions: list[str]
    payoffs: Floats
    reference: Floats
    contexts: Floats | None


def read_table(path: Path) -> Table:
    """Read a `.csv` or `.nc` file; what is missing or not a number raises `BocuError` with its place."""
    if not path.is_file():
        raise BocuError(f"{path}: no such file")
    readers = {".csv": _read_csv, ".nc": _read_netcdf}
    if path.suffix not in readers:
        raise BocuError(f"{path}: the name must end in {' or '.join(readers)}")
    return readers[path.suffix](path)


def as_csv(table: Table, answer: WorstCase) -> str:
    """Lines `decision,value,slope,q1,...,qn`, one a decision, numbers with all their digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["decision", "value", "slope", *(f"q{i + 1}" for i in range(table.payoffs.shape[1]))])
    for name, value, slope, q in zip(table.decisions, answer.value, answer.slope, answer.distribution, strict=True):
        writer.writerow([name, *(repr(float(number) + 0.0) for number in (value, slope, *q))])
    return text.getvalue()


def _read_csv(path: Path) -> Table:
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row]
    if len(rows) < 2:
        raise BocuError(f"{path}: there must be a header and one row a context")
    header = [name.strip() for name in rows[0]]
    if "reference" not in header:
        raise BocuError(f"{path}: there is no column 'reference' among {', '.join(header)}")
    numbers = np.array([_numbers(path, line, row, header) for line, row in enumerate(rows[1:], start=2)])
    coordinates = [i for i, name in enumerate(header) if name == "context" or name.startswith("context_")]
    decisions = [i for i, name in enumerate(header) if i not in coordinates and name != "reference"]
    if not decisions:
        raise BocuError(f"{path}: there is no column of payoffs beside {', '.join(header)}")
    return Table(
        decisions=[header[i] for i in decisions],
        payoffs=np.ascontiguousarray(numbers[:, decisions].T),
        reference=numbers[:, header.index("reference")],
        contexts=numbers[:, coordinates] if coordinates else None,
    )


def _numbers(path: Path, line: int, row: list[str], header: list[str]) -> list[float]:
    if len(row) != len(header):
        raise BocuError(f"{path}, line {line}: {len(row)} cells where the header has {len(header)}")
    values = []
    for name, cell in zip(header, row, strict=True):
        try:
            values.append(float(cell))
        except ValueError:
            raise BocuError(f"{path}, line {line}, column {name}: {cell!r} is not a number") from None
    return values


def _read_netcdf(path: Path) -> Table:
    from netCDF4 import Dataset

    with Dataset(path) as file:
        missing = [name for name in ("payoffs", "reference") if name not in file.variables]
        if missing:
            raise BocuError(f"{path}: there is no variable {missing[0]!r} among {', '.join(file.variables)}")
        payoffs = np.atleast_2d(_variable(file, "payoffs"))
        contexts = _variable(file, "contexts") if "contexts" in file.variables else None
        return Table(
            decisions=[str(i) for i in range(len(payoffs))],
            payoffs=payoffs,
            reference=_variable(file, "reference"),
            contexts=contexts[:, None] if contexts is not None and contexts.ndim == 1 else contexts,
        )


def _variable(file: Any, name: str) -> Floats:
    return np.ma.filled(np.ma.asarray(file.variables[name][:], dtype=np.float64), np.nan)
