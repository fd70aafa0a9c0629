"""Figures over problems: what they say is what their tables hold, and too little is said in a line."""

import re

import numpy as np
import pandas as pd
import pytest
import synthetic_cubes

from bocu.core import style
from bocu.core.loading import load
from bocu.pages.figures.base import draw_files, save
from bocu.pages.figures.results import Digest
from bocu.pages.report.pictures import picture
from bocu.sweep.experiment.registry import REGISTRY

pytestmark = pytest.mark.ci

NAMES = (
    "critical-difference",
    "ranking",
    "ranks-over-time",
    "interquartile-mean",
    "probability-of-improvement",
    "performance-profile",
    "effort-to-target",
)
COMPETING = ["Random", "PE-GP-UCB", "MLE", "Bold mle"]


@pytest.fixture(scope="module")
def digests(tmp_path_factory):
    """Eight problems on which the algorithms' regret grows in their order, but for noise between problems and seeds."""
    folder = tmp_path_factory.mktemp("over-problems")
    paths = []
    for problem in range(8):
        data = synthetic_cubes.cube(f"p-{problem}", title=f"Problem {problem}")
        noise = np.random.default_rng(problem).uniform(0.9, 1.1, data["regret"].shape)
        data["regret"] = data["regret"] * noise
        data["regret"].attrs = {"long_name": "a number", "units": "1"}
        paths.append(synthetic_cubes.digest(data, folder / f"{problem}.nc"))
    return paths


def drawn(name, digests, **parameters):
    kind = load(REGISTRY["figure"][name])
    return kind(kind.Parameters(**parameters)).draw({"digests": digests})


@pytest.mark.parametrize("name", NAMES)
def test_each_is_drawn_from_digests_with_a_table_of_its_numbers(name, digests):
    worst = {"reference": "oracle"} if name == "effort-to-target" else {}  # the others come down to half its regret
    drawing = drawn(name, digests, metric="so", **worst)
    assert "Nothing to show" not in drawing.caption
    assert "scored by so" in drawing.caption
    assert not drawing.table.empty
    titles = set(drawing.table["algorithm"])
    yardstick = name in ("interquartile-mean", "effort-to-target")
    assert titles == {*COMPETING, *(["Oracle (best prior known)"] if yardstick else [])}
    assert drawing.alternative.endswith(".")


def test_ranks_are_those_of_the_regret(digests):
    table = drawn("ranking", digests).table
    assert table["algorithm"].tolist() == COMPETING
    assert table["mean_rank"].tolist() == [1, 2, 3, 4]
    assert table["leading"].tolist() == [True, True, False, False]  # eight problems tell neighbours not apart
    drawing = drawn("ranking", digests)
    assert "No method is best: Random and PE-GP-UCB are not told apart" in drawing.caption
    assert "100% keep the whole order" in drawing.caption
    differences = drawn("critical-difference", digests).table
    assert (differences["p_nemenyi_from_first"] < 0.05).tolist() == [False, False, True, True]


def test_over_few_problems_seeds_are_the_blocks_of_ranks_over_time(digests):
    over_seeds = drawn("ranks-over-time", digests[:2])
    assert over_seeds.table["panel"].unique().tolist() == ["Problem 0", "Problem 1"]
    assert set(over_seeds.table["blocks"]) == {synthetic_cubes.SEEDS}
    assert "over seeds" in over_seeds.caption
    over_problems = drawn("ranks-over-time", digests)
    assert set(over_problems.table["blocks"]) == {8}
    last = over_problems.table[over_problems.table["x"] == 1.0].set_index("algorithm")["mean"]
    assert last[COMPETING].tolist() == [1, 2, 3, 4]


def test_interquartile_mean_is_relative_to_the_reference(digests):
    table = drawn("interquartile-mean", digests).table.set_index("algorithm")
    assert table["interquartile_mean"]["Random"] == pytest.approx(1.0, abs=0.05)
    assert table["interquartile_mean"]["MLE"] == pytest.approx(3.0, rel=0.1)
    assert (table["low"] < table["interquartile_mean"]).all()
    turned = drawn("interquartile-mean", digests, reference="mle").table.set_index("algorithm")
    assert turned["interquartile_mean"]["Random"] == pytest.approx(1 / 3, rel=0.1)


def test_one_problem_is_too_few_to_compare_over_problems(digests):
    for name in ("probability-of-improvement", "interquartile-mean"):
        assert re.search("too few problems.*: found 1 ", drawn(name, digests[:1]).caption)


def test_probabilities_of_both_directions_add_up_to_one(digests):
    table = drawn("probability-of-improvement", digests).table.set_index(["algorithm", "other"])["probability"]
    for own, other in table.index:
        assert table[own, other] + table[other, own] == pytest.approx(1.0)
    assert table["Random", "MLE"] == 1.0


def test_profile_starts_with_who_is_best_and_grows_to_all(digests):
    table = drawn("performance-profile", digests).table
    first = table[table["factor"] == 1.0].set_index("algorithm")["share"]
    assert first["Random"] == 1.0
    assert first["MLE"] == 0.0
    assert all((own["share"].diff().dropna() >= 0).all() for _, own in table.groupby("algorithm"))


