"""A report against one algorithm of the reader's choice: differences, tests and words."""

import csv
import re

import numpy as np
import pytest
import synthetic_cubes
import xarray as xr
from experiments import tiny
from scipy import stats
from synthetic_cubes import ALGORITHMS, ITERATIONS, SEEDS, constant_regret

from bocu.core.errors import BocuError
from bocu.evaluation.statistics import holm
from bocu.experiment.planning import make_plan
from bocu.figures.scoreboard import Scoreboard
from bocu.figures.summary import Summary
from bocu.report.build import table_files

DRAWS = np.random.default_rng(2).normal(scale=0.4, size=(len(ALGORITHMS), 20))


def noisy(label, without=()):
    """More seeds, whose regret is not in the same order in each of them."""
    data = synthetic_cubes.cube(label)
    place = np.arange(20) % SEEDS
    data = data.isel(seed=place).assign_coords(seed=("seed", np.arange(20), data["seed"].attrs))
    data["regret"] = data["regret"] + xr.DataArray(
        np.abs(DRAWS), dims=("algorithm", "seed"), coords={"seed": np.arange(20)}
    )
    for algorithm in without:
        data["status"].loc[{"algorithm": algorithm}] = 2  # not defined
        data["regret"].loc[{"algorithm": algorithm}] = np.nan
    return data


def totals(algorithm):
    base = [sum(constant_regret(algorithm, "so", seed % SEEDS, t + 1) for t in range(ITERATIONS)) for seed in range(20)]
    return np.array(base) + ITERATIONS * np.abs(DRAWS[list(ALGORITHMS).index(algorithm)])


@pytest.fixture(scope="module")
def against(make_site):
    site = make_site([noisy("wells"), noisy("dry", without=["mle"])])
    site.rebuild(reference="mle")
    return site


def sentences(site):
    return re.findall(r"<li[^>]*>([^<]*)</li>", site.page.source.partition('id="against"')[2].partition("</ul>")[0])


def test_every_difference_is_against_it_with_its_corrected_test(against):
    with table_files(against.output)["differences"].open() as file:
        rows = [row for row in csv.DictReader(file) if (row["problem"], row["metric"]) == ("wells", "so")]
    assert {row["reference"] for row in rows} == {"mle"}
    gaps = {row["algorithm"]: totals(row["algorithm"]) - totals("mle") for row in rows}
    assert set(gaps) == set(ALGORITHMS) - {"mle"}
    expected = holm([float(stats.wilcoxon(gap).pvalue) for gap in gaps.values()])
    for row, gap, p in zip(rows, gaps.values(), expected, strict=True):
        assert float(row["mean_difference"]) == pytest.approx(gap.mean())
        assert float(row["p_value_holm"]) == pytest.approx(p)
    table = against.page.tables["problem-wells-regret-any-so"]
    assert table[0][2] == "More than MLE"
    assert [row[0] for row in table[1:] if row[2] == "reference"] == ["MLE"]


def test_the_least_regret_is_still_that_of_the_best(against):
    assert re.search(r'<tr class="best"[^>]*><th scope="row">Random<', against.page.source)
    assert "wells, scored by so: Random" in against.page.words


def test_it_says_who_has_more_and_who_less_and_where_it_did_not_run(against):
    wells, _, dry = sentences(against)
    assert re.fullmatch(
        r"wells, scored by so: more regret: Bold mle \+.* \[.*\], Oracle .* \[.*\]; "
        r"less regret: Random −.* \[.*\], PE-GP-UCB −.* \[.*\]\.",
        wells,
    )
    assert dry == "dry: MLE does not run here; the table compares with the least regret instead."
    assert against.page.tables["problem-dry-regret-any-so"][0][2] == "More than Random"


def test_without_one_nothing_is_said_of_it(site):
    assert 'id="against"' not in site.page.source


@pytest.mark.parametrize("figure", [Summary, Scoreboard])
def test_figures_take_it_and_say_where_it_did_not_run(against, figure):
    given = figure.Parameters().against("mle")
    assert figure.Parameters(reference="random").against("mle").reference == "random"
    drawing = figure(given).draw({"cubes": against.cubes, "summary": against.summary})
    assert "divided by that of MLE" in drawing.caption
    assert "MLE did not run on dry." in drawing.caption


def test_an_unknown_one_is_refused_before_any_job():
    with pytest.raises(
        BocuError, match=r"reference: no entry of 'algorithms' has the label 'pe-gp-ubc'; did you mean 'pe-gp-ucb'"
    ):
        make_plan(tiny(reference="pe-gp-ubc"))


def test_figures_of_the_plan_compare_with_it_unless_they_say_otherwise():
    figures = ["summary", {"name": "scoreboard", "parameters": {"reference": "random"}}, "regret"]
    plan = make_plan(tiny(reference="pe-gp-ucb", figures=figures))
    assert plan.figures["summary"].parameters.reference == "pe-gp-ucb"
    assert plan.figures["scoreboard"].parameters.reference == "random"
    assert plan.describe()["reference"] == "pe-gp-ucb"


def test_those_not_told_apart_from_the_least_lead_with_it(make_site):
    data = noisy("wells")
    sway = xr.DataArray(np.where(np.arange(20) % 2, 0.96, 1.05), dims="seed")
    data["regret"].loc[{"algorithm": "pe-gp-ucb"}] = (data["regret"].sel(algorithm="random") * sway).values
    site = make_site([data])
    marked = re.findall(r'<tr class="best"[^>]*><th scope="row">([^<]*)<', site.page.source)
    shown = len([name for name in site.page.tables if "-regret-" in name])
    assert marked == ["Random", "PE-GP-UCB"] * shown
    assert "Bold: the least regret and what is not told apart from it" in site.page.words
    assert "not told apart from it: PE-GP-UCB" in site.page.words
