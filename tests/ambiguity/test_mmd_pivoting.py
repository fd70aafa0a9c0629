"""Block pivoting against the critical line, which follows the same points in another way."""

import numpy as np
import pytest

from bocu.robust.ambiguity import MaximumMeanDiscrepancy, squared_exponential_gram
from bocu.robust.ambiguity.mmd.critical_line import follow
from bocu.robust.ambiguity.mmd.pivoting import pivot
from bocu.robust.contexts.estimates import product_grid


def instance(
    side: int, rows: int, seed: int, zeros: bool, lengthscale: float = 0.15
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Payoffs with minimum 0, a reference and a Gram matrix on a square grid of contexts."""
    generator = np.random.default_rng(seed)
    contexts = product_grid([0.0, 0.0], [1.0, 1.0], side)
    gram = squared_exponential_gram(contexts, lengthscale)
    payoffs = generator.standard_normal((rows, len(contexts))) @ np.linalg.cholesky(gram).T
    reference = generator.random(len(contexts))
    if zeros:
        reference[generator.random(len(contexts)) < 0.3] = 0.0
    payoffs -= payoffs.min(axis=1, keepdims=True)
    return payoffs / payoffs.max(axis=1, keepdims=True), reference / reference.sum(), gram


@pytest.mark.parametrize("zeros", [False, True], ids=["full", "zeros"])
@pytest.mark.parametrize("side", [2, 3, 6, 10])
def test_points_are_those_of_the_critical_line(side: int, zeros: bool) -> None:
    f, p, gram = instance(side, 12, 10 * side + zeros, zeros)
    inverse = MaximumMeanDiscrepancy(0.0, gram)._gram.centred_inverse
    radii = np.array([0.02, 0.1, 0.3])
    r, t, rate, solved = pivot(f, -f @ inverse, p, gram, inverse, radii)
    expected, at, slope, _ = follow(f, p, gram @ p, gram, radii, np.empty(0), 1e-9)
    settled = 0
    for row in np.flatnonzero(solved):
        np.testing.assert_allclose(r[row], expected[row], rtol=0, atol=1e-9)
        np.testing.assert_allclose(t[row], at[row], rtol=1e-7)
        np.testing.assert_allclose(rate[row], slope[row], rtol=0, atol=1e-6 * np.abs(slope[row]).max())
        assert np.abs(r[row].sum(axis=1)).max() <= 1e-13
        settled += 1
    # What reaches the floor is left to the critical line, and little else.
    assert settled >= 0.9 * np.isfinite(at).all(axis=1).sum() > 0


def test_no_digit_depends_on_the_rows_before() -> None:
    f, p, gram = instance(9, 40, 5, False)
    inverse = MaximumMeanDiscrepancy(0.0, gram)._gram.centred_inverse
    directions = -f @ inverse
    radii = np.array([0.1])
    together = pivot(f, directions, p, gram, inverse, radii)
    order = np.random.default_rng(0).permutation(len(f))
    shuffled = pivot(f[order], directions[order], p, gram, inverse, radii)
    both = together[3][order] & shuffled[3]
    assert both.mean() > 0.9
    for one, other in zip(together[:3], shuffled[:3], strict=True):
        np.testing.assert_array_equal(one[order][both], other[both])


def test_every_value_has_its_certificate_and_agrees_with_one_row_alone() -> None:
    f, p, gram = instance(14, 30, 7, False)
    around = MaximumMeanDiscrepancy(0.15, gram)
    values = around.values(f, p)[0]
    alone = np.array([around.values(row, p)[0] for row in f])
    np.testing.assert_allclose(values, alone, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("points", "radius", "pivoted"), [(64, 0.06, False), (16, 0.06, True), (16, 0.3, False)])
def test_close_contexts_and_radii_near_the_floor_are_left_to_the_critical_line(
    points: int, radius: float, pivoted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(3)
    line = np.linspace(0.0, 1.0, points)
    payoffs = np.sin(line * generator.uniform(1.0, 4.0, (20, 1)) + generator.uniform(0.0, 3.0, (20, 1)))
    around = MaximumMeanDiscrepancy(radius, squared_exponential_gram(line, 0.1))
    reference = np.full(points, 1.0 / points)
    around.values(payoffs, reference)
    calls = []

    def watched(*arguments: np.ndarray) -> tuple[np.ndarray, ...]:
        calls.append(len(arguments[0]))
        return pivot(*arguments)

    monkeypatch.setattr("bocu.robust.ambiguity.mmd.pivoting.pivot", watched)
    around.values(payoffs, reference)
    assert bool(calls) == pivoted


def test_sets_that_turn_in_circles_settle_by_single_contexts() -> None:
    f, p, gram = instance(16, 24, 3, False, 0.1)
    inverse = MaximumMeanDiscrepancy(0.0, gram)._gram.centred_inverse
    # From any row to any other, alike or not.
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(len(f)), 2))
    *_, solved = pivot(f[order], -f[order] @ inverse, p, gram, inverse, np.array([0.02, 0.06]))
    assert solved.all()
