"""`bocu.problems.scalarised`: outputs, contexts, weights and what seeds share."""

import numpy as np
import pytest

from bocu.core.about import About
from bocu.core.errors import BocuError
from bocu.core.randomness import Streams
from bocu.problems.functions import function_named
from bocu.problems.scalarised import (
    ScalarisedAckley,
    ScalarisedHartmann,
    ScalarisedHartmannParameters,
    ScalarisedModifiedBranin,
    ScalarisedNewsvendor,
    ScalarisedNewsvendorParameters,
    ScalarisedParameters,
    ScalarisedPortfolio,
    ScalarisedPortfolioParameters,
    ScalarisedProblem,
    TwoOutputsParameters,
)
from bocu.sweep.experiment.planning import make_plan


def branin(**changes):
    return ScalarisedModifiedBranin(TwoOutputsParameters(**changes), {})


@pytest.mark.parametrize(("wanted", "size"), [(10, 16), (16, 16), (64, 64), (100, 100)])
def test_the_grid_of_two_context_coordinates_covers_the_number_asked_for(wanted, size):
    problem = branin(contexts=wanted)
    assert problem.contexts.shape == (size, 2)
    assert problem.contexts.min() == 0.0
    assert problem.contexts.max() == 1.0
    assert problem.reference.tolist() == [1.0 / size] * size


@pytest.mark.parametrize("cls", [ScalarisedAckley, ScalarisedModifiedBranin])
@pytest.mark.parametrize("outputs", [1, 2])
def test_the_table_holds_the_payoff_of_every_context(cls, outputs):
    problem = cls(TwoOutputsParameters(outputs=outputs, contexts=5), {})
    realisation = problem.realise(Streams(3))
    decisions = np.random.default_rng(0).random((4, problem.dimensions[0]))
    table = realisation.table(decisions)
    assert table.shape == (4, len(problem.contexts), outputs)
    payoff = realisation.payoff(decisions[2], 1)
    assert np.shape(payoff) == ((2,) if outputs == 2 else ())
    assert np.allclose(table[2, 1], payoff, rtol=1e-14, atol=0.0)
    assert realisation.description.outputs == outputs


def test_the_first_output_is_the_function_alone():
    decisions = np.random.default_rng(0).random((3, 2))
    assert np.array_equal(branin(outputs=2).payoffs(decisions)[..., 0], branin().payoffs(decisions)[..., 0])


def test_the_second_output_meets_the_mirrored_context():
    problem = branin(outputs=2, contexts=25)
    table = problem.payoffs(np.random.default_rng(0).random((3, 2)))
    assert np.allclose(table[..., 1], table[:, ::-1, 0], rtol=1e-12)  # 1 - c turns an even grid around


def test_printed_constants_are_an_option():
    printed = ScalarisedHartmann(ScalarisedHartmannParameters(outputs=2, constants="as-printed"), {})
    assert printed.function is function_named("hartmann-6-two-as-printed")


def test_the_demand_of_the_newsvendor_is_burr_xii_on_the_points():
    problem = ScalarisedNewsvendor(ScalarisedNewsvendorParameters(), {})
    c = problem.contexts[:, 0]
    density = 2 * 20 * c / (1 + c**2) ** 21
    assert np.allclose(problem.reference, density / density.sum())
    assert problem.reference[0] == 0.0
    uniform = ScalarisedNewsvendor(ScalarisedNewsvendorParameters(reference="uniform"), {})
    assert uniform.reference.tolist() == [0.01] * 100


def test_the_initial_design_is_sobol_with_contexts_of_the_reference(recwarn):
    problem = ScalarisedNewsvendor(ScalarisedNewsvendorParameters(), {})
    design = problem.realise(Streams(0)).initial_design(np.random.default_rng(0), 1024)
    decisions, contexts = np.array([d for d, _ in design]), np.array([c for _, c in design])
    assert np.histogram(decisions, bins=64, range=(0, 1))[0].tolist() == [16] * 64
    frequency = np.bincount(contexts, minlength=100) / 1024
    assert np.abs(frequency.cumsum() - problem.reference.cumsum()).max() < 0.05
    assert len(problem.realise(Streams(0)).initial_design(np.random.default_rng(0), 10)) == 10
    assert not recwarn.list


class ThreeOutputs(ScalarisedProblem):
    """A user's own problem."""

    about = About("Three", "made for tests")
    dimensions = 1, 1
    outputs = 3

    def evaluate(self, decisions, contexts):
        return np.stack([decisions[..., 0] * contexts[..., 0] ** k for k in range(3)], axis=-1)


def test_a_problem_of_ones_own_says_three_things():
    realisation = ThreeOutputs(ScalarisedParameters(contexts=4), {}).realise(Streams(0))
    assert realisation.payoff(np.array([0.5]), 3).tolist() == [0.5, 0.5, 0.5]
    assert realisation.table(np.array([[0.5]])).shape == (1, 4, 3)
    assert realisation.weights(2).shape == (3,)


def test_portfolio_needs_the_prepared_data():
    assert ScalarisedPortfolio.dimensions == (3, 2)
    with pytest.raises(BocuError, match="source: found null"):
        ScalarisedPortfolioParameters().inputs(None)


def weights(**stated):
    problem = ScalarisedNewsvendor(ScalarisedNewsvendorParameters(outputs=2, contexts=10, **stated), {})
    return np.array([problem.realise(Streams(seed)).weights(t) for seed in range(20) for t in range(1, 101)])


def test_weights_follow_the_law_that_is_stated():
    first = weights(scalarisation=[4, 1])[:, 0]
    # Dirichlet (4, 1): the first weight is beta distributed, mean 4/5, variance 4 / (25 * 6).
    assert first.mean() == pytest.approx(0.8, abs=0.015)
    assert first.var() == pytest.approx(4 / 150, rel=0.1)


def test_uniform_weights_are_those_of_equal_concentrations_of_1():
    drawn = weights()
    np.testing.assert_array_equal(drawn, weights(scalarisation=[1, 1]))
    np.testing.assert_allclose(drawn.sum(axis=1), 1.0)
    assert drawn[:, 0].var() == pytest.approx(1 / 12, rel=0.1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"outputs": 2, "scalarisation": [1, 2, 3]}, "scalarisation: found .*; allowed: 2 numbers, one an output"),
        ({"scalarisation": [1, 2]}, "scalarisation: found .*; allowed: null where there is one output"),
        ({"outputs": 2, "scalarisation": [0, 1]}, "scalarisation.0: found 0"),
    ],
)
def test_laws_that_there_are_not_are_refused_while_planning(parameters, message):
    experiment = {
        "name": "weighted", "seeds": 1, "iterations": 2, "metrics": ["so"], "algorithms": ["random"], "figures": [],
        "problems": [{"name": "newsvendor-grid", "parameters": {"contexts": 10, **parameters}}],
    }  # fmt: skip
    with pytest.raises(BocuError, match=message):
        make_plan(experiment)
