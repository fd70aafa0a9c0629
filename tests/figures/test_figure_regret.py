"""Regret curves: what is drawn is what the cube holds."""

import numpy as np
import pytest
import synthetic_cubes
from scipy.stats import sem
from scipy.stats import t as student
from synthetic_cubes import ALGORITHMS, ITERATIONS, SEEDS, constant_regret

from bocu.core import style
from bocu.learners.algorithms.time_varying import MaximumLikelihood
from bocu.pages.figures.regret import Curve, Regret, RegretParameters, apart
from bocu.sweep.evaluation.curves import accumulate


def drawn(path, **parameters):
    return Regret(RegretParameters(**parameters)).draw({"digest": path})


def lines(axes):
    return {line.get_label(): line for line in axes.get_lines()}


def expected(algorithm, metric="so", seeds=range(SEEDS)):
    return np.array([[constant_regret(algorithm, metric, seed, t + 1) for t in range(ITERATIONS)] for seed in seeds])


def test_lines_and_bands_are_means_and_standard_errors(digest_path):
    axes = drawn(digest_path).figure.axes[0]
    total = expected("mle").cumsum(axis=1)
    np.testing.assert_allclose(lines(axes)["MLE"].get_ydata(), total.mean(axis=0))
    np.testing.assert_array_equal(lines(axes)["MLE"].get_xdata(), np.arange(1, ITERATIONS + 1))
    band = axes.collections[list(ALGORITHMS).index("mle")].get_paths()[0].vertices
    at_end = band[band[:, 0] == ITERATIONS][:, 1]
    spread = sem(total[:, -1])
    assert at_end.min() == pytest.approx(total[:, -1].mean() - spread)
    assert at_end.max() == pytest.approx(total[:, -1].mean() + spread)


def test_bands_may_be_intervals(digest_path):
    drawing = drawn(digest_path, spread="interval-95")
    total = expected("mle").cumsum(axis=1)[:, -1]
    band = drawing.figure.axes[0].collections[list(ALGORITHMS).index("mle")].get_paths()[0].vertices
    interval = student.interval(0.95, SEEDS - 1, loc=total.mean(), scale=sem(total))
    at_end = band[band[:, 0] == ITERATIONS][:, 1]
    assert (at_end.min(), at_end.max()) == pytest.approx(interval)
    assert "95 % intervals (bands)" in drawing.caption


def test_a_panel_a_metric(digest_path):
    figure = drawn(digest_path).figure
    assert [axes.get_title() for axes in figure.axes] == ["so", "ro"]
    np.testing.assert_allclose(lines(figure.axes[1])["MLE"].get_ydata()[-1], expected("mle", "ro").sum(axis=1).mean())
    assert drawn(digest_path, metrics=["ro"]).title == "Cumulative regret, scored by ro"


def test_colours_and_dashes_follow_the_name_when_few_are_drawn(digest_path):
    for chosen in (["mle"], ["bold-mle", "mle", "random"]):
        axes = drawn(digest_path, algorithms=chosen).figure.axes[0]
        assert lines(axes)["MLE"].get_color() == style.stroke(MaximumLikelihood.about.look).colour
    whole = lines(drawn(digest_path).figure.axes[0])["Bold mle"]
    alone = lines(drawn(digest_path, algorithms=["bold-mle"]).figure.axes[0])["Bold mle"]
    assert whole.get_linestyle() == alone.get_linestyle()
    assert whole._unscaled_dash_pattern == alone._unscaled_dash_pattern


def test_a_missing_seed_is_left_out_and_told(tmp_path):
    path = synthetic_cubes.digest(synthetic_cubes.cube(missing=[("mle", 1), ("mle", 4)]), tmp_path / "c.nc")
    drawing = drawn(path)
    total = expected("mle", seeds=[0, 2, 3]).sum(axis=1)
    assert lines(drawing.figure.axes[0])["MLE"].get_ydata()[-1] == pytest.approx(total.mean())
    assert "MLE 3" in drawing.caption
    assert "Random 5" in drawing.caption


def ending(*ends):
    look = style.stroke(MaximumLikelihood.about.look)
    return [Curve(str(end), look, np.ones(1), np.array([float(end)]), np.zeros(1), 1, 0) for end in ends]


