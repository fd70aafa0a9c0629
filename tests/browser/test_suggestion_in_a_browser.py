"""The page of a suggestion in a real Chromium, at the widths of a phone, a tablet and a desk."""

import json

import numpy as np
import pytest
from in_a_browser import CONTRAST

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
    found = bocu.suggest(
        log, decisions=f"{evil}:1..20,shelf:{{low,high}}", contexts=[long], outcome="profit,waste:min", radius=0.2
    )
    file = tmp_path_factory.mktemp("suggestion") / "page.html"
    file.write_text(found.to_html(), encoding="utf-8")
    return file


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (820, "light"), (1400, "dark")])
def test_it_can_be_read_at_every_width_by_day_and_by_night(browser, page, width, scheme):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    try:
        browser.get(page.as_uri())
        assert browser.title.startswith("<script>")
        assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
        assert browser.execute_script(CONTRAST) == []
        # Text of pictures is at least as large as small print, and of the page's own ink.
        smallest, inks = browser.execute_script(
            """const texts = [...document.querySelectorAll('figure svg text')];
            const ink = getComputedStyle(document.body).color;
            return [Math.min(...texts.map(t => t.getBoundingClientRect().height)),
                    texts.filter(t => getComputedStyle(t).fill !== ink).length]"""
        )
        assert smallest >= 8.0
        assert inks == 0
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_it_fetches_nothing_and_runs_nothing(browser, page):
    browser.get_log("performance")  # forget what other pages did
    browser.get(page.as_uri())
    assert browser.execute_script("return document.scripts.length") == 0
    requests = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = {one["params"]["request"]["url"] for one in requests if one["method"] == "Network.requestWillBeSent"}
    assert {url for url in urls if not url.startswith(("file:", "data:"))} == set()
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_outliers_are_marked_in_the_log_and_pictures_are_described(browser, page):
    browser.get(page.as_uri())
    rows = browser.execute_script(
        "return [...document.querySelectorAll('tr.outlier th')].map(row => row.textContent.trim())"
    )
    assert any(row.startswith("row 6") and row.endswith("outlier") for row in rows)
    labels = browser.execute_script(
        "return [...document.querySelectorAll('figure svg')].map(svg => svg.getAttribute('aria-label').length)"
    )
    assert len(labels) >= 8
    assert min(labels) > 20
