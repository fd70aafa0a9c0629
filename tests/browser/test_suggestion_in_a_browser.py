"""The pages of a suggestion and of a replay in a real Chromium, at the widths of a phone, a tablet and a desk."""

import json

import chromium
import numpy as np
import pytest

import bocu

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page whose columns have long and hostile names."""
    world = np.random.default_rng(0)
    evil, long = "<script>document.title = 'x'</script>", "average_of_the_temperature_over_all_stations_of_the_region"
    price, met, shelf = world.uniform(1.0, 20.0, 40), world.uniform(0.0, 10.0, 40), world.choice(["low", "high"], 40)
    profit = 10.0 - (price - 9.0) ** 2 / 10.0 - met * price / 20.0 + 2.0 * (shelf == "high")
    profit[5] += 20.0
    log = {evil: price, long: met, "shelf": shelf, "profit": profit, "waste": price}
    asked = {"decisions": f"{evil}:1..20,shelf:{{low,high}}", "contexts": [long], "outcome": "profit,waste:min"}
    folder = tmp_path_factory.mktemp("suggestion")
    found = bocu.suggest(log, **asked, radius=0.2)
    (folder / "page.html").write_text(found.to_html(), encoding="utf-8")
    replayed = bocu.replay(log, **asked, radius=0.2, weights={"profit": 1.0, "waste": 0.1}, steps=2)
    (folder / "replay.html").write_text(replayed.to_html(), encoding="utf-8")
    return folder / "page.html"


@pytest.fixture(scope="module")
def seen(browser, page):
    return chromium.Opened(browser, page)


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (820, "light"), (1400, "dark")])
def test_it_can_be_read_at_every_width_by_day_and_by_night(seen, width, scheme):
    seen.look(width, scheme)
    assert seen("document.title").startswith("<script>")
    assert seen("document.documentElement.scrollWidth <= innerWidth")
    assert seen.axe() == []
    # Text of pictures is at least as large as small print, and of the page's own ink.
    texts = "[...document.querySelectorAll('figure svg text')]"
    assert seen(f"Math.min(...{texts}.map(text => text.getBoundingClientRect().height))") >= 8.0
    assert seen(f"{texts}.every(text => getComputedStyle(text).fill === getComputedStyle(document.body).color)")


def test_it_fetches_nothing_and_runs_nothing(seen):
    seen.browser.get_log("performance")  # forget what was looked at before
    seen.look()
    assert seen("document.scripts.length") == 0
    requests = [json.loads(entry["message"])["message"] for entry in seen.browser.get_log("performance")]
    urls = {one["params"]["request"]["url"] for one in requests if one["method"] == "Network.requestWillBeSent"}
    assert {url for url in urls if not url.startswith(("file:", "data:", "about:"))} == set()
    assert [entry for entry in seen.browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_outliers_are_marked_in_the_log_and_pictures_are_described(seen):
    rows = seen.look()("[...document.querySelectorAll('tr.outlier th')].map(row => row.textContent.trim())")
    assert any(row.startswith("row 6") and row.endswith("outlier") for row in rows)
    labels = seen("[...document.querySelectorAll('figure svg')].map(svg => svg.getAttribute('aria-label').length)")
    assert len(labels) >= 8
    assert min(labels) > 20


def test_a_replay_can_be_read_at_every_width_by_day_and_by_night_without_a_script(seen):
    replayed = chromium.Opened(seen.browser, seen.page.with_name("replay.html"))
    for width, scheme in ((375, "dark"), (1400, "light")):
        replayed.look(width, scheme)
        assert replayed("document.title").startswith("Replay: profit - 0.1 waste")
        assert replayed("document.scripts.length") == 0
        assert replayed("document.documentElement.scrollWidth <= innerWidth")
        assert replayed.axe() == []
        assert replayed("document.querySelectorAll('figure svg').length") >= 4
