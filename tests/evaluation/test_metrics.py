import numpy as np
import pytest
from experiments import scoring

from bocu.core.rounds import BoxDomain, Description, FiniteDomain
from bocu.problems.base import Realisation
from bocu.sweep.evaluation.metrics import BestFixedDecision, ExpectedPayoff, ExpectedPayoffParameters
from bocu.sweep.runs.protocol import PROTOCOLS

PAYOFFS = np.array([[[1.0, 5.0], [2.0, 2.0], [4.0, 0.0]], [[0.0, 0.0], [3.0, 3.0], [9.0, -9.0]]])
AVAILABLE = [None, np.array([0, 1])]
REFERENCE = np.array([0.5, 0.5])


class Table(Realisation):
    """Two rounds, three decisions, two contexts."""

    def __init__(self, shut=AVAILABLE):
        points = FiniteDomain(np.arange(3.0)[:, None], ("arm",), ("1",))
        steps = BoxDomain(np.ones(1), np.full(1, np.inf), ("time",), ("1",))
        self.description = Description(points, steps, 0.0, "time-varying")
        self.shut = shut

    def available(self, t):
        return self.shut[t - 1]

    def payoff(self, decision, context):
        return float(PAYOFFS[context - 1][decision] @ REFERENCE)

    def payoffs(self, t):
        return PAYOFFS[t - 1]

    def reference(self, t):
        return REFERENCE


def scored(metric, table, decisions):
    situations = [PROTOCOLS["time-varying"].situation(table, t, np.zeros((t - 1, 1))) for t in (1, 2)]
    return metric.score(table, situations, np.array(decisions))


def test_stochastic_regret_is_against_the_best_available():
    regret, value = scored(ExpectedPayoff(ExpectedPayoffParameters()), Table(), [2, 0])
    assert value.tolist() == [2.0, 0.0]
    assert regret.tolist() == [1.0, 3.0]  # values 3, 2, 2; then 0, 3 (and 0, shut)


def test_robust_regret_is_that_of_the_worst_context():
    regret, value = scored(scoring("Robust"), Table(), [0, 0])
    assert value.tolist() == [1.0, 0.0]
    assert regret.tolist() == [1.0, 3.0]


def test_best_fixed_decision_competes_only_where_it_was_always_available():
    regret, _ = scored(BestFixedDecision(ExpectedPayoffParameters()), Table(), [0, 0])
    # Totals over both rounds: 3, 5, and 2 for the one that was shut once.
    assert regret.tolist() == [2.0 - 3.0, 3.0 - 0.0]


def test_no_fixed_decision_no_number():
    regret, value = scored(BestFixedDecision(ExpectedPayoffParameters()), Table([np.array([0]), np.array([1])]), [0, 1])
    assert np.isnan(regret).all()
    assert value == pytest.approx([3.0, 3.0])


def test_no_regret_where_no_decision_meets_the_aspiration():
    metric = scoring("Satisficing", tau=100.0, set={"name": "tv", "radius": 0.5})
    regret, value = scored(metric, Table(), [2, 0])
    assert value.tolist() == [-np.inf, -np.inf]
    assert regret.tolist() == [0.0, 0.0]
