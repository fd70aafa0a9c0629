"""Metrics of what is deployed at last: by the algorithm itself, or by one model of its trials, the same for all."""

import json

import numpy as np
import pytest
import xarray as xr
from experiments import run_all

from bocu.core.errors import BocuError
from bocu.core.randomness import Streams
from bocu.core.rounds import Situation
from bocu.learners.algorithms.told import ToldTrials
from bocu.learners.surrogates.continuous.model import ContinuousGP
from bocu.learners.surrogates.continuous.structure import product
from bocu.sweep.evaluation.deployed import deployed, expectations
from bocu.sweep.evaluation.metrics import build_scorer
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.runs.protocol import PROTOCOLS
from bocu.sweep.runs.records import read_runs
from bocu.sweep.runs.seed_run import build_problem

GRID = {"name": "kirschner", "label": "a", "parameters": {"decision_points": [8], "context_points": [6]}}
METRICS = [
    "so",
    {"name": "so", "label": "own", "deployed": "own"},
    {"name": "so", "label": "shared", "deployed": "shared-model"},
]


def experiment(problem, *algorithms, **changes):
    return {
        "name": "deploys",
        "seeds": {"first": 0, "count": 3, "per_job": 2},
        "iterations": 7,
        "problems": [problem],
        "algorithms": list(algorithms),
        "metrics": METRICS,
        "figures": ["regret"],
        **changes,
    }


@pytest.mark.parametrize(("problem", "algorithm"), [(GRID, "ucb-so"), ("newsvendor", "sbo-kde")])
def test_only_what_is_deployed_at_last_counts(elsewhere, problem, algorithm):
    plan = make_plan(experiment(problem, algorithm))
    run_all(plan)
    (branch,) = plan.branches.values()
    built = build_problem(branch.specification["problem"], {})
    metric = build_scorer({**json.loads(plan.parameters.score(branch)["metrics"])[0]})
    with xr.open_dataset(plan.paths.score_file(branch)) as scores:
        regret = scores["regret"].load()
    assert (regret.sel(metric=["own", "shared"]).isel(iteration=slice(-1)) == 0.0).all()
    for file in plan.products.runs(branch):
        runs = read_runs(file)
        for row, seed in enumerate(runs["seed"].values):
            run, realisation = runs.isel(seed=row), built.realise(Streams(int(seed)))
            seen = run["context" if problem == "newsvendor" else "context_index"].values
            last = PROTOCOLS[built.protocol].situation(realisation, 7, seen[:-1])
            for label, by in (("own", "own"), ("shared", "shared-model")):
                decision = deployed(run, realisation, last, by)
                found = regret.sel(metric=label, seed=seed).isel(iteration=-1)
                assert found == metric.score(realisation, [last], decision)[0][0]
                if by == "shared-model":
                    tried = run["decision" if problem == "newsvendor" else "decision_index"].values
                    assert decision[0] in tried


def test_the_shared_model_deploys_what_is_best_in_the_announced_contexts_and_not_the_luckiest_trial():
    built = build_problem({"class": "problem/kirschner", "parameters": GRID["parameters"]}, {})
    realisation = built.realise(Streams(0))
    # Each of four decisions twice in context 0, where 3 pays most; decision 0 once in context 5, where all pay more.
    decisions, contexts = np.array([*range(4)] * 2 + [0]), np.array([0] * 8 + [5])
    run = xr.Dataset(
        {
            "decision_index": ("iteration", decisions),
            "context_index": ("iteration", contexts),
            "observation": ("iteration", 0.1 * decisions + 5.0 * (contexts == 5)),
        },
        coords={"seed": 0},
    )
    mostly_the_first = np.array([0.9, 0.0, 0.0, 0.0, 0.0, 0.1])
    last = Situation(t=9, reference=mostly_the_first, truth=mostly_the_first, observed=9)
    assert deployed(run, realisation, last, "shared-model") == [3]


def test_expectations_are_the_posterior_mean_averaged_by_the_weights():
    draw = np.random.default_rng(4)
    decisions, contexts, payoffs = draw.random((8, 2)), draw.random((8, 1)), draw.random(8)
    likely, weights = np.array([[0.2], [0.7]]), np.array([0.25, 0.75])
    model = ContinuousGP(product(2, 1, "matern-5/2", "squared-exponential"))
    for row in zip(decisions, contexts, payoffs, strict=True):
        model.add(*row)
    posterior = model.posterior(np.random.default_rng(0))
    wanted = sum(
        weight * posterior.moments(np.hstack([decisions, np.tile(context, (8, 1))]))[0]
        for context, weight in zip(likely, weights, strict=True)
    )
    found = expectations(ToldTrials(decisions, contexts, payoffs, likely, weights), np.random.default_rng(0))
    np.testing.assert_allclose(found, wanted, rtol=1e-10)


@pytest.mark.parametrize(
    ("problem", "says"), [("hills", "changes from step to step"), ("ackley-grid", "weighs outputs anew in every round")]
)
def test_where_no_single_decision_is_deployed_it_is_refused_in_a_line(problem, says):
    with pytest.raises(BocuError, match=rf"metrics\.1\.deployed: .* {says}: no single decision is deployed$"):
        make_plan(experiment(problem, "random"))


def test_titles_tell_what_is_deployed_from_what_is_decided():
    assert list(make_plan(experiment(GRID, "random")).titles[1].values()) == [
        "SO",
        "SO of what is deployed",
        "SO of what one model would deploy",
    ]
