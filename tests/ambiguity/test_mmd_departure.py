"""The MMD's slope at radius 0 where contexts have no mass: conditions of optimality, a conic solver, batches."""

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


def test_constant_payoffs_leave_nowhere() -> None:
    payoffs, reference, ambiguity_set = instance(100, 12)
    payoffs[1] = 0.1
    answer = leave(payoffs, reference, ambiguity_set)
    assert answer.slope[1] == 0.0
    assert not answer.rate[1].any()
    assert (np.delete(answer.slope, 1) < 0.0).all()
