"""`surrogates.fourier`: features against their kernel, samples against closed forms and the exact posterior."""

import numpy as np
import pytest
from sample_moments import covariance_of, joint_gram, largest_z_score

from bocu.core.errors import BocuError
from bocu.core.kernels import Matern52, SquaredExponential
from bocu.learners.surrogates.fourier import FourierFeatures, FourierSampler, SampledWaves, sample_weights
from bocu.learners.surrogates.grid import GridPosterior, GridPrior

KINDS = pytest.mark.parametrize("kind", [SquaredExponential, Matern52])
PAIRS = pytest.mark.parametrize("pairs", [True, False])


def a_prior(kind: type = SquaredExponential, noise: float = 0.3) -> GridPrior:
    """A feasible part of a grid of decisions, 2 x 2 contexts."""
    axis = np.linspace(0.0, 1.0, 4)
    decisions = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    contexts = np.array([[0.0, 0.0], [0.0, 1.0], [0.5, 0.0], [0.5, 1.0]])
    feasible = decisions[decisions.sum(axis=1) <= 1.1]
    return GridPrior(feasible, contexts, kind((0.4, 0.6)), kind((0.5, 0.9)), variance=1.5, noise=noise, mean=-0.5)


def cells_of(prior: GridPrior) -> tuple[np.ndarray, ...]:
    return np.unravel_index(np.arange(prior.size), prior.shape)


@KINDS
@PAIRS
def test_features_are_unbiased_for_the_kernel(kind: type, pairs: bool) -> None:
    """Each feature (or pair) is an independent estimate of the kernel: their mean within 6 standard errors."""
    prior = a_prior(kind)
    count = 20_000
    sampler = FourierSampler(prior, features=count, pairs=pairs)
    features = sampler.draw_waves(np.random.default_rng(0)).features(*cells_of(prior))
    assert features.shape == (prior.size, count)
    products = features[:, None, :] * features[None, ::5, :] * count
    if pairs:
        products = products.reshape(*products.shape[:2], -1, 2).mean(axis=-1)
    expected = joint_gram(prior)[:, ::5]
    error = np.abs(products.mean(axis=-1) - expected)
    standard_error = products.std(axis=-1) / np.sqrt(products.shape[-1])
    assert (error <= 6.0 * standard_error + 1e-12).all()


@PAIRS
def test_table_is_features_times_weights(pairs: bool) -> None:
    prior = a_prior()
    waves = FourierSampler(prior, features=64, pairs=pairs).draw_waves(np.random.default_rng(1))
    theta = np.random.default_rng(2).standard_normal(64)
    expected = (waves.features(*cells_of(prior)) @ theta).reshape(prior.shape)
    np.testing.assert_allclose(waves.table(theta), expected, atol=1e-13)


