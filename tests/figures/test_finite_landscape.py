"""Pictures of problems on a grid: drawn from the specification alone, with the optima where they are."""

import json

import numpy as np
import pytest
from experiments import tiny

from bocu.core.style import SIMULATED_MARK
from bocu.pages.figures.landscapes import Contour, FiniteLandscapeParameters, FunctionAndDistributions
from bocu.sweep.experiment.planning import make_plan
from bocu.testing.games import stated

BOTH = {"function-and-distributions": FunctionAndDistributions, "contour": Contour}


def described(name, **parameters):
    """What the plan hands to a figure of a problem."""
    return {"problem": {"label": "label", "specification": stated("problem", name, parameters)}}


def draw(kind, inputs, **parameters):
    return BOTH[kind](FiniteLandscapeParameters(**parameters)).draw(inputs)


def marks(axes):
    """Height of the mark of every optimum."""
    drawn = {line.get_label(): line for line in axes.get_lines()}
    return {
        label.removesuffix(" optimum"): float(line.get_ydata()[0])
        for label, line in drawn.items()
        if label.endswith(" optimum")
    }


def axes_of(drawing, label):
    return next(axes for axes in drawing.figure.axes if axes.get_xlabel() == label)


def test_the_image_is_the_function_and_the_curves_are_its_distributions():
    inputs = described("kirschner")
    drawing = draw("function-and-distributions", inputs)
    below = axes_of(drawing, "context")
    values = below.collections[0].get_array()
    assert values.shape == (100, 100)
    curves = {line.get_label(): line.get_ydata() for line in drawing.figure.axes[0].get_lines()}
    assert all(curve.sum() == pytest.approx(1.0) for curve in curves.values())
    assert np.linspace(0, 1, 100)[curves["true distribution"].argmax()] == pytest.approx(0.45, abs=0.01)
    heights = marks(below)
    row = int(np.argmax(values @ curves["reference"]))
    assert heights["stochastic"] == pytest.approx(row / 99)
    assert heights["worst-case"] == pytest.approx(int(values.min(axis=1).argmax()) / 99)
    assert f"distributionally robust {heights['distributionally robust']:.3g}" in drawing.caption
    assert len(set(heights.values())) == 3
    assert (drawing.problem, drawing.data_label) == ("label", "")


def test_on_function_b_the_marks_stand_side_by_side_on_one_line():
    drawing = draw("contour", described("kirschner", function="b"))
    axes = axes_of(drawing, "context")
    assert len(set(marks(axes).values())) == 1
    places = [float(line.get_xdata()[0]) for line in axes.get_lines() if line.get_label().endswith("optimum")]
    assert len(set(places)) == 3
    assert "All three optima lie at decision 0.646" in drawing.caption


def test_the_radius_is_that_of_the_set_that_is_asked_for():
    assert "radius 0.364" in draw("function-and-distributions", described("kirschner")).caption
    inputs = described("kirschner", spread="variance")
    assert "radius 0.121" in draw("function-and-distributions", inputs).caption
    nothing = draw("contour", inputs, set={"name": "tv", "radius": 0.0})
    heights = marks(axes_of(nothing, "context"))
    assert heights["distributionally robust"] == heights["stochastic"]


def test_stand_ins_are_marked(root, tmp_path):
    from bocu.problems.data.catalogue import load_catalogue
    from bocu.problems.data.plant import prepare_plant
    from bocu.problems.data.simulated.plant import simulate

    simulate(tmp_path / "marchantia_leaf_area_svgp.npz")
    origin = load_catalogue(root / "data/sources.yaml").origin("plant", "svgp", "simulate")
    prepare_plant([tmp_path / "marchantia_leaf_area_svgp.npz"], tmp_path / "p.nc", origin)
    inputs = described("plant", source="simulate", decision_points=[30], context_points=[10])
    drawing = draw("contour", {**inputs, "problem_data": str(tmp_path / "p.nc")})
    assert SIMULATED_MARK in [text.get_text() for text in drawing.figure.texts]
    assert axes_of(drawing, "NH3 concentration, scaled")


def test_the_plan_hands_over_the_problem_and_no_cube():
    problems = [{"label": "two", "name": "kirschner", "parameters": {"function": "b"}}, {"name": "plant"}]
    plan = make_plan(tiny(data="simulate", problems=problems, algorithms=["random"], figures=["contour", "regret"]))
    assert plan.inputs.figure("contour", "two") == {}
    assert plan.inputs.figure("contour", "plant") == {"problem_data": "data/simulate/plant/svgp.nc"}
    handed = json.loads(plan.parameters.figure("contour", "two")["problem"])
    assert handed["label"] == "two"
    assert handed["specification"] == plan.problems["two"].specification
    assert "problem" not in plan.parameters.figure("regret", "two")
    # Other code behind one of the problems redraws that problem's picture alone.
    fingerprints = [plan.parameters.figure("contour", problem)["fingerprint"] for problem in ("two", "plant")]
    assert fingerprints[0] != fingerprints[1]
    draw("contour", {"problem": handed})
