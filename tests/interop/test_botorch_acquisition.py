"""`botorch-acquisition` and BoTorch's baselines chosen and imported; their runs: tests/testing."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import torch
from continuous_games import after_design

from bocu.core.errors import BocuError
from bocu.core.loading import import_place
from bocu.core.parameters import Reading, validate
from bocu.interop.botorch.any_acquisition import AcquisitionParameters, Named
from bocu.learners.algorithms.botorch_model import arguments_of
from bocu.learners.algorithms.signatures import arguments_written
from bocu.sweep.experiment.planning import make_plan

HERE = Path(__file__).parent
SEARCH = {"raw": 16, "restarts": 2}
NEEDED = {
    "UpperConfidenceBound": {"beta": 4.0},
    "qLowerConfidenceBound": {"beta": 4.0},
    "qUpperConfidenceBound": {"beta": 4.0},
}


def stated(**given):
    """Parameters as a file in this folder states them, written out as a specification holds them."""
    reading = Reading(HERE)
    return validate(AcquisitionParameters, {"search": SEARCH, **given}, "", reading).model_dump(mode="json")


SOON = ("UpperConfidenceBound", "qLogExpectedImprovement")  # the others take as long each


@pytest.mark.parametrize(
    "name", [name if name in SOON else pytest.param(name, marks=pytest.mark.ci) for name in get_args(Named)]
)
def test_every_acquisition_that_has_a_name_chooses_decisions(name):
    run = after_design("botorch-acquisition", **stated(acquisition=name, options=NEEDED.get(name, {})))
    decision = run.algorithm.ask(run.announced())
    assert decision.shape == (2,)
    assert ((decision >= 0.0) & (decision <= 1.0)).all()


def test_names_are_those_of_botorch_that_want_nothing_else():
    import botorch.acquisition
    from botorch.acquisition.analytic import AnalyticAcquisitionFunction
    from botorch.acquisition.monte_carlo import MCAcquisitionFunction

    for name in get_args(Named):
        assert issubclass(getattr(botorch.acquisition, name), AnalyticAcquisitionFunction | MCAcquisitionFunction)


def test_an_acquisition_of_one_s_own_gets_what_it_asks_for():
    parameters = stated(acquisition="factories.py:farthest", options={"reach": 2.0}, risk="ignored")
    assert parameters["acquisition"].startswith("farthest@")
    run = after_design("botorch-acquisition", **parameters)
    tried = run.record.arrays["decision"][:3]
    decision = run.algorithm.ask(run.announced())
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    distances = np.linalg.norm(corners[:, None] - tried, axis=-1).min(axis=1)
    assert np.linalg.norm(decision - tried, axis=1).min() >= distances.max() - 1e-6


def test_our_own_acquisition_over_our_own_set_is_one_of_them():
    run = after_design("botorch-acquisition", **stated(acquisition="factories.py:robust", options={"radius": 0.5}))
    algorithm = run.algorithm
    situation, _ = algorithm._situation(run.announced(), algorithm.generator)
    acquisition = algorithm._acquisition(situation)
    decision = torch.tensor([[[0.4, 0.6]]], dtype=torch.float64)
    with torch.no_grad():
        posterior = situation.model.posterior(decision[0])
        upper = np.sort((posterior.mean + 2.0 * posterior.variance.sqrt()).numpy()[:, 0])
    # A quarter of the mass goes from the best contexts to the worst.
    mass = np.full(len(upper), 1.0 / len(upper))
    moved, place = 0.25, len(upper) - 1
    while moved > 1e-12:
        taken = min(moved, mass[place])
        mass[place] -= taken
        mass[0] += taken
        moved, place = moved - taken, place - 1
    assert float(acquisition(decision)) == pytest.approx(mass @ upper, abs=1e-6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"acquisition": "qLogNoisyImprovement"}, "acquisition: found 'qLogNoisyImprovement'; did you mean 'qLogNo"),
        ({"options": {"model": 3}}, "options: found .*'model' is given by the algorithm itself"),
        ({"risk": "ignored", "alpha": 0.2}, ""),
        ({"risk": "evar"}, "risk: found 'evar'"),
    ],
)
def test_what_a_file_states_wrongly_gets_one_line(given, message):
    if not message:
        assert "alpha" in validate(AcquisitionParameters, given, "").unused()
        return
    with pytest.raises(BocuError, match=message) as raised:
        stated(**given)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"acquisition": "UpperConfidenceBound"}, "wants 'beta'; give it under the key 'options'"),
        ({"acquisition": "UpperConfidenceBound", "risk": "cvar"}, "takes no objective"),
        ({"acquisition": "qSimpleRegret", "options": {"beta": 1}}, "options: it takes no 'beta'"),
        ({"acquisition": "factories.py:no_model"}, "wants 'inputs'"),
    ],
)
def test_what_an_acquisition_does_not_take_is_told_at_the_first_decision(given, message):
    run = after_design("botorch-acquisition", **stated(**given))
    with pytest.raises(BocuError, match=message):
        run.algorithm.ask(run.announced())


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        (
            "botorch-acquisition",
            {"acquisition": "UpperConfidenceBound", "options": {"bta": 1}},
            "options: it takes no 'bta'",
        ),
        (
            "gp-ucb",
            {"model": {"botorch": "factories.py:matern", "parameters": {"smothness": 1}}},
            r"model\.parameters: it takes no 'smothness'; did you mean 'smoothness'",
        ),
        (
            "gp-ucb",
            {"model": {"botorch": "botorch.models:SingleTaskGb"}},
            r"model\.botorch: .*did you mean 'SingleTaskGP'",
        ),
    ],
)
def test_an_experiment_whose_factory_takes_something_else_is_not_planned(name, given, message, tmp_path):
    shutil.copy(HERE / "factories.py", tmp_path)
    config = {"name": "own", "seeds": 1, "iterations": 1, "problems": ["ackley"]}
    config["algorithms"] = [{"name": name, "parameters": given}]
    file = tmp_path / "own.yaml"
    file.write_text(json.dumps(config))
    with pytest.raises(BocuError, match=rf"algorithms\.0\.parameters\.{message}"):
        make_plan(config, [file])


@pytest.mark.parametrize(
    "place",
    [
        *(f"botorch.acquisition:{name}" for name in SOON),
        "botorch.models:SingleTaskGP",
        "gpytorch.models:ExactGP",  # handed on by a package with relative imports
        f"{HERE / 'factories.py'}:farthest",
    ],
)
def test_what_a_factory_takes_is_read_from_its_source(place):
    assert arguments_written(place) == arguments_of(import_place(place))


HEAVY = ("torch", "botorch", "gpytorch")


def imported(code):
    """Which of the heavy packages some code imports, in a process of its own."""
    code += f"\nimport sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(ended.stdout.strip().splitlines()[-1].replace("'", '"'))


def test_planning_what_stands_on_botorch_imports_none_of_it():
    config = {
        "name": "t",
        "seeds": 1,
        "iterations": 2,
        "problems": ["ackley", {"name": "ackley-grid", "parameters": {"outputs": 2}}],
        "algorithms": [
            {"name": "gp-ucb", "parameters": {"model": "botorch-default"}},
            *({"name": name} for name in ("botorch-acquisition", "qlognei", "qkg", "mars", "qnehvi")),
        ],
    }
    code = (
        "import json; from bocu.sweep.experiment.planning import make_plan\n"
        "from bocu.sweep.experiment.resources import estimate\n"
        f"plan = make_plan(json.loads({json.dumps(json.dumps(config))}))\n"
        "for branch in plan.branches.values():\n"
        "    plan.parameters.run(branch, 0, 0)\n"
        "    assert not estimate(branch, 1).unknown\n"
    )
    assert imported(code) == []
