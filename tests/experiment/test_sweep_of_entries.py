"""`sweep` of an experiment file: which entries it becomes, what goes together, and what is refused."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from bocu.core.errors import BocuError
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.experiment.planning import make_plan

BASE: Mapping[str, Any] = {
    "name": "swept",
    "seeds": 3,
    "iterations": 5,
    "problems": [{"name": "hills", "parameters": {"grid": 50}}, "gp-sample"],
    "objectives": [
        {"name": "dro", "label": "tv-dro", "parameters": {"set": "tv"}},
        {"name": "dro", "label": "mmd-dro", "parameters": {"set": {"name": "mmd", "lengthscale": 0.1}}},
    ],
    "metrics": ["so"],
    "algorithms": ["random", "pe-gp-ucb", "ucb-bocu-1"],
    "figures": [],
}


def plan_of(sweep: object, **changes: object) -> Plan:
    return make_plan({**BASE, **changes, "sweep": sweep})


def test_a_grid_becomes_labelled_entries_with_their_values() -> None:
    plan = plan_of({"length": {"of": "problems.hills.kernel_lengthscale", "values": [0.1, "3e-1"]},
                    "problems.hills.noise": 0.05})  # fmt: skip
    assert list(plan.problems) == ["hills-length-0p1-noise-0p05", "hills-length-0p3-noise-0p05", "gp-sample"]
    second = plan.problem_parameters("hills-length-0p3-noise-0p05")
    assert (second.kernel_lengthscale, second.noise, second.grid) == (0.3, 0.05, 50)  # type: ignore[attr-defined]
    described = json.loads(plan.parameters.cube("hills-length-0p1-noise-0p05")["description"])
    made = {"base": "hills", "at": {"length": 0.1, "noise": 0.05}}
    assert described["swept"] == {"problem": {"hills-length-0p1-noise-0p05": made}}
    assert "swept" not in json.loads(plan.parameters.cube("gp-sample")["description"])
    words = plan_of({"problems.gp-sample.kernel": ["matern-5/2"], "problems.gp-sample.initial_replacement": [True]})
    [label] = words.problems.keys() - {"hills"}
    swept = json.loads(words.parameters.cube(label)["description"])["swept"]["problem"][label]
    assert swept["at"] == {"kernel": "matern-5/2", "initial-replacement": "True"}


def test_a_star_is_every_entry_that_has_the_parameter() -> None:
    plan = plan_of({"algorithms.*.sqrt_beta": [1, 2]})
    assert {key[2] for key in plan.branches} == {
        "random", "pe-gp-ucb-sqrt-beta-1", "pe-gp-ucb-sqrt-beta-2", "ucb-bocu-1-sqrt-beta-1", "ucb-bocu-1-sqrt-beta-2",
    }  # fmt: skip
    assert plan.algorithm_abouts["ucb-bocu-1-sqrt-beta-2"]["title"] == "UCB-BOCU-1, sqrt-beta 2"


def test_a_key_reaches_into_a_set_that_is_written_by_its_name() -> None:
    plan = plan_of({"objectives.*.set.radius": {"small": 0.1, "margin": "margin"}})
    radii = {
        key[1]: branch.objective.parameters.set.radius for key, branch in plan.branches.items() if branch.objective
    }  # type: ignore[attr-defined]
    assert radii == {
        "tv-dro-radius-small": 0.1,
        "tv-dro-radius-margin": "margin",
        "mmd-dro-radius-small": 0.1,
        "mmd-dro-radius-margin": "margin",
    }


def test_parameters_that_move_together_never_meet_at_different_values() -> None:
    radius = {"of": ["objectives.tv-dro.set.radius", "metrics.kept.set.radius", "problems.gp-sample.noise"],
              "values": [0.1, 0.2]}  # fmt: skip
    metrics = [{"name": "dro", "label": "kept", "parameters": {"set": "tv"}, "problems": ["gp-sample"]}, "so"]
    plan = plan_of({"radius": radius}, metrics=metrics)
    pursued = {(key[0], key[1]) for key in plan.branches if key[1].startswith("tv-dro")}
    assert pursued == {
        ("gp-sample-radius-0p1", "tv-dro-radius-0p1"),
        ("gp-sample-radius-0p2", "tv-dro-radius-0p2"),
    }
    scored = {label: [metric.label for metric in plan.metrics_of(label)] for label in plan.problems}
    assert scored["gp-sample-radius-0p2"] == ["kept-radius-0p2", "so"]
    swept = {made: entry.base for made, entry in plan.sweep.entries.items() if entry.point == {"radius": "0p2"}}
    assert swept == {
        ("problems", "gp-sample-radius-0p2"): "gp-sample",
        ("objectives", "tv-dro-radius-0p2"): "tv-dro",
        ("metrics", "kept-radius-0p2"): "kept",
    }


def test_a_list_of_grids_holds_their_points_and_no_others() -> None:
    first = {"noise": {"of": "problems.hills.noise", "values": [0.1, 0.2]}, "algorithms.pe-gp-ucb.sqrt_beta": 1}
    plan = plan_of([first, {"noise": 0.1, "sqrt-beta": [1, 3]}], problems=["hills"], algorithms=["pe-gp-ucb"],
                   objectives=[])  # fmt: skip
    assert {(key[0], key[2]) for key in plan.branches} == {
        ("hills-noise-0p1", "pe-gp-ucb-sqrt-beta-1"),
        ("hills-noise-0p2", "pe-gp-ucb-sqrt-beta-1"),
        ("hills-noise-0p1", "pe-gp-ucb-sqrt-beta-3"),
    }


def test_an_entry_that_names_a_swept_one_names_all_that_it_became() -> None:
    algorithms = ["random", {"name": "pe-gp-ucb", "problems": ["hills"]}]
    figures = [{"name": "regret", "problems": ["hills"]}]
    plan = plan_of({"problems.hills.noise": [0.1, 0.2]}, algorithms=algorithms, figures=figures, objectives=[])
    assert {key[0] for key in plan.branches if key[2] == "pe-gp-ucb"} == {"hills-noise-0p1", "hills-noise-0p2"}
    assert plan.figure_problems["regret"] == ["hills-noise-0p1", "hills-noise-0p2"]


def test_more_points_rerun_nothing_of_the_old_ones() -> None:
    few = plan_of({"problems.hills.noise": [0.1, 0.2], "problems.hills.high": 2})
    more = plan_of({"problems.hills.noise": [0.05, 0.1, 0.2, 0.4], "problems.hills.high": [2, 3]})
    assert len(more.branches) > len(few.branches)
    for key, branch in few.branches.items():
        assert more.products.runs(more.branches[key]) == few.products.runs(branch)
        assert more.parameters.run(more.branches[key], 0, 2) == few.parameters.run(branch, 0, 2)
        assert more.parameters.score(more.branches[key]) == few.parameters.score(branch)
    for problem in few.problems:
        assert more.parameters.cube(problem) == few.parameters.cube(problem)


def test_a_label_that_an_entry_has_already_is_refused() -> None:
    problems = ["hills", {"name": "hills", "label": "hills-noise-1", "parameters": {"noise": 0.3}}]
    with pytest.raises(BocuError, match="two entries of 'problems' would have the label 'hills-noise-1'"):
        plan_of({"problems.hills.noise": 1}, problems=problems)


def test_places_of_other_entries_are_those_of_the_file() -> None:
    with pytest.raises(BocuError, match=r"problems\.1\.parameters\.nois: unknown key"):
        plan_of(
            {"problems.hills.noise": [1, 2, 3]}, problems=["hills", {"name": "gp-sample", "parameters": {"nois": 1}}]
        )
