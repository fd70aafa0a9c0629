"""The report in a real Chromium: nothing breaks, nothing is fetched, everything can be reached and read."""

import json
import shutil
from pathlib import Path

import pytest
from experiments import tiny
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


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("no browser: chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        "headless",
        "no-sandbox",
        "disable-gpu",
        "disable-quic",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        f"user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(driver))
    yield browser
    browser.quit()


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


CONTRAST = """
const channel = v => v / 255 <= .03928 ? v / 255 / 12.92 : ((v / 255 + .055) / 1.055) ** 2.4;
const luminance = ([r, g, b]) => .2126 * channel(r) + .7152 * channel(g) + .0722 * channel(b);
const parse = text => (text.match(/[\\d.]+/g) || []).map(Number);
const background = element => {
  for (let e = element; e; e = e.parentElement) {
    const colour = parse(getComputedStyle(e).backgroundColor);
    if (colour.length === 3 || colour[3] > .99) return colour.slice(0, 3);
  }
  return [255, 255, 255];
};
const worst = [];
const texts = 'p, li, td, th, h1, h2, h3, h4, a, figcaption, summary, dt, dd';
for (const element of document.querySelectorAll(texts)) {
  if (!element.innerText || !element.offsetParent) continue;
  const pair = [luminance(parse(getComputedStyle(element).color).slice(0, 3)), luminance(background(element))];
  const ratio = (Math.max(...pair) + .05) / (Math.min(...pair) + .05);
  if (ratio < 4.5) worst.push([ratio, element.tagName, element.innerText.slice(0, 40)]);
}
return worst
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_by_day_and_by_night(opened, scheme):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    assert opened.execute_script(CONTRAST) == []
