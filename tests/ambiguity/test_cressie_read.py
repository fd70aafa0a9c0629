"""Cressie-Read sets of every allowed order against fifty digits."""

import numpy as np
import pytest

from ambiguity import precise
from bocu.core.errors import BocuError
from bocu.core.parameters import validate
from bocu.robust.ambiguity import CressieRead, worst_case
from bocu.robust.ambiguity.parameters import SetParameters

ORDERS = (1.05, 1.5, 2.0, 3.0, 4.0, 8.0, 20.0, 50.0, 100.0)


def instance(seed: int, n: int) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Payoffs and a reference; every third with a tie and a context without mass."""
    generator = np.random.default_rng([seed, n])
    f = generator.normal(size=n) * generator.choice([0.1, 1.0, 30.0]) + generator.normal() * 10.0
    p = generator.dirichlet(np.full(n, 0.8))
    if seed % 3 == 2 and n > 3:
        f[1], p[2] = f[0], 0.0
    return f, p / p.sum(), generator


def floor_radius(f: np.ndarray, p: np.ndarray, k: float) -> float:
    mass = p[(f == f[p > 0].min()) & (p > 0)].sum()
    return float(np.expm1(min((1.0 - k) * np.log(mass), 500.0)) / (k * (k - 1.0)))


@pytest.mark.parametrize("k", ORDERS)
@pytest.mark.parametrize("n", [2, 7])
def test_value_distribution_and_slopes_are_exact(k: float, n: int) -> None:
    for seed in range(4):
        f, p, generator = instance(seed, n)
        top = floor_radius(f, p, k)
        wide = float(10.0 ** generator.uniform(-6.0, 1.0))
        epsilon = wide if seed % 2 else float(np.exp(generator.uniform(np.log(top) - 7.0, np.log(top))))
        value, q, slope = precise.worst_case(f, p, epsilon, k)
        found = worst_case(f, p, CressieRead(epsilon, k))
        assert found.value == pytest.approx(value, abs=1e-11 * np.ptp(f))
        np.testing.assert_allclose(found.distribution, q, rtol=0.0, atol=1e-11)
        assert found.slope == pytest.approx(slope, rel=1e-9)
        mean, low = float(p @ f), float(f[p > 0].min())
        tau = low + (mean - low) * generator.uniform(0.01, 0.99)
        assert CressieRead(0.0, k).satisficing(f, p, tau) == pytest.approx(precise.satisficing(f, p, tau, k), rel=1e-9)


def test_a_context_keeps_mass_that_lies_below_the_last_digit_of_w() -> None:
    f, p = np.array([0.909, -2.995]), np.array([0.35, 0.65])
    assert worst_case(f, p, CressieRead(2.043, 20.0)).value == pytest.approx(-2.707663045297966, rel=1e-14)
    near_floor = floor_radius(f, p, 100.0) * (1.0 - 1e-9)
    value, q, slope = precise.worst_case(f, p, near_floor, 100.0)
    found = worst_case(f, p, CressieRead(near_floor, 100.0))
    assert float(found.value) == pytest.approx(value, rel=1e-14)
    np.testing.assert_allclose(
        found.distribution, q, rtol=1e-4, atol=0.0
    )  # the radius has seven digits of its way to the floor
    assert found.slope == pytest.approx(slope, rel=1e-9)


def test_rows_do_not_depend_on_each_other() -> None:
    generator = np.random.default_rng(4)
    f, p = generator.normal(size=(50, 12)), generator.dirichlet(np.ones(12), 50)
    for k in ORDERS:
        for ambiguity_set in (CressieRead(0.3, k), CressieRead(1e-5, k)):
            together = worst_case(f, p, ambiguity_set, rate=True)
            for row in range(0, 50, 7):
                alone = worst_case(f[row], p[row], ambiguity_set, rate=True)
                np.testing.assert_allclose(together.value[row], alone.value, rtol=0.0, atol=1e-12)
                np.testing.assert_allclose(together.rate[row], alone.rate, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("k", [1.05, 3.0, 20.0, 100.0])
def test_the_rate_is_how_the_distribution_moves(k: float) -> None:
    f, p, _ = instance(4, 7)
    epsilon = floor_radius(f, p, k) * (0.1 if k < 10 else 1e-3)
    step = 1e-5 * epsilon
    ends = [worst_case(f, p, CressieRead(epsilon + sign * step, k)).distribution for sign in (1.0, -1.0)]
    rate = worst_case(f, p, CressieRead(epsilon, k), rate=True).rate
    np.testing.assert_allclose(rate, (ends[0] - ends[1]) / (2.0 * step), rtol=1e-5, atol=1e-5 * np.abs(rate).max())


@pytest.mark.parametrize("k", [1.0, 1.049, 100.1, float("inf")])
def test_other_orders_are_refused_by_the_class_and_by_the_file(k: float) -> None:
    with pytest.raises(BocuError, match=r"k is .*: it must lie in \[1.05, 100\]"):
        CressieRead(0.1, k)
    with pytest.raises(BocuError, match=r"k") as caught:
        validate(SetParameters, {"name": "cr", "k": k}, "objectives.0.set.")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("k", [1.05, 100.0])
def test_the_file_allows_what_the_class_allows(k: float) -> None:
    ambiguity_set = validate(SetParameters, {"name": "cr", "k": k}, "").over(np.zeros((3, 1)))
    assert isinstance(ambiguity_set, CressieRead)
    assert ambiguity_set.k == k
