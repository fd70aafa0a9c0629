"""Grids, references, kernel density estimates and their distance from the truth."""

import math

import numpy as np
import pytest
from ambiguity.cases import vectors

from bocu.contexts.estimates import (
    KernelDensity,
    around_mean,
    box_around_mean,
    covering_grid,
    diagonal_grid,
    discretised,
    draw,
    empirical,
    kde_radius,
    nearest,
    product_grid,
    silverman_bandwidth,
    total_variation_by_sampling,
    total_variation_on_line,
)
from bocu.core.errors import BocuError


def normal_density(c: np.ndarray, mean: float = 0.5, std: float = 0.15) -> np.ndarray:
    return np.exp(-0.5 * ((c - mean) / std) ** 2) / (std * math.sqrt(2 * math.pi))


def normal_cumulative(c: np.ndarray, mean: float = 0.5, std: float = 0.15) -> np.ndarray:
    return np.array([0.5 * math.erfc(-(x - mean) / std / math.sqrt(2)) for x in c])


@pytest.mark.parametrize("case", vectors()["formulas"]["kde_silverman"])
def test_kernel_density_vector(case: dict) -> None:
    estimate = KernelDensity.fit(case["samples"])
    np.testing.assert_allclose(estimate.bandwidth, case["bandwidth"], rtol=0, atol=case["tol"])
    np.testing.assert_allclose(estimate.density(case["query"]), case["density"], rtol=case["tol"], atol=case["tol"])


def test_density_integrates_to_one() -> None:
    estimate = KernelDensity.fit(np.random.default_rng(0).normal(size=(30, 1)))
    at = np.linspace(-8, 8, 4001)
    assert np.trapezoid(estimate.density(at[:, None]), at) == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(np.gradient(estimate.cumulative(at), at), estimate.density(at[:, None]), atol=1e-4)


def test_draws_have_the_estimated_distribution_and_stay_in_the_box() -> None:
    samples = np.random.default_rng(1).uniform(0.1, 0.4, size=(50, 2))
    estimate = KernelDensity.fit(samples, [0, 0], [1, 0.3])
    drawn = estimate.sample(np.random.default_rng(2), 40_000)
    assert drawn.min() >= 0.0
    assert (drawn <= [1.0, 0.3]).all()
    wide = KernelDensity(estimate.samples, estimate.bandwidth).sample(np.random.default_rng(2), 40_000)
    np.testing.assert_allclose(wide.mean(axis=0), samples.mean(axis=0), atol=5e-3)
    np.testing.assert_allclose(wide.var(axis=0), samples.var(axis=0) + estimate.bandwidth**2, rtol=3e-2)


def test_equal_samples_get_the_smallest_bandwidth() -> None:
    assert silverman_bandwidth(np.full((5, 1), 2.0), width=[10.0]) == pytest.approx(1e-5)
    assert KernelDensity.fit([[0.3]], [0.0], [1.0]).bandwidth == pytest.approx(1e-6)


def test_total_variation_on_the_line_has_atoms_at_the_ends() -> None:
    samples = np.clip(np.random.default_rng(3).normal(0.5, 0.4, size=(200, 1)), 0, 1)
    clipped = KernelDensity.fit(samples, [0.0], [1.0])

    def density(c: np.ndarray) -> np.ndarray:
        return normal_density(c, 0.5, 0.4)

    def cumulative(c: np.ndarray) -> np.ndarray:
        return normal_cumulative(c, 0.5, 0.4)

    found = total_variation_on_line(clipped, density, cumulative)
    at = np.linspace(0, 1, 200_001)
    inside = np.trapezoid(np.abs(clipped.density(at[:, None]) - density(at)), at)
    low = abs(clipped.cumulative([0.0])[0] - cumulative([0.0])[0])
    high = abs(clipped.cumulative([1.0])[0] - cumulative([1.0])[0])
    assert found == pytest.approx(inside + low + high, abs=1e-6)
    assert 0.0 < found < 2.0


def test_total_variation_of_an_estimate_falls_with_samples_as_published() -> None:
    # Huang et al. (2024), Table 2: 0.322 at 10 samples and 0.096 at 300, means of 20 runs.
    means = []
    for count in (10, 300):
        distances = [
            total_variation_on_line(
                KernelDensity.fit(np.random.default_rng(seed).normal(0.5, 0.15, size=(count, 1))),
                normal_density,
                normal_cumulative,
            )
            for seed in range(20)
        ]
        means.append(np.mean(distances))
    assert means[0] == pytest.approx(0.322, abs=0.07)
    assert means[1] == pytest.approx(0.096, abs=0.02)


def test_total_variation_by_sampling_agrees_with_the_integral() -> None:
    generator = np.random.default_rng(4)
    estimate = KernelDensity.fit(generator.normal(0.5, 0.15, size=(40, 1)))
    exact = total_variation_on_line(estimate, normal_density, normal_cumulative)
    draws = generator.normal(0.5, 0.15, size=(40_000, 1))
    found = total_variation_by_sampling(estimate, lambda c: normal_density(c[:, 0]), draws, generator)
    assert found == pytest.approx(exact, abs=0.01)


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
    np.testing.assert_array_equal(nearest([0.24, 0.26, 0.25, 0.9], points), [0, 1, 0, 2])
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
    np.testing.assert_array_equal(around_mean(points, p, 0.25), [False, True, True, True, False])
    np.testing.assert_array_equal(around_mean(points, [0.3, 0.7, 0, 0, 0], 0.0), [False, True, False, False, False])
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
        (lambda: nearest([[0.0, 1.0]], [[0.0]]), "observations has dimension 2, points has 1"),
        (lambda: discretised(lambda c: -np.ones(len(c)), [[0.0], [1.0]]), "density sums to -2.0"),
        (lambda: silverman_bandwidth(np.empty((0, 2))), "samples is empty"),
        (lambda: KernelDensity.fit([[0.0, np.nan]]), r"samples\[\(0, 1\)\] is nan"),
        (lambda: KernelDensity.fit([[0.0, 1.0]]).cumulative([0.0]), "cumulative needs dimension 1"),
        (lambda: kde_radius(0, 1), "observations is 0"),
        (lambda: around_mean([[0.0]], [1.0], -1.0), "radius is -1.0"),
    ],
)
def test_faults(call, message: str) -> None:
    with pytest.raises(BocuError, match=message):
        call()
