"""The MMD's slope at radius 0 where contexts have no mass: conditions of optimality, a conic solver, batches."""

import cvxpy as cp
import numpy as np
import pytest

from ambiguity.cases import assert_steepest
from bocu.robust.ambiguity import MaximumMeanDiscrepancy, WorstCase, squared_exponential_gram, worst_case
from bocu.robust.contexts.estimates import covering_grid


def instance(contexts: int, observed: int, dimension: int = 1) -> tuple[np.ndarray, np.ndarray, MaximumMeanDiscrepancy]:
    """Payoffs of a Gaussian process three times as steep as the kernel of the MMD, on a grid seen a few times."""
    points = covering_grid(np.zeros(dimension), np.ones(dimension), contexts)
    generator = np.random.default_rng(observed)
    root = np.linalg.cholesky(squared_exponential_gram(points, 0.03))
    payoffs = generator.standard_normal((6, len(points))) @ root.T
    seen = generator.integers(0, len(points), observed)
    reference = np.bincount(seen, minlength=len(points)) / observed
    return payoffs, reference, MaximumMeanDiscrepancy(0.0, squared_exponential_gram(points, 0.1))


def leave(payoffs: np.ndarray, reference: np.ndarray, ambiguity_set: MaximumMeanDiscrepancy) -> WorstCase:
    return worst_case(payoffs, reference, ambiguity_set, rate=True)


@pytest.mark.parametrize("observed", [1, 60, 350])
@pytest.mark.parametrize("dimension", [1, 2])
def test_no_direction_is_steeper_on_a_thousand_contexts(dimension: int, observed: int) -> None:
    payoffs, reference, ambiguity_set = instance(1024, observed, dimension)
    answer = leave(payoffs, reference, ambiguity_set)
    assert_steepest(answer.slope, answer.rate, payoffs, reference, ambiguity_set.gram)


@pytest.mark.parametrize("observed", [1, 8, 60])
@pytest.mark.parametrize("dimension", [1, 2])
def test_slope_and_rate_are_those_of_a_cone_programme(dimension: int, observed: int) -> None:
    payoffs, reference, ambiguity_set = instance(64, observed, dimension)
    answer = leave(payoffs, reference, ambiguity_set)
    root = np.linalg.cholesky(ambiguity_set.gram)
    for f, slope, rate in zip(payoffs[:3], answer.slope, answer.rate, strict=False):
        d = cp.Variable(64)
        inside = [cp.sum(d) == 0, cp.norm(root.T @ d) <= 1.0, d[reference == 0.0] >= 0.0]
        assert cp.Problem(cp.Minimize(f @ d), inside).solve("CLARABEL") == pytest.approx(slope, rel=1e-6)
        np.testing.assert_allclose(d.value, rate, atol=2e-3 * np.abs(rate).max())


def test_rows_do_not_depend_on_each_other_and_repeat_to_the_last_bit() -> None:
    payoffs, reference, ambiguity_set = instance(256, 30)
    answer = leave(payoffs, reference, ambiguity_set)
    again = leave(payoffs, reference, MaximumMeanDiscrepancy(0.0, ambiguity_set.gram))
    np.testing.assert_array_equal(again.slope, answer.slope)
    np.testing.assert_array_equal(again.rate, answer.rate)
    alone = leave(payoffs[3], reference, ambiguity_set)
    assert alone.slope == pytest.approx(answer.slope[3], rel=1e-11)
    np.testing.assert_allclose(alone.rate, answer.rate[3], atol=1e-7 * np.abs(alone.rate).max())


def test_constant_payoffs_leave_nowhere() -> None:
    payoffs, reference, ambiguity_set = instance(100, 12)
    payoffs[1] = 0.1
    answer = leave(payoffs, reference, ambiguity_set)
    assert answer.slope[1] == 0.0
    assert not answer.rate[1].any()
    assert (np.delete(answer.slope, 1) < 0.0).all()
