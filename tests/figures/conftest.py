"""A synthetic cube, and a real small run of the hills for figures that replay one."""

from contextlib import chdir

import pytest
import synthetic_cubes
from experiments import run_all, tiny

from bocu.sweep.experiment.planning import make_plan


@pytest.fixture
def cube_path(tmp_path):
    return synthetic_cubes.write(synthetic_cubes.cube(), tmp_path / "wells.nc")


@pytest.fixture
def digest_path(tmp_path):
    return synthetic_cubes.digest(synthetic_cubes.cube(), tmp_path / "wells.nc")


@pytest.fixture(scope="session")
def hills(tmp_path_factory):
    """The hills, run for 30 rounds by six algorithms: plan and inputs of its figures, as absolute paths."""
    folder = tmp_path_factory.mktemp("figures")
    with chdir(folder):
        experiment = tiny(
            iterations=30,
            problems=[{"name": "hills", "parameters": {"grid": 60, "hill_width": 0.03}}],
            algorithms=["random", "regret-balancing", "mle", "pe-gp-ucb", "oracle"],
            figures=None,
        )
        plan = make_plan(experiment)
        run_all(plan)
    return plan, folder


def absolute(inputs, folder):
    """The inputs of a figure, wherever the test runs."""

    def place(value):
        return [str(folder / item) for item in value] if isinstance(value, list) else str(folder / value)

    return {key: place(value) for key, value in inputs.items()}


@pytest.fixture
def hills_inputs(hills):
    plan, folder = hills
    return lambda label: absolute(plan.inputs.figure(label, "hills"), folder)
