"""Shorter ways to what the MMD set answers: the same digits as by the longer ones."""

import numpy as np
import pytest

from bocu.robust.ambiguity import MaximumMeanDiscrepancy, TotalVariation, squared_exponential_gram, worst_case
from bocu.robust.ambiguity.approximations import floor_distance
from bocu.robust.ambiguity.base import Rows
from bocu.robust.ambiguity.mmd import certificates, path, whole_arrays
from bocu.robust.ambiguity.mmd.path import PathPoints, PreparedReference
from bocu.robust.ambiguity.rows import Wanted
from bocu.robust.contexts.estimates import product_grid
from bocu.robust.objectives.functions import UncertaintyObjective

N = 30
GRAM = squared_exponential_gram(product_grid(0, 1, N), 0.1)
EMPIRICAL = np.bincount([3, 4, 4, 9, 9, 9, 20], minlength=N) / 7
RADII = (1e-6, 0.05, 0.3, 2.0)


def smooth(rows: int) -> np.ndarray:
    payoffs = np.random.default_rng(rows).standard_normal((rows, N)) @ np.linalg.cholesky(GRAM).T
    payoffs -= payoffs.min(axis=1, keepdims=True)
    return payoffs / payoffs.max(axis=1, keepdims=True)


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("rows", [1, 4])
def test_points_that_need_no_putting_together_are_those_that_are(radius: float, rows: int) -> None:
    reference = PreparedReference(EMPIRICAL, MaximumMeanDiscrepancy(0.0, GRAM)._gram)
    (short,) = reference.at_radii(smooth(rows), [radius])
    long = PathPoints.empty((rows, N))
    reference._walk(smooth(rows), np.arange(rows), [radius], [long])
    for name in PathPoints.__slots__:
        assert np.array_equal(getattr(short, name), getattr(long, name)), name


def test_a_constant_row_beside_others_stays_at_the_reference() -> None:
    payoffs = np.concatenate([smooth(3), np.zeros((1, N))])
    found = worst_case(payoffs, EMPIRICAL, MaximumMeanDiscrepancy(0.3, GRAM))
    assert found.value[3] == found.slope[3] == found.gap[3] == 0.0
    assert np.array_equal(found.distribution[3], EMPIRICAL)
    alone = worst_case(payoffs[:3], EMPIRICAL, MaximumMeanDiscrepancy(0.3, GRAM))
    np.testing.assert_allclose(found.value[:3], alone.value, rtol=1e-12)


@pytest.mark.parametrize("radius", [0.0, *RADII])
def test_one_reference_for_all_rows_is_the_same_one_for_each(radius: float) -> None:
    ambiguity_set, f = MaximumMeanDiscrepancy(radius, GRAM), smooth(4)

    def solved(p: np.ndarray) -> Rows:
        return ambiguity_set.solve(f, p, Wanted(distribution=True, rate=True))

    shared, each = solved(EMPIRICAL[None]), solved(np.tile(EMPIRICAL, (4, 1)))
    for name in ("value", "slope", "distribution", "rate", "gap"):
        # The expectations are sums in another order.
        np.testing.assert_allclose(getattr(shared, name), getattr(each, name), rtol=1e-12, atol=1e-13, err_msg=name)


def test_distances_of_the_floor_are_those_of_the_reference_asked_for() -> None:
    """They are kept with a reference: another one in between leaves them alone."""
    ambiguity_set, f = MaximumMeanDiscrepancy(0.1, GRAM), smooth(5)
    for p in (EMPIRICAL, np.full(N, 1 / N), EMPIRICAL):
        image = p[None] @ GRAM
        squared = np.diag(GRAM) - 2.0 * image + np.einsum("bn,bn->b", image, p[None])[:, None]
        expected = np.sqrt(np.maximum(squared, 0.0))[0, f.argmin(axis=1)]
        assert np.array_equal(floor_distance(f, p, ambiguity_set), expected)


def test_a_search_finds_what_solving_all_decisions_finds() -> None:
    rule = UncertaintyObjective.dro(MaximumMeanDiscrepancy(0.3, GRAM))
    payoffs = smooth(80) * np.random.default_rng(0).random((80, 1))
    best = rule.argmax(payoffs, EMPIRICAL)
    assert best.index == rule(payoffs, EMPIRICAL).argmax()
    assert best.value == pytest.approx(rule(payoffs, EMPIRICAL).max(), rel=1e-12)


@pytest.mark.parametrize("rows", [1, 3, 4])
def test_payoffs_span_as_those_of_any_set(rows: int) -> None:
    payoffs = np.random.default_rng(rows).normal(size=(rows, N)) * 1e3
    payoffs[0] = payoffs[0, 0]
    payoffs.setflags(write=False)
    for f in (payoffs, np.asfortranarray(payoffs), payoffs[:, ::-1]):
        ours = MaximumMeanDiscrepancy(0.1, GRAM).spanning(f, EMPIRICAL[None], (rows,))
        usual = TotalVariation(0.1).spanning(f, np.full((1, N), 1 / N), (rows,))
        for name in ("f", "low", "scale"):
            assert np.array_equal(getattr(ours, name), getattr(usual, name)), name


@pytest.mark.parametrize("stretched", [1.0, 1.5])
@pytest.mark.parametrize("radii", [1, 2])
@pytest.mark.parametrize("made", [certificates, whole_arrays])
def test_certificates_are_those_of_whole_arrays(
    stretched: float, radii: int, made: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows within the radius and beyond it, on the floor, without a path parameter and without numbers."""
    reference = PreparedReference(EMPIRICAL, MaximumMeanDiscrepancy(0.0, GRAM)._gram)
    f, radius = smooth(5), 0.1
    (walked,) = reference.at_radii(f, [radius])
    r = np.repeat(stretched * walked.r[:, None], radii, axis=1)
    t = np.repeat(walked.t[:, None], radii, axis=1)
    t[1], t[2], r[3, :, 4] = np.inf, 0.0, np.nan
    monkeypatch.setattr(path, "certificates", lambda: made)
    found = reference._certified(f, r[:, 0].copy() if radii == 1 else r[:, 0], t[:, 0], walked.rate, radius)
    with np.errstate(all="ignore"):
        image = r[:, 0] @ GRAM
        norm = np.sqrt(np.maximum(np.einsum("bn,bn->b", r[:, 0], image), 0.0))
        shrink = 1.0 / np.maximum(norm / radius, 1.0)
        pulled, image, norm = r[:, 0] * shrink[:, None], image * shrink[:, None], norm * shrink
        scaled = image / t[:, :1]
        lower = (f + scaled).min(axis=1) - scaled @ EMPIRICAL - norm**2 / t[:, 0]
        value = np.where(np.isinf(t[:, 0]), 0.0, f @ EMPIRICAL + np.einsum("bn,bn->b", f, pulled))
        moving = (t[:, 0] > 0.0) & np.isfinite(t[:, 0])
        slope = -np.divide(norm, t[:, 0], out=np.zeros(5), where=moving)
    expected = {"r": pulled, "norm": norm, "gap": np.abs(value - lower)}
    for name, numbers in expected.items():
        assert np.array_equal(getattr(found, name), numbers, equal_nan=True), name
    for ours, numbers in zip(found.value_and_slope(f @ EMPIRICAL), (value, slope), strict=True):
        assert np.array_equal(ours, numbers, equal_nan=True)
    assert np.isnan(found.gap[3])
    assert not found.accepted
