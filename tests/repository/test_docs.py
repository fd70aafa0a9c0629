"""What the documentation shows works as it stands; every method, figure and page has its place on the site."""

import os
import re
import subprocess
import sys
from pathlib import PurePosixPath

import chromium
import pytest

from bocu.commands.main import COMMANDS
from bocu.sweep.experiment.configuration import read_experiment_file
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.registry import registered


def blocks(root, page, language):
    return re.findall(rf"```{language}\n(.*?)```", (root / page).read_text(), flags=re.DOTALL)


@pytest.mark.parametrize(("number", "peak"), [(0, 0.6), (1, 0.8)])
def test_the_loops_of_ones_own_run_and_find_the_peak(root, number, peak):
    code = blocks(root, "docs/extending.md", "python")[number]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert abs(float(done.stdout.split()[-1]) - peak) < 0.03


@pytest.mark.ci
def test_the_loops_of_the_page_on_botorch_run_and_say_what_they_are_for(root):
    said = []
    *loops, _, _, _ = blocks(root, "docs/botorch.md", "python")  # the last three: tests/interop/test_adapters_page.py
    for code in loops:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        said += [float(number) for number in re.findall(r"\d\.\d+", done.stdout)]
    believed, distrusted, _, _, *levels = said
    assert abs(believed - 0.7) < 0.05
    assert abs(distrusted - 0.18) < 0.1
    assert levels == [1.0, 0.9, 1.5]


def test_errors_and_intervals_of_results_are_written_by_what_measured_them(root):
    """Between marks, that is, for a number typed by hand stays when results do not; three of a page may be quoted."""
    made = r"<!-- ([^>]*?): begin -->.*?<!-- \1: end -->"
    measured = re.compile(r"± ?[\d.]|\d \[[−-]?[\d.]+, ")
    pages = {page.name: page.read_text() for page in root.glob("docs/*.md")}
    results = {name: text for name, text in pages.items() if re.search("<!-- (numbers of|maps of|learned in) ", text)}
    assert len(results) > 12
    for name, text in results.items():
        typed = measured.findall(re.sub(made, "", text, flags=re.DOTALL))
        assert len(typed) <= 3, f"{name}: {len(typed)} errors and intervals that nothing but a hand has written"


