"""Robustness curves from scores along paths of laws, and the price of robustness by hand."""

import json
from contextlib import chdir

import numpy as np
import pytest
from experiments import run_all

from bocu.core.io.files import read_netcdf
from bocu.core.randomness import Streams
from bocu.pages.figures.base import draw_files
from bocu.pages.figures.every_round import BEST, RobustnessCurve, RobustnessCurveParameters
from bocu.pages.figures.regret import LEAST_PANEL_WIDTH, Regret, RegretParameters
from bocu.pages.figures.results import Digest, foremost
from bocu.pages.figures.robust_decisions import PriceOfRobustness, PriceOfRobustnessParameters
from bocu.robust.ambiguity import TotalVariation, worst_case
from bocu.sweep.evaluation.cubes import metrics_off_paths
from bocu.sweep.evaluation.robust_decisions import prices
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.runs.seed_run import build_problem

HIGH = {"name": "normal", "parameters": {"mean": 0.8, "std": 0.1}}
GRID_PROBLEM = {
    "name": "kirschner",
    "label": "grid",
    "parameters": {"function": "a", "spread": "sd", "decision_points": [20], "context_points": [20]},
}
RADII = [0.0, 0.2, 0.6, 1.2]


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    experiment = {
        "name": "curves",
        "seeds": {"first": 0, "count": 3, "per_job": 3},
        "iterations": 4,
        "problems": [{"name": "newsvendor", "label": "box"}, GRID_PROBLEM],
        "objectives": [{"name": "so", "problems": ["grid"]}],
        "algorithms": ["random", {"name": "ucb-bocu-2", "problems": ["grid"]}],
        "metrics": [
            "so",
            {"name": "so", "label": "high", "under": {"to": HIGH, "steps": 3, "until": 1}},
            {"name": "dro", "label": "tenth", "parameters": {"set": {"name": "cvar", "alpha": 0.1}},
             "under": {"to": HIGH, "steps": 3, "until": 1}},
            {"name": "so", "label": "one-law", "under": HIGH},
        ],
        "figures": ["robustness-curve", {"name": "price-of-robustness", "parameters": {"radii": RADII}}],
    }  # fmt: skip
    with chdir(tmp_path_factory.mktemp("curves")):
        plan = make_plan(experiment)
        run_all(plan)
        yield plan


def drawn(plan, problem, **parameters):
    settings = RobustnessCurveParameters.model_validate(parameters)
    return RobustnessCurve(settings).draw({"cube": plan.paths.cube(problem)})


def lines_of(axes):
    return {line.get_label(): line for line in axes.get_lines()}


@pytest.mark.parametrize("problem", ["box", "grid"])
def test_curves_are_means_of_what_is_recommended_last(plan, problem):
    drawing = drawn(plan, problem)
    panels = drawing.figure.axes
    assert [axes.get_title() for axes in panels] == ["high", "tenth"]
    cube = read_netcdf(plan.paths.cube(problem))
    for axes, family in zip(panels, ("high", "tenth"), strict=True):
        lines = lines_of(axes)
        values = cube["recommended_value"].sel(algorithm="random", objective="any").isel(iteration=-1)
        expected = [float(values.sel(metric=f"{family}-{place}").mean()) for place in range(3)]
        table = drawing.table[drawing.table["metric"] == family]
        means = table.groupby(["algorithm", "place"])[["value", "lost"]].mean()
        np.testing.assert_allclose(means.loc["Random", "value"], expected)
        np.testing.assert_allclose(lines["Random"].get_ydata(), means.loc[BEST, "value"] - means.loc["Random", "value"])
        assert (table["lost"] >= -1e-9).all()
        np.testing.assert_allclose(lines["Random"].get_xdata(), [0.0, 0.5, 1.0])
        assert set(lines) <= {text.get_text().partition(" → ")[0] for text in axes.texts}  # named at their ends
    assert "from the reference to normal (mean 0.8, std 0.1), s up to 1" in drawing.caption
    assert "3 seeds" in drawing.caption
    assert "Random" in drawing.alternative


def test_the_axis_may_be_the_distance_of_a_set(plan):
    inputs = plan.inputs.figure("robustness-curve", "box")
    drawing = RobustnessCurve(RobustnessCurveParameters(set={"name": "tv"}, metrics=["high"])).draw(dict(inputs))
    (axes,) = drawing.figure.axes
    places = np.asarray(lines_of(axes)["Random"].get_xdata())
    # Along a mixture total variation grows in proportion to s, to 2 at most.
    np.testing.assert_allclose(places, [0.0, places[2] / 2, places[2]])
    assert 0.5 < places[2] <= 2.0
    assert axes.get_xlabel() == "total variation from the reference"
    assert drawing.title == "Robustness curves: high, by total variation"


def test_the_price_on_a_grid_is_that_of_its_definition(plan):
    problem = build_problem(plan.problems["grid"].specification, {})
    realisation = problem.realise(Streams(0))
    stated = PriceOfRobustnessParameters(radii=RADII)
    found = prices(realisation, stated.set, stated.radii)
    payoffs, reference = realisation.payoffs(1), realisation.reference(1)
    expected = payoffs @ reference
    for place, radius in enumerate(RADII):
        worst = worst_case(payoffs, reference, TotalVariation(radius)).value
        robust, plain = int(np.argmax(worst)), int(np.argmax(expected))
        assert found.price[place] == pytest.approx(expected[plain] - expected[robust], abs=1e-9)
        assert found.bought[place] == pytest.approx(worst[robust] - worst[plain], abs=1e-9)
    assert found.price[0] == found.bought[0] == 0.0
    assert found.price[-1] > 0.0
    assert found.bought[-1] > 0.0


@pytest.mark.parametrize("problem", ["box", "grid"])
def test_the_price_is_drawn_of_the_problem_alone(plan, problem):
    parameters = plan.figures["price-of-robustness"].parameters
    specification = plan.problems[problem].specification
    inputs = {"problem": json.loads(json.dumps({"label": problem, "specification": specification}))}
    drawing = PriceOfRobustness(parameters).draw(inputs)
    _, right = drawing.figure.axes
    for line in right.get_lines():
        assert np.asarray(line.get_xdata()).tolist() == RADII
        assert (np.asarray(line.get_ydata()) >= -1e-9).all()
    assert drawing.problem == problem
    assert "at radius 0: 0 and 0" in drawing.alternative


def test_the_job_of_a_figure_of_a_problem_is_told_the_problem(plan, tmp_path):
    told = plan.parameters.figure("price-of-robustness", "grid")
    handed = {key: json.loads(told[key]) for key in ("specification", "problem")}
    outputs = {"png": tmp_path / "p.png", "svg": tmp_path / "p.svg", "description": tmp_path / "p.json"}
    draw_files(handed, {}, outputs)
    assert json.loads(outputs["description"].read_text())["problem"] == "grid"


def test_metrics_along_paths_are_shown_by_their_curves_alone(plan):
    results = Digest(plan.paths.digest("grid"))
    assert len(results.metrics) == 8
    assert metrics_off_paths(results.data) == ["so", "one-law"]
    assert [metric for _, metric in foremost(results)] == ["so", "one-law"]  # but for those of a path
    regret = Regret(RegretParameters()).draw({"digest": results.path})
    assert len(regret.figure.axes) == 2
    named = Regret(RegretParameters(metrics=[*results.metrics], cut=False)).draw({"digest": results.path}).figure
    assert len(named.axes) == 8
    assert named.get_size_inches()[0] == pytest.approx(8 * LEAST_PANEL_WIDTH)
