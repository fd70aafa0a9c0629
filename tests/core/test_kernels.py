"""`bocu.core.kernels`: values against closed forms, slopes against differences, spectral draws against the kernel."""

import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.core.kernels import KERNELS, Kernel, Matern52, SquaredExponential, kernel_named, squared_distance
from bocu.learners.surrogates.continuous.structure import joint
from bocu.robust.ambiguity import squared_exponential_gram

KINDS = list(KERNELS.values())
POINTS = np.random.default_rng(0).random((7, 3))


def test_values_by_hand() -> None:
    apart = np.array([[0.0, 0.0]]), np.array([[0.6, 0.4]])  # 2 and 1 length-scales: s = 5
    assert SquaredExponential((0.3, 0.4))(*apart)[0, 0] == pytest.approx(np.exp(-2.5))
    assert Matern52((0.3, 0.4))(*apart)[0, 0] == pytest.approx((1 + 5 + 25 / 3) * np.exp(-5))


@pytest.mark.parametrize("kind", KINDS)
def test_value_and_slope_agree_with_the_value_and_its_differences(kind: type[Kernel]) -> None:
    s = np.linspace(0.01, 9.0, 200)
    value, slope = kind.value_and_slope(s)
    np.testing.assert_allclose(value, kind.value(s), rtol=1e-14)
    np.testing.assert_allclose(slope, (kind.value(s + 1e-6) - kind.value(s - 1e-6)) / 2e-6, rtol=1e-7, atol=1e-10)
    assert np.isfinite(kind.value_and_slope(np.zeros(1))[1]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_spectral_draws_give_the_kernel_back(kind: type[Kernel]) -> None:
    kernel = kind((0.4, 0.9, 0.6))
    frequencies = kernel.spectral(np.random.default_rng(1), 200_000)
    angles = (POINTS[:1] - POINTS) @ frequencies.T
    np.testing.assert_allclose(np.cos(angles).mean(axis=1), kernel(POINTS[:1], POINTS)[0], atol=0.01)


def test_kernels_of_axes_multiply_to_the_squared_exponential() -> None:
    kernel = SquaredExponential((0.4, 0.9, 0.6))
    parts = [axis(POINTS[:, [d]], POINTS[:, [d]]) for d, axis in enumerate(kernel.axes())]
    np.testing.assert_allclose(np.prod(parts, axis=0), kernel(POINTS, POINTS), rtol=1e-14)
    assert Matern52((0.4, 0.9)).axes() is None


def test_squared_distances_are_those_of_pairs() -> None:
    whole = squared_distance(POINTS, POINTS[:4], (0.1, 0.2, 0.3))
    np.testing.assert_allclose(whole[2, 3], np.square((POINTS[2] - POINTS[3]) / [0.1, 0.2, 0.3]).sum(), rtol=1e-14)


def test_a_grid_a_gram_matrix_and_a_continuous_model_share_the_kernel() -> None:
    scale = np.array([0.25, 0.5, 0.125])  # powers of 2: dividing points or differences by them rounds nothing
    of_grid = SquaredExponential(tuple(scale))(POINTS, POINTS)
    np.testing.assert_array_equal(squared_exponential_gram(POINTS, scale, 0.0), of_grid)
    np.testing.assert_array_equal(joint(2, 1, "squared-exponential").correlation(scale, POINTS, POINTS), of_grid)


def test_an_unknown_kernel_is_refused_with_the_nearest() -> None:
    with pytest.raises(BocuError, match=r"kernel: found 'matern-5'.*matern-5/2"):
        kernel_named("matern-5")


def test_points_of_other_dimensions_are_refused() -> None:
    with pytest.raises(BocuError, match=r"points: found shape \(7, 3\); allowed: \(points, 2\)"):
        SquaredExponential((0.1, 0.2))(POINTS, POINTS)


@pytest.mark.parametrize("kernel", list(KERNELS.values()))
def test_large_arrays_are_their_parts_bit_for_bit(kernel):
    s = 30.0 * np.random.default_rng(0).random((3, 20_001))
    for whole, *parts in zip(kernel.value_and_slope(s), *(kernel.value_and_slope(row) for row in s), strict=True):
        np.testing.assert_array_equal(whole, np.stack(parts))
