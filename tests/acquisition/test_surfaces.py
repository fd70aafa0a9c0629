"""Surfaces: values against the posterior itself, gradients against differences, what a skeleton keeps."""

import numpy as np
import pytest
from gaussian_posteriors import MATERN, SE, STRUCTURES, differences, posterior

from bocu.learners.acquisition.surfaces import (
    SeparableSurface,
    WeightedSurface,
    full_skeleton,
    skeleton,
    surface,
)
from bocu.learners.surrogates.continuous.structure import joint, product


@pytest.fixture(params=list(STRUCTURES.values()), ids=list(STRUCTURES))
def structure(request):
    return request.param


def contexts(structure, count=300, seed=1):
    generator = np.random.default_rng(seed)
    return np.clip(generator.normal(0.5, 0.2, (count, structure.contexts)), 0.0, 1.0)


def some_decisions(structure, count=7, seed=2):
    return 0.05 + 0.9 * np.random.default_rng(seed).random((count, structure.decisions))


def dense(given, decisions, points, sqrt_beta):
    """Optimistic payoffs at every pair, one by one."""
    pairs = np.concatenate([np.repeat(decisions, len(points), axis=0), np.tile(points, (len(decisions), 1))], axis=1)
    mean, deviation = given.moments(pairs)
    return (mean + sqrt_beta * deviation).reshape(len(decisions), len(points))


@pytest.mark.parametrize("noise", [1e-4, 1e-2])
@pytest.mark.parametrize("sqrt_beta", [0.0, 1.5, -1.0])
def test_payoffs_are_those_of_the_posterior(structure, sqrt_beta, noise):
    given = posterior(structure, noise=noise)
    points, decisions = contexts(structure), some_decisions(structure)
    # At an observed decision deviations are smallest and hardest.
    decisions[0] = given.inputs[0, : structure.decisions]
    over = surface(given, points, sqrt_beta)
    expected = dense(given, decisions, points, sqrt_beta)
    np.testing.assert_allclose(over.payoffs(decisions), expected, rtol=0.0, atol=1e-7 if noise < 1e-3 else 1e-8)
    np.testing.assert_array_equal(over.evaluate(decisions)[0], over.payoffs(decisions))


def test_weights_pull_as_differences_say(structure):
    over = surface(posterior(structure), contexts(structure), 1.5)
    decisions = some_decisions(structure)
    weights = np.random.default_rng(5).standard_normal((len(decisions), over.contexts))
    pulled = over.evaluate(decisions)[1](weights)
    expected = differences(lambda at: (weights * over.payoffs(at)).sum(axis=1), decisions)
    np.testing.assert_allclose(pulled, expected, rtol=1e-6, atol=1e-5)


def test_gradient_agrees_with_automatic_differentiation():
    import torch

    structure = product(2, 1, SE, MATERN)
    given, points, decisions = posterior(structure), contexts(structure, 50), some_decisions(structure)
    here = given.hyperparameters
    z, inverse, alpha = (torch.tensor(part) for part in (given.inputs, given.inverse, given.weights))
    lengthscales, c = torch.tensor(here.lengthscales), torch.tensor(points)
    x = torch.tensor(decisions, requires_grad=True)
    s = (((x[:, None] - z[None, :, :2]) / lengthscales[:2]) ** 2).sum(-1)
    r = (5.0 * (((c[:, None] - z[None, :, 2:]) / lengthscales[2:]) ** 2).sum(-1)).sqrt()
    cross = here.output_scale * torch.exp(-s / 2)[:, None] * ((1 + r + r**2 / 3) * torch.exp(-r))
    deviation = (here.output_scale - torch.einsum("bmt,ts,bms->bm", cross, inverse, cross)).sqrt()
    value = given.shift + given.scale * (given.mean + cross @ alpha + 1.5 * deviation)
    weights = np.random.default_rng(5).standard_normal(value.shape)
    (value * torch.tensor(weights)).sum().backward()
    payoffs, pullback = SeparableSurface(given, points, 1.5).evaluate(decisions)
    np.testing.assert_allclose(payoffs, value.detach().numpy(), atol=1e-8)
    np.testing.assert_allclose(pullback(weights), x.grad.numpy(), rtol=1e-6, atol=1e-6)


