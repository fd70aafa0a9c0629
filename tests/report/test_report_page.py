"""The page: whole, closed to the network, honest about holes and simulated data."""

import re

import pytest
import synthetic_cubes
from synthetic_cubes import SIMULATED

from bocu.core.errors import BocuError
from bocu.pages.report.build import Part, build_page


def test_the_page_is_well_formed_and_its_ids_are_unique(site):
    page = site.page
    assert page.faults == []
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_every_link_of_the_contents_leads_somewhere(site):
    page = site.page
    ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    inner = [link["href"][1:] for link in page.all("a") if link["href"].startswith("#")]
    assert len(inner) >= 15
    assert set(inner) <= ids
    headings = re.findall(r'<h2 id="([^"]+)"', page.source)
    assert set(headings) - {"contents"} <= set(inner)


def test_pictures_are_embedded_described_and_linked_beside(site):
    page = site.page
    pictures = page.all("img")
    assert len(pictures) == 4
    for picture in pictures:
        assert picture["src"].startswith("data:image/svg+xml;base64,")
        assert len(picture["alt"]) > 60
        assert int(picture["width"]) > int(picture["height"]) > 0
    linked = [link["href"] for link in page.all("a") if link["href"].startswith("../figures/")]
    assert len(linked) == 16  # PNG, SVG, PDF and table of each
    for link in linked:
        assert (site.output.parent / link).is_file()


def test_nothing_is_fetched_from_anywhere(site):
    page = site.page
    assert all("src" not in script for script in page.all("script"))
    assert not page.all("link")
    assert not re.search(r"url\((?!#)|@import", page.source)
    assert all(not attributes.get("src", "data:").startswith(("http", "/")) for _, attributes in page.tags)
    policy = next(each for each in page.all("meta") if each.get("http-equiv") == "Content-Security-Policy")
    assert policy["content"].startswith("default-src 'none'")
    assert "script-src 'sha256-" in policy["content"]  # no other script than ours runs


def test_what_was_run_stands_on_top(site):
    words = site.page.words
    assert "Wells <and> more" in words
    assert re.search(r"\d algorithms on 2 problems: 5 paired seeds, 12 rounds each\.", words), words[:900]
    assert "wells, simulated-wells" in words
    assert "46 done, 4 missing" in words
    assert "5 (0-4)" in words
    assert re.search(r"\bRounds\s+12\b", words)
    assert words.index("46 done") < words.index("No data set")


def test_holes_are_named(site):
    words = site.page.words
    assert "simulated-wells : MLE – no run : seed s 1-2, 4".replace(" ", "") in words.replace(" ", "")
    assert "simulated-wells:Random–norun:seed0" in words.replace(" ", "")


def test_finished_runs_that_a_metric_cannot_metric_are_holes_too(make_site):
    data = synthetic_cubes.cube()
    data["regret"].loc[{"metric": "ro", "algorithm": "oracle", "seed": 3, "iteration": 5}] = float("nan")
    page = make_site([data]).page
    assert "Oracle(bestpriorknown)–noregretinsomeroundunderro:seed3" in page.words.replace(" ", "")


def test_runs_that_rejected_all_priors_are_named(make_site):
    data = synthetic_cubes.cube()
    data["all_rejected"].loc[{"algorithm": "pe-gp-ucb", "seed": 3, "iteration": 9}] = 1
    words = make_site([data]).page.words
    assert "All candidate priors were rejected" in words
    assert "PE-GP-UCB, seed 3, first in round 9" in words


def test_simulated_data_are_announced_on_the_page_and_at_each_place(site, make_site):
    page = site.page
    assert "Simulated data in" in page.words[:400]
    assert "Simulated data in simulated-wells" in page.words
    assert SIMULATED in page.words
    assert (
        sum("badge" in attributes.get("class", "") for _, attributes in page.tags) == 3
    )  # the problem, its two figures
    assert "imulated" not in make_site([synthetic_cubes.cube()], experiment={"name": "real"}).page.words


def test_data_sets_come_with_licence_citation_and_what_was_dropped(site):
    words = site.page.words
    for stated in (
        "CC BY 4.0",
        "Driller, D. (1999). Wells.",
        "Depths <in> metres.",
        "dropped: short line",
        "ab" * 32,
        "600.0",
    ):
        assert stated in words
    assert "No data set: the problem is given by formulas" in words
    assert any(link["href"] == "https://example.org/wells" for link in site.page.all("a"))


def test_one_machine_is_one_machine_and_two_are_flagged(site, make_site):
    assert "mixed" not in site.page.words
    other = synthetic_cubes.cube("others")
    other.attrs["cpu"] = '["Another CPU"]'
    other.attrs["numeric_threads"] = 2
    page = make_site([synthetic_cubes.cube(), other]).page
    assert "runs of this report differ in CPU, Numeric threads" in page.words
    rows = {row[0]: row[1] for row in page.tables["provenance-table"]}
    assert rows["CPU"] == "A CPU (wells); Another CPU (others) mixed"
    assert rows["numpy"] == "2.0"


def test_packages_that_differ_within_one_problem_are_flagged(make_site):
    data = synthetic_cubes.cube()
    data.attrs["package_versions"] = '["{\\"numpy\\": \\"2.0\\"}", "{\\"numpy\\": \\"2.1\\", \\"scipy\\": \\"1.0\\"}"]'
    rows = {row[0]: row[1] for row in make_site([data]).page.tables["provenance-table"]}
    assert rows["numpy"] == "2.0 (wells); 2.1 (wells) mixed"
    assert rows["scipy"] == "not installed (wells); 1.0 (wells) mixed"


def test_the_same_results_give_the_same_page(site):
    assert site.rebuild().source == site.rebuild().source


def test_faults_of_the_user_are_one_line(site, tmp_path):
    page = tmp_path / "index.html"

    def build(figures, digests=site.digests, **reference):
        build_page([Part({"name": "x"}, digests, site.summary, figures)], page, **reference)

    with pytest.raises(BocuError, match="no algorithm 'mlee'; did you mean 'mle'"):
        build(site.figures, reference="mlee")
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    with pytest.raises(BocuError, match=r"broken\.json: not the description of a figure"):
        build([broken])
    with pytest.raises(BocuError, match=r"gone\.json: no such file"):
        build([tmp_path / "gone.json"])
    with pytest.raises(BocuError, match=r"gone\.nc: no such file"):
        build(site.figures, [tmp_path / "gone.nc"])
    assert not page.exists()
