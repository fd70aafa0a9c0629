"""The MMD path: duality gaps, both ends of the path, references with zeros, degenerate geometry."""

import numpy as np
import pytest

from bocu.robust.ambiguity import MaximumMeanDiscrepancy, floor_distance, squared_exponential_gram, worst_case
from bocu.robust.contexts.estimates import product_grid

GRAM = squared_exponential_gram(product_grid(0, 1, 30), 0.1)
RADII = (1e-8, 1e-5, 1e-3, 1e-2, 0.06, 0.15, 0.4, 1.0)


def payoffs_like(gram: np.ndarray, rows: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((rows, len(gram))) @ np.linalg.cholesky(gram).T


def references(n: int) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(n)
    empirical = np.bincount(generator.integers(0, n, 15), minlength=n) / 15
    return {"uniform": np.full(n, 1 / n), "empirical": empirical, "random": generator.dirichlet(np.ones(n))}


@pytest.mark.parametrize("lengthscale", [0.1, 0.2, 0.5])
@pytest.mark.parametrize("contexts", [product_grid(0, 1, 48), product_grid([0, 0], [1, 1], 7)], ids=["line", "grid"])
def test_duality_gap_is_small_at_every_radius(contexts: np.ndarray, lengthscale: float) -> None:
    gram = squared_exponential_gram(contexts, lengthscale)
    payoffs = payoffs_like(gram, 12, 1)
    for reference in references(len(contexts)).values():
        ambiguity_set = MaximumMeanDiscrepancy(0.1, gram).prepare(reference)
        for epsilon in RADII:
            answer = worst_case(payoffs, reference, ambiguity_set.with_epsilon(epsilon))
            limit = (1e-8 if epsilon >= 1e-2 else 1e-6) * (1 + np.ptp(payoffs, axis=1))
            assert (answer.gap <= limit).all()
            assert (ambiguity_set.distance(answer.distribution, reference) <= epsilon * (1 + 1e-8)).all()
            # The path of a row does not depend on the rows beside it.
            alone = worst_case(payoffs[3], reference, ambiguity_set.with_epsilon(epsilon))
            assert alone.value == pytest.approx(answer.value[3], rel=1e-12, abs=1e-12)


def test_interior_closed_form() -> None:
    gram = squared_exponential_gram(product_grid(0, 1, 5), 0.2)
    f, p = np.array([0.3, -0.1, 0.4, 1.0, 0.2]), np.full(5, 0.2)
    inverse = np.linalg.inv(gram)
    g = inverse @ (f - (inverse.sum(0) @ f) / inverse.sum())
    steepness = np.sqrt(f @ g)
    answer = worst_case(f, p, MaximumMeanDiscrepancy(0.01, gram))
    assert answer.value == pytest.approx(f @ p - 0.01 * steepness, abs=1e-10)
    assert answer.slope == pytest.approx(-steepness, rel=1e-9)
    np.testing.assert_allclose(answer.distribution, p - 0.01 * g / steepness, atol=1e-9)


def test_symmetric_grid_with_ties_everywhere() -> None:
    grid = product_grid([0, 0], [1, 1], 5)
    gram = squared_exponential_gram(grid, 0.3)
    f = -np.abs(grid - 0.5).sum(axis=1)
    p = np.full(25, 1 / 25)
    for epsilon in RADII:
        answer = worst_case(f, p, MaximumMeanDiscrepancy(epsilon, gram))
        assert answer.gap <= 1e-8
        # Mirror images of the grid give mirror images of the distribution.
        q = answer.distribution.reshape(5, 5)
        np.testing.assert_allclose(q, q[::-1], atol=1e-7)


def test_tied_minimisers_share_the_floor() -> None:
    gram = squared_exponential_gram([0.0, 0.5, 1.0], 0.2)
    p = np.array([0.4, 0.2, 0.4])
    far = worst_case([0.0, 1.0, 0.0], p, MaximumMeanDiscrepancy(10.0, gram))
    np.testing.assert_allclose(far.distribution, [0.5, 0.0, 0.5], atol=1e-12)
    nearest = MaximumMeanDiscrepancy(0.0, gram).distance(far.distribution, p)
    below = worst_case([0.0, 1.0, 0.0], p, MaximumMeanDiscrepancy(0.999 * nearest, gram))
    assert 0.0 < below.value < 1e-2
    assert worst_case([0.0, 1.0, 0.0], p, MaximumMeanDiscrepancy(1.001 * nearest, gram)).value == 0.0


def test_values_at_several_radii_agree_with_one_by_one() -> None:
    gram = squared_exponential_gram(product_grid(0, 1, 30), 0.15)
    payoffs = payoffs_like(gram, 9, 4)
    for reference in references(30).values():
        ambiguity_set = MaximumMeanDiscrepancy(0.0, gram)
        radii = [0.3, 0.0, 1e-3, 0.05, 5.0]
        together = ambiguity_set.values_at(payoffs, reference, radii)
        for column, epsilon in enumerate(radii):
            alone = ambiguity_set.with_epsilon(epsilon).values(payoffs, reference)[0]
            np.testing.assert_allclose(together[:, column], alone, rtol=0, atol=1e-10)


def test_slope_at_zero_with_zeros_in_the_reference_is_the_limit() -> None:
    gram = squared_exponential_gram(product_grid(0, 1, 20), 0.2)
    payoffs = payoffs_like(gram, 6, 2)
    reference = np.zeros(20)
    reference[[2, 3, 11, 17]] = 0.25
    ambiguity_set = MaximumMeanDiscrepancy(0.0, gram)
    slope = worst_case(payoffs, reference, ambiguity_set).slope
    step = 1e-7
    quotient = (ambiguity_set.with_epsilon(step).values(payoffs, reference)[0] - payoffs @ reference) / step
    np.testing.assert_allclose(slope, quotient, rtol=1e-5)


def test_radius_alone_changes_cheaply() -> None:
    ambiguity_set = MaximumMeanDiscrepancy(0.1, np.eye(4))
    assert ambiguity_set.with_epsilon(0.2)._gram is ambiguity_set._gram
    assert ambiguity_set.with_epsilon(0.2)._prepared is ambiguity_set._prepared


def test_satisficing_near_the_expectation_with_zeros() -> None:
    gram = squared_exponential_gram(product_grid(0, 1, 16), 0.2)
    payoffs = payoffs_like(gram, 5, 3)
    ambiguity_set = MaximumMeanDiscrepancy(0.0, gram)
    for reference in references(16).values():
        mean = payoffs @ reference
        steep = worst_case(payoffs, reference, ambiguity_set).slope
        close = ambiguity_set.satisficing(payoffs, reference, mean - 1e-9 * np.ptp(payoffs))
        assert (close >= steep * (1 + 1e-6)).all()
        np.testing.assert_allclose(ambiguity_set.satisficing(payoffs, reference, mean), steep, rtol=1e-9)


@pytest.mark.parametrize("reference", ["uniform", "empirical", "on one context"])
def test_distances_to_single_contexts_are_rounded_up(reference: str) -> None:
    n = 60
    contexts = np.linspace(0.0, 1.0, n)
    around = MaximumMeanDiscrepancy(0.1, squared_exponential_gram(contexts, 0.1))
    p = np.eye(n)[7] if reference == "on one context" else references(n)[reference]
    expected = np.array([float(around.distance(vertex, p)) for vertex in np.eye(n)])
    found = around._vertex_distances(p)
    assert (found >= expected).all()
    # Rounding is that of squares.
    np.testing.assert_allclose(found**2, expected**2, rtol=0, atol=1e-12)


def test_a_constant_row_beside_others_stays_at_the_reference() -> None:
    gram, empirical = GRAM, references(30)["empirical"]
    payoffs = np.concatenate([payoffs_like(gram, 3, 3), np.zeros((1, 30))])
    found = worst_case(payoffs, empirical, MaximumMeanDiscrepancy(0.3, gram))
    assert found.value[3] == found.slope[3] == found.gap[3] == 0.0
    assert np.array_equal(found.distribution[3], empirical)
    alone = worst_case(payoffs[:3], empirical, MaximumMeanDiscrepancy(0.3, gram))
    np.testing.assert_allclose(found.value[:3], alone.value, rtol=1e-12)


def test_distances_of_the_floor_are_those_of_the_reference_asked_for() -> None:
    """They are kept with a reference: another one in between leaves them alone."""
    gram, (uniform, empirical, _) = GRAM, references(30).values()
    ambiguity_set, f = MaximumMeanDiscrepancy(0.1, gram), payoffs_like(gram, 5, 5)
    for p in (empirical, uniform, empirical):
        image = p[None] @ gram
        squared = np.diag(gram) - 2.0 * image + np.einsum("bn,bn->b", image, p[None])[:, None]
        expected = np.sqrt(np.maximum(squared, 0.0))[0, f.argmin(axis=1)]
        assert np.array_equal(floor_distance(f, p, ambiguity_set), expected)
