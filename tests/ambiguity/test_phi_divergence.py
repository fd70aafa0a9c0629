"""A user's phi: the known divergences come out of the two-variable dual."""

from typing import Any

import numpy as np
import pytest
from scipy.special import xlogy

from ambiguity.cases import random_instance, vectors
from bocu.robust.ambiguity import ChiSquared, CressieRead, KullbackLeibler, PhiDivergence, TotalVariation, worst_case


def kullback_leibler(epsilon: float) -> PhiDivergence:
    return PhiDivergence(epsilon, lambda t: xlogy(t, t) - t + 1, np.expm1, np.exp)


def cressie_read(epsilon: float, k: float) -> PhiDivergence:
    return PhiDivergence(
        epsilon,
        lambda t: (t**k - k * t + k - 1) / (k * (k - 1)),
        lambda s: (np.maximum(1 + (k - 1) * s, 0.0) ** (k / (k - 1)) - 1) / k,
    )


def modified_chi_squared(epsilon: float) -> PhiDivergence:
    return PhiDivergence(epsilon, lambda t: 0.5 * (t - 1) ** 2, lambda s: np.where(s > -1, s + s**2 / 2, -0.5))


CASES = [c for c in vectors()["worst_case"] if c["distance"] in ("kl", "cr", "chi2mod")][::3]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_known_divergences_are_reproduced(case: dict[str, Any]) -> None:
    makers = {
        "kl": lambda: kullback_leibler(case["eps"]),
        "cr": lambda: cressie_read(case["eps"], case["k"]),
        "chi2mod": lambda: modified_chi_squared(case["eps"]),
    }
    answer = worst_case(case["f"], case["p"], makers[case["distance"]]())
    assert abs(answer.value - case["v"]) <= case["tol_v"]
    if case["delta_is_neg_inf"]:
        assert answer.slope == -np.inf
    elif not case["at_kink"]:
        assert abs(answer.slope - case["delta"]) <= max(case["tol_delta"], 1e-5 * abs(case["delta"]))


def test_own_slopes_and_satisficing_agree_with_the_closed_classes() -> None:
    _, payoffs, reference = random_instance(7, 12, 8, zeros=True)
    pairs = [
        (kullback_leibler(0.3), KullbackLeibler(0.3)),
        (cressie_read(0.3, 3.0), CressieRead(0.3, 3.0)),
        (PhiDivergence(0.3, lambda t: (t - 1) ** 2, lambda s: np.where(s > -2, s + s**2 / 4, -1.0)), ChiSquared(0.3)),
    ]
    for own, known in pairs:
        first, second = worst_case(payoffs, reference, own, rate=True), worst_case(payoffs, reference, known, rate=True)
        spread = np.ptp(payoffs)
        np.testing.assert_allclose(first.value, second.value, rtol=0, atol=1e-8 * spread)
        np.testing.assert_allclose(first.slope, second.slope, rtol=1e-5)
        np.testing.assert_allclose(first.distribution, second.distribution, rtol=0, atol=1e-6)
        np.testing.assert_allclose(first.rate, second.rate, rtol=1e-3, atol=1e-4)
        assert own.distance(second.distribution[0], reference) == pytest.approx(0.3, rel=1e-6)
        tau = payoffs @ reference - 0.2 * spread
        k = [ambiguity_set.satisficing(payoffs, reference, tau) for ambiguity_set in (own, known)]
        np.testing.assert_allclose(k[0], k[1], rtol=1e-5)


def test_phi_without_a_floor_in_reach() -> None:
    # Burg entropy: phi(0) is infinite, so that no radius empties a context.
    ambiguity_set = PhiDivergence(3.0, lambda t: -np.log(t) + t - 1, lambda s: -np.log1p(-s), lambda s: 1 / (1 - s))
    answer = worst_case([0.0, 1.0, 4.0], [0.2, 0.3, 0.5], ambiguity_set)
    assert answer.distribution.min() > 0.0
    assert ambiguity_set.distance(answer.distribution, [0.2, 0.3, 0.5]) == pytest.approx(3.0, rel=1e-6)


def test_phi_with_a_kink_and_jumping_conjugate() -> None:
    # phi(t) = |t - 1|: total variation within the support.
    def conjugate(s: np.ndarray) -> np.ndarray:
        return np.where(s > 1, np.inf, np.maximum(s, -1.0))

    f, p = np.array([0.3, -1.0, 2.0, 0.7, 1.1]), np.array([0.1, 0.2, 0.3, 0.15, 0.25])
    answer = worst_case(f, p, PhiDivergence(0.37, lambda t: np.abs(t - 1), conjugate))
    assert answer.value == pytest.approx(worst_case(f, p, TotalVariation(0.37)).value, abs=1e-6)
