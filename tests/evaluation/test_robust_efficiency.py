"""`bocu.sweep.evaluation.robust_efficiency`: by linear programmes against support functions, and what weights find."""

import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.problems.scalarised import ScalarisedModifiedBranin, TwoOutputsParameters
from bocu.problems.scalarised_optimum import scalarise, weight_net
from bocu.robust.ambiguity import ConditionalValueAtRisk, ModifiedChiSquared, TotalVariation, Wasserstein, worst_case
from bocu.sweep.evaluation.robust_efficiency import ImageSet, robust_efficient

CONTEXTS = np.linspace(0.0, 1.0, 4)[:, None]
COST = np.abs(CONTEXTS - CONTEXTS.T)
REFERENCE = np.array([0.1, 0.4, 0.3, 0.2])
SETS = [TotalVariation(0.5), ConditionalValueAtRisk(0.6), Wasserstein(0.2, COST)]


@pytest.mark.parametrize("ambiguity_set", SETS)
def test_programmes_give_the_worst_case(ambiguity_set):
    distributions = ambiguity_set.polytope(REFERENCE)
    for payoffs in np.random.default_rng(0).random((20, 4)):
        value, q = distributions.minimise(payoffs)
        assert value == pytest.approx(float(worst_case(payoffs, REFERENCE, ambiguity_set).value), abs=1e-9)
        assert q.sum() == pytest.approx(1.0)
        assert ambiguity_set.distance(np.clip(q, 0, None) / q.sum(), REFERENCE) <= (ambiguity_set.epsilon or 0.0) + 1e-8


@pytest.mark.parametrize("ambiguity_set", SETS)
@pytest.mark.parametrize("outputs", [2, 3])
def test_lower_vertices_support_the_image_set_in_every_direction(ambiguity_set, outputs):
    payoffs = np.random.default_rng(1).random((4, outputs))
    vertices = ImageSet(payoffs, ambiguity_set.polytope(REFERENCE)).lower_vertices
    for weights in np.random.default_rng(2).dirichlet(np.ones(outputs), size=50):
        exact = float(worst_case(payoffs @ weights, REFERENCE, ambiguity_set).value)
        assert (vertices @ weights).min() == pytest.approx(exact, abs=1e-6)


def _by_supports(payoffs, ambiguity_set):
    """Robust efficiency by support functions on a fine net of weights, ends included; None where it is too close."""
    weights = np.linspace(0.0, 1.0, 401)
    weights = np.column_stack([weights, 1.0 - weights])
    lowest = np.array(
        [ambiguity_set.values(scalarise(payoffs, row), REFERENCE)[0] for row in weights]
    )  # (weights, decisions)
    answers = []
    for own in range(len(payoffs)):
        gaps = (np.delete(lowest, own, axis=1) - lowest[:, own : own + 1]).min(axis=0)
        answers.append(None if (np.abs(gaps) < 1e-4).any() else bool((gaps < 0.0).all()))
    return answers


@pytest.mark.parametrize("ambiguity_set", SETS)
def test_the_definition_agrees_with_support_functions(ambiguity_set):
    generator = np.random.default_rng(3)
    seen = []
    for _ in range(6):
        payoffs = generator.random((6, 4, 2)) + generator.random((6, 1, 2))
        for found, expected in zip(
            robust_efficient(payoffs, REFERENCE, ambiguity_set), _by_supports(payoffs, ambiguity_set), strict=True
        ):
            if expected is not None:
                assert found == expected
                seen.append(expected)
    assert {True, False} == set(seen)


@pytest.mark.parametrize("ambiguity_set", SETS[:2])
def test_what_weights_find_is_robust_efficient(ambiguity_set):
    problem = ScalarisedModifiedBranin(TwoOutputsParameters(outputs=2, contexts=4), {})
    axis = np.linspace(0.0, 1.0, 5)
    decisions = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    payoffs = problem.payoffs(decisions)
    efficient = robust_efficient(payoffs, problem.reference, ambiguity_set)
    best = {
        int(ambiguity_set.values(scalarise(payoffs, row), problem.reference)[0].argmax()) for row in weight_net(2, 33)
    }
    assert len(best) > 1
    assert efficient[sorted(best)].all()
    assert not efficient.all()


def test_one_distribution_leaves_pareto_efficiency():
    payoffs = np.random.default_rng(4).random((12, 4, 2))
    mean = np.einsum("dnk,n->dk", payoffs, REFERENCE)
    better = (mean[:, None] >= mean[None]).all(axis=-1) & (mean[:, None] > mean[None]).any(axis=-1)
    found = robust_efficient(payoffs, REFERENCE, TotalVariation(0.0))
    assert found.tolist() == (~better.any(axis=0)).tolist()


def test_one_output_leaves_the_best_worst_case():
    payoffs = np.random.default_rng(5).random((8, 4, 1))
    value = worst_case(payoffs[..., 0], REFERENCE, TotalVariation(0.5)).value
    found = robust_efficient(payoffs, REFERENCE, TotalVariation(0.5))
    assert np.flatnonzero(found).tolist() == [int(value.argmax())]


def test_twins_do_not_dominate_each_other_but_one_better_in_one_output_does():
    payoffs = np.tile(np.random.default_rng(6).random((1, 4, 2)), (2, 1, 1))
    assert robust_efficient(payoffs, REFERENCE, TotalVariation(0.5)).tolist() == [True, True]
    payoffs[1, :, 0] += 0.1
    assert robust_efficient(payoffs, REFERENCE, TotalVariation(0.5)).tolist() == [False, True]


def test_round_sets_and_wrong_shapes_are_refused():
    with pytest.raises(BocuError, match="ModifiedChiSquared is no polytope; take tv, wass or cvar"):
        robust_efficient(np.zeros((1, 4, 2)), REFERENCE, ModifiedChiSquared(0.1))
    with pytest.raises(BocuError, match="must be"):
        robust_efficient(np.zeros((4, 2)), REFERENCE, TotalVariation(0.1))
    with pytest.raises(BocuError, match="5 contexts"):
        robust_efficient(np.zeros((1, 5, 2)), REFERENCE, TotalVariation(0.1))
