"""The report in a real Chromium: nothing breaks, nothing is fetched, everything can be reached and read."""

import json
import shutil
from pathlib import Path

import pytest
from experiments import tiny
from in_a_browser import CONTRAST
from workflow.conftest import Pipeline

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    """A report made by the pipeline, moved away from where it was made."""
    folder = tmp_path_factory.mktemp("report")
    experiment = tiny(
        iterations=30,
        problems=["hills", {"name": "sensors", "parameters": {"log": {"target": "2004-03-03"}}}],
        data="simulate",
        figures=None,
    )
    pipeline = Pipeline(folder)
    pipeline.snakemake("--configfile", pipeline.configuration(experiment))
    moved = tmp_path_factory.mktemp("moved") / "tiny"
    shutil.move(folder / "results/tiny", moved)
    return moved / "report/index.html"


@pytest.fixture
def opened(browser, page):
    browser.set_window_size(1280, 900)
    browser.get(page.as_uri())
    return browser


def test_it_opens_without_a_complaint_and_fetches_nothing(opened, page):
    assert opened.title
    assert [entry for entry in opened.get_log("browser") if entry["level"] == "SEVERE"] == []
    requests = [json.loads(entry["message"])["message"] for entry in opened.get_log("performance")]
    urls = {
        message["params"]["request"]["url"] for message in requests if message["method"] == "Network.requestWillBeSent"
    }
    assert {url for url in urls if url.startswith(("http:", "https:", "ws:", "wss:", "//"))} == set()


def test_every_picture_is_there_and_described(opened):
    pictures = opened.execute_script(
        "return [...document.images].map(i => [i.complete && i.naturalWidth > 0, i.alt.length > 20])"
    )
    assert len(pictures) >= 10
    assert all(shown and described for shown, described in pictures)


def test_every_link_leads_somewhere(opened, page):
    links = opened.execute_script("return [...document.querySelectorAll('a[href]')].map(a => a.getAttribute('href'))")
    for link in links:
        if link.startswith("#"):
            assert opened.execute_script("return document.getElementById(arguments[0]) !== null", link[1:]), link
        elif not link.startswith(("http:", "https:")):
            assert (page.parent / link).is_file(), link


def test_the_contents_lead_to_their_sections(opened):
    from selenium.webdriver.support.ui import WebDriverWait

    links = opened.execute_script("return [...document.querySelectorAll('nav a')].length")
    assert links > 10
    opened.execute_script("[...document.querySelectorAll('nav a')].at(-1).click()")
    in_sight = """const link = [...document.querySelectorAll('nav a')].at(-1);
        const box = document.getElementById(link.getAttribute('href').slice(1)).getBoundingClientRect();
        return box.top < innerHeight && box.bottom > 0"""
    # The page may glide there.
    WebDriverWait(opened, 5).until(lambda browser: browser.execute_script(in_sight))


def test_simulated_data_are_announced_at_the_top(opened):
    top = opened.execute_script(
        "return document.elementFromPoint(innerWidth / 2, 20).closest('body > *').innerText.toLowerCase()"
    )
    assert "simulated data" in top


def test_a_phone_shows_it_without_sideways_scrolling(opened):
    metrics = {"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        width = opened.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    finally:
        opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert width[0] <= width[1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_by_day_and_by_night(opened, scheme):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    assert opened.execute_script(CONTRAST) == []
