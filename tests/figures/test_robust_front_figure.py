"""The figure of robust fronts: drawn from real runs, in which the best is above all that was tried."""

import csv
from contextlib import chdir
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from experiments import run_all

from bocu.core.io.files import read_netcdf
from bocu.pages.figures.every_round import RobustFront, RobustFrontParameters
from bocu.pages.report.build import Part, build_page
from bocu.problems.scalarised import ScalarisedNewsvendor, ScalarisedNewsvendorParameters
from bocu.robust.ambiguity import TotalVariation
from bocu.sweep.evaluation.robust_front import MARGIN, front_among, hypervolume
from bocu.sweep.experiment.planning import make_plan

pytestmark = pytest.mark.ci

SETS = {"tv": {"name": "tv", "radius": 0.5}, "kl": {"name": "kl", "radius": 0.1}}


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    dro = [{"name": "dro", "label": label, "parameters": {"set": stated}} for label, stated in SETS.items()]
    experiment = {
        "name": "front",
        "seeds": {"first": 100, "count": 3, "per_job": 2},
        "iterations": 6,
        "problems": [
            {"name": "newsvendor-grid", "label": "two", "parameters": {"outputs": 2, "contexts": 10}},
            {"name": "newsvendor-grid", "label": "one", "parameters": {"contexts": 10}},
        ],
        "objectives": dro,
        "algorithms": ["random", {"name": "drmobo", "problems": ["two"]}],
        "metrics": dro,
        "figures": ["robust-front"],
    }
    with chdir(tmp_path_factory.mktemp("front")):
        plan = make_plan(experiment)
        run_all(plan)
        yield plan


def drawn(plan, problem, **parameters):
    return RobustFront(RobustFrontParameters(**parameters)).draw({"cube": plan.paths.cube(problem)})


def test_fronts_hold_what_no_other_beats_and_none_is_worth_more_than_the_best(plan):
    drawing = drawn(plan, "two", metric="tv")
    values, fronts, shares = drawing.figure.axes
    best, *tried = (line.get_ydata() for line in values.get_lines())
    assert len(tried) == 2
    for line in tried:
        assert (line <= best + 1e-9).all()
    assert [line.get_label() for line in fronts.get_lines()] == ["best there is", "Random", "DRMOBO"]
    for line in fronts.get_lines():
        first, second = (np.asarray(ends) for ends in line.get_data())
        assert (np.diff(first) > 0).all()
        assert (np.diff(second) < 0).all()
    for line in shares.get_lines():
        assert line.get_xdata().tolist() == [1, 2, 3, 4, 5, 6]
        assert (np.asarray(line.get_ydata()) >= 0.0).all()
    assert "by DRO (total variation)" in drawing.caption
    assert "3 seeds" in drawing.caption
    shown = drawing.table[drawing.table["algorithm"] == "DRMOBO"].groupby("panel").size()
    assert shown["share of hypervolume by round"] == 6 * 3
    assert shown["guaranteed outputs 1 and 2"] == len(fronts.get_lines()[2].get_xdata())


def test_cubes_hold_fronts_and_hypervolumes(plan):
    with xr.open_dataset(plan.paths.cube("one")) as cube:
        assert not {"hypervolume_share", "front_value", "weight", "output"} & {*cube.variables}
    with xr.open_dataset(plan.paths.cube("two")) as cube:
        cube.load()
    assert cube["hypervolume_share"].dims == ("objective", "algorithm", "metric", "seed", "iteration")
    assert cube["hypervolume_share"].attrs["units"] == cube["front_weight"].attrs["units"] == "1"
    assert cube["front_value"].attrs["units"] == cube.attrs["payoff_units"]
    run = cube.sel(objective="tv", algorithm="drmobo", metric="tv", seed=101)
    assert np.allclose(run["front_weight"].sum("output"), 1.0)
    # The hypervolume of the fronts that stand there is the one that stands beside them.
    best = run["best_front_guarantee"].values
    corner = best.min(axis=0) - MARGIN * np.ptp(best, axis=0)
    share = hypervolume(run["front_guarantee"].values, corner) / hypervolume(best, corner)
    assert share == pytest.approx(float(run["hypervolume_share"][-1]))
    # And the fronts are those of the decisions in the run file.
    decisions = read_netcdf(plan.products.runs(plan.branch("two", "tv", "drmobo"))[0]).sel(seed=101)["decision"].values
    problem = ScalarisedNewsvendor(ScalarisedNewsvendorParameters(outputs=2, contexts=10), {})
    values = lambda payoffs: TotalVariation(0.5).values(payoffs, problem.reference)[0]  # noqa: E731
    front = front_among(decisions, problem.payoffs(decisions), run["front_weight"].values, values)
    assert np.allclose(front.values, run["front_value"])


def test_the_metric_is_the_first_unless_another_is_asked_for(plan):
    assert drawn(plan, "two").caption == drawn(plan, "two", metric="tv").caption
    other = drawn(plan, "two", metric="kl")
    assert "by DRO (Kullback-Leibler)" in other.caption
    assert len(other.figure.axes[0].get_lines()) == 3
    alone = drawn(plan, "two", algorithms=["random"])
    assert len(alone.figure.axes[0].get_lines()) == 2


def test_the_report_has_a_table_of_hypervolumes(plan):
    page = Path(plan.paths.report())
    build_page([Part(plan.describe(), plan.products.digests(), plan.paths.summary(), [])], page)
    rows = list(csv.DictReader((page.parent / "tables/hypervolumes.csv").open()))
    assert {row["problem"] for row in rows} == {"two"}
    (row,) = [r for r in rows if (r["objective"], r["metric"], r["algorithm"]) == ("tv", "tv", "drmobo")]
    with xr.open_dataset(plan.paths.cube("two")) as cube:
        last = cube["hypervolume_share"].sel(objective="tv", algorithm="drmobo", metric="tv")[:, -1].values
    assert float(row["share"]) == pytest.approx(last.mean())
    assert float(row["low"]) <= last.mean() <= float(row["high"])
    assert row["seeds"] == "3"
    text = page.read_text()
    assert 'id="problem-two-hypervolume-tv-tv"' in text
    assert "problem-one-hypervolume" not in text
