"""`bocu.learners.surrogates.grams`: what eigenvectors leave open is decided, so that rounding decides no draw."""

import numpy as np
import pytest

from bocu.core.kernels import Matern52, SquaredExponential
from bocu.learners.surrogates.grams import SMALLEST, SpectralRoot

LINE = np.linspace(0.0, 1.0, 60)[:, None]
GRAMS = {
    "smooth, singular to rounding": SquaredExponential((0.2,))(LINE, LINE),
    "rough": Matern52((0.3,))(LINE, LINE),
    "of rank 3": np.array([[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 3.0]]),
}


def rounded(gram: np.ndarray, seed: int) -> np.ndarray:
    """The matrix as another processor may have it."""
    noise = np.random.default_rng(seed).uniform(-1.0, 1.0, gram.shape)
    return gram * (1.0 + 1e-15 * (noise + noise.T))


@pytest.fixture(params=GRAMS.values(), ids=GRAMS)
def gram(request):
    return request.param


def test_the_root_is_one_with_largest_eigenvalues_first_and_signs_fixed(gram):
    root = SpectralRoot(gram).matrix
    np.testing.assert_allclose(root @ root.T, gram, atol=1e-9)
    eigenvalues = (root**2).sum(axis=0)
    assert (np.diff(eigenvalues) < 0.0).all()
    assert eigenvalues[-1] > 0.99 * SMALLEST * eigenvalues[0]
    for column in root.T:
        first = np.flatnonzero(np.abs(column) >= 0.5 * np.abs(column).max())[0]
        assert column[first] > 0.0


def test_rounding_of_a_matrix_moves_a_draw_by_little(gram):
    normal = np.random.default_rng(0).standard_normal(len(gram))
    draws = []
    for each in (gram, *(rounded(gram, seed) for seed in range(5))):
        root = SpectralRoot(each)
        draws.append(root.times(normal[: root.rank]))
    for draw in draws[1:]:
        np.testing.assert_allclose(draw, draws[0], atol=1e-5)
