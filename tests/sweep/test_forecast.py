"""Forecasts from run files of the real run loop, and without any."""

import json
from pathlib import Path

import netCDF4
import pytest
from experiments import tiny
from typer.testing import CliRunner

from bocu.commands.main import app
from bocu.sweep.experiment import resources
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.resources import START_SECONDS, estimate
from bocu.sweep.forecast import Forecaster, aggregates_mb, wall_seconds
from bocu.sweep.runs.execution import Block, execute

pytestmark = pytest.mark.usefixtures("elsewhere")

MINE = '''
from bocu.learners.algorithms.simple import Random
from bocu.core.about import Work


class Mine(Random):
    """Has a step that nobody has measured."""

    @classmethod
    def work(cls, parameters, size, rounds):
        return Work({"guess": rounds})
'''


def run(plan, branch, first, last, seconds):
    """Make a run file that says it took so long."""
    path = plan.paths.run_file(branch, first, last)
    specification = json.loads(plan.parameters.run(branch, first, last)["specification"])
    execute(Block(specification, {}, "code"), path, "checkpoints")
    with netCDF4.Dataset(path, "a") as data:
        data.wall_seconds = seconds


def model(branch, seeds):
    return estimate(branch, seeds).seconds - START_SECONDS


def test_without_runs_the_model_speaks_and_says_so():
    plan = make_plan(tiny())
    branch = plan.branch("hills", "any", "pe-gp-ucb")
    forecast = Forecaster(plan).block(branch, 2)
    assert forecast.source == "model"
    assert forecast.seconds == pytest.approx(model(branch, 2))
    assert forecast.disk_mb == pytest.approx(estimate(branch, 2).disk_mb)


def test_measured_times_are_given_back_for_the_same_blocks():
    plan = make_plan(tiny())
    branch = plan.branch("hills", "any", "pe-gp-ucb")
    run(plan, branch, 0, 1, 100.0)
    run(plan, branch, 2, 3, 300.0)
    forecast = Forecaster(plan).block(branch, 2)
    assert forecast.source == "2 run files"
    assert forecast.seconds == pytest.approx(200.0)


def test_measured_times_are_scaled_to_other_iterations_and_seeds_by_the_model():
    short = make_plan(tiny())
    run(short, short.branch("hills", "any", "pe-gp-ucb"), 0, 1, 100.0)
    long = make_plan(tiny(iterations=500, problems=[{"name": "hills", "parameters": {"grid": 300}}]))
    branch = long.branch("hills", "any", "pe-gp-ucb")
    before = short.branch("hills", "any", "pe-gp-ucb")
    forecast = Forecaster(long).block(branch, 7)
    assert forecast.seconds == pytest.approx(100.0 * model(branch, 7) / model(before, 2))
    assert forecast.seconds > 100.0


def test_runs_of_another_experiment_count_where_there_are_none_of_its_own_but_only_of_the_same_classes():
    other = make_plan(tiny(name="other", algorithms=["random", "mle"]))
    run(other, other.branch("hills", "any", "random"), 0, 1, 50.0)
    plan = make_plan(tiny(algorithms=[{"name": "random", "label": "chance"}, "pe-gp-ucb"]))
    forecaster = Forecaster(plan)
    chance = forecaster.block(plan.branch("hills", "any", "chance"), 2)
    assert (chance.source, chance.seconds) == ("1 run file", pytest.approx(50.0))
    assert forecaster.block(plan.branch("hills", "any", "pe-gp-ucb"), 2).source == "model"


def test_runs_of_another_algorithm_under_the_same_label_teach_nothing():
    before = make_plan(tiny(algorithms=[{"name": "random", "label": "mine"}]))
    run(before, before.branch("hills", "any", "mine"), 0, 1, 50.0)
    plan = make_plan(tiny(algorithms=[{"name": "mle", "label": "mine"}]))
    assert Forecaster(plan).block(plan.branch("hills", "any", "mine"), 2).source == "model"


