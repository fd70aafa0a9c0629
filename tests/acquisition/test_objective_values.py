"""Uncertainty objectives as functionals: values of the objective itself, gradients by differences."""

import subprocess
import sys

import numpy as np
import pytest
from gaussian_posteriors import differences

from bocu.learners.acquisition.functionals import FAR_BELOW, ObjectiveValue
from bocu.robust.ambiguity import KullbackLeibler, MaximumMeanDiscrepancy, TotalVariation, Wasserstein
from bocu.robust.ambiguity.mmd.gram import squared_exponential_gram, with_jitter
from bocu.robust.objectives.functions import UncertaintyObjective

POINTS = np.linspace(0.0, 1.0, 6)[:, None]
MMD = MaximumMeanDiscrepancy(0.3, with_jitter(squared_exponential_gram(POINTS, 0.3), 1e-3))
REFERENCE = np.array([0.1, 0.3, 0.2, 0.15, 0.05, 0.2])
OBJECTIVES = {
    "so": UncertaintyObjective.so(),
    "ro": UncertaintyObjective.ro(),
    "dro kl": UncertaintyObjective.dro(KullbackLeibler(0.1)),
    "dro tv": UncertaintyObjective.dro(TotalVariation(0.33)),
    "dro wass": UncertaintyObjective.dro(Wasserstein(0.1, np.abs(POINTS - POINTS.T))),
    "gen mmd": UncertaintyObjective.gen(MMD, 1.0, 0.5),
    "wcs mmd": UncertaintyObjective.wcs(MMD),
    "rs kl": UncertaintyObjective.rs(KullbackLeibler(0.1), -0.6),
}


def payoffs(rows=6):
    return np.random.default_rng(0).standard_normal((rows, 6))


@pytest.mark.parametrize("name", list(OBJECTIVES))
def test_values_and_gradients(name):
    objective = OBJECTIVES[name]
    functional = ObjectiveValue(objective, REFERENCE)
    rows = payoffs()
    rows = rows[np.isfinite(objective(rows, REFERENCE))]
    assert len(rows) > 1
    values, gradients = functional(rows)
    np.testing.assert_allclose(values, objective(rows, REFERENCE), rtol=1e-9)
    expected = differences(lambda f: np.asarray(objective(f, REFERENCE)), rows, 1e-6)
    np.testing.assert_allclose(gradients, expected, rtol=1e-3, atol=1e-4)


def test_what_is_infinite_is_rated_by_its_expectation_below_all_others():
    objective = UncertaintyObjective.rs(TotalVariation(0.1), 0.0)
    rows = payoffs(20)
    infeasible = np.isneginf(objective(rows, REFERENCE))
    assert 0 < infeasible.sum() < 20
    values, gradients = ObjectiveValue(objective, REFERENCE, spread=2.0)(rows)
    assert values[infeasible].max() < values[~infeasible].min()
    np.testing.assert_allclose(values[infeasible], rows[infeasible] @ REFERENCE - 2.0 * FAR_BELOW)
    np.testing.assert_array_equal(gradients[infeasible], np.tile(REFERENCE, (infeasible.sum(), 1)))


def test_objectives_over_a_set_do_without_torch():
    code = """
import sys
import numpy as np
from bocu.learners.acquisition.functionals import ObjectiveValue
from bocu.robust.ambiguity import TotalVariation
from bocu.robust.objectives.functions import UncertaintyObjective
ObjectiveValue(UncertaintyObjective.gen(TotalVariation(0.3), 1.0, 0.5), np.full(3, 1 / 3))(np.eye(2, 3))
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
