"""`bocu.problems.priors.sensor_process`: a day in, a prior over positions and time out, and back."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf, write_netcdf
from bocu.problems.data.intel import load_days
from bocu.problems.priors.fit import read_prior
from bocu.problems.priors.sensor_process import fit_prior

COMPLETE = np.array([1, 2, 4, 5])
PLACES = np.array([0.0, 1.0, 3.0, 4.0]) / 4.0


def fitted(prepared: Path, **changes: Any) -> Path:
    told = {"label": "lab-2", "day": "2", "days": ["1", "2", "3"], "kernel": "squared-exponential", "ard": False}
    told |= {"noise": 0.2, "points": 400, "starts": 4, **changes}
    fit_prior(told, {"data": str(prepared)}, prepared.with_name("prior.nc"))
    return prepared.with_name("prior.nc")


def log_density(day: np.ndarray, variance: float, length: float, rate: float, mean: float) -> float:
    """Return the marginal likelihood of a day (sensors, steps) by the dense formula, a noise of 0.2."""
    steps = np.arange(day.shape[1])
    over_places = np.exp(-0.5 * (np.subtract.outer(PLACES, PLACES) / length) ** 2)
    over_time = (1.0 - rate) ** (np.abs(np.subtract.outer(steps, steps)) / 2.0)
    factor = cholesky(variance * np.kron(over_places, over_time) + 0.2**2 * np.eye(day.size), lower=True)
    whitened = solve_triangular(factor, day.ravel() - mean, lower=True)
    return float(-0.5 * (whitened @ whitened + np.log(2.0 * np.pi * np.diag(factor) ** 2).sum()))


def test_the_fit_is_the_optimum_of_the_exact_marginal_likelihood(prepared: Path) -> None:
    path = fitted(prepared)
    stored, prior = read_netcdf(path), read_prior(path, COMPLETE)
    day = load_days(prepared, ["1", "2", "3"]).temperatures[1]
    variance, length = prior.covariance[0, 0], float(stored["lengthscale"][0])
    found = log_density(day, variance, length, prior.forgetting, prior.mean[0])
    assert float(stored["log_likelihood"]) == pytest.approx(found, abs=1e-5)

    def loss(vector: np.ndarray) -> float:
        return -log_density(day, np.exp(vector[0]), np.exp(vector[1]), 1.0 / (1.0 + np.exp(-vector[2])), vector[3])

    start = [np.log(day.var()), -1.0, -1.0, day.mean()]
    limits = [(-4.0, 8.0), (-4.6, 4.6), (-6.0, 4.0), (0.0, 40.0)]
    ends = [
        minimize(loss, [a, b, *start[2:]], method="L-BFGS-B", bounds=limits) for a in (0.0, 2.0) for b in (-2.0, 0.5)
    ]
    assert found >= -min(end.fun for end in ends) - 1e-3
    assert (prior.label, np.ptp(prior.mean), 0.0 < prior.forgetting < 1.0) == ("lab-2", 0.0, True)


def test_a_day_is_thinned_to_evenly_spread_steps(prepared: Path) -> None:
    assert int(read_netcdf(fitted(prepared, points=20, starts=1))["readings"]) == 20


def test_sensors_without_positions_cannot_be_fitted(prepared: Path) -> None:
    nowhere = read_netcdf(prepared).assign_coords(x=("sensor", np.full(5, np.nan), {"long_name": "x", "units": "m"}))
    write_netcdf(nowhere, prepared)
    with pytest.raises(BocuError, match="positions of the sensors are not known; allowed: the record log"):
        fitted(prepared)
