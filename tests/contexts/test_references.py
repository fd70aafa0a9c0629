"""References that are estimated from the contexts seen, against their definitions."""

import numpy as np
import pydantic
import pytest
from scipy.stats import norm

from bocu.robust.contexts.estimates import product_grid, silverman_bandwidth
from bocu.robust.contexts.references import Estimate

POINTS = product_grid([0, 0], [1, 1], [4, 3])
SEEN = np.random.default_rng(0).integers(12, size=50)


def test_all_count_alike():
    weights = Estimate(name="empirical").weights(SEEN, POINTS)
    np.testing.assert_array_equal(weights, np.bincount(SEEN, minlength=12) / 50)
    assert Estimate(name="empirical").counted(50) == 50


def test_a_window_forgets_what_came_before():
    window = Estimate(name="window", length=7)
    np.testing.assert_array_equal(window.weights(SEEN, POINTS), np.bincount(SEEN[-7:], minlength=12) / 7)
    np.testing.assert_array_equal(window.weights(SEEN[:3], POINTS), np.bincount(SEEN[:3], minlength=12) / 3)
    assert [window.counted(seen) for seen in (0, 3, 50)] == [0, 3, 7]


def test_what_is_discounted_counts_less_with_every_round():
    discounted = Estimate(name="discounted", rate=0.5)
    np.testing.assert_allclose(discounted.weights(np.array([2, 0, 2]), POINTS)[:3], [2 / 7, 0, 5 / 7])
    # Kish: (1 + 1/2 + 1/4)^2 / (1 + 1/4 + 1/16) = 2.33
    assert [discounted.counted(seen) for seen in (0, 1, 3, 400)] == [0, 1, 2, 3]


def test_a_kernel_density_smears_over_the_grid():
    weights = Estimate(name="kde", bandwidth=0.2).weights(np.array([0, 5]), POINTS)
    z = (POINTS[:, None, :] - POINTS[None, [0, 5], :]) / 0.2
    wanted = norm.pdf(z).prod(axis=2).sum(axis=1)
    np.testing.assert_allclose(weights, wanted / wanted.sum())
    ruled = Estimate(name="kde").weights(SEEN, POINTS)
    stated = [norm.pdf((POINTS - POINTS[i]) / silverman_bandwidth(POINTS[SEEN])).prod(axis=1) for i in SEEN]
    np.testing.assert_allclose(ruled, np.sum(stated, axis=0) / np.sum(stated))
    alone = Estimate(name="kde", length=1).weights(SEEN, POINTS)
    assert alone[SEEN[-1]] == pytest.approx(1.0)


@pytest.mark.parametrize("name", [{"name": "empirical"}, {"name": "discounted", "rate": 0.9}, {"name": "kde"}])
def test_nothing_seen_is_the_uniform_distribution(name):
    np.testing.assert_array_equal(Estimate(**name).weights(np.empty(0, dtype=int), POINTS), np.full(12, 1 / 12))


@pytest.mark.parametrize(
    ("stated", "line"),
    [
        ({"name": "window"}, "'window' needs the key 'length'"),
        ({"name": "discounted"}, "'discounted' needs the key 'rate'"),
        ({"name": "window", "length": 0}, "greater than or equal to 1"),
        ({"name": "discounted", "rate": 1.0}, "less than 1"),
        ({"name": "empirical", "length": 5}, "'length' is no key of the reference 'empirical'"),
    ],
)
def test_what_is_no_estimate_is_refused(stated, line):
    with pytest.raises(pydantic.ValidationError, match=line):
        Estimate.model_validate(stated)
