"""Functionals of payoffs: values against closed forms and solvers, supergradients, what screening keeps."""

import numpy as np
import pytest
from gaussian_posteriors import differences

from bocu.core.errors import BocuError
from bocu.learners.acquisition.functionals import ExpectedValue, MinimumValue, SampledTotalVariation, WorstCaseValue
from bocu.learners.acquisition.minimax import (
    Chord,
    DeviationSensitivity,
    IdentitySensitivity,
    MinimaxFunctional,
    MMDSensitivity,
    SlopeSensitivity,
    exact_sensitivity,
)
from bocu.robust.ambiguity import (
    ChiSquared,
    ConditionalValueAtRisk,
    KullbackLeibler,
    MaximumMeanDiscrepancy,
    ModifiedChiSquared,
    TotalVariation,
    Wasserstein,
    worst_case,
)
from bocu.robust.ambiguity.approximations import identity_sensitivity, minimax_approximation
from bocu.robust.ambiguity.mmd.gram import squared_exponential_gram, with_jitter
from bocu.robust.ambiguity.sampled import sampled_worst_case

POINTS = np.linspace(0.0, 1.0, 12)[:, None]
GRAM = with_jitter(squared_exponential_gram(POINTS, 0.2), 1e-3)
COST = np.abs(POINTS - POINTS.T)
SETS = {
    "tv": TotalVariation(0.4),
    "mmd": MaximumMeanDiscrepancy(0.3, GRAM),
    "wass": Wasserstein(0.15, COST),
    "chi2mod": ModifiedChiSquared(0.2),
    "chi2": ChiSquared(0.3),
}


def payoffs(rows=20, contexts=12, seed=0):
    return np.random.default_rng(seed).standard_normal((rows, contexts)).cumsum(axis=1)


def reference(empty=0, seed=1):
    mass = np.random.default_rng(seed).random(12) + 0.1
    mass[:empty] = 0.0
    return mass / mass.sum()


def test_expectation_of_samples_and_of_a_reference():
    u, p = payoffs(), reference()
    np.testing.assert_allclose(ExpectedValue()(u)[0], u.mean(axis=1))
    np.testing.assert_allclose(ExpectedValue(p)(u)[0], u @ p)
    np.testing.assert_allclose(ExpectedValue(p)(u)[1], np.tile(p, (20, 1)))


def test_minimum_is_that_of_the_worst_context():
    u = payoffs()
    value, weights = MinimumValue()(u)
    np.testing.assert_array_equal(value, u.min(axis=1))
    np.testing.assert_array_equal((weights * u).sum(axis=1), value)


@pytest.mark.parametrize("epsilon", [0.0, 1e-3, 0.1, 0.25, 0.5, 1.9, 2.0, 5.0])
def test_selection_gives_the_sorted_closed_form(epsilon):
    samples, infimum = payoffs(contexts=40), payoffs(contexts=15, seed=3)
    value, weights = SampledTotalVariation(epsilon, 40)(np.concatenate([samples, infimum], axis=1))
    expected = sampled_worst_case(samples, infimum.min(axis=1), epsilon)
    np.testing.assert_allclose(value, expected.value, atol=1e-12)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert weights.min() >= 0.0


def test_sampled_worst_case_is_a_programme_over_distributions():
    import cvxpy

    u, epsilon = payoffs(rows=3, contexts=25), 0.37
    p = np.concatenate([np.full(20, 1 / 20), np.zeros(5)])
    value, _ = SampledTotalVariation(epsilon, 20)(u)
    for row, found in zip(u, value, strict=True):
        q = cvxpy.Variable(25, nonneg=True)
        inside = [cvxpy.sum(q) == 1, cvxpy.norm1(q - p) <= epsilon]
        assert found == pytest.approx(cvxpy.Problem(cvxpy.Minimize(row @ q), inside).solve(), abs=1e-6)


@pytest.mark.parametrize("ambiguity_set", [*SETS.values(), KullbackLeibler(0.1), ConditionalValueAtRisk(0.3)], ids=repr)
def test_worst_case_value_is_the_set_s(ambiguity_set):
    u, p = payoffs(), reference()
    value, weights = WorstCaseValue(ambiguity_set, p)(u)
    np.testing.assert_allclose(value, worst_case(u, p, ambiguity_set).value)
    np.testing.assert_allclose((weights * u).sum(axis=1), value, atol=1e-7)


