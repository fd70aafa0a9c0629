"""Ascents in a box and multi-start maximisation: known maxima, dense grids, repeatability."""

import numpy as np
import pytest
from gaussian_posteriors import MATERN, SE, differences, posterior

from bocu.core.errors import BocuError
from bocu.core.randomness import scrambled_sobol
from bocu.learners.acquisition.base import Acquisition, SurfaceAcquisition
from bocu.learners.acquisition.functionals import ExpectedValue, MinimumValue, SampledTotalVariation, WorstCaseValue
from bocu.learners.acquisition.minimax import MinimaxFunctional
from bocu.learners.acquisition.multistart import SearchParameters, ascend, maximise
from bocu.learners.acquisition.surfaces import WeightedSurface, surface
from bocu.learners.surrogates.continuous.structure import joint, product
from bocu.robust.ambiguity import KullbackLeibler, MaximumMeanDiscrepancy, TotalVariation
from bocu.robust.ambiguity.mmd.gram import squared_exponential_gram, with_jitter
from bocu.robust.contexts.estimates import product_grid


def quadratic(top, curvature):
    """-(x - top)' C (x - top) / 2."""

    def objective(x):
        pulled = (x - top) @ curvature
        return -0.5 * ((x - top) * pulled).sum(axis=1), -pulled

    return objective


def starts(dimension, count=20, seed=0):
    return np.random.default_rng(seed).random((count, dimension))


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_quadratic_is_climbed_to_its_top(dimension):
    root = np.random.default_rng(1).standard_normal((dimension, dimension))
    top = np.linspace(0.3, 0.6, dimension)
    ends, values = ascend(quadratic(top, root @ root.T + 0.1 * np.eye(dimension)), starts(dimension), tolerance=1e-14)
    np.testing.assert_allclose(ends, np.tile(top, (20, 1)), atol=1e-4)
    np.testing.assert_allclose(values, 0.0, atol=1e-9)


def test_top_outside_the_box_is_met_at_its_bound():
    from scipy.optimize import minimize

    curvature = np.array([[2.0, 1.2, 0.3], [1.2, 3.0, -0.4], [0.3, -0.4, 1.0]])
    objective = quadratic(np.array([1.4, -0.3, 0.5]), curvature)
    ends, values = ascend(objective, starts(3), tolerance=1e-14)
    assert ends.min() >= 0.0
    assert ends.max() <= 1.0
    best = minimize(lambda x: -objective(x[None])[0][0], np.full(3, 0.5), bounds=[(0.0, 1.0)] * 3, tol=1e-14)
    np.testing.assert_allclose(ends, np.tile(best.x, (20, 1)), atol=1e-4)
    np.testing.assert_allclose(values, -best.fun, atol=1e-8)


def test_narrow_curved_ridge_is_followed():
    def rosenbrock(x):
        a, b = 2.0 * x[:, 0], 2.0 * x[:, 1]
        value = -((1.0 - a) ** 2) - 100.0 * (b - a**2) ** 2
        slope = np.stack([4.0 * (1.0 - a) + 800.0 * a * (b - a**2), -400.0 * (b - a**2)], axis=1)
        return value, slope

    ends, values = ascend(rosenbrock, starts(2), scale=1.0, tolerance=1e-12, steps=500)
    np.testing.assert_allclose(ends[values.argmax()], [0.5, 0.5], atol=1e-3)
    assert np.median(values) > -1e-3


def test_kinks_end_at_the_best_point_seen():
    def roof(x):
        distance = x - 0.37
        return -np.abs(distance).sum(axis=1), -np.sign(distance)

    seen = []

    def watched(x):
        value, slope = roof(x)
        seen.append(value.max())
        return value, slope

    _, values = ascend(watched, starts(2))
    assert values.max() == max(seen)
    assert values.max() > -1e-3


def test_of_ascents_that_meet_the_highest_goes_on():
    asked = []

    def hills(x):
        asked.append(len(x))
        far = x - np.where(x < 0.5, 0.2, 0.8)
        return (x[:, 0] >= 0.5) - 50.0 * (far**2).sum(axis=1) - 1e4 * (far**4).sum(axis=1), -100.0 * far - 4e4 * far**3

    begin = starts(1)
    alone, tops = ascend(hills, begin, tolerance=1e-12)
    evaluated = sum(asked)
    asked.clear()
    ends, values = ascend(hills, begin, tolerance=1e-12, merge=True)
    assert sum(asked) < evaluated
    for side in (alone[:, 0] < 0.5, alone[:, 0] >= 0.5):
        assert values[side].max() == pytest.approx(tops[side].max(), abs=1e-12)
        assert (np.abs(ends - alone)[side] <= 0.1).all()  # where those ended that did not go on


def test_ascents_never_fall():
    climb = quadratic(np.array([0.5, 0.5]), np.diag([1e3, 1.0]))
    begin = starts(2)
    _, values = ascend(climb, begin, steps=3)
    assert (values >= climb(begin)[0]).all()


def test_flat_functions_stay_where_they_are():
    begin = starts(2)
    ends, values = ascend(lambda x: (np.ones(len(x)), np.zeros_like(x)), begin)
    np.testing.assert_array_equal(ends, begin)
    np.testing.assert_array_equal(values, 1.0)


GRID = product_grid([0.0], [1.0], 30)
REFERENCE = np.bincount(np.random.default_rng(0).binomial(29, 0.5, 20), minlength=30) / 20
MMD = MaximumMeanDiscrepancy(0.4, with_jitter(squared_exponential_gram(GRID, 0.1)))


