"""Drafts of joint kernels: near the surface itself, and decisions that tie with those found without them."""

import numpy as np
import pytest
from gaussian_posteriors import MATERN, SE, posterior

from bocu.learners.acquisition.base import Acquisition, SurfaceAcquisition
from bocu.learners.acquisition.functionals import ExpectedValue, MinimumValue, SampledTotalVariation
from bocu.learners.acquisition.multistart import ascend, maximise
from bocu.learners.acquisition.surfaces import JointSurface, SeparableSurface, WeightedSurface
from bocu.learners.surrogates.continuous.structure import joint, product


class Plain(JointSurface):
    """The same surface, of which every decision is evaluated exactly."""

    def rough(self, indices):
        return JointSurface(self.posterior, self.points[indices], self.sqrt_beta)

    def draft(self):
        return None


class Counted(JointSurface):
    """A surface that counts the decisions it is evaluated at."""

    evaluated = 0

    def evaluate(self, decisions):
        self.evaluated += len(decisions)
        return super().evaluate(decisions)


def contexts(count, dimension):
    return np.clip(np.random.default_rng(1).normal(0.5, 0.2, (count, dimension)), 0.0, 1.0)


@pytest.mark.parametrize("kernel", [MATERN, SE])
@pytest.mark.parametrize(("dimension", "few"), [(1, 100), (2, 400)])
def test_draft_is_near_the_surface(dimension, few, kernel):
    given = posterior(joint(2, dimension, kernel), count=100, noise=1e-3)
    over = JointSurface(given, contexts(1024, dimension), 1.5)
    draft = over.draft()
    assert len(draft.skeleton.indices) < few
    decisions = np.concatenate([np.random.default_rng(2).random((10, 2)), given.inputs[:5, :2]])
    means, expected = (SurfaceAcquisition(one, ExpectedValue())(decisions) for one in (draft, over))
    spread = expected[0].std()
    np.testing.assert_allclose(means[0], expected[0], rtol=0.0, atol=1e-5 * spread)
    np.testing.assert_allclose(means[1], expected[1], rtol=0.0, atol=1e-3 * spread)


@pytest.mark.parametrize(
    ("functional", "tie"),
    [
        pytest.param(ExpectedValue(), 1e-9, id="expected value"),
        # Where two contexts are equally bad, ascents end in a kink, up to their tolerance.
        pytest.param(SampledTotalVariation(0.3, 512), 1e-6, id="total variation"),
        pytest.param(MinimumValue(), 1e-6, id="minimum"),
    ],
)
def test_decision_by_a_draft_ties_with_the_exact_one(functional, tie):
    given = posterior(joint(2, 1, MATERN), count=60)
    points = contexts(1024, 1)
    over = Counted(given, points, 1.5)
    found = maximise(SurfaceAcquisition(over, functional), np.random.default_rng(0), raw=128, restarts=16)
    plainly = SurfaceAcquisition(Plain(given, points, 1.5), functional)
    expected = maximise(plainly, np.random.default_rng(0), raw=128, restarts=16)
    spread = plainly(np.random.default_rng(1).random((64, 2)))[0].std()
    assert found.value == pytest.approx(plainly(found.decision[None])[0][0], abs=1e-12)
    assert found.value >= expected.value - tie * spread
    assert over.evaluated < 20  # of some 200


def test_scalarised_payoffs_have_the_drafts_of_their_outputs():
    first, second = (posterior(joint(2, 1, MATERN), count=40, seed=seed) for seed in (0, 1))
    points = contexts(1024, 1)
    over = WeightedSurface([JointSurface(first, points, 1.5), Plain(second, points, 1.5)], np.array([0.3, 0.7]))
    decisions = np.random.default_rng(2).random((5, 2))
    np.testing.assert_allclose(over.draft().payoffs(decisions), over.payoffs(decisions), atol=1e-2)
    assert over.draft().surfaces[0].skeleton.interpolation is not None
    assert WeightedSurface(over.surfaces[1:], np.ones(1)).draft() is None


@pytest.mark.parametrize(("count", "dimension"), [(1024, 4), (100, 1)])
def test_what_does_not_compress_or_is_small_has_no_draft(count, dimension):
    given = posterior(joint(2, dimension, MATERN), count=60)
    assert JointSurface(given, contexts(count, dimension), 1.5).draft() is None


def test_contexts_along_a_line_in_space_have_a_draft():
    given = posterior(joint(2, 4, MATERN), count=60)
    diagonal = np.tile(np.linspace(0.0, 1.0, 1024)[:, None], 4)
    assert len(JointSurface(given, diagonal, 1.5).draft().skeleton.indices) < 200


class Hill(Acquisition):
    """A smooth function with one top, and a draft of it."""

    dimension = 2

    def __init__(self, top, height=1.0, draft=None):
        self.top, self.height, self._draft = np.asarray(top), height, draft
        self.evaluated = 0

    def __call__(self, decisions):
        self.evaluated += len(decisions)
        away = decisions - self.top
        value = self.height * np.exp(-(away**2).sum(axis=1))
        return value, -2.0 * away * value[:, None]

    def draft(self):
        return self._draft


def test_misleading_draft_is_left_aside():
    misled = maximise(
        Hill([0.3, 0.6], draft=Hill([0.8, 0.1], height=2.0)), np.random.default_rng(0), raw=64, restarts=4
    )
    expected = maximise(Hill([0.3, 0.6]), np.random.default_rng(0), raw=64, restarts=4)
    np.testing.assert_array_equal(misled.decision, expected.decision)


def test_ascent_goes_on_from_a_draft_along_known_curvatures():
    starts = np.random.default_rng(0).random((3, 2))
    objective = Hill([0.3, 0.6])
    ends, values = ascend(objective, starts, tolerance=1e-12, draft=Hill([0.3 + 1e-5, 0.6]))
    np.testing.assert_allclose(ends, np.tile(objective.top, (3, 1)), atol=1e-7)
    np.testing.assert_allclose(values, 1.0, atol=1e-13)
    after = objective.evaluated
    ascend(objective, starts, tolerance=1e-12)
    assert after < (objective.evaluated - after) / 2


@pytest.mark.parametrize(
    ("functional", "of"),
    [
        pytest.param(ExpectedValue(drafted_on=64), ExpectedValue(), id="expected value"),
        pytest.param(
            SampledTotalVariation(0.3, 512, drafted_on=64), SampledTotalVariation(0.3, 512), id="total variation"
        ),
    ],
)
def test_ascents_that_begin_on_few_samples_end_on_all(functional, of):
    given = posterior(product(2, 4, MATERN, SE), count=60)
    points = contexts(1024, 4)
    whole = SurfaceAcquisition(SeparableSurface(given, points, 1.5), of)
    drafted = SurfaceAcquisition(SeparableSurface(given, points, 1.5), functional)
    assert whole.few() is None
    assert len(drafted.few().surface.points) < 200
    found, expected = (maximise(one, np.random.default_rng(0), raw=128, restarts=12) for one in (drafted, whole))
    spread = whole(np.random.default_rng(1).random((64, 2)))[0].std()
    assert found.value == pytest.approx(whole(found.decision[None])[0][0], abs=1e-12)
    assert found.value >= expected.value - 1e-5 * spread


def test_few_samples_are_no_draft_where_contexts_are_compressed():
    given = posterior(product(2, 1, MATERN, SE), count=20)
    over = SeparableSurface(given, contexts(1024, 1), 1.5)
    assert SurfaceAcquisition(over, ExpectedValue(drafted_on=64)).few() is None
