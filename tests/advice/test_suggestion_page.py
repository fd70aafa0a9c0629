"""The pages of suggestions and replays: every number of them is one of the JSON, and text from files stays text."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from decision_logs import kiosk

import bocu
from bocu.advice import page as pictures
from bocu.advice.choices import Decisions, OneOfNames, Range
from bocu.advice.page import page_of, replay_page_of
from bocu.advice.replaying import DONE, STEADY, SUGGESTED
from bocu.advice.suggestion import in_digits

EVIL, DOLLAR, CURLY = "<script>alert(1)</script>", "$\\frac{", "{{ 7 * 7 }}/~x & 'y'"


def hostile() -> pd.DataFrame:
    world = np.random.default_rng(0)
    staff, price, rain = world.integers(1, 9, 30), world.uniform(1.0, 20.0, 30), world.uniform(0.0, 10.0, 30)
    shelf = world.choice(["<b>low</b>", "high"], 30)
    profit = 10.0 - (staff - 5.0) ** 2 + 4.0 * (shelf == "high") - rain * price / 20.0
    profit[7] += 30.0
    return pd.DataFrame({EVIL: staff, DOLLAR: price, "shelf": shelf, CURLY: rain, "profit": profit, "waste": price})


ASKED = {
    "decisions": Decisions(
        (Range(EVIL, 1, 8, True), Range(DOLLAR, 1, 20), OneOfNames("shelf", ("<b>low</b>", "high")))
    ),
    "contexts": [CURLY],
    "forecast": {CURLY: [0.0, 3.0, 9.0]},
    "radius": 0.2,
    "units": {CURLY: "<i>mm</i>"},
}


@pytest.fixture(scope="module")
def found() -> bocu.Suggestion:
    return bocu.suggest(hostile(), **ASKED, outcome="profit", constraints=["shelf:high <= 1"])


@pytest.fixture(scope="module")
def several() -> bocu.Suggestion:
    return bocu.suggest(hostile(), **ASKED, outcome="profit,waste:min")


@pytest.fixture(scope="module")
def pages(found, several) -> dict[str, str]:
    return {"found": found.to_html(), "several": several.to_html()}


class Traced(HTMLParser):
    """Collects what stands in elements that say where it is from, and the other visible text."""

    def __init__(self) -> None:
        super().__init__()
        self.traced: list[tuple[str, str, str | None]] = []
        self.other: list[str] = []
        self.tags: set[str] = set()
        self._open: list[str] = []
        self._from: tuple[str, str | None] | None = None

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.add(tag)
        if "data-from" in given:
            self._from = (given["data-from"], given.get("value"))
        if tag in ("svg", "style", "title"):
            self._open.append(tag)

    def handle_endtag(self, tag):
        if self._open and tag == self._open[-1]:
            self._open.pop()
        if tag in ("data", "span"):
            self._from = None

    def handle_data(self, data):
        if self._open:
            return
        if self._from is not None:
            self.traced.append((self._from[0], data, self._from[1]))
        elif data.strip():
            self.other.append(data.strip())


def at(plain, pointer: str):
    """Follow a JSON pointer (RFC 6901)."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        plain = plain[int(key)] if isinstance(plain, list) else plain[key]
    return plain


def traced(text: str, plain) -> tuple[Traced, str]:
    """Return what a page traces, after a look that it is so, and the rest of its text."""
    page = Traced()
    page.feed(text)
    for pointer, said, value in page.traced:
        source = at(plain, pointer)
        if value is None:
            assert said == ("–" if source is None else source), pointer
        else:
            assert (float(value), said) == (source, in_digits(source, 4)), pointer
    return page, " ".join(page.other)


def numbers(rest: str, *names: str) -> list[str]:
    """What has a digit in the rest of a page's text, but for names of columns and the level of the intervals."""
    for name in (*ASKED["decisions"].names, CURLY, *names, "95 %"):
        rest = rest.replace(name, "")
    return re.findall(r"[^\s]*\d[^\s]*", rest)


@pytest.mark.parametrize("which", ["found", "several"])
def test_every_number_of_the_page_is_one_of_the_json(which, pages, request):
    suggestion = request.getfixturevalue(which)
    page, rest = traced(pages[which], json.loads(json.dumps(suggestion.to_dict())))
    assert len(page.traced) > 250
    pointers = {pointer for pointer, _, _ in page.traced}
    assert {"/best/expected", "/best/guaranteed", "/given_up", "/noise", "/best/interval/0"} <= pointers
    assert any(pointer.startswith("/details/rows/") for pointer in pointers)
    assert numbers(rest, suggestion.outcome) == []


def test_the_page_is_made_from_the_json_alone(found, pages):
    assert page_of(json.loads(json.dumps(found.to_dict()))) == pages["found"]


def test_text_from_files_stays_text(pages):
    for text in pages.values():
        page = Traced()
        page.feed(text)
        assert not {"script", "b", "i", "img", "link", "iframe"} & page.tags
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
        assert "49" not in re.findall(r"<h1>(.*?)</h1>", text, flags=re.DOTALL)[0]
        assert CURLY.replace("&", "&amp;").replace("'", "&#39;") in text
        assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", text)
        assert len(set(re.findall(r'\bid="([^"]*)"', text))) == len(re.findall(r'\bid="([^"]*)"', text))


