"""Replays: what suggestions would have earned, judged by what did not advise."""

import itertools
import json
import re

import numpy as np
import pandas as pd
import pytest
from decision_logs import drifting, kiosk
from typer.testing import CliRunner

import bocu
from bocu.advice.replaying import DONE, STEADY, SUGGESTED
from bocu.commands.main import app
from bocu.core.errors import BocuError

ASKED = {"decisions": "order:10..90", "contexts": ["rain"], "outcome": "profit", "radius": 0.2, "steps": 3}
MET = {"rain": [1], "wind": [1]}


@pytest.fixture(scope="module")
def replayed():
    """A replay of a log of 72 rows."""
    return bocu.replay(kiosk(72), **ASKED)


def test_good_advice_is_seen_to_earn_more_than_random_decisions(replayed):
    gain = replayed.gains[f"{SUGGESTED} over {DONE}"]
    assert gain.interval[0] > 0.0
    assert replayed.earned[SUGGESTED].mean - replayed.earned[DONE].mean == pytest.approx(gain.gain)
    assert replayed.earned[SUGGESTED].worst > replayed.earned[DONE].worst
    assert replayed.judge == "model"


def test_what_it_says_is_earned_is_what_would_have_been(replayed):
    log = kiosk(72)
    rain = log.rain[24:]
    decided = np.mean([step.decisions[SUGGESTED]["order"] for step in replayed.steps])
    truth = (3.0 * np.minimum(decided, 70.0 - 4.0 * rain) - decided).mean()
    assert replayed.earned[SUGGESTED].mean == pytest.approx(truth, abs=5.0)
    assert replayed.logged == pytest.approx(log.profit[24:].mean())


def test_robust_decisions_give_up_some_expectation_for_the_worst_rows(replayed):
    pairs = [(step.decisions[SUGGESTED]["order"], step.decisions[STEADY]["order"]) for step in replayed.steps]
    assert all(robust <= steady for robust, steady in pairs)
    low, high = replayed.gains[f"{SUGGESTED} over {STEADY}"].interval
    assert low < 0.0
    assert high - low < 20.0


def test_each_half_is_advised_from_its_own_past_alone(replayed, monkeypatch):
    assert [step.rows for step in replayed.steps] == [12, 20, 28] * 2
    seen = []

    def spy(table, **asked):
        seen.append(list(table.lines))
        return original(table, **asked)

    from bocu.advice import replaying

    original = replaying.suggest
    monkeypatch.setattr(replaying, "suggest", spy)
    bocu.replay(kiosk(48), **ASKED)
    numbers = [[int(line.split()[1]) for line in lines] for lines in seen]
    assert all(len({number % 2 for number in lines}) == 1 for lines in numbers)
    assert [max(lines) for lines in numbers] == [19, 29, 39, 20, 28, 38]


def test_a_log_that_holds_alternatives_judges_itself():
    """Every order of a grid in every rain of another: the nearest row that did not advise is the decision's own."""
    order, rain = (side.ravel() for side in np.meshgrid(np.arange(10.0, 91.0, 4.0), np.arange(0.0, 10.0, 1.0)))
    profit = 3.0 * np.minimum(order, 70.0 - 4.0 * rain) - order
    log = pd.DataFrame({"order": order, "rain": rain, "profit": profit}).sample(frac=1.0, random_state=0)
    found = bocu.replay(log, **ASKED)
    assert (found.judge, found.matched) == ("log", found.judged)
    assert found.gains[f"{SUGGESTED} over {DONE}"].interval[0] > 0.0
    by_model = bocu.replay(log, **ASKED, judge="model")
    assert by_model.earned[SUGGESTED].mean == pytest.approx(found.earned[SUGGESTED].mean, abs=6.0)


def test_costs_are_replayed_as_earnings_are():
    log = kiosk(44)
    earned = bocu.replay(log, **ASKED)
    paid = bocu.replay(log.assign(profit=-log.profit), **ASKED, minimise=True)
    assert paid.gains == earned.gains
    assert paid.earned[DONE].mean == pytest.approx(-earned.earned[DONE].mean)


def test_time_is_walked_through_in_its_own_order():
    log = drifting(44, busier=20.0)
    shuffled = log.sample(frac=1.0, random_state=2)
    asked = {**ASKED, "time": "when", "forget": "10d"}
    assert bocu.replay(log, **asked).gains == bocu.replay(shuffled, **asked).gains


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"first": 3}, "--first: found 3; allowed: 10 to 38 of 48 rows"),
        ({"steps": 1}, "--steps: found 1; at least 2"),
        ({"judge": "me"}, "--judge: found 'me'; allowed: auto, log, model"),
        ({"judge": "log"}, "take --judge model"),
        ({"radius": "estimate", "horizon": 4}, "as of row 19, from 10 rows: --radius estimate: the log is too short"),
        ({"outcome": "profit,day"}, "--weights: found none; several outcomes are replayed as one sum"),
        ({"forecast": MET}, "--forecast: a replay takes for each row the forecast made for its time"),
        ({"forecast": MET, "time": "day"}, "forecast: no column 'day' (time); a replay takes past forecasts"),
        ({"forecast": {**MET, "day": [40]}, "time": "day"}, "1 of the 28 rows after the first step have a forecast"),
        ({"forecast": {**MET, "day": ["2024-01-01"]}, "time": "day"}, "found dates, where the log has numbers"),
    ],
)
def test_what_cannot_be_replayed_or_would_mean_nothing_is_refused_in_one_line(changed, said):
    log = kiosk(48).assign(wind=np.random.default_rng(1).random(48), day=range(48))
    with pytest.raises(BocuError, match=re.escape(said)):
        bocu.replay(log, **{**ASKED, "contexts": ["rain", "wind"], **changed})


