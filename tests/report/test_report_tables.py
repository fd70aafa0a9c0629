"""Tables of the page and their CSV files, recomputed by hand from the numbers in the cubes."""

import csv
import io
import itertools

import numpy as np
import pytest
import synthetic_cubes
import synthetic_objectives
from scipy import stats
from synthetic_cubes import ALGORITHMS, ITERATIONS, SEEDS, constant_regret

from bocu.core.written import probability, round_time
from bocu.pages.report import tables
from bocu.pages.report.build import COLUMNS, table_files
from bocu.pages.report.tables import seed_ranges


def totals(algorithm, metric="so", seeds=range(SEEDS)):
    return np.array([sum(constant_regret(algorithm, metric, seed, t + 1) for t in range(ITERATIONS)) for seed in seeds])


def rows(site, kind, **wanted):
    found = list(csv.DictReader(io.StringIO(table_files(site.output)[kind].read_text())))
    return [row for row in found if all(row[key] == value for key, value in wanted.items())]


def test_every_kind_has_a_file_with_its_columns_and_a_link(site):
    for kind, path in table_files(site.output).items():
        assert path.read_text().splitlines()[0] == ",".join(COLUMNS[kind])
        assert any(link["href"] == f"tables/{kind}.csv" for link in site.page.all("a"))


def test_final_regret_is_mean_and_standard_error(site):
    (row,) = rows(site, "final-regret", problem="wells", metric="ro", algorithm="mle")
    assert float(row["mean"]) == pytest.approx(totals("mle", "ro").mean())
    assert float(row["standard_error"]) == pytest.approx(stats.sem(totals("mle", "ro")))
    assert (row["seeds"], row["rounds"], row["units"]) == ("5", "12", "degree_Celsius")


def test_missing_seeds_do_not_enter_means(site):
    (row,) = rows(site, "final-regret", problem="simulated-wells", metric="so", algorithm="mle")
    assert float(row["mean"]) == pytest.approx(totals("mle", seeds=[0, 3]).mean())
    assert row["seeds"] == "2"


def test_differences_are_paired_and_against_the_best_competitor(site):
    # The regret of an algorithm grows with its place in the list: random is the best here.
    for row in rows(site, "differences", problem="wells", metric="so"):
        gap = totals(row["algorithm"]) - totals("random")
        assert row["reference"] == "random"
        assert float(row["mean_difference"]) == pytest.approx(gap.mean())
        # Of five seeds nothing is told but the mean.
        assert {row[key] for key in ("low", "high", "p_value", "share_with_less_regret", "p_value_of_share")} == {""}
        assert (row["on_average"], row["usually"]) == ("too few seeds", "too few seeds")
    (row,) = rows(site, "differences", problem="simulated-wells", metric="so", algorithm="mle")
    assert row["seeds"] == "1"  # mle has 0 and 3, random has 1 to 4
    assert row["low"] == ""


def test_an_oracle_is_never_the_reference_unasked(make_site):
    data = synthetic_cubes.cube()
    data["regret"].loc[{"algorithm": "oracle"}] = 0.0
    site = make_site([data])
    assert {row["reference"] for row in rows(site, "differences")} == {"random"}
    site.rebuild(reference="oracle")
    assert {row["reference"] for row in rows(site, "differences")} == {"oracle"}
    (row,) = rows(site, "differences", metric="so", algorithm="mle")
    assert float(row["mean_difference"]) == pytest.approx(totals("mle").mean())


def test_ranks_and_friedman(site):
    found = {row["algorithm"]: float(row["mean_rank"]) for row in rows(site, "ranks", problem="wells", metric="so")}
    assert found == {label: place + 1.0 for place, label in enumerate(ALGORITHMS)}
    expected = stats.friedmanchisquare(*(totals(label) for label in ALGORITHMS)).pvalue
    assert float(rows(site, "ranks", problem="wells")[0]["friedman_p_value"]) == pytest.approx(expected)
    assert {row["seeds"] for row in rows(site, "ranks", problem="simulated-wells")} == {"1"}


