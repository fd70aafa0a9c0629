"""Times of rounds and runs, density estimates, and the objectives of a decision on its curve."""

import cvxpy as cp
import numpy as np
import pytest
import synthetic_cubes
import synthetic_objectives
import xarray as xr
from test_finite_landscape import described

from bocu.core.errors import BocuError
from bocu.pages.figures.base import save
from bocu.pages.figures.results import Digest
from bocu.pages.figures.robust_decisions import WorstExpectation
from bocu.pages.figures.times import Cost, CostParameters, DensityEstimates, RunTimes, seconds_of_runs
from bocu.pages.report.pictures import pictures
from bocu.robust.ambiguity import KullbackLeibler, TotalVariation
from bocu.sweep.evaluation.curves import medians as _medians
from bocu.sweep.evaluation.robust_decisions import objectives_of, reach
from bocu.sweep.evaluation.run_statistics import SECONDS


def test_a_point_is_the_median_of_its_rounds_and_the_initial_design_is_left_out():
    iterations = np.array([-1, 0, 1, 2, 3, 4, 5])
    seconds = np.array([[9.0, 9.0, 1.0, 2.0, 30.0, 4.0, 6.0]])
    rounds, medians = _medians(iterations, seconds, 3)
    assert rounds.tolist() == [3, 5]
    assert medians.tolist() == [[2.0, 5.0]]
    assert SECONDS.per_seed(iterations, seconds).tolist() == [(1.0 + 2.0 + 30.0 + 4.0 + 6.0) / 5]


def test_figures_of_one_title_have_headings_of_their_own(cube_path, tmp_path):
    drawing = Cost(CostParameters(smooth=4)).draw({"cube": cube_path})
    files = []
    for name in ("few", "many"):
        files.append(tmp_path / f"{name}.json")
        save(drawing, *(tmp_path / f"{name}.{kind}" for kind in ("png", "svg", "json")))
    assert [each.title for each in pictures(files, tmp_path)] == ["Time of a round: few", "Time of a round: many"]
    assert [each.title for each in pictures(files[:1], tmp_path)] == ["Time of a round"]


def test_who_pursues_nothing_has_one_point_where_there_are_several_objectives(tmp_path):
    data = synthetic_objectives.cube()
    cube = synthetic_cubes.write(data, tmp_path / "cube.nc")
    drawing = Cost(CostParameters(smooth=synthetic_objectives.ITERATIONS)).draw({"cube": cube})
    assert drawing.alternative.startswith("Dots")
    assert sorted(title.partition(",")[0] for title in drawing.table["algorithm"]) == [
        "DRBO", "DRBO", "Random", "TS-BOCU", "TS-BOCU",
    ]  # fmt: skip
    assert not drawing.table["algorithm"].duplicated().any()


PAYOFFS = np.array([1.0, 0.2, -0.6, 0.4, 0.9])
REFERENCE = np.array([0.3, 0.25, 0.05, 0.2, 0.2])


def worst(radius):
    """The least expectation within a total variation, by a linear program."""
    q = cp.Variable(5, nonneg=True)
    return cp.Problem(cp.Minimize(q @ PAYOFFS), [cp.sum(q) == 1, cp.norm1(q - REFERENCE) <= radius]).solve()


def test_heights_and_slopes_are_those_of_the_curve():
    found = objectives_of(PAYOFFS, REFERENCE, TotalVariation(0.0), 0.5)
    assert (found["so"], found["ro"]) == (pytest.approx(PAYOFFS @ REFERENCE), -0.6)
    assert found["dro"] == pytest.approx(worst(0.5), abs=1e-7)
    step = 1e-3
    assert found["wcs"] == pytest.approx((worst(step) - worst(0.0)) / step, abs=1e-4)
    assert (found["beta"], found["mr"]) == (0.25, pytest.approx(found["so"] + 0.25 * found["wcs"]))
    radii = np.linspace(0.01, 2.0, 25)
    slack = np.array([worst(radius) for radius in radii]) - found["tau"] - found["rs"] * radii
    assert slack.min() == pytest.approx(0.0, abs=2e-2)
    assert slack.min() > -1e-6
    top = reach(PAYOFFS, REFERENCE, TotalVariation(0.0), 0.5)
    assert 1.9 < top < 2.3
    assert not np.isfinite(objectives_of(PAYOFFS, REFERENCE, KullbackLeibler(0.0), 0.1)["wcs"])


