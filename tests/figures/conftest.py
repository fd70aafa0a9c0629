"""A synthetic cube, and a real small run of the hills for figures that replay one."""

import json
import os
from pathlib import Path

import pytest
import synthetic_cubes
from experiments import tiny

from bocu.cubes import build_cube, build_summary
from bocu.files import read_netcdf, write_netcdf
from bocu.plan import make_plan
from bocu.runs import Block, execute
from bocu.scores import score


@pytest.fixture
def cube_path(tmp_path):
    return synthetic_cubes.write(synthetic_cubes.cube(), tmp_path / "wells.nc")


@pytest.fixture
def simulated_path(tmp_path):
    data = synthetic_cubes.cube(label="simulated-wells", data_label=synthetic_cubes.SIMULATED)
    return synthetic_cubes.write(data, tmp_path / "simulated.nc")


@pytest.fixture(scope="session")
def hills(root, tmp_path_factory):
    """The hills, run for 30 rounds by six algorithms: plan and inputs of its figures, as absolute paths."""
    folder = tmp_path_factory.mktemp("figures")
    before = Path.cwd()
    os.chdir(folder)
    try:
        experiment = tiny(
            iterations=30,
            problems=[{"name": "hills", "parameters": {"grid": 60, "hill_width": 0.03}}],
            algorithms=["random", "regret-balancing", "mle", "pe-gp-ucb", "oracle"],
            figures=None,
        )
        plan = make_plan(experiment, sources_file=root / "data/sources.yaml")
        for branch in plan.branches.values():
            for first, last in plan.blocks:
                parameters = plan.run_parameters(branch, first, last)
                block = Block(json.loads(parameters["specification"]), {}, parameters["fingerprint"])
                execute(block, plan.run_file(branch, first, last), plan.checkpoint(branch, first, last))
            judges = json.loads(plan.score_parameters(branch)["judges"])
            score(plan.run_files(branch), {}, judges, plan.score_file(branch))
        build_cube(json.loads(plan.cube_parameters("hills")["description"]), plan.cube("hills"))
        build_summary(plan.cubes, plan.summary)
        cube = read_netcdf(plan.cube("hills"))
        cube.attrs["best_prior"] = "2"
        write_netcdf(cube, plan.cube("hills"))
    finally:
        os.chdir(before)
    return plan, folder


def absolute(inputs, folder):
    """The inputs of a figure, wherever the test runs."""

    def place(value):
        return [str(folder / item) for item in value] if isinstance(value, list) else str(folder / value)

    return {key: place(value) for key, value in inputs.items()}


@pytest.fixture
def hills_inputs(hills):
    plan, folder = hills
    return lambda label: absolute(plan.figure_inputs(label, "hills"), folder)
