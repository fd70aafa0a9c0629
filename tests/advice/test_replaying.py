"""Replays: what suggestions would have earned, judged by what did not advise."""

import json

import numpy as np
import pandas as pd
import pytest
from decision_logs import drifting, kiosk
from typer.testing import CliRunner

import bocu
from bocu.advice.replayed import DONE, STEADY, SUGGESTED
from bocu.commands.main import app
from bocu.core.errors import BocuError

ASKED = {"decisions": "order:10..90", "contexts": ["rain"], "outcome": "profit", "radius": 0.2, "steps": 3}


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
    ],
)
def test_what_cannot_be_replayed_is_refused_in_one_line(changed, said):
    log = kiosk(48).assign(wind=np.random.default_rng(1).random(48))
    with pytest.raises(BocuError, match=said):
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
