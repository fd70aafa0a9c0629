"""Metrics on a fixed discretisation of continuous contexts, and any metric under another law than the one met."""

import json

import numpy as np
import pytest
import xarray as xr
from experiments import run_all, scoring

from bocu.core.errors import BocuError
from bocu.core.parameters import Reading
from bocu.core.randomness import Streams
from bocu.core.rounds import CONTINUOUS, GRID
from bocu.problems.functions import function_named
from bocu.problems.optima import expected_payoff
from bocu.robust.ambiguity import TotalVariation, worst_case
from bocu.robust.contexts.cells import cells, points_of
from bocu.robust.contexts.laws import clipped_normal
from bocu.sweep.evaluation.metrics import ExpectedPayoff, ExpectedPayoffParameters, Metric, Scorer, build_scorer
from bocu.sweep.evaluation.optima import read_optima, store_optima
from bocu.sweep.evaluation.scores import score
from bocu.sweep.evaluation.under import moved, read_under
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.runs.protocol import PROTOCOLS
from bocu.sweep.runs.records import read_runs
from bocu.sweep.runs.seed_run import build_problem

NEWSVENDOR = {"class": "problem/newsvendor", "parameters": {"law": {"name": "normal"}}}
GRID_PROBLEM = {"class": "problem/hartmann-3", "parameters": {"decision_points": [5, 5], "context_points": [9]}}
HIGH = {"name": "normal", "parameters": {"mean": 0.8, "std": 0.1}}
TV = {"name": "tv", "radius": 0.3}
CVAR = {"name": "cvar", "alpha": 0.1}
SO = ExpectedPayoff(ExpectedPayoffParameters())


def met(specification, rounds=3):
    problem = build_problem(specification, {})
    realisation = problem.realise(Streams(0))
    seen = np.zeros((9, 1)) if problem.protocol == "continuous" else np.zeros(9, dtype=int)
    return realisation, [PROTOCOLS[problem.protocol].situation(realisation, t, seen[:t]) for t in range(1, rounds + 1)]


def under(stated):
    (law,) = read_under(stated, "metrics.0.under.", Reading())
    return law


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
def test_cells_hold_the_mass_of_a_law(dimension):
    # Few Sobol points lie near a corner of four dimensions.
    law = clipped_normal(dimension, mean=0.9 if dimension < 3 else 0.6, std=0.2)
    for refined, count in ((False, points_of(dimension)), (True, 4 * points_of(dimension))):
        found = cells(dimension, refined=refined)
        masses = found.masses(law)
        assert found.points.shape == (count, dimension)
        assert masses.sum() == pytest.approx(1.0)
        drawn = law.sample(np.random.default_rng(0), 200_000)
        np.testing.assert_allclose(masses @ found.points, drawn.mean(axis=0), atol=0.02)
    if dimension == 1:
        # The atom that clipping leaves at 1 belongs to the last cell.
        assert masses[-1] == pytest.approx(1.0 - law.marginals[0].cumulative(np.array(255 / 256)))


def test_a_robust_metric_is_the_worst_case_over_the_cells():
    realisation, situations = met(NEWSVENDOR)
    decisions = np.array([[0.1], [0.4], [0.9]])
    regret, value = scoring("DistributionallyRobust", set=TV).score(realisation, situations, decisions)
    points = (np.arange(64) + 0.5) / 64
    masses = np.diff(clipped_normal().marginals[0].cumulative(np.arange(1, 64) / 64), prepend=0.0, append=1.0)

    def exact(x):
        payoffs = function_named("newsvendor")(x[:, None, :], points[None, :, None])
        return worst_case(payoffs, masses, TotalVariation(0.3)).value

    np.testing.assert_allclose(value, exact(decisions), atol=1e-12)
    best = exact(np.linspace(0.0, 1.0, 4001)[:, None]).max()
    np.testing.assert_allclose(regret + value, best, atol=5.0 * 2.5e-4)
    assert (regret + value >= best - 1e-6).all()


