"""Grids, references, kernel density estimates and their distance from the truth."""

import math

import numpy as np
import pytest
from ambiguity.cases import vectors

from bocu.core.errors import BocuError
from bocu.robust.contexts.estimates import (
    KernelDensity,
    around_mean,
    box_around_mean,
    covering_grid,
    cumulative,
    diagonal_grid,
    discretised,
    draw,
    empirical,
    kde_radius,
    nearest_points,
    product_grid,
    silverman_bandwidth,
)


def normal_density(c: np.ndarray, mean: float = 0.5, std: float = 0.15) -> np.ndarray:
    return np.exp(-0.5 * ((c - mean) / std) ** 2) / (std * math.sqrt(2 * math.pi))


@pytest.mark.parametrize("case", vectors()["formulas"]["kde_silverman"])
def test_kernel_density_vector(case: dict) -> None:
    estimate = KernelDensity.fit(case["samples"])
    np.testing.assert_allclose(estimate.bandwidth, case["bandwidth"], rtol=0, atol=case["tol"])
    np.testing.assert_allclose(estimate.density(case["query"]), case["density"], rtol=case["tol"], atol=case["tol"])


def test_density_integrates_to_one() -> None:
    estimate = KernelDensity.fit(np.random.default_rng(0).normal(size=(30, 1)))
    at = np.linspace(-8, 8, 4001)
    assert np.trapezoid(estimate.density(at[:, None]), at) == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(np.gradient(cumulative(estimate, at), at), estimate.density(at[:, None]), atol=1e-4)


def test_draws_have_the_estimated_distribution_and_stay_in_the_box() -> None:
    samples = np.random.default_rng(1).uniform(0.1, 0.4, size=(50, 2))
    estimate = KernelDensity.fit(samples, [0, 0], [1, 0.3])
    drawn = estimate.sample(np.random.default_rng(2), 40_000)
    assert drawn.min() >= 0.0
    assert (drawn <= [1.0, 0.3]).all()
    wide = KernelDensity(estimate.samples, estimate.bandwidth).sample(np.random.default_rng(2), 40_000)
    np.testing.assert_allclose(wide.mean(axis=0), samples.mean(axis=0), atol=5e-3)
    np.testing.assert_allclose(wide.var(axis=0), samples.var(axis=0) + estimate.bandwidth**2, rtol=3e-2)


def test_weights_count_samples_as_often_as_they_say() -> None:
    samples = np.array([[0.1, 0.4], [0.3, 0.5], [0.8, 0.9]])
    kept = KernelDensity.fit(samples, weights=np.array([0.0, 0.5, 0.5]))
    alone = KernelDensity.fit(samples[1:])
    np.testing.assert_allclose(kept.bandwidth, alone.bandwidth, rtol=1e-12)
    query = np.random.default_rng(0).random((20, 2))
    np.testing.assert_allclose(kept.density(query), alone.density(query), rtol=1e-12)
    alike = KernelDensity.fit(samples, weights=np.full(3, 1 / 3))
    np.testing.assert_allclose(alike.density(query), KernelDensity.fit(samples).density(query), rtol=1e-12)
    uneven = KernelDensity(samples, np.full(2, 1e-6), weights=np.array([0.2, 0.8, 0.0]))
    drawn = uneven.sample(np.random.default_rng(1), 4000)
    assert np.mean(np.abs(drawn[:, 0] - 0.3) < 0.01) == pytest.approx(0.8, abs=0.03)
    assert (drawn[:, 0] < 0.5).all()


def test_equal_samples_get_the_smallest_bandwidth() -> None:
    assert silverman_bandwidth(np.full((5, 1), 2.0), width=[10.0]) == pytest.approx(1e-5)
    assert KernelDensity.fit([[0.3]], [0.0], [1.0]).bandwidth == pytest.approx(1e-6)
    assert KernelDensity.fit([[3.3]], [3.0], [4.0]).bandwidth == pytest.approx(1e-6)  # the box's width, wherever it is


