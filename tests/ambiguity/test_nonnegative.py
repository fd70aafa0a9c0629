"""Non-negative quadratic programmes against least squares, from any start."""

import numpy as np
import pytest
from scipy.optimize import nnls

from bocu.robust.ambiguity.mmd.nonnegative import maximise_nonnegative


def programme(n, seed, condition):
    generator = np.random.default_rng(seed)
    basis = np.linalg.qr(generator.standard_normal((n, n)))[0]
    matrix = basis * np.geomspace(1.0, 1.0 / condition, n) @ basis.T
    return generator.standard_normal(n), 0.5 * (matrix + matrix.T)


def maximise(b, matrix, start=None, enough=np.inf):
    x = np.zeros((1, len(b))) if start is None else start[None].copy()
    values = maximise_nonnegative(b[None], matrix, x, np.array([enough]), np.array([1e-10]))
    return values[0], x[0]


def objective(b, matrix, x):
    return 2.0 * b @ x - x @ matrix @ x


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("condition", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("n", [1, 2, 7, 60])
def test_maximum_is_that_of_least_squares(n, condition, seed):
    b, matrix = programme(n, seed, condition)
    value, x = maximise(b, matrix)
    root = np.linalg.cholesky(matrix)
    expected = nnls(root.T, np.linalg.solve(root, b), maxiter=100 * n)[0]
    np.testing.assert_allclose(x, expected, atol=1e-9 * condition)
    assert value == pytest.approx(objective(b, matrix, x), rel=1e-8, abs=1e-12)
    assert x.min() >= 0.0


@pytest.mark.parametrize("kind", ["ones", "answer to another", "random"])
def test_every_start_leads_to_the_maximum(kind):
    b, matrix = programme(50, 3, 1e4)
    generator = np.random.default_rng(0)
    start = {
        "ones": np.ones(50),
        "answer to another": maximise(b + 0.1 * generator.standard_normal(50), matrix)[1],
        "random": np.maximum(generator.standard_normal(50), 0.0),
    }[kind]
    value, x = maximise(b, matrix)
    again, same = maximise(b, matrix, start)
    assert again == pytest.approx(value, rel=1e-11)
    np.testing.assert_allclose(same, x, atol=1e-7)


def test_it_stops_at_what_is_enough():
    b, matrix = programme(50, 1, 1e4)
    best, at_best = maximise(b, matrix)
    value, x = maximise(b, matrix, enough=0.5 * best)
    assert 0.5 * best <= value < best
    assert objective(b, matrix, x) == pytest.approx(value, rel=1e-10)
    assert 0 < np.count_nonzero(x) < np.count_nonzero(at_best)


def test_rows_do_not_depend_on_each_other():
    _, matrix = programme(40, 2, 1e5)
    offers = np.random.default_rng(7).standard_normal((5, 40))
    x = np.zeros((5, 40))
    values = maximise_nonnegative(offers, matrix, x, np.full(5, np.inf), np.full(5, 1e-10))
    for row, b in enumerate(offers):
        value, alone = maximise(b, matrix)
        assert value == values[row]
        np.testing.assert_array_equal(alone, x[row])


def test_nothing_to_gain():
    _, matrix = programme(5, 0, 10.0)
    value, x = maximise(-np.ones(5), matrix)
    assert value == 0.0
    assert not x.any()


def test_what_would_make_the_matrix_singular_stays_out():
    """The second entry could grow without end, were the matrix taken at its word."""
    value, x = maximise(np.array([2.0, 1.0]), np.array([[1.0, -1.0], [-1.0, 1.0]]))
    assert value == 4.0
    np.testing.assert_array_equal(x, [2.0, 0.0])
