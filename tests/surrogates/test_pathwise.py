"""`bocu.learners.surrogates.pathwise`: samples against the exact posterior's moments."""

import numpy as np
import pytest
from sample_moments import covariance_of, joint_gram, largest_z_score

from bocu.core.kernels import Kernel, Matern52, SquaredExponential
from bocu.learners.surrogates.grams import Axes, gram_root
from bocu.learners.surrogates.grid import GridPosterior, GridPrior
from bocu.learners.surrogates.pathwise import PathwiseSampler

AXES = (np.linspace(0.0, 1.0, 5), np.array([0.0, 0.1, 0.5, 0.7]))
FULL = np.stack(np.meshgrid(*AXES, indexing="ij"), axis=-1).reshape(-1, 2)
SUBSET = FULL[FULL.sum(axis=1) <= 1.1]
POINT_SETS = {
    "full grid": FULL,
    "full grid, shuffled": np.random.default_rng(0).permutation(FULL),
    "feasible part of a grid": SUBSET,
    "scattered": np.random.default_rng(1).random((11, 2)),
}


@pytest.fixture(params=POINT_SETS.values(), ids=POINT_SETS.keys())
def points(request: pytest.FixtureRequest) -> np.ndarray:
    return np.asarray(request.param)


def a_posterior(points: np.ndarray, kind: type, noise: float = 0.2) -> GridPosterior:
    contexts = np.array([[0.0], [0.2], [0.9]])
    prior = GridPrior(points, contexts, kind((0.3, 0.5)), kind((0.4,)), variance=2.0, noise=noise, mean=1.5)
    posterior = GridPosterior(prior)
    generator = np.random.default_rng(3)
    for _ in range(12):
        posterior.add(int(generator.integers(len(points))), int(generator.integers(3)), 2.0 * generator.random())
    return posterior


@pytest.mark.parametrize("kind", [SquaredExponential, Matern52])
def test_samples_have_the_moments_of_the_posterior(points: np.ndarray, kind: type) -> None:
    posterior = a_posterior(points, kind)
    sampler, generator = PathwiseSampler(posterior.prior), np.random.default_rng(4)
    samples = np.stack([sampler.draw(posterior, generator).ravel() for _ in range(4000)])
    assert largest_z_score(samples, posterior.mean().ravel(), covariance_of(posterior)) < 6.0


def test_without_observations_samples_are_of_the_prior() -> None:
    prior = a_posterior(SUBSET, SquaredExponential).prior
    sampler, generator = PathwiseSampler(prior), np.random.default_rng(5)
    samples = np.stack([sampler.draw(GridPosterior(prior), generator).ravel() for _ in range(4000)])
    assert largest_z_score(samples, np.full(prior.size, prior.mean), joint_gram(prior)) < 6.0


@pytest.mark.parametrize(
    "kernel", [SquaredExponential((0.3, 0.5)), SquaredExponential((3.0, 9.0)), Matern52((0.3, 2.0))]
)
def test_root_is_a_root_of_the_gram_matrix(points: np.ndarray, kernel: Kernel) -> None:
    gram = kernel(points, points)
    root = gram_root(kernel, points)
    matrix = root.times(np.eye(root.rank))
    assert matrix.shape == (len(points), root.rank)
    np.testing.assert_allclose(matrix @ matrix.T, gram, atol=1e-13)


def test_root_of_a_grid_is_that_of_its_axes() -> None:
    kernel = SquaredExponential((0.3, 0.5))
    root = gram_root(kernel, FULL)
    assert root.rank == 20  # the full rank of every axis: nothing of a well conditioned kernel is left out


def test_same_generator_gives_the_same_sample_after_a_restore() -> None:
    posterior = a_posterior(FULL, SquaredExponential)
    restored = GridPosterior(posterior.prior)
    restored.restore(posterior.state())
    draws = [PathwiseSampler(p.prior).draw(p, np.random.default_rng(6)) for p in (posterior, restored)]
    np.testing.assert_array_equal(*draws)


def test_samples_pass_near_precise_observations() -> None:
    prior = a_posterior(SUBSET, Matern52, noise=1e-5).prior
    posterior = GridPosterior(prior)
    posterior.add(4, 1, 3.25)
    sample = PathwiseSampler(prior).draw(posterior, np.random.default_rng(7))
    assert abs(sample[4, 1] - 3.25) < 6e-5  # six standard deviations of the noise


def test_axes_give_back_every_point(points: np.ndarray) -> None:
    axes = Axes.of(points)
    rebuilt = np.stack([levels[index] for levels, index in zip(axes.levels, axes.index, strict=True)], axis=1)
    np.testing.assert_array_equal(rebuilt, points)
    assert axes.hull_size >= len(points)
