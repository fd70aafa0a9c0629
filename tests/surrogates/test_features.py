"""`surrogates.fourier`: features on a grid and over continuous inputs are the same, drawn in the same order."""

import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.core.kernels import Matern52, SquaredExponential
from bocu.learners.surrogates.fourier import FourierFeatures, FourierSampler, SampledWaves
from bocu.learners.surrogates.grid import GridPrior

DECISIONS = np.random.default_rng(0).random((6, 2))
CONTEXTS = np.random.default_rng(1).random((4, 1))
KERNELS = SquaredExponential((0.4, 0.6)), Matern52((0.5,))


@pytest.mark.parametrize("pairs", [True, False])
def test_a_grid_evaluates_the_features_that_were_drawn(pairs: bool) -> None:
    prior = GridPrior(DECISIONS, CONTEXTS, *KERNELS, variance=1.5, noise=0.1)
    drawn = FourierFeatures.draw(KERNELS, 1.5, 10, np.random.default_rng(2), pairs=pairs)
    x, c = np.unravel_index(np.arange(prior.size), prior.shape)
    angles = np.hstack([DECISIONS[x], CONTEXTS[c]]) @ drawn.frequencies.T
    if drawn.phases is None:
        expected = np.stack([np.cos(angles), np.sin(angles)], axis=-1).reshape(len(angles), -1)
    else:
        expected = np.cos(angles + drawn.phases)
    waves = FourierSampler(prior, 10, pairs).draw_waves(np.random.default_rng(2))
    np.testing.assert_allclose(waves.features(x, c), drawn.amplitude * expected, atol=1e-13)


def test_a_sample_over_continuous_inputs_is_that_of_the_grid() -> None:
    prior = GridPrior(DECISIONS, CONTEXTS, *KERNELS, variance=1.5, noise=0.1)
    generator = np.random.default_rng(3)
    table = FourierSampler(prior, 10, False).draw_waves(generator).table(generator.standard_normal(10))
    sample = SampledWaves.draw(KERNELS, 1.5, 10, np.random.default_rng(3))
    x, c = np.unravel_index(np.arange(prior.size), prior.shape)
    np.testing.assert_allclose(sample(np.hstack([DECISIONS[x], CONTEXTS[c]])), table.ravel(), atol=1e-12)


@pytest.mark.parametrize(("count", "pairs"), [(0, False), (3, True)])
def test_counts_that_make_no_features_are_refused(count: int, pairs: bool) -> None:
    with pytest.raises(BocuError, match=f"features: found {count}"):
        FourierFeatures.draw(KERNELS, 1.0, count, np.random.default_rng(4), pairs=pairs)