def test_the_picture_has_them_as_dots_and_lines():
    given = {"set": {"name": "tv", "radius": 0.4}}
    parameters = WorstExpectation.Parameters.model_validate(given)
    drawing = WorstExpectation(parameters).draw(described("kirschner", decision_points=[15], context_points=[12]))
    (axes,) = drawing.figure.axes
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert set(lines) == {
        *(f"height: {name}" for name in ("SO", "DRO", "RO", "MR")),
        *(f"slope: {name}" for name in ("WCS", "RS")),
        "worst expectation",
    }
    curve = lines["worst expectation"]
    at, height = lines["height: DRO"].get_xdata()[0], lines["height: DRO"].get_ydata()[0]
    assert at == 0.4
    assert np.interp(at, curve.get_xdata(), curve.get_ydata()) == pytest.approx(height, abs=1e-3)
    assert curve.get_ydata()[-1] == pytest.approx(lines["height: RO"].get_ydata()[0], abs=1e-5)
    assert "DRO at radius 0.4" in drawing.caption
    wrong = WorstExpectation.Parameters.model_validate({**given, "decision": 99})
    with pytest.raises(BocuError, match="decision: found 99; allowed: 0 to 14"):
        WorstExpectation(wrong).draw(described("kirschner", decision_points=[15], context_points=[12]))


def test_seconds_are_those_of_whole_runs(cube_path, digest_path):
    cube = Digest(digest_path)
    times = seconds_of_runs(cube)
    branch = next(iter(cube.branches()))
    with xr.open_dataset(cube_path) as data:
        played = data["seconds"].where(data["iteration"] >= 1, drop=True)
        whole = played.sel(objective=branch.objective, algorithm=branch.algorithm).sum("iteration").values
    mean, _, error = times[branch.algorithm].partition(" ± ")
    assert float(mean) == pytest.approx(whole.mean(), abs=0.5 * 10.0 ** -len(mean.partition(".")[2]))
    assert float(error) == pytest.approx(whole.std(ddof=1) / np.sqrt(len(whole)), rel=0.05, abs=1e-9)
    one, other = list(times)[:2]
    parameters = {"rows": ["A", "B"], "columns": {"ours": [one, other]}, "published": {"paper": ["7 ± 1", "8 ± 2"]}}
    drawing = RunTimes(RunTimes.Parameters.model_validate(parameters)).draw({"digest": digest_path})
    (axes,) = drawing.figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["A", "B"]
    dots = {line.get_xdata()[0] for line in axes.get_lines() if line.get_marker() in "os"}
    assert dots >= {7.0, 8.0, *(float(times[each].partition(" ")[0]) for each in (one, other))}
    assert f"B: paper 8 ± 2, ours {times[other]}" in drawing.alternative
    assert drawing.table.to_dict("list") == {
        "row": ["A", "B"],
        "paper": ["7 ± 1", "8 ± 2"],
        "ours": [times[one], times[other]],
    }
    with pytest.raises(ValueError, match="have one length; found 1, 2"):
        RunTimes.Parameters.model_validate({"rows": ["A"], "columns": {"ours": [one, other]}})


def test_distances_of_estimates_are_within_the_paper_s_errors():
    """Table 2, normal contexts, 20 runs: 0.3222 and 0.1315, each within three standard errors of a difference."""
    inputs = described("hartmann-6")
    parameters = DensityEstimates.Parameters(observations=[10, 100], published=["0.3222 ± 0.0327", "0.1315 ± 0.0088"])
    told = DensityEstimates(parameters).draw(inputs).table
    for row, paper, error in ((0, 0.3222, 0.0327), (1, 0.1315, 0.0088)):
        ours, own = (float(part) for part in told["here"][row].split(" ± "))
        assert abs(ours - paper) < 3.0 * np.hypot(error, own)
    assert told["row"][0] == "10 contexts"
    nothing = DensityEstimates(DensityEstimates.Parameters()).draw(described("ackley-2-4"))
    assert "one coordinate" in nothing.caption