def test_under_a_law_the_expectation_is_that_of_the_law_up_to_the_error_told(tmp_path):
    specification = {
        "label": "high",
        "class": "metric/so",
        "parameters": {},
        "under": under(HIGH).model_dump(mode="json"),
    }
    parameters = {"problem": NEWSVENDOR, "metrics": [specification], "iterations": 3, "seed": 0}
    store_optima(parameters, {}, tmp_path / "high.nc")
    stored = read_optima(tmp_path / "high.nc")["high"]
    realisation, situations = met(NEWSVENDOR)
    decisions = np.linspace(0.0, 1.0, 3)[:, None]
    regret, value = Scorer(SO, under(HIGH)).score(realisation, situations, decisions)
    exact = expected_payoff("newsvendor", "quadrature", law=clipped_normal(mean=0.8))(decisions)
    assert 0.0 < stored.error < 0.01
    assert stored.against == 256
    np.testing.assert_allclose(value, exact, atol=2.0 * stored.error)
    np.testing.assert_allclose(regret + value, stored.values[None][1], atol=1e-9)
    met_value = SO.score(realisation, situations, decisions)[1]
    assert np.abs(value - met_value).max() > 0.1


def test_laws_move_along_a_path():
    start, end = np.array([0.5, 0.5, 0.0]), np.array([0.0, 0.5, 0.5])
    assert moved(start, end, 0.0) is start
    np.testing.assert_allclose(moved(start, end, 1.0), end)
    np.testing.assert_allclose(moved(start, end, 0.5), [0.25, 0.5, 0.25])
    # Beyond the end -0.5 is clipped to 0, and 0.5 + 1 scaled to 1.
    np.testing.assert_allclose(moved(start, end, 2.0), [0.0, 1 / 3, 2 / 3])


def test_on_a_grid_a_point_of_the_path_to_the_truth_is_between_reference_and_truth():
    realisation, situations = met(GRID_PROBLEM)
    decisions = np.array([0, 7, 20])
    by = {
        stated: Scorer(SO, under({"to": "truth", "s": stated})).score(realisation, situations, decisions)[1]
        for stated in (0.0, 0.5, 1.0)
    }
    reference, truth = (
        ExpectedPayoff(ExpectedPayoffParameters(under=which)).score(realisation, situations, decisions)[1]
        for which in ("reference", "truth")
    )
    np.testing.assert_allclose(by[0.0], reference)
    np.testing.assert_allclose(by[1.0], truth)
    np.testing.assert_allclose(by[0.5], 0.5 * (reference + truth))
    assert np.abs(truth - reference).max() > 1e-3


class Quartile(Metric):
    """A metric of one's own: the largest payoff that contexts exceed with three quarters of their weight."""

    protocols = GRID + CONTINUOUS

    def values(self, payoffs, situation):
        order = np.argsort(payoffs, axis=1)
        reached = np.cumsum(situation.reference[order], axis=1) >= 0.25
        return np.take_along_axis(payoffs, order, axis=1)[np.arange(len(payoffs)), reached.argmax(axis=1)]


@pytest.mark.parametrize("specification", [NEWSVENDOR, GRID_PROBLEM])
def test_a_metric_of_ones_own_takes_another_law(specification):
    realisation, situations = met(specification)
    continuous = specification is NEWSVENDOR
    decisions = np.array([[0.2], [0.5], [0.7]]) if continuous else np.array([0, 7, 20])
    plain = Scorer(Quartile(Quartile.Parameters())).score(realisation, situations, decisions)
    high = Scorer(Quartile(Quartile.Parameters()), under(HIGH)).score(realisation, situations, decisions)
    for regret, _ in (plain, high):
        assert (regret >= 0.0).all()
    assert np.abs(plain[1] - high[1]).max() > 1e-2


def experiment(*metrics, problems=("newsvendor",), **changes):
    return {
        "name": "laws",
        "seeds": {"first": 0, "count": 3, "per_job": 2},
        "iterations": 3,
        "problems": list(problems),
        "algorithms": ["random"],
        "metrics": ["so", *metrics],
        "figures": ["regret"],
        **changes,
    }


PATH = {"name": "so", "label": "path", "under": {"to": HIGH, "steps": 3, "until": 2}}
TENTH = {"name": "dro", "label": "tenth", "parameters": {"set": CVAR}, "under": [HIGH, "uniform"]}


