"""The MMD's sensitivity: conditions of optimality, solvers, memory that leaves no trace, what is enough."""

import numpy as np
import pytest
from ambiguity.cases import assert_steepest

from bocu.core.errors import BocuError
from bocu.learners.acquisition.minimax import KEPT, MMDSensitivity
from bocu.robust.ambiguity import MaximumMeanDiscrepancy, worst_case
from bocu.robust.ambiguity.mmd.gram import squared_exponential_gram, with_jitter
from bocu.robust.contexts.estimates import covering_grid


def set_on_grid(contexts, dimension=1):
    points = covering_grid(np.zeros(dimension), np.ones(dimension), contexts)
    return points, MaximumMeanDiscrepancy(0.0, squared_exponential_gram(points, 0.1))


def reference(contexts, observed, seed=0):
    return np.bincount(np.random.default_rng(seed).integers(0, contexts, observed), minlength=contexts) / observed


def payoffs(points, rows=6, roughness=3.0, seed=0):
    """Smooth functions of the contexts, with kinks where a bound would have them."""
    generator = np.random.default_rng(seed)
    waves = np.cos(points @ generator.normal(0.0, 2.0 * roughness, (points.shape[1], rows)) + generator.random(rows))
    kinks = np.abs(points @ generator.normal(0.0, 1.0, (points.shape[1], rows)) - generator.random(rows))
    return (2.0 * waves + kinks).T


@pytest.mark.parametrize("observed", [10, 100, 350])
@pytest.mark.parametrize("dimension", [1, 2, 4])
def test_no_direction_is_steeper_on_a_thousand_contexts(dimension, observed):
    points, ambiguity_set = set_on_grid(1024, dimension)
    p, u = reference(len(points), observed), payoffs(points)
    value, gradient = MMDSensitivity(ambiguity_set, p)(u)
    assert_steepest(-value, -gradient, u, p, ambiguity_set.gram)


@pytest.mark.parametrize("empty", [0, 5, 30, 39])
def test_sensitivity_is_minus_the_slope_at_radius_zero(empty):
    points, ambiguity_set = set_on_grid(40)
    p = np.where(np.random.default_rng(1).permutation(40) < empty, 0.0, 1.0 / (40 - empty))
    u = payoffs(points)
    value, gradient = MMDSensitivity(ambiguity_set, p)(u)
    start = worst_case(u, p, ambiguity_set, rate=True)
    np.testing.assert_allclose(value, -start.slope, rtol=1e-8)
    np.testing.assert_allclose(gradient, -start.rate, atol=1e-6 * np.abs(start.rate).max())


@pytest.mark.parametrize("observed", [1, 8, 60])
def test_sensitivity_is_that_of_a_cone_programme(observed):
    import cvxpy

    points, ambiguity_set = set_on_grid(64, 2)
    p, u = reference(64, observed), payoffs(points, rows=3)
    value, _ = MMDSensitivity(ambiguity_set, p)(u)
    root = np.linalg.cholesky(ambiguity_set.gram)
    for row, found in zip(u, value, strict=True):
        d = cvxpy.Variable(64)
        inside = [cvxpy.sum(d) == 0, cvxpy.norm(root.T @ d) <= 1.0]
        inside += [d[p == 0.0] >= 0.0] if (p == 0.0).any() else []
        assert found == pytest.approx(cvxpy.Problem(cvxpy.Maximize(-row @ d), inside).solve("CLARABEL"), rel=1e-6)


def test_earlier_calls_of_a_search_leave_no_trace_but_rounding():
    """Payoffs as along an ascent, more of them than directions are kept."""
    points, ambiguity_set = set_on_grid(200)
    p = reference(200, 30)
    ends = payoffs(points, rows=2)
    path = np.linspace(0.0, 1.0, KEPT + 20)[:, None] * (ends[1] - ends[0]) + ends[0]
    walking = MMDSensitivity(ambiguity_set, p).warm()
    walked = [walking(each[None]) for each in path]
    for at in (0, 1, 70, len(path) - 1):
        value, gradient = MMDSensitivity(ambiguity_set, p)(path[at][None])
        np.testing.assert_allclose(walked[at][0], value, rtol=1e-11)
        np.testing.assert_allclose(walked[at][1], gradient, atol=1e-7 * np.abs(gradient).max())
    np.testing.assert_allclose(walking(path)[0], np.concatenate([value for value, _ in walked]), rtol=1e-11)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 1.1])
def test_what_is_enough_is_proven_and_the_rest_exact(share):
    points, ambiguity_set = set_on_grid(300)
    p = reference(300, 15)
    u = payoffs(points, rows=12, roughness=6.0)
    exact, gradient = MMDSensitivity(ambiguity_set, p)(u)
    enough = exact * np.where(np.arange(12) % 2 == 0, share, 2.0)
    sensitivity = MMDSensitivity(ambiguity_set, p).warm()
    for _ in range(2):
        value, found = sensitivity(u, enough)
        known = value < enough
        np.testing.assert_array_equal(known, exact < enough)
        np.testing.assert_allclose(value[known], exact[known], rtol=1e-10)
        np.testing.assert_allclose(found[known], gradient[known], atol=1e-6 * np.abs(gradient).max())
        assert (value <= exact * (1.0 + 1e-9)).all()


def test_payoffs_shift_and_scale():
    points, ambiguity_set = set_on_grid(100)
    p, u = reference(100, 12), payoffs(points)
    value, gradient = MMDSensitivity(ambiguity_set, p)(u)
    scaled, same = MMDSensitivity(ambiguity_set, p)(1e-3 * u + 1e3)
    np.testing.assert_allclose(scaled, 1e-3 * value, rtol=1e-6)
    np.testing.assert_allclose(same, gradient, atol=1e-3 * np.abs(gradient).max())


def test_constant_payoffs_have_none():
    _, ambiguity_set = set_on_grid(100)
    for observed in (3, 5000):
        value, gradient = MMDSensitivity(ambiguity_set, reference(100, observed))(np.full((2, 100), 0.1))
        assert not value.any()
        assert not gradient.any()


def test_references_of_other_sizes_are_refused():
    _, ambiguity_set = set_on_grid(20)
    with pytest.raises(BocuError, match="reference"):
        MMDSensitivity(ambiguity_set, np.full(5, 0.2))


def test_matrices_next_to_singular_are_survived():
    ambiguity_set = MaximumMeanDiscrepancy(0.0, with_jitter(np.ones((40, 40)), 3e-15))
    value, gradient = MMDSensitivity(ambiguity_set, np.eye(40)[0])(np.random.default_rng(0).standard_normal((20, 40)))
    assert (value > 1e6).all()
    assert np.isfinite(gradient).all()
