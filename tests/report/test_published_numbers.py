"""Numbers of published pages are those of the figures that they stand for."""

import numpy as np
import pytest
import synthetic_cubes
from published_numbers import PublishedNumbers

from bocu.core.loading import load
from bocu.pages.figures.relative_regret import ScoreboardParameters
from bocu.sweep.evaluation.across_problems import surviving_ranking
from bocu.sweep.evaluation.claims.reduced import read_reduced, reduce_results
from bocu.sweep.evaluation.digests import build_digest
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.registry import REGISTRY

pytestmark = pytest.mark.ci

PROBLEMS = [f"p-{place}" for place in range(6)]
SEEDS = 12
FIGURES = [
    {"name": "ranking", "parameters": {"metric": "so", "title": "Who is first"}},
    {
        "name": "scoreboard",
        "parameters": {
            "title": "Scores",
            "blocks": [{"metric": "so", "title": "Expectation"}],
            "columns": {"p-0": "First"},
            "titles": {"bold-mle": "Bold"},
        },
    },
    {
        "name": "panels",
        "parameters": {
            "title": "Regrets",
            "rows": [
                {"metric": "so", "title": "SO", "problems": ["p-1", "away"]},
                {"metric": "ro", "title": "RO", "problems": ["p-1"]},
            ],
        },
    },
]


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Six problems of which seeds and problems differ: digests as figures read them, and the reduced results."""
    folder = tmp_path_factory.mktemp("published")
    (folder / "synthetic" / "cubes").mkdir(parents=True)
    digests = []
    for place, problem in enumerate(PROBLEMS):
        data = synthetic_cubes.cube(problem).isel(seed=np.arange(SEEDS) % synthetic_cubes.SEEDS)
        data = data.assign_coords(seed=("seed", range(SEEDS), {"long_name": "seed", "units": "1"}))
        rng = np.random.default_rng(place)
        shape = data["regret"].shape
        data["regret"] = data["regret"] * rng.uniform(0.9, 1.1, shape) * rng.uniform(0.5, 2.0, (1, shape[1], 1, 1, 1))
        data["regret"].attrs = {"long_name": "a number", "units": "1"}
        cube = synthetic_cubes.write(data, folder / f"synthetic/cubes/{problem}.nc")
        digests.append(folder / f"{problem}.digest.nc")
        build_digest(cube, digests[-1])
    reduce_results(folder / "synthetic", folder / "synthetic.nc")
    return digests, read_reduced(folder / "synthetic.nc").problems


@pytest.fixture(scope="module")
def numbers(published):
    algorithms = [{"name": name, "label": label} for label, name in synthetic_cubes.ALGORITHMS.items()]
    algorithms[3]["parameters"] = {"sqrt_beta": 3}
    config = {
        "name": "synthetic",
        "seeds": {"count": SEEDS},
        "iterations": synthetic_cubes.ITERATIONS,
        "problems": [
            {"name": "hills", "label": label, "parameters": {"grid": 50 + place}}
            for place, label in enumerate([*PROBLEMS, "away"])
        ],
        "algorithms": algorithms,
        "metrics": ["so", "ro"],
        "figures": FIGURES,
    }
    return PublishedNumbers(make_plan(config), published[1])


def drawn(published, place):
    kind = load(REGISTRY["figure"][FIGURES[place]["name"]])
    return kind(kind.Parameters(**FIGURES[place]["parameters"])).draw({"digests": published[0]})


def cells(text):
    """The cells of the only table in some lines of Markdown, without marks."""
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip().replace("*", "") for cell in row.strip("|").split("|")] for row in rows]


def test_a_ranking_is_that_of_the_figure_and_says_what_survives(published, numbers):
    text = numbers.section(["ranking"])
    drawing = drawn(published, 0)
    _, *rows = cells(text)
    assert [row[0] for row in rows] == drawing.table["algorithm"].tolist()
    assert [row[1] for row in rows] == [f"{mean:.2f}" for mean in drawing.table["mean_rank"]]
    assert [row[2] for row in rows] == [
        f"{low:.2f} to {high:.2f}" for low, high in zip(drawing.table["low"], drawing.table["high"], strict=True)
    ]
    assert [row[3] for row in rows] == drawing.table["group"].tolist()
    assert [row[3].startswith("a") for row in rows] == drawing.table["leading"].tolist()
    assert "**Who is first** (`ranking`)" in text
    halves = drawing.caption[drawing.caption.index("Of 50 random halves") :].split(" 7 problems")[0].split(". ")[0]
    assert halves in text
    assert ("No method is best" in text) == (drawing.table["leading"].sum() > 1)


def test_scores_are_those_of_the_figure(published, numbers):
    _, *rows = found = cells(numbers.section(["scoreboard"]))
    table = drawn(published, 1).table.pivot(index="algorithm", columns="problem", values="ratio")
    assert found[0][1:] == ["First", *PROBLEMS[1:]]
    assert {row[0]: row[1:] for row in rows} == {
        name: [f"{table.loc[name, problem]:.2f}" for problem in PROBLEMS] for name in table.index
    }
    assert "Bold" in table.index


def test_panels_are_means_and_errors_and_say_what_is_not_there(published, numbers):
    text = numbers.section(["panels"])
    head, first, second = cells(text)
    assert head[:3] == ["problem", "scored by", "Random"]
    assert (first[:2], second[:2]) == (["p-1", "SO"], ["p-1", "RO"])
    for row, metric in ((first, "so"), (second, "ro")):
        final = published[1]["p-1"].measured(*measure("pe-gp-ucb", metric))
        values = np.array(list(final.values()))
        mean, error = (float(part) for part in row[3].split(" ± "))
        assert mean == pytest.approx(values.mean(), abs=0.05)
        assert error == pytest.approx(values.std(ddof=1) / np.sqrt(SEEDS), abs=0.05)
    assert "No results are published of away." in text


def measure(algorithm, metric):
    from bocu.sweep.evaluation.claims.expressions import Measure, Scope

    return Measure("final", algorithm), Scope("p-1", metric)


@pytest.mark.parametrize(("seeds", "leading"), [(29, []), (30, ["a"])])
def test_few_seeds_make_nobody_the_least(numbers, seeds, leading):
    few = {title: dict.fromkeys(range(seeds), 1.0) for title in "abcdefgh"}
    few["a"] = {seed: 0.5 + seed / 100 for seed in range(seeds)}
    assert numbers.standings(few, ScoreboardParameters()).leading == leading


def test_groups_of_a_ranking_are_the_largest_that_nobody_is_told_apart_in():
    rng = np.random.default_rng(0)
    means = {
        f"p-{place}": {label: at + rng.uniform(0, 2.5) for at, label in enumerate("abcdefg")} for place in range(9)
    }
    ranking = surviving_ranking(means)
    place = {label: at for at, label in enumerate(ranking.labels)}
    assert len(ranking.groups) > 1
    assert ranking.leading == ranking.groups[0]
    for group in ranking.groups:
        first, last = place[group[0]], place[group[-1]]
        assert ranking.mean[last] - ranking.mean[first] <= ranking.critical_difference
        if last + 1 < len(place):
            assert ranking.mean[last + 1] - ranking.mean[first] > ranking.critical_difference
    assert {label for group in ranking.groups for label in group} == set(ranking.labels)
    assert ranking.letters[ranking.labels[0]] == "a"
    assert not set(ranking.letters[ranking.labels[0]]) & set(ranking.letters[ranking.labels[-1]])
