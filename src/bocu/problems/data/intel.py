"""Temperatures of the Intel Berkeley Research Lab: the raw log, the matrices that are carried, and what is prepared.

A prepared file holds `temperature` (sensor, time) in degrees Celsius over whole days, `filled` (sensor, time), the
coordinate `day` along time (a date, or 1 to 5 in the carried matrices), and `x`, `y` in metres.

Source: https://db.csail.mit.edu/labdata/labdata.html. `data.txt.gz` has no header; its columns, separated by spaces,
are date, time, epoch, mote, temperature (degrees Celsius), humidity, light, voltage. Some lines are short, some motes
are faulty, and temperatures run away while a battery dies. Nothing is dropped silently: each reason has its count.

The matrices are five days, 50 sensors, every 30 minutes: rows are sensors, columns half-hours, no header: three days,
then two. Neither the dates nor the mote numbers were published with them, so days are called 1 to 5, sensors 1 to 50
are rows, and positions are not known.
"""

import dataclasses
import gzip
import logging
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.files import read_netcdf, write_netcdf
from bocu.problems.data.prepare import attributes, variable
from bocu.problems.data.raw_files import read_comment

LOG = logging.getLogger(__name__)


class Days(NamedTuple):
    """Temperatures of the sensors that are complete on all the days asked for."""

    temperatures: np.ndarray  #: (day, sensor, step), degrees Celsius, no NaN.
    sensors: np.ndarray  #: (sensor,) mote numbers.
    step_seconds: float  #: seconds from one step to the next.
    labels: list[str]  #: the days, in the order asked for.


def load_days(path: str | os.PathLike[str], days: Sequence[str]) -> Days:
    """Temperatures on the days asked for, of the sensors that are complete on all of them.

    Sensors that lack values on a day are left out, and the reason is logged.

    Raises:
        BocuError: the file is missing or corrupt, a day is not in it, no sensor is complete on a day, or none is on all
            of them.
    """
    dataset = read_netcdf(path)
    labels = [str(day) for day in days]
    blocks = _blocks(dataset, path, labels)
    complete = ~np.isnan(blocks).any(axis=2)
    for label, row in zip(labels, complete, strict=True):
        if not row.any():
            raise BocuError(f"{path}: day '{label}' has no sensor without gaps; allowed: days with data")
    kept = complete.all(axis=0)
    if not kept.any():
        fewest = int(np.argmin(complete.sum(axis=1)))
        raise BocuError(
            f"{path}: no sensor is complete on all {len(labels)} days asked for; fewest, {complete[fewest].sum()}, "
            f"are on '{labels[fewest]}'"
        )
    reasons = _reasons(dataset["sensor"].values, labels, complete)
    if reasons:
        told = "; ".join(f"{sensor}: {reason}" for sensor, reason in reasons.items())
        LOG.info("%s: %d of %d sensors left out (%s)", path, len(reasons), kept.size, told)
    return Days(blocks[:, kept], dataset["sensor"].values[kept], float(dataset.attrs["step_seconds"]), labels)


def read_positions(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Positions in metres, columns `x` and `y`, indexed by mote in ascending order; # begins a comment.

    Raises:
        BocuError: a line is not three numbers, or a mote comes twice.
    """
    rows: dict[int, tuple[float, float]] = {}
    with Path(path).open(encoding="utf-8", errors="replace") as stream:
        for number, line in enumerate(stream, start=1):
            fields = line.split()
            if not fields or fields[0].startswith("#"):
                continue
            try:
                mote, x, y = int(fields[0]), *map(float, fields[1:])
            except ValueError as error:
                raise BocuError(f"{path}, line {number}: found '{line.strip()}'; allowed: mote x y") from error
            if mote in rows:
                raise BocuError(f"{path}, line {number}: mote {mote} comes twice; allowed: once")
            rows[mote] = (x, y)
    if not rows:
        raise BocuError(f"{path}: holds no position; allowed: lines of mote x y")
    return pd.DataFrame.from_dict(rows, orient="index", columns=["x", "y"]).sort_index()


def intel_dataset(
    temperature: np.ndarray,
    filled: np.ndarray,
    positions: pd.DataFrame,
    days: Sequence[str],
    minutes: int,
    time_units: str,
    attrs: Mapping[str, str],
) -> xr.Dataset:
    """Lay out temperatures (sensor, time) over whole `days` as a prepared file; time counts from the first midnight.

    `time_units` is `minutes since <date>` where dates are known; readers then see real times.
    """
    both, steps = ("sensor", "time"), 24 * 60 // minutes
    time = np.arange(temperature.shape[1]) * float(minutes)
    return xr.Dataset(
        {
            "temperature": variable(both, temperature, f"mean temperature over {minutes} minutes", "degree_Celsius"),
            "filled": variable(both, filled.astype(np.int8), "1 where the temperature was filled in, else 0"),
        },
        coords={
            "sensor": variable("sensor", positions.index.to_numpy(dtype=np.int32), "mote number"),
            "time": variable("time", time, f"begin of each {minutes} minutes, local time", time_units),
            "day": variable("time", np.repeat(list(days), steps), "day"),
            "x": variable("sensor", positions["x"].to_numpy(float), "position along x", "m"),
            "y": variable("sensor", positions["y"].to_numpy(float), "position along y", "m"),
        },
        attrs={**attrs, "step_seconds": 60.0 * minutes},
    )


def _blocks(dataset: xr.Dataset, path: str | os.PathLike[str], labels: Sequence[str]) -> np.ndarray:
    """Temperatures (day, sensor, step) of the days asked for."""
    if not labels:
        raise BocuError(f"{path}: no day is asked for; allowed: at least one")
    days = dataset["day"].values.astype(str)
    known = list(dict.fromkeys(days))
    for label in labels:
        if label not in known:
            raise BocuError(f"{path}: no data on day '{label}'; allowed: {known[0]} to {known[-1]}")
    temperature = dataset["temperature"].transpose("sensor", "time").values
    return np.stack([temperature[:, days == label] for label in labels])


def _reasons(sensors: np.ndarray, labels: Sequence[str], complete: np.ndarray) -> dict[int, str]:
    reasons = {}
    for column, sensor in enumerate(sensors):
        missing = [label for label, good in zip(labels, complete[:, column], strict=True) if not good]
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            reasons[int(sensor)] = f"too few readings on {missing[0]}{more}"
    return reasons


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
    dataset["readings"] = variable(("sensor", "time"), count.astype(np.int32), "readings averaged")
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
            if not np.isfinite(_number(text)):
                return f"{path}, line {number}, column '{column}': found '{text}'; allowed: a number"
    return None


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
            rows.append([_number(cell) for cell in cells])
            if (wrong := ~np.isfinite(rows[-1])).any():
                at = int(wrong.argmax())
                raise BocuError(f"{path}, line {number}, column {at + 1}: found '{cells[at]}'; allowed: a number")
    if not rows:
        raise BocuError(f"{path}: holds no line; allowed: one line a sensor")
    return np.array(rows)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan
