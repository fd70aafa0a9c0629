"""What all seeds and branches of a problem share is computed once, with the digits of computing it each time."""

import json

import numpy as np
import pytest
import xarray as xr
from experiments import run_all, tiny

from bocu.core.randomness import Streams
from bocu.problems import continuous, scalarised_optimum
from bocu.problems.scalarised import ScalarisedPortfolioParameters
from bocu.sweep.evaluation.metrics import ObjectiveMetric, build_scorer
from bocu.sweep.evaluation.optima import read_optima, store_optima
from bocu.sweep.evaluation.scores import score
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.runs.protocol import PROTOCOLS
from bocu.sweep.runs.seed_run import build_problem

HIGH = {"name": "normal", "parameters": {"mean": 0.8, "std": 0.1}}


def scored(metric, problem, seeds):
    found = []
    for seed in seeds:
        realisation = problem.realise(Streams(seed))
        seen = np.zeros(9, dtype=int)
        situations = [PROTOCOLS[problem.protocol].situation(realisation, t, seen[:t]) for t in range(1, 5)]
        found.append(metric.score(realisation, situations, np.array([seed, 1, 2, 3])))
    return np.array(found)


@pytest.mark.parametrize(("name", "times"), [("problem/hartmann-3", 1), ("problem/gp-sample", 3)])
def test_seeds_that_share_their_payoffs_are_valued_once(name, times, monkeypatch):
    stated = {"class": "objective/dro", "parameters": {"set": {"name": "tv", "radius": 0.3}}}
    scorer = {"class": "bocu.sweep.evaluation.metrics:ObjectiveMetric", "parameters": {"objective": stated}}
    points = {"decision_points": [4, 4], "context_points": [6] if times == 1 else [3, 2]}
    problem = build_problem({"class": name, "parameters": points}, {})
    asked, values = [], ObjectiveMetric.values

    def counted(self, payoffs, situation):
        asked.append(payoffs)
        return values(self, payoffs, situation)

    monkeypatch.setattr(ObjectiveMetric, "values", counted)
    together = scored(build_scorer(scorer).metric, problem, range(3))
    assert len(asked) == times
    apart = [scored(build_scorer(scorer).metric, problem, [seed])[0] for seed in range(3)]
    np.testing.assert_array_equal(together, apart)


def plan_of(problem, *metrics):
    two = {"count": 2, "per_job": 2}
    return make_plan(tiny(seeds=two, iterations=3, problems=[problem], algorithms=["random"], metrics=[*metrics]))


LAW = {"name": "newsvendor", "parameters": {"law": HIGH}}
SHIFT = {
    "name": "newsvendor",
    "parameters": {"shift": {"name": "drift", "parameters": {"to": HIGH, "over": 2, "path": "mixture"}}},
}


@pytest.mark.parametrize("problem", [LAW, SHIFT])
def test_optima_that_are_dear_are_searched_for_once(problem, elsewhere, monkeypatch):
    plan = plan_of(problem, "so")
    run_all(plan)  # which hands scores no optima: each branch searches
    (branch,) = plan.branches.values()
    assert [*plan.optima("newsvendor")] == ["so"]
    assert plan.inputs.score(branch)["optima"] == [plan.paths.optima("newsvendor", "so")]
    parameters = plan.parameters.optima("newsvendor", "so")
    unfolded = {**parameters, **{key: json.loads(parameters[key]) for key in ("problem", "metrics")}}
    store_optima(unfolded, {}, "so.nc")
    assert np.isnan(read_optima("so.nc")["so"].error)  # no discretisation

    def searched(*arguments):
        raise AssertionError("searched for again")

    monkeypatch.setattr(continuous, "optimum_of", searched)
    monkeypatch.setattr(continuous, "optima_along", searched)
    metrics = json.loads(plan.parameters.score(branch)["metrics"])
    score(plan.products.runs(branch), {}, branch.specification, metrics, "told.nc", optima=["so.nc"])
    with xr.open_dataset("told.nc") as told, xr.open_dataset(plan.paths.score_file(branch)) as before:
        assert told["regret"].equals(before["regret"])
        assert told["value"].equals(before["value"])
        assert "discretisation_error" not in told


