"""The claims of the papers ask for what the papers speak of, and say which words were given a number by us."""

from pathlib import Path

import pytest

from bocu.sweep.evaluation.claims import read_claims
from bocu.sweep.evaluation.claims.expressions import leaves, problem_of_measure

FOLDER = Path(__file__).parents[2] / "config" / "claims"
FILES = sorted(FOLDER.glob("*.yaml"))
CLAIMS = [claim for file in FILES for claim in read_claims(str(file)).claims if claim.check is not None]


def of(paper):
    return [claim for claim in CLAIMS if claim.paper == paper]


def test_a_number_in_a_check_is_said_to_be_ours():
    for claim in CLAIMS:
        numbers = any(not leaf.comparison.right.terms for leaf in leaves(claim.node))
        if claim.paper and (numbers or "atleast" in claim.check):
            assert "taken as" in claim.ours, claim.id


def test_complicated_hartmann_is_asked_by_the_payoff_that_the_paper_shows():
    words = {
        measure.word
        for claim in of("huang2024")
        for leaf in leaves(claim.node)
        for measure in leaf.comparison.measures
        if problem_of_measure(measure, leaf.scope) == "complicated-hartmann"
    }
    assert words == {"payoff"}


@pytest.mark.parametrize("distance", ["tv", "mmd"])
def test_what_a_paper_says_of_all_problems_is_asked_of_all(distance):
    always = next(claim for claim in of("tay2024") if claim.id == f"gen-in-between-{distance}")
    assert "atleast" not in always.check
    assert len(list(leaves(always.node))) == 4 * 2


def test_every_claim_of_a_paper_is_corrected_with_the_paper_and_what_it_does_not_say_apart():
    assert {claim.corrected_with for claim in CLAIMS if claim.where != "ours" and claim.paper} == {
        *("tay2024", "kirschner2020", "huang2024", "drmobo", "ziomek2025")
    }
    assert {claim.corrected_with for claim in CLAIMS if not claim.paper} == {"ours", "shifts-1-peers"}
