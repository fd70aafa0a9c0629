"""What all seeds and branches of a problem share is computed once, with the digits of computing it each time."""

import json

import numpy as np
import pytest
import xarray as xr
from experiments import run_all

from bocu.core.kernels import NUMBERS_AT_ONCE, Matern52, SquaredExponential, squared_distance
from bocu.core.randomness import Streams
from bocu.problems import continuous, scalarised_optimum
from bocu.problems.data.means import ROWS_AT_A_TIME, Mean
from bocu.problems.scalarised import ScalarisedPortfolioParameters
from bocu.sweep.evaluation.metrics import ObjectiveMetric, build_scorer
from bocu.sweep.evaluation.optima import read_optima, store_optima
from bocu.sweep.evaluation.scores import score
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.runs.protocol import PROTOCOLS
from bocu.sweep.runs.seed_run import build_problem

HIGH = {"name": "normal", "parameters": {"mean": 0.8, "std": 0.1}}


def plainly(mean, points):
    """Return what a mean is by its formula, all rows of a block at once."""
    flat, known = points.reshape(-1, points.shape[-1]) / mean.lengthscales, mean.inputs / mean.lengthscales
    blocks = [flat[start : start + ROWS_AT_A_TIME] for start in range(0, len(flat), ROWS_AT_A_TIME)]
    weights = mean.variance * mean.weights
    found = [by_formula(mean.kernel, squared_distance(block, known)) @ weights for block in blocks]
    return (mean.offset + mean.scale * (mean.constant + np.concatenate(found))).reshape(points.shape[:-1])


def by_formula(kernel, s):
    if kernel is SquaredExponential:
        return np.exp(-0.5 * s)
    r = np.sqrt(5.0 * s)
    return (1.0 + r * (1.0 + r / 3.0)) * np.exp(-r)


@pytest.mark.parametrize("kernel", [Matern52, SquaredExponential])
def test_a_mean_by_parts_has_the_digits_of_its_formula(kernel):
    generator = np.random.default_rng(0)
    inputs, weights = generator.random((700, 5)), generator.standard_normal(700)
    mean = Mean(tuple("abcde"), inputs, weights, np.full(5, 0.4), 1.5, kernel, 0.1, 2.0, 3.0)
    decisions, contexts = generator.random((5, 1, 3)), generator.random((1, 450, 2))
    both = [np.broadcast_to(part, (5, 450, part.shape[-1])) for part in (decisions, contexts)]
    for points in (
        np.concatenate(both, axis=-1),
        generator.random((77, 5)),
        np.repeat(inputs[:1], 9, axis=0),
        inputs[0],
    ):
        np.testing.assert_array_equal(mean(points), plainly(mean, points))


@pytest.mark.parametrize("size", [1, 7, NUMBERS_AT_ONCE + 3])
@pytest.mark.parametrize("kernel", [Matern52, SquaredExponential])
def test_kernels_in_place_have_the_same_digits(kernel, size):
    s = 20.0 * np.random.default_rng(0).random(size)
    expected = by_formula(kernel, s)
    np.testing.assert_array_equal(kernel.value(s), expected)
    assert kernel.value(s, out=s) is s
    np.testing.assert_array_equal(s, expected)


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
    return make_plan(
        {
            "name": "dear",
            "seeds": {"first": 0, "count": 2, "per_job": 2},
            "iterations": 3,
            "problems": [problem],
            "algorithms": ["random"],
            "metrics": list(metrics),
            "figures": ["regret"],
        }
    )


LAW = {"name": "newsvendor", "parameters": {"law": HIGH}}
SHIFT = {
    "name": "newsvendor",
    "parameters": {"shift": {"name": "drift", "parameters": {"to": HIGH, "over": 2, "path": "mixture"}}},
}


@pytest.mark.parametrize("problem", [LAW, SHIFT])
def test_optima_that_are_dear_are_searched_for_once(problem, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
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
    assert not ScalarisedPortfolioParameters(decisions=100).dear_optima
    assert not ScalarisedPortfolioParameters(reference={"name": "empirical"}).dear_optima
    of = continuous.PortfolioParameters
    stored = [of(source=source).dear_optima for source in ("mirror", "download", "simulate")]
    assert stored == [False, False, True]
    assert of(source="mirror", fit="refitted").dear_optima
    assert not of(source="simulate", optimum="published").dear_optima
