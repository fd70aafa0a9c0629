"""The exact continuous Gaussian process: posteriors against GPyTorch, gradients, fits, state."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from bocu.core.errors import BocuError
from bocu.core.kernels import KERNELS
from bocu.learners.surrogates.continuous.fitting import (
    NOISY,
    QUIET,
    LogPosterior,
    Priors,
    best_hyperparameters,
    carried_on,
    curvature,
)
from bocu.learners.surrogates.continuous.model import FEW, ContinuousGP, FitSettings, Posterior, standardise
from bocu.learners.surrogates.continuous.structure import Hyperparameters, joint, product

SE, MATERN = "squared-exponential", "matern-5/2"
STRUCTURES = {
    "product of squared exponentials": product(2, 1, SE, SE),
    "product of Matern-5/2": product(2, 2, MATERN, MATERN),
    "mixed product": product(1, 2, MATERN, SE),
    "joint Matern-5/2": joint(2, 1, MATERN),
    "decisions only": joint(3, 0, SE),
}


@pytest.fixture(params=list(STRUCTURES.values()), ids=list(STRUCTURES))
def structure(request):
    return request.param


def data(structure, count=30, seed=0):
    generator = np.random.default_rng(seed)
    inputs = generator.random((count, structure.inputs))
    outputs = 5.0 + 3.0 * np.sin(7.0 * inputs.sum(axis=1)) + 0.1 * generator.standard_normal(count)
    return inputs, outputs


def some_hyperparameters(structure):
    return Hyperparameters(np.linspace(0.2, 0.6, structure.inputs), 1.7, 0.02)


def gpytorch_model(structure, inputs, standardised, here, mean):
    """The same model built from GPyTorch's own modules."""
    import gpytorch
    import torch

    def kernel_of(factor):
        columns = range(structure.inputs)[factor.columns]
        kind = gpytorch.kernels.RBFKernel if factor.kernel is KERNELS[SE] else gpytorch.kernels.MaternKernel
        return kind(ard_num_dims=len(columns), active_dims=list(columns))

    class Model(gpytorch.models.ExactGP):
        def __init__(self):
            super().__init__(
                torch.tensor(inputs), torch.tensor(standardised), gpytorch.likelihoods.GaussianLikelihood()
            )
            self.mean_module = gpytorch.means.ConstantMean()
            kernels = [kernel_of(factor) for factor in structure.factors]
            inner = kernels[0] if len(kernels) == 1 else kernels[0] * kernels[1]
            self.covar_module = gpytorch.kernels.ScaleKernel(inner)

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    model = Model().double()
    inner = model.covar_module.base_kernel
    for factor, kernel in zip(structure.factors, getattr(inner, "kernels", [inner]), strict=True):
        kernel.lengthscale = torch.tensor(here.lengthscales[factor.columns])
    # A bare number would be read in single precision.
    model.covar_module.outputscale = torch.tensor(here.output_scale, dtype=torch.float64)
    model.likelihood.noise = torch.tensor(here.noise, dtype=torch.float64)
    model.mean_module.constant = torch.tensor(mean, dtype=torch.float64)
    return model


def test_posterior_agrees_with_gpytorch(structure):
    import gpytorch
    import torch

    inputs, outputs = data(structure)
    here = some_hyperparameters(structure)
    posterior = Posterior(structure, here, inputs, outputs)
    shift, scale, standardised = standardise(outputs)
    model = gpytorch_model(structure, inputs, standardised, here, posterior.mean).eval()
    points = np.random.default_rng(1).random((50, structure.inputs))
    with torch.no_grad(), gpytorch.settings.fast_computations(False, False, False):
        theirs = model(torch.tensor(points))
        mean, deviation = theirs.mean.numpy(), theirs.covariance_matrix.diagonal().sqrt().numpy()
    own_mean, own_deviation = posterior.moments(points)
    np.testing.assert_allclose(own_mean, shift + scale * mean, atol=1e-8)
    np.testing.assert_allclose(own_deviation, scale * deviation, atol=1e-8)


