"""The report in a real Chromium: nothing breaks, nothing is fetched, everything can be reached, read and used."""

import csv
import io
import json
import re
import shutil
import time
from dataclasses import replace
from pathlib import Path

import chromium
import numpy as np
import pytest
import synthetic_pages

from bocu.core.written import probability
from bocu.pages.figures.base import save
from bocu.pages.figures.regret import Regret, RegretParameters
from bocu.pages.figures.results import Digest, final_totals
from bocu.pages.report import tables
from bocu.pages.report.build import build_page
from bocu.sweep.evaluation.claims.model import Claim
from bocu.sweep.evaluation.claims.records import write_verdicts
from bocu.sweep.evaluation.standings import Standings

pytestmark = pytest.mark.browser

HOSTILE = "</script><script>window.struck = 1</script><img src=x onerror='window.struck = 1'>"
SIMULATED = "SIMULATED stand-in, not measured data"
PROBLEMS = {
    "wells": {"title": HOSTILE},
    "dunes": {"data_label": SIMULATED, "missing": [("mle", seed) for seed in range(6)]},
}
CLAIMS = [
    {"id": "all", "statement": "All decide.", "check": None},
    {
        "id": "wells",
        "statement": "Wells.",
        "problem": "wells",
        "check": "final(mle) < final(random)",
        "figure": "regret",
    },
    {"id": "dunes", "statement": "Dunes.", "metric": "ro", "check": "all(final(ts-bocu) < 9 for problem in [dunes])"},
]
WIDTHS = (390, 820, 1280)
SEEDS = 24


@pytest.fixture(scope="module")
def part(tmp_path_factory):
    """Made-up digests of two problems, one of them with holes, and the files that their page links."""
    folder = tmp_path_factory.mktemp("page")
    made = synthetic_pages.part(folder, PROBLEMS, seeds=SEEDS, rounds=60, title=f"Dunes & {HOSTILE}")
    made.experiment["problems"].append({"label": "never-run"})
    results = folder / "results/made-up"
    for label in PROBLEMS:
        for algorithm in synthetic_pages.ALGORITHMS:
            (results / f"runs/{label}/any/{algorithm}").mkdir(parents=True)
            for first in range(0, SEEDS, 5):
                (results / f"runs/{label}/any/{algorithm}/seeds-{first}-{min(first + 4, SEEDS - 1)}.nc").touch()
    figure = results / "figures/wells/regret"
    files = [figure.with_suffix(suffix) for suffix in (".png", ".svg", ".json")]
    save(Regret(RegretParameters()).draw({"digest": made.digests[0]}), *files)
    everything = results / "figures/all/summary.json"
    everything.parent.mkdir()
    words = {**json.loads(files[2].read_text()), "problem": "", "title": "Figure 2 of the paper"}
    files_of_it = {kind: f"../wells/regret.{kind}" for kind in ("png", "svg", "pdf", "csv")}
    everything.write_text(json.dumps({**words, **files_of_it}))
    verdicts = results / "claims.json"
    stated = [Claim(experiment="made-up", **claim).model_dump(mode="json") for claim in CLAIMS]
    write_verdicts([{"file": "claims.yaml", **claim} for claim in stated], "made-up", [], verdicts)
    return replace(made, figures=[files[2], everything], claims=[verdicts])


@pytest.fixture(scope="module")
def page(part, tmp_path_factory) -> Path:
    """Their page, moved away from where it was made."""
    results = Path(part.summary).parents[1]
    build_page([part], results / "report/index.html")
    moved = tmp_path_factory.mktemp("moved") / "made-up"
    shutil.copytree(results, moved)
    return moved / "report/index.html"


@pytest.fixture(scope="module")
def seen(browser, page):
    yield chromium.Opened(browser, page)
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.fixture
def downloads(browser, tmp_path):
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    return tmp_path


@pytest.fixture
def opened(seen):
    return seen.look()


# What holds for any page


