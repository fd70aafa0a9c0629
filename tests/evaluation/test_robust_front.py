"""`bocu.sweep.evaluation.robust_front`: guarantees, fronts of a problem and of decisions tried, hypervolume."""

import numpy as np
import pytest

from bocu.problems.scalarised import ScalarisedNewsvendor, ScalarisedNewsvendorParameters
from bocu.robust.ambiguity import ModifiedChiSquared, worst_case
from bocu.sweep.evaluation.robust_front import (
    Front,
    front_among,
    growing_share,
    guaranteed_share,
    guarantees,
    hypervolume,
    true_front,
)

SET = ModifiedChiSquared(0.5)


@pytest.fixture(scope="module")
def problem():
    return ScalarisedNewsvendor(ScalarisedNewsvendorParameters(outputs=2, contexts=20), {})


@pytest.fixture(scope="module")
def values(problem):
    return lambda payoffs: SET.values(payoffs, problem.reference)[0]


@pytest.fixture(scope="module")
def front(problem, values):
    return true_front(problem.payoffs, 1, 2, values, size=9)


def test_a_hypervolume_by_hand():
    points = np.array([[1.0, 3.0], [2.0, 2.0], [1.5, 1.0], [9.0, -1.0]])
    assert hypervolume(points, np.zeros(2)) == pytest.approx(3.0 + 2.0)  # the third adds nothing, the last is not above
    assert hypervolume(points[3:], np.zeros(2)) == 0.0
    assert hypervolume(np.array([[1.0, 2.0, 3.0]]), np.zeros(3)) == pytest.approx(6.0)


def test_each_output_is_guaranteed_by_itself(problem, values):
    payoffs = problem.payoffs(np.array([[0.1], [0.3]]))
    found = guarantees(payoffs, values)
    for decision in range(2):
        for output in range(2):
            value = worst_case(payoffs[decision, :, output], problem.reference, SET).value
            assert found[decision, output] == pytest.approx(float(value))


def test_the_front_is_not_beaten_by_a_grid(problem, front, values):
    grid = np.linspace(0.0, 1.0, 2001)[:, None]
    tried = front_among(grid, problem.payoffs(grid), front.weights, values)
    assert (front.values >= tried.values - 1e-6).all()
    assert (front.values <= tried.values + 9.0 * 2.5e-4).all()
    corner = front.corner()
    assert front.hypervolume(corner) == pytest.approx(
        tried.hypervolume(corner), rel=0.05
    )  # of flat optima either end may be found
    assert (front.guaranteed > corner).all()


def test_a_front_of_two_outputs_trades_them(front):
    order = np.argsort(front.weights[:, 0])
    assert (np.diff(front.guaranteed[order, 0]) >= -1e-6).all()
    assert (np.diff(front.guaranteed[order, 1]) <= 1e-6).all()


def test_hypervolume_of_a_run_ends_where_its_front_does(problem, front, values):
    decisions = np.random.default_rng(0).random((30, 1))
    payoffs = problem.payoffs(decisions)
    corner = np.array([-4.0, -4.0])
    grown = growing_share(payoffs, front, values, corner) * front.hypervolume(corner)
    for row in (0, 7, 29):
        tried = front_among(decisions[: row + 1], payoffs[: row + 1], front.weights, values)
        assert grown[row] == pytest.approx(tried.hypervolume(corner))


def test_of_a_front_that_is_one_point_nearly_as_good_is_nearly_all():
    """Outputs that guarantee the same leave one point, and a range of what the search missed."""
    guaranteed = 1.6 - np.array([[0.0, 0.0], [1e-6, 1e-6], [4e-6, 4e-6]])
    front = Front(np.eye(3)[:, :2], guaranteed[:, 0], np.zeros((3, 1)), guaranteed)
    corner = front.corner()
    np.testing.assert_allclose(corner, 1.6 - 0.16, rtol=1e-5)
    near, whole = hypervolume(np.array([[1.59, 1.59]]), corner), front.hypervolume(corner)
    assert near / whole == pytest.approx((0.15 / 0.16) ** 2, rel=1e-3)


def test_the_best_front_has_the_whole_hypervolume(problem, front, values):
    share = growing_share(problem.payoffs(front.decisions), front, values)
    assert share[-1] == pytest.approx(1.0)
    assert (share[:-1] <= 1.0 + 1e-9).all()
    assert share[0] < 0.99


def test_shares_need_no_payoffs_but_what_is_guaranteed(problem, values, front):
    tried = np.linspace(0.0, 1.0, 7)[:, None]
    payoffs = problem.payoffs(tried)
    own = front_among(tried, payoffs, front.weights, values)
    share = guaranteed_share(own.guaranteed, front.guaranteed)
    assert share == pytest.approx(growing_share(payoffs, front, values)[-1])
    assert 0.0 < share < 1.0
    assert np.isnan(guaranteed_share(own.guaranteed, np.full_like(front.guaranteed, -np.inf)))
