"""A page of many problems says the most important things first: long lists are cut short or folded."""

import re

import pytest

from bocu.core.io.pages import page_template
from bocu.core.written import number


@pytest.mark.parametrize(("count", "folded"), [(8, False), (9, True)])
def test_long_lists_of_findings_are_folded(count, folded):
    sentences = [(f"well-{place}", f"<b> leads in {place}") for place in range(count)]
    shown = str(page_template("bocu.pages.report", "parts.html.jinja").module.listed(sentences))
    assert re.findall(r"<li data-problem=\"(.*?)\">(.*?)</li>", shown) == [
        (problem, sentence.replace("<b>", "&lt;b&gt;")) for problem, sentence in sentences
    ]
    assert ("<details>" in shown) == folded
    assert ("All 9 comparisons, one by one" in shown) == folded


@pytest.mark.parametrize(
    ("value", "sign", "written"), [(-0.004, False, "0.00"), (-0.004, True, "+0.00"), (-0.006, False, "−0.01")]
)
def test_what_rounds_to_zero_has_no_minus(value, sign, written):
    assert number(value, 2, sign=sign) == written
