"""`bocu.problems.synthetic`: the law of the draws, and what they depend on."""

import numpy as np
import pytest

from bocu.core.kernels import SquaredExponential
from bocu.core.randomness import Streams
from bocu.learners.surrogates.grid import GridPrior
from bocu.problems.synthetic import GPSample, GPSampleParameters, interpolated_draw

SMALL = {"decision_points": [5, 4], "context_points": [3, 2], "prior_points": 40}


def prior_on(points: np.ndarray, variance: float = 1.0) -> GridPrior:
    """A prior on a grid whose decisions and contexts are the halves of some points."""
    kernel = SquaredExponential((0.3,))
    return GridPrior(points[:, :1], points[:, 1:], kernel, kernel, variance)


def test_draws_have_the_covariance_of_the_interpolating_mean() -> None:
    rng = np.random.default_rng(0)
    points, grid = rng.random((12, 2)), prior_on(rng.random((5, 2)), variance=2.5)
    # The draw is linear in the normal numbers: its columns are a root of its covariance.
    root = np.stack(
        [interpolated_draw(grid, points[:, :1], points[:, 1:], unit, 1e-6).ravel() for unit in np.eye(12)], axis=1
    )
    everywhere = np.stack(np.broadcast_arrays(grid.decisions, grid.contexts.T), axis=-1).reshape(-1, 2)

    def kernel(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.exp(-((a[:, None] - b[None]) ** 2).sum(axis=2) / (2 * 0.3**2))

    across = kernel(everywhere, points)
    wanted = 2.5 * across @ np.linalg.inv(kernel(points, points) + 1e-6 * np.eye(12)) @ across.T
    np.testing.assert_allclose(root @ root.T, wanted, atol=1e-6)


def test_the_mean_goes_through_the_draw() -> None:
    rng = np.random.default_rng(1)
    points = rng.random((8, 2))
    grid, normal = prior_on(points), rng.standard_normal(8)
    table = interpolated_draw(grid, points[:, :1], points[:, 1:], normal, 1e-10)
    gram = grid.decision_gram * grid.context_gram
    np.testing.assert_allclose(np.diag(table), np.linalg.cholesky(gram + 1e-10 * np.eye(8)) @ normal, atol=1e-3)


def test_draws_follow_the_model() -> None:
    def table(**model: float) -> np.ndarray:
        return GPSample(GPSampleParameters(**SMALL, **model), {}).realise(Streams(0)).payoffs(1)

    np.testing.assert_allclose(table(variance=4.0), 2.0 * table())
    # Long length-scales give a flat draw; far below the distance of the points the mean falls back to 0 everywhere.
    flat, little = table(lengthscale=10.0), table(lengthscale=0.02)
    assert np.ptp(flat) < 0.5 * np.abs(flat).mean()
    assert np.abs(little).max() < 1e-3 * np.abs(flat).mean()


def test_a_draw_as_published_is_rough_and_spreads_less_than_the_prior() -> None:
    table = GPSample(GPSampleParameters(), {}).realise(Streams(0)).payoffs(1)
    assert table.shape == (1024, 64)
    # A thousand points do not fill four dimensions: between them the mean falls back towards 0.
    assert 0.4 < table.std() < 0.9
    assert table.max() == pytest.approx(2.9, abs=1.5)
