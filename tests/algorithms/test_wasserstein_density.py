"""ERBO and WDRBO against slopes of the posterior written out, and against the Wasserstein set that they bound."""

import cvxpy as cp
import numpy as np
import pytest
from continuous_games import DECISIONS as every
from continuous_games import acquired, acquisition, after_design, assert_gradients, seen, upper

from bocu.learners.acquisition.functionals import SlopePenalty, Stencil

DECISIONS = every[:6]


def test_erbo_is_the_mean_over_the_contexts_seen():
    run = after_design("erbo")
    posterior, *_, found = acquired(run)
    np.testing.assert_allclose(found, upper(posterior, seen(run)).mean(axis=1), rtol=1e-8)
    same = after_design("ucb-bocu-kde", ("so", {}), reference="empirical")
    np.testing.assert_allclose(found, acquired(same)[-1], rtol=1e-10)


@pytest.mark.parametrize("radius", ["shrinking", 0.2, 0.0])
def test_wdrbo_is_that_mean_less_the_steepest_slope(radius):
    run = after_design("wdrbo", radius=radius, points=20)
    posterior, *_, found = acquired(run, DECISIONS)
    epsilon = 0.3 / np.sqrt(3) if radius == "shrinking" else radius
    middles = run.algorithm.stencil.contexts.reshape(2, 20, 1).mean(axis=0)
    step = 1e-4
    slopes = (upper(posterior, middles + step, DECISIONS) - upper(posterior, middles - step, DECISIONS)) / (2.0 * step)
    expected = upper(posterior, seen(run), DECISIONS).mean(axis=1) - epsilon * np.abs(slopes).max(axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("floor", [False, True])
def test_gradients_are_those_of_differences(floor):
    """With the published code's mistake, which leaves out the slope's own, they would not be."""
    run = after_design("wdrbo", radius=0.3, points=20, floor=floor)
    rate = acquisition(run)[2]
    gradients = rate(DECISIONS)[1]
    without = after_design("wdrbo", radius=0.0, points=20)
    assert np.abs(gradients - acquisition(without)[2](DECISIONS)[1]).max() > 0.1 * np.abs(gradients).max()
    assert_gradients(rate, DECISIONS, 1e-5, 5e-3, 2e-3)


def test_it_is_below_the_worst_expectation_within_the_distance():
    """The transport problem over a fine grid of contexts, as a linear program."""
    grid = np.linspace(0.0, 1.0, 81)[:, None]
    for epsilon in (0.02, 0.1, 0.5):
        run = after_design("wdrbo", radius=epsilon, points=200)
        posterior, *_, below = acquired(run, DECISIONS)
        at = np.abs(seen(run) - grid.T).argmin(axis=1)
        table = upper(posterior, grid, DECISIONS)
        # Contexts seen are moved to the grid, by half a cell at most.
        cost = np.abs(grid[at] - grid.T)
        plan, payoffs = cp.Variable(cost.shape, nonneg=True), cp.Parameter(len(grid))
        moved = [cp.sum(plan, axis=1) == 1.0 / len(at), cp.sum(cp.multiply(cost, plan)) <= epsilon]
        problem = cp.Problem(cp.Minimize(cp.sum(plan @ payoffs)), moved)
        worst = []
        for row in table:
            payoffs.value = row
            worst.append(problem.solve(solver=cp.CLARABEL))
        slack = 0.0125 * np.abs(np.gradient(table, 1.0 / 80.0, axis=1)).max(axis=1)
        assert (below <= np.array(worst) + slack).all()
        floored = after_design("wdrbo", radius=epsilon, points=200, floor=True)
        higher = acquired(floored, DECISIONS)[-1]
        assert (higher >= below - 1e-12).all()
        assert (higher <= np.array(worst) + slack).all()


def test_slopes_of_several_coordinates_are_in_units_of_the_context():
    """A plane of slopes 3 and 4 over a box of widths 2 and 5; corners of the cube have one-sided differences."""
    points = np.array([[0.0, 1.0], [0.5, 0.5]])
    stencil = Stencil.around(points, 1e-3, np.array([2.0, 5.0]))
    assert stencil.contexts.min() >= 0.0
    assert stencil.contexts.max() <= 1.0
    table = (stencil.contexts * [2.0, 5.0]) @ [3.0, 4.0]
    values, _ = SlopePenalty(0.5, 1, stencil)(np.concatenate([[10.0], table])[None])
    assert values[0] == pytest.approx(10.0 - 0.5 * 5.0)
