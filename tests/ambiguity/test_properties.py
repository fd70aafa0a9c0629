"""Properties that hold for every set: concavity in payoffs, permutations, limits, rates.

Convexity in the radius, tangents, satisficing, payoffs that are moved, scaled or constant: `bocu.testing.check_set`,
which tries every registered set.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ambiguity.cases import KINDS, PHI_KINDS, make_set, random_instance
from bocu.robust.ambiguity import worst_case

pytestmark = pytest.mark.parametrize("kind", KINDS)

seeds = st.integers(0, 2**20)
sizes = st.integers(2, 12)
radii = st.floats(1e-4, 1.5)
zeros = st.booleans()
few = settings(max_examples=25)


@few
@given(seed=seeds, n=sizes, zero=zeros, epsilon=radii, weight=st.floats(0.0, 1.0))
def test_value_is_concave_in_payoffs(kind: str, seed: int, n: int, zero: bool, epsilon: float, weight: float) -> None:
    contexts, payoffs, reference = random_instance(seed, n, 2, zeros=zero)
    ambiguity_set = make_set(kind, epsilon, contexts)
    mixed = worst_case(weight * payoffs[0] + (1 - weight) * payoffs[1], reference, ambiguity_set).value
    ends = worst_case(payoffs, reference, ambiguity_set).value
    assert mixed >= weight * ends[0] + (1 - weight) * ends[1] - 1e-8 * (1.0 + np.abs(payoffs).max())


@few
@given(seed=seeds, n=sizes, zero=zeros, epsilon=radii)
def test_permutation_equivariance(kind: str, seed: int, n: int, zero: bool, epsilon: float) -> None:
    contexts, payoffs, reference = random_instance(seed, n, zeros=zero)
    order = np.random.default_rng(seed).permutation(n)
    plain = worst_case(payoffs[0], reference, make_set(kind, epsilon, contexts))
    moved = worst_case(payoffs[0][order], reference[order], make_set(kind, epsilon, contexts[order]))
    assert moved.value == pytest.approx(plain.value, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(moved.distribution, plain.distribution[order], rtol=0, atol=1e-6)


@few
@given(seed=seeds, n=sizes, zero=zeros)
def test_limits_at_zero_and_at_the_floor(kind: str, seed: int, n: int, zero: bool) -> None:
    contexts, payoffs, reference = random_instance(seed, n, zeros=zero)
    f = payoffs[0]
    if kind == "cvar":
        at_zero, far = make_set(kind, 0.0, contexts), make_set(kind, 1e12, contexts)
    else:
        at_zero = make_set(kind, 0.0, contexts)
        far = at_zero.with_epsilon(1e6)
    start, end = worst_case(f, reference, at_zero), worst_case(f, reference, far)
    assert start.value == pytest.approx(f @ reference, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(start.distribution, reference, rtol=0, atol=1e-15)
    floor = f.min() if kind in ("tv", "mmd", "wass") else f[reference > 0].min()
    assert end.value == floor
    assert end.slope == 0.0
    assert worst_case(f, reference, far.with_epsilon(np.inf)).value == floor


@few
@given(seed=seeds, n=sizes, zero=zeros)
def test_slope_is_the_limit_of_difference_quotients_at_zero(kind: str, seed: int, n: int, zero: bool) -> None:
    contexts, payoffs, reference = random_instance(seed, n, zeros=zero)
    ambiguity_set = make_set(kind, 0.0, contexts)
    slope = worst_case(payoffs[0], reference, ambiguity_set).slope
    if kind in PHI_KINDS and np.ptp(payoffs[0][reference > 0]) > 0:
        assert slope == -np.inf
        return
    step = 1e-9
    quotient = (
        ambiguity_set.values(payoffs[0], reference)[0]
        - ambiguity_set.with_epsilon(step).values(payoffs[0], reference)[0]
    ) / step
    assert slope == pytest.approx(-quotient, rel=1e-3, abs=1e-5 * (1.0 + np.abs(payoffs).max()))


@few
@given(seed=seeds, n=sizes, zero=zeros, epsilon=radii)
def test_own_references_agree_with_shared_ones(kind: str, seed: int, n: int, zero: bool, epsilon: float) -> None:
    contexts, payoffs, reference = random_instance(seed, n, 4, zeros=zero)
    other = np.random.default_rng(seed + 1).dirichlet(np.ones(n))
    references = np.stack([reference, other, reference, other])
    ambiguity_set = make_set(kind, epsilon, contexts)
    together = worst_case(payoffs.reshape(2, 2, n), references.reshape(2, 2, n), ambiguity_set)
    # Two ways to solve with one Gram matrix agree as far as contexts that nearly coincide let them.
    conditioning = np.linalg.cond(ambiguity_set.gram) if kind == "mmd" else 1.0
    digits = max(1e-12, np.finfo(float).eps * conditioning)
    for row in range(4):
        alone = worst_case(payoffs[row], references[row], ambiguity_set)
        assert together.value.reshape(-1)[row] == pytest.approx(alone.value, rel=digits, abs=digits)
        np.testing.assert_allclose(together.distribution.reshape(4, n)[row], alone.distribution, atol=1e-9)


@few
@given(seed=seeds, n=sizes, zero=zeros, epsilon=radii)
def test_rate_is_the_derivative_of_the_distribution(kind: str, seed: int, n: int, zero: bool, epsilon: float) -> None:
    contexts, payoffs, reference = random_instance(seed, n, zeros=zero)
    step = 1e-6 * epsilon
    ambiguity_set = make_set(kind, epsilon, contexts)
    now = worst_case(payoffs[0], reference, ambiguity_set, rate=True)
    later = worst_case(payoffs[0], reference, ambiguity_set.with_epsilon(ambiguity_set.epsilon + step), rate=True)
    assert now.rate.sum() == pytest.approx(0.0, abs=1e-7 * (1.0 + np.abs(now.rate).max()))
    assert now.rate @ payoffs[0] == pytest.approx(now.slope, rel=1e-6, abs=1e-7 * (1 + np.abs(payoffs).max()))
    if np.allclose(now.rate, later.rate, rtol=1e-2, atol=1e-6):
        change = (later.distribution - now.distribution) / step
        np.testing.assert_allclose(change, now.rate, rtol=2e-2, atol=2e-3 * (1.0 + np.abs(now.rate).max()))
