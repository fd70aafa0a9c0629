"""Other packages' optimisers in a sweep: what they are told is theirs, and what is deployed is what was said."""

import numpy as np
import pytest

from bocu.core.rounds import BoxDomain, Description, FiniteDomain, Round
from bocu.sweep.experiment.registry import find

CORNERS = np.array([[0.0, 10.0], [0.0, 20.0], [4.0, 10.0], [4.0, 20.0]])
DECISIONS = FiniteDomain(CORNERS, ("early", "late"), ("mm", "mm"))
DRY_OR_WET = FiniteDomain(np.array([[0.0], [1.0]]), ("rain",), ("1",))


def peer(name, decisions=DECISIONS, seasons=DRY_OR_WET, protocol="general", **parameters):
    kind = find("algorithm", name).load()
    description = Description(decisions, seasons, 0.1, protocol, 1, None, (), None)
    return kind(description, None, kind.Parameters(**parameters), np.random.default_rng(3))


def trials(count=9, seed=0):
    """Payoffs that depend on the context more than on the decision."""
    draw = np.random.default_rng(seed)
    pairs = zip(draw.integers(len(CORNERS), size=count).tolist(), draw.integers(2, size=count).tolist(), strict=True)
    return [(x, c, float(CORNERS[x] @ [0.1, 0.02] + 3.0 * c)) for x, c in pairs]


LATER = [pytest.param(name, marks=pytest.mark.ci) for name in ("xopt", "emukit")]
LATER.append(pytest.param("smac", marks=pytest.mark.drill))


@pytest.mark.parametrize("name", ["optuna", *LATER])
def test_of_finitely_many_the_nearest_decision_that_is_available_is_taken(name):
    pytest.importorskip(name)
    learner = peer(name)
    for one in trials():
        learner.tell(*one)
    assert learner.ask(Round(t=10, available=np.array([1]))) == 1
    assert learner.recommend() == 1


def test_what_lies_a_little_outside_of_the_box_is_taken_at_its_edge(monkeypatch):
    box = BoxDomain(np.zeros(2), np.array([4.0, 2.0]), ("a", "b"), ("1", "1"))
    learner = peer("qlognei", box, BoxDomain(np.zeros(1), np.ones(1), ("c",), ("1",)), "continuous", risk="ignored")
    learner.tell(np.array([1.0, 1.0]), np.array([0.5]), 0.0)
    outside = np.array([1.0 + 1e-9, -1e-9])  # as optimisers leave it
    monkeypatch.setattr(learner, "_proposed", lambda round: outside)
    monkeypatch.setattr(learner, "_best", lambda round, generator: outside)
    assert learner.ask(Round(t=2)).tolist() == learner.recommend().tolist() == [4.0, 0.0]


def test_optuna_proposes_what_a_study_of_its_own_would():
    optuna = pytest.importorskip("optuna")
    box = BoxDomain(np.zeros(2), np.array([4.0, 2.0]), ("a", "b"), ("1", "1"))
    learner = peer("optuna", box, BoxDomain(np.zeros(1), np.ones(1), ("c",), ("1",)), "continuous", sampler="tpe")
    points = np.random.default_rng(1).random((12, 2))
    for point in points:
        learner.tell(point * box.upper, np.array([0.5]), -float(np.sum((point - 0.4) ** 2)))
    seed = int(np.random.default_rng(3).integers(2**31))  # the first that the learner draws
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed), direction="maximize")
    space = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in ("x0", "x1")}
    for point in points:
        told = dict(zip(space, point.tolist(), strict=True))
        value = -float(np.sum((point - 0.4) ** 2))
        study.add_trial(optuna.trial.create_trial(params=told, distributions=space, value=value))
    wanted = study.ask(space).params
    np.testing.assert_allclose(learner.ask(Round(t=13)) / box.upper, [wanted["x0"], wanted["x1"]], rtol=1e-12)


@pytest.mark.ci
def test_ax_that_knows_contexts_recommends_by_what_it_predicts_in_them():
    pytest.importorskip("ax")
    learner = peer("ax", contexts=True)
    told = [(x, c, float(CORNERS[x] @ [0.1, 0.02]) * (1 if c else -1)) for x in range(4) for c in range(2)]
    for one in told * 2:
        learner.tell(*one)
    learner.reinstate({}, Round(t=9, reference=np.array([1.0, 0.0])))
    assert learner.recommend() == 0  # in dry years the least water
    learner.reinstate({}, Round(t=9, reference=np.array([0.0, 1.0])))
    assert learner.recommend() == 3


@pytest.mark.ci
def test_ax_told_trial_by_trial_decides_as_when_told_all_at_once():
    pytest.importorskip("ax")
    learner, fresh = peer("ax"), peer("ax")
    for one in trials(count=4):
        learner.tell(*one)
        learner.ask(Round(t=2))
    for one in trials(count=4):
        fresh.tell(*one)
    told = fresh._told(Round(t=5))
    assert learner._asked(told, seed=1) == fresh._asked(told, seed=1)
    # Another past, of as many trials: nothing of the first is believed.
    learner.restore({"inputs": learner.inputs[::-1], "payoffs": learner.payoffs[::-1]})
    fresh = peer("ax")
    fresh.restore(learner.state())
    assert learner._asked(learner._told(Round(t=5)), 2) == fresh._asked(fresh._told(Round(t=5)), 2)
