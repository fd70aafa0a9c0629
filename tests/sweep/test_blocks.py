"""`per_job: auto`: settled by the forecast, kept beside the results, and of no effect on a number."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from experiments import run_all, tiny

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf
from bocu.sweep import forecast
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.record import write_record
from bocu.sweep.forecast import Forecaster, keep, seeds_a_job

HEAVY = {"name": "pe-gp-ucb", "label": "heavy"}


def plan_of(count=100, per_job="auto", **changes):
    return make_plan(tiny(seeds={"count": count, "per_job": per_job}, algorithms=["random", HEAVY], **changes))


def of(plan, label):
    return plan.per_job["hills", "any", label]


@pytest.fixture(autouse=True)
def _elsewhere(elsewhere, monkeypatch):
    monkeypatch.setattr(forecast.os, "sched_getaffinity", lambda process: {0, 1})


@pytest.mark.parametrize(
    ("count", "start", "a_seed", "wanted", "expected"),
    [
        (1000, 0.0, 1.0, 60.0, 59),  # 17 blocks, the last of 56
        (100, 0.0, 1.0, 60.0, 50),  # not 60 and 40
        (100, 10.0, 1.0, 60.0, 50),
        (100, 0.0, 90.0, 60.0, 1),
        (100, 70.0, 1.0, 60.0, 1),
        (7, 0.0, 1e-9, 60.0, 7),
    ],
)
def test_blocks_are_as_equal_as_they_can_be(count, start, a_seed, wanted, expected):
    assert seeds_a_job(count, start, a_seed, wanted) == expected


def test_jobs_of_a_large_sweep_take_a_minute_or_less_and_more_than_half():
    plan = plan_of(count=5000, iterations=400)
    for branch in plan.branches.values():
        found = Forecaster(plan).block(branch, plan.per_job[branch.key]).seconds
        assert found <= 61
        assert found >= 25 or plan.per_job[branch.key] == 5000
    assert of(plan, "random") > 2 * of(plan, "heavy")


def test_a_small_sweep_is_cut_for_the_cores_to_share_it(monkeypatch):
    few = plan_of(count=1000, iterations=400)
    assert few.jobs() >= 4
    monkeypatch.setattr(forecast.os, "sched_getaffinity", lambda process: set(range(16)))
    many = plan_of(count=1000, iterations=400)
    assert of(many, "heavy") < of(few, "heavy")


def test_what_was_settled_stays_when_forecasts_change_and_more_seeds_add_blocks(monkeypatch):
    plan = plan_of(count=100, iterations=300)
    first = dict(plan.per_job)
    keep(plan)
    slow = Forecaster.block
    monkeypatch.setattr(Forecaster, "block", lambda *given: replace(slow(*given), seconds=1000 * slow(*given).seconds))
    again = plan_of(count=300, iterations=300)
    assert again.per_job == first
    branch = plan.branch("hills", "any", "heavy")
    assert again.blocks_of(branch)[: len(plan.blocks_of(branch)) - 1] == plan.blocks_of(branch)[:-1]
    # A branch that is new is settled for itself.
    more = make_plan(tiny(seeds={"count": 300, "per_job": "auto"}, iterations=300, algorithms=["random", HEAVY, "mle"]))
    assert {key: more.per_job[key] for key in first} == first
    assert of(more, "mle") >= 1


def test_no_estimate_enters_what_a_run_is():
    plan = plan_of(count=3)
    branch = plan.branch("hills", "any", "heavy")
    stated = plan_of(count=3, per_job=of(plan, "heavy"))
    first, last = plan.blocks_of(branch)[0]
    assert plan.parameters.run(branch, first, last) == stated.parameters.run(branch, first, last)
    assert plan.products.runs(branch) == stated.products.runs(branch)


def test_results_in_blocks_that_were_stated_keep_them():
    stated = plan_of(count=4, per_job=2)
    write_record(stated)
    run_all(stated)
    plan = plan_of(count=4)
    assert set(plan.per_job.values()) == {2}
    assert plan.products.targets() == stated.products.targets()


def test_numbers_are_the_same_in_other_blocks():
    run_all(plan_of(count=3, per_job=2, name="two"))
    run_all(plan_of(count=3, name="auto"))
    one, other = (read_netcdf(f"results/{name}/cubes/hills.nc") for name in ("two", "auto"))
    assert one.drop_vars("seconds").equals(other.drop_vars("seconds"))


def test_a_broken_record_is_one_line():
    plan = plan_of(count=3)
    keep(plan)
    for text in ("{", json.dumps({"a": 0}), json.dumps([1])):
        Path("results/tiny/per-job.json").write_text(text)
        with pytest.raises(BocuError, match=r"per-job\.json: not readable as seeds a job, by branch, or edited"):
            _ = plan_of(count=3).per_job
