"""`bocu.learners.surrogates.grid`: posteriors against gpytorch, dense solves and their own saved states."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_moments import covariance_of, joint_gram

from bocu.core.errors import BocuError
from bocu.core.kernels import Kernel, Matern52, SquaredExponential
from bocu.learners.surrogates.grid import GridPosterior, GridPrior

KERNELS: tuple[type, ...] = (SquaredExponential, Matern52)


def product_grid(*sizes: int) -> np.ndarray:
    axes = [np.linspace(0.0, 1.0, size) for size in sizes]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(sizes))


def a_prior(kind: type = SquaredExponential, noise: float = 0.01, mean: float = 0.0) -> GridPrior:
    """A feasible part of a 9 x 7 grid of decisions, irregular contexts on a line."""
    decisions = product_grid(9, 7)
    feasible = decisions[decisions.sum(axis=1) <= 1.2]
    contexts = np.random.default_rng(0).random((5, 1))
    return GridPrior(feasible, contexts, kind((0.2, 0.35)), kind((0.3,)), variance=1.7, noise=noise, mean=mean)


def observations(prior: GridPrior, count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    x, c = (generator.integers(0, size, count) for size in prior.shape)
    smooth = np.sin(6.0 * prior.decisions[x, 0]) * np.cos(4.0 * prior.contexts[c, 0])
    return x, c, prior.mean + smooth + prior.noise * generator.standard_normal(count)


def told(prior: GridPrior, seen: tuple[np.ndarray, np.ndarray, np.ndarray]) -> GridPosterior:
    posterior = GridPosterior(prior)
    for x, c, value in zip(*seen, strict=True):
        posterior.add(int(x), int(c), float(value))
    return posterior


def assert_same(first: Any, second: Any) -> None:
    assert first.keys() == second.keys()
    for key, value in first.items():
        np.testing.assert_array_equal(value, second[key])


@pytest.mark.parametrize("kind", KERNELS)
def test_posterior_is_that_of_gpytorch(kind: type) -> None:
    import gpytorch
    import torch

    prior = a_prior(kind, mean=0.4)
    dimensions = prior.decisions.shape[1]

    def kernel_of(kernel: Kernel, dims: list[int]) -> gpytorch.kernels.Kernel:
        shape = {"ard_num_dims": len(dims), "active_dims": dims}
        matern = kind is Matern52
        made = gpytorch.kernels.MaternKernel(nu=2.5, **shape) if matern else gpytorch.kernels.RBFKernel(**shape)
        made.lengthscale = torch.tensor([kernel.lengthscale], dtype=torch.float64)
        return made

    class Exact(gpytorch.models.ExactGP):
        def __init__(self, inputs: torch.Tensor, values: torch.Tensor) -> None:
            noise = torch.full_like(values, prior.noise**2)
            super().__init__(inputs, values, gpytorch.likelihoods.FixedNoiseGaussianLikelihood(noise))
            self.mean_module = gpytorch.means.ConstantMean()
            of_x = kernel_of(prior.decision_kernel, list(range(dimensions)))
            of_c = kernel_of(prior.context_kernel, [dimensions])
            self.covar_module = gpytorch.kernels.ScaleKernel(of_x * of_c)

        def forward(self, inputs: torch.Tensor) -> gpytorch.distributions.MultivariateNormal:
            return gpytorch.distributions.MultivariateNormal(self.mean_module(inputs), self.covar_module(inputs))

    seen = observations(prior, 200)
    posterior = told(prior, seen)
    x, c = np.unravel_index(np.arange(prior.size), prior.shape)
    inputs = torch.tensor(np.hstack([prior.decisions[x], prior.contexts[c]]))
    model = Exact(inputs[seen[0] * prior.shape[1] + seen[1]], torch.tensor(seen[2])).double()
    model.mean_module.initialize(constant=prior.mean)
    model.covar_module.outputscale = prior.variance
    model.eval()
    exactly = gpytorch.settings.fast_computations(covar_root_decomposition=False, log_prob=False, solves=False)
    with torch.no_grad(), exactly, gpytorch.settings.fast_pred_var(False):
        expected = model(inputs)
        mean, covariance = expected.mean.numpy(), expected.covariance_matrix.numpy()

    np.testing.assert_allclose(posterior.mean().ravel(), mean, atol=1e-8)
    np.testing.assert_allclose(posterior.variance().ravel(), np.diag(covariance), atol=1e-8)
    np.testing.assert_allclose(covariance_of(posterior), covariance, atol=1e-8)  # what tests of samples go by
    np.testing.assert_array_equal(posterior.deviation(), np.sqrt(posterior.variance()))


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("count", [0, 1, 33, 150])
def test_factor_and_fields_agree(kind: type, count: int) -> None:
    prior = a_prior(kind, mean=-2.0)
    posterior = told(prior, observations(prior, count))
    some = np.array([7, 0, 7, prior.shape[0] - 1])
    np.testing.assert_allclose(posterior.mean_of(some), posterior.mean()[some], atol=1e-9)
    np.testing.assert_allclose(posterior.variance_of(some), posterior.variance()[some], atol=1e-10)
    diagonal = np.diag(covariance_of(posterior)).reshape(prior.shape)
    np.testing.assert_allclose(diagonal, posterior.variance(), atol=1e-8)


def test_without_observations_the_posterior_is_the_prior() -> None:
    prior = a_prior(mean=0.3)
    posterior = GridPosterior(prior)
    np.testing.assert_array_equal(posterior.mean(), np.full(prior.shape, 0.3))
    np.testing.assert_array_equal(posterior.variance(), np.full(prior.shape, 1.7))


def test_solve_and_combination_are_the_dense_ones() -> None:
    prior = a_prior()
    seen = observations(prior, 90)
    posterior = told(prior, seen)
    cells = seen[0] * prior.shape[1] + seen[1]
    gram = joint_gram(prior)
    noisy = gram[np.ix_(cells, cells)] + prior.noise**2 * np.eye(90)
    right = np.random.default_rng(2).standard_normal((90, 3))
    np.testing.assert_allclose(noisy @ posterior.solve(right), right, atol=1e-10)
    np.testing.assert_allclose(posterior.solve(right[:, 1]), posterior.solve(right)[:, 1], atol=1e-8)
    expected = (gram[:, cells] @ right[:, 0]).reshape(prior.shape)
    np.testing.assert_allclose(posterior.combination(right[:, 0]), expected, atol=1e-12)


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 70))
def test_order_of_observations_does_not_matter(seed: int, count: int) -> None:
    prior = a_prior(noise=0.05)
    seen = observations(prior, count, seed)
    order = np.random.default_rng(seed).permutation(count)
    first, second = told(prior, seen), told(prior, (seen[0][order], seen[1][order], seen[2][order]))
    np.testing.assert_allclose(first.mean(), second.mean(), atol=1e-9)
    np.testing.assert_allclose(first.variance(), second.variance(), atol=1e-10)


def test_an_observation_never_adds_variance() -> None:
    prior = a_prior()
    posterior = GridPosterior(prior)
    before = posterior.variance().copy()
    for x, c, value in zip(*observations(prior, 60), strict=True):
        posterior.add(int(x), int(c), float(value))
        assert (posterior.variance() <= before).all()
        before = posterior.variance().copy()


def test_fields_do_not_depend_on_how_often_they_are_asked_for() -> None:
    prior = a_prior()
    seen = observations(prior, 80)
    asked, silent = GridPosterior(prior), told(prior, seen)
    for n, (x, c, value) in enumerate(zip(*seen, strict=True)):
        asked.add(int(x), int(c), float(value))
        if n % 3 == 0:
            asked.mean()
    np.testing.assert_array_equal(asked.mean(), silent.mean())
    np.testing.assert_array_equal(asked.deviation(), silent.deviation())


@pytest.mark.parametrize("cut", [0, 1, 32, 47])
@pytest.mark.parametrize("asks", [True, False])
def test_restored_posterior_goes_on_bit_for_bit(cut: int, asks: bool) -> None:
    prior = a_prior()
    seen = observations(prior, 100)
    whole = told(prior, tuple(part[:cut] for part in seen))
    if asks:
        whole.deviation()
    state = whole.state()
    restored = told(prior, observations(prior, 5, seed=9))  # what it held before must be gone
    restored.mean()
    restored.restore(state)
    assert_same(restored.state(), state)
    for x, c, value in zip(*(part[cut:] for part in seen), strict=True):
        for posterior in (whole, restored):
            posterior.add(int(x), int(c), float(value))
    np.testing.assert_array_equal(whole.mean(), restored.mean())
    np.testing.assert_array_equal(whole.deviation(), restored.deviation())
    assert_same(whole.state(), restored.state())


def test_a_state_is_not_changed_by_what_follows() -> None:
    prior = a_prior()
    posterior = told(prior, observations(prior, 10))
    posterior.mean()
    state = posterior.state()
    saved = {key: np.array(value) for key, value in state.items()}
    posterior.add(3, 2, 5.0)
    posterior.mean()
    assert_same(state, saved)


@pytest.mark.parametrize("noise", [1.4e-7, 1e-6, 1e-4])
def test_little_noise_and_repeated_points_keep_to_the_observations(noise: float) -> None:
    """Observations of one smooth function: its values come back to within rounding, amplified by 1 / noise."""
    prior = a_prior(noise=noise)
    payoff = np.sin(3.0 * prior.decisions[:, :1]) * np.cos(prior.contexts[:, 0])
    posterior = GridPosterior(prior)
    for n in range(300):
        x, c = (n * 7) % prior.shape[0], n % prior.shape[1]
        posterior.add(x, c, payoff[x, c])
        posterior.add(x, c, payoff[x, c])
    cells = posterior.decisions, posterior.contexts
    np.testing.assert_allclose(posterior.mean()[cells], payoff[cells], atol=10.0 * noise)
    assert 0.0 <= posterior.variance()[cells].min() <= posterior.variance()[cells].max() <= noise**2 + 1e-13


def test_given_arrays_are_read_only() -> None:
    prior = a_prior()
    posterior = told(prior, observations(prior, 4))
    for array in (prior.decision_gram, posterior.values, posterior.mean(), posterior.variance(), posterior.deviation()):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((99, 0, 0.0), "decision: found 99"), ((0, -1, 0.0), "context: found -1"), ((0, 0, np.nan), "found nan")],
)
def test_bad_observations_are_refused_and_leave_nothing(arguments: tuple[int, int, float], message: str) -> None:
    posterior = GridPosterior(a_prior())
    with pytest.raises(BocuError, match=message):
        posterior.add(*arguments)
    assert posterior.count == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"noise": 0.0}, "noise: found 0.0"),
        ({"noise": 1e-8}, "noise: found 1e-08; allowed: 1e-07 prior standard deviations or more"),
        ({"variance": -1.0}, "variance: found -1.0"),
        ({"mean": np.inf}, "mean: found inf"),
        ({"decisions": np.zeros((4, 3))}, r"decisions: found shape \(4, 3\)"),
        ({"contexts": np.array([[np.nan]])}, "contexts: found a coordinate"),
    ],
)
def test_bad_priors_are_refused(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {
        "decisions": np.zeros((4, 2)),
        "contexts": np.zeros((3, 1)),
        "decision_kernel": SquaredExponential((0.1, 0.1)),
        "context_kernel": Matern52((0.1,)),
    }
    with pytest.raises(BocuError, match=message):
        GridPrior(**{**arguments, **changes})


@pytest.mark.parametrize("lengthscale", [(), (0.0,), (0.1, -1.0), (np.nan,)])
@pytest.mark.parametrize("kind", KERNELS)
def test_bad_lengthscales_are_refused(kind: type, lengthscale: tuple[float, ...]) -> None:
    with pytest.raises(BocuError, match="lengthscale"):
        kind(lengthscale)
