"""From a log to a decision: what is suggested is best by the model, and what is told of it adds up."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import bocu
from bocu.advice.choices import SOBOL_POINTS, Decisions, OneOfNames, Range
from bocu.commands.main import app

ROWS = 40


def kiosk(rows: int = ROWS) -> pd.DataFrame:
    """A log of orders that are sold up to a demand which falls with rain."""
    world = np.random.default_rng(3)
    order, rain = world.uniform(10.0, 90.0, rows), world.uniform(0.0, 10.0, rows)
    profit = 3.0 * np.minimum(order, 70.0 - 4.0 * rain) - order
    return pd.DataFrame({"order": order, "rain": rain, "profit": profit})


FORECAST = {"rain": [0.0, 2.0, 4.0, 9.0], "weight": [4.0, 3.0, 2.0, 1.0]}
ASKED = {"decisions": "order:10..90", "contexts": ["rain"], "outcome": "profit", "forecast": FORECAST}


def true_best(worst: np.ndarray) -> float:
    """The order of best expectation under a distribution of the forecast's contexts, whose optimum is at a demand."""
    demand = 70.0 - 4.0 * np.array(FORECAST["rain"])
    values = [worst @ (3.0 * np.minimum(order, demand) - order) for order in demand]
    return float(demand[int(np.argmax(values))])


def test_decisions_that_no_grid_holds_are_covered_evenly_from_bound_to_bound():
    parts = [Range(f"whole{i}", -2.0, 2.0, whole=True) for i in range(6)]
    parts += [Range(f"part{i}", 5.0, 7.0) for i in range(4)] + [
        OneOfNames(f"name{i}", ("a", "b", "c")) for i in range(4)
    ]
    found = Decisions(tuple(parts)).candidates()
    assert len(found) == SOBOL_POINTS
    for column, part in zip(found.T, parts, strict=True):
        if isinstance(part, Range) and not part.whole:
            assert part.low <= column.min() < part.low + 0.01
            assert part.high - 0.01 < column.max() <= part.high
            column = np.floor(2.0 * (column - part.low))
        values, counts = np.unique(column, return_counts=True)
        expected = part.grid(0) if not isinstance(part, Range) or part.whole else np.arange(4.0)
        np.testing.assert_array_equal(values[: len(expected)], expected)
        np.testing.assert_allclose(counts[: len(expected)] / len(found), 1.0 / len(expected), rtol=0.05)


def test_the_expectation_alone_finds_the_order_that_is_best_in_truth():
    found = bocu.suggest(kiosk(), **ASKED, objective="so")
    assert abs(found.decision["order"] - true_best(np.array([0.4, 0.3, 0.2, 0.1]))) < 4.0
    low, high = found.best.interval
    assert low < found.best.expected < high
    assert found.best.guaranteed is None
    assert found.prices == []
    assert found.given_up == 0.0


def test_a_larger_radius_orders_less_guarantees_less_and_costs_more():
    found = bocu.suggest(kiosk(), **ASKED, radius=0.3)
    orders = [price.decision["order"] for price in found.prices]
    assert orders[-1] < orders[0] - 5.0
    assert [price.size for price in found.prices] == pytest.approx([0.0, 0.075, 0.15, 0.3, 0.6])
    guaranteed = [price.guaranteed for price in found.prices]
    assert guaranteed == sorted(guaranteed, reverse=True)
    assert all(price.price >= -1e-9 for price in found.prices)
    assert found.prices[3].decision == found.decision
    assert found.prices[3].guaranteed == pytest.approx(found.best.guaranteed)


def test_the_worst_distribution_goes_to_the_worst_context_as_far_as_the_set_allows():
    found = bocu.suggest(kiosk(), **ASKED, radius=0.2)
    moved = {shifted.context["rain"]: shifted.worst - shifted.weight for shifted in found.shifted}
    assert sum(abs(change) for change in moved.values()) == pytest.approx(0.2)
    assert moved[9.0] == pytest.approx(0.1)
    mean, worst = found.means["rain"]
    assert mean == pytest.approx(np.dot(FORECAST["rain"], [0.4, 0.3, 0.2, 0.1]))
    assert worst > mean
    assert found.best.guaranteed < found.best.expected


