"""`bocu.problems.density_estimates`, against an integral of our own."""

import numpy as np
import pytest
from scipy import stats

from bocu.core.errors import BocuError
from bocu.core.parameters import validate
from bocu.core.randomness import Streams
from bocu.problems.density_estimates import EstimateDistances, EstimateDistancesParameters
from bocu.problems.optima import expectation_named


def payoffs(contexts_of, seed):
    problem = EstimateDistances(EstimateDistancesParameters(contexts_of=contexts_of), {})
    return problem.realise(Streams(seed)).payoffs(1)


def test_payoffs_are_minus_the_distances_of_estimates_from_the_first_contexts():
    law = expectation_named("hartmann-6").law.unclipped()
    drawn = law.sample(Streams(4)["problem"], 300)[:, 0]
    at = np.linspace(-2.0, 3.0, 100_001)
    expected = []
    for count in (10, 100, 200, 300):
        seen = drawn[:count]
        bandwidth = (4.0 / 3.0) ** 0.2 * seen.std() * count**-0.2
        estimate = np.mean([stats.norm.pdf(at, one, bandwidth) for one in seen], axis=0)
        expected.append(-np.trapezoid(np.abs(estimate - law.marginals[0].density(at)), at))
    np.testing.assert_allclose(payoffs("hartmann-6", 4), np.array(expected)[:, None], atol=2e-4)


def test_the_complicated_law_is_farther_and_more_contexts_come_nearer():
    normal, complicated = (
        np.mean([payoffs(law, seed) for seed in range(12)], axis=0)[:, 0]
        for law in ("hartmann-6", "complicated-hartmann")
    )
    assert (normal > complicated).all()
    assert normal[0] < normal[1] < normal[3]
    np.testing.assert_array_equal(payoffs("hartmann-6", 3), payoffs("hartmann-6", 3))


def test_there_is_one_decision_for_each_number_of_contexts():
    for key, found, allowed in (("decision_points", [5], [4]), ("context_points", [2], [1])):
        with pytest.raises(BocuError, match=rf"{key}: .*found \{found}; allowed: \{allowed}"):
            validate(EstimateDistancesParameters, {key: found}, "")
