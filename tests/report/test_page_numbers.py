"""What the page's script reads, against the library and the files beside the page."""

import csv
import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import synthetic_pages

from bocu.core import style
from bocu.core.about import Look
from bocu.core.written import probability
from bocu.pages.figures.results import Digest
from bocu.pages.report.build import build_page, table_files
from bocu.pages.report.embedded import (
    MOST_SEEDS_SHOWN,
    family,
    looks_of_page,
    script_json,
    titles,
    unpacked,
)
from bocu.sweep.evaluation.curves import TRACED
from bocu.sweep.evaluation.standings import VERDICTS

PROBLEMS = {"wells": {}, "dunes": {"missing": [("mle", seed) for seed in range(6)]}}


def islands(page):
    found = re.findall(r'<script type="application/json" id="([^"]+)">(.*?)</script>', page.read_text(), re.DOTALL)
    return {identifier: json.loads(body) for identifier, body in found}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numbers")
    part = synthetic_pages.part(folder, PROBLEMS, seeds=32, rounds=500, name="numbers")
    page = folder / "results/numbers/report/index.html"
    build_page([part], page)
    return part, page, islands(page)


@pytest.mark.parametrize("reference", ["ucb-so", "mle"])
def test_differences_against_any_algorithm_are_those_of_a_page_built_against_it(made, tmp_path, reference):
    part, _, numbers = made
    page = tmp_path / "index.html"
    build_page([part], page, reference)
    with table_files(page)["differences"].open() as file:
        rows = [row for row in csv.DictReader(file) if row["reference"] == reference]
    assert len(rows) == 2 * 2 * (len(synthetic_pages.ALGORITHMS) - 1)
    for row in rows:
        panel = numbers[f"numbers-{row['problem']}-any-{row['metric']}"]
        labels = [algorithm["label"] for algorithm in panel["algorithms"]]
        gap = panel["pairs"][labels.index(reference)][labels.index(row["algorithm"])]
        keys = ("mean_difference", "low", "high", "p_value", "seeds")
        assert gap[:5] == [float(row[key]) for key in keys]
        assert gap[5] / gap[6] == float(row["share_with_less_regret"])
        assert gap[6] == float(row["differing_seeds"])
        assert [VERDICTS[place] for place in gap[7:]] == [row["on_average"], row["usually"]]


@pytest.mark.parametrize("reference", [None, "mle"])
def test_page_csv_and_explorer_have_the_same_p_values_whoever_is_compared_with(made, tmp_path, taken_apart, reference):
    part, _, numbers = made
    page = tmp_path / "index.html"
    # What an experiment's file names is taken where the command names nobody.
    build_page([replace(part, experiment={**part.experiment, "reference": reference})], page)
    shown = taken_apart(page).tables
    with table_files(page)["differences"].open() as file:
        rows = list(csv.DictReader(file))
    assert {row["reference"] for row in rows} == {reference or "mle"}
    titles = {one["label"]: one["title"] for one in numbers["numbers"]["algorithms"]}
    for row in rows:
        panel = numbers[f"numbers-{row['problem']}-any-{row['metric']}"]
        labels = [algorithm["label"] for algorithm in panel["algorithms"]]
        gap = panel["pairs"][labels.index(row["reference"])][labels.index(row["algorithm"])]
        assert gap[3] == float(row["p_value"])
        cells = {cells[0]: cells for cells in shown[f"problem-{row['problem']}-regret-any-{row['metric']}"]}
        told = [probability(gap[3]), row["on_average"]]
        assert cells[titles[row["algorithm"]]][3:5] == told


def test_totals_are_those_of_the_digest_seed_by_seed(made):
    part, _, numbers = made
    results = Digest(part.digests[1])
    panel = numbers["numbers-dunes-any-ro"]
    for algorithm, totals in zip(panel["algorithms"], panel["totals"], strict=True):
        branch = next(branch for branch in results.branches() if branch.algorithm == algorithm["label"])
        own = results.totals(branch, "ro")
        found = {seed: total for seed, total in zip(panel["seeds"], totals, strict=True) if total is not None}
        assert found == own
        assert algorithm["seeds"] == len(own) == (26 if algorithm["label"] == "mle" else 32)