def acquisitions():
    given = posterior(product(2, 1, SE, SE), count=15)
    rough = posterior(product(2, 1, MATERN, MATERN), count=15)
    drawn = np.clip(np.random.default_rng(3).normal(0.5, 0.15, (128, 1)), 0.0, 1.0)
    whole = scrambled_sobol(np.zeros(1), np.ones(1), 128, np.random.default_rng(4))
    both = WeightedSurface(
        [surface(given, GRID, 1.5), surface(posterior(given.structure, seed=2), GRID, 1.5)], [0.4, 0.6]
    )
    return {
        "gp-ucb": SurfaceAcquisition(
            surface(posterior(joint(2, 0, MATERN), 15), np.empty((1, 0)), 1.5), ExpectedValue()
        ),
        "sbo-kde": SurfaceAcquisition(surface(given, drawn, 1.5), ExpectedValue()),
        "sbo-kde, matern": SurfaceAcquisition(surface(rough, drawn, 1.5), ExpectedValue()),
        "sbo-kde, joint": SurfaceAcquisition(surface(posterior(joint(2, 1, MATERN), 15), drawn, 1.5), ExpectedValue()),
        "stableopt": SurfaceAcquisition(surface(given, 0.3 + 0.4 * whole, 1.5), MinimumValue()),
        "drbo-kde": SurfaceAcquisition(
            surface(given, np.concatenate([drawn, whole]), 1.5), SampledTotalVariation(0.3, len(drawn))
        ),
        "drbo-mmd": SurfaceAcquisition(surface(given, GRID, 1.5), WorstCaseValue(MMD, REFERENCE)),
        "minimax": SurfaceAcquisition(surface(given, GRID, 1.5), MinimaxFunctional(MMD, REFERENCE)),
        "drmobo, tv": SurfaceAcquisition(both, WorstCaseValue(TotalVariation(0.2), np.full(30, 1 / 30))),
        "drmobo, kl": SurfaceAcquisition(both, WorstCaseValue(KullbackLeibler(0.2), np.full(30, 1 / 30))),
    }


ACQUISITIONS = acquisitions()


@pytest.fixture(params=ACQUISITIONS.values(), ids=ACQUISITIONS)
def acquisition(request):
    return request.param


def test_gradients_agree_with_differences_almost_everywhere(acquisition):
    decisions = 0.05 + 0.9 * starts(2, 30)
    values, gradients = acquisition(decisions)
    slopes = differences(lambda at: acquisition(at)[0], decisions)
    error = np.abs(gradients - slopes).max(axis=1) / np.abs(slopes).max()
    # A kink within the step of the difference is rare.
    assert np.quantile(error, 0.9) < 1e-5
    assert values.shape == (30,)


def test_maximum_is_not_below_a_dense_grid_s(acquisition):
    dense = product_grid([0.0, 0.0], [1.0, 1.0], 41)
    values = acquisition(dense)[0]
    best = maximise(acquisition, np.random.default_rng(0), raw=256, restarts=16)
    assert best.value >= values.max() - 1e-6 * np.ptp(values)
    assert best.value == pytest.approx(acquisition(best.decision[None])[0][0], rel=1e-10, abs=1e-10)
    assert ((best.decision >= 0.0) & (best.decision <= 1.0)).all()


def test_same_generator_state_gives_the_same_point_bit_for_bit(acquisition):
    first, second = (maximise(acquisition, np.random.default_rng(7), raw=64, restarts=8) for _ in range(2))
    assert first.decision.tobytes() == second.decision.tobytes()
    assert first.value == second.value


def test_screening_ranks_much_as_the_values_do(acquisition):
    from scipy.stats import spearmanr

    decisions = starts(2, 200)
    assert spearmanr(acquisition.screen(decisions), acquisition(decisions)[0]).statistic > 0.8


class Linear(Acquisition):
    """Rises along the only coordinate."""

    dimension = 1

    def __call__(self, decisions):
        return decisions[:, 0].copy(), np.ones_like(decisions)


def test_maximum_at_a_corner_is_met_exactly():
    assert maximise(Linear(), np.random.default_rng(0), raw=8, restarts=2).decision.tolist() == [1.0]


def test_sobol_points_follow_the_state_of_their_generator():
    generator = np.random.default_rng(0)
    state = generator.bit_generator.state
    box = np.zeros(2), np.ones(2)
    first, second = (scrambled_sobol(*box, 16, generator) for _ in range(2))
    generator.bit_generator.state = state
    np.testing.assert_array_equal(scrambled_sobol(*box, 16, generator), first)
    assert (second != first).any()


@pytest.mark.parametrize("size", [1, 5, 64])
def test_sobol_points_fill_their_box(size):
    points = scrambled_sobol(np.array([0.2, -1.0]), np.array([0.4, 1.0]), size, np.random.default_rng(0))
    assert points.shape == (size, 2)
    assert ((points >= [0.2, -1.0]) & (points <= [0.4, 1.0])).all()
    if size == 64:
        # Each of 64 equal slices of a coordinate holds one point.
        assert len(np.unique(((points[:, 0] - 0.2) / 0.2 * 64).astype(int))) == 64


def test_misuse_is_named_in_one_line():
    with pytest.raises(BocuError, match="restarts: found 9"):
        maximise(Linear(), np.random.default_rng(0), raw=8, restarts=9)
    with pytest.raises(ValueError, match="restarts: allowed up to the 8 raw points"):
        SearchParameters(raw=8, restarts=9)
    every = SearchParameters(raw=8, restarts=8)
    found = maximise(Linear(), np.random.default_rng(0), raw=every.raw, restarts=every.restarts)
    assert found.decision.tolist() == [1.0]