@PAIRS
def test_blocks_do_not_change_features_or_table(pairs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    prior = a_prior()
    waves = FourierSampler(prior, features=64, pairs=pairs).draw_waves(np.random.default_rng(1))
    theta = np.random.default_rng(2).standard_normal(64)
    features, table = waves.features(*cells_of(prior)), waves.table(theta)
    monkeypatch.setattr("bocu.learners.surrogates.fourier.NUMBERS_IN_CACHE", 200)
    np.testing.assert_array_equal(waves.features(*cells_of(prior)), features)
    np.testing.assert_allclose(waves.table(theta), table, atol=1e-13)


@pytest.mark.parametrize(("t", "m"), [(6, 14), (14, 14), (30, 14), (0, 14)])
def test_weights_have_the_moments_of_the_linear_model(t: int, m: int) -> None:
    """Both systems, of observations and of weights, against N(A^-1 Phi'y, R^2 A^-1)."""
    generator = np.random.default_rng(3)
    features, values, noise = generator.standard_normal((t, m)) / np.sqrt(m), generator.standard_normal(t), 0.4
    precision = features.T @ features + noise**2 * np.eye(m)
    covariance = noise**2 * np.linalg.inv(precision)
    mean = np.linalg.solve(precision, features.T @ values)
    samples = np.stack([sample_weights(features, values, noise, generator) for _ in range(10_000)])
    assert largest_z_score(samples, mean, covariance) < 6.0


@KINDS
@PAIRS
def test_samples_have_nearly_the_moments_of_the_posterior(kind: type, pairs: bool) -> None:
    """The features' own error, of order 1 / features, is allowed two per cent of the prior; the rest is chance."""
    prior = a_prior(kind)
    posterior = GridPosterior(prior)
    for x, c, value in ((0, 0, 0.7), (3, 1, -1.2), (3, 1, -0.9), (8, 2, 0.4), (5, 3, 0.0)):
        posterior.add(x, c, value)
    sampler, generator = FourierSampler(prior, 512, pairs), np.random.default_rng(4)
    n = 2000
    samples = np.stack([sampler.draw(posterior, generator).ravel() for _ in range(n)])
    covariance = covariance_of(posterior)
    variance = np.diag(covariance)
    scale = np.sqrt(np.outer(variance, variance))
    error_of_mean = np.abs(samples.mean(axis=0) - posterior.mean().ravel())
    assert (error_of_mean <= 6.0 * np.sqrt(variance / n) + 0.02).all()
    error = np.abs(np.cov(samples.T) - covariance)
    assert (error <= 6.0 * np.sqrt((scale**2 + covariance**2) / n) + 0.02 * prior.variance).all()


@pytest.mark.parametrize("features", [40, 12])
@PAIRS
def test_draw_is_determined_by_observations_and_generator(features: int, pairs: bool) -> None:
    prior = a_prior()
    posterior = GridPosterior(prior)
    for n in range(20):
        posterior.add(n % prior.shape[0], n % 4, 0.1 * n)
    restored = GridPosterior(prior)
    restored.restore(posterior.state())
    first = FourierSampler(prior, features, pairs).draw(posterior, np.random.default_rng(5))
    np.testing.assert_array_equal(
        FourierSampler(prior, features, pairs).draw(restored, np.random.default_rng(5)), first
    )


def test_features_are_new_in_every_draw() -> None:
    """With a single frequency all tables of one draw of features span two dimensions; ten draws span more."""
    prior = a_prior()
    sampler, generator = FourierSampler(prior, 2, pairs=True), np.random.default_rng(6)
    tables = np.stack([sampler.draw(GridPosterior(prior), generator).ravel() - prior.mean for _ in range(10)])
    assert np.linalg.matrix_rank(tables) == 10


DECISIONS = np.random.default_rng(0).random((6, 2))
CONTEXTS = np.random.default_rng(1).random((4, 1))
KERNELS = SquaredExponential((0.4, 0.6)), Matern52((0.5,))


@pytest.mark.parametrize("pairs", [True, False])
def test_a_grid_evaluates_the_features_that_were_drawn(pairs: bool) -> None:
    prior = GridPrior(DECISIONS, CONTEXTS, *KERNELS, variance=1.5, noise=0.1)
    drawn = FourierFeatures.draw(KERNELS, 1.5, 10, np.random.default_rng(2), pairs=pairs)
    x, c = np.unravel_index(np.arange(prior.size), prior.shape)
    angles = np.hstack([DECISIONS[x], CONTEXTS[c]]) @ drawn.frequencies.T
    if drawn.phases is None:
        expected = np.stack([np.cos(angles), np.sin(angles)], axis=-1).reshape(len(angles), -1)
    else:
        expected = np.cos(angles + drawn.phases)
    waves = FourierSampler(prior, 10, pairs).draw_waves(np.random.default_rng(2))
    np.testing.assert_allclose(waves.features(x, c), drawn.amplitude * expected, atol=1e-13)


def test_a_sample_over_continuous_inputs_is_that_of_the_grid() -> None:
    prior = GridPrior(DECISIONS, CONTEXTS, *KERNELS, variance=1.5, noise=0.1)
    generator = np.random.default_rng(3)
    table = FourierSampler(prior, 10, False).draw_waves(generator).table(generator.standard_normal(10))
    sample = SampledWaves.draw(KERNELS, 1.5, 10, np.random.default_rng(3))
    x, c = np.unravel_index(np.arange(prior.size), prior.shape)
    np.testing.assert_allclose(sample(np.hstack([DECISIONS[x], CONTEXTS[c]])), table.ravel(), atol=1e-12)


@pytest.mark.parametrize(("features", "pairs"), [(0, False), (-2, True), (7, True)])
def test_bad_numbers_of_features_are_refused(features: int, pairs: bool) -> None:
    with pytest.raises(BocuError, match=f"features: found {features}"):
        FourierSampler(a_prior(), features, pairs)