def test_checkpoints_come_from_the_summary(site):
    found = rows(site, "checkpoints", problem="wells", metric="so", algorithm="random")
    assert [row["round"] for row in found] == ["1", "3", "6", "12"]
    first = np.array([constant_regret("random", "so", seed, 1) for seed in range(SEEDS)])
    assert float(found[0]["mean"]) == pytest.approx(first.mean())
    assert float(found[-1]["mean"]) == pytest.approx(totals("random").mean())


def test_holes_are_in_their_file(site):
    (row,) = rows(site, "holes", algorithm="mle")
    assert (row["problem"], row["what"], row["count"], row["seeds"]) == ("simulated-wells", "no run", "3", "1-2, 4")


def test_the_page_shows_the_same_numbers_rounded(site):
    table = site.page.tables["problem-wells-regret-any-so"]
    assert table[0][:3] == ["Algorithm", "Final regret [°C]", "More than Random"]
    assert [row[0] for row in table[1:]] == ["Random", "PE-GP-UCB", "MLE", "Bold mle", "Oracle (best prior known)"]
    mean, error = totals("random").mean(), stats.sem(totals("random"))
    assert table[1][1] == f"{mean:.2f} ± {error:.2f}"
    assert table[1][2] == "reference"
    gap = totals("pe-gp-ucb") - totals("random")
    assert table[2][2] == f"+{gap.mean():.1f}"
    assert table[2][3:7] == ["–", "too few seeds", "–", "2.00"]


def test_few_seeds_lead_to_no_verdict(site):
    assert 'class="best"' not in site.page.source
    assert "Nobody leads yet: a verdict takes 30 paired seeds." in site.page.words
    assert "Not at all: 5 seeds at most, and a verdict takes 30 paired ones." in site.page.words
    assert {row["standing"] for row in rows(site, "final-regret", algorithm="random")} == {"too few seeds"}
    assert {row["standing"] for row in rows(site, "final-regret", algorithm="oracle")} == {""}


def test_the_page_scores_an_objective_by_itself_and_files_by_every_metric(make_site):
    site = make_site([synthetic_objectives.cube()])
    shown = [name for name in site.page.tables if "-regret-" in name]
    assert shown == ["problem-one-regret-dro-dro", "problem-one-regret-wcs-wcs"]
    pairs = {(row["objective"], row["metric"]) for row in rows(site, "final-regret")}
    assert pairs == set(itertools.product(("dro", "wcs"), ("dro", "wcs")))


@pytest.mark.parametrize(
    ("mean", "error", "shown"),
    [
        (15.2213, 0.3817, "15.22 ± 0.38"),
        (-26.54, 1.7, "−26.5 ± 1.7"),
        (164.2, 31.9, "164 ± 32"),
        (0.00123456, 0.0000421, "0.001235 ± 0.000042"),
        (5.0, 0.0, "5"),
        (1.07453925, 2e-16, "1.075"),  # sums of the same numbers in another order
        (5.0, float("nan"), "5"),
        (float("nan"), float("nan"), "–"),
    ],
)
def test_means_are_written_to_the_second_figure_of_their_error(mean, error, shown):
    assert tables.plus_minus(mean, error) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(12.3456, "12.3 s"), (0.00123, "1.23 ms"), (4.5e-6, "4.5 µs"), (0.00099996, "1 ms"), (1e-8, "< 1 µs")],
)
def test_times_have_a_unit_that_fits(value, shown):
    assert round_time(value) == shown


def test_p_values_and_seed_ranges_are_short():
    assert probability(0.00004) == "< 0.001"
    assert probability(0.03149) == "0.031"
    assert seed_ranges([7, 0, 1, 2, 5]) == "0-2, 5, 7"


def test_csv_keeps_all_digits_and_leaves_no_number_empty(tmp_path):
    with tables.csv_file(tmp_path / "t.csv", ["a", "b"]) as write:
        write([{"a": 1 / 3, "b": float("nan")}])
    assert (tmp_path / "t.csv").read_text() == f"a,b\n{1 / 3},\n"