def test_lines_and_points_of_pictures_are_those_of_the_json(found):
    plain = json.loads(json.dumps(found.to_dict()))
    slices = plain["details"]["slices"]
    axes = pictures.slice_picture(plain, 1).axes[0]
    drawn = axes.lines[0].get_xydata().T.tolist()
    assert drawn == [slices[1]["at"], slices[1]["expected"]]
    assert axes.lines[1].get_ydata().tolist() == slices[1]["worst"]
    band, *points = axes.collections
    assert band.get_paths()[0].vertices[:, 1].max() == pytest.approx(max(slices[1]["high"]))
    outliers = [row["outlier"] for row in plain["details"]["rows"]]
    told = [
        [row for row, out in zip(slices[1]["rows"], outliers, strict=True) if out == kind] for kind in (False, True)
    ]
    assert [np.asarray(one.get_offsets()).tolist() for one in points] == [rows for rows in told if rows]
    curve = plain["details"]["curve"]
    axes = pictures.curve_picture(plain).axes[0]
    assert axes.lines[0].get_ydata().tolist() == curve["suggested"]
    assert axes.lines[1].get_ydata().tolist() == curve["steady"]
    axes = pictures.trade_off_picture(plain).axes[0]
    assert axes.lines[0].get_xdata().tolist() == plain["details"]["trade_off"]["expected"]
    assert axes.lines[1].get_xydata().tolist() == [[plain["best"]["expected"], plain["best"]["worst"]]]
    bars = [bar.get_width() for bar in pictures.weights_picture(plain).axes[0].patches]
    contexts = plain["details"]["contexts"]
    assert bars[: 2 * len(contexts)] == [one[key] for key in ("weight", "worst") for one in contexts]
    swings = [bar.get_width() for bar in pictures.learnt_picture(plain).axes[0].patches]
    assert sorted(entry["swing"] for entry in plain["influences"]) == sorted(swing for swing in swings if swing)


def test_pictures_take_the_colours_of_the_page(pages):
    graphics = re.findall(r"<svg.*?</svg>", pages["found"], flags=re.DOTALL)
    assert len(graphics) >= 8
    for graphic in graphics:
        assert "var(--ink)" in graphic
        assert not re.search("#(?:222222|0072b2|d55e00|7a7a7a)", graphic, flags=re.IGNORECASE)
        assert 'role="img"' in graphic
        assert 'width="' not in graphic[: graphic.index(">")]


@pytest.mark.ci
def test_a_page_of_alternatives_without_a_worst_case_and_of_a_long_log():
    asked = {**ASKED, "outcome": "profit", "objective": "so", "radius": None}
    offered = {EVIL: [1, 5], DOLLAR: [2.0, 3.0], "shelf": ["high", "high"]}
    plain = bocu.suggest(hostile(), **asked, alternatives=offered).to_dict()
    rows = plain["details"]["rows"]
    plain["details"]["rows"] = [*rows, *([{**rows[0], "outlier": False}] * 400)]
    text = page_of(plain)
    assert "Alternatives, best first" in text
    assert "Guaranteed" not in text
    assert "are in the JSON alone" in text
    assert len(set(re.findall(r'data-from="/details/rows/(\d+)/', text))) == 300


@pytest.mark.ci
def test_a_page_of_what_is_to_be_tried_under_cvar():
    asked = {**ASKED, "outcome": "profit", "objective": "cvar", "alpha": 0.5, "explore": True, "radius": None}
    text = bocu.suggest(hostile(), **asked).to_html()
    assert "It may yet turn out best, at" in text
    assert "share of worst contexts" in text


OVER = f"{SUGGESTED} over {DONE}"


@pytest.fixture(scope="module")
def replayed() -> bocu.Replay:
    asked = {key: value for key, value in ASKED.items() if key != "forecast"}
    log = hostile().sample(44, replace=True, random_state=0)
    return bocu.replay(log, **asked, outcome="profit,waste:min", weights={"profit": 1.0, "waste": 0.2}, steps=4)


@pytest.fixture(scope="module")
def plain(replayed):
    return json.loads(json.dumps(replayed.to_dict()))


def test_every_number_of_a_replay_is_one_of_the_json_and_text_stays_text(replayed, plain):
    text = replayed.to_html()
    assert text == replay_page_of(plain)
    page, rest = traced(text, plain)
    pointers = {pointer for pointer, _, _ in page.traced}
    assert {f"/gains/{OVER}/gain", f"/gains/{OVER}/interval/0", "/judged", "/matched", "/logged"} <= pointers
    assert {f"/earned/{who}/{what}" for who in (DONE, STEADY, SUGGESTED) for what in ("mean", "total")} <= pointers
    assert numbers(rest, replayed.outcome, "5%") == []
    assert not {"script", "b", "i", "img", "link", "iframe"} & page.tags
    assert "A fitted model, not what happened" in text


def test_pictures_of_a_replay_draw_what_the_json_has(plain):
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
    assert numbers(rest) == []
    if not estimate["growth"]:
        assert sorted(estimate["distances"])[estimate["rank"] - 1] == estimate["radius"]
