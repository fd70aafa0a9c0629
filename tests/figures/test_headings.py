"""No two figures of a page stand under one heading; marks and ticks of every picture can be read."""

from collections import Counter

import yaml

from bocu.core import style
from bocu.pages.figures.base import finish

SAY_WHAT_DIFFERS = {"regret", "robustness-curve", "price-of-robustness", "across-objectives"}
"""Figures whose own heading tells their parameters."""


def headings(experiment):
    """Count (problem, kind, stated heading) over the figures of a file that do not say themselves what differs."""
    problems = [each if isinstance(each, str) else each.get("label", each["name"]) for each in experiment["problems"]]
    entries = [{"name": each} if isinstance(each, str) else each for each in experiment.get("figures", ())]
    return Counter(
        (problem, entry["name"], entry.get("parameters", {}).get("title"))
        for entry in entries
        if entry["name"] not in SAY_WHAT_DIFFERS
        for problem in entry.get("problems", problems)
    )


def test_shipped_figures_of_a_kind_are_told_apart_by_their_titles(root):
    files = sorted((root / "config/experiments").glob("*.yaml"))
    assert len(files) > 20
    for file in files:
        found = headings(yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))
        assert max(found.values(), default=1) == 1, f"{file.name}: {found.most_common(1)}"


def test_rounds_have_whole_ticks():
    picture = style.new_figure(2.0)
    axes = picture.subplots()
    axes.plot([1, 10], [0.0, 1.0])
    axes.set_xlabel("round")
    finish(picture)
    assert all(float(place).is_integer() for place in axes.get_xticks())
    assert not all(float(place).is_integer() for place in axes.get_yticks())
