"""Which problem meets which objective, algorithm and metric: an experiment file may say so from either side."""

import json

import pytest
from experiments import tiny

from bocu.sweep.experiment.planning import make_plan


@pytest.fixture(autouse=True)
def _in_the_clone(root, monkeypatch):
    monkeypatch.chdir(root)


HILLS = ["hills", {"name": "hills", "label": "coarse", "parameters": {"grid": 61}}]
METRICS = ["so", {"name": "best-fixed-decision", "problems": ["coarse"]}]


def test_a_metric_metrics_the_problems_that_it_names():
    plan = make_plan(tiny(problems=HILLS, metrics=METRICS))
    assert [metric.label for metric in plan.metrics_of("hills")] == ["so"]
    assert [metric.label for metric in plan.metrics_of("coarse")] == ["so", "best-fixed-decision"]
    for problem, metrics in (("hills", ["so"]), ("coarse", ["so", "best-fixed-decision"])):
        scored = json.loads(plan.parameters.score(plan.branch(problem, "any", "random"))["metrics"])
        cube = json.loads(plan.parameters.cube(problem)["description"])
        assert [metric["label"] for metric in scored] == cube["metrics"] == metrics


def test_a_metric_elsewhere_changes_no_score():
    branch = ("hills", "any", "random")
    one, two = make_plan(tiny(problems=HILLS)), make_plan(tiny(problems=HILLS, metrics=METRICS))
    assert one.parameters.score(one.branch(*branch)) == two.parameters.score(two.branch(*branch))


def contextual(**changes):
    """Two problems of different protocols with an objective each."""
    return tiny(
        problems=[
            {"name": "kirschner", "label": "general"},
            {"name": "kirschner", "label": "data-driven", "parameters": {"protocol": "data-driven"}},
        ],
        objectives=[
            {"name": "dro", "problems": ["general"]},
            {"name": "dro", "label": "dro-shrinking", "parameters": {"set": {"radius": {"delta": 0.1}}}},
        ],
        **{"algorithms": ["random", "ucb-bocu-2"], "figures": [], **changes},
    )


def test_an_objective_is_pursued_on_the_problems_that_it_names():
    pairs = [key[:2] for key in make_plan(contextual()).branches if key[2] == "ucb-bocu-2"]
    assert pairs == [("general", "dro"), ("general", "dro-shrinking"), ("data-driven", "dro-shrinking")]


def test_the_objectives_of_an_algorithm_narrow_it_further():
    plan = make_plan(contextual(algorithms=["random", {"name": "ucb-bocu-2", "objectives": ["dro"]}]))
    assert [key[:2] for key in plan.branches if key[2] == "ucb-bocu-2"] == [("general", "dro")]
