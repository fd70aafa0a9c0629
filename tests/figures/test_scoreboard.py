"""The scoreboard: every cell is the ratio of final regrets that the cubes hold."""

import numpy as np
import pytest
import synthetic_cubes
from matplotlib.colors import to_hex
from synthetic_objectives import METRICS, cube, level

from bocu.core.errors import BocuError
from bocu.pages.figures.base import save
from bocu.pages.figures.relative_regret import Scoreboard, ScoreboardParameters


def many_seeds(data, times=8):
    """Return a cube with its seeds several times over: enough to tell algorithms apart."""
    place = np.tile(np.arange(data.sizes["seed"]), times)
    return data.isel(seed=place).assign_coords(seed=("seed", np.arange(len(place)), data["seed"].attrs))


@pytest.fixture
def cubes(tmp_path):
    return [
        synthetic_cubes.digest(many_seeds(cube(problem)), tmp_path / f"{problem}.nc") for problem in ("one", "three")
    ]


def drawn(paths, **parameters):
    return Scoreboard(ScoreboardParameters.model_validate(parameters)).draw({"digests": paths})


def tables(drawing):
    return [axes for axes in drawing.figure.axes if axes.axison]


def cells(axes):
    """What is written, (row, column) -> text object."""
    rows = [label.get_text() for label in axes.get_yticklabels()]
    return {(rows[int(text.get_position()[1])], int(text.get_position()[0])): text for text in axes.texts}


def ratio(problem, objective, algorithm, metric):
    return level(problem, objective, algorithm, metric) / level(problem, "any", "random", metric)


def test_cells_are_final_regrets_relative_to_random(cubes):
    found = tables(drawn(cubes))
    assert [axes.get_title(loc="left") for axes in found] == list(METRICS)
    for axes, metric in zip(found, METRICS, strict=True):
        shown = cells(axes)
        assert set(shown) == {(title, column) for title in ("TS-BOCU", "DRBO") for column in (0, 1)}
        for column, problem in enumerate(("one", "three")):
            for title, algorithm in (("TS-BOCU", "ts-bocu"), ("DRBO", "drbo")):
                expected = ratio(problem, metric, algorithm, metric)
                assert shown[title, column].get_text() == f"{expected:.2f}"


def test_the_least_of_a_column_is_bold_and_told(tmp_path):
    problems = {problem: many_seeds(cube(problem)) for problem in ("one", "three")}
    problems["one"]["regret"].loc[{"algorithm": "ts-bocu"}] *= 0.1  # less than random in one of them
    paths = [synthetic_cubes.digest(data, tmp_path / f"{problem}.nc") for problem, data in problems.items()]
    drawing = drawn(paths)
    for axes in tables(drawing):
        bold = {place for place, text in cells(axes).items() if text.get_fontweight() == "bold"}
        assert bold == {("TS-BOCU", 0)}
    assert f"dro: one TS-BOCU {ratio('one', 'dro', 'ts-bocu', 'dro') / 10:.2f}, three TS-BOCU" in drawing.alternative


def test_few_seeds_mark_nothing_and_tell_nothing_apart(tmp_path):
    drawing = drawn([synthetic_cubes.digest(cube(), tmp_path / "c.nc")])
    texts = [text for axes in tables(drawing) for text in cells(axes).values()]
    assert {(text.get_fontweight(), text.get_fontstyle()) for text in texts} == {("normal", "italic")}
    assert "from 10 paired seeds on" in drawing.caption


def test_yardsticks_are_no_competitors(tmp_path):
    data = many_seeds(synthetic_cubes.cube())
    data["regret"].loc[{"algorithm": "oracle"}] = 0.01
    data["regret"].loc[{"algorithm": "mle"}] = 0.02
    path = synthetic_cubes.digest(data, tmp_path / "d.nc")
    shown = cells(tables(drawn([path], blocks=[{"metric": "so"}]))[0])
    assert shown["Oracle (best prior known)", 0].get_fontweight() == "normal"
    assert sum(text.get_fontweight() == "bold" for text in shown.values()) == 1


def test_colours_part_less_regret_from_more_and_stay_the_same_far_off(tmp_path):
    data = cube()
    for algorithm, factor in (("ts-bocu", 0.02), ("drbo", 50.0)):
        data["regret"].loc[{"algorithm": algorithm}] *= factor
    axes = tables(drawn([synthetic_cubes.digest(data, tmp_path / "c.nc")]))[0]
    less, more = axes.collections[0].get_facecolors()
    assert less[2] > less[0]  # blue
    assert more[0] > more[2]  # red
    texts = [text.get_text() for text in axes.texts]
    assert texts[1] == f"{50 * ratio('one', 'dro', 'drbo', 'dro'):.0f}"


def test_runs_that_cannot_be_told_from_the_reference_are_italic(tmp_path):
    data = many_seeds(cube())
    random = data["regret"].sel(objective="any", algorithm="random").values
    rising = random * np.tile([0.5, 1.5, 0.8, 1.2], 8)[:, None]
    data["regret"].loc[{"objective": "dro", "algorithm": "drbo"}] = rising
    shown = cells(tables(drawn([synthetic_cubes.digest(data, tmp_path / "c.nc")], blocks=[{"metric": "dro"}]))[0])
    assert {row: text.get_fontstyle() for (row, _), text in shown.items()} == {"TS-BOCU": "normal", "DRBO": "italic"}


def test_objectives_are_told_apart_where_an_algorithm_pursues_several(cubes):
    axes = tables(drawn(cubes, blocks=[{"metric": "dro", "pursued": ["dro", "wcs"], "title": "Both"}]))[0]
    rows = [label.get_text() for label in axes.get_yticklabels()]
    assert rows == ["TS-BOCU, dro", "TS-BOCU, wcs", "DRBO, dro", "DRBO, wcs"]
    assert cells(axes)["DRBO, wcs", 1].get_text() == f"{ratio('three', 'wcs', 'drbo', 'dro'):.2f}"
    titles = {"drbo/dro": "DRBO for DRO", "drbo/wcs": "DRBO for WCS"}
    axes = tables(drawn(cubes, blocks=[{"metric": "dro", "pursued": ["dro", "wcs"]}], titles=titles))[0]
    assert [label.get_text() for label in axes.get_yticklabels()][2:] == list(titles.values())


def test_another_reference_may_be_chosen(cubes):
    axes = tables(drawn(cubes, reference="ts-bocu", blocks=[{"metric": "dro"}]))[0]
    expected = level("one", "any", "random", "dro") / level("one", "dro", "ts-bocu", "dro")
    assert cells(axes)["Random", 0].get_text() == f"{expected:.2f}"
    with pytest.raises(BocuError, match=r"no algorithm 'ts-boku'.*ts-bocu"):
        drawn(cubes, reference="ts-boku")


def test_words_on_colours_keep_their_ink_on_a_dark_page(cubes, tmp_path):
    drawing = drawn(cubes)
    save(drawing, *(tmp_path / f"board.{kind}" for kind in ("png", "svg", "json")))
    rules = (tmp_path / "board.svg").read_text().partition("</style>")[0]
    inks = {to_hex(text.get_color()) for axes in tables(drawing) for text in axes.texts}
    assert inks
    assert not [ink for ink in inks if f"fill: {ink}" in rules]
