"""Pilots: some rounds of a branch, timed, and what is made of them."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from experiments import tiny
from typer.testing import CliRunner

from bocu.commands.main import app
from bocu.core.errors import BocuError
from bocu.sweep.experiment import resources
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.resources import START_SECONDS, estimate
from bocu.sweep.forecast import Forecaster, by_pilot, measure_pilots, pilots_file, read_pilots
from bocu.sweep.runs.execution import Block, execute
from bocu.sweep.runs.pilot import Length, Pilot, measure

MINE = '''
from bocu.learners.algorithms.simple import Random
from bocu.core.about import Work


class Mine(Random):
    """Has a step that nobody has measured."""

    @classmethod
    def work(cls, parameters, size, rounds):
        return Work({"guess": rounds})


class Broken(Random):
    def ask(self, round):
        raise ValueError("no idea")
'''


@pytest.fixture
def sources(tmp_path, monkeypatch, root):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{root / 'src'}")
    return root / "data/sources.yaml"


def with_class(sources, name, beside=("pe-gp-ucb",), **changes):
    """Plan a small experiment with a class of the user's in place of Random."""
    mine = {"name": f"mine:{name}", "label": "random"}
    return make_plan(tiny(algorithms=[mine, *beside], **changes), sources_file=sources)


def note(plan, branch, pilot):
    """Put a pilot into the file."""
    specification = json.dumps({**branch.specification, "iterations": None}, sort_keys=True, separators=(",", ":"))
    pilots_file(plan).parent.mkdir(parents=True, exist_ok=True)
    kept = {"/".join(branch.key): {"specification": specification, "pilot": asdict(pilot)}}
    pilots_file(plan).write_text(json.dumps(kept))


def pilot(half, whole, set_up=1.0, start=0.5):
    return Pilot(set_up, start, Length(*half, 200.0), Length(*whole, 230.0), 100.0)


def test_a_pilot_plays_all_rounds_where_they_are_soon_played(sources):
    (branch,) = make_plan(tiny(algorithms=["pe-gp-ucb"]), sources_file=sources).branches.values()
    found = measure(branch.specification, {}, 0, 60.0)
    assert (found.half.rounds, found.whole.rounds) == (6, branch.iterations)
    assert 0 < found.half.seconds < found.whole.seconds < 60.0
    assert 0 < found.half.memory_mb <= found.whole.memory_mb
    assert found.set_up_seconds > 0
    assert found.row_bytes > estimate(branch, 1).disk_mb / branch.iterations


def test_a_pilot_ends_with_the_round_in_which_its_time_is_spent(sources):
    (branch,) = make_plan(tiny(algorithms=["pe-gp-ucb"]), sources_file=sources).branches.values()
    found = measure(branch.specification, {}, 0, 0.0)
    assert found.half == found.whole
    assert found.whole.rounds == 1


def test_a_whole_pilot_is_the_forecast(sources):
    plan = with_class(sources, "Mine", iterations=40)
    for branch in plan.branches.values():
        forecast = by_pilot(branch, pilot((20, 3.0), (40, 8.0)), 3)
        assert forecast.seconds == pytest.approx(1.0 + 3 * (0.5 + 8.0))
        assert forecast.source == "pilot"


@pytest.mark.parametrize("power", [1, 2])
def test_an_unknown_class_is_carried_on_by_the_growth_of_its_own_rounds(sources, power):
    plan = with_class(sources, "Mine", iterations=900)
    found = by_pilot(plan.branch("hills", "any", "random"), pilot((10, 0.1 * 10**power), (20, 0.1 * 20**power)), 1)
    assert found.seconds == pytest.approx(1.5 + 0.1 * 900**power)
    assert found.memory_mb > 230.0 + 3.0 * 880  # 3 MB a round, as from half to whole


def test_a_known_class_is_carried_on_by_the_growth_of_its_model(sources):
    (branch,) = make_plan(tiny(algorithms=["pe-gp-ucb"], iterations=5000), sources_file=sources).branches.values()

    def model(iterations):
        return estimate(replace(branch, iterations=iterations), 1).seconds - START_SECONDS

    found = by_pilot(branch, pilot((10, 7 * (model(10) - model(0))), (20, 7 * (model(20) - model(0))), 0.0, 0.0), 1)
    assert found.seconds == pytest.approx(7 * (model(5000) - model(0)))
    assert found.memory_mb >= estimate(branch, 1).memory_mb


def test_runs_of_the_branch_come_first_then_a_pilot_then_caution(sources):
    plan = with_class(sources, "Mine")
    branch = plan.branch("hills", "any", "random")
    assert Forecaster(plan).block(branch, 2).source == "caution"
    assert Forecaster(plan).unknown(branch) == ("mine:Mine",)
    note(plan, branch, pilot((6, 1.0), (12, 2.0)))
    forecaster = Forecaster(plan, elsewhere=False)
    assert forecaster.block(branch, 2).source == "pilot"
    assert forecaster.unknown(branch) == ()
    assert forecaster.minutes(branch, 0, "999", 1) == 130  # 3 x (4 + 1 + 1000 x 2.5) s, in steps of 5
    execute(
        Block({**branch.specification, "seeds": [0, 1]}, {}, "code"), plan.paths.run_file(branch, 0, 1), "checkpoints"
    )
    assert Forecaster(plan).block(branch, 2).source == "1 run file"


