"""Problems that are built from files keep their promises, too: on stand-ins that the pipeline makes."""

import pytest
from workflow.conftest import Pipeline

from bocu.sweep.experiment.planning import make_plan
from bocu.testing import check_problem

# Not the portfolio, whose stand-in takes minutes: tests/problems/test_portfolio_payoff.py has a small one.
PARAMETERS = {
    "plant": {"decision_points": [9], "context_points": [5]},
    "infection": {"decision_points": [3, 3], "context_points": [2, 2, 2]},
    "wind-commitment": {},
}

pytestmark = [pytest.mark.ci, pytest.mark.workflow]


def listed(value):
    return [value] if isinstance(value, str) else value


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """What each problem is built from, by name: resolved parameters and files."""
    folder = tmp_path_factory.mktemp("prepared")
    experiment = {
        "name": "files",
        "seeds": 1,
        "iterations": 2,
        "data": "simulate",
        "problems": [{"name": name, "parameters": given} for name, given in PARAMETERS.items()],
        "algorithms": ["random"],
        "figures": [],
    }
    plan = make_plan(experiment)
    inputs = {name: plan.inputs.problem(name) for name in PARAMETERS}
    files = [file for each in inputs.values() for value in each.values() for file in listed(value)]
    pipeline = Pipeline(folder)
    pipeline.snakemake("--configfile", pipeline.configuration(experiment), "--", *dict.fromkeys(files))
    here = {
        name: {
            key: str(folder / value) if isinstance(value, str) else [str(folder / file) for file in value]
            for key, value in each.items()
        }
        for name, each in inputs.items()
    }
    return {name: (plan.problem_parameters(name).model_dump(mode="json"), here[name]) for name in PARAMETERS}


@pytest.mark.parametrize("name", PARAMETERS)
def test_problem(prepared, name):
    parameters, inputs = prepared[name]
    check_problem(name, parameters, inputs, rounds=4, seeds=1)