def test_log_posterior_agrees_with_gpytorch(structure):
    import gpytorch
    import torch

    inputs, outputs = data(structure)
    here = some_hyperparameters(structure)
    standardised = standardise(outputs)[2]
    mean = Posterior(structure, here, inputs, outputs).mean
    model = gpytorch_model(structure, inputs, standardised, here, mean)
    with torch.no_grad(), gpytorch.settings.fast_computations(False, False, False):
        density = model.likelihood(model(torch.tensor(inputs))).log_prob(torch.tensor(standardised)).item()
    gamma = gpytorch.priors.GammaPrior
    density += gamma(3.0, 6.0).double().log_prob(torch.tensor(here.lengthscales)).sum().item()
    density += gamma(2.0, 0.15).double().log_prob(torch.tensor(here.output_scale)).item()
    density += gamma(1.1, 0.05).double().log_prob(torch.tensor(here.noise)).item()
    value, _ = LogPosterior(structure, inputs, standardised, Priors())(here.to_vector())
    assert value == pytest.approx(density, abs=1e-6)


def test_gradient_of_log_posterior_agrees_with_differences(structure):
    inputs, outputs = data(structure)
    objective = LogPosterior(structure, inputs, standardise(outputs)[2], Priors())
    vector = some_hyperparameters(structure).to_vector()
    differences = approx_fprime(vector, lambda at: objective(at)[0], 1e-6)
    np.testing.assert_allclose(objective(vector)[1], differences, rtol=1e-4, atol=1e-4)


def test_gradient_vanishes_at_the_fit(structure):
    inputs, outputs = data(structure)
    objective = LogPosterior(structure, inputs, standardise(outputs)[2], Priors(least_noise=1e-6))
    best = best_hyperparameters(objective, [Priors().start(structure.inputs)], tolerance=1e-12)
    assert best.noise > 1e-6
    assert np.abs(objective(best.to_vector())[1]).max() < 1e-2


def test_constant_mean_is_that_of_highest_likelihood():
    structure = joint(2, 0, SE)
    inputs, outputs = data(structure)
    here = some_hyperparameters(structure)
    posterior = Posterior(structure, here, inputs, outputs)
    covariance = posterior.covariance(inputs) + here.noise * np.eye(len(inputs))
    standardised = standardise(outputs)[2]

    def misfit(mean):
        return (standardised - mean) @ np.linalg.solve(covariance, standardised - mean)

    assert misfit(posterior.mean) <= min(misfit(posterior.mean + step) for step in (-1e-3, 1e-3))


def test_fit_finds_the_best_of_many_random_starts():
    structure = product(2, 1, SE, MATERN)
    inputs, outputs = data(structure, count=20)
    objective = LogPosterior(structure, inputs, standardise(outputs)[2], Priors())
    found = objective(best_hyperparameters(objective, [Priors().start(3)]).to_vector())[0]
    generator = np.random.default_rng(3)
    others = [
        objective(best_hyperparameters(objective, [Priors().draw(3, generator)]).to_vector())[0] for _ in range(10)
    ]
    assert found >= max(others) - 1e-2


def told(structure, settings=None, count=12):
    gp = ContinuousGP(structure, settings)
    for row, value in zip(*data(structure, count), strict=True):
        gp.add(row[: structure.decisions], row[structure.decisions :], value)
    return gp


@pytest.mark.parametrize("restarts", [0, 2])
def test_restored_process_goes_on_bit_for_bit(structure, restarts):
    settings = FitSettings(restarts=restarts)
    first = told(structure, settings)
    first.posterior(np.random.default_rng(0))
    second = ContinuousGP(structure, settings)
    second.restore(first.state())
    for gp in (first, second):
        gp.add(np.full(structure.decisions, 0.3), np.full(structure.contexts, 0.6), 4.0)
    one, two = (gp.posterior(np.random.default_rng(1)) for gp in (first, second))
    assert one.hyperparameters.to_vector().tobytes() == two.hyperparameters.to_vector().tobytes()
    assert one.weights.tobytes() == two.weights.tobytes()


