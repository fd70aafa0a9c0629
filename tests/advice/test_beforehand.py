"""What is known before deciding, few alternatives, and whether a guarantee can be trusted."""

import numpy as np
import pandas as pd
import pytest
from decision_logs import drifting, kiosk, sold
from typer.testing import CliRunner

import bocu
from bocu.advice.logs import given_what_is_known, weighted
from bocu.advice.suggesting import _Drawn, calibrate
from bocu.commands.main import app

ASKED = {"decisions": "order:10..90", "contexts": ["rain"], "outcome": "profit"}


def test_a_context_that_is_known_leaves_the_payoff_there():
    found = bocu.suggest(kiosk(90), **ASKED, known={"rain": 5.0})
    assert found.best.expected == pytest.approx(sold(50.0, 5.0), abs=4.0)
    assert found.decision["order"] == pytest.approx(50.0, abs=5.0)
    assert found.means["rain"][0] == pytest.approx(5.0)
    assert any(note.startswith("known beforehand: rain = 5; other contexts as in rows near it") for note in found.notes)


def test_other_contexts_go_with_what_is_known_in_a_log_and_stay_in_a_forecast():
    world = np.random.default_rng(0)
    warm = world.normal(size=4000)
    both = weighted(np.column_stack([warm, 0.8 * warm + 0.6 * world.normal(size=4000)]), np.ones(4000))
    there = given_what_is_known(both, ("warm", "sun"), {"warm": 1.0}, from_log=True)
    assert there.weights @ there.contexts == pytest.approx([1.0, 0.8], abs=0.05)
    stays = given_what_is_known(both, ("warm", "sun"), {"warm": 1.0}, from_log=False)
    assert stays.weights @ stays.contexts[:, 1] == pytest.approx(both.weights @ both.contexts[:, 1])
    with pytest.raises(bocu.BocuError, match="--known: found 'wram'; did you mean 'warm'"):
        given_what_is_known(both, ("warm", "sun"), {"wram": 1.0}, from_log=True)


def test_the_season_of_the_next_row_is_known():
    log = drifting(140)
    busy = 30.0 * np.cos(2.0 * np.pi * np.arange(140) / 7.0)
    log = log.assign(profit=log.profit - sold(log.order, log.rain) + sold(log.order, log.rain, busy))
    orders = [bocu.suggest(log[:rows], **ASKED, time="when", season="week").decision["order"] for rows in (140, 136)]
    assert orders[0] > orders[1] + 20.0  # the busiest day follows, and one of the quietest
    with pytest.raises(bocu.BocuError, match="--season: rows have no dates"):
        bocu.suggest(kiosk(40), **ASKED, season="week")
    with pytest.raises(bocu.BocuError, match="--season: found 'weak'"):
        bocu.suggest(log, **ASKED, time="when", season="weak")


def names(rows: int) -> pd.DataFrame:
    world = np.random.default_rng(0)
    which, met = world.integers(0, 3, rows), world.normal(size=rows)
    earned = np.array([20.0, 20.0, 15.0])[which] + met + 2.0 * world.normal(size=rows)
    return pd.DataFrame({"name": np.array(["A", "B", "C"])[which], "met": met, "profit": earned})


def test_few_names_are_ranked_with_probabilities_and_differences():
    found = bocu.suggest(names(90), decisions="name:{A,B,C}", contexts=["met"], outcome="profit", radius=0.1)
    assert [one.judged.decision["name"] for one in found.alternatives][-1] == "C"
    shares = [one.best for one in found.alternatives]
    assert sum(shares) == pytest.approx(1.0)
    assert shares[2] < 0.01 < min(shares[:2])
    assert found.alternatives[0].behind == (0.0, 0.0, 0.0)
    mean, low, high = found.alternatives[2].behind
    assert 0.0 < low < mean < high
    assert mean == pytest.approx(5.0, abs=1.5)
    assert "best with" in str(found)


def test_joint_expectations_have_the_spreads_of_single_ones():
    found = bocu.suggest(names(60), decisions="name:{A,B,C}", contexts=["met"], outcome="profit", radius=0.1)
    learnt, weights = found.search.learnt, found.search.rule.weights
    mean, covariance = learnt.joint(found.search.pool, weights)
    np.testing.assert_allclose(mean, found.search.expectations(found.search.pool))
    np.testing.assert_allclose(np.sqrt(np.diagonal(covariance)), learnt.spreads(found.search.pool, weights))
    assert np.linalg.eigvalsh(covariance).min() > -1e-9


def test_a_guarantee_is_kept_in_most_logs_that_are_like_the_model():
    found = calibrate(kiosk(40), logs=12, **ASKED, radius=0.2)
    assert found == calibrate(kiosk(40), logs=12, **ASKED, radius=0.2)
    low, high = found.interval
    assert 0.75 <= found.kept <= 1.0
    assert low < found.kept <= high
    assert "12 simulated" in str(found)


def test_simulated_logs_are_of_functions_that_the_model_holds_for_likely():
    found = bocu.suggest(kiosk(40), **ASKED, radius=0.2)
    (model,), weights, value = found.search.learnt.models, found.search.rule.weights, np.array([55.0])
    world = np.random.default_rng(0)
    drawn = [_Drawn(model, world).payoffs(value, world) @ weights for _ in range(2_000)]
    mean, covariance = model.joint(value[None], weights)
    spread = float(np.sqrt(covariance[0, 0]))
    assert np.mean(drawn) == pytest.approx(float(mean[0]), abs=4.0 * spread / np.sqrt(2_000))
    assert np.std(drawn) == pytest.approx(spread, rel=0.08)


def test_what_a_calibration_cannot_tell_is_said(tmp_path):
    assert calibrate(kiosk(20), **ASKED, radius=0.2).kept is None
    with pytest.raises(bocu.BocuError, match="--calibrate: found no guarantee to check"):
        calibrate(kiosk(40), **ASKED, objective="so")
    kiosk(20).to_csv(tmp_path / "log.csv", index=False)
    words = ["suggest", str(tmp_path / "log.csv"), "--decisions", "order:10..90", "--contexts", "rain"]
    done = CliRunner().invoke(app, [*words, "--outcome", "profit", "--radius", "0.2", "--calibrate"])
    assert "Cannot tell: the log has 20 rows; 30 are wanted" in done.stdout


def test_prices_end_where_the_set_has_all_distributions():
    found = bocu.suggest(kiosk(40), **ASKED, radius=1.5)
    assert [price.size for price in found.prices] == [0.0, 0.375, 0.75, 1.5, 2.0]
    assert max(found.details.curve.size) == 2.0
    assert found.nearly_worst
    assert "nearly that of the worst context there is" in str(found)


def test_without_a_forecast_nothing_speaks_of_one():
    for asked in ({"radius": 0.2}, {}, {"objective": "so"}):
        found = bocu.suggest(kiosk(40), **ASKED, **asked)
        assert "forecast" not in str(found)
        assert "forecast" not in found.to_html()
