"""The five answers: what they say of one winner, of ties, of too few seeds, of nothing."""

import pytest
import synthetic_cubes

from bocu.pages.figures.results import results_at, standings_of
from bocu.pages.report.findings import Comparison, answers, comparisons
from bocu.pages.report.records import Spent
from bocu.sweep.evaluation.standings import Standings

TIMES = [Spent("hills", "mle", "MLE", 0.002, 90.0), Spent("hills", "random", "Random", 1e-5, 1.0)]


def comparison(where, leading=(), behind=(), least="MLE", seeds=30, deployed=False, neither=()):
    return Comparison(where, tuple(leading), tuple(behind), least, seeds, where.split()[0], deployed, tuple(neither))


def told(*found, times=TIMES):
    return {answer.question: answer.text for answer in answers(found, times, "snakemake")}


def test_one_winner_is_named_with_where_it_does_not_win():
    texts = told(
        comparison("hills (so)", ["MLE"], ["Random", "PE"]),
        comparison("wells (so)", ["MLE", "PE"], ["Random"]),
        comparison("wells (ro)", ["PE"], ["MLE", "Random"]),
        comparison("dunes (so)", ["MLE"], ["PE", "Random"]),
    )
    assert texts["Who wins?"] == "MLE: it leads 3 of 4 comparisons, alone in 2."
    assert texts["How surely?"] == (
        "3 of 4 leads are told apart from all others in the mean; 1 is shared (wells (so): MLE and "
        "PE), by regret summed over all rounds."
    )
    assert texts["Where not?"] == "MLE is behind in wells (ro), where PE leads."
    assert texts["At what cost?"] == (
        "MLE: up to 2 ms a round (hills), 1.5 min in all; the cheapest, Random, 10 µs a round. All runs: 1.52 min."
    )


def test_a_tie_is_called_one():
    texts = told(comparison("hills (so)", ["MLE"], ["PE"]), comparison("hills (ro)", ["PE"], ["MLE"]))
    assert texts["Who wins?"] == "A tie: MLE and PE lead 1 of 2 comparisons each."
    assert texts["Where not?"] == (
        "MLE is behind in hills (ro), where PE leads. PE is behind in hills (so), where MLE leads."
    )


def test_where_no_one_leads_everywhere_every_problem_has_its_own():
    texts = told(
        comparison("shift (dro)", ["TS"], ["Random"]),
        comparison("hills (so)", ["MLE", "PE"], ["Random"]),
        comparison("wells (so)", ["MLE", "PE"], ["Random"]),
    )
    assert texts["Who wins?"] == "It depends: TS on shift; MLE and PE on hills; MLE and PE on wells."
    assert texts["Where not?"] == "MLE and PE are behind nowhere, without a run on shift."


def test_who_shares_the_lead_with_all_others_does_not_win():
    names = [f"algorithm {place}" for place in range(11)]
    texts = told(comparison("hills (so)", names), comparison("wells (so)", names))
    assert texts["Who wins?"].startswith("Nobody can be named: no two algorithms are told apart. MLE had the least")
    assert (
        texts["How surely?"] == "In 2 of 2 comparisons nobody is told to be behind, by regret summed over all rounds."
    )


def test_who_is_open_is_neither_a_winner_nor_behind():
    texts = told(comparison("hills (so)", ["PE"], ["Random"], neither=["MLE"]))
    assert texts["Who wins?"] == "PE; open whether MLE too."
    assert texts["How surely?"] == (
        "In 1 it is open whether others lead too (hills (so): MLE), by regret summed over all rounds."
    )
    texts = told(
        comparison("hills (so)", ["PE"], ["Random"], neither=["MLE"]), comparison("wells (so)", ["MLE"], ["PE"])
    )
    assert texts["Where not?"] == (
        "PE is behind in wells (so), where MLE leads. MLE is behind nowhere, open in 1 comparison."
    )
    texts = told(comparison("hills (so)", neither=["PE", "MLE"]))
    assert texts["Who wins?"].startswith("Nobody can be named: no two algorithms are told apart.")


def test_nobody_wins_with_too_few_seeds():
    texts = told(comparison("hills (so)", seeds=6), comparison("wells (so)", least="PE", seeds=5))
    assert texts["Who wins?"].startswith("Nobody can be named: too few seeds. MLE and PE had the least mean regret")
    assert texts["How surely?"] == "Not at all: 6 seeds at most, and a verdict takes 30 paired ones."
    assert texts["Where not?"] == "Not known before there is a winner."


@pytest.mark.parametrize("times", [[], TIMES])
def test_without_a_finished_run_there_is_no_answer_and_no_error(times):
    texts = told(comparison("hills (so)", least="", seeds=0), times=times)
    assert texts["Who wins?"] == "Nobody yet: no two algorithms have finished runs on one problem."
    assert len(texts) == 5


def test_who_runs_alone_wins_nothing(tmp_path):
    cube = results_at(synthetic_cubes.write(synthetic_cubes.cube("hills"), tmp_path / "cube.nc"))
    found = standings_of(cube)
    both = comparisons(cube, found)
    assert both
    assert all(each.least for each in both)
    alone = {key: Standings({"random": table.regrets["random"]}) for key, table in found.items()}
    assert comparisons(cube, alone) == []