def test_grids() -> None:
    grid = product_grid([0, 1], [1, 3], [2, 3])
    np.testing.assert_array_equal(grid, [[0, 1], [0, 2], [0, 3], [1, 1], [1, 2], [1, 3]])
    assert covering_grid([0] * 4, [1] * 4, 100).shape == (256, 4)
    assert covering_grid([0] * 4, [1] * 4, 1024).shape == (1296, 4)
    assert covering_grid(0, 1, 100).shape == (100, 1)
    assert covering_grid([0] * 3, [1] * 3, 64).shape == (64, 3)
    np.testing.assert_array_equal(diagonal_grid([0, 0], [1, 2], 3), [[0, 0], [0.5, 1], [1, 2]])


def test_empirical_reference_counts_nearest_points() -> None:
    points = product_grid(0, 1, 3)
    np.testing.assert_array_equal(nearest_points([0.24, 0.26, 0.25, 0.9], points), [0, 1, 0, 2])
    np.testing.assert_array_equal(empirical([0.24, 0.26, 0.25, 0.9], points), [0.5, 0.25, 0.25])


def test_discretised_reference_is_normalised() -> None:
    p = discretised(lambda c: normal_density(c[:, 0]), product_grid(0, 1, 11))
    assert p.sum() == pytest.approx(1.0, abs=1e-15)
    assert p.argmax() == 5


def test_draws_by_inversion() -> None:
    reference = [0.0, 0.25, 0.0, 0.75, 0.0]
    np.testing.assert_array_equal(draw(reference, [0.0, 0.2499, 0.25, 1 - 1e-16]), [1, 1, 3, 3])
    found = draw(reference, np.random.default_rng(0).random(20_000))
    assert np.mean(found == 1) == pytest.approx(0.25, abs=0.01)


def test_radius_of_drbo_kde() -> None:
    assert kde_radius(32, 1) == pytest.approx(32 ** (-2 / 5))


def test_stable_sets() -> None:
    points = product_grid(0, 1, 5)
    p = np.array([0.5, 0.0, 0.0, 0.0, 0.5])
    assert around_mean(points, p, 0.25).tolist() == [1, 2, 3]
    assert around_mean(points, np.array([0.3, 0.7, 0, 0, 0]), 0.0).tolist() == [1]
    between = np.array([0.0, 0.1, 0.4, 0.4, 0.1])  # the mean is half-way from the third point to the fourth
    assert around_mean(points, between, 0.0).tolist() == [2]
    low, high = box_around_mean([[0.2], [0.4]], [0.0], [0.42])
    std = math.sqrt(0.02)
    np.testing.assert_allclose([low[0], high[0]], [0.3 - std, 0.42])
    low, high = box_around_mean([[0.2]], [0.0], [1.0])
    assert low == high == 0.2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: product_grid([0.0], [-1.0], 3), r"lower\[0\] is 0.0 above upper\[0\] = -1.0"),
        (lambda: product_grid([0.0], [1.0, 2.0], 3), "both must be"),
        (lambda: product_grid(0, 1, 0), "per_dimension is"),
        (lambda: empirical(np.empty((0, 1)), [[0.0]]), "observations is empty"),
        (lambda: nearest_points([[0.0, 1.0]], [[0.0]]), "observations has dimension 2, points has 1"),
        (lambda: discretised(lambda c: -np.ones(len(c)), [[0.0], [1.0]]), "density sums to -2.0"),
        (lambda: silverman_bandwidth(np.empty((0, 2))), "samples is empty"),
        (lambda: KernelDensity.fit([[0.0, np.nan]]), r"samples\[\(0, 1\)\] is nan"),
        (lambda: kde_radius(0, 1), "observations is 0"),
    ],
)
def test_faults(call, message: str) -> None:
    with pytest.raises(BocuError, match=message):
        call()