@pytest.mark.parametrize(
    ("ends", "far"),
    [
        ([1, 2, 9], [9]),
        ([9, 2, 1], [9]),
        ([1, 2, 7], []),
        ([1, 9], []),
        ([1, 1, 2, 30, 40], [30, 40]),
        ([1, 1, 30, 35, 40], []),
        ([1, 2, 30, 400], [30, 400]),
        ([-3, 1, 2, 11], []),
        ([0, 0, 0, 5], []),
        ([], []),
    ],
)
def test_curves_far_above_the_others_are_parted_at_most_half_of_them(ends, far):
    curves = ending(*ends)
    near, found = apart(curves)
    assert [float(curve.title) for curve in found] == far
    assert [curve for curve in curves if float(curve.title) not in far] == near


@pytest.mark.parametrize(
    ("ends", "far"),
    [([9, 2, 1], []), ([3, 2, -13], [-13]), ([-40, 1, 2, -30, 1], [-30, -40]), ([-1, -2, -7], []), ([300, 1, 2], [])],
)
def test_gains_are_worse_below_zero(ends, far):
    assert [float(curve.title) for curve in apart(ending(*ends), gains=True)[1]] == far


def test_payoffs_have_one_panel_and_no_metric(tmp_path):
    data = synthetic_cubes.cube()
    whole = data["regret"].isel(metric=0, drop=True)
    data["payoff"] = (data["seconds"].dims, -2.0 * whole.values, {"long_name": "a number", "units": "degree_Celsius"})
    drawing = drawn(synthetic_cubes.digest(data, tmp_path / "c.nc"), kind="payoff")
    (axes,) = drawing.figure.axes
    np.testing.assert_allclose(lines(axes)["MLE"].get_ydata(), -2.0 * expected("mle").cumsum(axis=1).mean(axis=0))
    assert axes.get_ylabel() == "cumulative payoff [°C]"
    assert drawing.title == "Cumulative payoff"
    assert "metric" not in drawing.caption + drawing.alternative + axes.get_title()
    assert drawing.alternative.index("Random") < drawing.alternative.index("MLE")
    assert "from most to least" in drawing.alternative


def test_rounds_of_the_initial_design_do_not_count():
    rounds, values = accumulate(np.array([-1, 0, 1, 2]), np.array([[9.0, 9.0, 1.0, 2.0]]), "cumulative")
    assert rounds.tolist() == [1, 2]
    assert values.tolist() == [[1.0, 3.0]]


def test_simple_regret_is_the_least_of_any_round_so_far():
    rounds, values = accumulate(np.arange(0, 5), np.array([[0.1, 3.0, 1.0, 2.0, 0.5]]), "simple")
    assert rounds.tolist() == [1, 2, 3, 4]
    assert values.tolist() == [[3.0, 1.0, 1.0, 0.5]]


def test_evaluations_may_be_counted_from_the_initial_design_on():
    regret = np.array([[9.0, 8.0, 1.0, 2.0]])
    evaluations, values = accumulate(np.array([-1, 0, 1, 2]), regret, "cumulative", from_initial=True)
    assert evaluations.tolist() == [1, 2, 3, 4]
    assert values.tolist() == [[9.0, 17.0, 18.0, 20.0]]


def test_pursued_objectives_stand_in_rows_and_the_others_in_each(tmp_path):
    import xarray as xr

    data = synthetic_cubes.cube()
    pursuing = data.sel(algorithm=["mle"])
    pursuing = xr.concat([pursuing, pursuing.assign(regret=pursuing.regret * 2)], "objective")
    pursuing["objective"] = ["dro", "wcs"]
    whole = data.sel(algorithm=["random"]).combine_first(pursuing)
    whole["status"] = whole["status"].fillna(2).astype("int8")
    names = ("algorithm", whole["algorithm"].values)  # label and registered name agree for these two
    told = synthetic_cubes.told({label: label for label in whole["algorithm"].values.tolist()})
    told = {key: ("algorithm", values) for key, values in told.items()}
    whole = whole.assign_coords(algorithm_name=names, algorithm_parameters=names, **told)
    whole.attrs = data.attrs
    for name in whole.variables:
        whole[name].attrs = {"long_name": "a number", "units": "1"}
    figure = drawn(synthetic_cubes.digest(whole, tmp_path / "c.nc"), metrics=["so"]).figure
    assert [axes.get_title() for axes in figure.axes] == ["pursued: dro", "pursued: wcs"]
    dro, wcs = (lines(axes) for axes in figure.axes)
    np.testing.assert_allclose(2 * dro["MLE"].get_ydata(), wcs["MLE"].get_ydata())
    np.testing.assert_allclose(dro["Random"].get_ydata(), wcs["Random"].get_ydata())
