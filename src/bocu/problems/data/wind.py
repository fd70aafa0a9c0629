"""Hourly German wind power as a fraction of capacity, from the OPSD table or from levels over 49 of Tay et al. (2022).

A prepared file holds `capacity_factor` (time), units 1, on an hourly axis without holes: hours without a value are NaN.
The levels come with the reference distribution that was used with them, `reference_probability` (level).
"""

import calendar
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from bocu.core.errors import BocuError
from bocu.core.io.files import write_netcdf
from bocu.core.io.provenance import SIMULATED_LABEL
from bocu.problems.data.prepare import attributes, variable
from bocu.problems.data.raw_files import has_column, read_columns

TIME, PROFILE = "utc_timestamp", "DE_wind_profile"
GENERATION, CAPACITY = "DE_wind_generation_actual", "DE_wind_capacity"
LEVELS, REFERENCE = "de_wind_2013_2014_levels.csv", "de_wind_reference_distribution.csv"
LARGEST_LEVEL = 49
GAPS_NAMED = 50  # at most so many gaps are written out in the attributes


def prepare_wind(
    raw: Sequence[str | os.PathLike[str]], output: str | os.PathLike[str], origin: Mapping[str, str]
) -> None:
    """Turn one record of the wind data set into an hourly capacity factor.

    Raises:
        BocuError: a column is missing, a cell is no number, or times are not ascending hours; names file, line, column.
    """
    files = {Path(path).name: Path(path) for path in raw}
    if LEVELS in files:
        dataset = _from_levels(files[LEVELS], files[REFERENCE], origin)
    else:
        (path,) = files.values()
        dataset = _from_profile(path, origin)
    write_netcdf(dataset, output)


def _from_profile(path: Path, origin: Mapping[str, str]) -> xr.Dataset:
    """The OPSD table: the profile as published, else generation / capacity where only those are given."""
    table = read_columns(path, [TIME], [PROFILE, GENERATION, CAPACITY])
    times = _hours(path, table[TIME])
    ratio = table[GENERATION] / table[CAPACITY].where(table[CAPACITY] > 0)
    computed = table[PROFILE].isna() & ratio.notna()
    series = pd.Series(table[PROFILE].fillna(ratio).to_numpy(), index=times)
    known = series.notna()
    if not known.any():
        raise BocuError(f"{path}: column '{PROFILE}' holds no value; allowed: numbers from 0 on")
    if (series < 0).any():
        raise BocuError(
            f"{path}, line {int((series < 0).argmax()) + 2}, column '{PROFILE}': found {series[series < 0].iloc[0]:g}; "
            "allowed: numbers from 0 on"
        )
    covered = series[known.idxmax() : known[::-1].idxmax()]
    hourly = covered.reindex(pd.date_range(covered.index[0], covered.index[-1], freq="h"))
    above = hourly > 1
    dropped = {
        "hours_before_the_first_value": int(known.argmax()),
        "hours_after_the_last_value": int(known[::-1].argmax()),
        "profile_above_1_clipped": int(above.sum()),
        "profile_computed_from_generation_and_capacity": int(computed.sum()),
        "hours_without_a_value": int(hourly.isna().sum()),
    }
    label = SIMULATED_LABEL if has_column(path, "simulated") else ""
    notes = ["Capacity factor is generation / capacity; above 1 it is clipped to 1.", _gaps_told(hourly)]
    return _dataset(hourly.clip(upper=1), attributes(origin, [path], dropped, notes, label))