def test_hyperparameters_stay_between_fits():
    gp = told(joint(1, 1, SE), FitSettings(every=3))
    generator = np.random.default_rng(0)
    before = gp.posterior(generator).hyperparameters
    changed = []
    for _ in range(3):
        gp.add(np.array([0.1]), np.array([0.2]), 9.0)
        changed.append(gp.posterior(generator).hyperparameters is not before)
    assert changed == [False, False, True]


def late(structure, settings=None, count=64, reported=None):
    """A process that was fitted afresh at `FEW` observations, and carried on from there."""
    gp = ContinuousGP(structure, settings)
    for row, value in zip(*data(structure, count), strict=True):
        gp.add(row[: structure.decisions], row[structure.decisions :], value)
        if gp.count >= FEW:
            gp.posterior(np.random.default_rng(0))
            if reported is not None:
                reported.append(gp.found())
    return gp


def test_late_fits_are_carried_on_to_where_others_end(structure, monkeypatch):
    def refused(*arguments, **keywords):
        raise AssertionError("a fit began afresh")

    gp = late(structure)
    objective = LogPosterior(structure, gp.inputs, standardise(gp.outputs)[2], Priors())
    best = best_hyperparameters(objective, [gp.hyperparameters], tolerance=1e-12)
    assert objective(gp.hyperparameters.to_vector())[0] >= objective(best.to_vector())[0] - 1e-6
    gp.add(np.full(structure.decisions, 0.3), np.full(structure.contexts, 0.6), 4.0)
    monkeypatch.setattr("bocu.learners.surrogates.continuous.model.best_hyperparameters", refused)
    gp.posterior(np.random.default_rng(0))


def test_late_fits_are_afresh_by_and_by():
    gp = late(joint(1, 1, SE), FitSettings(afresh=3), FEW + 7)
    assert gp.state()["afresh"]["count"] == FEW + 6
    assert late(joint(1, 1, SE), FitSettings(afresh=1), FEW + 2).state()["afresh"]["count"] == FEW + 2


@pytest.mark.parametrize("way", ["state", "found"])
def test_a_fit_is_carried_on_bit_for_bit_by_what_is_kept(way):
    structure = product(2, 1, MATERN, SE)
    reported = []
    first, second = late(structure, reported=reported), ContinuousGP(structure)
    if way == "state":
        second.restore(first.state())
    else:
        for count, (row, value) in enumerate(zip(first.inputs, first.outputs, strict=True), 1):
            second.add(row[:2], row[2:], value)
            if count >= FEW:
                second.reinstate_found(np.array(reported[count - FEW]))
    for gp in (first, second):
        gp.add(np.full(2, 0.3), np.full(1, 0.6), 4.0)
        gp.posterior(np.random.default_rng(0))
    assert first.found() == second.found()


def test_a_carried_fit_keeps_its_bounds():
    structure = joint(1, 0, SE)
    inputs = np.linspace(0.0, 1.0, 70)[:, None]
    objective = LogPosterior(structure, inputs, standardise(np.sin(5.0 * inputs[:, 0]))[2], Priors())
    best = best_hyperparameters(objective, [Priors().start(1)], tolerance=1e-12)
    off = Hyperparameters.from_vector(best.to_vector() + np.array([0.1, -0.1, 0.1]))
    found = carried_on(objective, off, curvature(objective, best))
    assert found.noise == pytest.approx(Priors().least_noise, rel=1e-9)
    assert objective(found.to_vector())[0] >= objective(best.to_vector())[0] - 1e-6


def test_an_optimum_that_is_far_is_not_carried_on_to():
    structure = joint(1, 0, SE)
    inputs, outputs = waves(0.05)
    objective = LogPosterior(structure, inputs, standardise(outputs)[2], Priors())
    assert carried_on(objective, Hyperparameters(np.array([300.0]), 1e-3, 1e3), np.eye(3)) is None


