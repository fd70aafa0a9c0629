"""`bocu.problems.hills`: the hills without their grid."""

import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.core.randomness import Streams
from bocu.problems.hills import ContinuousHills, Hills
from bocu.problems.priors.statements import FittedPrior, StatedPrior

FLAT = StatedPrior(label="flat", kernel="matern-5/2", lengthscale=(0.1,), variance=0.3, mean=0.5)


def problem(**parameters):
    return ContinuousHills(ContinuousHills.Parameters(**parameters), {})


@pytest.mark.parametrize("lengthscale", [0.05, 0.3])
def test_draws_have_the_kernel_of_the_prior(lengthscale: float) -> None:
    hills = problem(kernel_lengthscale=lengthscale)
    points = np.sort(np.random.default_rng(0).random((40, 1)), axis=0)
    rank = len(hills.realise(Streams(0))._normal)
    root = np.stack([hills.payoffs_of(points, one) for one in np.eye(rank)]) - hills.best_prior.mean(points)
    assert root.T @ root == pytest.approx(0.01 * hills.best_prior.kernel(points, points), abs=1e-9)


def test_means_are_those_of_the_grid() -> None:
    grid, line = Hills(Hills.Parameters(grid=50, high=1.2), {}), problem(high=1.2)
    for one, other in zip(grid.priors, line.priors, strict=True):
        assert other.mean(grid.positions[:, None]) == pytest.approx(one.mean, abs=1e-12)


def test_regret_is_against_the_best_open_position() -> None:
    hills = problem().realise(Streams(1))
    closed = hills._problem.open_boxes
    positions = np.linspace(0.0, 1.0, 100_001)[:, None]
    values = hills.expected_payoffs(positions)[0]
    is_open = ((positions >= closed[:, 0].T) & (positions <= closed[:, 1].T)).any(axis=1)
    best = hills.expected_in_rounds(positions[:2], np.array([1, 2]))[1]
    assert best == pytest.approx([values.max(), values[is_open].max()], abs=1e-6)
    assert best[0] > best[1] + 0.5
    assert hills.payoff(positions[7], 3) == pytest.approx(values[7], abs=1e-9)


def test_stated_candidates_stand_after_the_hills() -> None:
    parameters = ContinuousHills.Parameters().with_candidates([FLAT])
    assert ContinuousHills.outline(parameters).priors[-2:] == ("10", "flat")
    prior = ContinuousHills(parameters, {}).priors[-1]
    assert (prior.label, prior.variance, prior.mean(np.zeros((1, 1)))[0]) == ("flat", 0.3, 0.5)
    assert prior.slope is not None
    with pytest.raises(BocuError, match="two have the name '3'"):
        ContinuousHills.Parameters().with_candidates([FLAT.model_copy(update={"label": "3"})])
    fitted = FittedPrior(label="fitted", kernel="matern-5/2", rows=None)
    assert ContinuousHills.Parameters().takes(fitted) == "no data stand behind it that a prior could be fitted to"


def test_a_closed_zone_over_everything_is_refused() -> None:
    with pytest.raises(BocuError, match=r"hills-continuous: closed: found 1.0; no arm is left"):
        ContinuousHills.outline(ContinuousHills.Parameters(closed=1.0))
