"""A report against one algorithm of the reader's choice: differences, tests and words."""

import csv
import re

import numpy as np
import pytest
import synthetic_cubes
import xarray as xr
from experiments import tiny
from synthetic_cubes import ALGORITHMS, ITERATIONS, SEEDS, constant_regret

from bocu.core.errors import BocuError
from bocu.pages.figures.relative_regret import Scoreboard, Summary
from bocu.pages.report.build import table_files
from bocu.sweep.evaluation.paired_means import paired_means
from bocu.sweep.experiment.planning import make_plan

DRAWS = np.random.default_rng(2).normal(scale=0.4, size=(len(ALGORITHMS), 40))


def noisy(label, without=()):
    """More seeds, whose regret is not in the same order in each of them."""
    data = synthetic_cubes.cube(label)
    place = np.arange(40) % SEEDS
    data = data.isel(seed=place).assign_coords(seed=("seed", np.arange(40), data["seed"].attrs))
    data["regret"] = data["regret"] + xr.DataArray(
        np.abs(DRAWS), dims=("algorithm", "seed"), coords={"seed": np.arange(40)}
    )
    for algorithm in without:
        data["status"].loc[{"algorithm": algorithm}] = 2  # not defined
        data["regret"].loc[{"algorithm": algorithm}] = np.nan
    return data


def totals(algorithm):
    base = [sum(constant_regret(algorithm, "so", seed % SEEDS, t + 1) for t in range(ITERATIONS)) for seed in range(40)]
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
    one, other = np.triu_indices(len(ALGORITHMS), 1)
    every = np.stack([totals(label) for label in ALGORITHMS])
    expected = paired_means(every[one] - every[other])
    pairs = [{list(ALGORITHMS)[i], list(ALGORITHMS)[j]} for i, j in zip(one, other, strict=True)]
    for row, gap in zip(rows, gaps.values(), strict=True):
        place = pairs.index({row["algorithm"], "mle"})
        assert float(row["mean_difference"]) == pytest.approx(gap.mean())
        assert float(row["high"]) - gap.mean() == pytest.approx(expected.half_together[place])
        assert float(row["p_value"]) == pytest.approx(expected.p_together[place])
    table = against.page.tables["problem-wells-regret-any-so"]
    assert table[0][2] == "More than MLE"
    assert [row[0] for row in table[1:] if row[2] == "reference"] == ["MLE"]


def test_the_least_regret_is_still_that_of_the_best(against):
    assert re.search(r'<tr class="best"[^>]*><th scope="row">Random<', against.page.source)


def test_it_says_who_has_more_and_who_less_and_where_it_did_not_run(against):
    wells, _, dry = sentences(against)
    assert re.fullmatch(
        r"wells, scored by so: less regret: Random −.* \[.*\], PE-GP-UCB −.* \[.*\]; "
        r"more regret: Bold mle \+.* \[.*\], Oracle .* \[.*\]\.",
        wells,
    )
    assert dry == "dry: MLE does not run here; the table compares with the least regret instead."
    assert against.page.tables["problem-dry-regret-any-so"][0][2] == "More than Random"


@pytest.mark.parametrize("figure", [Summary, Scoreboard])
def test_figures_take_it_and_say_where_it_did_not_run(against, figure):
    given = figure.Parameters().against("mle")
    assert figure.Parameters(reference="random").against("mle").reference == "random"
    drawing = figure(given).draw({"digests": against.digests})
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


def test_one_that_sticks_is_named_and_does_not_lead(make_site):
    """As good as the least on most seeds, and far above it in thirteen of forty."""
    data = noisy("wells")
    random = data["regret"].sel(algorithm="random")
    sway = xr.DataArray(np.where(np.arange(40) % 2, 0.9, 1.1), dims="seed")
    stuck = xr.DataArray(np.where(np.arange(40) < 13, 8.0, 1.0), dims="seed")
    data["regret"].loc[{"algorithm": "mle"}] = (random * sway * stuck).values
    site = make_site([data])
    (row,) = [row for row in site.page.tables["problem-wells-regret-any-so"] if row[0] == "MLE"]
    assert re.fullmatch(r"\S+ ± \S+; median \S+, worst tenth \S+; sticks in 13 of 40", row[1])
    assert row[4] == "more regret"
    assert row[5].startswith("not told apart (less in ")
    with table_files(site.output)["final-regret"].open() as file:
        found = {row["algorithm"]: row for row in csv.DictReader(file) if row["metric"] == "so"}
    assert (found["mle"]["standing"], found["mle"]["stuck_seeds"]) == ("behind", "13")
    assert float(found["random"]["margin"]) == pytest.approx(0.25 * float(found["random"]["mean"]))


def test_the_margin_is_that_of_the_experiment(make_site):
    described = {"name": "synthetic", "leads_within": {"least": 5.0, "random": 0.0}, "data": {"source": "simulate"}}
    site = make_site([noisy("wells")], described)
    marked = re.findall(r'<tr class="best"[^>]*><th scope="row">([^<]*)<', site.page.source)
    assert marked[:2] == ["Random", "PE-GP-UCB"]
    assert "Bold: the least regret, and what has at most" in site.page.words
    assert make_plan(tiny(leads_within={"least": 0.1})).describe()["leads_within"] == {"least": 0.1, "random": 0.02}
    figure = make_plan(tiny(leads_within={"least": 0.1}, figures=["scoreboard"])).figures["scoreboard"]
    assert figure.parameters.leads_within.least == 0.1