def test_at_the_weights_that_each_seed_draws_is_searched_once_for_all_branches(elsewhere, monkeypatch):
    two = {"name": "ackley-grid", "label": "two", "parameters": {"contexts": 9, "outputs": 2}}
    plan = plan_of(two, "so", "ro")
    run_all(plan)  # which hands scores no optima: each branch searches
    (branch,) = plan.branches.values()
    files = plan.inputs.score(branch)["optima"]
    for entry, file in zip(plan.optima("two"), files, strict=True):
        parameters = plan.parameters.optima("two", entry)
        unfolded = {**parameters, **{key: json.loads(parameters[key]) for key in ("problem", "metrics")}}
        store_optima(unfolded, {}, file)
        assert {*read_optima(file)[entry].values} == {0, 1}

    searched, best = [], scalarised_optimum.ScalarisedSearch.best

    def counted(self, pool, weights):
        searched.append(weights)
        return best(self, pool, weights)

    monkeypatch.setattr(scalarised_optimum.ScalarisedSearch, "best", counted)
    metrics = json.loads(plan.parameters.score(branch)["metrics"])
    score(plan.products.runs(branch), {}, branch.specification, metrics, "told.nc", optima=files)
    assert len(searched) == len(metrics)  # at the net's weights, for the front
    with xr.open_dataset("told.nc") as told, xr.open_dataset(plan.paths.score_file(branch)) as before:
        assert told["regret"].any()
        for name in ("regret", "value", "hypervolume_share"):
            assert told[name].equals(before[name])


def test_optima_on_a_grid_of_contexts_are_those_of_the_scores(monkeypatch):
    specification = {"class": "problem/ackley-grid", "parameters": {"contexts": 9}}
    metric = {"label": "so", "class": "metric/so", "parameters": {"under": "reference"}}
    problem = build_problem(specification, {})
    realisation = problem.realise(Streams(0))
    situations = [PROTOCOLS[problem.protocol].situation(realisation, t, np.zeros(t, dtype=int)) for t in range(3)]
    best, decisions = build_scorer(metric).metric.best(realisation, situations)
    regret, value = build_scorer(metric).score(realisation, situations, np.full((3, 2), 0.3))
    np.testing.assert_array_equal(best - value, regret)
    told = build_scorer(metric)
    told.metric.optima = dict(enumerate(best))
    monkeypatch.setattr(scalarised_optimum.ScalarisedSearch, "pool", None)  # nothing is searched for
    np.testing.assert_array_equal(told.score(realisation, situations, np.full((3, 2), 0.3)), (regret, value))
    assert decisions.shape == (3, 2)


def test_which_optima_are_dear():
    assert plan_of("newsvendor", "so").optima("newsvendor") == {}
    portfolio = {"name": "portfolio-grid", "label": "one", "parameters": {"contexts": 9}}
    assert [*plan_of(portfolio, "so", "ro").optima("one")] == ["so", "ro"]
    two = {"name": "ackley-grid", "label": "one", "parameters": {"contexts": 9, "outputs": 2}}
    assert [*plan_of(two, "so").optima("one")] == ["so"]
    for other in ({"decisions": 20}, {"reference": {"name": "empirical"}}, {"outputs": 1}):
        assert plan_of({**two, "parameters": {**two["parameters"], **other}}, "so").optima("one") == {}
    assert not ScalarisedPortfolioParameters(decisions=100).dear_optima
    assert not ScalarisedPortfolioParameters(reference={"name": "empirical"}).dear_optima
    of = continuous.PortfolioParameters
    stored = [of(source=source).dear_optima for source in ("mirror", "download", "simulate")]
    assert stored == [False, False, True]
    assert of(source="mirror", fit="refitted").dear_optima
    assert not of(source="simulate", optimum="published").dear_optima
