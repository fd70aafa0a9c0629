"""Covariances of many points: every form agrees with the matrix, and large grids do without it."""

import tracemalloc

import numpy as np
import pytest

from bocu.core.kernels import Matern52, SquaredExponential
from bocu.learners.surrogates.grams import EvaluatedGram, ProductGram, StoredGram, axis_root, gram_of
from bocu.learners.surrogates.grid import GridPosterior, GridPrior


def product_grid(*sizes):
    axes = [np.linspace(0.0, 1.0, size) for size in sizes]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(sizes))


def shuffled(points):
    return np.random.default_rng(3).permutation(points)


FULL = product_grid(9, 4, 5)
POINTS = {"full": FULL, "in another order": shuffled(FULL), "a part": FULL[FULL.sum(axis=1) <= 2.0]}
KERNEL = SquaredExponential((0.2, 0.35, 0.5))


@pytest.mark.parametrize("form", ["evaluated", "product"])
@pytest.mark.parametrize("points", list(POINTS.values()), ids=list(POINTS))
def test_forms_agree_with_the_matrix(points, form):
    matrix = KERNEL(points, points)
    gram = EvaluatedGram(KERNEL, points)
    if form == "product":
        gram = ProductGram(KERNEL, points, axis_root(KERNEL, points))
    rows, columns = np.array([3, 70, 3]), np.array([5, 0])
    np.testing.assert_allclose(gram.block(rows, columns), matrix[np.ix_(rows, columns)], atol=1e-15)
    np.testing.assert_array_equal(gram.matrix(), matrix)
    for each in (gram, StoredGram(matrix)):
        assert np.array_equal(each.column(rows, 5), each.block(rows, np.array([5]))[:, 0])
    combined, stored = gram.combination(), StoredGram(matrix).combination()
    generator = np.random.default_rng(0)
    for count, point in enumerate(generator.permutation(len(points))[:50], start=1):
        combined.add(int(point))
        stored.add(int(point))
        weights = generator.standard_normal((count, 6))
        np.testing.assert_allclose(combined(weights), stored(weights), atol=1e-11)
        few = weights[: count // 2 + 1]
        np.testing.assert_allclose(combined(few), stored(few), atol=1e-11)


def test_the_form_follows_the_number_of_points_and_the_kernel():
    many = product_grid(70, 60)
    scattered = np.random.default_rng(0).random((4200, 2))
    smooth, rough = SquaredExponential((0.1, 0.1)), Matern52((0.1, 0.1))
    assert type(gram_of(smooth, product_grid(64, 64))) is StoredGram
    assert type(gram_of(smooth, many)) is ProductGram
    assert type(gram_of(rough, many)) is EvaluatedGram
    assert type(gram_of(smooth, scattered)) is EvaluatedGram


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
