"""Samples of a posterior over contexts: moments, gradients, agreement with the data."""

import numpy as np
import pytest
from gaussian_posteriors import MATERN, SE, differences, posterior

from bocu.learners.acquisition.surfaces import SampledSurface
from bocu.learners.surrogates.continuous.structure import Hyperparameters, product
from bocu.learners.surrogates.fourier import SampledWaves

STRUCTURES = {
    "squared exponential 2+1": product(2, 1, SE, SE),
    "mixed 1+2": product(1, 2, MATERN, SE),
    "matern 2+2": product(2, 2, MATERN, MATERN),
}


@pytest.fixture(params=list(STRUCTURES.values()), ids=list(STRUCTURES))
def structure(request):
    return request.param


def sample(here, points, seed=0, size=200):
    generator = np.random.default_rng(seed)
    waves = here.prior_sample(size, generator)
    return SampledSurface(here, points, waves, generator.standard_normal(len(here.inputs)))


def test_gradients_are_those_of_the_payoffs(structure):
    here = posterior(structure)
    generator = np.random.default_rng(1)
    surface = sample(here, generator.random((7, structure.contexts)))
    decisions, weights = generator.random((5, structure.decisions)), generator.standard_normal((5, 7))
    payoffs, pullback = surface.evaluate(decisions)
    np.testing.assert_array_equal(payoffs, surface.payoffs(decisions))
    expected = differences(lambda x: (weights * surface.payoffs(x)).sum(axis=1), decisions)
    np.testing.assert_allclose(pullback(weights), expected, rtol=1e-5, atol=1e-5)


def test_waves_have_the_covariance_of_the_kernel(structure):
    here = Hyperparameters(np.linspace(0.3, 0.6, structure.inputs), 1.7, 0.01)
    generator = np.random.default_rng(2)
    points = generator.random((4, structure.inputs))
    kernels = structure.kernels(here.lengthscales)
    draws = np.stack([SampledWaves.draw(kernels, here.output_scale, 128, generator)(points) for _ in range(3000)])
    expected = here.output_scale * structure.correlation(here.lengthscales, points, points)
    np.testing.assert_allclose(draws.T @ draws / len(draws), expected, atol=0.2)


def test_samples_have_the_moments_of_the_posterior(structure):
    here = posterior(structure, count=6, noise=0.05)
    generator = np.random.default_rng(3)
    decision, contexts = generator.random((1, structure.decisions)), generator.random((3, structure.contexts))
    draws = np.stack([sample(here, contexts, seed, 400).payoffs(decision)[0] for seed in range(1500)])
    mean, deviation = here.moments(np.concatenate([np.repeat(decision, 3, axis=0), contexts], axis=1))
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=4.0 * deviation.max() / np.sqrt(len(draws)))
    np.testing.assert_allclose(draws.std(axis=0), deviation, rtol=0.12)


def test_without_noise_a_sample_goes_through_the_data(structure):
    here = posterior(structure, count=6, noise=1e-8)
    decisions, contexts = np.split(here.inputs, [structure.decisions], axis=1)
    found = np.diagonal(sample(here, contexts).payoffs(decisions))
    np.testing.assert_allclose(found, here.shift + here.scale * here.standardised, atol=1e-2)


def test_a_rough_surface_is_the_same_sample():
    here = posterior(STRUCTURES["squared exponential 2+1"])
    points = np.random.default_rng(4).random((9, 1))
    surface = sample(here, points)
    some = np.array([1, 4, 8])
    decisions = np.random.default_rng(5).random((3, 2))
    np.testing.assert_allclose(surface.rough(some).payoffs(decisions), surface.payoffs(decisions)[:, some])
