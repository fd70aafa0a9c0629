"""Bad input: one line that names the argument, the place, the value found and what is allowed."""

import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.core.parameters import validate
from bocu.robust.ambiguity import (
    ChiSquared,
    ConditionalValueAtRisk,
    CressieRead,
    KullbackLeibler,
    MaximumMeanDiscrepancy,
    PhiDivergence,
    SetParameters,
    TotalVariation,
    Wasserstein,
    linearised,
    minimax_approximation,
    mmd_radius,
    sampled_worst_case,
    squared_exponential_gram,
    with_jitter,
    worst_case,
)

SET = TotalVariation(0.3)
F, P = [0.0, 1.0, 2.0], [0.2, 0.3, 0.5]

FAULTS = {
    "negative reference": (lambda: worst_case(F, [0.5, -0.1, 0.6], SET), r"reference\[1\] is -0.1: .* 0 or more"),
    "unnormalised": (lambda: worst_case(F, [0.2, 0.3, 0.4], SET), r"reference sums to 0.9.*: it must sum to 1"),
    "unnormalised row": (
        lambda: worst_case([F, F], [P, [0.1, 0.1, 0.1]], SET),
        r"reference\[1\] sums to 0.30.*: it must sum to 1",
    ),
    "nan reference": (lambda: worst_case(F, [0.2, np.nan, 0.5], SET), r"reference\[1\] is nan"),
    "nan payoff": (lambda: worst_case([F, [0.0, np.nan, 1.0]], P, SET), r"payoffs\[\(1, 1\)\] is nan"),
    "infinite payoff": (lambda: worst_case([0.0, -np.inf, 1.0], P, SET), r"payoffs\[1\] is -inf"),
    "no contexts": (lambda: worst_case(3.0, P, SET), r"payoffs has shape \(\)"),
    "text payoffs": (lambda: worst_case(["a", "b"], [0.5, 0.5], SET), r"payoffs must be an array of real numbers"),
    "reference too long": (lambda: worst_case(F, [0.25] * 4, SET), r"reference has shape \(4,\): .* length 3"),
    "rows differ": (lambda: worst_case([F, F], [P] * 3, SET), r"reference has shape \(3, 3\): .* \(2, 3\)"),
    "negative radius": (lambda: TotalVariation(-0.1), r"epsilon is -0.1: it must be 0 or more"),
    "radius not a number": (lambda: ChiSquared(float("nan")), r"epsilon is nan"),
    "radius not numeric": (lambda: KullbackLeibler("wide"), r"epsilon must be one number, not 'wide'"),
    "negative radius later": (lambda: SET.with_epsilon(-1), r"epsilon is -1.0"),
    "alpha 0": (lambda: ConditionalValueAtRisk(0.0), r"alpha is 0.0: it must lie in \(0, 1\]"),
    "alpha above 1": (lambda: ConditionalValueAtRisk(1.5), r"alpha is 1.5: it must lie in \(0, 1\]"),
    "k 1": (lambda: CressieRead(0.1, 1.0), r"k is 1.0: it must lie in"),
    "k below 1": (lambda: CressieRead(0.1, -2.0), r"k is -2.0: it must lie in"),
    "k huge": (lambda: CressieRead(0.1, 101.0), r"k is 101.0: it must lie in"),
    "indefinite gram": (
        lambda: MaximumMeanDiscrepancy(0.1, [[1.0, 2.0], [2.0, 1.0]]),
        r"gram is not positive definite: its smallest eigenvalue is -1",
    ),
    "asymmetric gram": (
        lambda: MaximumMeanDiscrepancy(0.1, [[1.0, 0.2], [0.3, 1.0]]),
        r"gram\[0, 1\] is 0.2 but gram\[1, 0\] is 0.3: not symmetric",
    ),
    "gram not square": (lambda: MaximumMeanDiscrepancy(0.1, [[1.0, 0.2]]), r"gram has shape \(1, 2\)"),
    "gram with nan": (lambda: MaximumMeanDiscrepancy(0.1, [[np.nan]]), r"gram\[\(0, 0\)\] is nan"),
    "other contexts": (lambda: worst_case(F, P, MaximumMeanDiscrepancy(0.1, np.eye(2))), r"payoffs has 3 contexts"),
    "asymmetric cost": (lambda: Wasserstein(0.1, [[0, 1], [2, 0]]), r"cost\[0, 1\] is 1.0 but cost\[1, 0\] is 2.0"),
    "negative cost": (lambda: Wasserstein(0.1, [[0, -1], [-1, 0]]), r"cost\[0, 1\] is -1.0: costs must be 0 or more"),
    "cost of staying": (lambda: Wasserstein(0.1, [[0, 1], [1, 0.5]]), r"cost\[1, 1\] is 0.5: staying must cost 0"),
    "tau not finite": (lambda: SET.satisficing(F, P, np.nan), r"tau\[\(\)\] is nan"),
    "tau shape": (lambda: SET.satisficing(F, P, [0.0, 1.0]), r"tau has shape \(2,\)"),
    "q does not match": (lambda: SET.distance([[0.5, 0.5]] * 2, [[0.5, 0.5]] * 3), r"q has shape \(2, 2\)"),
    "no approximation": (lambda: minimax_approximation(F, P, KullbackLeibler(0.1)), r"KullbackLeibler has no minimax"),
    "no linearisation": (lambda: linearised(F, P, CressieRead(0.1, 3.0)), r"CressieRead has no minimax"),
    "phi(1)": (lambda: PhiDivergence(0.1, lambda t: t, np.exp), r"phi\(1\) is 1.0: it must be 0"),
    "phi no function": (lambda: PhiDivergence(0.1, 3.0, np.exp), r"phi is 3.0: it must be a function"),
    "wrong conjugate": (
        lambda: worst_case(F, P, PhiDivergence(0.1, lambda t: (t - 1) ** 2, lambda s: np.expm1(s))),
        r"conjugate must be sup over t >= 0",
    ),
    "infimum shape": (lambda: sampled_worst_case([F, F], [0.0] * 3, 0.1), r"infimum has shape \(3,\)"),
    "sampled radius": (lambda: sampled_worst_case(F, 0.0, -0.1), r"epsilon is -0.1"),
    "lengthscale": (lambda: squared_exponential_gram([[0.0], [1.0]], 0.0), r"lengthscale is 0.0"),
    "jitter": (lambda: with_jitter(np.eye(2), -1.0), r"jitter is -1.0"),
    "gamma": (lambda: mmd_radius(5, 1.0), r"gamma is 1.0: it must lie in \(0, 1\)"),
    "observations": (lambda: mmd_radius(-1, 0.1), r"observations is -1"),
    "unknown set": (
        lambda: validate(SetParameters, {"name": "l2"}, ""),
        r"name: found 'l2'; unknown set 'l2'.*tv, wass",
    ),
    "missing contexts": (lambda: SetParameters.model_validate({"name": "wass"}).over(None), r"needs the coordinates"),
    "no polytope": (lambda: KullbackLeibler(0.1).polytope(P), r"KullbackLeibler is no polytope; take tv, wass or cvar"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_told_in_one_line(name: str) -> None:
    call, message = FAULTS[name]
    with pytest.raises(BocuError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
