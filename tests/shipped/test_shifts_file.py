"""The experiment of contexts that shift: what it has, and a smaller one of it to its scores."""

import numpy as np
import pytest
from experiments import run_all
from test_experiment_files import plan_of

from bocu.sweep.evaluation.cubes import open_cube
from bocu.sweep.experiment.configuration import read_experiment_file

pytestmark = pytest.mark.usefixtures("elsewhere")

SHIFTS = ("jump", "drift", *(f"season-period-{period}" for period in (4, 8, 16, 32)))
REFERENCES = ("stated", "announced", "empirical", "window")


def test_every_function_meets_every_shift_and_every_grid_the_references(root):
    plan = plan_of(root, "shifts")
    wanted = {f"{problem}-{shift}" for problem in ("ackley", "branin", "newsvendor") for shift in SHIFTS}
    wanted |= {f"{problem}-{told}" for problem in ("two", "grid") for told in REFERENCES}
    still = {f"{problem}-still" for problem in ("ackley", "branin", "newsvendor")}
    assert wanted | still | {"grid-discounted", "grid-kde"} == set(plan.problems)
    for label, problem in plan.problems.items():
        shift, said = problem.parameters.shift, label.split("-")
        assert (shift is None) == (label in still)
        if said[1] in ("jump", "drift", "season"):
            assert shift.name == said[1]
        if said[1] == "season":
            assert shift.parameters["period"] == int(said[3])
    continuous = {key[2] for key in plan.branches if key[0] == "ackley-jump"}
    forgetting = {f"{name}-{how}" for name in ("sbo-kde", "drbo-kde") for how in ("window", "discount")}
    assert {"random", "gp-ucb", "sbo-kde", "drbo-kde"} | forgetting == continuous


def test_it_runs_to_its_scores(root):
    kept = ["newsvendor-season", "grid-discounted", "grid-kde", "grid-announced"]
    problems = read_experiment_file(root / "config/experiments/shifts.yaml")["problems"]
    changes = {
        "name": "smoke",
        "iterations": 20,
        "seeds": 1,
        "problems": [entry for entry in problems if entry["label"] in kept],
        "algorithms": ["random", "ucb-so"],
        "sweep": [],
        "claims": [],
        "figures": [],
    }
    run_all(plan_of(root, "shifts", **changes))
    for label in kept:
        cube = open_cube("results/smoke", label).load()
        assert np.isfinite(cube["regret"]).all()
        assert cube["regret"].min() >= 0.0
    told = {label: open_cube("results/smoke", label).load() for label in kept[1:]}
    # Random decisions and the contexts that they meet are the same whatever is told.
    random = [cube["value"].sel(algorithm="random").values for cube in told.values()]
    np.testing.assert_array_equal(random[0], random[1])
    np.testing.assert_array_equal(random[0], random[2])
    learned = [cube["value"].sel(algorithm="ucb-so").values for cube in told.values()]
    assert not np.array_equal(learned[0], learned[2])
