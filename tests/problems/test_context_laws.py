"""Context distributions, against scipy's and against what was published of kernel density estimates of them."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from bocu.core.errors import BocuError
from bocu.robust.contexts.estimates import OBSERVATIONS, KernelDensity, distance_of_estimate, distances_of_estimates
from bocu.robust.contexts.laws import (
    BurrXII,
    Cauchy,
    ContextLaw,
    Gaussian,
    Mixture,
    Uniform,
    burr_xii,
    clipped_normal,
    complicated,
    uniform,
)

ORACLES = [
    (Gaussian(0.4, 0.2), stats.norm(0.4, 0.2)),
    (Cauchy(0.2, 0.02), stats.cauchy(0.2, 0.02)),
    (BurrXII(2.0, 20.0), stats.burr12(2.0, 20.0)),
    (Uniform(-1.0, 2.0), stats.uniform(-1.0, 3.0)),
]
MARGINALS = [*(marginal for marginal, _ in ORACLES), complicated().marginals[0]]


@pytest.mark.parametrize(("marginal", "oracle"), ORACLES)
def test_marginals_are_those_of_scipy(marginal, oracle):
    at = np.linspace(-1.5, 2.5, 161)
    np.testing.assert_allclose(marginal.density(at), oracle.pdf(at), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(marginal.cumulative(at), oracle.cdf(at), rtol=1e-10, atol=1e-14)
    u = np.linspace(0.001, 0.999, 99)
    np.testing.assert_allclose(marginal.quantile(u), oracle.ppf(u), rtol=1e-10)


@pytest.mark.parametrize("marginal", MARGINALS)
def test_quantile_inverts_the_distribution_function_far_into_the_tails(marginal):
    u = np.concatenate([10.0 ** -np.arange(1, 13), 1 - 10.0 ** -np.arange(1, 13), np.random.default_rng(0).random(500)])
    found = marginal.cumulative(marginal.quantile(u))
    np.testing.assert_allclose(np.minimum(found, 1 - found), np.minimum(u, 1 - u), rtol=1e-3, atol=1e-15)
    np.testing.assert_allclose(found, u, atol=1e-14)


def test_mixture_is_the_mean_of_its_parts():
    (mixture,) = complicated().marginals
    assert isinstance(mixture, Mixture)
    at = np.linspace(-0.5, 1.5, 101)
    np.testing.assert_allclose(mixture.density(at), np.mean([part.density(at) for part in mixture.parts], axis=0))
    mass, _ = integrate.quad(lambda c: float(mixture.density(np.array(c))), 0.0, 1.0, limit=500, epsabs=1e-12)
    assert mass == pytest.approx(float(np.diff(mixture.cumulative(np.array([0.0, 1.0])))[0]), abs=1e-10)


@pytest.mark.parametrize("law", [clipped_normal(2, std=0.4), burr_xii(), complicated(), uniform(3)])
def test_draws_have_the_distribution_and_its_atoms(law):
    drawn = law.sample(np.random.default_rng(1), 20_000)
    assert drawn.shape == (20_000, law.dimension)
    assert drawn.min() >= 0.0
    assert drawn.max() <= 1.0
    for j, (low, high) in enumerate(law.atoms()):
        assert np.mean(drawn[:, j] == 0.0) == pytest.approx(low, abs=0.01)
        assert np.mean(drawn[:, j] == 1.0) == pytest.approx(high, abs=0.01)
    free = law.unclipped().sample(np.random.default_rng(1), 20_000)
    np.testing.assert_array_equal(np.clip(free, 0.0, 1.0), drawn)
    assert (law.unclipped().atoms() == 0.0).all()
    for j, marginal in enumerate(law.marginals):
        assert stats.kstest(free[:, j], lambda c, m=marginal: m.cumulative(np.asarray(c))).pvalue > 1e-3


def test_a_draw_does_not_depend_on_the_others():
    u = np.random.default_rng(2).random((50, 1))
    one_by_one = np.concatenate([complicated().transform(row[None]) for row in u])
    np.testing.assert_array_equal(one_by_one, complicated().transform(u))


def test_extreme_uniform_numbers_give_finite_contexts():
    for law in (clipped_normal(), burr_xii(), complicated()):
        low, middle, high = law.unclipped().transform([[0.0], [0.5], [1.0]])[:, 0]
        assert -np.inf < low < middle < high < np.inf


def test_quasi_random_points_integrate_better_than_draws():
    law = clipped_normal(2, std=0.15)
    generator = np.random.default_rng(3)
    state = generator.bit_generator.state
    points = law.points(2**12, generator)
    generator.bit_generator.state = state
    np.testing.assert_array_equal(points, law.points(2**12, generator))
    assert (points != law.points(2**12, generator)).any()
    np.testing.assert_allclose(points.mean(axis=0), 0.5, atol=1e-4)  # a draw: 2e-3
    np.testing.assert_allclose(points.std(axis=0), 0.15, rtol=5e-3)
    assert abs(np.corrcoef(points.T)[0, 1]) < 5e-3


def test_density_is_the_product_over_coordinates():
    law = ContextLaw((Gaussian(0.5, 0.1), Uniform()))
    np.testing.assert_allclose(law.density([[0.5, 0.3], [0.5, 1.3]]), [1 / (0.1 * math.sqrt(2 * math.pi)), 0.0])


def test_faults():
    with pytest.raises(BocuError, match=r"uniforms has shape \(5, 1\): its last axis must have length 2"):
        uniform(2).transform(np.zeros((5, 1)))
    with pytest.raises(BocuError, match="points: found 1000; allowed: a power of 2"):
        uniform(1).points(1000, np.random.default_rng(0))


@pytest.mark.parametrize("law", [clipped_normal(), complicated()])
def test_distance_of_an_estimate_has_settled_at_its_nodes(law):
    estimate = KernelDensity.fit(law.unclipped().sample(np.random.default_rng(4), 50))
    found = distance_of_estimate(estimate, law)
    assert found == pytest.approx(distance_of_estimate(estimate, law, nodes=2**15), abs=5e-5)


def test_distance_of_an_estimate_from_itself_is_zero_and_from_afar_two():
    estimate = KernelDensity(np.array([[0.5]]), np.array([0.1]))
    assert distance_of_estimate(estimate, clipped_normal()) == pytest.approx(0.0, abs=1e-12)
    assert distance_of_estimate(estimate, clipped_normal(mean=30.0)) == pytest.approx(2.0, abs=1e-3)


# Huang et al. (2024), Table 2: mean and standard error of 20 runs with 10, 100, 200 and 300 samples.
TABLE_TWO = [
    (clipped_normal(), [0.3222, 0.1315, 0.1156, 0.0962], [0.0327, 0.0088, 0.0079, 0.0083]),
    (complicated(), [0.6216, 0.5380, 0.4853, 0.4724], [0.0190, 0.0333, 0.0233, 0.0258]),
]


@pytest.mark.ci
@pytest.mark.parametrize(("law", "means", "errors"), TABLE_TWO)
def test_distances_of_estimates_are_the_published_ones(law, means, errors):
    # More runs than the paper's 20, so that its standard errors are the larger ones.
    found = distances_of_estimates(law, OBSERVATIONS, 300, np.random.default_rng(0), nodes=2**9)
    assert found.shape == (4, 300)
    assert (np.abs(found.mean(axis=1) - means) < 2 * np.array(errors)).all()
