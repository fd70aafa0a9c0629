"""Expected payoffs against exact integrals, and optima against searches and closed forms."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate

from bocu.core.errors import BocuError
from bocu.problems.functions import FUNCTIONS
from bocu.problems.optima import (
    EXPECTATIONS,
    ExpectedPayoffFunction,
    expectation_named,
    expected_payoff,
    optimum_of,
    quadrature_rule,
    search,
    sobol_rule,
    stored_optimum,
)
from bocu.problems.stored_optima import STORED
from bocu.robust.contexts.laws import ContextLaw, Gaussian, Uniform, clipped_normal, complicated, uniform

CLOSED = [name for name, setting in EXPECTATIONS.items() if setting.function is not None]
# Newsvendor's kink falls inside a panel: its expectation by quadrature is wavy.
WAVES = {"newsvendor": 2e-7}
BY_QUADRATURE = [name for name in CLOSED if "quadrature" in EXPECTATIONS[name].rules]


def decisions(name, count=5, seed=0):
    """The stored optimum, and some others."""
    best = stored_optimum(name).decision
    return np.vstack([best, np.random.default_rng(seed).random((count - 1, len(best)))])


def integral(function, law, x):
    """Adaptive quadrature over the clipped distribution of one coordinate."""
    (marginal,) = law.marginals

    def weighed(c):
        at = np.array([c])
        return float(function(x, at) * marginal.density(at)[0])

    # Broken where newsvendor has its kink and where Ackley peaks.
    breaks = np.unique(np.concatenate([np.linspace(0, 1, 41), x[:1]]))
    inside = sum(integrate.quad(weighed, a, b, epsabs=1e-13)[0] for a, b in itertools.pairwise(breaks))
    low, high = law.atoms()[0]
    return inside + low * float(function(x, np.zeros(1))) + high * float(function(x, np.ones(1)))


@pytest.mark.parametrize("name", ["ackley", "hartmann-6", "complicated-hartmann", "newsvendor"])
def test_one_dimensional_expectations_are_the_exact_integrals(name):
    setting = EXPECTATIONS[name]
    function, x = FUNCTIONS[setting.function], decisions(name, 3)
    exact = [integral(function, setting.law, one) for one in x]
    np.testing.assert_allclose(expected_payoff(name, "quadrature")(x), exact, atol=2e-7)
    by_sobol = ExpectedPayoffFunction(function, function.decision_dim, sobol_rule(setting.law, 2**16))
    np.testing.assert_allclose(by_sobol(x), exact, atol=5e-5)


def test_atoms_at_the_ends_are_part_of_the_expectation():
    law = clipped_normal(1, std=0.5)
    below = law.atoms()[0, 0]
    assert below == pytest.approx(0.1587, abs=1e-4)
    expected = ExpectedPayoffFunction(lambda x, c: x[..., 0] * (c[..., 0] == 0.0), 1, quadrature_rule(law))
    assert expected([[2.0]])[0] == pytest.approx(2.0 * below, abs=1e-12)


@pytest.mark.parametrize(
    "law", [complicated(), uniform(2), ContextLaw((Gaussian(0.5, 0.1), Uniform())), clipped_normal(2, std=0.4)]
)
def test_quadrature_weights_sum_to_one(law):
    rule = quadrature_rule(law)
    assert rule.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert rule.weights.min() > 0.0
    np.testing.assert_allclose(
        rule.weights @ rule.points, law.points(2**16, np.random.default_rng(0)).mean(axis=0), atol=1e-5
    )


def test_two_dimensional_quadrature_agrees_with_sobol_points_and_finer_panels():
    x = decisions("modified-branin")
    found = expected_payoff("modified-branin", "quadrature")(x)
    branin, law = FUNCTIONS["modified-branin"], EXPECTATIONS["modified-branin"].law
    np.testing.assert_allclose(found, ExpectedPayoffFunction(branin, 2, quadrature_rule(law, 40))(x), atol=1e-8)
    np.testing.assert_allclose(found, expected_payoff("modified-branin", "sobol")(x), atol=3e-5)


def test_value_of_a_decision_does_not_depend_on_the_others():
    # More decisions and more contexts than are evaluated at once.
    expected = ExpectedPayoffFunction(FUNCTIONS["ackley"], 2, sobol_rule(clipped_normal(), 2**15))
    x = np.random.default_rng(0).random((70, 2))
    one_by_one = np.concatenate([expected(x[i : i + 1]) for i in range(70)])
    np.testing.assert_array_equal(expected(x), one_by_one)
    assert expected(np.empty((0, 2))).shape == (0,)


@pytest.mark.parametrize(("target", "best"), [(0.5, [0.3, 0.8]), (1.5, [0.3, 1.0])])
def test_optimum_inside_and_at_the_border(target, best):
    # E -(x1 - c)^2 - (x2 - t)^2 is best at x1 = E c = 0.3, x2 = t + 0.3 or the border.
    law = ContextLaw((Gaussian(0.3, 0.05),))
    expected = ExpectedPayoffFunction(
        lambda x, c: -((x[..., 0] - c[..., 0]) ** 2) - (x[..., 1] - target - c[..., 0]) ** 2, 2, quadrature_rule(law)
    )
    found = expected.optimum(raw=64, starts=3)
    np.testing.assert_allclose(found.decision, best, atol=1e-5)
    assert found.value == pytest.approx(expected(found.decision[None])[0], abs=1e-15)


def test_best_of_many_local_optima_is_found():
    name = "ackley"  # 65 x 65 of them; for every context, the centre is best
    found = search(name, "quadrature")
    np.testing.assert_allclose(found.decision, 0.5, atol=1e-6)


@pytest.mark.parametrize("name", BY_QUADRATURE)
def test_stored_optima_are_what_a_search_finds(name):
    stored, found = stored_optimum(name, "quadrature"), search(name, "quadrature")
    assert found.value == pytest.approx(stored.value, abs=WAVES.get(name, 1e-9))
    np.testing.assert_allclose(found.decision, stored.decision, atol=1e-3)


@pytest.mark.parametrize("name", [name for name in CLOSED if not name.startswith("complicated")])
def test_stored_optima_by_sobol_points_are_the_value_there_and_nothing_near_is_better(name):
    expected, stored = expected_payoff(name, "sobol"), stored_optimum(name, "sobol")
    near = np.clip(stored.decision + 1e-3 * np.random.default_rng(1).standard_normal((3, len(stored.decision))), 0, 1)
    values = expected(np.vstack([stored.decision, near]))
    assert values[0] == pytest.approx(stored.value, abs=1e-9)
    assert values.max() <= stored.value + 1e-9


@pytest.mark.parametrize("name", BY_QUADRATURE)
def test_no_decision_has_negative_regret(name):
    expected = expected_payoff(name, "quadrature")
    x = np.random.default_rng(2).random((100, expected.decision_dim))
    assert expected(x).max() <= stored_optimum(name, "quadrature").value + WAVES.get(name, 1e-9)


def test_rules_agree_on_the_optima():
    for name in {name for name, rule in STORED if rule == "quadrature"}:
        assert STORED[name, "sobol"][0] == pytest.approx(STORED[name, "quadrature"][0], abs=1e-5), name


@pytest.mark.parametrize(("name", "digits"), [("ackley", 1e-4), ("modified-branin", 1e-3), ("newsvendor", 1e-4)])
def test_published_optima(name, digits):
    assert stored_optimum(name).value == pytest.approx(EXPECTATIONS[name].published, abs=digits)


def test_published_hartmann_is_no_optimum():
    below = stored_optimum("hartmann-6").value - EXPECTATIONS["hartmann-6"].published
    assert below == pytest.approx(8.08e-4, abs=1e-6)


def test_newsvendor_orders_the_median_demand():
    # 4 lost a unit too much, 4 a unit too little: F(x) = 1/2; then E f = 8 E[c; c < x].
    median = math.sqrt(2 ** (1 / 20) - 1)
    found = stored_optimum("newsvendor")
    assert found.decision[0] == pytest.approx(median, abs=1e-3)
    law = EXPECTATIONS["newsvendor"].law.marginals[0]
    best, _ = integrate.quad(lambda c: 8 * c * float(law.density(np.array([c]))[0]), 0, median, epsabs=1e-13)
    assert found.value == pytest.approx(best, abs=2e-7)


def test_another_payoff_gets_its_own_optimum():
    def lower(x, c):
        return FUNCTIONS["newsvendor"](x, c) - 1.0

    assert optimum_of("newsvendor", "quadrature", FUNCTIONS["newsvendor"]) == stored_optimum("newsvendor", "quadrature")
    found = optimum_of("newsvendor", "quadrature", lower)
    assert found.value == pytest.approx(stored_optimum("newsvendor").value - 1.0, abs=1e-6)


def test_faults():
    with pytest.raises(BocuError, match="found 4 context dimensions"):
        quadrature_rule(uniform(4))
    with pytest.raises(BocuError, match="allowed: 1 or 2 on a finite box"):
        quadrature_rule(clipped_normal().unclipped())
    with pytest.raises(BocuError, match=r"decisions has shape \(3,\): it must be \(n, 2\)"):
        expected_payoff("ackley", "quadrature")([0.1, 0.2, 0.3])
    with pytest.raises(BocuError, match="no expectation 'akley'; did you mean 'ackley'"):
        expectation_named("akley")
    with pytest.raises(BocuError, match="portfolio-normal: no payoff given"):
        expected_payoff("portfolio-normal")
    with pytest.raises(BocuError, match="ackley-2-4: no optimum by 'quadrature'; allowed: sobol"):
        stored_optimum("ackley-2-4", "quadrature")
    with pytest.raises(BocuError, match="found 'quadrature' for 4 context dimensions"):
        expected_payoff("ackley-2-4", "quadrature")