def _from_levels(path: Path, reference: Path, origin: Mapping[str, str]) -> xr.Dataset:
    table = read_columns(path, [], ["year", "month", "hour_of_month", "level_of_49"])
    if table.isna().any(axis=None):
        row = int(table.isna().any(axis=1).argmax())
        raise BocuError(f"{path}, line {row + 2}: found an empty cell; allowed: four numbers")
    _refuse_levels(path, table["level_of_49"].to_numpy())
    counted = table.groupby(["year", "month"]).cumcount()
    if (counted != table["hour_of_month"]).any() or not table["month"].isin(range(1, 13)).all():
        row = int(((counted != table["hour_of_month"]) | ~table["month"].isin(range(1, 13))).argmax())
        found = ", ".join(f"{table.at[row, key]:g}" for key in ("year", "month", "hour_of_month"))
        raise BocuError(f"{path}, line {row + 2}: found year, month, hour {found}; allowed: hours of a month from 0 on")
    months, repeats, short = [], 0, []
    previous = None
    for (year, month), rows in table.groupby(["year", "month"], sort=True):
        values = rows["level_of_49"].to_numpy() / LARGEST_LEVEL
        hours = 24 * calendar.monthrange(int(year), int(month))[1]
        if len(values) != hours and values[0] == previous:
            values, repeats = values[1:], repeats + 1
        if len(values) > hours:
            raise BocuError(f"{path}: {int(year)}-{int(month):02d} has {len(values)} hours; allowed: at most {hours}")
        if len(values) < hours:
            short.append(f"{int(year)}-{int(month):02d} ({hours - len(values)})")
        start = pd.Timestamp(int(year), int(month), 1)
        months.append(pd.Series(values, index=pd.date_range(start, periods=len(values), freq="h")))
        previous = values[-1]
    joined = pd.concat(months)
    end = joined.index[-1] + pd.offsets.MonthEnd(0)
    hourly = joined.reindex(
        pd.date_range(joined.index[0].normalize(), end.normalize() + pd.Timedelta(hours=23), freq="h")
    )
    dropped = {"repeated_first_row_of_a_month": repeats, "hours_without_a_value": int(hourly.isna().sum())}
    notes = [
        "Power normalised to [0, 1] and rounded to 49ths by Tay et al. (2022).",
        "The first row of a month that repeats the last of the month before is dropped.",
        f"Months with fewer rows than hours (hours lacking): {', '.join(short) or 'none'}; which hours lack is not "
        "known, and the last of the month are marked as missing.",
        _gaps_told(hourly),
    ]
    dataset = _dataset(hourly, attributes(origin, [path, reference], dropped, notes))
    levels, probability, total = read_reference(reference)
    dataset.attrs["reference_sum_as_published"] = total
    return dataset.assign(
        reference_probability=variable("level", probability, "reference distribution, normalised")
    ).assign_coords(level=variable("level", levels / LARGEST_LEVEL, "capacity factor of a level"))


def read_reference(path: str | os.PathLike[str]) -> tuple[np.ndarray, np.ndarray, float]:
    """Levels (n,), their probabilities (n,) normalised to 1, and the sum before.

    Raises:
        BocuError: a cell is no number, a probability is negative, or they sum to something far from 1.
    """
    table = read_columns(path, [], ["level_of_49", "reference_probability"])
    level, weight = table["level_of_49"].to_numpy(), table["reference_probability"].to_numpy()
    _refuse_levels(path, level)
    total = float(weight.sum())
    if np.isnan(weight).any() or (weight < 0).any() or abs(total - 1) > 0.01:
        raise BocuError(f"{path}: probabilities sum to {total:g}; allowed: numbers from 0 on that sum to 1 within 0.01")
    return level, weight / total, total


def _refuse_levels(path: str | os.PathLike[str], level: np.ndarray) -> None:
    bad = ~((level >= 0) & (level <= LARGEST_LEVEL))
    if bad.any():
        row = int(bad.argmax())
        raise BocuError(
            f"{path}, line {row + 2}, column 'level_of_49': found {level[row]:g}; allowed: 0 to {LARGEST_LEVEL}"
        )


def _hours(path: Path, text: pd.Series) -> pd.DatetimeIndex:
    times = pd.to_datetime(text, format="%Y-%m-%dT%H:%M:%SZ", errors="coerce")
    if times.isna().any():
        row = int(times.isna().argmax())
        raise BocuError(f"{path}, line {row + 2}, column '{TIME}': found '{text[row]}'; allowed: yyyy-mm-ddThh:mm:ssZ")
    index = pd.DatetimeIndex(times)
    wrong = np.append(False, np.diff(index) <= np.timedelta64(0)) | (index != index.floor("h"))
    if wrong.any():
        row = int(wrong.argmax())
        raise BocuError(
            f"{path}, line {row + 2}, column '{TIME}': found '{text[row]}'; allowed: whole hours, ascending"
        )
    return index


def _gaps_told(hourly: pd.Series) -> str:
    missing = hourly.isna().to_numpy()
    edges = np.flatnonzero(np.diff(np.concatenate([[False], missing, [False]])))
    gaps = [
        f"{hourly.index[first]:%Y-%m-%dT%H} ({last - first} h)"
        for first, last in zip(edges[::2], edges[1::2], strict=True)
    ]
    more = f" and {len(gaps) - GAPS_NAMED} more" if len(gaps) > GAPS_NAMED else ""
    return f"Gaps, as NaN: {', '.join(gaps[:GAPS_NAMED]) or 'none'}{more}."


def _dataset(hourly: pd.Series, attrs: Mapping[str, str]) -> xr.Dataset:
    start = hourly.index[0]
    factors, hours = hourly.to_numpy(dtype=float), np.arange(len(hourly), dtype=float)
    told = "wind power generated, as a fraction of capacity"
    since = f"hours since {start:%Y-%m-%d %H:%M:%S}"
    return xr.Dataset(
        {"capacity_factor": variable("time", factors, told)},
        {"time": variable("time", hours, "begin of the hour", since)},
        dict(attrs),
    )
