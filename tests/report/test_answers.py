"""The five answers: a line each, of the comparisons that the figure of who wins shows."""

import numpy as np
import pytest

from bocu.core import style
from bocu.pages.figures.who_wins import Compared
from bocu.pages.report.findings import answers
from bocu.pages.report.tables import Spent
from bocu.sweep.evaluation.standings import Standings

TIMES = [Spent("hills", "mle", "MLE", 0.002, 90.0), Spent("hills", "random", "Random", 1e-5, 1.0)]
GENERATOR = np.random.default_rng(0)


def comparison(problem, seeds=40, spread=0.01, **means):
    """Methods whose regrets are close to their means, as far apart as the spread leaves them."""
    regrets = {label: dict(enumerate(mean + spread * GENERATOR.normal(size=seeds))) for label, mean in means.items()}
    titles, looks = {label: label for label in regrets}, dict.fromkeys(regrets, style.numbered_stroke(0))
    return Compared(problem, problem, Standings(regrets), titles, looks)


def told(*found, times=TIMES, tried=()):
    return {answer.question: answer.text for answer in answers(found, times, "snakemake", tried)}


def test_one_winner_is_named_with_where_it_does_not_win_and_what_it_costs():
    texts = told(
        comparison("hills", MLE=1, PE=2),
        comparison("wells", MLE=1, PE=1.001),
        comparison("dunes", MLE=2, PE=1),
        comparison("lakes", MLE=1, PE=3),
    )
    assert texts["Who wins?"] == "MLE leads in 3 of 4 comparisons, in 2 of them alone."
    assert texts["How surely?"] == "Of 4 leads: alone in 3, shared in 1, by regret over all rounds."
    assert texts["Where not?"] == "MLE is behind on dunes, where PE leads."
    assert (
        texts["At what cost?"] == "Up to MLE 2 ms a round; the cheapest, Random, 10 µs; all runs 1.52 min on one core."
    )


def test_a_tie_names_both_and_where_each_is_behind():
    texts = told(comparison("hills", MLE=1, PE=2), comparison("wells", MLE=2, PE=1))
    assert texts["Who wins?"] == "MLE and PE lead in 1 of 2 comparisons."
    assert texts["Where not?"] == "MLE is behind on wells, where PE leads; and 1 more."


def test_methods_that_are_not_compared_with_each_other_win_apart():
    texts = told(comparison("hills", MLE=1, PE=2), comparison("wells", TS=1, UCB=2))
    assert texts["Who wins?"] == (
        "MLE leads in 1 of 1 comparison on hills, always alone. TS leads in 1 of 1 comparison on wells, always alone."
    )
    assert texts["Where not?"] == "MLE and TS are behind nowhere."


def test_what_is_deployed_is_said_to_count_on_a_simulator():
    texts = told(comparison("plan", MLE=1, PE=2), tried=["plan"])
    assert texts["How surely?"].endswith(
        "On plan decisions are tried on a simulator: there what is recommended counts."
    )


def test_nobody_wins_with_too_few_seeds():
    texts = told(comparison("hills", seeds=6, MLE=1, PE=2), comparison("wells", seeds=5, MLE=1, PE=2))
    assert texts["Who wins?"].startswith("Nobody can be named in 2 comparisons: 30 seeds decide, there are 5.")
    assert texts["How surely?"] == "Not at all: 6 seeds at most, and a verdict takes 30 paired ones."
    assert texts["Where not?"] == "Not known before there is a winner."


def test_few_seeds_of_one_comparison_are_said():
    texts = told(comparison("hills", MLE=1, PE=2), comparison("wells", seeds=12, MLE=1, PE=2))
    assert texts["How surely?"] == "Of 2 leads: alone in 1, too few seeds in 1, by regret over all rounds."


@pytest.mark.parametrize("times", [[], TIMES])
def test_without_a_comparison_there_is_no_answer_and_no_error(times):
    texts = told(times=times)
    assert texts["Who wins?"] == "Nobody yet: no two algorithms have finished runs on one problem."
    assert len(texts) == 5


def test_every_answer_is_a_line_and_leads_to_where_the_page_says_more():
    found = [comparison(f"p{place}", MLE=1 + place % 2, PE=2 - place % 2, random=4) for place in range(12)]
    for answer in answers(found, TIMES, "snakemake"):
        assert len(answer.text) < 120, answer
    assert [answer.anchor for answer in answers(found, TIMES, "snakemake")] == [
        "overview", "overview", "", "time", "configuration",
    ]  # fmt: skip
