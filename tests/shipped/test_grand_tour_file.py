"""The grand tour holds everything that a paper compares; that it runs: tests/golden."""

import re

import pytest
from test_experiment_files import plan_of

from bocu.pages.figures.relative_regret import Scoreboard
from bocu.sweep.experiment.papers import papers

pytestmark = pytest.mark.usefixtures("elsewhere")

BOTORCH = {"botorch-acquisition", "qlognei", "qkg", "mars", "qnehvi"}
"""Seconds a round: they are compared in an experiment of their own, with no paper's results."""
OURS = {"drifting-gp-sample", "hills-continuous", "irrigation-two", "ucb-bocu-true", "wake-steering-two"}
"""In experiments of their own, which no paper ran: of the last its regret bound is proved alone."""
SAME = {
    ("ucb-bocu-1", "dro"): "that of ucb-bocu-2",
    **{(name, kind): "those of ucb-so and ucb-ro" for name in ("ucb-bocu-1", "ucb-bocu-2") for kind in ("so", "ro")},
}


def used(plan):
    """Registered names by kind."""
    return {
        "problem": {problem.registered.name for problem in plan.problems.values()},
        "algorithm": {branch.algorithm.registered.name for branch in plan.branches.values()},
        "objective": {branch.objective.registered.name for branch in plan.branches.values() if branch.objective},
        "metric": {metric.registered.name for metric in plan.metrics},
    }


def test_what_any_paper_compares_is_there(root):
    here = used(plan_of(root, "grand-tour"))
    for file in sorted((root / "config/experiments").glob("*.yaml")):
        plan = plan_of(root, file.stem)
        for kind, names in used(plan).items() if plan.experiment.papers else ():
            assert names - BOTORCH - OURS <= here[kind], (file.name, kind)


def test_every_algorithm_runs_wherever_it_is_defined(root):
    plan = plan_of(root, "grand-tour")
    kinds = {branch.algorithm.registered.name: branch.algorithm.kind for branch in plan.branches.values()}
    for problem, component in plan.problems.items():
        protocol = plan.problem_parameters(problem).protocol_among(component.kind.protocols)
        outline = component.kind.outline(component.parameters)
        defined = {name for name, kind in kinds.items() if kind.plays(protocol, outline)} - {"constant"}
        found = {branch.algorithm.registered.name for branch in plan.branches_of(problem)} - {"constant"}
        if problem == "wind-commitment":  # where only DRO is pursued
            defined -= {"ucb-bocu-1"}
        assert found == defined, problem


def test_every_objective_is_pursued_by_all_that_can(root):
    plan = plan_of(root, "grand-tour")
    by_name = {branch.algorithm.registered.name: branch.algorithm for branch in plan.branches.values()}
    for problem, component in plan.problems.items():
        protocol = plan.problem_parameters(problem).protocol_among(component.kind.protocols)
        pursuing = [name for name, algorithm in by_name.items() if algorithm.kind.pursues(protocol)]
        branches = [branch for branch in plan.branches_of(problem) if branch.objective]
        defined = {branch.algorithm.registered.name for branch in branches}
        for objective in {branch.objective.label: branch.objective for branch in branches}.values():
            kind = objective.registered.name
            found = {branch.algorithm.registered.name for branch in branches if branch.objective == objective}
            able = {
                name
                for name in pursuing
                if name in defined and not by_name[name].parameters.unfit(kind, objective.parameters)
            }
            assert found == able - {name for name in able if (name, kind) in SAME}, (problem, objective.label)


def test_scoreboards_draw_what_the_experiment_has(root):
    plan = plan_of(root, "grand-tour")
    shown = set()
    for figure in plan.figures.values():
        if figure.registered.load() is not Scoreboard:
            continue
        assert set(figure.parameters.columns) <= set(plan.problems)
        assert {label.partition("/")[0] for label in figure.parameters.titles} <= {key[2] for key in plan.branches}
        for block in figure.parameters.blocks:
            for problem in block.problems:
                assert block.metric in [metric.label for metric in plan.metrics_of(problem)]
            wanted = ("any", *(block.pursued or [block.metric]))
            shown |= {key for key in plan.branches if key[0] in block.problems and key[1] in wanted}
    assert shown == set(plan.branches)  # every run stands in a table


def test_the_page_cites_where_each_competitor_comes_from(root):
    plan = plan_of(root, "grand-tour")
    cited = papers(plan.experiment.papers)
    assert all(paper.known for paper in cited)
    for branch in plan.branches.values():
        about = branch.algorithm.kind.about
        for surname, year in re.findall(r"([A-Z]\w+)(?: et al\.| and \w+)? \(?(\d{4})", about.paper):
            assert any(surname in paper.authors and str(paper.year) == year for paper in cited), about
