"""Every committed test vector within its tolerance."""

from typing import Any

import numpy as np
import pytest

from ambiguity.cases import set_of, vectors
from bocu.robust.ambiguity import (
    floor_distance,
    identity_sensitivity,
    linearised,
    minimax_approximation,
    mmd_radius,
    sampled_worst_case,
    sensitivity,
    worst_case,
)


def by_id(section: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in vectors()[section]]


def slope_agrees(case: dict[str, Any], slope: float) -> bool:
    if case["delta_is_neg_inf"]:
        return slope == -np.inf
    if abs(slope - case["delta"]) <= case["tol_delta"]:
        return True
    # On a kink the last bit of epsilon decides between the two sides; TV vectors are exact in binary.
    if not case["at_kink"] or case["distance"] == "tv":
        return False
    sides = (case["delta"], case["delta_left"])
    return any(abs(slope - side) <= max(1e-4 * abs(side), case["tol_delta"]) for side in sides)


@pytest.mark.parametrize("case", by_id("worst_case"))
def test_worst_case_vector(case: dict[str, Any]) -> None:
    ambiguity_set = set_of(case, case["eps"])
    f, p = np.array(case["f"]), np.array(case["p"])
    answer = worst_case(f, p, ambiguity_set)
    assert abs(answer.value - case["v"]) <= case["tol_v"]
    assert slope_agrees(case, float(answer.slope))
    if case["q"] is not None:
        np.testing.assert_allclose(answer.distribution, case["q"], rtol=0, atol=case["tol_q"])
    scale = 1.0 + np.ptp(f)
    assert answer.gap <= (1e-8 if ambiguity_set.epsilon >= 1e-2 else 1e-6) * scale
    assert abs(answer.distribution.sum() - 1.0) <= 1e-12
    assert answer.distribution.min() >= 0.0
    assert abs(answer.distribution @ f - answer.value) <= 1e-11 * (1.0 + np.abs(f).max())
    assert ambiguity_set.distance(answer.distribution, p) <= ambiguity_set.epsilon * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("case", by_id("robust_satisficing"))
def test_robust_satisficing_vector(case: dict[str, Any]) -> None:
    k = set_of(case, 0.0).satisficing(case["f"], case["p"], case["tau"])
    if case["k_is_neg_inf"]:
        assert k == -np.inf
    else:
        assert abs(k - case["k_tau"]) <= case["tol_k"]


@pytest.mark.parametrize("case", by_id("minimax_approx"))
def test_minimax_approximation_vector(case: dict[str, Any]) -> None:
    arguments = case["f"], case["p"], set_of(case, case["eps"])
    cheap = identity_sensitivity(case["f"]) if case["distance"].endswith("identity") else None
    found = {
        "sensitivity": sensitivity(*arguments) if cheap is None else cheap,
        "eps_max": floor_distance(*arguments),
        "linearised": linearised(*arguments, sensitivities=cheap),
        "minimax": minimax_approximation(*arguments, sensitivities=cheap),
        "v_exact": worst_case(*arguments).value,
    }
    for name, value in found.items():
        assert abs(value - case[name]) <= case["tol"] * max(1.0, abs(case[name])), name


@pytest.mark.parametrize("case", vectors()["formulas"]["drbo_kde_tv_saa"])
def test_sampled_total_variation_vector(case: dict[str, Any]) -> None:
    answer = sampled_worst_case(case["u"], case["inf_C"], case["delta"])
    assert abs(answer.value - case["v"]) <= case["tol"]


@pytest.mark.parametrize("case", vectors()["formulas"]["mmd_radius"])
def test_mmd_radius_vector(case: dict[str, Any]) -> None:
    assert mmd_radius(case["t_samples"], case["gamma"]) == pytest.approx(case["radius"], rel=1e-12)
