"""What stands beside a suggestion: residuals, slices, curves and weights, each against another way to it."""

import copy

import numpy as np
import pandas as pd
import pytest

import bocu
from bocu.advice.choices import read_decisions
from bocu.advice.logs import read_forecast, read_log_table, read_logs
from bocu.advice.model import Learnt, standardised_residuals
from bocu.advice.posteriors import LargePosterior
from bocu.learners.surrogates.continuous.model import Posterior


def shop(rows: int = 36) -> pd.DataFrame:
    world = np.random.default_rng(2)
    price, rain = world.uniform(1.0, 20.0, rows), world.uniform(0.0, 10.0, rows)
    kind = world.choice(["low", "high"], rows)
    profit = 50.0 - (price - 12.0) ** 2 / 4.0 - 0.2 * rain * price + 3.0 * (kind == "high")
    profit += world.normal(0.0, 0.5, rows)
    profit[11] += 30.0
    return pd.DataFrame({"price": price, "kind": kind, "rain": rain, "profit": profit})


ASKED = {"decisions": "price:1..20,kind:{low,high}", "contexts": ["rain"], "outcome": "profit"}
FORECAST = {"rain": [0.0, 3.0, 8.0], "weight": [3.0, 2.0, 1.0]}
FORECAST_READ = read_forecast(read_log_table(FORECAST, "forecast"), ["rain"])


@pytest.fixture(scope="module")
def found() -> bocu.Suggestion:
    return bocu.suggest(shop(), **ASKED, forecast=FORECAST, radius=0.2)


@pytest.fixture(scope="module")
def learnt() -> Learnt:
    decisions = read_decisions(ASKED["decisions"])
    log = read_logs(read_log_table(shop(), "log"), decisions, ["rain"], ["profit"])[0]
    return Learnt(decisions, log, FORECAST_READ, 1.0)


def test_residuals_are_those_of_fits_without_the_row(learnt):
    here = learnt.posterior
    outputs = here.standardised
    found = standardised_residuals(learnt)
    for row in (0, 11, 35):
        rest = np.arange(len(outputs)) != row
        # The posterior without the row, in the units of all rows; the mean's own uncertainty added by hand.
        kernel = here.covariance(here.inputs)
        noisy = kernel + here.hyperparameters.noise * np.eye(len(outputs))
        inverse = np.linalg.inv(noisy[np.ix_(rest, rest)])
        ones = np.ones(rest.sum())
        mean = ones @ inverse @ outputs[rest] / (ones @ inverse @ ones)
        expected = mean + kernel[row, rest] @ inverse @ (outputs[rest] - mean)
        variance = noisy[row, row] - kernel[row, rest] @ inverse @ kernel[row, rest]
        variance += (1.0 - ones @ inverse @ kernel[row, rest]) ** 2 / (ones @ inverse @ ones)
        assert found[row] == pytest.approx((outputs[row] - expected) / np.sqrt(variance), rel=1e-6)


def test_rows_are_expected_to_earn_what_they_did_less_their_noise(learnt):
    here, log = learnt.posterior, learnt.log
    smoothed = here.shift + here.scale * (here.standardised - here.hyperparameters.noise * here.weights)
    expected, _ = learnt.pairs(log.decisions, log.contexts)
    np.testing.assert_allclose(expected, smoothed, rtol=1e-9)
    np.testing.assert_array_equal(learnt.pair_means(log.decisions, log.contexts), expected)


def test_a_long_log_has_the_same_residuals(learnt):
    here = learnt.posterior
    large = LargePosterior(here.structure, here.hyperparameters, here.inputs, learnt.log.outcome)
    plain = standardised_residuals(learnt)
    assert isinstance(here, Posterior)
    learnt_large = copy.copy(learnt)
    learnt_large.posterior = large
    np.testing.assert_allclose(standardised_residuals(learnt_large), plain, rtol=1e-6)


