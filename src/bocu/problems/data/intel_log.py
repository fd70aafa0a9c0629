"""The raw log of the Intel Berkeley Research Lab: reading, cleaning, resampling to sensors x time.

Source: https://db.csail.mit.edu/labdata/labdata.html. `data.txt.gz` has no header; its columns, separated by spaces,
are date, time, epoch, mote, temperature (degrees Celsius), humidity, light, voltage. Some lines are short, some motes
are faulty, and temperatures run away while a battery dies. Nothing is dropped silently: each reason has its count.
"""

import dataclasses
import gzip
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.files import write_netcdf
from bocu.problems.data.gzipped import read_comment
from bocu.problems.data.intel import intel_dataset, read_positions
from bocu.problems.data.provenance import attributes

COLUMNS = ("date", "time", "epoch", "mote", "temperature", "humidity", "light", "voltage")
NUMBERS = COLUMNS[2:]
DAY = 24 * 60  # minutes


@dataclasses.dataclass(frozen=True)
class Cleaning:
    """What counts as a reading of a working mote in an office.

    The published period and the voltage range (2 to 3 V) are those of the data's page; the rest is ours.
    """

    first_day: str = "2004-02-28"
    last_day: str = "2004-04-05"
    lowest: float = 0.0  # degrees Celsius
    highest: float = 50.0
    battery: float = 100.0  # above: the reading of a dying battery
    lowest_voltage: float = 2.3  # below, temperatures have begun to run away
    highest_voltage: float = 3.5
    from_median: float = 15.0  # degrees Celsius from the median of all motes in the same interval
    motes_for_median: int = 5
    coverage: float = 0.5  # share of a mote's intervals of a day that must hold a reading before its gaps are filled