def test_a_resumed_run_counts_with_all_its_rounds():
    plan = make_plan(tiny())
    branch = plan.branch("hills", "any", "random")
    run(plan, branch, 0, 1, 0.001)
    with netCDF4.Dataset(plan.paths.run_file(branch, 0, 1), "a") as data:
        data["seconds"][:] = 2.0
    assert Forecaster(plan).block(branch, 2).seconds == pytest.approx(2 * 12 * 2.0)


def test_broken_run_files_teach_nothing():
    plan = make_plan(tiny())
    branch = plan.branch("hills", "any", "random")
    run(plan, branch, 0, 1, 10.0)
    Path(plan.paths.run_file(branch, 2, 3)).write_bytes(b"nothing")
    assert Forecaster(plan).block(branch, 2).source == "1 run file"


def test_scores_and_cubes_grow_with_metrics_seeds_and_branches():
    base = aggregates_mb(make_plan(tiny()))
    for more in ({"metrics": ["so", "ro"]}, {"seeds": 40}, {"algorithms": ["random", "pe-gp-ucb", "mle"]}):
        assert aggregates_mb(make_plan(tiny(**more))) > base


@pytest.mark.parametrize(
    ("blocks", "cores", "seconds"), [([1, 1, 1, 1], 2, 2), ([9, 1, 1, 1], 4, 9), ([], 4, 0), ([3.0], 1, 3.0)]
)
def test_wall_time_is_shared_work_but_no_less_than_the_longest_block(blocks, cores, seconds):
    assert wall_seconds(blocks, cores) == seconds


def test_jobs_are_forecast_by_their_names_and_blocks_that_stand_no_more():
    plan = make_plan(tiny())
    branch = plan.branch("hills", "any", "pe-gp-ucb")
    names = [f"run hills/any/{label} seeds {seeds}" for label in ("random", "pe-gp-ucb") for seeds in ("0-1", "2-3")]
    forecast = Forecaster(plan).jobs()
    assert [name for name in forecast if " " in name] == names
    assert forecast[names[2]] == pytest.approx(model(branch, 2))
    assert forecast["run"] == pytest.approx(sum(forecast[name] for name in names) / 4)
    assert forecast["score"] > 0
    run(plan, branch, 0, 1, 300.0)
    again = Forecaster(plan).jobs()
    assert names[2] not in again
    assert again[names[3]] == pytest.approx(300.0)


def test_a_class_that_says_nothing_gets_cautious_numbers_until_it_ran(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.syspath_prepend(tmp_path)
    plan = make_plan(tiny(algorithms=[{"name": "mine:Mine", "label": "random"}, "pe-gp-ucb"]))
    branch = plan.branch("hills", "any", "random")
    before = Forecaster(plan)
    assert before.block(branch, 2).source == "caution"
    assert before.unknown(branch) == ("mine:Mine",)
    assert before.minutes(branch, 0, "999", 1) == 605  # 3 x (4 + 1000 x 12) s, in steps of 5
    run(plan, branch, 0, 1, 4.0)
    forecaster = Forecaster(plan)
    assert forecaster.block(branch, 2).source == "1 run file"
    assert forecaster.unknown(branch) == ()
    assert forecaster.minutes(branch, 0, "999", 1) == 105  # a sixth of it


def test_plan_counts_jobs_of_data_once_and_none_of_the_experiments_own_files():
    problems = ["intel", {"name": "intel", "label": "loud", "parameters": {"noise": 2.0}}, "hills"]
    Path("experiment.yaml").write_text(json.dumps(tiny(data="simulate", problems=problems)))
    result = CliRunner().invoke(app, ["plan", "experiment.yaml"])
    rows = {words[0]: words[1:] for line in result.stdout.splitlines() if len(words := line.split()) == 4}
    assert rows["data"] == ["1", "0", "1"]
    assert rows["runs"] == ["12", "0", "12"]
    assert "3 problems, 6 branches, 24 runs in 12 jobs of up to 2 seeds\n" in result.stdout


def test_plan_names_the_classes_that_it_is_cautious_about(monkeypatch):
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
