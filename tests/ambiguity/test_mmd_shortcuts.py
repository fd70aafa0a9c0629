"""Shorter ways to what the MMD set answers: the same digits as by the longer ones."""

import numpy as np
import pytest

from bocu.robust.ambiguity import MaximumMeanDiscrepancy, squared_exponential_gram, worst_case
from bocu.robust.ambiguity.approximations import floor_distance
from bocu.robust.ambiguity.base import Rows, Wanted
from bocu.robust.contexts.estimates import product_grid
from bocu.robust.objectives.functions import UncertaintyObjective

N = 30
GRAM = squared_exponential_gram(product_grid(0, 1, N), 0.1)
EMPIRICAL = np.bincount([3, 4, 4, 9, 9, 9, 20], minlength=N) / 7
RADII = (1e-6, 0.05, 0.3, 2.0)


def smooth(rows: int) -> np.ndarray:
    payoffs = np.random.default_rng(rows).standard_normal((rows, N)) @ np.linalg.cholesky(GRAM).T
    payoffs -= payoffs.min(axis=1, keepdims=True)
    return payoffs / payoffs.max(axis=1, keepdims=True)


def test_a_constant_row_beside_others_stays_at_the_reference() -> None:
    payoffs = np.concatenate([smooth(3), np.zeros((1, N))])
    found = worst_case(payoffs, EMPIRICAL, MaximumMeanDiscrepancy(0.3, GRAM))
    assert found.value[3] == found.slope[3] == found.gap[3] == 0.0
    assert np.array_equal(found.distribution[3], EMPIRICAL)
    alone = worst_case(payoffs[:3], EMPIRICAL, MaximumMeanDiscrepancy(0.3, GRAM))
    np.testing.assert_allclose(found.value[:3], alone.value, rtol=1e-12)


@pytest.mark.parametrize("radius", [0.0, *RADII])
def test_one_reference_for_all_rows_is_the_same_one_for_each(radius: float) -> None:
    ambiguity_set, f = MaximumMeanDiscrepancy(radius, GRAM), smooth(4)

    def solved(p: np.ndarray) -> Rows:
        return ambiguity_set.solve(f, p, Wanted(distribution=True, rate=True))

    shared, each = solved(EMPIRICAL[None]), solved(np.tile(EMPIRICAL, (4, 1)))
    for name in ("value", "slope", "distribution", "rate", "gap"):
        # The expectations are sums in another order.
        np.testing.assert_allclose(getattr(shared, name), getattr(each, name), rtol=1e-12, atol=1e-13, err_msg=name)


def test_distances_of_the_floor_are_those_of_the_reference_asked_for() -> None:
    """They are kept with a reference: another one in between leaves them alone."""
    ambiguity_set, f = MaximumMeanDiscrepancy(0.1, GRAM), smooth(5)
    for p in (EMPIRICAL, np.full(N, 1 / N), EMPIRICAL):
        image = p[None] @ GRAM
        squared = np.diag(GRAM) - 2.0 * image + np.einsum("bn,bn->b", image, p[None])[:, None]
        expected = np.sqrt(np.maximum(squared, 0.0))[0, f.argmin(axis=1)]
        assert np.array_equal(floor_distance(f, p, ambiguity_set), expected)


def test_a_search_finds_what_solving_all_decisions_finds() -> None:
    rule = UncertaintyObjective.dro(MaximumMeanDiscrepancy(0.3, GRAM))
    payoffs = smooth(80) * np.random.default_rng(0).random((80, 1))
    best = rule.argmax(payoffs, EMPIRICAL)
    assert best.index == rule(payoffs, EMPIRICAL).argmax()
    assert best.value == pytest.approx(rule(payoffs, EMPIRICAL).max(), rel=1e-12)