def test_observed_decisions_have_finite_gradients(structure):
    given = posterior(structure, noise=1e-4)
    observed = given.inputs[:5]
    over = surface(given, observed[:, structure.decisions :], 1.5)
    assert np.isfinite(over.evaluate(observed[:, : structure.decisions])[1](np.ones((5, 5)))).all()


def test_decisions_alone_are_one_context():
    given = posterior(joint(2, 0, MATERN))
    over = surface(given, np.empty((1, 0)), 1.5)
    decisions = np.random.default_rng(2).random((7, 2))
    mean, deviation = given.moments(decisions)
    np.testing.assert_allclose(over.payoffs(decisions)[:, 0], mean + 1.5 * deviation, atol=1e-9)
    expected = differences(lambda at: over.payoffs(at)[:, 0], decisions)
    np.testing.assert_allclose(over.evaluate(decisions)[1](np.ones((7, 1))), expected, rtol=1e-6, atol=1e-5)


def test_scalarised_payoffs_are_scalarised_moments():
    structure = product(2, 1, SE, SE)
    outputs = [posterior(structure, seed=seed) for seed in (0, 1)]
    points, decisions = contexts(structure), some_decisions(structure)
    shares = np.array([0.3, 0.7])
    over = WeightedSurface([surface(given, points, 1.5) for given in outputs], shares)
    expected = sum(share * dense(given, decisions, points, 1.5) for share, given in zip(shares, outputs, strict=True))
    np.testing.assert_allclose(over.payoffs(decisions), expected, atol=1e-8)
    weights = np.random.default_rng(5).random((len(decisions), over.contexts))
    pulled = over.evaluate(decisions)[1](weights)
    slopes = differences(lambda at: (weights * over.payoffs(at)).sum(axis=1), decisions)
    np.testing.assert_allclose(pulled, slopes, rtol=1e-6, atol=1e-5)


def test_rough_surface_is_close(structure):
    over = surface(posterior(structure), contexts(structure), 1.5)
    decisions, indices = some_decisions(structure), np.arange(40)
    np.testing.assert_allclose(
        over.rough(indices).payoffs(decisions), over.payoffs(decisions)[:, indices], atol=0.05 * over.posterior.scale
    )


def test_smooth_kernels_need_few_contexts():
    given = posterior(product(2, 1, SE, SE), count=100)
    over = SeparableSurface(given, contexts(given.structure, 1024), 1.5)
    assert len(over.skeleton.indices) < 40


@pytest.mark.parametrize("t", [3, 40])
def test_skeleton_carries_functions_and_their_products(t):
    generator = np.random.default_rng(0)
    c, seen = generator.random(200), generator.random(t)
    values = np.exp(-((seen[:, None] - c) ** 2) / (2 * 0.3**2))
    found = skeleton(values, 1e-13)
    assert len(found.indices) < 40
    for functions in (values, values * values[::-1], np.ones_like(values)):
        np.testing.assert_allclose(found.spread(functions[:, found.indices]), functions, atol=1e-11)


def test_gather_is_the_adjoint_of_spread():
    generator = np.random.default_rng(0)
    values = np.exp(-((generator.random((20, 1)) - generator.random(100)) ** 2) / 0.1)
    found = skeleton(values, 1e-13)
    at, weights = generator.standard_normal((3, len(found.indices))), generator.standard_normal((3, 100))
    assert (found.spread(at) * weights).sum() == pytest.approx((at * found.gather(weights)).sum())


def test_skeleton_of_rough_functions_is_all_contexts():
    values = np.random.default_rng(0).random((200, 100))
    found = skeleton(values, 1e-13)
    np.testing.assert_array_equal(found.indices, full_skeleton(100).indices)
    assert found.interpolation is None
