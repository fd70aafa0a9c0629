"""DRBQO: decisions of a sample but for some, and what it recommends against a convex program."""

import cvxpy as cp
import numpy as np
import pytest

from bocu.core.kernels import SquaredExponential
from bocu.core.rounds import Description, FiniteDomain, Round
from bocu.learners.algorithms.thompson import DRBQO
from bocu.learners.surrogates.grid import GridPrior
from bocu.robust.ambiguity import ModifiedChiSquared
from bocu.robust.objectives.functions import UncertaintyObjective

X, C = np.linspace(0.0, 1.0, 8)[:, None], np.linspace(0.0, 1.0, 5)[:, None]
UNIFORM = np.full(len(C), 0.2)
RHO = 0.5


def built(seed=0, **parameters):
    kernel = SquaredExponential((0.3,))
    model = GridPrior(X, C, kernel, kernel, 1.0, 0.01)
    spaces = FiniteDomain(X, ("x",), ("1",)), FiniteDomain(C, ("c",), ("1",))
    described = Description(*spaces, 0.01, "simulator", model=model)
    objective = UncertaintyObjective.dro(ModifiedChiSquared(0.0))
    return DRBQO(described, objective, DRBQO.Parameters(**parameters), np.random.default_rng(seed))


def known(algorithm):
    """Tell a payoff whose best decision is far from the others, everywhere."""
    for x in range(len(X)):
        for c in range(len(C)):
            algorithm.tell(x, c, 3.0 * np.exp(-((X[x, 0] - 4 / 7) ** 2) / 0.02) + 0.3 * C[c, 0])


def round(t=1):
    return Round(t=t, reference=UNIFORM, epsilon=RHO)


def test_one_decision_in_ten_is_uniform():
    learner = built()
    known(learner)
    asked = np.array([learner.ask(round(t)) for t in range(1, 401)])
    elsewhere = (asked != 4).mean()
    assert elsewhere == pytest.approx(0.1 * 7 / 8, abs=0.04)
    assert set(asked) == set(range(len(X)))
    sure = built(exploration=0.0)
    known(sure)
    assert {sure.ask(round(t)) for t in range(1, 50)} == {4}


def test_uniform_decisions_are_among_those_available():
    learner = built(exploration=1.0)
    some = np.array([1, 5])
    limited = Round(t=1, available=some, reference=UNIFORM, epsilon=RHO)
    assert {learner.ask(limited) for _ in range(30)} == {1, 5}


def test_the_context_is_the_least_known():
    learner = built()
    decision = learner.ask(round())
    learner.tell(decision, 0, 0.3)
    deviation = learner.posterior.deviation()[decision]
    assert learner.choose_context(decision, round()) == deviation.argmax() != 0


def test_recommended_is_the_best_mean_of_those_tried():
    """The worst expectation of the posterior mean within the chi-squared set, by a convex program."""
    learner = built()
    generator = np.random.default_rng(2)
    for t in range(1, 7):
        learner.ask(round(t))
        learner.tell(int(generator.integers(len(X))), int(generator.integers(len(C))), generator.standard_normal())
    q = cp.Variable(len(C), nonneg=True)
    within = [cp.sum(q) == 1, 0.5 * cp.sum(cp.square(q - UNIFORM)) / 0.2 <= RHO]
    mean = learner.posterior.mean()
    worst = np.array([cp.Problem(cp.Minimize(row @ q), within).solve(solver=cp.CLARABEL) for row in mean])
    tried = np.unique(learner.posterior.decisions)
    assert len(tried) < len(X)
    assert learner.recommend() == tried[worst[tried].argmax()]
    assert built().recommend() == 0