@pytest.mark.parametrize(
    "functional",
    [
        ExpectedValue(reference()),
        MinimumValue(),
        SampledTotalVariation(0.31, 9),
        *(WorstCaseValue(ambiguity_set, reference()) for ambiguity_set in SETS.values()),
    ],
    ids=lambda functional: type(functional).__name__,
)
def test_weights_are_supergradients_of_concave_values(functional):
    u, v = payoffs(), payoffs(seed=9)
    value, weights = functional(u)
    assert (functional(v)[0] <= value + (weights * (v - u)).sum(axis=1) + 1e-7).all()


@pytest.mark.parametrize("empty", [0, 3])
@pytest.mark.parametrize("radius", [0.0, 0.02, 0.3, 10.0])
@pytest.mark.parametrize("ambiguity_set", SETS.values(), ids=SETS)
def test_minimax_approximation_is_that_of_the_ambiguity_sets(ambiguity_set, radius, empty):
    u, p, here = payoffs(), reference(empty), ambiguity_set.with_epsilon(radius)
    value, _ = MinimaxFunctional(here, p)(u)
    np.testing.assert_allclose(value, minimax_approximation(u, p, here), atol=1e-9)


@pytest.mark.parametrize("empty", [0, 3])
@pytest.mark.parametrize("ambiguity_set", SETS.values(), ids=SETS)
@pytest.mark.parametrize("kind", [MinimaxFunctional, Chord])
def test_gradient_of_minimax_approximation_agrees_with_differences(kind, ambiguity_set, empty):
    functional = kind(ambiguity_set.with_epsilon(0.08), reference(empty))
    u = payoffs()
    np.testing.assert_allclose(functional(u)[1], differences(lambda at: functional(at)[0], u, 1e-6), atol=1e-5)


@pytest.mark.parametrize("ambiguity_set", SETS.values(), ids=SETS)
def test_worst_case_lies_between_line_and_chord(ambiguity_set):
    u, p = payoffs(), reference()
    exact = worst_case(u, p, ambiguity_set).value
    upper = Chord(ambiguity_set, p)(u)[0]
    middle = MinimaxFunctional(ambiguity_set, p)(u)[0]
    assert (exact <= upper + 1e-8).all()
    assert (2.0 * middle - upper <= exact + 1e-8).all()


def test_kind_of_sensitivity_follows_the_set():
    p = reference()
    assert isinstance(exact_sensitivity(SETS["mmd"], p), MMDSensitivity)
    assert isinstance(exact_sensitivity(SETS["wass"], p), SlopeSensitivity)
    assert isinstance(exact_sensitivity(SETS["chi2"], p), DeviationSensitivity)
    with pytest.raises(BocuError, match="has no minimax approximation"):
        exact_sensitivity(KullbackLeibler(0.1), p)


def test_identity_sensitivity_and_its_gradient():
    u = payoffs()
    value, gradient = IdentitySensitivity()(u)
    np.testing.assert_allclose(value, identity_sensitivity(u))
    np.testing.assert_allclose(gradient, differences(lambda at: IdentitySensitivity()(at)[0], u), atol=1e-7)


def test_constant_payoffs_are_their_own_worst_case():
    u, p = np.full((2, 12), 3.0), reference(2)
    for ambiguity_set in SETS.values():
        for functional in (
            WorstCaseValue(ambiguity_set, p),
            MinimaxFunctional(ambiguity_set, p),
            Chord(ambiguity_set, p),
        ):
            value, weights = functional(u)
            np.testing.assert_allclose(value, 3.0)
            assert np.isfinite(weights).all()


@pytest.mark.parametrize(
    "functional",
    [ExpectedValue(), MinimumValue(), SampledTotalVariation(0.5, 500), ExpectedValue(np.full(1000, 1e-3))],
    ids=["expectation", "minimum", "sampled", "reference"],
)
def test_screening_looks_at_contexts_that_exist(functional):
    indices, cheap = functional.screening(1000)
    assert 0 <= indices.min() <= indices.max() < 1000
    u = payoffs(contexts=1000)[:, indices]
    assert cheap(u)[0].shape == (20,)


def test_costly_sets_are_screened_by_their_chord():
    p = reference()
    assert isinstance(WorstCaseValue(SETS["mmd"], p).screening(12)[1], Chord)
    assert isinstance(WorstCaseValue(SETS["tv"], p).screening(12)[1], WorstCaseValue)


def test_misuse_is_named_in_one_line():
    with pytest.raises(BocuError, match="epsilon is -1"):
        SampledTotalVariation(-1.0, 5)
    with pytest.raises(BocuError, match="reference"):
        WorstCaseValue(SETS["mmd"], np.full(5, 0.2))