def test_too_short_a_log_is_refused():
    with pytest.raises(BocuError, match="too short to be replayed: found 30 whole rows; 40 are wanted"):
        bocu.replay(kiosk(30), **ASKED)


def test_the_command_prints_words_or_json(tmp_path):
    kiosk(44).to_csv(tmp_path / "log.csv", index=False)
    words = ["replay", str(tmp_path / "log.csv"), "--decisions", "order:10..90", "--contexts", "rain"]
    words += ["--outcome", "profit", "--radius", "0.2", "--steps", "2"]
    told = CliRunner().invoke(app, words).stdout
    assert told.startswith("Replayed 24 of 44 rows in 2 steps in time")
    assert "Judged by a model, fitted to the half of the rows that did not advise" in told
    plain = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert f"as suggested over as was done: {plain['gains']['suggested over done']['gain']:.4g} (" in told


def test_a_part_of_the_rows_has_its_own_gain_and_parts_are_all_rows(replayed):
    parts = [part for part in replayed.parts if part.name == "rain"]
    assert sum(part.rows for part in parts) == replayed.judged
    gains = [part.gains[f"{SUGGESTED} over {DONE}"].gain for part in parts]
    weights = [part.rows for part in parts]
    assert np.average(gains, weights=weights) == pytest.approx(replayed.gains[f"{SUGGESTED} over {DONE}"].gain)
    assert all(low.high < high.low for low, high in itertools.pairwise(parts))


def test_who_knew_the_rain_earns_more_than_who_knew_the_weather():
    log = kiosk(44).assign(day=np.arange(44))
    known = pd.DataFrame({"day": log.day[30:], "rain": log.rain[30:], "weight": 1.0})
    asked = {**ASKED, "radius": 0.0, "time": "day", "first": 30}
    blind, told = bocu.replay(log, **asked), bocu.replay(log, **asked, forecast=known)
    assert told.forecasts
    assert [step.row for step in told.steps] == [f"row {i}" for i in (*range(31, 45, 2), *range(32, 45, 2))]
    assert told.earned[SUGGESTED].mean > blind.earned[SUGGESTED].mean
    assert told.earned[DONE] == blind.earned[DONE]
    assert "each row under the forecast that was at hand for it" in str(told)


def test_several_outcomes_are_one_sum_and_each_is_told():
    log = kiosk(44)
    log["waste"] = log.order / 10.0
    asked = {**ASKED, "outcome": "profit,waste:min", "weights": {"profit": 1.0, "waste": 5.0}, "steps": 2}
    found = bocu.replay(log, **asked)
    profit, waste = found.outcomes
    for who in (DONE, STEADY, SUGGESTED):
        assert found.earned[who].mean == pytest.approx(profit.earned[who].mean - 5.0 * waste.earned[who].mean)
    saved = waste.gains[f"{SUGGESTED} over {DONE}"].gain
    assert saved == pytest.approx(waste.earned[DONE].mean - waste.earned[SUGGESTED].mean)
    assert saved > 0.0
    assert (found.outcome, found.minimise) == ("profit - 5 waste", False)


def test_the_command_takes_settings_and_writes_a_page(tmp_path):
    kiosk(44).assign(when=range(44)).to_csv(tmp_path / "log.csv", index=False)
    (tmp_path / "kiosk.yaml").write_text(
        "decisions: {order: {low: 10, high: 90, unit: papers}}\ncontexts: [rain]\noutcome: profit\ntime: when\n"
        "forecast: tomorrow.csv\nset: {radius: 0.2}\n"
    )
    words = ["replay", str(tmp_path / "log.csv"), "--settings", str(tmp_path / "kiosk.yaml")]
    words += ["--steps", "2", "--constraint", "order <= 40", "--report", str(tmp_path / "page.html"), "--json"]
    done = CliRunner().invoke(app, words)
    plain = json.loads(done.stdout)
    assert plain["units"] == {"order": "papers"}
    assert all(step["decisions"][SUGGESTED]["order"] <= 40.0 + 1e-6 for step in plain["steps"])
    assert f'data-from="/gains/{SUGGESTED} over {DONE}/gain"' in (tmp_path / "page.html").read_text(encoding="utf-8")
