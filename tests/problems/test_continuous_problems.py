"""The problems of Huang et al. (2024) as runs meet them."""

import numpy as np
import pytest
import xarray as xr

from bocu.core.errors import BocuError
from bocu.core.parameters import validate
from bocu.core.randomness import Streams
from bocu.problems.continuous import Ackley, Hartmann
from bocu.problems.optima import expected_payoff
from bocu.sweep.evaluation.scores import score
from bocu.sweep.experiment.registry import find
from bocu.sweep.runs.execution import Block, execute
from bocu.testing.games import run_specification, stated

CLOSED_FORMS = ["ackley", "ackley-2-4", "modified-branin", "hartmann-6", "complicated-hartmann", "newsvendor"]


def built(name, **parameters):
    target = find("problem", name).load()
    return target(validate(target.Parameters, parameters, ""), {})


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_a_realisation_draws_what_the_law_says(name):
    problem = built(name)
    realisation = problem.realise(Streams(0))
    design = realisation.initial_design(np.random.default_rng(0), 8)
    decisions = np.array([decision for decision, _ in design])
    contexts = np.array([context for _, context in design])
    assert decisions.shape == (8, problem.dimensions[0])
    assert contexts.shape == (8, problem.dimensions[1])
    assert ((contexts >= 0.0) & (contexts <= 1.0)).all()
    assert realisation.payoff(*design[0]) == pytest.approx(float(problem.payoff(*design[0])))


def test_sobol_contexts_cover_the_box_where_true_ones_do_not():
    generator = np.random.default_rng(0)
    spreads = {}
    for kind in ("true", "sobol"):
        design = built("ackley", initial_contexts=kind).realise(Streams(0)).initial_design(generator, 64)
        spreads[kind] = np.ptp([context for _, context in design])
    assert spreads["sobol"] > 0.95
    assert spreads["true"] < 0.85


def test_regret_is_against_the_optimum_of_the_expectation(tmp_path):
    branch = run_specification(stated("problem", "newsvendor", {}), stated("algorithm", "random", {}), None, 5)
    execute(Block({**branch, "seeds": [0, 1]}, {}, "0"), tmp_path / "run.nc", tmp_path / "checkpoints")
    metrics = [{"label": "so", "class": "bocu.sweep.evaluation.metrics:ExpectedPayoff", "parameters": {}}]
    branch.pop("seeds")
    score([tmp_path / "run.nc"], {}, branch, metrics, tmp_path / "score.nc")
    run, scores = xr.load_dataset(tmp_path / "run.nc"), xr.load_dataset(tmp_path / "score.nc")
    assert scores["iteration"].values.tolist() == list(range(-9, 6))
    assert float(scores["regret"].min()) >= -1e-8
    decisions = run["decision"].sel(seed=1).values
    values = expected_payoff("newsvendor", "quadrature")(decisions)
    assert scores["value"].sel(metric="so", seed=1).values == pytest.approx(values)
    stock = np.linspace(0, 1, 2001)[:, None]
    best = expected_payoff("newsvendor", "quadrature")(stock).max()
    assert (scores["value"] + scores["regret"]).values == pytest.approx(best, abs=1e-5)


def test_the_published_optimum_can_be_regretted_against():
    assert built("ackley", optimum="published").best == -10.9523
    assert built("ackley").best == pytest.approx(-10.9523, abs=1e-3)


def test_the_printed_constants_are_another_function():
    printed, standard = built("hartmann-6", constants="as-printed"), built("hartmann-6")
    assert printed.expectation == "hartmann-6-as-printed"
    assert Hartmann.expectation == "hartmann-6"
    centre = np.full(5, 0.4), np.array([0.7])
    assert printed.payoff(*centre) != standard.payoff(*centre)


def test_quadrature_in_four_dimensions_is_refused_in_one_line():
    with pytest.raises(BocuError, match="rule: found 'quadrature'; allowed for Ackley, 2 \\+ 4: sobol"):
        built("ackley-2-4", rule="quadrature")


def test_both_rules_agree_on_a_decision():
    decision = np.array([[0.5, 0.5]])
    fine, quasi = (expected_payoff(Ackley.expectation, rule)(decision)[0] for rule in ("quadrature", "sobol"))
    assert quasi == pytest.approx(fine, abs=1e-3)
