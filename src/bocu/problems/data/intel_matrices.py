"""The five days of Intel lab temperatures that are carried as matrices: 50 sensors, every 30 minutes.

Rows are sensors, columns half-hours, no header: three days, then two. Neither the dates nor the mote numbers were
published with them, so days are called 1 to 5, sensors 1 to 50 are rows, and positions are not known.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from bocu.core.errors import BocuError
from bocu.core.io.files import write_netcdf
from bocu.problems.data.intel import intel_dataset
from bocu.problems.data.provenance import attributes

MINUTES = 30
PER_DAY = 24 * 60 // MINUTES
DAYS = {"intelTemperatureTrain.csv": 3, "intelTemperatureTest.csv": 2}


def prepare_matrices(
    raw: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    origin: Mapping[str, str],
    minutes: int = MINUTES,
) -> None:
    """Join the two matrices into temperatures (sensor, time) with day labels 1 to 5.

    Raises:
        BocuError: another interval than that of the matrices is asked for, a cell is not a number, or a matrix does
            not have whole days or the same sensors as the other.
    """
    if minutes != MINUTES:
        raise BocuError(f"temperatures as matrices: interval {minutes} min; allowed: {MINUTES}")
    files = {Path(path).name: Path(path) for path in raw}
    parts = {name: read_matrix(files[name], days) for name, days in DAYS.items()}
    rows = {name: len(matrix) for name, matrix in parts.items()}
    if len(set(rows.values())) > 1:
        told = " and ".join(f"{count} in {name}" for name, count in rows.items())
        raise BocuError(f"{files['intelTemperatureTest.csv']}: found {told} sensors; allowed: the same number in both")
    temperature = np.hstack(list(parts.values()))
    sensors = np.arange(1, temperature.shape[0] + 1)
    positions = pd.DataFrame({"x": np.nan, "y": np.nan}, index=sensors)
    days = [str(day) for day in range(1, sum(DAYS.values()) + 1)]
    notes = [
        "Resampled to 30 minutes by others; nothing was dropped or filled here.",
        "Dates and mote numbers were not published with the matrices: days are called 1 to 5, sensors are rows, and "
        "positions are NaN, because which 50 of the 54 motes the rows are is not said.",
    ]
    attrs = attributes(origin, list(files.values()), {}, notes)
    filled = np.zeros(temperature.shape, dtype=np.int8)
    # no calendar date is known, so the unit names no epoch; 'min' keeps readers from turning it into durations
    write_netcdf(intel_dataset(temperature, filled, positions, days, MINUTES, "min", attrs), output)


def read_matrix(path: str | os.PathLike[str], days: int) -> np.ndarray:
    """Read a matrix of numbers (sensors, half-hours of `days`).

    Raises:
        BocuError: names the line and column that is not a number, or the line of another length.
    """
    rows: list[list[float]] = []
    with Path(path).open(encoding="utf-8", errors="replace") as stream:
        for number, line in enumerate(stream, start=1):
            cells = line.strip().split(",")
            if len(cells) != days * PER_DAY:
                raise BocuError(f"{path}, line {number}: found {len(cells)} columns; allowed: {days * PER_DAY}")
            rows.append([_number(path, number, column, cell) for column, cell in enumerate(cells, start=1)])
    if not rows:
        raise BocuError(f"{path}: holds no line; allowed: one line a sensor")
    return np.array(rows)


def _number(path: str | os.PathLike[str], line: int, column: int, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise BocuError(f"{path}, line {line}, column {column}: found '{cell}'; allowed: a number")
    return value
