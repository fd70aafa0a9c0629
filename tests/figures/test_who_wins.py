"""Who wins: the numbers of the forest plot are those of the tables, and the sentence says what they come to."""

import numpy as np
import pytest
import synthetic_cubes

from bocu.core import style
from bocu.pages.figures.results import results_at, standings_of
from bocu.pages.figures.who_wins import Compared, WhoWins, WhoWinsParameters, comparisons, told
from bocu.sweep.evaluation.standings import LEADING, Standings

GENERATOR = np.random.default_rng(0)


def compared(problem, spread=0.01, **means):
    """A comparison of methods whose regrets over 40 seeds are close to their means; those of `wide` spread."""
    regrets = {
        label: dict(enumerate(mean + (spread if label == "wide" else 0.01) * GENERATOR.normal(size=40)))
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
        found.append(synthetic_cubes.write(data, tmp_path / f"{label}.nc"))
    return found


def test_its_numbers_are_those_of_the_tables(cubes):
    drawing = WhoWins(WhoWinsParameters()).draw({"cubes": cubes, "summary": ""})
    table = drawing.table.set_index(["comparison", "algorithm"])
    for cube in map(results_at, cubes):
        for (_, metric), own in standings_of(cube).items():
            least, words = own.competing[0], f"{cube.called}, {cube.metric_titles[metric]}"
            words += ", simulated" if cube.data_label else ""
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
    drawing = WhoWins(WhoWinsParameters()).draw({"cubes": cubes, "summary": ""})
    (axes,) = drawing.figure.axes
    dots = [line for line in axes.lines if line.get_marker() == "o" and len(line.get_xdata()) == 30]
    assert len(dots) == len(drawing.table)
    assert len(axes.patches) == (drawing.table["standing"] == LEADING).sum() > 0


def test_metrics_that_differ_by_a_number_a_seed_are_one_comparison(tmp_path):
    data = synthetic_cubes.cube()
    shifted = data["regret"].sel(metric="so") + data["seed"] * 1.0
    data["regret"].loc[{"metric": "ro"}] = shifted.transpose(*data["regret"].sel(metric="ro").dims)
    cube = results_at(synthetic_cubes.write(data, tmp_path / "wells.nc"))
    assert len(standings_of(cube)) == 2
    assert len(comparisons(cube, None)) == 1


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
            [compared("a", one=1, two=2), compared("b", six=1, ten=2)],
            "one leads in 1 of 1 comparison on a, always alone. six leads in 1 of 1 comparison on b, always alone.",
        ),
    ],
)
def test_the_sentence_says_who_leads_most_often_among_those_that_are_compared(found, sentence):
    assert told(found) == sentence
