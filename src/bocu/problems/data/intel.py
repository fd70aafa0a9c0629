"""Temperatures of the Intel lab as prepared: their layout, their positions, and the days that a problem asks for.

A prepared file holds `temperature` (sensor, time) in degrees Celsius over whole days, `filled` (sensor, time), the
coordinate `day` along time (a date, or 1 to 5 in the carried matrices), and `x`, `y` in metres.
"""

import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf

LOG = logging.getLogger(__name__)


class Days(NamedTuple):
    """Temperatures of the sensors that are complete on all the days asked for.

    Attributes:
        temperatures: (day, sensor, step), degrees Celsius, no NaN.
        sensors: (sensor,) mote numbers.
        step_seconds: seconds from one step to the next.
        labels: the days, in the order asked for.
    """

    temperatures: np.ndarray
    sensors: np.ndarray
    step_seconds: float
    labels: list[str]


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
    steps = 24 * 60 // minutes
    time = np.arange(temperature.shape[1]) * float(minutes)
    return xr.Dataset(
        {
            "temperature": (
                ("sensor", "time"),
                temperature,
                {"long_name": f"mean temperature over {minutes} minutes", "units": "degree_Celsius"},
            ),
            "filled": (
                ("sensor", "time"),
                filled.astype(np.int8),
                {"long_name": "1 where the temperature was filled in, else 0", "units": "1"},
            ),
        },
        coords={
            "sensor": ("sensor", positions.index.to_numpy(dtype=np.int32), {"long_name": "mote number", "units": "1"}),
            "time": ("time", time, {"long_name": f"begin of each {minutes} minutes, local time", "units": time_units}),
            "day": ("time", np.repeat(list(days), steps), {"long_name": "day", "units": "1"}),
            "x": ("sensor", positions["x"].to_numpy(float), {"long_name": "position along x", "units": "m"}),
            "y": ("sensor", positions["y"].to_numpy(float), {"long_name": "position along y", "units": "m"}),
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
