"""The experiment of BoTorch's baselines: what it compares, and that it runs up to its summary at smoke scale."""

import pytest
from experiments import run_all
from test_experiment_files import plan_of

from bocu.core.io.files import read_netcdf
from bocu.sweep.experiment.configuration import read_experiment_file

SEARCH = {"raw": 8, "restarts": 1}


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_each_of_botorch_s_parts_is_there_with_every_measure(root):
    plan = plan_of(root, "botorch-baselines")
    measures = {
        (branch.key[0], branch.algorithm.registered.name, getattr(branch.algorithm.parameters, "risk", None))
        for branch in plan.branches.values()
    }
    for risk in ("expectation", "var", "cvar"):
        assert {("newsvendor", "qlognei", risk), ("newsvendor", "qkg", risk)} <= measures
    beside = {name for problem, name, _ in measures if problem == "newsvendor-two"}
    assert {"mars", "qnehvi", "drmobo", "mobo", "random"} <= beside
    on_botorch = {
        branch.algorithm.registered.name
        for branch in plan.branches.values()
        if getattr(getattr(branch.algorithm.parameters, "model", None), "botorch", "") == "botorch-default"
    }
    assert {"sbo-kde", "drbo-kde"} <= on_botorch


@pytest.mark.drill
def test_smoke_scale_runs_up_to_the_summary(root):
    stated = read_experiment_file(root / "config/experiments/botorch-baselines.yaml")["algorithms"]
    algorithms = [{"name": entry} if isinstance(entry, str) else dict(entry) for entry in stated]
    for entry in algorithms:
        if entry["name"] != "random":
            entry["parameters"] = {**entry.get("parameters", {}), "search": SEARCH}
    plan = plan_of(
        root, "botorch-baselines", algorithms=algorithms, name="smoke", iterations=1, seeds=1, data="simulate"
    )
    run_all(plan)
    for problem in plan.problems:
        cube = read_netcdf(plan.paths.cube(problem))
        titles = set(cube["algorithm"].values.tolist())
        assert len(titles) == len(plan.branches_of(problem)), problem
