"""The claims of the papers ask for what the papers speak of, and say which words were given a number by us."""

from pathlib import Path

import pytest

from bocu.pages.report.claims_page import StandingCubes, judge
from bocu.sweep.evaluation.claims import read_claims
from bocu.sweep.evaluation.claims.expressions import leaves, problem_of_measure

FOLDER = Path(__file__).parents[2] / "config" / "claims"
FILES = sorted(FOLDER.glob("*.yaml"))
CLAIMS = [claim for file in FILES for claim in read_claims(str(file)).claims if claim.check is not None]


def of(paper):
    return [claim for claim in CLAIMS if claim.paper == paper]


@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if claim.paper], ids=lambda claim: claim.id)
def test_a_number_in_a_check_is_said_to_be_ours(claim):
    numbers = any(not leaf.comparison.right.terms for leaf in leaves(claim.node))
    if numbers or "atleast" in claim.check:
        assert "taken as" in claim.ours


@pytest.mark.parametrize("claim", of("huang2024"), ids=lambda claim: claim.id)
def test_complicated_hartmann_is_asked_by_the_payoff_that_the_paper_shows(claim):
    words = {
        measure.word
        for leaf in leaves(claim.node)
        for measure in leaf.comparison.measures
        if problem_of_measure(measure, leaf.scope) == "complicated-hartmann"
    }
    assert words <= {"payoff"}


@pytest.mark.parametrize("distance", ["tv", "mmd"])
def test_what_a_paper_says_of_all_problems_is_asked_of_all(distance):
    always = next(claim for claim in of("tay2024") if claim.id == f"gen-in-between-{distance}")
    assert "atleast" not in always.check
    assert len(list(leaves(always.node))) == 4 * 2


def test_every_claim_of_a_paper_is_corrected_with_the_paper_and_what_it_does_not_say_apart():
    assert {claim.corrected_with for claim in CLAIMS if claim.where != "ours" and claim.paper} == {
        *("tay2024", "kirschner2020", "huang2024", "drmobo", "ziomek2025")
    }
    assert {claim.corrected_with for claim in CLAIMS if not claim.paper} == {"ours"}


def test_no_interval_is_without_bounds(root):
    """A ratio whose denominator may vanish can neither hold nor fail; the difference can."""
    cubes = StandingCubes(root / "docs/results")
    unbounded = [
        (file.name, one["id"], one["comparison"])
        for file in FILES
        if read_claims(file).paper
        for record in judge(file, cubes)
        for one in record["comparisons"]
        if one["seeds"] and None in (one["low"], one["high"])
    ]
    assert unbounded == []