def test_curves_and_single_seeds_are_thinned_and_end_where_the_totals_do(made):
    _, page, numbers = made
    panel, traces = numbers["numbers-wells-any-so"], numbers["traces-wells-any-so"]
    curve, trace = panel["curves"]["cumulative"], traces["cumulative"]
    assert len(curve["rounds"]) <= TRACED
    assert len(trace["rounds"]) <= TRACED
    assert curve["rounds"][-1] == trace["rounds"][-1] == 500
    for totals, of_mean, of_seeds in zip(panel["totals"], curve["of"], trace["of"], strict=True):
        assert len(of_seeds["seeds"]) == MOST_SEEDS_SHOWN < len(totals)
        values = unpacked(of_seeds["values"]).reshape(MOST_SEEDS_SHOWN, -1)
        np.testing.assert_allclose(values[:, -1], totals[:MOST_SEEDS_SHOWN], rtol=1e-6)
        assert unpacked(of_mean["mean"])[-1] == pytest.approx(np.mean(totals), rel=1e-6)
    assert page.stat().st_size < 3e6


def test_run_files_and_commands_are_those_of_the_branch(made):
    _, page, numbers = made
    algorithm = next(a for a in numbers["numbers-dunes-any-so"]["algorithms"] if a["label"] == "mle")
    assert algorithm["folder"] == "../runs/dunes/any/mle/"
    # Seeds 0 to 5 are missing: the first block of five holds nothing.
    assert algorithm["files"] == [f"seeds-{first}-{min(first + 4, 31)}.nc" for first in range(5, 32, 5)]
    assert algorithm["command"].startswith("bocu run --experiment numbers --problem dunes --objective any")
    assert "--algorithm mle --seed 6 --seeds 26 " in algorithm["command"]
    assert numbers["numbers"]["verify"] == f"bocu verify {page}"


def test_no_text_can_end_the_element_that_holds_it():
    hostile = {"title": "</script><script>alert(1)</script><!--", "line": "a\u2028b"}
    text = script_json(hostile)
    assert "<" not in text
    assert "\u2028" not in text
    assert json.loads(text) == hostile


def test_one_page_shows_several_experiments(made, tmp_path):
    part, _, _ = made
    other = synthetic_pages.part(tmp_path, {"wells": {"seed": 1}}, seeds=12, name="other", title="Other")
    other.experiment["problems"].append({"label": "never-run"})
    page = tmp_path / "both/index.html"
    build_page([part, other], page)
    text, numbers = page.read_text(), islands(page)["numbers"]
    assert numbers["experiments"] == ["numbers", "other"]
    problems = [panel["problem"] for panel in numbers["panels"]]
    assert list(dict.fromkeys(problems)) == ["numbers/wells", "numbers/dunes", "other/wells"]
    assert "Made up · Other" in text
    assert "No run is finished of other/never-run" in text
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    with table_files(page)["final-regret"].open() as file:
        assert {row["problem"] for row in csv.DictReader(file)} == set(problems)
    link = islands(page)["numbers-other/wells-any-so"]["algorithms"][0]["folder"]
    assert link == "../results/other/runs/wells/any/random/"


def test_no_title_stands_twice_on_a_page():
    panels = [("wells", "Hills"), ("dunes", "Hills"), ("lakes", "Lakes"), ("lakes", "Ponds")]
    found = titles([{"problem": label, "title": title} for label, title in panels], "problem")
    assert found == {"wells": "Hills (wells)", "dunes": "Hills (dunes)", "lakes": "Lakes or Ponds"}


def test_tables_stand_beside_as_parquet_where_that_is_installed(made, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    part, _, _ = made
    page = tmp_path / "index.html"
    build_page([part], page)
    found = parquet.read_table(tmp_path / "tables/final-regret.parquet").to_pylist()
    with table_files(page)["final-regret"].open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["algorithm"], row["mean"]) for row in found] == [
        (row["algorithm"], float(row["mean"])) for row in rows
    ]
    assert 'href="tables/final-regret.parquet"' in page.read_text()


def test_curves_of_a_page_share_no_colour_and_an_algorithm_looks_the_same_all_over_it(made):
    _, _, numbers = made
    panels = [body for identifier, body in numbers.items() if identifier.startswith("numbers-")]
    looks = {tuple((one["label"], one["colour"], one["dash"]) for one in panel["algorithms"]) for panel in panels}
    (own,) = looks
    assert len({colour for _, colour, _ in own}) == len(synthetic_pages.ALGORITHMS)
    blue = [style.stroke(Look("blue", dash, "o")) for dash in ("solid", "dashed")]
    cubes = [SimpleNamespace(looks=dict(zip(labels, blue, strict=True))) for labels in (("a", "b"), ("b", "c"))]
    found = looks_of_page(cubes)
    assert found["a"] == blue[0]
    assert len({look.colour for look in found.values()}) == len(found) == 3


def test_a_family_is_the_module_of_its_class():
    assert [family(name) for name in ("ts-bocu", "pe-gp-ucb", "of-nobody")] == [
        "thompson",
        "time varying",
        "from outside",
    ]
