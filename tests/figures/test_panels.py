"""Grids of regret curves: every panel holds the runs that pursue its objective, scored by its metric."""

import numpy as np
import pytest
import synthetic_cubes
from synthetic_objectives import INITIAL, ITERATIONS, METRICS, SEEDS, cube, gain, level

from bocu.core import style
from bocu.learners.algorithms.thompson import ThompsonSampling
from bocu.pages.figures.regret import POINTS, Panels, PanelsParameters


@pytest.fixture
def cubes(tmp_path):
    return [synthetic_cubes.digest(cube(problem), tmp_path / f"{problem}.nc") for problem in ("one", "three")]


def drawn(paths, **parameters):
    return Panels(PanelsParameters.model_validate(parameters)).draw({"digests": paths})


def curves(axes):
    return {line.get_label(): line for line in axes.get_lines()}


def mean_end(problem, objective, algorithm, metric, rounds=ITERATIONS):
    return level(problem, objective, algorithm, metric) * (1 + 0.1 * np.arange(SEEDS)).mean() * rounds


def test_a_panel_holds_the_runs_that_pursue_what_it_is_scored_by(cubes):
    axes = np.reshape(drawn(cubes).figure.axes, (2, 2))
    for row, metric in zip(axes, METRICS, strict=True):
        for panel, problem in zip(row, ("one", "three"), strict=True):
            found = curves(panel)
            assert list(found) == ["Random", "TS-BOCU", "DRBO"]
            for title, objective, algorithm in (("Random", "any", "random"), ("TS-BOCU", metric, "ts-bocu")):
                expected = mean_end(problem, objective, algorithm, metric)
                assert found[title].get_ydata()[-1] == pytest.approx(expected), (problem, metric, title)


