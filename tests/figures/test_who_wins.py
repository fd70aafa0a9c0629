"""Who wins: the numbers of the forest plot are those of the tables, and the sentence says what they come to."""

from dataclasses import replace

import numpy as np
import pytest
import synthetic_cubes

from bocu.core import style
from bocu.pages.figures.results import Digest, standings_of
from bocu.pages.figures.who_wins import (
    MOST_PANELS,
    Compared,
    WhoWins,
    WhoWinsParameters,
    comparisons,
    drawn,
    who_leads,
)
from bocu.sweep.evaluation.standings import LEADING, Standings

GENERATOR = np.random.default_rng(0)


def compared(problem, spread=0.01, seeds=40, **means):
    """A comparison of methods whose regrets over seeds are close to their means; those of `wide` spread."""
    regrets = {
        label: dict(enumerate(mean + (spread if label == "wide" else 0.01) * GENERATOR.normal(size=seeds)))
        for label, mean in means.items()
    }
    look = style.numbered_stroke(0)
    return Compared(
        problem, problem, Standings(regrets), {label: label for label in regrets}, dict.fromkeys(regrets, look)
    )


@pytest.fixture
def cubes(tmp_path):
    found = []
    for label, simulated in (("wells", ""), ("hills", synthetic_cubes.SIMULATED)):
        data = synthetic_cubes.cube(label=label, data_label=simulated)
        data = data.isel(seed=np.arange(30) % synthetic_cubes.SEEDS)
        data["seed"] = ("seed", np.arange(30), data["seed"].attrs)
        found.append(synthetic_cubes.digest(data, tmp_path / f"{label}.nc"))
    return found


def test_its_numbers_are_those_of_the_tables(cubes):
    drawing = WhoWins(WhoWinsParameters()).draw({"digests": cubes})
    table = drawing.table.set_index(["comparison", "algorithm"])
    for cube in map(Digest, cubes):
        for (_, metric), own in standings_of(cube).items():
            least, words = own.competing[0], f"{cube.called}{', simulated' if cube.data_label else ''}"
            words += f", {cube.metric_titles[metric]}"
            for label in own.competing:
                row = table.loc[words, cube.titles[label]]
                assert row["relative"] == own.means[label] / own.means[least]
                assert row["standing"] == own.standing[label]
                assert row["seeds"] == 30
                if label != least:
                    gap = own.against(least)[label].difference
                    assert (row["low"], row["high"]) == (
                        1 + gap.low / own.means[least],
                        1 + gap.high / own.means[least],
                    )
    assert "Oracle" not in drawing.table["algorithm"].tolist()


def test_every_seed_is_a_dot_and_who_leads_is_shaded(cubes):
    drawing = WhoWins(WhoWinsParameters()).draw({"digests": cubes})
    leading = (drawing.table["standing"] == LEADING).sum()
    for picture in (drawing.figure, drawing.narrow):
        patches = [patch for axes in picture.axes for patch in axes.patches]
        dots = [patch for patch in patches if str(patch.get_gid()).startswith("seeds-")]
        assert [len(patch.get_path().vertices) for patch in dots] == [2 * 30] * len(drawing.table)
        assert len(patches) - len(dots) == leading > 0
        assert len(picture.axes) == drawing.table["comparison"].nunique()


def test_on_a_phone_a_panel_stands_below_the_other_and_names_its_methods(cubes):
    drawing = WhoWins(WhoWinsParameters()).draw({"digests": cubes})
    panels = drawing.narrow.axes
    assert len({round(axes.get_position().x0, 6) for axes in panels}) == 1
    assert all(text.get_text() for axes in panels for text in axes.get_yticklabels())
    assert drawing.narrow.get_size_inches()[0] < drawing.figure.get_size_inches()[0]
    assert ["simulated" in axes.get_title(loc="left") for axes in panels] == [False, False, True, True]


def test_metrics_of_one_problem_stand_in_a_row_with_methods_on_the_same_lines():
    found = [
        replace(compared(problem, one=1, two=2, six=3), scored=metric)
        for problem in ("a", "b", "c")
        for metric in ("so", "dro")
    ]
    panels = drawn(found).figure.axes
    assert [axes.get_title(loc="left") for axes in panels] == ["so", "dro", "", "", "", ""]
    names = [[text.get_text() for text in axes.get_yticklabels()] for axes in panels]
    assert names == [["one", "two", "six"], [""] * 3] * 3


def test_a_name_that_is_longer_than_a_phone_is_wide_leaves_room_for_panels():
    drawing = drawn([compared("a", **{"a method of a name that nobody should give to a method at all": 1, "other": 2})])
    assert all(axes.get_position().width > 0.2 for axes in drawing.narrow.axes)


def test_of_very_many_comparisons_the_first_are_drawn_and_the_caption_says_so():
    found = [compared(f"p{place}", one=1, two=2) for place in range(MOST_PANELS + 3)]
    drawing = drawn(found)
    assert len(drawing.figure.axes) == MOST_PANELS
    assert "Cut: the first 60 panels are drawn, 3 more stand in the table." in drawing.caption
    assert drawing.table["comparison"].nunique() == len(found)


def test_metrics_that_differ_by_a_number_a_seed_are_one_comparison(tmp_path):
    data = synthetic_cubes.cube()
    shifted = data["regret"].sel(metric="so") + data["seed"] * 1.0
    data["regret"].loc[{"metric": "ro"}] = shifted.transpose(*data["regret"].sel(metric="ro").dims)
    cube = Digest(synthetic_cubes.digest(data, tmp_path / "wells.nc"))
    assert len(standings_of(cube)) == 2
    assert len(comparisons(cube, None)) == 1


def test_a_comparison_whose_least_mean_is_none_is_left_out_and_named():
    nothing = compared("a", one=1, two=2)
    nothing = replace(
        nothing, table=Standings({"one": dict.fromkeys(range(30), 0.0), "two": dict.fromkeys(range(30), 1.0)})
    )
    drawing = drawn([nothing, compared("b", one=1, two=2)])
    assert set(drawing.table["comparison"]) == {"b"}
    assert "Left out, since the least mean regret is not positive: a." in drawing.caption
    assert len(drawing.figure.axes) == 1


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            [compared("a", one=1, two=2), compared("b", one=1, two=1.01)],
            "one leads in 2 of 2 comparisons, in 1 of them alone.",
        ),
        (  # of one that is open nobody is ahead
            [compared("a", one=1, two=2, wide=9), compared("b", spread=2, one=1, two=2, wide=1.2)],
            "one leads in 2 of 2 comparisons, in 1 of them alone.",
        ),
        ([compared("a", one=1, two=2), compared("b", one=2, two=1)], "one and two lead in 1 of 2 comparisons."),
        (
            [compared("a", seeds=5, one=1, two=2)],
            "Nobody can be named in 1 comparison: 30 seeds decide, there are 5.",
        ),
        (  # one that has fewer methods counts with the others
            [compared("a", one=1, two=2), compared("b", one=1, two=2, six=3), compared("c", one=1, two=2)],
            "one leads in 3 of 3 comparisons, always alone.",
        ),
        (
            [compared("a", one=1, two=2), compared("b", six=1, ten=2)],
            "one leads in 1 of 1 comparison on a, always alone. six leads in 1 of 1 comparison on b, always alone.",
        ),
    ],
)
def test_the_sentence_says_who_leads_most_often_among_those_that_are_compared(found, sentence):
    assert who_leads(found) == sentence
