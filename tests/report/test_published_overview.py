"""What a page says to be seen in many methods on many problems is made of their numbers."""

from types import SimpleNamespace

import pytest
from make_board import PARTS, tallied
from published_numbers import PublishedNumbers, overview

from bocu.sweep.evaluation.across_problems import surviving_ranking
from bocu.sweep.evaluation.standings import BEHIND, LEADING
from bocu.sweep.experiment.planning import make_plan

pytestmark = pytest.mark.ci

GRIDS = ("gp-sample", "hartmann-3", "kirschner-a", "kirschner-b", "kirschner-a-data", "satisficing")
METHODS = ("random", "ucb-so", "ucb-ro", "constant")
WHAT = {"random": 10.0, "ucb-so": 2.0, "ucb-ro": 5.0, "constant": 20.0}


class Played:
    """Numbers of a problem: what a method loses, a little more under every seed."""

    data_label = ""

    def __init__(self, problem, seeds, scale=1.0):
        self.known = SimpleNamespace(
            problem=problem, rounds=60, metrics=["so"], algorithms={name: ["any"] for name in METHODS}, priors=[]
        )
        self.finished, self.scale = seeds, scale

    def at(self, word, place):
        values = {"seconds": 0.5}.get(word, WHAT[place.algorithm] * self.scale)
        return {seed: values * (1 + 0.01 * seed) for seed in range(self.finished)}


@pytest.fixture(scope="module")
def plan():
    config = {
        "name": "tour",
        "seeds": {"count": 30},
        "iterations": 60,
        "problems": [
            {"name": "kirschner", "label": label, "parameters": {"decision_points": [9 + place]}}
            if "kirschner" in label
            else label
            for place, label in enumerate(GRIDS)
        ],
        "algorithms": [*METHODS[:3], {"name": "constant", "parameters": {"decision": 0}}],
        "metrics": ["so"],
        "figures": [
            {"name": "scoreboard", "label": "grid", "parameters": {"blocks": [{"metric": "so"}]}},
            {"name": "ranking", "label": "grid-ranking", "parameters": {"metric": "so", "title": "Grids"}},
            {
                "name": "run-times",
                "problems": ["gp-sample"],
                "parameters": {"columns": {"ours": ["random", "ucb-so"]}, "published": {"the paper's": ["1", "2"]}},
            },
        ],
    }
    return make_plan(config)


def seen(plan, problems):
    return overview(PublishedNumbers(plan, problems), ["grid"], ["grid-ranking"])


def rows(text):
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return {row[0]: row[1:] for row in cells[2:]}


def test_wins_runs_and_hours_are_those_of_the_numbers(plan):
    text = seen(plan, {label: Played(label, 30) for label in GRIDS})
    assert text.startswith(
        "6 problems, 30 seeds and 60 rounds: 720 runs, whose rounds took 6.9 hours on one core each."
    )
    assert "there are 6. In 0 columns nobody can be told to lead, in 6 one method leads and all others are" in text
    assert "behind, in 0 nobody is told to be better than random" in text
    table = rows(text)
    assert table["UCB-SO"] == ["6", "6", "0", "6", "6"]
    assert table["UCB-RO"] == ["6", "6", "0", "0", "0"]
    assert table["Random"] == ["6", "0", "0", "0", "0"]
    assert table["Constant"] == ["6", "0", "6", "0", "0"]


def test_a_ranking_is_told_with_halves_and_with_one_problem_of_each_kind(plan):
    text = seen(plan, {label: Played(label, 30) for label in GRIDS})
    assert "**Grids**, 6 problems: No method is best: UCB-SO and UCB-RO" in text
    assert "100% keep the whole order; of the pairs of methods 100% keep theirs" in text
    assert "With one problem of each kind alone (gp-sample, hartmann-3, kirschner-a and satisficing): " in text


def test_pairs_that_change_places_in_halves_are_counted():
    means = {f"p-{i}": {"a": 1.0, "b": 2.0 + (i % 2), "c": 3.0 - (i % 2)} for i in range(8)}
    ranking = surviving_ranking(means)
    assert ranking.labels[0] == "a"
    assert ranking.same_first == 1.0
    assert ranking.same_order < 1.0
    # a stays ahead of both; b and c tie over all problems, and change places in some halves
    assert ranking.same_pairs == pytest.approx((2 + ranking.same_order) / 3)


def test_on_the_board_the_points_of_a_map_are_one_problem():
    said = {"objective": "any", "metric": "SO", "rounds": 60}
    every = [
        {**said, "problem": problem, "problem_label": problem, "title": title, "standing": standing}
        for problem, first in [*((f"hills-{at}", "map") for at in range(8)), ("plant-a", "two"), ("sensors-b", "two")]
        for title in ("map", "two")
        for standing in [LEADING if title == first else BEHIND]
    ]
    sentence, (two, map_alone) = tallied(every)
    assert (str(two), str(map_alone)) == ("two (67% over 3 problems)", "map (33% over 3 problems)")
    assert (map_alone.leads.total(), map_alone.told.total(), map_alone.shares[PARTS[1]]) == (8, 10, 0.0)
    assert "10 comparisons 10 have one leader" in sentence
    assert "each problem counted once, two (67% over 3 problems) and map (33% over 3 problems) lead" in sentence
