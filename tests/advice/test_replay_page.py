"""The page of a replay, and an estimated radius on that of a suggestion: numbers of the JSON, text that stays text."""

import json
import re

import numpy as np
import pytest
from decision_logs import kiosk
from test_suggestion_page import ASKED as HOSTILE
from test_suggestion_page import CURLY, Traced, at, hostile

import bocu
from bocu.advice import pictures
from bocu.advice.page import replay_page_of, shown
from bocu.advice.replayed import DONE, STEADY, SUGGESTED

OVER = f"{SUGGESTED} over {DONE}"


@pytest.fixture(scope="module")
def replayed() -> bocu.Replay:
    asked = {key: value for key, value in HOSTILE.items() if key != "forecast"}
    log = hostile().sample(44, replace=True, random_state=0)
    return bocu.replay(log, **asked, outcome="profit,waste:min", weights={"profit": 1.0, "waste": 0.2}, steps=4)


@pytest.fixture(scope="module")
def plain(replayed):
    return json.loads(json.dumps(replayed.to_dict()))


def traced(text: str, plain) -> tuple[Traced, str]:
    """Return what a page traces, after a look that it is so, and the rest of its text."""
    page = Traced()
    page.feed(text)
    for pointer, said, value in page.traced:
        source = at(plain, pointer)
        if value is None:
            assert said == ("–" if source is None else source), pointer
        else:
            assert (float(value), said) == (source, shown(source)), pointer
    return page, " ".join(page.other)


def test_every_number_of_the_page_is_one_of_the_json_and_text_stays_text(replayed, plain):
    text = replayed.to_html()
    assert text == replay_page_of(plain)
    page, rest = traced(text, plain)
    pointers = {pointer for pointer, _, _ in page.traced}
    assert {f"/gains/{OVER}/gain", f"/gains/{OVER}/interval/0", "/judged", "/matched", "/logged"} <= pointers
    assert {f"/earned/{who}/{what}" for who in (DONE, STEADY, SUGGESTED) for what in ("mean", "total")} <= pointers
    for name in (*HOSTILE["decisions"].names, CURLY, replayed.outcome):
        rest = rest.replace(name, "")
    assert re.findall(r"[^\s]*\d[^\s]*", rest.replace("95 %", "").replace("5%", "")) == []
    assert not {"script", "b", "i", "img", "link", "iframe"} & page.tags
    assert "A fitted model, not what happened" in text


def test_pictures_draw_what_the_json_has(plain):
    ahead = [row["ahead"][OVER] for row in plain["judgements"]]
    assert ahead[-1] == pytest.approx(plain["judged"] * plain["gains"][OVER]["gain"])
    assert pictures.ahead_picture(plain).axes[0].lines[1].get_ydata().tolist() == ahead
    totals = [line.get_ydata()[-1] for line in pictures.earned_picture(plain).axes[0].lines]
    assert totals == pytest.approx([plain["earned"][who]["total"] for who in (SUGGESTED, STEADY, DONE)])
    drawn = pictures.parts_picture(plain).axes[0].containers[0].lines[0].get_xdata().tolist()
    assert drawn == [part["gains"][OVER]["gain"] for part in plain["parts"] if part["gains"]]
    order = next(iter(plain["steps"][0]["decisions"][SUGGESTED].values()))
    assert pictures.advice_picture(plain, 0).axes[0].lines[0].get_ydata()[0] == order


def test_a_page_judged_by_the_log_says_so(plain):
    text = replay_page_of({**plain, "judge": "log", "matched": 7, "minimise": True})
    assert "The log itself (off-policy replay)" in text
    assert '<data value="7" data-from="/matched">7</data>' in text
    assert "A fitted model" not in text


def test_an_estimated_radius_has_a_picture_of_its_own():
    asked = {"decisions": "order:10..90", "contexts": ["rain"], "outcome": "profit", "radius": "estimate"}
    found = bocu.suggest(kiosk(44), **asked, set="wass")
    plain = json.loads(json.dumps(found.to_dict()))
    estimate = plain["estimate"]
    assert estimate["blocks"] == len(estimate["distances"]) == len(estimate["trend"])
    assert (max(estimate["distances"]), np.mean(estimate["trend"])) == pytest.approx(
        (estimate["largest"], np.mean(estimate["distances"]))
    )
    axes = pictures.radius_picture(plain).axes[0]
    assert axes.lines[0].get_ydata().tolist() == estimate["distances"]
    page, rest = traced(found.to_html(), plain)
    assert {"/estimate/radius", "/estimate/coverage", "/estimate/rank"} <= {pointer for pointer, _, _ in page.traced}
    assert re.findall(r"[^\s]*\d[^\s]*", rest.replace("95 %", "")) == []
    if not estimate["growth"]:
        assert sorted(estimate["distances"])[estimate["rank"] - 1] == estimate["radius"]