def test_a_row_of_a_thousand_more_changes_next_to_nothing_and_is_told():
    log = kiosk(110).assign(profit=lambda rows: rows.profit + np.random.default_rng(0).normal(0.0, 5.0, 110))
    clean = bocu.suggest(log, **ASKED, radius=0.2)
    log.loc[50, "profit"] += 1000.0
    found = bocu.suggest(log, **ASKED, radius=0.2)
    assert clean.outliers == ()
    assert clean.doubted is None
    assert [row.line for row in found.outliers] == ["row 51"]
    assert found.decision["order"] == pytest.approx(clean.decision["order"], abs=1.0)
    assert found.best.expected == pytest.approx(clean.best.expected, rel=0.01)
    assert "row 51" in str(found)
    assert f"order = {found.doubted.decision['order']:g}" in str(found)


def test_a_guarantee_lies_below_the_worst_case_the_more_the_shorter_the_log():
    short, long = (
        bocu.suggest(kiosk(rows).assign(profit=lambda one: one.profit + np.sin(one.order)), **ASKED, radius=0.2).best
        for rows in (20, 160)
    )
    assert short.guaranteed < short.worst
    assert short.worst - short.guaranteed > 2.0 * (long.worst - long.guaranteed) > 0.0


def test_noise_where_the_worst_contexts_are_lowers_the_guarantee_and_even_noise_does_not():
    world = np.random.default_rng(5)
    even = kiosk(120).assign(profit=lambda one: one.profit + 8.0 * world.normal(size=120))
    uneven = kiosk(120).assign(profit=lambda one: one.profit + 1.6 * one.rain * world.normal(size=120))
    extra = []
    for log in (even, uneven):
        found = bocu.suggest(log, **ASKED, radius=0.6)
        learnt, value = found.search.learnt, np.array([found.decision["order"]])
        weights = np.array([0.1, 0.1, 0.1, 0.7])
        extra.append(learnt.unevenness(value, weights) / float(learnt.spreads(value[None], weights)[0]) ** 2)
    assert extra[0] < 0.25 < extra[1]


def test_costs_are_minimised_as_earnings_are_maximised():
    log = kiosk()
    earned = bocu.suggest(log, **ASKED, radius=0.2)
    paid = bocu.suggest(log.assign(profit=-log.profit), **ASKED, radius=0.2, minimise=True)
    assert paid.decision == earned.decision
    assert paid.best.expected == pytest.approx(-earned.best.expected)
    assert paid.best.guaranteed == pytest.approx(-earned.best.guaranteed)
    assert "at most" in str(paid)


@pytest.mark.parametrize("name", ["tv", "mmd", "chi2", "kl", "wass"])
def test_every_kind_of_set_lies_between_expectation_and_worst_context(name):
    robust = bocu.suggest(kiosk(), **ASKED, set=name, radius=0.1)
    worst = bocu.suggest(kiosk(), **ASKED, objective="ro")
    best = bocu.suggest(kiosk(), **ASKED, objective="so")
    assert worst.best.guaranteed - 1e-6 <= robust.best.guaranteed < best.best.expected


def test_cvar_of_all_is_the_expectation_and_of_little_the_worst_context():
    everything = bocu.suggest(kiosk(), **ASKED, objective="cvar", alpha=1.0)
    assert everything.best.worst == pytest.approx(bocu.suggest(kiosk(), **ASKED, objective="so").best.expected)
    little = bocu.suggest(kiosk(), **ASKED, objective="cvar", alpha=0.01)
    assert little.best.worst == pytest.approx(bocu.suggest(kiosk(), **ASKED, objective="ro").best.worst)


def test_trying_goes_where_the_log_is_silent():
    log = kiosk(120)
    silent = log[log.order < 45.0].assign(profit=lambda rows: rows.profit * 0.0 + 50.0 + np.sin(rows.order / 8.0))
    deployed = bocu.suggest(silent, **ASKED, radius=0.1)
    tried = bocu.suggest(silent, **ASKED, radius=0.1, explore=True)
    assert tried.decision["order"] > 50.0
    assert np.diff(tried.best.interval) > np.diff(deployed.best.interval)
    assert tried.optimistic > deployed.best.guaranteed


