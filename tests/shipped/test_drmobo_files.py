"""The experiment files of DRMOBO say what the paper ran, and runs of every kind end at smoke scale."""

import numpy as np
import pytest
from experiments import audited, run_all
from test_experiment_files import plan_of

from bocu.core.io.files import read_netcdf


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_settings_of_the_paper(root):
    plan = plan_of(root, "drmobo")
    assert (plan.experiment.seeds.first, plan.experiment.seeds.count, plan.experiment.iterations) == (100, 5, 150)
    drmobo = {key: branch for key, branch in plan.branches.items() if key[2] == "drmobo"}
    ambiguity_sets = {}
    for (problem, _, _), branch in drmobo.items():
        ambiguity_set = branch.objective.parameters.set
        ambiguity_sets.setdefault(problem, set()).add((ambiguity_set.name, ambiguity_set.radius))
        assert branch.problem.parameters.initial == 10
        algorithm = branch.algorithm.parameters
        assert (algorithm.sqrt_beta, algorithm.search.raw, algorithm.search.restarts) == (1.5, 128, 10)
    alone = {("tv", 0.1), ("chi2mod", 0.1)}
    assert ambiguity_sets.pop("newsvendor-two") == {("tv", 1.0), ("chi2mod", 1.0)}
    assert ambiguity_sets.pop("branin-two-100") == {*alone, ("tv", 0.5), ("chi2mod", 0.5)}
    assert ambiguity_sets.pop("hartmann-two-100") == {*alone, ("tv", 0.5)}
    assert set(map(frozenset, ambiguity_sets.values())) == {frozenset(alone)}
    assert len(ambiguity_sets) == 4 * 3 + 3 * 3 - 2


def test_baselines_run_where_the_paper_has_them(root):
    plan = plan_of(root, "drmobo")
    for name in ("random", "mobo"):
        compared = {problem for problem, _, algorithm in plan.branches if algorithm == name}
        assert compared == {"branin-two-100", "hartmann-two-100", "newsvendor-two"}
    metrics = {problem: [metric.label for metric in plan.metrics_of(problem)] for problem in plan.problems}
    assert metrics["newsvendor-two"] == ["tv-one", "chi2-one"]
    assert metrics["branin-two-100"] == ["tv", "chi2", "tv-half", "chi2-half"]
    assert metrics["ackley-10"] == ["tv", "chi2"]


def test_other_sets_run_and_are_scored(root):
    small = {"contexts": 6, "outputs": 2, "initial": 4}
    problems = [{"name": "newsvendor-grid", "label": "newsvendor-two", "parameters": small}]
    metrics = [{"name": "dro", "parameters": {"set": "mmd"}}]
    changes = {"iterations": 1, "seeds": 1, "problems": problems, "metrics": metrics, "figures": ["regret"]}
    plan = plan_of(root, "drmobo-sets", **changes)
    run_all(plan)
    assert audited(plan).cases == 60
    cube = read_netcdf(plan.paths.cube("newsvendor-two"))
    done = cube["regret"].values[cube["status"].values[..., 0] == 1]
    assert done.shape[0] == 9  # random, mobo, and drmobo under seven sets
    assert np.isfinite(done).all()
    assert (done >= 0.0).all()
