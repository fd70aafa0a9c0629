"""Reading columns of CSV files by name, so that a wrong cell is told by line and column."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from bocu.core.errors import BocuError


def has_column(path: str | os.PathLike[str], column: str) -> bool:
    """Whether the header of a CSV file has a column of this name."""
    return column in pd.read_csv(path, nrows=0).columns


def read_columns(path: str | os.PathLike[str], texts: Sequence[str], numbers: Sequence[str]) -> pd.DataFrame:
    """Read columns of a CSV file by name; empty cells are NaN.

    Raises:
        BocuError: not a CSV file, a column is missing, or a cell is not a number; names file, line and column.
    """
    wanted = [*texts, *numbers]
    types: Any = dict.fromkeys(wanted, str)
    try:
        header = pd.read_csv(path, nrows=0).columns
        missing = [column for column in wanted if column not in header]
        if missing:
            shown = ", ".join(header[:8]) + (", ..." if len(header) > 8 else "")
            raise BocuError(f"{path}: no column '{missing[0]}'; found {shown}")
        table = pd.read_csv(path, usecols=wanted, dtype=types, keep_default_na=False)
    except (ValueError, OSError) as error:
        raise BocuError(f"{path}: not a readable CSV file ({' '.join(str(error).split())})") from error
    for column in numbers:
        text = table[column].str.strip()
        value = pd.to_numeric(text, errors="coerce")
        bad = (~np.isfinite(value)) & (text != "")
        if bad.any():
            row = int(bad.argmax())
            raise BocuError(f"{path}, line {row + 2}, column '{column}': found '{text[row]}'; allowed: a number")
        table[column] = value
    return table
