"""DRO-BO by closed forms: against the formulas, the exact worst case, and the grid's approximation."""

import numpy as np
import pytest
from continuous_games import acquisition, after_design, assert_gradients
from test_confidence_density import DECISIONS, acquired, dro, each_sample, sampled

from bocu.learners.acquisition.functionals import MeanLessDeviation, MeanLessRange
from bocu.learners.algorithms.sampled_reference import ClosedFormDivergence
from bocu.robust.ambiguity import ChiSquared, ModifiedChiSquared, TotalVariation
from bocu.robust.ambiguity.approximations import linearised
from bocu.sweep.experiment.registry import find

FORMS = [
    (ChiSquared, lambda epsilon, p: MeanLessDeviation(epsilon, p)),
    (ModifiedChiSquared, lambda epsilon, p: MeanLessDeviation(epsilon, p, 2.0)),
    (TotalVariation, lambda epsilon, p: MeanLessRange(epsilon, p)),
]


@pytest.mark.parametrize("reference", ["kde", "empirical"])
def test_decisions_are_rated_by_the_formulas_on_the_samples(reference):
    count = 12 if reference == "kde" else 3
    for name, factor in (("chi2", 1.0), ("chi2mod", 2.0)):
        run, points, table, found = acquired(dro(name, radius=0.4), "dro-bo-phi", reference=reference)
        samples = each_sample(run, points, table, count)
        expected = samples.mean(axis=1) - np.sqrt(factor * 0.4 * samples.var(axis=1))
        np.testing.assert_allclose(found, expected, rtol=1e-8)
    run, points, table, found = acquired(dro("tv", radius=0.4), "dro-bo-phi", reference=reference)
    assert len(points) > count
    expected = table @ sampled(run, points) - 0.2 * np.ptp(table, axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("name", ["chi2", "tv"])
def test_gradients_are_those_of_differences(name):
    rate = acquisition(after_design("dro-bo-phi", dro(name, radius=0.3)))[2]
    assert_gradients(rate, DECISIONS, 1e-5, 5e-3, 2e-3)


@pytest.mark.parametrize(("kind", "form"), FORMS)
def test_they_are_lower_bounds_and_the_approximation_on_a_grid(kind, form):
    generator = np.random.default_rng(3)
    for epsilon in (0.0, 0.05, 0.5, 3.0):
        payoffs, p = generator.normal(size=(20, 9)), generator.dirichlet(np.ones(9))
        values, weights = form(epsilon, p)(payoffs)
        np.testing.assert_allclose((weights * payoffs).sum(axis=1), values, rtol=1e-9, atol=1e-12)
        exact = kind(epsilon).values(payoffs, p)[0]
        assert (values <= exact + 1e-9).all()
        if epsilon <= 2.0:
            np.testing.assert_allclose(values, linearised(payoffs, p, kind(epsilon)), rtol=1e-9, atol=1e-9)
        if kind is not TotalVariation:
            squared = epsilon * (2.0 if kind is ModifiedChiSquared else 1.0)
            spread = np.sqrt(((payoffs - (payoffs @ p)[:, None]) ** 2) @ p)
            inside = np.sqrt(squared) / spread * (payoffs.max(axis=1) - payoffs @ p) <= 1.0
            np.testing.assert_allclose(values[inside], exact[inside], rtol=1e-9, atol=1e-9)
    assert form(0.5, p)(np.full((1, 9), 2.0))[0] == pytest.approx(2.0)


def test_total_variation_is_exact_where_enough_mass_has_the_largest_payoff():
    payoffs, p = np.array([[1.0, 1.0, 0.2, -1.0]]), np.array([0.4, 0.2, 0.3, 0.1])
    for epsilon, exact in ((1.2, True), (1.3, False)):
        worst = TotalVariation(epsilon).values(payoffs, p)[0]
        assert np.isclose(MeanLessRange(epsilon, p)(payoffs)[0], worst, rtol=1e-12)[0] == exact


def test_what_has_no_closed_form_is_refused():
    parameters = ClosedFormDivergence.Parameters()
    stated = find("objective", "dro").load().Parameters
    assert parameters.unfit("dro", stated.model_validate({"set": {"name": "tv", "radius": 0.1}})) == ""
    said = parameters.unfit("dro", stated.model_validate({"set": {"name": "kl", "radius": 0.1}}))
    assert said == "'kl' has no closed form; take chi2, chi2mod, tv, or ucb-bocu-kde"
    assert "not known over continuous" in parameters.unfit("dro", stated.model_validate({"set": "tv"}))
    assert "take dro" in parameters.unfit("so", find("objective", "so").load().Parameters())