def test_it_opens_without_a_complaint_and_fetches_nothing(opened):
    assert opened.browser.title
    assert [entry for entry in opened.browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    requests = [json.loads(entry["message"])["message"] for entry in opened.browser.get_log("performance")]
    urls = {
        message["params"]["request"]["url"] for message in requests if message["method"] == "Network.requestWillBeSent"
    }
    assert {url for url in urls if url.startswith(("http:", "https:", "ws:", "wss:", "//"))} == set()


def test_a_hostile_title_stays_text(opened):
    assert opened("window.struck") is None
    assert HOSTILE in opened("document.title")
    assert HOSTILE in opened("document.querySelector('h1').textContent")
    assert HOSTILE in opened("document.getElementById('problem-wells').textContent")


def test_every_picture_is_there_and_described(opened):
    pictures = opened("[...document.images].map((i) => [i.complete && i.naturalWidth > 0, i.alt.length > 20])")
    assert len(pictures) == 2
    assert all(shown and described for shown, described in pictures)


def test_every_link_leads_somewhere(opened, page):
    links = opened("[...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href'))")
    assert len(links) > 60
    for link in set(links):
        if link.startswith("#"):
            assert opened("document.getElementById(arguments[0]) !== null", link[1:]), link
        elif not link.startswith(("http:", "https:")):
            assert (page.parent / link).exists(), link


def test_simulated_data_are_announced_at_the_top(opened):
    top = opened("document.elementFromPoint(innerWidth / 2, 20).closest('body > *').innerText.toLowerCase()")
    assert "simulated data" in top


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_everyone_can_read_and_reach_it(seen, width, scheme):
    seen.look(width, scheme, state="#?panel=wells-any-so&seeds=1&against=mle").drawn()
    assert seen.axe() == []
    assert seen("[document.documentElement.scrollWidth <= innerWidth]") == [True]
    # Text of pictures is as large as eleven dots at least; they move sideways where that takes more room.
    sizes = seen("[...document.images].map((each) => each.clientWidth / each.getAttribute('width'))")
    assert min(sizes) == pytest.approx(1.0 if width > 800 else 0.8, abs=0.02)
    cut = seen(
        """[...document.querySelectorAll('.caption, figcaption, .answers dd')].filter((each) => each.offsetParent)
        .filter((each) => each.getBoundingClientRect().right > innerWidth || each.scrollWidth > each.clientWidth + 1)
        .map((each) => each.textContent.slice(0, 40))"""
    )
    assert cut == []


@pytest.mark.parametrize("width", WIDTHS)
def test_five_questions_are_answered_within_the_first_screen(seen, width):
    seen.look(width)
    ends = seen("[...document.querySelectorAll('.answers dd')].map((each) => each.getBoundingClientRect().bottom)")
    assert len(ends) == 5
    assert max(ends) <= 900


@pytest.mark.parametrize("width", [1200, 1280])
def test_tables_of_a_comparison_are_seen_whole_on_a_desk(seen, width):
    seen.look(width=width)
    beyond = seen(
        """[...document.querySelectorAll("main [data-problem] .scroll")].filter((part) => part.clientWidth)
        .map((part) => part.scrollWidth - part.clientWidth)"""
    )
    assert beyond
    assert not any(beyond)


def test_without_a_script_it_still_reads(seen):
    try:
        seen.look(script=False)
        found = seen.browser.find_elements("css selector", "table, #explore-section, nav a")
        shown = {element.tag_name: element.is_displayed() for element in found}
        assert shown == {"a": True, "table": True, "section": False}
        assert seen.browser.find_elements("css selector", "button") == []
    finally:
        seen.look()


# Filters, linked


def shown(opened):
    return opened("[...document.querySelectorAll('.panel')].filter((p) => !p.hidden).map((p) => p.id)")


@pytest.mark.parametrize("width", WIDTHS)
def test_filters_act_on_figures_and_tables_alike_and_stand_in_the_address(seen, width):
    seen.look(width)
    assert len(shown(seen)) == 4
    seen.choose("problem", "dunes")
    seen.choose("metric", "ro")
    assert shown(seen) == ["panel-dunes-any-ro"]
    assert seen.state() == {"problem": "dunes", "metric": "ro"}
    hidden = seen("['problem-wells', 'problem-dunes'].map((id) => document.getElementById(id).parentNode.hidden)")
    assert hidden == [True, False]
    visible = seen("[...document.querySelectorAll('table[data-panel]')].filter((t) => t.offsetParent).map((t) => t.id)")
    assert visible == ["problem-dunes-regret-any-ro"]
    assert "1 of 4 comparisons, 6 of 6 algorithms that ran shown" in seen("document.querySelector('.told').textContent")
    seen.choose("family", "time varying")
    assert set(seen.rows("dunes", "ro")) == {"mle", "oracle"}
    # The address brings it back.
    seen.look(width, state=seen("location.hash"))
    assert shown(seen) == ["panel-dunes-any-ro"]
    assert set(seen.rows("dunes", "ro")) == {"mle", "oracle"}
    assert seen("document.getElementById('choose-family').value") == "time varying"


def claims(opened):
    """The claims that are shown, all of runs that are not here, and so in a folded list."""
    lines = "[...document.querySelectorAll('[aria-labelledby=claims] ul.claims li')].filter((line) => !line.hidden)"
    return opened(f"{lines}.map((line) => line.textContent.match(/(All decide|Wells|Dunes)[.]/)[0])")


def test_claims_follow_the_filters(opened):
    beside = "[...document.querySelectorAll('[data-problem] ul.claims li')].map((claim) => claim.hidden)"
    assert claims(opened) == ["All decide.", "Wells.", "Dunes."]
    assert opened(beside) == [False]
    opened.choose("problem", "dunes")
    assert claims(opened) == ["All decide.", "Dunes."]
    assert opened(beside) == [True]
    opened.choose("metric", "so")
    assert claims(opened) == ["All decide."]
    opened.choose("problem", "")
    opened.choose("metric", "")
    opened.choose("family", "time varying")  # of which random and mle are none and one
    assert claims(opened) == ["All decide.", "Wells."]


def test_titles_are_read_and_labels_are_in_reach(opened):
    choices = "[...document.querySelectorAll('#choose-metric option')].map((o) => [o.value, o.textContent, o.title])"
    assert opened(choices) == [["", "all", ""], ["so", "Expected payoff", "so"], ["ro", "Worst case", "ro"]]
    name = opened("document.querySelector('#panel-dunes-any-ro strong')")
    assert (name.text, name.get_attribute("title")) == ("Wells, Worst case", "dunes, ro")
    captions = opened("[...document.querySelectorAll('.block > .caption[id*=-regret-]')].map((c) => c.textContent)")
    assert all("scored by Expected payoff" in text or "scored by Worst case" in text for text in captions)


def test_algorithms_are_toggled_in_curves_and_rows(opened):
    opened.drawn()
    curves = "[...document.querySelectorAll('#panel-wells-any-so path.curve')].map((p) => p.dataset.algorithm)"
    assert len(opened(curves)) == 6
    opened.browser.execute_script("document.querySelectorAll('.keys button')[1].click()")
    assert "ucb-so" not in opened(curves)
    assert len(opened(curves)) == 5
    assert "ucb-so" not in opened.rows()
    assert opened("document.querySelectorAll('.keys button')[1].getAttribute('aria-pressed')") == "false"
    assert opened.state() == {"off": "ucb-so"}
    opened.browser.execute_script(
        "[...document.querySelectorAll('button')].find((b) => b.textContent === 'Reset').click()"
    )
    assert len(opened(curves)) == 6
    assert opened("location.hash") == ""


def test_a_link_of_the_contents_keeps_what_was_chosen(opened):
    opened.choose("metric", "so")
    opened.browser.execute_script("document.querySelector(\"nav a[href='#glossary']\").click()")
    opened.until("location.hash.includes('at=glossary')")
    assert opened.state() == {"metric": "so", "at": "glossary"}
    assert opened("document.getElementById('choose-metric').value") == "so"


@pytest.mark.parametrize("width", WIDTHS)
def test_every_link_of_the_contents_lands_and_is_marked(seen, width):
    seen.look(width)
    places = seen("[...document.querySelectorAll('nav a')].map((a) => a.hash.slice(1))")
    assert len(places) > 15
    for place in places:
        seen.browser.execute_script("document.querySelector(`nav a[href='#${arguments[0]}']`).click()", place)
        seen.until(
            """(() => { const at = document.getElementById(arguments[0]).getBoundingClientRect().top;
            const left = document.documentElement.scrollHeight - innerHeight - scrollY;
            return Math.abs(at - 16) < 40 || (left < 2 && at > 0 && at < innerHeight); })()""",
            place,
        )
    seen.browser.execute_script("document.getElementById('problem-dunes-data').scrollIntoView()")
    seen.until("document.querySelector('nav a[aria-current]')?.hash.startsWith('#problem-dunes')")


@pytest.mark.parametrize("width", WIDTHS)
def test_what_is_tapped_is_large_enough(seen, width):
    seen.look(width)
    small = seen(
        """[...document.querySelectorAll("button, select, summary, nav a, input")]
        .filter((each) => each.checkVisibility())
        .map((each) => [each.closest("label") ?? each, each.textContent])
        .filter(([each]) => each.getBoundingClientRect().height < 23.9 || each.getBoundingClientRect().width < 23.9)
        .map(([each, text]) => `${each.tagName} ${text}`)"""
    )
    assert small == []


def test_the_command_that_makes_it_again_is_copied(opened):
    grant = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    opened.browser.execute_cdp_cmd("Browser.grantPermissions", grant)
    button = "document.querySelector('.answers code + button')"
    opened.browser.execute_script(f"{button}.click()")
    opened.until(f"{button}.textContent === 'copied'")


def test_a_picture_that_is_cut_says_so(seen):
    said = "[...document.querySelectorAll('.picture')].map((each) => each.classList.contains('cut'))"
    assert any(seen.look(390)(said))
    assert not any(seen.look(1280)(said))


# Curves


def test_axes_bands_kinds_and_seeds_at_will(opened):
    opened.drawn()
    count = "document.querySelectorAll('#panel-wells-any-so path.{}').length"
    path = "document.querySelector('#panel-wells-any-so path.{}').getAttribute('d')"
    assert opened(count.format("band")) == 6
    before = {kind: opened(path.format(kind)) for kind in ("band", "curve")}
    opened.choose("band", "interval")
    assert opened(path.format("band")) != before["band"]
    opened.choose("band", "none")
    assert opened(count.format("band")) == 0
    ticks = "[...document.querySelectorAll('#panel-wells-any-so text.end')].map((t) => t.textContent)"
    opened.choose("logy", None)
    assert opened(path.format("curve")) != before["curve"]
    assert set(opened(ticks)) <= {"0.1", "0.2", "0.5", "1", "2", "5", "10", "20", "50", "100"}
    opened.choose("logx", None)
    opened.choose("kind", "average")
    label = "[...document.querySelectorAll('#panel-wells-any-so text.label')].map((t) => t.textContent)"
    assert opened(label) == ["Round", "Average regret [m]"]
    assert opened(count.format("trace")) == 0
    opened.browser.execute_script("document.querySelector('#panel-wells-any-so .tools button').click()")
    opened.choose("seeds", None)
    assert opened(count.format("trace")) == 6 * 20
    assert opened("document.querySelector('#panel-wells-any-so').classList.contains('chosen')")
    assert opened.state() == {
        "kind": "average", "band": "none", "logx": "1", "logy": "1", "seeds": "1", "panel": "wells-any-so",
    }  # fmt: skip


def test_every_kind_of_curve_is_drawn_in_the_width_there_is(seen):
    seen.look().drawn()
    label = "[...document.querySelectorAll('#panel-wells-any-so text.label')].at(-1).textContent"
    path = "document.querySelector('#panel-wells-any-so path.curve').getAttribute('d')"
    kinds = seen("[...document.getElementById('choose-kind').options].map((option) => option.value)")
    assert {"cumulative", "average", "instantaneous", "simple"} <= set(kinds)
    drawings = {}
    for kind in kinds:
        seen.choose("kind", kind)
        drawings[seen(label)] = seen(path)
    assert len(drawings) == len(set(drawings.values())) == len(kinds)
    wide = "Number(document.querySelector('#panel-wells-any-so svg.plot').getAttribute('width'))"
    before = seen(wide)
    size = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": True}
    seen.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    seen.drawn().until(f"{wide} !== {before}")
    assert seen(wide) == seen("document.querySelector('#panel-wells-any-so .read').clientWidth")


def test_an_address_changed_by_hand_is_followed(opened):
    opened.browser.execute_script("location.hash = '#?problem=dunes&objective=any&metric=so&off=mle'")
    opened.until("document.querySelector('.told').textContent.startsWith('1 of 4 comparisons, 5 of 6')")
    assert opened("document.getElementById('choose-problem').value") == "dunes"
    opened.browser.execute_script("location.hash = '#?objective=other'")
    opened.until("document.querySelector('.told').textContent.startsWith('0 of 4')")


def test_on_a_phone_contents_and_choices_are_folded(seen):
    folded = "['#contents-list', '.bar'].map((each) => document.querySelector(each).open)"
    assert seen.look(width=390)(folded) == [False, False]
    seen.browser.execute_script("document.querySelector('.bar summary').focus()")
    seen.press("ENTER")
    assert seen(folded) == [False, True]
    assert seen.look(width=1280)(folded) == [True, True]


def reading(opened):
    return opened("document.querySelector('#panel-wells-any-so .read').getAttribute('aria-valuetext')")


def test_values_are_read_off_by_pointer_and_are_those_of_the_digest(opened, part):
    from selenium.webdriver.common.action_chains import ActionChains

    opened.drawn()
    plot = opened.browser.find_element("css selector", "#panel-wells-any-so .read")
    ActionChains(opened.browser, duration=0).move_to_element(plot).perform()
    opened.until("!document.querySelector('#panel-wells-any-so .reading').hidden")
    round_, said = re.fullmatch(r"Round (\d+): (.*) m", reading(opened)).groups()
    results = Digest(part.digests[0])
    expected = {}
    for branch in results.branches():
        curve = results.curve(branch, "so", "cumulative")
        place = curve.rounds.tolist().index(int(round_))
        expected[results.titles[branch.algorithm]] = tables.plus_minus(
            *(float(np.float32(values[place])) for values in (curve.mean, curve.error))
        )
    assert said == "; ".join(
        f"{title} {text}" for title, text in sorted(expected.items(), key=lambda e: float(e[1].split()[0]))
    )


def test_dragging_zooms_and_a_double_click_shows_all_again(opened):
    from selenium.webdriver.common.action_chains import ActionChains

    opened.drawn()
    plotted = "document.querySelector('#panel-wells-any-so .read')"
    ends = f"['aria-valuemin', 'aria-valuemax'].map((end) => Number({plotted}.getAttribute(end)))"
    assert opened(ends) == [1, 60]
    plot = opened.browser.find_element("css selector", "#panel-wells-any-so .read")
    drag = ActionChains(opened.browser, duration=0).move_to_element_with_offset(plot, -60, 0).click_and_hold()
    drag.move_by_offset(100, 0).release().perform()
    low, high = opened(ends)
    assert 1 < low < high < 60
    ActionChains(opened.browser, duration=0).double_click(plot).perform()
    assert opened(ends) == [1, 60]


def test_the_zoom_of_the_enlarged_panel_stands_in_the_address(seen):
    seen.look(state="#?panel=wells-any-so&zoom=20-40").drawn()
    assert seen("document.querySelector('.chosen .read').getAttribute('aria-valuemin')") == "20"
    seen.browser.execute_script("document.querySelectorAll('.chosen .tools button')[2].click()")
    assert seen.state()["zoom"] == "10-50"


def test_the_keyboard_alone_does_it_all(opened):
    opened.drawn()
    opened.browser.execute_script("document.querySelector('#panel-wells-any-so .read').focus()")
    opened.press("HOME", "ARROW_RIGHT", "ARROW_RIGHT")
    assert reading(opened).startswith("Round 3: ")
    opened.press("END", "+", "+")
    assert opened("Number(document.querySelector('#panel-wells-any-so .read').getAttribute('aria-valuemin'))") > 30
    opened.press("0", "HOME")
    assert reading(opened).startswith("Round 1: ")
    opened.press("PAGE_UP")
    assert reading(opened).startswith("Round 7: ")
    opened.press("PAGE_DOWN", "+", "-")
    assert reading(opened).startswith("Round 1: ")
    opened.press("ESCAPE")
    assert opened("document.querySelector('#panel-wells-any-so .reading').hidden")
    # Every control is reached by the tabulator in order, and acts on the space or enter key.
    opened.browser.execute_script("document.querySelector('.bar summary').focus()")
    reached = []
    for _ in range(16):
        opened.press("TAB")
        reached.append(opened("document.activeElement.id || document.activeElement.textContent.trim()"))
    assert reached[:9] == [
        f"choose-{name}"
        for name in ("problem", "objective", "metric", "family", "against", "kind", "band", "logx", "logy")
    ]
    assert reached[9:12] == ["choose-seeds", "Reset", "Random"]
    assert all(
        opened("[...document.querySelectorAll('button, select, input, a[href], summary')].map((e) => e.tabIndex >= 0)")
    )
    outline = opened("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    opened.browser.execute_script("document.querySelector('#problem-wells-regret-any-so tbody button').focus()")
    opened.press("ENTER")
    assert opened("document.querySelector('dialog').open")
    opened.press("ESCAPE")
    assert not opened("document.querySelector('dialog').open")
    assert opened("document.activeElement.closest('table').id") == "problem-wells-regret-any-so"
    opened.browser.execute_script("document.querySelectorAll('#panel-wells-any-so .tools button')[1].focus()")
    before = opened("document.querySelector('#panel-wells-any-so path.curve').getAttribute('d')")
    opened.press("ENTER")
    assert opened("document.querySelector('#panel-wells-any-so path.curve').getAttribute('d')") != before


def test_reduced_motion_is_respected(seen):
    behaviour = "getComputedStyle(document.documentElement).scrollBehavior"
    assert seen.look(motion="reduce")(behaviour) == "auto"
    moving = "[...document.querySelectorAll('*')].filter((e) => parseFloat(getComputedStyle(e).transitionDuration) > 0)"
    assert seen(moving) == []


# Tables


def test_tables_are_sorted_by_any_column(opened):
    regret = "document.querySelector('#problem-wells-regret-any-so thead th:nth-child(2) button').click()"
    opened.browser.execute_script(regret)
    upwards = [float(cells[1].split()[0]) for cells in opened.rows().values()]
    assert upwards == sorted(upwards)
    opened.browser.execute_script(regret)
    assert [float(cells[1].split()[0]) for cells in opened.rows().values()] == upwards[::-1]
    assert (
        opened("document.querySelector('#problem-wells-regret-any-so [aria-sort]').getAttribute('aria-sort')")
        == "descending"
    )
    opened.browser.execute_script("document.querySelector('#problem-wells-regret-any-so thead button').click()")
    names = [cells[0] for cells in opened.rows().values()]
    assert names == sorted(names, key=str.lower)


def test_against_any_algorithm_the_page_says_what_the_library_says(opened, part):
    built = opened.rows("dunes", "ro")
    results = Digest(part.digests[1])
    totals = final_totals(results, results.branches(), "ro")
    for reference in totals:
        opened.choose("against", reference)
        expected = {}
        for label, gap in Standings(totals).against(reference).items():
            less = f"{gap.usually} (less in {round(gap.less.value * gap.less.count)} of {gap.less.count})"
            difference = tables.interval(gap.difference)
            expected[label] = [difference, probability(gap.p_value), gap.on_average, less]
        expected[reference] = ["reference", "–", "–", "–"]
        assert {label: cells[2:6] for label, cells in opened.rows("dunes", "ro").items()} == expected
        heading = opened("document.querySelector('#problem-dunes-regret-any-ro [data-column=difference]').textContent")
        assert heading == f"More than {results.titles[reference]}"
    opened.choose("against", "")
    assert opened.rows("dunes", "ro") == built


def test_a_number_leads_to_its_run_files_and_commands(opened, page):
    cell = opened.browser.find_element("css selector", "#problem-dunes-regret-any-so tr[data-algorithm=mle] td")
    opened.browser.execute_script("arguments[0].click()", cell)
    dialog = opened("document.querySelector('dialog').innerText")
    assert "18 finished seeds" in dialog
    assert "bocu run --experiment made-up --problem dunes --objective any --algorithm mle --seed 6" in dialog
    assert "bocu verify " in dialog
    links = opened("[...document.querySelectorAll('dialog a')].map((a) => a.getAttribute('href'))")
    assert "../runs/dunes/any/mle/seeds-5-9.nc" in links
    assert all((page.parent / link).exists() for link in links)
    grant = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    opened.browser.execute_cdp_cmd("Browser.grantPermissions", grant)
    button = "document.querySelector('dialog .command button')"
    opened.browser.execute_script(f"{button}.click()")
    opened.until(f"{button}.textContent === 'copied'")
    close = "[...document.querySelectorAll('dialog button')].find((each) => each.textContent === 'Close').click()"
    opened.browser.execute_script(close)
    assert not opened("document.querySelector('dialog').open")


def downloaded(downloads, name):
    """Wait for a file that the browser saves."""
    for _ in range(200):
        if (downloads / name).is_file():
            return (downloads / name).read_text(encoding="utf-8")
        time.sleep(0.05)
    raise AssertionError(f"{name} was not saved; there are {[file.name for file in downloads.iterdir()]}")


def test_tables_curves_and_drawings_are_saved_from_within(opened, downloads):
    from xml.etree import ElementTree

    opened.drawn()
    opened.browser.execute_script("document.querySelector('#problem-wells-regret-any-so-caption + button').click()")
    rows = list(csv.reader(io.StringIO(downloaded(downloads, "problem-wells-regret-any-so.csv"))))
    assert rows[0][:2] == ["Algorithm", "Final regret [m]"]
    assert rows[1:] == list(opened.rows().values())
    tool = """[...document.querySelectorAll('#panel-wells-any-so .tools button')]
        .find((button) => button.textContent === arguments[0]).click()"""
    opened.browser.execute_script(tool, "SVG")
    drawing = ElementTree.fromstring(downloaded(downloads, "wells-any-so-cumulative.svg"))
    assert drawing.find("{http://www.w3.org/2000/svg}title").text == f"{HOSTILE}, Expected payoff"
    assert len(drawing.findall(".//{http://www.w3.org/2000/svg}path")) == 12
    opened.browser.execute_script(tool, "CSV")
    rows = list(csv.DictReader(io.StringIO(downloaded(downloads, "wells-any-so-cumulative.csv"))))
    assert len(rows) == 6 * 60
    assert {row["seeds"] for row in rows} == {str(SEEDS)}


def test_what_is_saved_of_simulated_data_says_so(opened, downloads):
    opened.drawn()
    for problem, said in (("wells", False), ("dunes", True)):
        panel = f"#panel-{problem}-any-so"
        assert opened(f"document.querySelector('{panel} figcaption').innerText.includes('simulated')") == said
        for tool in ("SVG", "CSV"):
            opened.browser.execute_script(
                f"""document.querySelector('{panel}').scrollIntoView();
                [...document.querySelectorAll('{panel} .tools button')]
                .find((button) => button.textContent === '{tool}').click()"""
            )
            saved = downloaded(downloads, f"{problem}-any-so-cumulative.{tool.lower()}")
            assert ("simulated" in saved) == said, (problem, tool)
        caption = f"problem-{problem}-regret-any-so"
        opened.browser.execute_script(f"document.querySelector('#{caption}-caption + button').click()")
        assert ("simulated" in downloaded(downloads, f"{caption}.csv")) == said