def test_effort_counts_the_rounds_of_the_runs_that_get_there(digests):
    table = drawn("effort-to-target", digests, reference="oracle", fraction=0.5, kind="simple").table
    rounds = table[table["effort"] == "rounds"]
    reached = rounds.groupby("algorithm")["share"].max()
    found = Digest(digests[0])
    branch = next(branch for branch in found.branches() if branch.algorithm == "random")
    traces = found.traces(branch, "so", "simple")
    assert traces.values.shape == (synthetic_cubes.SEEDS, synthetic_cubes.ITERATIONS)
    assert reached["Random"] == 1.0  # a fifth of the oracle's regret here
    assert reached["Oracle (best prior known)"] < 1.0
    assert {"rounds", "seconds"} == set(table["effort"])


@pytest.mark.parametrize("name", NAMES)
def test_too_few_problems_are_said_in_a_line(name, digests):
    drawing = drawn(name, digests[:1], algorithms=["random"])
    assert drawing.caption.startswith("Nothing to show: ")
    assert drawing.table is None
    assert drawing.figure.get_size_inches()[1] < 0.5


def test_what_does_not_run_everywhere_is_named(digests, tmp_path):
    data = synthetic_cubes.cube("other", missing=[("mle", seed) for seed in range(synthetic_cubes.SEEDS)])
    drawing = drawn("performance-profile", [*digests, synthetic_cubes.digest(data, tmp_path / "other.nc")])
    assert "Not on every problem, and left out: MLE." in drawing.caption
    assert "MLE" not in set(drawing.table["algorithm"])


def test_the_table_stands_beside_the_picture(digests, tmp_path):
    kind = load(REGISTRY["figure"]["ranking"])
    specification = {"class": REGISTRY["figure"]["ranking"], "parameters": kind.Parameters().model_dump()}
    outputs = {
        key: str(tmp_path / f"r.{suffix}") for key, suffix in (("png", "png"), ("svg", "svg"), ("description", "json"))
    }
    draw_files({"specification": specification}, {"digests": [str(path) for path in digests]}, outputs)
    assert pd.read_csv(tmp_path / "r.csv")["algorithm"].tolist() == COMPETING
    draw_files({"specification": specification}, {"digests": [str(path) for path in digests[:1]]}, outputs)
    assert (tmp_path / "r.csv").read_text() == "no table\n"


def test_a_scoreboard_is_a_table_of_the_page_too(digests, tmp_path):
    kind = load(REGISTRY["figure"]["scoreboard"])
    parameters = kind.Parameters(blocks=[{"metric": "so", "title": "Expectation"}], reference="oracle")
    drawing = kind(parameters).draw({"digests": digests[:2]})
    files = [tmp_path / f"board.{suffix}" for suffix in ("png", "svg", "json")]
    save(drawing, *files)
    (table,) = picture(files[2], tmp_path).boards
    assert table.header == ("algorithm", "p-0", "p-1")
    assert [row[0] for row in table.rows] == COMPETING
    first = drawing.table.set_index(["algorithm", "problem"]).loc[("Random", "p-0")]
    assert table.rows[0][1] == f"{first['ratio']:.2f} [{first['low']:.2f}, {first['high']:.2f}]"
    assert table.caption.startswith("Expectation: regret relative to Oracle")
    save(drawn("ranking", digests), *files)
    assert picture(files[2], tmp_path).boards == ()


def test_svg_turns_light_on_dark_pages_and_has_no_ground(digests, tmp_path):
    save(drawn("ranking", digests), *(tmp_path / f"r.{suffix}" for suffix in ("png", "svg", "json")))
    text = (tmp_path / "r.svg").read_text()
    assert "@media (prefers-color-scheme: dark)" in text
    assert f'[style*="fill: {style.INK.lower()}"]' in text
    ground = text[text.index('id="patch_1"') :][:200]
    assert "fill: none" in ground or "opacity: 0" in ground


@pytest.mark.parametrize(("seeds", "sure"), [(9, False), (10, True)])
def test_probabilities_are_bold_by_a_corrected_test_and_from_ten_seeds_on(seeds, sure, tmp_path):
    paths = []
    for problem in range(3):
        data = synthetic_cubes.cube(f"p-{problem}", title=f"Problem {problem}")
        data = data.isel(seed=np.arange(seeds) % synthetic_cubes.SEEDS)
        data = data.assign_coords(seed=("seed", range(seeds), {"long_name": "seed", "units": "1"}))
        paths.append(synthetic_cubes.digest(data, tmp_path / f"{problem}.nc"))
    found = drawn("probability-of-improvement", paths)
    table = found.table.set_index(["algorithm", "other"])
    pairs = 3 * seeds
    count = len(found.table) // 2
    assert table.loc[("Random", "MLE"), "p_value"] == pytest.approx(min(1.0, count * 2 * 0.5**pairs))
    assert table.loc[("Random", "MLE"), "low"] == pytest.approx(0.025 ** (1 / pairs))
    bold = [text for text in found.figure.axes[0].texts if text.get_fontweight() == "bold"]
    assert bool(bold) == sure
