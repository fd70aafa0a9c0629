"""`bocu.problems.scalarised_optimum`: nothing is better than what the search finds."""

import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.problems.scalarised import (
    ScalarisedAckley,
    ScalarisedModifiedBranin,
    ScalarisedNewsvendor,
    ScalarisedNewsvendorParameters,
    TwoOutputsParameters,
)
from bocu.problems.scalarised_optimum import ScalarisedSearch, scalarise, weight_net
from bocu.robust.ambiguity import ModifiedChiSquared, TotalVariation
from bocu.robust.objectives.functions import UncertaintyObjective

WEIGHTS = np.array([[0.02, 0.98], [0.31, 0.69], [0.5, 0.5], [0.77, 0.23]])


def searched(problem, ambiguity_set):
    objective = UncertaintyObjective.dro(ambiguity_set)

    def values(payoffs):
        return objective(payoffs, problem.reference)

    return values, ScalarisedSearch(problem.payoffs, problem.dimensions[0], problem.outputs, raw=512)


@pytest.mark.parametrize(
    ("outputs", "size", "count"), [(1, 9, 1), (2, 33, 33), (2, 1, 1), (3, 66, 66), (3, 60, 66), (4, 5, 10)]
)
def test_weights_spread_over_the_open_simplex(outputs, size, count):
    net = weight_net(outputs, size)
    assert net.shape == (count, outputs)
    assert (net > 0.0).all()
    assert np.allclose(net.sum(axis=1), 1.0)
    assert len(np.unique(net.round(12), axis=0)) == count
    assert np.allclose(net.mean(axis=0), 1.0 / outputs)


def test_no_weights_are_refused():
    with pytest.raises(BocuError, match="allowed: 1 or more"):
        weight_net(2, 0)


def test_weights_make_one_output_of_several():
    payoffs = np.arange(12.0).reshape(2, 3, 2)
    assert np.allclose(scalarise(payoffs, np.array([0.25, 0.75])), payoffs @ [0.25, 0.75])
    assert np.allclose(scalarise(payoffs, np.eye(2)), [payoffs[0, :, 0], payoffs[1, :, 1]])


@pytest.mark.parametrize("ambiguity_set", [TotalVariation(0.5), TotalVariation(1.0), ModifiedChiSquared(1.0)])
def test_the_newsvendors_optimum_is_that_of_a_fine_grid(ambiguity_set):
    problem = ScalarisedNewsvendor(ScalarisedNewsvendorParameters(outputs=2), {})
    values, search = searched(problem, ambiguity_set)
    found = search.best(search.pool(values), WEIGHTS)
    grid = np.linspace(0.0, 1.0, 5_001)[:, None]
    table = search.payoffs(grid)
    for weights, value, decision in zip(WEIGHTS, found.values, found.decisions, strict=True):
        on_grid = values(scalarise(table, weights))
        assert on_grid.max() - 1e-6 <= value <= on_grid.max() + 9.0 * 1e-4  # slopes are 9 at most
        at = values(scalarise(search.payoffs(decision[None]), weights))[0]
        assert at == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("ambiguity_set", [TotalVariation(0.1), TotalVariation(1.0), ModifiedChiSquared(0.1)])
def test_no_search_of_another_kind_finds_better(ambiguity_set):
    from scipy.optimize import minimize

    problem = ScalarisedModifiedBranin(TwoOutputsParameters(outputs=2, contexts=16), {})
    values, search = searched(problem, ambiguity_set)
    found = search.best(search.pool(values), WEIGHTS)
    raw = np.random.default_rng(5).random((5000, 2))
    table = search.payoffs(raw)
    for weights, value in zip(WEIGHTS, found.values, strict=True):

        def loss(x, weights=weights):
            return -values(scalarise(search.payoffs(np.clip(x, 0, 1)[None]), weights))[0]

        start = raw[values(scalarise(table, weights)).argmax()]
        end = minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-11, "maxiter": 1000})
        assert -end.fun <= value + 1e-5 * abs(value)  # kinks cost a little


def test_ackley_alone_is_best_at_the_centre_under_every_set():
    problem = ScalarisedAckley(TwoOutputsParameters(contexts=10), {})
    values, search = searched(problem, TotalVariation(0.1))
    found = search.best(search.pool(values), np.ones((1, 1)))
    assert np.allclose(found.decisions, 0.5, atol=1e-6)


def test_what_is_searched_at_once_does_not_matter():
    problem = ScalarisedAckley(TwoOutputsParameters(outputs=2, contexts=10), {})
    values, search = searched(problem, TotalVariation(0.1))
    pool = search.pool(values)
    together = search.best(pool, WEIGHTS).values
    alone = [search.best(pool, row[None]).values[0] for row in WEIGHTS]
    assert np.allclose(together, alone, rtol=0.0, atol=1e-9)


def test_an_aspiration_out_of_reach_is_no_obstacle():
    problem = ScalarisedNewsvendor(ScalarisedNewsvendorParameters(contexts=10), {})
    objective = UncertaintyObjective.rs(TotalVariation(0.1), tau=0.3)
    search = ScalarisedSearch(problem.payoffs, 1, 1, raw=64)

    def values(payoffs):
        return objective(payoffs, problem.reference)

    assert np.isneginf(values(problem.payoffs(np.ones((1, 1)))[..., 0])).all()  # too much stock
    found = search.best(search.pool(values), np.ones((1, 1)))
    grid = values(problem.payoffs(np.linspace(0, 1, 2001)[:, None])[..., 0])
    assert np.isfinite(found.values[0])
    assert found.values[0] >= grid.max() - 1e-6