def test_a_metric_under_a_law_leaves_run_jobs_untouched():
    plain, more = make_plan(experiment()), make_plan(experiment(PATH, TENTH))
    assert [metric.label for metric in more.metrics] == ["so", "path-0", "path-1", "path-2", "tenth-0", "tenth-1"]
    (branch,), (other,) = plain.branches.values(), more.branches.values()
    assert plain.products.runs(branch) == more.products.runs(other)
    for first, last in plain.blocks_of(branch):
        assert plain.parameters.run(branch, first, last) == more.parameters.run(other, first, last)
    assert plain.parameters.score(branch) != more.parameters.score(other)
    assert plain.optima("newsvendor") == {}
    assert [*more.optima("newsvendor")] == ["path", "tenth"]
    assert more.inputs.score(other)["optima"] == [
        "results/laws/optima/newsvendor/path.nc",
        more.products.optima("newsvendor")[1],
    ]


def test_stored_optima_and_recommended_decisions_are_scored(elsewhere):
    plan = make_plan(experiment(PATH, TENTH))
    run_all(plan)  # which hands scores no optima: they are searched for
    (branch,) = plan.branches.values()
    files = []
    for entry in plan.optima("newsvendor"):
        files.append(plan.paths.optima("newsvendor", entry))
        parameters = plan.parameters.optima("newsvendor", entry)
        unfolded = {**parameters, **{key: json.loads(parameters[key]) for key in ("problem", "metrics")}}
        store_optima(unfolded, {}, files[-1])
    metrics = json.loads(plan.parameters.score(branch)["metrics"])
    score(plan.products.runs(branch), {}, branch.specification, metrics, "told.nc", optima=files)
    with xr.open_dataset("told.nc") as told, xr.open_dataset(plan.paths.score_file(branch)) as searched:
        assert told["value"].equals(searched["value"])
        np.testing.assert_allclose(told["regret"], searched["regret"], atol=1e-12)
        errors = told["discretisation_error"].values
        assert np.isnan(errors[0])  # the problem's own rule
        assert (errors[1:] > 0.0).all()
        recommended = told["recommended_value"].sel(metric="path-1")
        assert np.isfinite(recommended.isel(iteration=-1)).all()
        runs = [read_runs(file)["recommended"].isel(iteration=-1).values for file in plan.products.runs(branch)]
        last = np.concatenate(runs)
        realisation, situations = met({**branch.specification["problem"]})
        value = build_scorer(metrics[2]).score(realisation, situations, last)[1]
        np.testing.assert_allclose(recommended.isel(iteration=-1), value, atol=1e-12)
    with xr.open_dataset(plan.paths.cube("newsvendor")) as cube:
        stated = json.loads(str(cube["metric_specification"].sel(metric="path-2").values))
        assert stated["under"]["s"] == 2.0


def test_a_law_without_mass_on_a_grid_is_refused_in_a_line():
    realisation, situations = met(GRID_PROBLEM)
    far = {"name": "normal", "parameters": {"mean": 60.0, "std": 0.01}}
    with pytest.raises(BocuError, match="is 0 at every context"):
        Scorer(SO, under(far)).score(realisation, situations, np.array([0, 1, 2]))


def test_a_metric_follows_a_law_that_drifts():
    shift = {"name": "jump", "parameters": {"at": 3, "to": HIGH}}
    realisation, situations = met({**NEWSVENDOR, "parameters": {"law": {"name": "normal"}, "shift": shift}})
    decisions = np.array([[0.5], [0.5], [0.5]])
    regret, value = scoring("DistributionallyRobust", set=TV).score(realisation, situations, decisions)
    assert value[0] == value[1]
    assert value[2] > value[1] + 0.1
    assert np.ptp((regret + value)[:2]) == 0.0


@pytest.mark.parametrize(
    "law",
    [
        {"name": "mixture", "parameters": {"of": [{"law": "uniform"}, {"law": HIGH}]}},
        {"name": "histogram", "parameters": {"weights": [1, 2, 3, 4]}},
    ],
)
@pytest.mark.parametrize("dimension", [1, 3])
def test_laws_of_every_kind_have_masses(law, dimension):
    (point,) = read_under(law, "metrics.0.under.", Reading())
    stated = point.to.law.over(dimension)
    found = cells(dimension)
    masses = found.masses(stated)
    drawn = stated.sample(np.random.default_rng(0), 50_000)
    np.testing.assert_allclose(masses @ found.points, drawn.mean(axis=0), atol=0.02)
