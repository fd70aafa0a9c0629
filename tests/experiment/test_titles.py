"""What people read in place of the labels of objectives and metrics."""

import json

import pytest
import yaml
from experiments import tiny

from bocu.sweep.experiment.planning import make_plan

TV, MMD = {"name": "tv", "radius": 0.1}, {"name": "mmd", "radius": 0.1}


def plan_of(**keys):
    found = {"problems": ["kirschner"], "algorithms": ["ucb-bocu-2", "random"], "figures": [], **keys}
    return make_plan(tiny(**found))


def objective(label, name="dro", **keys):
    parameters = {key: keys.pop(key) for key in ("set", "alpha", "beta") if key in keys}
    return {"name": name, "label": label, "parameters": parameters, **keys}


def test_class_and_set_are_said():
    objectives = [objective("tv-dro", set=TV), objective("narrow", "gen", set=MMD)]
    of_objectives, of_metrics = plan_of(objectives=objectives, metrics=[*objectives, "so"]).titles
    assert of_objectives == {"any": "no objective", "tv-dro": "DRO (total variation)", "narrow": "GEN (MMD)"}
    assert of_metrics == {"tv-dro": "DRO (total variation)", "narrow": "GEN (MMD)", "so": "SO"}


def test_what_differs_tells_those_of_one_class_and_set_apart():
    wider = {**TV, "radius": {"delta": 0.5}}
    objectives = [objective("a", set=TV), objective("b", set=wider), objective("c", set=MMD)]
    metrics = [*objectives, "so", {"name": "so", "label": "met", "parameters": {"under": "truth"}}]
    of_objectives, of_metrics = plan_of(objectives=objectives, metrics=metrics).titles
    assert list(of_objectives.values())[1:] == [
        "DRO (total variation, radius 0.1)",
        "DRO (total variation, radius delta 0.5)",
        "DRO (MMD)",
    ]
    assert {of_metrics[label] for label in "abc"} == set(of_objectives.values()) - {"no objective"}
    assert (of_metrics["so"], of_metrics["met"]) == ("SO", "SO (under truth)")


def test_laws_of_a_path_say_how_far_along_it_they_stand():
    path = {"to": "uniform", "steps": 3}
    metrics = ["so", {"name": "so", "label": "off", "under": path}]
    of_metrics = plan_of(metrics=metrics, algorithms=["random"]).titles[1]
    assert list(of_metrics.values()) == [
        "SO",
        "SO under uniform (s 0)",
        "SO under uniform (s 0.5)",
        "SO under uniform (s 1)",
    ]


def test_a_title_in_the_file_wins():
    plan = plan_of(
        objectives=[objective("tv-dro", set=TV, title="Wary")],
        algorithms=[{"name": "ucb-bocu-2", "title": "Ours"}, "random"],
        metrics=[objective("tv-dro", set=TV, title="Wary regret"), "so"],
    )
    assert plan.titles == ({"any": "no objective", "tv-dro": "Wary"}, {"tv-dro": "Wary regret", "so": "SO"})
    assert plan.algorithm_abouts["ucb-bocu-2"]["title"] == "Ours"
    told = json.loads(plan.parameters.cube("kirschner")["description"])
    assert told["objective_titles"] == {"any": "no objective", "tv-dro": "Wary"}
    assert told["metric_titles"] == {"tv-dro": "Wary regret", "so": "SO"}


def test_a_title_of_what_is_swept_says_the_values():
    plan = plan_of(
        objectives=[objective("tv-dro", set=TV, title="Wary")],
        algorithms=[{"name": "ucb-bocu-2", "title": "Ours", "parameters": {"sqrt_beta": 1.0}}],
        metrics=[objective("tv-dro", set=TV)],
        sweep={"objectives.tv-dro.set.radius": [0.1, 0.2], "algorithms.ucb-bocu-2.sqrt_beta": [1.0, 2.0]},
    )
    assert list(plan.titles[0].values())[1:] == ["Wary (radius 0.1)", "Wary (radius 0.2)"]
    titles = {about["title"] for about in plan.algorithm_abouts.values()}
    assert titles == {"Ours, sqrt-beta 1.0", "Ours, sqrt-beta 2.0"}


@pytest.mark.parametrize("name", ["tay2024", "drmobo", "grand-tour", "robustness-curves", "kirschner2020-wind-margins"])
def test_no_title_of_a_shipped_experiment_is_a_label_or_stands_twice(root, name):
    file = root / f"config/experiments/{name}.yaml"
    plan = make_plan(yaml.safe_load(file.read_text()), [file])
    for found in plan.titles:
        assert len(set(found.values())) == len(found)
        assert not set(found) & set(found.values())