def test_payoffs_that_are_all_equal_are_predicted():
    gp = ContinuousGP(joint(1, 0, SE))
    for x in (0.2, 0.4, 0.8):
        gp.add(np.array([x]), np.empty(0), 7.0)
        mean, deviation = gp.posterior(np.random.default_rng(0)).moments(np.array([[0.5]]))
        assert mean[0] == pytest.approx(7.0)
        assert np.isfinite(deviation[0])


def test_units_of_the_payoff_do_not_matter():
    structure = product(2, 1, SE, SE)
    inputs, outputs = data(structure)
    points = np.random.default_rng(1).random((5, 3))
    mean, deviation = Posterior(structure, some_hyperparameters(structure), inputs, outputs).moments(points)
    other = Posterior(structure, some_hyperparameters(structure), inputs, 1e4 * outputs - 2e5).moments(points)
    np.testing.assert_allclose(other[0], 1e4 * mean - 2e5, rtol=1e-9)
    np.testing.assert_allclose(other[1], 1e4 * deviation, rtol=1e-9)


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (lambda: product(2, 1, "rbf", SE), "kernel: found 'rbf'"),
        (lambda: ContinuousGP(joint(1, 0, SE)).posterior(np.random.default_rng(0)), "observations: found none"),
        (lambda: ContinuousGP(joint(1, 0, SE)).add(np.zeros(2), np.zeros(0), 0.0), "inputs: found 2 coordinates"),
        (lambda: ContinuousGP(joint(1, 0, SE)).add(np.zeros(1), np.zeros(0), np.nan), "observation: found"),
    ],
)
def test_misuse_is_named_in_one_line(fault, line):
    with pytest.raises(BocuError, match=line):
        fault()


def waves(noise, count=56):
    """Quick waves of one decision: short length-scales explain them, or noise."""
    generator = np.random.default_rng(0)
    inputs = generator.random((count, 1))
    return inputs, np.sin(80.0 * inputs[:, 0]) + noise * generator.standard_normal(count)


@pytest.mark.parametrize(
    ("noise", "stuck"),
    [
        pytest.param(0.05, Hyperparameters(np.array([3.0]), 0.5, 1.0), id="payoffs taken for noise"),
        pytest.param(3.0, Hyperparameters(np.array([0.003]), 1.0, 2e-4), id="noise taken for payoffs"),
    ],
)
def test_a_fit_does_not_stay_at_the_noise_level_of_the_last_optimum(noise, stuck):
    structure = joint(1, 0, SE)
    inputs, outputs = waves(noise)
    objective = LogPosterior(structure, inputs, standardise(outputs)[2], Priors())
    generator = np.random.default_rng(1)
    best = max(
        objective(best_hyperparameters(objective, [Priors().draw(1, generator)]).to_vector())[0] for _ in range(20)
    )
    assert objective(best_hyperparameters(objective, [stuck]).to_vector())[0] < best - 1.0
    gp = ContinuousGP(structure)
    state = {"inputs": inputs, "outputs": outputs, "fitted": len(inputs) - 1, "afresh": {}}
    gp.restore({**state, "hyperparameters": stuck.state()})
    found = gp.posterior(np.random.default_rng(0)).hyperparameters
    assert objective(found.to_vector())[0] >= best - 0.01


def test_a_fit_starts_at_two_noise_levels():
    priors = Priors()
    quiet, noisy = Hyperparameters(np.ones(2), 1.0, 1e-3), Hyperparameters(np.ones(2), 1.0, 0.7)
    for last, observations, other in ((quiet, 8, NOISY), (quiet, 9, 2e-4), (noisy, 8, 2e-4), (noisy, 9, 2e-4)):
        starts = priors.starts(2, last, observations)
        assert starts[0] is last
        assert starts[1].noise == other
        assert len(starts) == 2
    assert [start.noise for start in priors.starts(2, None, 3)] == [2e-4, NOISY]
    assert priors.start(2).noise == QUIET
    assert Priors(least_noise=0.1).start(2).noise == 0.2
