"""Covariances of many points go without their matrix; roots: what eigenvectors leave open is decided."""

import tracemalloc

import numpy as np
import pytest

from bocu.core.kernels import Matern52, SquaredExponential
from bocu.learners.surrogates.grams import SMALLEST, Combination, PointGram, SpectralRoot
from bocu.learners.surrogates.grid import GridPosterior, GridPrior


def product_grid(*sizes):
    axes = [np.linspace(0.0, 1.0, size) for size in sizes]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(sizes))


@pytest.mark.parametrize("kernel", [SquaredExponential((0.2, 0.35, 0.5)), Matern52((0.2, 0.35, 0.5))])
def test_what_is_worked_out_is_what_is_stored(kernel, monkeypatch):
    points = product_grid(9, 4, 5)
    stored = PointGram(kernel, points)
    monkeypatch.setattr("bocu.learners.surrogates.grams.LARGEST_MATRIX", 0)
    gram = PointGram(kernel, points)
    rows, columns = np.array([3, 70, 3]), np.array([5, 0])
    np.testing.assert_array_equal(gram.matrix(), stored.matrix())
    np.testing.assert_allclose(gram.block(rows, columns), stored.block(rows, columns), atol=1e-15)
    for each in (gram, stored):
        assert np.array_equal(each.column(rows, 5), each.block(rows, np.array([5]))[:, 0])
    for combined in (Combination(gram), Combination(stored)):
        generator = np.random.default_rng(0)
        chosen = generator.permutation(len(points))[:50]
        for count, point in enumerate(chosen, start=1):
            combined.add(int(point))
            for weights in (generator.standard_normal((count, 6)), generator.standard_normal((count // 2 + 1, 6))):
                expected = kernel(points, points[chosen[: len(weights)]]) @ weights
                np.testing.assert_allclose(combined(weights), expected, atol=1e-11)


@pytest.mark.parametrize("kernel", [SquaredExponential((0.1, 0.1)), Matern52((0.1, 0.1))])
def test_posteriors_of_many_decisions_need_no_matrix_of_them(kernel):
    decisions, contexts = product_grid(80, 80), product_grid(2, 2)
    tracemalloc.start()
    posterior = GridPosterior(GridPrior(decisions, contexts, kernel, SquaredExponential((0.5, 0.5)), noise=0.1))
    generator = np.random.default_rng(0)
    for _ in range(40):
        posterior.add(int(generator.integers(6400)), int(generator.integers(4)), float(generator.standard_normal()))
    mean, variance = posterior.mean().copy(), posterior.variance().copy()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * len(decisions) ** 2 / 10
    some = np.array([0, 17, 6399])
    np.testing.assert_allclose(mean[some], posterior.mean_of(some), atol=1e-11)
    np.testing.assert_allclose(variance[some], posterior.variance_of(some), atol=1e-11)
    restored = GridPosterior(posterior.prior)
    restored.restore(posterior.state())
    for one in (posterior, restored):
        one.add(5, 3, 1.0)
    np.testing.assert_array_equal(restored.mean(), posterior.mean())
    np.testing.assert_array_equal(restored.variance(), posterior.variance())


LINE = np.linspace(0.0, 1.0, 60)[:, None]
GRAMS = {
    "smooth, singular to rounding": SquaredExponential((0.2,))(LINE, LINE),
    "rough": Matern52((0.3,))(LINE, LINE),
    "of rank 3": np.array([[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 3.0]]),
}


def rounded(gram: np.ndarray, seed: int) -> np.ndarray:
    """The matrix as another processor may have it."""
    noise = np.random.default_rng(seed).uniform(-1.0, 1.0, gram.shape)
    return gram * (1.0 + 1e-15 * (noise + noise.T))


@pytest.fixture(params=GRAMS.values(), ids=GRAMS)
def gram(request):
    return request.param


def test_the_root_is_one_with_largest_eigenvalues_first_and_signs_fixed(gram):
    root = SpectralRoot(gram).matrix
    np.testing.assert_allclose(root @ root.T, gram, atol=1e-9)
    eigenvalues = (root**2).sum(axis=0)
    assert (np.diff(eigenvalues) < 0.0).all()
    assert eigenvalues[-1] > 0.99 * SMALLEST * eigenvalues[0]
    for column in root.T:
        first = np.flatnonzero(np.abs(column) >= 0.5 * np.abs(column).max())[0]
        assert column[first] > 0.0


def test_rounding_of_a_matrix_moves_a_draw_by_little(gram):
    normal = np.random.default_rng(0).standard_normal(len(gram))
    draws = []
    for each in (gram, *(rounded(gram, seed) for seed in range(5))):
        root = SpectralRoot(each)
        draws.append(root.times(normal[: root.rank]))
    for draw in draws[1:]:
        np.testing.assert_allclose(draw, draws[0], atol=1e-5)