def prepare_log(
    raw: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    origin: Mapping[str, str],
    minutes: int,
    cleaning: Cleaning | None = None,
) -> None:
    """Turn `data.txt.gz` and `mote_locs.txt` into mean temperatures (sensor, time) every `minutes`.

    Gaps are filled within a day, linearly in time and at the ends of a day by the nearest value, where the mote has
    readings in at least half of the day's intervals; `filled` says where. Other gaps stay NaN.

    Raises:
        BocuError: a file is corrupt or truncated, a line has letters where numbers belong or too many fields, or no
            reading is left.
    """
    rules = cleaning or Cleaning()
    files = {Path(path).name: Path(path) for path in raw}
    log, positions = files["data.txt.gz"], read_positions(files["mote_locs.txt"])
    readings, dropped = clean(read_log(log), positions.index.to_numpy(), rules)
    if readings.empty:
        raise BocuError(f"{log}: no reading is left after cleaning: {_told(dropped)}")
    temperature, count, days = resample(readings, positions.index.to_numpy(), minutes)
    far = _far_from_median(temperature, rules)
    temperature[far], count[far] = np.nan, 0
    dropped["interval_far_from_the_median_of_all_motes"] = int(far.sum())
    temperature, filled = fill_gaps(temperature, DAY // minutes, rules.coverage)
    whole_days = ~np.isnan(temperature).reshape(len(positions), len(days), -1).any(axis=2)
    never = [str(mote) for mote, row in zip(positions.index, whole_days, strict=True) if not row.any()]
    notes = [
        f"Mean temperature of the readings in each interval of {minutes} minutes; {len(readings)} readings kept.",
        f"Dropped: lines of fewer than {len(COLUMNS)} fields; motes without a position; times outside the published "
        f"period {rules.first_day} to {rules.last_day}; repeated readings of one mote at one time; temperatures above "
        f"{rules.battery:g} degrees Celsius (a dying battery) or outside {rules.lowest:g} to {rules.highest:g}; "
        f"voltages outside {rules.lowest_voltage:g} to {rules.highest_voltage:g} V, where temperatures run away; "
        f"intervals more than {rules.from_median:g} degrees Celsius from the median of all motes.",
        f"Gaps are filled within a day, linearly in time, at its ends by the nearest value, where a mote has readings "
        f"in at least {rules.coverage:.0%} of the intervals of that day; 'filled' marks them; other gaps are NaN.",
        f"Motes without any complete day, faulty or silent: {', '.join(never) or 'none'}.",
    ]
    attrs = attributes(origin, [log, files["mote_locs.txt"]], dropped, notes, read_comment(log))
    dataset = intel_dataset(temperature, filled, positions, days, minutes, f"minutes since {days[0]} 00:00:00", attrs)
    dataset["readings"] = xr.DataArray(
        count.astype(np.int32), dims=("sensor", "time"), attrs={"long_name": "readings averaged", "units": "1"}
    )
    write_netcdf(dataset, output)


def read_log(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read the log: the numbers, NaN where a short line lacks them, and `stamp`, its time where the line is whole.

    Raises:
        BocuError: not gzip, truncated, letters where numbers belong, a date that is none, more than eight fields; names
            file, line and column.
    """
    types: Any = dict.fromkeys(NUMBERS, np.float64) | {"date": str, "time": str}
    try:
        table = pd.read_csv(
            path,
            sep=r"\s+",
            header=None,
            names=list(COLUMNS),
            dtype=types,
            quoting=3,
            engine="c",
            compression="gzip",
            keep_default_na=False,
            na_values=[""],
            skip_blank_lines=False,  # so that rows and lines count alike
        )
    except (EOFError, OSError, zlib.error) as error:
        raise BrokenFileError(path, f"corrupt or truncated gzip file ({error})") from error
    except (ValueError, pd.errors.ParserError) as error:
        raise BocuError(_first_bad_line(path) or f"{path}: {error}") from error
    if table.empty:
        raise BocuError(f"{path}: holds no line; allowed: lines of {' '.join(COLUMNS)}")
    if not isinstance(table.index, pd.RangeIndex):  # extra fields in the very first line become an index
        raise BocuError(_first_bad_line(path) or f"{path}: lines of more than {len(COLUMNS)} fields")
    whole = table["voltage"].notna()
    stamps = pd.to_datetime(table["date"][whole] + " " + table["time"][whole], format="ISO8601", errors="coerce")
    if stamps.isna().any():
        row = int(stamps.index[stamps.isna()][0])
        found = f"{table.at[row, 'date']} {table.at[row, 'time']}"
        raise BocuError(f"{path}, line {row + 1}: found date and time '{found}'; allowed: yyyy-mm-dd hh:mm:ss.ffffff")
    return table[list(NUMBERS)].assign(stamp=stamps)


def clean(table: pd.DataFrame, motes: np.ndarray, rules: Cleaning) -> tuple[pd.DataFrame, dict[str, int]]:
    """Keep readings of working motes; returns columns `stamp`, `mote`, `temperature` and reason -> rows dropped."""
    dropped: dict[str, int] = {}

    def keep(rows: pd.DataFrame, good: pd.Series | np.ndarray, reason: str) -> pd.DataFrame:
        dropped[reason] = int((~good).sum())
        return rows[good]

    rows = keep(table, table["voltage"].notna(), "short_line")
    rows = keep(rows, np.isin(rows["mote"], motes), "mote_without_a_position")
    end = pd.Timestamp(rules.last_day) + pd.Timedelta(days=1)
    rows = keep(rows, (rows["stamp"] >= pd.Timestamp(rules.first_day)) & (rows["stamp"] < end), "outside_the_period")
    rows = keep(rows, ~rows.duplicated(["mote", "stamp"]), "repeated_reading")
    rows = keep(rows, rows["temperature"] <= rules.battery, "temperature_of_a_dying_battery")
    rows = keep(rows, rows["temperature"].between(rules.lowest, rules.highest), "temperature_impossible_in_an_office")
    rows = keep(rows, rows["voltage"].between(rules.lowest_voltage, rules.highest_voltage), "implausible_voltage")
    return rows[["stamp", "mote", "temperature"]], dropped


def resample(readings: pd.DataFrame, motes: np.ndarray, minutes: int) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Mean temperature (motes, steps), readings averaged (motes, steps), and the days covered, each in full."""
    first, last = readings["stamp"].min().normalize(), readings["stamp"].max().normalize()
    days = [str(day.date()) for day in pd.date_range(first, last, freq="D")]
    steps = len(days) * DAY // minutes
    step = ((readings["stamp"] - first) // pd.Timedelta(minutes=minutes)).to_numpy()
    cell = np.searchsorted(motes, readings["mote"].to_numpy()) * steps + step
    size = len(motes) * steps
    count = np.bincount(cell, minlength=size)
    total = np.bincount(cell, weights=readings["temperature"].to_numpy(), minlength=size)
    mean = np.divide(total, count, out=np.full(size, np.nan), where=count > 0)
    return mean.reshape(len(motes), steps), count.reshape(len(motes), steps), days


def fill_gaps(temperature: np.ndarray, per_day: int, coverage: float) -> tuple[np.ndarray, np.ndarray]:
    """Fill gaps of (sensors, steps) within each day; returns the temperatures and where they were filled.

    A sensor's day is filled where at least `coverage` of its `per_day` steps hold a value: linearly between values, by
    the nearest one before the first and after the last.
    """
    result = temperature.copy()
    grid = np.arange(per_day)
    by_day = result.reshape(result.shape[0], -1, per_day)
    known = ~np.isnan(by_day)
    share = known.mean(axis=2)
    for sensor, day in zip(*np.nonzero((share >= coverage) & (share < 1)), strict=True):
        here, row = known[sensor, day], by_day[sensor, day]
        row[~here] = np.interp(grid[~here], grid[here], row[here])
    return result, np.isnan(temperature) & ~np.isnan(result)


def _far_from_median(temperature: np.ndarray, rules: Cleaning) -> np.ndarray:
    known = ~np.isnan(temperature)
    enough = known.sum(axis=0) >= rules.motes_for_median
    median = np.full(temperature.shape[1], np.nan)
    median[enough] = np.nanmedian(temperature[:, enough], axis=0)
    return np.abs(temperature - median) > rules.from_median


def _told(dropped: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} {count}" for reason, count in dropped.items() if count)


def _lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, list[str]]]:
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as stream:
        for number, line in enumerate(stream, start=1):
            yield number, line.split()


def _first_bad_line(path: str | os.PathLike[str]) -> str | None:
    """Say which line the quick reader stumbled over; a slow walk, taken only once something is wrong."""
    for number, fields in _lines(path):
        if len(fields) > len(COLUMNS):
            return f"{path}, line {number}: found {len(fields)} fields; allowed: at most {len(COLUMNS)}"
        for column, text in zip(NUMBERS, fields[2:], strict=False):
            try:
                value = float(text)
            except ValueError:
                value = np.nan
            if not np.isfinite(value):
                return f"{path}, line {number}, column '{column}': found '{text}'; allowed: a number"
    return None
