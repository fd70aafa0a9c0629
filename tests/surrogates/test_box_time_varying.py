"""`surrogates.box_time_varying`: posteriors over a box are those over a grid of its points, with their slopes."""

import math
from dataclasses import replace

import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.core.kernels import Matern52, SquaredExponential
from bocu.learners.surrogates.box_time_varying import (
    BoxPosteriors,
    BoxPrior,
    ConstantMean,
    SlopeTail,
    slope_tail_on_a_line,
)
from bocu.learners.surrogates.time_varying import TimeVaryingPosteriors, TimeVaryingPrior
from bocu.problems.hills import CENTRES, HillsMean

NOISE = 0.1
LINE = np.linspace(0.0, 1.0, 21)[:, None]
SMOOTH = BoxPrior("smooth", HillsMean(np.linspace(0.2, 1.0, len(CENTRES)), 0.05), SquaredExponential((0.3,)), 0.5, 0.1)
ROUGH = BoxPrior("rough", ConstantMean(0.4), Matern52((0.2,)), 1.5)
PRIORS = (SMOOTH, replace(SMOOTH, label="flat", mean=ConstantMean(-1.0)), ROUGH)
OBSERVED = [(3, 1, 0.3), (17, 2, -0.2), (3, 4, 0.9), (10, 4, 1.1)]


def over_points(prior: BoxPrior) -> TimeVaryingPrior:
    covariance = prior.variance * prior.kernel(LINE, LINE)
    return TimeVaryingPrior(prior.label, prior.mean(LINE), covariance, prior.forgetting)


def told(posteriors, places):
    for arm, t, value in OBSERVED:
        posteriors.observe(places[arm], t, value)
    return posteriors


def test_they_are_those_over_the_points_of_a_grid() -> None:
    box = told(BoxPosteriors(PRIORS, NOISE), LINE)
    grid = told(TimeVaryingPosteriors([over_points(prior) for prior in PRIORS], NOISE), range(len(LINE)))
    for t in (4, 9):
        for one, other in zip(box.predict(range(3), LINE, t), grid.predict(t), strict=True):
            assert one == pytest.approx(other, abs=1e-9)
    assert box.log_evidence == pytest.approx(grid.log_evidence, abs=1e-9)
    assert box.predict([2, 0], LINE, 5)[0] == pytest.approx(box.predict(range(3), LINE, 5)[0][[2, 0]], abs=0)


def test_gradients_are_differences() -> None:
    plane = [
        BoxPrior(str(place), ConstantMean(0.1 * place), kernel, 0.7, 0.2)
        for place, kernel in enumerate((SquaredExponential((0.3, 0.5)), Matern52((0.4, 0.2))))
    ]
    posteriors = BoxPosteriors(plane, NOISE)
    generator = np.random.default_rng(0)
    for t in range(1, 7):
        posteriors.observe(generator.random(2), t, float(generator.standard_normal()))
    points, step = generator.random((5, 2)), 1e-6
    mean, deviation, *slopes = posteriors.predict_with_gradients([1, 0], points, 8)
    plain = posteriors.predict([1, 0], points, 8)
    assert mean == pytest.approx(plain[0])
    assert deviation == pytest.approx(plain[1])
    for axis in range(2):
        ahead, behind = (posteriors.predict([1, 0], points + way * step * np.eye(2)[axis], 8) for way in (1, -1))
        for slope, after, before in zip(slopes, ahead, behind, strict=True):
            assert slope[:, :, axis] == pytest.approx((after - before) / (2 * step), abs=1e-6)


def test_a_mean_s_gradient_is_a_difference_and_nowhere_above_its_bound() -> None:
    mean, step = HillsMean(np.linspace(0.2, 1.0, len(CENTRES)), 0.02), 1e-6
    points = np.linspace(0.0, 1.0, 10_007)[:, None]
    slopes = mean.gradient(points)[:, 0]
    assert slopes == pytest.approx((mean(points + step) - mean(points - step)) / (2 * step), abs=1e-4)
    assert np.abs(slopes).max() <= mean.steepest() < 1.1 * np.abs(slopes).max()


def test_it_goes_on_bit_for_bit_from_its_state() -> None:
    first = told(BoxPosteriors(PRIORS, NOISE), LINE)
    other = BoxPosteriors(PRIORS, NOISE)
    other.restore(first.state())
    for posteriors in (first, other):
        posteriors.observe(LINE[8], 6, 0.2)
    assert np.array_equal(first.predict(range(3), LINE, 7), other.predict(range(3), LINE, 7))
    assert np.array_equal(first.log_evidence, other.log_evidence)


@pytest.mark.parametrize("kernel", [SquaredExponential((0.3,)), Matern52((0.3,))])
def test_draws_are_no_steeper_than_the_tail_says(kernel) -> None:
    # Slopes of 4,000 draws over the line, by the covariance of the kernel's own differences.
    points = np.linspace(0.0, 1.0, 201)[:, None]
    values, vectors = np.linalg.eigh(0.01 * kernel(points, points))
    draws = (vectors * np.sqrt(np.maximum(values, 0.0))) @ np.random.default_rng(0).standard_normal((201, 4_000))
    hills = HillsMean(np.full(len(CENTRES), 0.05), 0.1)
    for mean in (ConstantMean(0.0), hills):
        steepest = np.abs(np.diff(draws + mean(points)[:, None], axis=0) / 0.005).max(axis=0)
        tail = slope_tail_on_a_line(kernel, 0.01, 1.0, hills.steepest() if mean is hills else 0.0)
        for level in np.quantile(steepest, [0.5, 0.9, 0.99, 0.999]):
            assert np.mean(steepest > level) <= tail.a * math.exp(-((level / tail.b) ** 2))
    bare = slope_tail_on_a_line(kernel, 0.01, 1.0)
    level = np.quantile(np.abs(np.diff(draws, axis=0) / 0.005).max(axis=0), 0.99)
    assert bare.a * math.exp(-((level / bare.b) ** 2)) < 0.1  # and the bound says something


def test_misuse_gets_one_line() -> None:
    with pytest.raises(BocuError, match=r"^prior 'x': variance is -1.0; allowed: a positive number"):
        BoxPrior("x", ConstantMean(), SquaredExponential((1.0,)), -1.0)
    with pytest.raises(BocuError, match=r"^slope tail: a: found 0"):
        SlopeTail(0.0, 1.0)
    with pytest.raises(BocuError, match="found 1 and 2 coordinates"):
        BoxPosteriors([ROUGH, replace(ROUGH, kernel=SquaredExponential((1.0, 1.0)))], NOISE)
    late = told(BoxPosteriors(PRIORS, NOISE), LINE)
    with pytest.raises(BocuError, match=r"^time: found 3; allowed: 4"):
        late.predict([0], LINE, 3)