def test_the_row_that_was_tampered_with_is_the_outlier(found):
    largest = max(found.details.rows, key=lambda row: abs(row.residual))
    assert largest.line == "row 12"
    assert largest.residual > 4.0
    assert largest in found.outliers
    assert len(found.outliers) == 1
    anyhow = bocu.suggest(shop().drop(index=11), **ASKED, forecast=FORECAST, radius=0.2)
    assert anyhow.best.expected == pytest.approx(found.best.expected, rel=1e-6)
    assert found.doubted.decision != found.decision
    assert np.ptp(found.doubted.interval) > 2.0 * np.ptp(found.best.interval)
    assert "row 12: price = " in str(found)


def test_slices_say_what_the_suggestion_says(found):
    price, kind, rain = found.details.slices
    at = int(np.argmin(np.abs(np.array(price.at) - found.decision["price"])))
    moved = bocu.suggest(shop(), **ASKED, forecast=FORECAST, radius=0.2, alternatives={
        "price": [price.at[at]], "kind": [found.decision["kind"]]
    })  # fmt: skip
    assert price.expected[at] == pytest.approx(moved.best.expected)
    assert price.worst[at] == pytest.approx(moved.best.worst)
    assert (price.low[at], price.high[at]) == pytest.approx(moved.best.interval)
    level = kind.at.index(found.decision["kind"])
    assert kind.expected[level] == pytest.approx(found.best.expected)
    assert kind.suggested == found.decision["kind"]
    assert rain.suggested == pytest.approx(found.means["rain"][0])
    assert rain.worst is None
    assert (min(rain.at), max(rain.at)) == (0.0, pytest.approx(shop().rain.max()))


def test_carried_over_rows_lie_as_far_from_the_line_as_from_the_model(found, learnt):
    learnt = Learnt(learnt.decisions, learnt.log, FORECAST_READ, 1.0, kept=np.arange(len(learnt.kept)) != 11)
    price = found.details.slices[0]
    log = shop()
    means, _ = learnt.pairs(learnt.log.decisions, learnt.log.contexts)
    surplus = log.profit.to_numpy() - means
    for row in (0, 11, 20):
        value, earned = price.rows[row]
        assert value == pytest.approx(log.price[row])
        line = np.interp(value, price.at, price.expected)
        assert earned - line == pytest.approx(surplus[row], abs=0.25)


def test_the_curve_goes_through_what_is_guaranteed(found):
    curve = found.details.curve
    assert curve.size[0] == 0.0
    assert curve.size[-1] == pytest.approx(0.4)
    assert curve.suggested[curve.size.index(pytest.approx(0.2))] == pytest.approx(found.best.worst)
    assert curve.suggested[0] == pytest.approx(found.best.expected)
    assert curve.suggested == sorted(curve.suggested, reverse=True)
    assert curve.steady[0] == pytest.approx(found.steady.expected)


def test_levels_of_cvar_go_from_all_contexts_down():
    found = bocu.suggest(shop(), **ASKED, forecast=FORECAST, objective="cvar", alpha=0.5)
    curve = found.details.curve
    assert curve.size[0] == 1.0
    assert curve.size[-1] == pytest.approx(0.25)
    assert curve.suggested[0] == pytest.approx(found.best.expected)
    assert np.interp(-0.5, -np.array(curve.size), curve.suggested) == pytest.approx(found.best.worst, rel=0.02)


def test_weights_are_those_of_forecast_and_worst_distribution(found):
    contexts = found.details.contexts
    assert sum(one.weight for one in contexts) == pytest.approx(1.0)
    assert sum(one.worst for one in contexts) == pytest.approx(1.0)
    assert sum(one.weight * one.expected for one in contexts) == pytest.approx(found.best.expected)
    assert sum(one.worst * one.expected for one in contexts) == pytest.approx(found.best.worst)


def test_the_trade_off_joins_decisions_that_no_other_beats(found):
    trade = found.details.trade_off
    expected, worst = np.array(trade.expected), np.array(trade.worst)
    assert (np.diff(worst) <= 0).all()
    assert (np.diff(expected) >= 0).all()
    assert worst[0] == pytest.approx(found.best.worst, abs=0.05)


def test_without_a_worst_case_there_is_none_to_show():
    found = bocu.suggest(shop(), **ASKED, forecast=FORECAST, objective="so")
    assert found.details.curve is None
    assert found.details.trade_off is None
    assert all(one.weight == one.worst for one in found.details.contexts)
