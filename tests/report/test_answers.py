"""What a page says first: a line an answer, commands that make it again; long lists are folded."""

import json
import re

import numpy as np
import pytest

from bocu.core import style
from bocu.core.io.pages import page_template
from bocu.core.written import number
from bocu.pages.figures.results import CubeBranch
from bocu.pages.figures.who_wins import Compared
from bocu.pages.report.findings import answers
from bocu.pages.report.tables import Spent
from bocu.sweep.evaluation.standings import Standings
from bocu.sweep.experiment.record import trial_of
from bocu.sweep.origin_files import OriginFiles

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
    assert texts["Who wins?"].startswith("Nobody can be named in 2 comparisons: 30 seeds decide, there are 5 to 6.")
    assert texts["How surely?"] == "Not at all: 6 seeds at most, and a verdict takes 30 paired ones."
    assert texts["Where not?"] == "Not known before there is a winner."


def test_one_method_alone_is_sent_to_the_figure_beside_the_archive():
    assert answers([], TIMES, "snakemake")[0].text.startswith("Nobody yet")
    who, surely, *_ = (answer.text for answer in answers([], TIMES, "snakemake", archive=True))
    assert who.endswith("who leads beside the archive is told by its figure.")
    assert surely == "The same figure tells."


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


SETTINGS = {"iterations": 30, "seeds": {"count": "6", "first": "0"}, "mirror": "/elsewhere", "threads": 2}


@pytest.fixture
def origin(tmp_path):
    def make(settings, **more):
        made_from = {"files": ["experiments/wind.yaml"], "config": settings, **more}
        (tmp_path / "experiment.json").write_text(json.dumps({"made_from": made_from}), encoding="utf-8")
        return OriginFiles({"name": "wind"}, tmp_path, tmp_path / "report")

    return make


def test_a_sweep_is_made_again_at_its_scale(origin):
    assert origin({}).sweep_command() == "snakemake --cores all --configfile experiments/wind.yaml"
    assert origin(SETTINGS).sweep_command() == (
        "snakemake --cores all --configfile experiments/wind.yaml --config iterations=30 'seeds={count: 6, first: 0}'"
    )


def test_a_trial_is_told_by_what_its_file_asks_for():
    stated = {"rounds": 200, "seeds": 30}
    record = {"iterations": 50, "seeds": {"count": 10}, "made_from": {"stated": stated, "config": {}}}
    assert trial_of(record) == "reduced: 50 of 200 rounds, 10 of 30 seeds"
    record["made_from"]["config"] = {"data": "simulate"}
    assert trial_of(record) == "reduced: 50 of 200 rounds, 10 of 30 seeds, simulated"
    assert trial_of({**record, "iterations": 200, "seeds": {"count": 40}}) == "simulated"
    assert trial_of({"iterations": 50, "made_from": {}}) == ""


def test_outside_of_the_clone_the_snakefile_is_named(origin):
    assert origin({}, snakefile="/opt/a clone/Snakefile").sweep_command() == (
        "snakemake --snakefile '/opt/a clone/Snakefile' --cores all --configfile experiments/wind.yaml"
    )


def test_simulated_data_stay_simulated(origin):
    assert origin({"data": "simulate"}).sweep_command().endswith(" --config data=simulate")
    assert "--config " not in origin({"data": {"source": "mirror", "mirror": "/elsewhere"}}).sweep_command()


def test_a_branch_is_played_again_for_as_many_rounds(origin):
    command = origin(SETTINGS).run_command("hours", CubeBranch("dro", "ucb"), [2, 3])
    assert command.endswith("--algorithm ucb --seed 2 --seeds 2 --iterations 30 --output again.nc")
    assert "--iterations" not in origin({}).run_command("hours", CubeBranch("dro", "ucb"), [2, 3])
