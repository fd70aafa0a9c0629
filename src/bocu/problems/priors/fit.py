"""Fitting one candidate prior to one day of sensor readings (Ziomek et al. 2025, section 7), and reading it back.

The covariance of the sensors is the empirical one over the steps of the day, each sensor around its own mean of the
day; the forgetting rate maximises the likelihood of the day's readings around the prior mean. The paper says "zero
mean" and leaves the centring open: `centre` decides, and is part of the prior mean, so that payoffs keep their units.

The kernel is ``Cov(i, j) (1 - forgetting) ** (abs(t - s) / 2)`` and every sensor is read at every step, so the
covariance of all readings is a Kronecker product plus noise: two small eigenproblems replace one over sensors x steps.
A singular `Cov` needs no jitter, as the noise keeps every eigenvalue positive.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.files import read_netcdf, write_netcdf
from bocu.core.parameters import Number, Parameters, validate
from bocu.learners.surrogates.time_varying import TimeVaryingPrior
from bocu.problems.priors.grids import prior_dataset

if TYPE_CHECKING:
    import xarray as xr

    from bocu.problems.data.intel import Days


GRID = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 81)])
"""Forgetting rates that are tried before the best one is refined."""


class SeparableLikelihood:
    """Log likelihood of complete readings as a function of the forgetting rate.

    Args:
        values: readings minus prior mean, shape (sensors, steps), in units of the payoff.
        covariance: of the sensors at one time, shape (sensors, sensors), in squared units; may be singular.
        noise: standard deviation of the noise of a reading, in units of the payoff; positive.
    """

    def __init__(self, values: np.ndarray, covariance: np.ndarray, noise: float) -> None:
        eigenvalues, eigenvectors = np.linalg.eigh(covariance)
        self._scales = np.maximum(eigenvalues, 0.0)[:, None]
        self._rotated = eigenvectors.T @ values
        self._lags = np.abs(np.subtract.outer(np.arange(values.shape[1]), np.arange(values.shape[1])))
        self._noise = noise

    def __call__(self, forgetting: float) -> float:
        eigenvalues, eigenvectors = np.linalg.eigh(np.sqrt(1.0 - forgetting) ** self._lags)
        variance = self._scales * np.maximum(eigenvalues, 0.0) + self._noise**2
        whitened = (self._rotated @ eigenvectors) ** 2 / variance
        return float(-0.5 * np.sum(whitened + np.log(2.0 * np.pi * variance)))


@dataclass(frozen=True)
class FittedForgetting:
    """A maximum of the likelihood over the forgetting rate."""

    forgetting: float  #: where it is.
    log_likelihood: float  #: its height, in nats.
    at_bound: bool  #: whether it is at 0 or 1.
    curve: np.ndarray  #: log likelihood at the rates of `GRID`, in nats.


def fit_forgetting(likelihood: SeparableLikelihood) -> FittedForgetting:
    """Find the most likely forgetting rate in [0, 1]: the best of a grid, refined between its neighbours."""
    from scipy.optimize import minimize_scalar

    curve = np.array([likelihood(forgetting) for forgetting in GRID])
    best = int(np.argmax(curve))
    lower, upper = GRID[max(best - 1, 0)], GRID[min(best + 1, len(GRID) - 1)]
    refined = minimize_scalar(
        lambda forgetting: -likelihood(forgetting),
        bounds=(lower, upper),
        method="bounded",
        options={"xatol": 1e-6 * upper},
    )
    forgetting, height = float(GRID[best]), float(curve[best])
    if -refined.fun > height:
        forgetting, height = float(refined.x), float(-refined.fun)
    return FittedForgetting(forgetting, height, forgetting in (0.0, 1.0), curve)


Centre = Literal["prior-days", "own-day", "own-day-sensors", "own-day-course"]

CENTRES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "prior-days": lambda day, prior_days: np.full(len(day), prior_days.mean()),
    "own-day": lambda day, prior_days: np.full(len(day), day.mean()),
    "own-day-sensors": lambda day, prior_days: day.mean(axis=1),
    "own-day-course": lambda day, prior_days: np.full(len(day), day.mean()),
}
"""Prior mean of every sensor, but for a course over the day, from temperatures of the day (sensor, step) and of all
prior days (day, sensor, step)."""


class PriorSpecification(Parameters):
    """What one prior is fitted to."""

    label: str = Field(description="name of the prior")
    day: str = Field(description="the day it is fitted to")
    prior_days: tuple[str, ...] = Field(min_length=1, description="days of all candidate priors, which centre it")
    target: str = Field(description="the day to be predicted; sensors incomplete on it or a prior day are left out")
    centre: Centre = Field("prior-days", description="what the prior mean is")
    noise: Annotated[Number, Field(gt=0.0)] = Field(description="standard deviation of a reading, degrees Celsius")


def fit_prior(specification: Mapping[str, object], inputs: Mapping[str, str], output: str | os.PathLike[str]) -> None:
    """Fit one prior and store it with its diagnostics.

    Args:
        specification: the fields of `PriorSpecification`, as plain data.
        inputs: "data" -> the prepared file of temperatures.
        output: NetCDF file to write.

    Raises:
        BocuError: a field is wrong; the prepared file is unusable or lacks a day; a day has too few steps, or does not
            vary.
    """
    from bocu.problems.data.intel import load_days

    settings = validate(PriorSpecification, specification, "prior specification: ")
    days = [*settings.prior_days, settings.target]
    loaded = load_days(inputs["data"], days)
    where = f"{inputs['data']}: day '{settings.day}'"
    if settings.day not in days:
        raise BocuError(f"{where} is neither a prior day nor the target; allowed: {', '.join(days)}")
    temperatures = loaded.temperatures[days.index(settings.day)]
    if temperatures.shape[1] < 2:
        raise BocuError(f"{where} has {temperatures.shape[1]} step; at least 2 are wanted")
    course = temperatures.mean(axis=0) - temperatures.mean() if settings.centre == "own-day-course" else None
    covariance = np.atleast_2d(np.cov(temperatures))
    if not covariance.any():
        raise BocuError(f"{where}: temperatures do not vary; no covariance can be fitted")
    mean = CENTRES[settings.centre](temperatures, loaded.temperatures[: len(settings.prior_days)])
    around = temperatures - mean[:, None] - (0.0 if course is None else course)
    fit = fit_forgetting(SeparableLikelihood(around, covariance, settings.noise))
    prior = TimeVaryingPrior(settings.label, mean, covariance, fit.forgetting, course)
    write_netcdf(_dataset(settings, prior, fit, loaded, read_netcdf(inputs["data"]).attrs), output)


def _dataset(
    settings: PriorSpecification,
    prior: TimeVaryingPrior,
    fit: FittedForgetting,
    loaded: "Days",
    origin: Mapping[str, object],
) -> "xr.Dataset":
    celsius, kelvin2 = "degree_Celsius", "degree_Celsius^2"
    eigenvalues = np.linalg.eigvalsh(prior.covariance)
    tolerance = eigenvalues[-1] * prior.arms * np.finfo(float).eps
    observed = np.maximum(eigenvalues, 0.0) + settings.noise**2
    course = (
        {}
        if prior.course is None
        else {"course": ("time", prior.course, "what is added to the prior mean at each step", celsius)}
    )
    return prior_dataset(
        settings.label,
        {
            "mean": ("sensor", prior.mean, "prior mean of the temperature", celsius),
            "covariance": (
                ("sensor", "sensor_other"),
                prior.covariance,
                "covariance of the sensors at one time",
                kelvin2,
            ),
            "forgetting": ((), prior.forgetting, "forgetting rate of a step"),
            "log_likelihood": ((), fit.log_likelihood, "log likelihood of the day at the forgetting rate", "nat"),
            "log_likelihood_curve": ("forgetting_tried", fit.curve, "log likelihood of the day", "nat"),
            "at_bound": ((), np.int8(fit.at_bound), "whether the forgetting rate is 0 or 1, a bound of the search"),
            "rank": ((), int((eigenvalues > tolerance).sum()), "numerical rank of the covariance"),
            "condition_number": ((), observed[-1] / observed[0], "condition number of the covariance plus noise"),
            "scale": ((), np.trace(prior.covariance) / prior.arms, "mean variance of the sensors", kelvin2),
            "noise": ((), settings.noise, "standard deviation of a reading", celsius),
            "steps": ((), loaded.temperatures.shape[2], "steps of the day"),
            "step": ((), loaded.step_seconds, "time from one step to the next", "s"),
            **course,
        },
        {
            "sensor": ("sensor", loaded.sensors, "sensor"),
            "sensor_other": ("sensor_other", loaded.sensors, "other sensor"),
            "forgetting_tried": ("forgetting_tried", GRID, "forgetting rate of a step that was tried"),
        },
        {
            "day": settings.day,
            "target_day": settings.target,
            "prior_days": ", ".join(settings.prior_days),
            "centre": settings.centre,
            "jitter": "none",
        },
        origin,
    )


def read_prior(path: str | os.PathLike[str], sensors: np.ndarray) -> TimeVaryingPrior:
    """Read a prior that `fit_prior` stored.

    Args:
        path: the file.
        sensors: numbers of the sensors that it has to be over, shape (sensors,).

    Raises:
        BocuError: the file is missing or corrupt, is no prior, or is over other sensors.
    """
    stored = read_netcdf(path)
    lacking = [name for name in ("sensor", "mean", "covariance", "forgetting") if name not in stored.variables]
    if lacking or "prior" not in stored.attrs:
        raise BocuError(f"{path}: not a fitted prior: no {', '.join(lacking) or 'attribute prior'}")
    if not np.array_equal(stored["sensor"].values, sensors):
        complete = f"the data have {len(sensors)} complete ones, not the same"
        raise BrokenFileError(path, f"prior over {stored['sensor'].size} sensors, {complete}")
    label, forgetting = str(stored.attrs["prior"]), float(stored["forgetting"])
    course = stored["course"].values if "course" in stored.variables else None
    return TimeVaryingPrior(label, stored["mean"].values, stored["covariance"].values, forgetting, course)


def differing_in_scale_only(priors: Sequence[TimeVaryingPrior], tolerance: float = 0.01) -> list[tuple[str, str]]:
    """Find pairs of priors whose kernels agree but for a factor.

    Elimination cannot tell such priors apart (Ziomek et al. 2025, section 6): a wider prior explains all that a
    narrower one does.

    Args:
        priors: candidates over the same arms.
        tolerance: up to which they count as the same: relative difference of the scaled covariances (Frobenius norm),
            difference of the forgetting rates, and difference of the means in prior standard deviations.

    Returns:
        Pairs of labels.
    """
    shapes = [prior.covariance / np.linalg.norm(prior.covariance) for prior in priors]
    return [
        (one.label, other.label)
        for (one, shape), (other, shape_of_other) in combinations(zip(priors, shapes, strict=True), 2)
        if abs(one.forgetting - other.forgetting) <= tolerance
        and np.linalg.norm(shape - shape_of_other) <= tolerance
        and _farthest(one, other) <= tolerance * np.sqrt(np.diag(one.covariance).max())
    ]


def _farthest(one: TimeVaryingPrior, other: TimeVaryingPrior) -> float:
    """Return the largest difference of two prior means, over all times at which they change."""
    times = max(1 if prior.course is None else len(prior.course) for prior in (one, other))
    return max(float(np.abs(one.mean_at(t) - other.mean_at(t)).max()) for t in range(1, times + 1))
