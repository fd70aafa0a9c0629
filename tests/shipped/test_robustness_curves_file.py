"""The experiment of robustness curves: what it scores under, and that it runs up to its figures at smoke scale."""

import pytest
from experiments import run_all
from test_experiment_files import plan_of

from bocu.core.io.files import read_netcdf
from bocu.pages.figures.every_round import RobustnessCurve


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_every_path_starts_at_the_law_that_is_met(root):
    plan = plan_of(root, "robustness-curves")
    paths = [metric for metric in plan.metrics if metric.under is not None]
    assert {metric.entry for metric in paths} == {
        f"{shift}{worst}" for shift in ("shifted", "wider", "uniform") for worst in ("", "-worst-tenth")
    }
    assert {metric.under["from"] for metric in paths} == {"reference"}
    assert {metric.under["s"] for metric in paths} >= {0.0, 1.0, 1.5}
    assert {"ackley", "hartmann-6", "newsvendor", "hartmann-3"} == {*plan.problems}


@pytest.mark.drill
def test_smoke_scale_runs_up_to_the_curves(root):
    plan = plan_of(
        root, "robustness-curves", name="smoke", iterations=1, seeds=1, algorithms=["random", "stableopt", "ucb-bocu-2"]
    )
    run_all(plan)
    for problem in plan.problems:
        cube = read_netcdf(plan.paths.cube(problem))
        assert bool(cube["recommended_value"].isel(iteration=-1).notnull().any())
        figure = plan.figures["expected-by-distance"]
        drawing = RobustnessCurve(figure.parameters).draw(plan.inputs.figure("expected-by-distance", problem))
        assert "black: the best decision" in drawing.caption
