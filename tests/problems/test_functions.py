"""Closed-form test functions, against their textbook formulas, optima and the papers' second objectives."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from bocu.core.errors import BocuError
from bocu.core.randomness import Streams
from bocu.problems.functions import FUNCTIONS, function_named
from bocu.problems.synthetic import Hartmann3, Hartmann3Parameters

HARTMANN_SIX_BEST = np.array([0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573])
HARTMANN_THREE_BEST = np.array([0.114614, 0.555649, 0.852547])


def pairs(name, count=200, seed=0):
    function = FUNCTIONS[name]
    generator = np.random.default_rng(seed)
    return function, generator.random((count, function.decision_dim)), generator.random((count, function.context_dim))


def textbook_ackley(z, sign=1.0):
    return (
        20 * math.exp(-0.2 * math.sqrt(np.mean(z**2))) + math.exp(sign * np.mean(np.cos(2 * math.pi * z))) - 20 - math.e
    )


def textbook_hartmann(y, second):
    a = [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
    p = [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ]
    return sum(
        alpha * math.exp(-sum(a[i][j] * (y[j] - p[i][j]) ** 2 for j in range(6)))
        for i, alpha in enumerate((1.0, second, 3.0, 3.2))
    )


@pytest.mark.parametrize("name", ["ackley", "ackley-2-4"])
def test_ackley_is_the_textbook_function_with_its_best_at_the_centre(name):
    function, x, c = pairs(name)
    expected = [textbook_ackley(65.536 * np.concatenate(pair) - 32.768) for pair in zip(x, c, strict=True)]
    np.testing.assert_allclose(function(x, c), expected, rtol=1e-12)
    assert function(np.full(2, 0.5), np.full(function.context_dim, 0.5)) == pytest.approx(0.0, abs=1e-14)
    assert function(x, c).max() < 0.0


def test_second_ackley_flips_the_sign_in_the_exponent_only():
    function, x, c = pairs("ackley-two")
    expected = [textbook_ackley(65.536 * np.concatenate(pair) - 32.768, -1.0) for pair in zip(x, c, strict=True)]
    np.testing.assert_allclose(function(x, c)[:, 1], expected, rtol=1e-12)
    centre = function([0.5, 0.5], [0.5])
    np.testing.assert_allclose(centre, [0.0, 1 / math.e - math.e], atol=1e-14)
    # Its maxima are off the centre.
    beside = 0.5 + 0.5 / 65.536
    assert function([beside, beside], [beside])[1] > centre[1] + 0.4


@pytest.mark.parametrize("first", [(-math.pi, 12.275), (math.pi, 2.275), (3 * math.pi, 2.475)])
def test_modified_branin_is_a_product_of_two_branins_in_crossed_inputs(first):
    least = 10 / (8 * math.pi)  # of Branin, at its three minimisers
    u, v = first
    x, c = np.array([(u + 5) / 15, 2.275 / 15]), np.array([v / 15, (math.pi + 5) / 15])
    assert function_named("modified-branin")(x, c) == pytest.approx(-least, abs=1e-12)
    shifted = function_named("modified-branin")(x, c + np.array([1 / 15, 0.0]))  # v by 1: (v - ...)^2 grows by 1
    assert shifted == pytest.approx(-math.sqrt((least + 1) * least), abs=1e-12)
    _, x, c = pairs("modified-branin")
    assert function_named("modified-branin")(x, c).max() < -least


@pytest.mark.parametrize(
    ("name", "second", "best"), [("hartmann-6", 1.2, 3.32237), ("hartmann-6-as-printed", 2.0, 3.32909)]
)
def test_hartmann_six_is_the_textbook_function_with_its_known_maximum(name, second, best):
    function, x, c = pairs(name)
    expected = [textbook_hartmann(np.concatenate(pair), second) for pair in zip(x, c, strict=True)]
    np.testing.assert_allclose(function(x, c), expected, rtol=1e-12)
    found = minimize(lambda y: -function(y[:5], y[5:]), HARTMANN_SIX_BEST, bounds=[(0, 1)] * 6)
    assert -found.fun == pytest.approx(best, abs=1e-5)


def test_hartmann_three_has_its_known_maximum():
    function = function_named("hartmann-3")
    assert function(HARTMANN_THREE_BEST[:2], HARTMANN_THREE_BEST[2:]) == pytest.approx(3.86278, abs=1e-5)
    _, x, c = pairs("hartmann-3", 5000)
    assert function(x, c).max() < 3.86278


def test_newsvendor_by_hand():
    function = function_named("newsvendor")
    # Sold out: 4 a unit. Too much bought: 4 a unit sold, 4 lost on each of the rest.
    np.testing.assert_allclose(function([[0.2], [0.5], [0.5]], [[0.6], [0.5], [0.2]]), [0.8, 2.0, 4 * 0.2 - 4 * 0.3])


def test_two_newsvendors_meet_less_and_more_demand():
    two, one = function_named("newsvendor-two"), function_named("newsvendor")
    x, c = np.full((3, 1), 0.3), np.array([[0.05], [0.2], [0.95]])
    expected = np.stack([one(x, [[0.0], [0.1], [0.85]]), one(x, [[0.15], [0.3], [1.05]])], axis=-1)
    np.testing.assert_allclose(two(x, c), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "single"),
    [
        ("modified-branin-two", "modified-branin"),
        ("hartmann-6-two", "hartmann-6"),
        ("hartmann-6-two-as-printed", "hartmann-6-as-printed"),
    ],
)
def test_second_objective_sees_the_mirrored_context(name, single):
    function, x, c = pairs(name)
    found = function(x, c)
    np.testing.assert_array_equal(found[:, 0], FUNCTIONS[single](x, c))
    np.testing.assert_array_equal(found[:, 1], FUNCTIONS[single](x, 1 - c))
    assert np.abs(found[:, 0] - found[:, 1]).max() > 0.1


@pytest.mark.parametrize("name", FUNCTIONS)
def test_leading_axes_broadcast(name):
    function, x, c = pairs(name, 6)
    table = function(x[:, None], c[None])
    assert table.shape == ((6, 6) if function.outputs == 1 else (6, 6, function.outputs))
    np.testing.assert_allclose(table[np.arange(6), np.arange(6)], function(x, c), rtol=1e-14)


def test_faults():
    with pytest.raises(BocuError, match=r"ackley: contexts have shape \(4, 2\): the last axis must have length 1"):
        function_named("ackley")(np.zeros((4, 2)), np.zeros((4, 2)))
    with pytest.raises(BocuError, match="no test function 'akley'; did you mean 'ackley'"):
        function_named("akley")


def test_the_best_point_of_hartmann_three_on_a_grid_is_next_to_the_known_optimum() -> None:
    problem = Hartmann3(Hartmann3Parameters(), {})
    table = problem.realise(Streams(0)).payoffs(1)
    assert table.shape == (1024, 64)
    decision, context = np.unravel_index(table.argmax(), table.shape)
    found = np.append(problem.decisions[decision], problem.contexts[context])
    assert np.abs(found - HARTMANN_THREE_BEST)[:2].max() < 0.1
    assert abs(found[2] - HARTMANN_THREE_BEST[2]) < 0.02
    assert 3.81 < table.max() <= 3.86278
