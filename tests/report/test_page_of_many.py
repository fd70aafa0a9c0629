"""A page of many problems says the most important things first: long lists are cut short or folded."""

import re

import pytest

from bocu.io.pages import page_template
from bocu.report.build import some


@pytest.mark.parametrize(("count", "folded"), [(8, False), (9, True)])
def test_long_lists_of_findings_are_folded(count, folded):
    sentences = [(f"well-{place}", f"<b> leads in {place}") for place in range(count)]
    shown = str(page_template("bocu.report", "parts.html.jinja").module.listed(sentences))
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
