"""What people read in place of the labels of objectives and metrics."""

import json
import re

import pytest
import yaml
from experiments import tiny

from bocu.sweep.experiment.configuration import read_experiment_file
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.titles import in_words

TV, MMD = {"name": "tv", "radius": 0.1}, {"name": "mmd", "radius": 0.1}


def plan_of(root, **keys):
    found = {"problems": ["kirschner"], "algorithms": ["ucb-bocu-2", "random"], "figures": [], **keys}
    return make_plan(tiny(**found), sources_file=root / "data/sources.yaml")


def objective(label, name="dro", **keys):
    parameters = {key: keys.pop(key) for key in ("set", "alpha", "beta") if key in keys}
    return {"name": name, "label": label, "parameters": parameters, **keys}


def test_class_and_set_are_said(root):
    objectives = [objective("tv-dro", set=TV), objective("narrow", "gen", set=MMD)]
    of_objectives, of_metrics = plan_of(root, objectives=objectives, metrics=[*objectives, "so"]).titles
    assert of_objectives == {"any": "no objective", "tv-dro": "DRO (total variation)", "narrow": "GEN (MMD)"}
    assert of_metrics == {"tv-dro": "DRO (total variation)", "narrow": "GEN (MMD)", "so": "SO"}


def test_what_differs_tells_those_of_one_class_and_set_apart(root):
    wider = {**TV, "radius": {"delta": 0.5}}
    objectives = [objective("a", set=TV), objective("b", set=wider), objective("c", set=MMD)]
    metrics = [*objectives, "so", {"name": "so", "label": "met", "parameters": {"under": "truth"}}]
    of_objectives, of_metrics = plan_of(root, objectives=objectives, metrics=metrics).titles
    assert list(of_objectives.values())[1:] == [
        "DRO (total variation, radius 0.1)",
        "DRO (total variation, radius delta 0.5)",
        "DRO (MMD)",
    ]
    assert {of_metrics[label] for label in "abc"} == set(of_objectives.values()) - {"no objective"}
    assert (of_metrics["so"], of_metrics["met"]) == ("SO", "SO (under truth)")


def test_a_share_of_what_is_announced_is_said_in_words(root):
    sets = {label: {"name": "mmd", "radius": {"announced": share}} for label, share in (("a", 0.1), ("b", 1))}
    objectives = [objective(label, set=own) for label, own in sets.items()]
    problem = {"name": "wind-commitment", "parameters": {"hours": 25}}
    of_objectives = plan_of(root, problems=[problem], objectives=objectives, metrics=["so"]).titles[0]
    assert [of_objectives[label] for label in sets] == [
        f"DRO (MMD, {share} of the announced radius)" for share in (0.1, 1)
    ]


def test_equals_are_told_apart_by_their_labels(root):
    of_metrics = plan_of(root, metrics=["so", {"name": "so", "label": "so-again"}], algorithms=["random"]).titles[1]
    assert of_metrics == {"so": "SO, so", "so-again": "SO, so again"}


def test_laws_of_a_path_say_how_far_along_it_they_stand(root):
    path = {"to": "uniform", "steps": 3}
    metrics = ["so", {"name": "so", "label": "off", "under": path}]
    of_metrics = plan_of(root, metrics=metrics, algorithms=["random"]).titles[1]
    assert list(of_metrics.values()) == [
        "SO",
        "SO under uniform (s 0)",
        "SO under uniform (s 0.5)",
        "SO under uniform (s 1)",
    ]


def test_a_title_in_the_file_wins(root):
    plan = plan_of(
        root,
        objectives=[objective("tv-dro", set=TV, title="Wary")],
        algorithms=[{"name": "ucb-bocu-2", "title": "Ours"}, "random"],
        metrics=[objective("tv-dro", set=TV, title="Wary regret"), "so"],
    )
    assert plan.titles == ({"any": "no objective", "tv-dro": "Wary"}, {"tv-dro": "Wary regret", "so": "SO"})
    assert plan.algorithm_abouts["ucb-bocu-2"]["title"] == "Ours"
    told = json.loads(plan.parameters.cube("kirschner")["description"])
    assert told["objective_titles"] == {"any": "no objective", "tv-dro": "Wary"}
    assert told["metric_titles"] == {"tv-dro": "Wary regret", "so": "SO"}


def test_a_title_of_what_is_swept_says_the_values(root):
    plan = plan_of(
        root,
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
    plan = make_plan(yaml.safe_load(file.read_text()), [file], sources_file=root / "data/sources.yaml")
    for found in plan.titles:
        assert len(set(found.values())) == len(found)
        assert not set(found) & set(found.values())


def test_numbers_in_labels_are_read_as_numbers(root):
    assert in_words("ucb-beta-0p5") == "ucb beta 0.5"
    assert in_words("shift-m1p5-1em4-pe-gp") == "shift -1.5 1e-4 pe gp"
    names = {"small": 0.5, "1p4": 1.4142}
    sweep = {"algorithms.ucb-bocu-2.sqrt_beta": names}
    titles = [about["title"] for about in plan_of(root, objectives=[objective("a", set=TV)], sweep=sweep,
                                                  metrics=["so"]).algorithm_abouts.values()]  # fmt: skip
    assert titles[:2] == ["UCB-BOCU-2, sqrt-beta small", "UCB-BOCU-2, sqrt-beta 1.4"]


@pytest.mark.parametrize("name", ["huang2024-models", "tay2024-regions", "kirschner2020", "grand-tour"])
def test_shipped_files_write_their_algorithms_as_papers_do(root, name):
    file = root / f"config/experiments/{name}.yaml"
    plan = make_plan(read_experiment_file(file), files=[file], sources_file=root / "data/sources.yaml")
    titles = [about["title"] for about in plan.algorithm_abouts.values()]
    assert not [title for title in titles if re.search(r"\d+p\d|Stableopt|Se se|Matern matern", title)]