def test_rows_and_columns_are_named_once(cubes):
    figure = drawn(cubes, rows=[{"metric": "dro", "title": "DRO, TV"}, {"metric": "wcs"}], columns=["first"]).figure
    axes = np.reshape(figure.axes, (2, 2))
    assert [panel.get_ylabel() for panel in axes[:, 0]] == ["cumulative regret"] * 2
    # What a row is stands at its right end, where it is not taken for an axis.
    named = [[text.get_text() for text in panel.texts if text.get_rotation() == 270] for panel in axes[:, -1]]
    assert named == [["DRO, TV"], ["wcs"]]
    assert [panel.get_title() for panel in axes[0]] == ["first", "Problem three"]
    assert [panel.get_xlabel() for panel in axes[:, 0]] == ["", "round"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["Random", "TS-BOCU", "DRBO"]


def test_names_of_columns_stay_in_the_picture(cubes):
    rows = [{"metric": "dro", "problems": ["one", "three", "one", "three"]}]
    figure = drawn(cubes, rows=rows, columns=["modelled, 2080-99"] * 4).figure
    figure.draw_without_rendering()
    assert all(axes.title.get_window_extent().x1 <= figure.bbox.x1 for axes in figure.axes)


def test_runs_of_other_objectives_scored_by_each(cubes):
    titles = {"ts-bocu/dro": "TS-DRO", "ts-bocu/wcs": "TS-WCS"}
    rows = [{"metric": metric, "pursued": ["dro", "wcs"]} for metric in METRICS]
    figure = drawn(cubes, rows=rows, algorithms=["ts-bocu"], titles=titles).figure
    for axes, metric in zip(np.reshape(figure.axes, (2, 2))[:, 0], METRICS, strict=True):
        found = curves(axes)
        assert list(found) == ["TS-DRO", "TS-WCS"]
        for objective, line in zip(("dro", "wcs"), found.values(), strict=True):
            assert line.get_ydata()[-1] == pytest.approx(mean_end("one", objective, "ts-bocu", metric))
        assert len({line.get_color() for line in found.values()}) == 2
    untitled = drawn(cubes, rows=rows, algorithms=["ts-bocu"]).figure.axes[0]
    assert list(curves(untitled)) == ["TS-BOCU, dro", "TS-BOCU, wcs"]


def test_what_is_written_alike_looks_alike_in_all_panels(cubes):
    rows = [{"metric": "dro", "problems": ["one"]}, {"metric": "wcs", "problems": ["one"]}]
    figure = drawn(cubes, rows=rows, titles={"drbo": "robust", "ts-bocu": "robust"}).figure
    looks = {(line.get_color(), line.get_marker()) for axes in figure.axes for line in axes.get_lines()[1:]}
    own = style.stroke(ThompsonSampling.about.look)
    assert looks == {(own.colour, own.marker)}
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["Random", "robust"]


def test_regret_of_what_is_recommended_leaves_out_who_recommends_nothing(cubes):
    rows = [{"metric": "dro"}, {"metric": "dro", "kind": "recommended", "title": "final"}]
    axes = np.reshape(drawn(cubes, rows=rows).figure.axes, (2, 2))[:, 0]
    assert list(curves(axes[0])) == ["Random", "TS-BOCU", "DRBO"]
    found = curves(axes[1])
    assert list(found) == ["TS-BOCU", "DRBO"]
    assert found["TS-BOCU"].get_xdata().tolist() == list(range(1, ITERATIONS + 1))
    assert found["TS-BOCU"].get_ydata()[-1] == pytest.approx(mean_end("one", "dro", "ts-bocu", "dro", 1) / 2)
    assert axes[1].get_ylabel() == "regret of the\nrecommended\ndecision"


def mean_gain(algorithm, rounds=ITERATIONS):
    return gain(algorithm) * (SEEDS + 1) / (2 * SEEDS) * rounds


def test_payoffs_are_summed_up_and_told_from_the_most_to_the_least(cubes):
    rows = [{"metric": "dro"}, {"metric": "dro", "kind": "payoff", "title": "observed"}]
    drawing = drawn(cubes[:1], rows=rows, from_initial=True)
    axes = drawing.figure.axes[1]
    found = curves(axes)
    assert list(found) == ["Random", "TS-BOCU", "DRBO"]
    for title, algorithm in (("Random", "random"), ("TS-BOCU", "ts-bocu"), ("DRBO", "drbo")):
        assert found[title].get_ydata()[-1] == pytest.approx(mean_gain(algorithm, INITIAL + ITERATIONS))
    assert axes.get_ylim()[0] < mean_gain("random", INITIAL + ITERATIONS)
    assert axes.get_ylabel() == "cumulative payoff"
    order = [f"{title} {mean_gain(name, 14):.4g}" for title, name in (("DRBO", "drbo"), ("TS-BOCU", "ts-bocu"))]
    assert f"one, observed, cumulative payoff: {', '.join(order)}, Random -" in drawing.alternative
    assert "Payoffs are those of the contexts met." in drawing.caption


def test_a_loss_that_dwarfs_the_gains_is_cut_from_below(tmp_path):
    data = cube()
    data["payoff"].loc[{"algorithm": "random"}] *= 10_000.0
    path = synthetic_cubes.digest(data, tmp_path / "c.nc")
    (axes,) = drawn([path], rows=[{"metric": "dro"}], kind="payoff").figure.axes
    best = mean_gain("drbo")
    assert best < axes.get_ylim()[1] < 2 * best
    assert -best < axes.get_ylim()[0] < 0.0
    assert [text.get_text() for text in axes.texts] == [f"Random → {mean_gain('random') * 10:.3g}k"]
    (axes,) = drawn([path], rows=[{"metric": "dro"}], kind="payoff", cut=False).figure.axes
    assert axes.get_ylim()[0] < mean_gain("random") * 10_000
    assert axes.yaxis.get_major_formatter()(-200_000.0, 0) == "-200k"


def test_a_row_may_draw_algorithms_of_its_own(cubes):
    rows = [{"metric": "dro", "algorithms": ["drbo"]}, {"metric": "wcs"}]
    axes = np.reshape(drawn(cubes, rows=rows, algorithms=["random", "ts-bocu"]).figure.axes, (2, 2))[:, 0]
    assert [list(curves(panel)) for panel in axes] == [["DRBO"], ["Random", "TS-BOCU"]]


def test_problems_share_a_panel(cubes):
    row = {"metric": "dro", "problems": [["three", "one"]]}
    (axes,) = drawn(cubes, rows=[row], algorithms=["ts-bocu"], overlaid=["big", "small"]).figure.axes
    found = curves(axes)
    assert list(found) == ["big", "small"]
    for problem, line in zip(("three", "one"), found.values(), strict=True):
        assert line.get_ydata()[-1] == pytest.approx(mean_end(problem, "dro", "ts-bocu", "dro"))
    assert len({(line.get_color(), line.get_marker()) for line in found.values()}) == 2
    (axes,) = drawn(cubes, rows=[row], algorithms=["ts-bocu", "random"], overlaid=["big"]).figure.axes
    assert list(curves(axes)) == ["big, Random", "big, TS-BOCU", "Problem one, Random", "Problem one, TS-BOCU"]


def test_long_runs_are_thinned_and_keep_their_ends(tmp_path):
    path = synthetic_cubes.digest(cube(iterations=1000), tmp_path / "long.nc")
    line = curves(drawn([path]).figure.axes[0])["Random"]
    assert len(line.get_xdata()) == POINTS
    assert (line.get_xdata()[0], line.get_xdata()[-1]) == (1, 1000)
    assert line.get_ydata()[-1] == pytest.approx(mean_end("one", "any", "random", "dro", 1000))


def test_one_that_dwarfs_the_others_is_cut_and_told(tmp_path):
    data = cube()
    data["regret"].loc[{"algorithm": "random"}] *= 100.0
    path = synthetic_cubes.digest(data, tmp_path / "c.nc")
    drawing = drawn([path])
    axes = drawing.figure.axes[0]
    others = mean_end("one", "dro", "drbo", "dro")
    assert others < axes.get_ylim()[1] < 2 * others
    assert -0.1 * others < axes.get_ylim()[0] <= 0.0
    assert [text.get_text() for text in axes.texts if not text.get_rotation()] == ["Random → 17.9k"]
    assert "their ends are written in" in drawing.caption
    assert drawn([path], cut=False).figure.axes[0].get_ylim()[1] > 20 * others


def test_what_is_not_there_is_said_in_its_panel(cubes):
    rows = [{"metric": "dro", "problems": ["one", "two"]}, {"metric": "unheard-of", "problems": ["one"]}]
    axes = np.reshape(drawn(cubes[:1], rows=rows).figure.axes, (2, 2))
    assert [text.get_text() for text in axes[0, 1].texts][:1] == ["no results"]
    assert [text.get_text() for text in axes[1, 0].texts][:1] == ["not scored by unheard-of"]
    assert not axes[1, 1].axison
    nothing = drawn(cubes, rows=[{"metric": "unheard-of"}])
    assert "no run is finished" in nothing.caption


def test_simulated_problems_are_marked_where_they_stand(tmp_path):
    paths = [
        synthetic_cubes.digest(cube("real", units="degree_Celsius"), tmp_path / "a.nc"),
        synthetic_cubes.digest(cube("made-up", data_label=synthetic_cubes.SIMULATED), tmp_path / "b.nc"),
    ]
    drawing = drawn(paths)
    titles = [axes.get_title() for axes in drawing.figure.axes[:2]]
    assert titles == ["Problem real [°C]", "Problem made-up\n(simulated)"]
    assert drawing.data_label == f"{synthetic_cubes.SIMULATED}: made-up"
