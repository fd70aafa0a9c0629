"""Parameters of other optimisers as decisions, and what is asked of their finished trials."""

import math

import numpy as np
import pytest

import bocu
from bocu.advice.choices import Decisions
from bocu.core.errors import BocuError
from bocu.interop.trials import NumberParameter, Question, Stepped, Trial, TrialNames, values_of

QUESTION = Question(["rain"], {"radius": 0.4})


def sold(order: float, rain: float) -> float:
    return 3.0 * min(order, 90.0 - 6.0 * rain) - 1.5 * order


@pytest.fixture
def trials():
    world = np.random.default_rng(0)
    asked = [(int(world.integers(20, 91)), 10.0 * world.random()) for _ in range(12)]
    return [Trial(f"trial {i}", {"order": o}, {"rain": r}, sold(o, r)) for i, (o, r) in enumerate(asked)]


@pytest.mark.parametrize(
    "parameter",
    [
        NumberParameter("x", -1.0, 2.0),
        NumberParameter("x", 1, 9, whole=True),
        NumberParameter("x", 1, 9, whole=True, step=2),
        NumberParameter("x", 0.1, 0.9, step=0.2),
        NumberParameter("x", 1e-4, 1e2, log=True),
        NumberParameter("x", 1, 1000, whole=True, log=True),
    ],
)
def test_all_that_may_be_decided_is_a_value_of_a_number(parameter):
    decisions = Decisions((parameter.part,))
    near = [decisions.neighbours(value, share) for value in decisions.candidates() for share in (1 / 16, 1e-3)]
    for entry in np.unique(np.vstack([decisions.candidates(), *near])):
        value = parameter.value(entry)
        assert parameter.low <= value <= parameter.high
        assert isinstance(value, int) == parameter.whole
        if parameter.step:
            steps = (value - parameter.low) / parameter.step
            assert steps == pytest.approx(round(steps), abs=1e-9)
    for value in (parameter.low, parameter.high):
        assert parameter.value(parameter.entry(value)) == pytest.approx(value, rel=1e-12)


def test_steps_are_moved_along_one_at_least_and_never_out_of_bounds():
    part = Stepped("x", 0.0, 1.0, step=0.25)
    assert part.moved(0.5, 1e-4).tolist() == [0.25, 0.75]
    assert part.moved(1.0, 1e-4).tolist() == [0.75, 1.0]
    assert Stepped("x", 0.0, 4.0, step=0.25).moved(2.0, 0.25).tolist() == [1.0, 3.0]
    assert part.spaced(65).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize(
    "values",
    [
        (None, "None"),
        (True, False),
        (1, "1", 2.5),
    ],
)
def test_names_of_any_type_come_back_as_they_were(values):
    parameter = TrialNames("shelf", values)
    assert [parameter.value(parameter.entry(value)) for value in values] == list(values)
    assert len(set(parameter.part.levels)) == len(values)


@pytest.mark.parametrize("minimise", [False, True])
def test_the_answer_is_that_of_suggest_on_the_same_log(trials, minimise):
    sign = -1.0 if minimise else 1.0
    given = [Trial(t.label, t.values, t.contexts, sign * t.payoff) for t in trials]
    order = NumberParameter("order", 20, 90, whole=True)
    found = QUESTION.answered([order], given, "profit", minimise, forecast={"rain": [0.0, 5.0, 10.0]})
    log = {
        "order": [t.values["order"] for t in given],
        "rain": [t.contexts["rain"] for t in given],
        "profit": [t.payoff for t in given],
    }
    asked = {"decisions": "order:int:20..90", "contexts": ["rain"], "outcome": "profit", "radius": 0.4}
    assert found == bocu.suggest(log, **asked, minimise=minimise, forecast={"rain": [0.0, 5.0, 10.0]})
    assert values_of(found, [order]) == found.decision


def test_a_log_scale_is_decided_by_orders_of_magnitude():
    world = np.random.default_rng(0)
    rate = NumberParameter("rate", 1e-5, 1e-1, log=True)
    values, met = 10.0 ** world.uniform(-5.0, -1.0, 12), world.random(12)
    given = [
        Trial(f"trial {i}", {"rate": v}, {"load": c}, -((math.log10(v) + 3.0) ** 2) - c)
        for i, (v, c) in enumerate(zip(values.tolist(), met.tolist(), strict=True))
    ]
    found = Question(["load"], {"objective": "so"}).answered([rate], given, "payoff", minimise=False)
    assert math.log10(values_of(found, [rate])["rate"]) == pytest.approx(-3.0, abs=0.3)


def test_trials_are_enough_once_so_many_report_all_contexts(trials):
    assert not QUESTION.answerable([], 5)
    assert not QUESTION.answerable(trials[:4], 5)
    assert QUESTION.answerable(trials[:5], 5)
    without = [Trial(t.label, t.values, {}, t.payoff) for t in trials]
    assert not QUESTION.answerable(trials[:4] + without[:4], 5)
    assert not QUESTION.answerable([Trial(t.label, t.values, t.contexts, 1.0) for t in trials], 5), "all alike"
    with pytest.warns(UserWarning, match="no trial reports the context 'rain'"):
        assert not QUESTION.answerable(without, 5)


@pytest.mark.parametrize(
    ("contexts", "options", "said"),
    [
        ("rain", {"radius": 0.4}, "a list of names is wanted"),
        ([], {"radius": 0.4}, "at least one column"),
        (["rain"], {"objective": "dro"}, "needs one, or estimate"),
        (["rain"], {"radios": 0.4}, "did you mean 'radius'"),
        (["rain"], {"objective": "robust"}, "--objective"),
        (["rain"], {"set": "ball", "radius": 0.4}, "--set"),
    ],
)
def test_what_is_asked_wrongly_is_said_before_the_first_trial(contexts, options, said):
    with pytest.raises(BocuError, match=said):
        Question(contexts, options)


def test_errors_name_the_trial(trials):
    odd = [*trials, Trial("trial 99", {"order": 50}, {"rain": "wet"}, 1.0)]
    with pytest.raises(BocuError, match="trial 99, column 'rain': found 'wet'"):
        QUESTION.answered([NumberParameter("order", 20, 90, whole=True)], odd, "profit", minimise=False)


def test_constraints_where_there_are_steps_are_refused(trials):
    stepped = NumberParameter("order", 20, 90, whole=True, step=10)
    with pytest.raises(BocuError, match="none where a parameter has steps"):
        QUESTION.answered([stepped], trials, "profit", minimise=False, constraints=["order <= 50"])
