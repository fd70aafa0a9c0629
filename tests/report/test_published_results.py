"""What is published beside the docs: small, whole, and what their pages were made from."""

import re
from collections import Counter

import pytest

from bocu.evaluation.claims import read_claims, verdicts
from bocu.evaluation.claims.records import record
from bocu.evaluation.claims.reduced import read_reduced
from bocu.report.claims_page import BEGIN, END, StandingCubes, section

EACH, ALL = 300_000, 4_000_000
"""Bytes."""
PAPERS = ("tay2024", "kirschner2020", "huang2024", "drmobo", "ziomek2025")


def published(root):
    return sorted((root / "docs/results").glob("*.nc"))


@pytest.fixture(scope="module")
def judged(root):
    """The records of each paper's claims, and the results that they were judged by."""
    standing = StandingCubes(root / "docs/results")
    found = {}
    for paper in PAPERS:
        claims = read_claims(root / "config/claims" / f"{paper}.yaml").claims
        outcomes = verdicts(claims, standing.cube)
        found[paper] = [record(f"{paper}.yaml", claim, own) for claim, own in zip(claims, outcomes, strict=True)]
    return found, standing


def test_published_results_are_small_and_name_their_experiment(root):
    files = published(root)
    assert sum(file.stat().st_size for file in files) < ALL
    for file in files:
        assert file.stat().st_size < EACH, file.name
        reduced = read_reduced(file)
        assert reduced.experiment == file.stem
        assert reduced.problems
        assert all(numbers.finished for numbers in reduced.problems.values())


def test_sections_of_pages_are_those_of_the_published_results(root, judged):
    """After a change of claims or statistics: `bocu claims FILE --results docs/results --page PAGE`."""
    found, standing = judged
    for paper, records in found.items():
        page = (root / f"docs/{paper}.md").read_text(encoding="utf-8")
        told = page[page.index(BEGIN) + len(BEGIN) + 1 : page.index(END)]
        command = f"bocu claims config/claims/{paper}.yaml --results docs/results --page docs/{paper}.md"
        if command in told:
            assert told == section(records, list(standing.scales(records)), command), paper
        else:
            assert not (root / f"docs/results/{paper}.nc").is_file(), f"{paper}: results are published, and not shown"


def test_the_totals_are_those_of_the_pages(root):
    text = (root / "docs/claims.md").read_text(encoding="utf-8")
    for paper in PAPERS:
        page = (root / f"docs/{paper}.md").read_text(encoding="utf-8")
        told = Counter({outcome: int(n) for n, outcome in re.findall(r"(\d+) ([a-z ]+?)[,.]", _counts(page))})
        cells = [told[outcome] for outcome in ("holds", "fails", "undecided", "not run")]
        assert f"| [{paper}]({paper}.md) | {' | '.join(map(str, cells))} |" in text


def _counts(page):
    (line,) = re.findall(r"^Made by `bocu claims [^`]*`: (.*)$", page, re.MULTILINE)
    return line
