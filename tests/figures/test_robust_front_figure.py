"""The figure of robust fronts: drawn from real runs, in which the best is above all that was tried."""

import os
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from experiments import run_all

from bocu.experiment.planning import make_plan
from bocu.figures.robust_front import RobustFront, RobustFrontParameters

TV = {"name": "tv", "radius": 0.5}


@pytest.fixture(scope="module")
def plan(root, tmp_path_factory):
    experiment = {
        "name": "front",
        "seeds": {"first": 100, "count": 3, "per_job": 2},
        "iterations": 6,
        "problems": [
            {"name": "newsvendor-grid", "label": "two", "parameters": {"outputs": 2, "contexts": 10}},
            {"name": "newsvendor-grid", "label": "one", "parameters": {"contexts": 10}},
        ],
        "objectives": [
            {"name": "dro", "label": "tv", "parameters": {"set": TV}},
            {"name": "dro", "label": "kl", "parameters": {"set": {"name": "kl", "radius": 0.1}}},
        ],
        "algorithms": ["random", {"name": "drmobo", "problems": ["two"]}],
        "metrics": [{"name": "dro", "label": "tv", "parameters": {"set": TV}}],
    }
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("front"))
    try:
        plan = make_plan(experiment, sources_file=root / "data/sources.yaml")
        run_all(plan)
        yield plan
    finally:
        os.chdir(before)


def drawn(plan, problem, **parameters):
    return RobustFront(RobustFrontParameters(**parameters)).draw(plan.inputs.figure("robust-front", problem))


def test_no_decision_tried_beats_the_best_there_is(plan):
    drawing = drawn(plan, "two", set=TV)
    values, fronts, shares = drawing.figure.axes
    best, *tried = (line.get_ydata() for line in values.get_lines())
    assert len(tried) == 2
    for line in tried:
        assert (line <= best + 1e-9).all()
    assert [line.get_label() for line in fronts.get_lines()] == ["best there is", "Random", "DRMOBO"]
    for line in shares.get_lines():
        assert line.get_xdata().tolist() == [1, 2, 3, 4, 5, 6]
        assert (np.asarray(line.get_ydata()) >= 0.0).all()
    assert "tv sets of radius 0.5" in drawing.caption
    assert "3 seeds" in drawing.caption


def test_cubes_hold_the_hypervolume_that_is_drawn(plan):
    with xr.open_dataset(plan.paths.cube("one")) as cube:
        assert "hypervolume_share" not in cube
    with xr.open_dataset(plan.paths.cube("two")) as cube:
        share = cube["hypervolume_share"].load()
    assert share.dims == ("objective", "algorithm", "metric", "seed", "iteration")
    assert share.attrs["units"] == "1"
    lines = [line.get_ydata() for line in drawn(plan, "two", set=TV).figure.axes[2].get_lines()]
    assert len(lines) == 2
    rounds = share.sel(metric="tv", iteration=slice(1, None)).mean("seed")
    for algorithm, objective in (("random", "any"), ("drmobo", "tv")):
        found = rounds.sel(algorithm=algorithm, objective=objective).values
        assert any(np.allclose(found, line, atol=1e-9) for line in lines), algorithm


def test_the_set_is_the_first_that_is_pursued_unless_another_is_asked_for(plan):
    assert drawn(plan, "two").caption == drawn(plan, "two", set=TV).caption
    other = drawn(plan, "two", set={"name": "kl", "radius": 0.1})
    assert "kl sets of radius 0.1" in other.caption
    assert len(other.figure.axes[0].get_lines()) == 3
    neither = drawn(plan, "two", set={"name": "kl", "radius": 0.2})
    assert len(neither.figure.axes[0].get_lines()) == 2  # random pursues nothing


def test_one_output_has_no_front(plan):
    assert "this problem has 1" in drawn(plan, "one").caption
