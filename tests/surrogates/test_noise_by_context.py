"""Observation noise that differs from context to context, in the posterior and in both samplers."""

import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.core.kernels import SquaredExponential
from bocu.learners.surrogates.fourier import sample_weights
from bocu.learners.surrogates.grid import GridPosterior, GridPrior
from bocu.learners.surrogates.pathwise import PathwiseSampler

DECISIONS, CONTEXTS = np.linspace(0, 1, 5)[:, None], np.linspace(0, 1, 3)[:, None]
NOISE = np.array([0.05, 1.0, 3.0])
TOLD = [(0, 0, 1.0), (2, 2, -4.0), (2, 1, 0.5), (4, 0, 2.0), (2, 2, 3.0)]


def prior(noise):
    kernel = SquaredExponential((0.4,))
    return GridPrior(DECISIONS, CONTEXTS, kernel, kernel, 2.0, noise, mean=0.3)


def posterior(noise):
    told = GridPosterior(prior(noise))
    for observation in TOLD:
        told.add(*observation)
    return told


def test_posterior_is_that_of_the_dense_formula():
    told = posterior(NOISE)
    x, c, y = (np.array(column) for column in zip(*TOLD, strict=True))
    here = told.prior
    covariance = 2.0 * here.decision_gram[np.ix_(x, x)] * here.context_gram[np.ix_(c, c)] + np.diag(NOISE[c] ** 2)
    cross = 2.0 * here.decision_gram[:, None, x] * here.context_gram[None][..., c]
    mean = 0.3 + cross @ np.linalg.solve(covariance, y - 0.3)
    variance = 2.0 - (cross * np.linalg.solve(covariance, cross.reshape(-1, len(y)).T).T.reshape(cross.shape)).sum(-1)
    np.testing.assert_allclose(told.mean(), mean, atol=1e-12)
    np.testing.assert_allclose(told.variance(), variance, atol=1e-12)


def test_a_noisy_context_is_trusted_less():
    alike, apart = posterior(0.05), posterior(NOISE)
    assert abs(alike.mean()[2, 2] - -0.5) < 0.1
    assert abs(apart.mean()[2, 2] - 0.3) < 0.5 * abs(alike.mean()[2, 2] - 0.3)


def test_equal_noise_is_one_number_to_the_last_bit():
    one, many = posterior(0.2), posterior(np.full(3, 0.2))
    np.testing.assert_array_equal(one.mean(), many.mean())
    draws = [PathwiseSampler(told.prior).draw(told, np.random.default_rng(3)) for told in (one, many)]
    np.testing.assert_array_equal(*draws)


def test_samples_have_the_moments_of_the_posterior():
    told, generator = posterior(NOISE), np.random.default_rng(0)
    sampler = PathwiseSampler(told.prior)
    draws = np.stack([sampler.draw(told, generator) for _ in range(4000)])
    np.testing.assert_allclose(draws.mean(axis=0), told.mean(), atol=0.09)
    np.testing.assert_allclose(draws.std(axis=0), told.deviation(), atol=0.09)


@pytest.mark.parametrize("features", [3, 12])
def test_feature_weights_have_the_moments_of_the_linear_model(features):
    generator = np.random.default_rng(1)
    table, values = generator.standard_normal((6, features)), generator.standard_normal(6)
    noise = np.array([0.5, 1.0, 2.0, 0.5, 1.0, 2.0])
    precision = table.T @ (table / noise[:, None] ** 2) + np.eye(features)
    mean = np.linalg.solve(precision, table.T @ (values / noise**2))
    draws = np.stack([sample_weights(table, values, noise, generator) for _ in range(4000)])
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=0.08)
    np.testing.assert_allclose(np.cov(draws.T), np.linalg.inv(precision), atol=0.12)


@pytest.mark.parametrize(
    ("noise", "said"),
    [(np.ones(2), r"shape \(2,\); allowed: one number, or \(3,\)"), (np.array([1.0, 0.0, 1.0]), "noise: found 0.0")],
)
def test_other_noise_is_refused(noise, said):
    with pytest.raises(BocuError, match=said):
        prior(noise)
