"""P_s, the law of the weights of several outputs."""

import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.core.randomness import Streams
from bocu.problems.scalarised import ScalarisedNewsvendor, ScalarisedNewsvendorParameters
from bocu.sweep.experiment.planning import make_plan


def weights(**stated):
    problem = ScalarisedNewsvendor(ScalarisedNewsvendorParameters(outputs=2, contexts=10, **stated), {})
    return np.array([problem.realise(Streams(seed)).weights(t) for seed in range(20) for t in range(1, 101)])


def test_weights_follow_the_law_that_is_stated():
    first = weights(scalarisation=[4, 1])[:, 0]
    # Dirichlet (4, 1): the first weight is beta distributed, mean 4/5, variance 4 / (25 * 6).
    assert first.mean() == pytest.approx(0.8, abs=0.015)
    assert first.var() == pytest.approx(4 / 150, rel=0.1)


def test_uniform_weights_are_those_of_equal_concentrations_of_1():
    drawn = weights()
    np.testing.assert_array_equal(drawn, weights(scalarisation=[1, 1]))
    np.testing.assert_allclose(drawn.sum(axis=1), 1.0)
    assert drawn[:, 0].var() == pytest.approx(1 / 12, rel=0.1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"outputs": 2, "scalarisation": [1, 2, 3]}, "scalarisation: found .*; allowed: 2 numbers, one an output"),
        ({"scalarisation": [1, 2]}, "scalarisation: found .*; allowed: null where there is one output"),
        ({"outputs": 2, "scalarisation": [0, 1]}, "scalarisation.0: found 0"),
    ],
)
def test_laws_that_there_are_not_are_refused_while_planning(parameters, message):
    experiment = {
        "name": "weighted", "seeds": 1, "iterations": 2, "metrics": ["so"], "algorithms": ["random"], "figures": [],
        "problems": [{"name": "newsvendor-grid", "parameters": {"contexts": 10, **parameters}}],
    }  # fmt: skip
    with pytest.raises(BocuError, match=message):
        make_plan(experiment)
