"""Fitting a candidate prior of temperatures by GPyTorch: a kernel over where sensors are, times one of time.

The kernel is ``variance * k(position, position') * exp(-|t - t'| / scale)``, that of Bogunovic et al. (2016) with a
forgetting rate of ``1 - exp(-2 / scale)`` a step. It is an alternative to the empirical covariance of
`bocu.problems.priors.fit`: a handful of numbers in place of one for each pair of sensors.
"""

import os
from collections.abc import Mapping

import numpy as np
import xarray as xr
from pydantic import Field

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf, write_netcdf
from bocu.core.kernels import kernel_named, squared_distance
from bocu.core.parameters import validate
from bocu.problems.priors.gaussian_process import KernelFit, Maximum, best_maximum
from bocu.problems.priors.grids import prior_dataset
from bocu.problems.priors.observations import TrainingRows


class SensorFit(KernelFit):
    """What one candidate is fitted to."""

    day: str = Field(description="the day it is fitted to")
    days: tuple[str, ...] = Field(description="days that sensors have to be complete on, the target among them")


def fit_prior(specification: Mapping[str, object], inputs: Mapping[str, str], output: str | os.PathLike[str]) -> None:
    """Fit one candidate prior and store it as `bocu.problems.priors.fit.read_prior` reads it, with its evidence.

    The readings are those of all sensors at steps that are evenly spread over the day.

    Args:
        specification: the fields of `SensorFit`, as plain data.
        inputs: "data" -> the prepared file of temperatures.
        output: NetCDF file to write.

    Raises:
        BocuError: a field is wrong, the prepared file is unusable or lacks a day, or positions are not known.
    """
    from bocu.problems.data.intel import load_days

    settings = validate(SensorFit, specification, "prior specification: ")
    loaded = load_days(inputs["data"], settings.days)
    positions = _positions(inputs["data"], loaded.sensors)
    day = loaded.temperatures[settings.days.index(settings.day)]
    count = max(2, min(day.shape[1], settings.points // len(positions)))
    steps = np.unique(np.linspace(0, day.shape[1] - 1, count).round().astype(int))
    time = np.tile(steps / (day.shape[1] - 1), len(positions))
    rows = TrainingRows(np.column_stack([np.repeat(positions, len(steps), axis=0), time]), day[:, steps].ravel())
    if not np.ptp(rows.values) > 0.0:
        raise BocuError(f"{inputs['data']}: day '{settings.day}': temperatures do not vary; no kernel can be fitted")
    found = best_maximum(
        rows, settings.kernel, ard=settings.ard, noise=settings.noise, starts=settings.starts, timed=True
    )
    scale = found.lengthscales[2] * (day.shape[1] - 1)  # of time, in steps
    family, scales = kernel_named(settings.kernel), tuple(found.lengthscales[:2].tolist())
    covariance = found.variance * family.value(squared_distance(positions, positions, scales))
    forgetting = -np.expm1(-2.0 / scale)
    origin = read_netcdf(inputs["data"]).attrs
    write_netcdf(
        _dataset(settings, found, loaded.sensors, covariance, float(forgetting), len(rows.values), origin), output
    )


def _positions(path: str, sensors: np.ndarray) -> np.ndarray:
    """Return positions in lengths of the lab's longer side, shape (sensors, 2)."""
    prepared = read_netcdf(path)
    metres = np.column_stack([prepared["x"].values, prepared["y"].values])[np.isin(prepared["sensor"].values, sensors)]
    if not np.isfinite(metres).all():
        raise BocuError(f"{path}: positions of the sensors are not known; allowed: the record log")
    side = np.ptp(metres, axis=0).max()
    return (metres - metres.min(axis=0)) / (side if side > 0.0 else 1.0)


def _dataset(
    settings: SensorFit,
    found: Maximum,
    sensors: np.ndarray,
    covariance: np.ndarray,
    forgetting: float,
    readings: int,
    origin: Mapping[str, object],
) -> xr.Dataset:
    celsius = "degree_Celsius"
    return prior_dataset(
        settings.label,
        {
            "mean": ("sensor", np.full(len(sensors), found.mean), "prior mean of the temperature", celsius),
            "covariance": (
                ("sensor", "sensor_other"),
                covariance,
                "covariance of the sensors at one time",
                f"{celsius}^2",
            ),
            "forgetting": ((), forgetting, "forgetting rate of a step"),
            "lengthscale": ("input", found.lengthscales, "length-scales, in sides of the lab and days"),
            "noise": ((), found.noise, "standard deviation of a reading", celsius),
            "log_likelihood": ((), found.log_likelihood, "evidence: log marginal likelihood of the readings", "nat"),
            "log_likelihood_of_starts": (
                "start",
                found.heights,
                "log marginal likelihood that each start led to",
                "nat",
            ),
            "readings": ((), readings, "readings that it was fitted to"),
            "at_bound": ((), np.int8(found.at_bound), "whether a parameter is at a bound of the search"),
        },
        {
            "sensor": ("sensor", sensors, "sensor"),
            "sensor_other": ("sensor_other", sensors, "other sensor"),
            "input": ("input", ["x", "y", "time"], "name of the coordinate"),
            "start": ("start", np.arange(settings.starts), "start of the fit"),
        },
        {"day": settings.day, "kernel": settings.kernel},
        origin,
    )
