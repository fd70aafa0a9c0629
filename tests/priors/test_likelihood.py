"""`bocu.problems.priors.fit`: the exact likelihood against dense and sequential ones, and its maximum."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from bocu.learners.surrogates.time_varying import TimeVaryingPosteriors, TimeVaryingPrior
from bocu.problems.priors.fit import GRID, SeparableLikelihood, fit_forgetting

NOISE = 0.2


def a_covariance(sensors: int, rank: int) -> np.ndarray:
    root = np.random.default_rng(rank).standard_normal((sensors, rank))
    return root @ root.T


def readings(covariance: np.ndarray, forgetting: float, steps: int, seed: int = 0) -> np.ndarray:
    """Draw a day from the prior: an autoregression in time, plus noise; shape (sensors, steps)."""
    generator = np.random.default_rng(seed)
    eigenvalues, eigenvectors = np.linalg.eigh(covariance)
    root = eigenvectors * np.sqrt(np.maximum(eigenvalues, 0.0))
    value = root @ generator.standard_normal(len(root))
    day = []
    for _ in range(steps):
        day.append(value + NOISE * generator.standard_normal(len(root)))
        value = np.sqrt(1 - forgetting) * value + np.sqrt(forgetting) * root @ generator.standard_normal(len(root))
    return np.array(day).T


@pytest.mark.parametrize("rank", [1, 5])
@pytest.mark.parametrize("forgetting", [0.0, 0.003, 0.3, 1.0])
def test_likelihood_is_the_dense_density(rank: int, forgetting: float) -> None:
    covariance = a_covariance(5, rank)
    values = np.random.default_rng(1).standard_normal((5, 8))
    lags = np.abs(np.subtract.outer(np.arange(8), np.arange(8)))
    full = np.kron(covariance, np.sqrt(1 - forgetting) ** lags) + NOISE**2 * np.eye(40)
    expected = float(multivariate_normal(np.zeros(40), full).logpdf(values.ravel()))
    assert SeparableLikelihood(values, covariance, NOISE)(forgetting) == pytest.approx(expected, abs=1e-8)


def test_likelihood_of_a_day_is_the_evidence_of_its_readings_one_by_one() -> None:
    covariance, forgetting = a_covariance(6, 3), 0.15
    values = readings(covariance, forgetting, 20)
    posterior = TimeVaryingPosteriors([TimeVaryingPrior("p", np.zeros(6), covariance, forgetting)], NOISE)
    for t in range(20):
        for sensor in range(6):
            posterior.observe(sensor, t, values[sensor, t])
    expected = SeparableLikelihood(values, covariance, NOISE)(forgetting)
    assert posterior.log_evidence[0] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("forgetting", [0.02, 0.1, 0.6])
def test_the_rate_that_data_were_drawn_with_is_found(forgetting: float) -> None:
    covariance = a_covariance(30, 30)
    likelihood = SeparableLikelihood(readings(covariance, forgetting, 80), covariance, NOISE)
    fit = fit_forgetting(likelihood)
    assert fit.forgetting == pytest.approx(forgetting, rel=0.12)
    assert not fit.at_bound
    assert fit.log_likelihood == likelihood(fit.forgetting)
    assert fit.log_likelihood >= fit.curve.max()
    assert fit.curve.shape == GRID.shape
    finest = max(likelihood(rate) for rate in np.linspace(0.9 * fit.forgetting, 1.1 * fit.forgetting, 201))
    assert fit.log_likelihood >= finest - 1e-6


def test_bounds_are_reached_and_told() -> None:
    covariance = a_covariance(10, 10)
    constant = fit_forgetting(SeparableLikelihood(readings(covariance, 0.0, 40), covariance, NOISE))
    fresh = fit_forgetting(SeparableLikelihood(readings(covariance, 1.0, 40, seed=3), covariance, NOISE))
    assert constant.forgetting < 1e-3
    assert fresh.forgetting > 0.9
    # A day that alternates in sign is less correlated than any rate allows.
    alternating = np.resize([3.0, -3.0], 40) * np.linalg.cholesky(covariance)[:, :1]
    extreme = fit_forgetting(SeparableLikelihood(alternating, covariance, NOISE))
    assert (extreme.forgetting, extreme.at_bound) == (1.0, True)