def test_whole_numbers_and_names_are_suggested_as_such():
    world = np.random.default_rng(0)
    staff, shelf, rain = world.integers(1, 9, 60), world.choice(["low", "high"], 60), world.uniform(0, 1, 60)
    profit = -((staff - 5) ** 2) + 4.0 * (shelf == "high") - rain
    log = pd.DataFrame({"staff": staff, "shelf": shelf, "rain": rain, "profit": profit})
    found = bocu.suggest(
        log, decisions="staff:int:1..8,shelf:{low,high}", contexts=["rain"], outcome="profit", radius=0.1
    )
    assert found.decision == {"staff": 5, "shelf": "high"}
    assert isinstance(found.decision["staff"], int)
    assert found.second.decision != found.decision
    by_name = {influence.name: influence for influence in found.influences}
    assert by_name["shelf"].swing == pytest.approx(4.0, abs=0.5)
    assert by_name["shelf"].lengthscale is None
    assert by_name["rain"].swing == pytest.approx(1.0, abs=0.3)


def test_many_numbers_are_searched_by_sobol_points_and_steps():
    world = np.random.default_rng(1)
    x, rain = world.uniform(0.0, 1.0, (150, 3)), world.uniform(0.0, 1.0, 150)
    log = {f"x{i}": x[:, i] for i in range(3)} | {"rain": rain, "cost": ((x - 0.3) ** 2).sum(axis=1) + rain}
    found = bocu.suggest(
        log, decisions="x0:0..1,x1:0..1,x2:0..1", contexts=["rain"], outcome="cost", objective="so", minimise=True
    )
    assert list(found.decision.values()) == pytest.approx([0.3, 0.3, 0.3], abs=0.05)


def test_the_same_log_gives_the_same_answer_from_tables_files_and_data_sets(tmp_path):
    log = kiosk()
    log.to_csv(tmp_path / "log.csv", index=False)
    pd.DataFrame(FORECAST).to_csv(tmp_path / "forecast.csv", index=False)
    files = {**ASKED, "forecast": tmp_path / "forecast.csv"}
    answers = [
        bocu.suggest(log, **ASKED, radius=0.2),
        bocu.suggest(tmp_path / "log.csv", **files, radius=0.2),
        bocu.suggest(log.rename_axis("day").to_xarray(), **ASKED, radius=0.2),
        bocu.suggest(log.to_dict("list"), **ASKED, radius=0.2),
    ]
    assert all(told(answer) == told(answers[0]) for answer in answers)


def told(answer: bocu.Suggestion) -> dict:
    """All of an answer but what rows of the log are called: lines of files, rows of tables."""
    plain = answer.to_dict()
    for row in [*plain["outliers"], *plain["details"]["rows"]]:
        del row["line"]
    return plain


def test_the_command_prints_words_or_json(tmp_path):
    kiosk().to_csv(tmp_path / "log.csv", index=False)
    words = ["suggest", str(tmp_path / "log.csv"), "--decisions", "order:10..90", "--contexts", "rain"]
    words += ["--outcome", "profit", "--radius", "0.2"]
    told = CliRunner().invoke(app, words).stdout
    assert told.startswith("Decision: order = ")
    assert "Price of robustness" in told
    plain = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert f"Decision: order = {plain['best']['decision']['order']:.6g}\n" in told
    assert math.isfinite(plain["best"]["guaranteed"])
    assert "(to try: " in CliRunner().invoke(app, [*words, "--try"]).stdout
    assert "radus" in str(CliRunner().invoke(app, [*words, "--radus", "3"]).exception)
    assert CliRunner().invoke(app, [*words, "--set", "mmd", "--lengthscale", "0.3"]).exit_code == 0


@pytest.mark.parametrize("largest", [30, 3_000_000])
def test_whole_numbers_of_any_range_are_searched_to_the_last_one(largest):
    world = np.random.default_rng(2)
    share, rain = world.uniform(0.0, 1.0, 40), world.uniform(0.0, 1.0, 40)
    log = {"units": np.round(share * largest), "rain": rain, "profit": -((share - 0.4) ** 2) - 0.1 * rain}
    found = bocu.suggest(log, decisions=f"units:int:0..{largest}", contexts=["rain"], outcome="profit", objective="so")
    assert isinstance(found.decision["units"], int)
    assert found.decision["units"] / largest == pytest.approx(0.4, abs=0.05)