def test_links_lead_to_files_of_the_clone(root):
    """Not to what only building the site makes; the notes of the site are parts of such pages."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
    files = {path for path in map(PurePosixPath, listed.split("\0")[:-1]) if (root / path).exists()}
    there = files.union(*(path.parents for path in files))
    pages = [path for path in files if path.suffix == ".md" and not path.is_relative_to("docs/site/notes")]
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)#\s]+)", (root / page).read_text())]
    broken = [
        f"{page}: {link}"
        for page, link in links
        if not link.startswith("http") and PurePosixPath(os.path.normpath(page.parent / link)) not in there
    ]
    assert len(links) > 200
    assert not broken


def test_commands_that_pages_name_exist(root):
    pages = [path for place in ("*.md", "config/*.md", "docs/**/*.md") for path in root.glob(place)]
    assert len(pages) > 35
    for page in pages:
        for command in re.findall(r"`bocu ([a-z][a-z-]*)|^    bocu ([a-z][a-z-]*)", page.read_text(), re.MULTILINE):
            assert "".join(command) in {*COMMANDS, "where"}, (page, command)  # "where" is the reader's own


OF_OTHER_EXPERIMENTS = {"region", "density-estimates"}


def test_the_gallery_draws_every_kind_of_figure_and_shows_it(root):
    files = [root / "config/config.yaml", root / "docs/gallery.yaml"]
    plans = [make_plan(read_experiment_file(file), [file]) for file in files]
    drawn = {figure.registered.name for plan in plans for figure in plan.figures.values()}
    assert {entry.name for entry in registered("figure")} - OF_OTHER_EXPERIMENTS == drawn
    page = (root / "docs/gallery.md").read_text()
    shown = dict(re.findall(r"\]\(gallery/(\S+)\.(svg|png)\)", page))
    for name in drawn:
        picture = root / f"docs/gallery/{name}.{shown[name]}"
        assert picture.stat().st_size < 600_000, name
    assert {f"{name}.{suffix}" for name, suffix in shown.items()} == {
        file.name for file in (root / "docs/gallery").iterdir()
    }


SECTIONS = ("start", "guides", "results", "reference", "developers/index")


@pytest.mark.parametrize(
    ("kind", "notes"), [("algorithm", "algorithms"), ("objective", "objectives"), ("set", "sets")]
)  # fmt: skip
def test_every_method_has_its_note_and_no_note_is_left_over(root, kind, notes):
    text = (root / f"docs/site/notes/{notes}.md").read_text()
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert sorted(headings) == sorted(entry.name for entry in registered(kind))


def test_every_page_stands_in_one_section(root):
    listed = []
    for section in SECTIONS:
        (tree,) = re.findall(
            r"```\{toctree\}\n:maxdepth: 1\n\n(.*?)```", (root / f"docs/{section}.md").read_text(), re.S
        )
        folder = (root / "docs" / section).parent
        listed += [
            str((folder / page).relative_to(root / "docs")) if page[0] != "/" else page[1:] for page in tree.split()
        ]
    places = ("*.md", "*.ipynb", "developers/*.md")
    pages = {
        str(path.relative_to(root / "docs").with_suffix("")) for place in places for path in (root / "docs").glob(place)
    }
    pages -= {"index", *SECTIONS}
    assert sorted(page for page in listed if not page.startswith("generated/")) == sorted(pages)


def test_the_readme_is_short_and_opens_with_who_wins(root):
    text = (root / "README.md").read_text()
    words = re.sub(r"```.*?```", "", text, flags=re.DOTALL).split()
    assert len(words) < 600
    assert text.index("docs/published/who-wins.svg") < text.index("make report") < text.index("docs/report.png")
    assert all((root / name).is_file() for name in re.findall(r'(?:src|srcset)="([^"]+)"', text))


def test_what_irrigation_earns_is_what_its_picture_shows(root):
    told = subprocess.run(
        [sys.executable, "-c", "import make_irrigation_picture; print(make_irrigation_picture.earned().sentence)"],
        cwd=root / "docs", capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    assert told in " ".join((root / "docs/irrigation.md").read_text().split())
    readme = " ".join((root / "README.md").read_text().split())
    first, *others = re.findall(r"([−+]\d+) (\([^)]*\))", told)
    assert f"{' '.join(first)} pounds a hectare in the climate observed" in readme
    assert "{}, {} and {} in those modelled for 1995, 2040 and 2080 on".format(*map(" ".join, others)) in readme


@pytest.fixture(scope="module")
def site(root, tmp_path_factory):
    pytest.importorskip("sphinx")
    target = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "docs", str(target)],
        cwd=root, capture_output=True, text=True,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    return target


@pytest.mark.drill
def test_the_site_is_built_without_a_warning_and_asks_no_network(site):
    for page in site.rglob("*.html"):
        for address in re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="([^"]+)"', page.read_text()):
            assert not address.startswith(("http:", "https:", "//")), (page, address)


@pytest.mark.drill
def test_the_site_answers_newcomers_and_shows_pictures_in_the_dark(site, tmp_path):
    browser = chromium.start(tmp_path)
    if browser is None:
        pytest.skip("no browser: chromium and chromedriver are not installed")
    try:
        search = chromium.Opened(browser, site / "search.html")
        for question in ("how many seeds", "which method", "add my results", "no context observed"):
            search.look(state=f"?q={question}")
            first = search.until("document.querySelector('#search-results li a')?.getAttribute('href')")
            assert first.startswith("guides.html"), (question, first)
        home = chromium.Opened(browser, site / "index.html").look(scheme="dark")
        ground, light = home("(({backgroundColor, filter}) => [backgroundColor, filter])"
                             "(getComputedStyle(document.querySelector('main img')))")  # fmt: skip
        assert (ground, light) == ("rgba(0, 0, 0, 0)", "none")  # their ink is for a dark page
    finally:
        browser.quit()
