"""Metrics on continuous decisions over a grid of contexts, and runs with several outputs from run file to cube."""

import json

import numpy as np
import pytest
from experiments import run_all, scoring

from bocu.core.io.files import read_netcdf
from bocu.core.randomness import Streams
from bocu.problems.scalarised import ScalarisedNewsvendor, ScalarisedNewsvendorParameters
from bocu.sweep.evaluation.cubes import DONE
from bocu.sweep.evaluation.metrics import ExpectedPayoff, ExpectedPayoffParameters
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.runs.protocol import PROTOCOLS

GRID = np.linspace(0.0, 1.0, 4001)[:, None]


def met(outputs, seed=100):
    problem = ScalarisedNewsvendor(ScalarisedNewsvendorParameters(outputs=outputs, contexts=20), {})
    realisation = problem.realise(Streams(seed))
    protocol = PROTOCOLS["scalarised"]
    situations = [protocol.situation(realisation, t, np.zeros(t + 9)) for t in range(-9, 11)]
    return realisation, situations, np.random.default_rng(seed).random((20, 1))


def robust(**ambiguity_set):
    return scoring("DistributionallyRobust", set={"name": "tv", "radius": 0.5, **ambiguity_set})


@pytest.mark.parametrize("outputs", [1, 2])
def test_robust_regret_is_against_the_best_at_the_weights_of_the_round(outputs):
    realisation, situations, decisions = met(outputs)
    regret, value = robust().score(realisation, situations, decisions)
    from bocu.robust.ambiguity import TotalVariation, worst_case

    for row, situation in enumerate(situations):
        weights = np.ones(1) if outputs == 1 else situation.weights
        payoffs = np.concatenate([realisation.table(GRID), realisation.table(decisions[row : row + 1])]) @ weights
        exact = worst_case(payoffs, situation.reference, TotalVariation(0.5)).value
        assert value[row] == pytest.approx(exact[-1], abs=1e-12)
        assert regret[row] + value[row] == pytest.approx(exact.max(), abs=9.0 * 2.5e-4)
        assert regret[row] + value[row] >= exact.max() - 1e-6


@pytest.mark.parametrize(
    "metric", [robust(), robust(name="chi2mod"), ExpectedPayoff(ExpectedPayoffParameters()), scoring("Robust")]
)
def test_regret_is_not_negative_even_at_the_optimum(metric):
    realisation, situations, _ = met(2)
    metric.score(realisation, situations, np.full((20, 1), 0.1))
    decisions = np.linspace(0.0, 0.4, 20)[:, None]
    regret, _ = metric.score(realisation, situations, decisions)
    assert (regret >= 0.0).all()
    assert np.isfinite(regret).all()


def test_no_regret_where_no_decision_meets_the_aspiration():
    regret, value = scoring("Satisficing", tau=1e6, set={"name": "tv", "radius": 0.5}).score(*met(1))
    assert np.isneginf(value).all()
    assert (regret == 0.0).all()


def test_one_output_has_one_optimum():
    realisation, situations, decisions = met(1)
    regret, value = robust().score(realisation, situations, decisions)
    assert np.ptp(regret + value) <= 1e-12


def test_a_radius_that_changes_is_followed():
    realisation, situations, decisions = met(1)
    shrinking, wide, narrow = robust(radius=[1.0] * 5 + [0.1]), robust(radius=1.0), robust(radius=0.1)
    regret, _ = shrinking.score(realisation, situations, decisions)
    assert np.allclose(regret[:14], wide.score(realisation, situations, decisions)[0][:14], atol=1e-9)
    assert np.allclose(regret[15:], narrow.score(realisation, situations, decisions)[0][15:], atol=1e-9)


def test_scoring_is_repeatable():
    first = robust().score(*met(2))
    metric = robust()
    metric.score(*met(2, seed=101))
    again = metric.score(*met(2))
    assert np.array_equal(first, again)


def test_two_outputs_from_run_to_cube(elsewhere):
    experiment = {
        "name": "two",
        "seeds": {"first": 100, "count": 2, "per_job": 1},
        "iterations": 4,
        "problems": [{"name": "newsvendor-grid", "parameters": {"outputs": 2, "contexts": 10}}],
        "algorithms": ["random"],
        "metrics": [{"name": "dro", "parameters": {"set": {"name": "tv", "radius": 0.5}}}, "so"],
        "figures": ["regret"],
    }
    plan = make_plan(experiment)
    run_all(plan)
    (branch,) = plan.branches.values()
    run = read_netcdf(plan.products.runs(branch)[0])
    assert run["payoff"].dims == ("seed", "iteration", "output")
    assert run["decision"].shape == (1, 14, 1)
    assert run["context_index"].values.min() >= 0
    cube = read_netcdf(plan.paths.cube("newsvendor-grid"))
    assert (cube["status"].values == DONE).all()
    assert cube["regret"].shape == (1, 1, 2, 2, 14)
    assert (cube["regret"].values >= 0.0).all()
    assert json.loads(cube.attrs["specification"])["problem"]["parameters"]["outputs"] == 2
