import numpy as np
import synthetic_cubes
import synthetic_objectives

from bocu.pages.figures.base import save
from bocu.pages.figures.times import Cost, CostParameters
from bocu.pages.report.pictures import pictures
from bocu.sweep.evaluation.curves import medians as _medians
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
