"""The figures of shifts.yaml draw what the experiment compares."""

import yaml

from bocu.sweep.experiment.planning import make_plan


def test_references_are_drawn_with_who_guards_against_them(root):
    experiment = yaml.safe_load((root / "config/experiments/shifts.yaml").read_text(encoding="utf-8"))
    plan = make_plan(experiment, sources_file=root / "data/sources.yaml")
    rows = plan.figures["references"].parameters.rows
    drawn = {problem: row.pursued for row in rows for problem in row.problems}
    guarding = {objective for _, objective, algorithm in plan.branches if algorithm in ("drmobo", "ucb-bocu-2")}
    assert guarding == {"tv"}
    assert all(guarding <= {*pursued} for pursued in drawn.values())
