"""A page of many problems says the most important things first: long lists are cut short or folded."""

import re
from types import SimpleNamespace

import pytest

from bocu.core.io.pages import page_template
from bocu.core.written import number
from bocu.pages.report.build import some
from bocu.pages.report.claims import tally
from bocu.pages.report.tables import scored


@pytest.mark.parametrize(("count", "folded"), [(8, False), (9, True)])
def test_long_lists_of_findings_are_folded(count, folded):
    sentences = [(f"well-{place}", f"<b> leads in {place}") for place in range(count)]
    shown = str(page_template("bocu.pages.report", "parts.html.jinja").module.listed(sentences))
    assert re.findall(r"<li data-problem=\"(.*?)\">(.*?)</li>", shown) == [
        (problem, sentence.replace("<b>", "&lt;b&gt;")) for problem, sentence in sentences
    ]
    assert ("<details>" in shown) == folded
    assert ("All 9 comparisons, one by one" in shown) == folded


def test_of_many_problems_the_first_are_named():
    labels = [f"well-{place}" for place in range(9)]
    assert some(labels[:2]) == "well-0, well-1"
    assert some(labels) == "9: well-0, well-1, well-2 and 6 more"
    assert some(labels, "; ") == "9: well-0; well-1; well-2 and 6 more"


def test_what_is_folded_is_headed_by_metric_and_objective():
    # The heading is what stands before the first colon of a caption.
    titles = SimpleNamespace(metric_titles={"so": "expected payoff"}, objective_titles={"dro": "DRO (TV 0.3)"})
    assert scored(titles, "dro", "so") == "scored by expected payoff, pursuing DRO (TV 0.3)"
    titles.metric_titles["dro"] = titles.objective_titles["dro"]
    assert scored(titles, "dro", "dro") == "pursued and scored by DRO (TV 0.3)"


@pytest.mark.parametrize(
    ("value", "sign", "written"), [(-0.004, False, "0.00"), (-0.004, True, "+0.00"), (-0.006, False, "−0.01")]
)
def test_what_rounds_to_zero_has_no_minus(value, sign, written):
    assert number(value, 2, sign=sign) == written


def test_verdicts_are_counted_in_words():
    assert tally(["holds", "fails", "holds", "not run", "open"]) == "2 hold, 1 fails, 1 open, 1 not run"
    assert tally(["fails", "fails"]) == "2 fail"