def test_a_pilot_holds_for_any_number_of_iterations_and_for_no_other_parameters(sources):
    plan = make_plan(tiny(), sources_file=sources)
    note(plan, plan.branch("hills", "any", "pe-gp-ucb"), pilot((6, 1.0), (12, 2.0)))
    longer = make_plan(tiny(iterations=50), sources_file=sources)
    assert list(read_pilots(longer)) == [("hills", "any", "pe-gp-ucb")]
    other = make_plan(tiny(problems=[{"name": "hills", "parameters": {"grid": 61}}]), sources_file=sources)
    assert read_pilots(other) == {}


def test_pilots_enter_no_parameters_of_jobs_and_no_paths(sources):
    plan = make_plan(tiny(), sources_file=sources)
    branch = plan.branch("hills", "any", "pe-gp-ucb")
    before = plan.parameters.run(branch, 0, 1), plan.products.every()
    note(plan, branch, pilot((6, 1e6), (12, 2e6)))
    again = make_plan(tiny(), sources_file=sources)
    assert (again.parameters.run(branch, 0, 1), again.products.every()) == before


@pytest.mark.parametrize("text", ["no json", "[1]", '{"hills/any/random": {"pilot": {}}}'])
def test_a_broken_file_of_pilots_is_named_and_ignored(sources, caplog, text):
    plan = make_plan(tiny(), sources_file=sources)
    pilots_file(plan).parent.mkdir(parents=True)
    pilots_file(plan).write_text(text)
    assert read_pilots(plan) == {}
    assert "costs.json: not readable as what pilots took" in caplog.text
    branch = plan.branch("hills", "any", "pe-gp-ucb")
    assert Forecaster(plan).block(branch, 2).source == "model"


def test_data_that_are_not_prepared_are_named(sources):
    plan = make_plan(tiny(data="simulate", problems=["sensors"]), sources_file=sources)
    command = r"snakemake --cores all --configfile FILE -- \S+ \S+"
    with pytest.raises(BocuError, match=rf"no such file \(15 of .* make them first: {command}"):
        measure_pilots(plan, iter(plan.branches.values()), print)
    assert not pilots_file(plan).exists()


def test_a_pilot_that_fails_names_its_branch_and_says_why(sources):
    plan = with_class(sources, "Broken", beside=())
    with pytest.raises(BocuError, match="hills/any/random: the pilot failed: ValueError: no idea"):
        measure_pilots(plan, iter(plan.branches.values()), print)


def test_measuring_writes_what_planning_reads(sources):
    plan = with_class(sources, "Mine")
    told = []
    measure_pilots(plan, iter(plan.branches.values()), told.append, 60.0)
    assert [line.partition(":")[0] for line in told] == ["hills/any/random", "hills/any/pe-gp-ucb"]
    kept = read_pilots(plan)
    assert {found.whole.rounds for found in kept.values()} == {12}
    branch = plan.branch("hills", "any", "random")
    found = kept[branch.key]
    expected = found.set_up_seconds + 2 * (found.start_seconds + found.whole.seconds)
    assert Forecaster(plan).block(branch, 2).seconds == pytest.approx(expected)


def test_plan_measures_when_asked_to_and_says_where_times_come_from(sources):
    Path("experiment.yaml").write_text(json.dumps(tiny(data="simulate")))

    def said(*arguments):
        result = CliRunner().invoke(app, ["plan", "experiment.yaml", *arguments])
        assert result.exit_code == 0, result.output
        return result.stdout

    assert "model" in said()
    assert not Path("results/tiny/costs.json").exists()
    measured = said("--measure")
    assert "pilot" in measured
    assert "model" not in measured


def test_plan_counts_jobs_of_data_once_and_none_of_the_experiments_own_files(sources):
    problems = ["intel", {"name": "intel", "label": "loud", "parameters": {"noise": 2.0}}, "hills"]
    Path("experiment.yaml").write_text(json.dumps(tiny(data="simulate", problems=problems)))
    result = CliRunner().invoke(app, ["plan", "experiment.yaml"])
    rows = {words[0]: words[1:] for line in result.stdout.splitlines() if len(words := line.split()) == 4}
    assert rows["data"] == ["1", "0", "1"]
    assert rows["runs"] == ["12", "0", "12"]


def test_plan_names_the_classes_that_it_is_cautious_about(sources, monkeypatch):
    Path("experiment.yaml").write_text(json.dumps(tiny(data="simulate")))
    result = CliRunner().invoke(app, ["plan", "experiment.yaml"])
    assert "caution" not in result.stdout
    monkeypatch.delitem(resources.COSTS["algorithms"], "bocu.learners.algorithms.simple:WithoutModel")
    resources.prices_of.cache_clear()
    try:
        result = CliRunner().invoke(app, ["plan", "experiment.yaml"])
    finally:
        resources.prices_of.cache_clear()
    assert "caution: bocu.learners.algorithms.simple:Random says nothing of what a round costs" in result.stdout
