"""Our own sets as CVXPY constraints, written straight from the definitions of their distances.

They share no line with the solvers of `ambiguity`: tests and `bocu audit` compare the two. All follow the rules of
parametrised programmes: the reference may be a parameter, the radius a variable.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core.errors import BocuError

if TYPE_CHECKING:
    from cvxpy import Constraint, Expression

    from bocu.robust.ambiguity.base import AmbiguitySet
    from bocu.robust.ambiguity.checks import Floats

#: The most contexts of a Wasserstein set off a line: a transport plan has their square of variables.
MOST_TRANSPORTED = 144

#: What is read of our own sets, beside their class.
READ = ("gram", "cost", "alpha", "k")


def inside(ambiguity_set: AmbiguitySet, q: Expression, reference: Expression, radius: Expression) -> list[Constraint]:
    """Return the constraints that say: q lies in the set around a reference.

    A set of another class says them itself, by a method `constraints(q, reference, radius)`.

    Args:
        ambiguity_set: the set; its own radius does not matter.
        q: CVXPY variable (n,), not negative and of sum 1.
        reference: CVXPY parameter or constant (n,).
        radius: CVXPY expression, a number.

    Raises:
        BocuError: nothing is known of the set's class, or a Wasserstein set has too many contexts for a plan.
    """
    stated = getattr(ambiguity_set, "constraints", None)
    if stated is not None:
        return list(stated(q, reference, radius))
    for family in type(ambiguity_set).__mro__:
        if family.__name__ in _OF:
            return _OF[family.__name__](ambiguity_set, q, reference, radius)
    raise BocuError(
        f"{type(ambiguity_set).__name__} has no constraints for CVXPY; give its class a method "
        "constraints(q, reference, radius)"
    )


def _derived(reference: Expression, function: Callable[[Floats], Floats]) -> Expression:
    """Return what follows from the reference, elementwise, as a parameter that follows it."""
    import cvxpy as cp

    return cp.CallbackParam(lambda: function(np.asarray(reference.value)), reference.shape, nonneg=True)


def _power(p: Floats, exponent: float) -> Floats:
    """`p^exponent` on the support of p, 0 elsewhere."""
    return np.power(p, exponent, out=np.zeros_like(p), where=p > 0.0)


def _within_support(q: Expression, reference: Expression) -> Constraint:
    return q <= _derived(reference, lambda p: (p > 0.0).astype(float))


def _total_variation(ambiguity_set: Any, q: Expression, reference: Expression, radius: Expression) -> list[Constraint]:
    import cvxpy as cp

    return [cp.norm1(q - reference) <= radius]


def _mmd(ambiguity_set: Any, q: Expression, reference: Expression, radius: Expression) -> list[Constraint]:
    import cvxpy as cp

    return [cp.norm2(np.linalg.cholesky(ambiguity_set.gram).T @ (q - reference)) <= radius]


def _quadratic(
    factor: float, ambiguity_set: object, q: Expression, reference: Expression, radius: Expression
) -> list[Constraint]:
    """`sum (q - p)^2 / p <= factor radius`."""
    import cvxpy as cp

    inverse, root = _derived(reference, lambda p: _power(p, -0.5)), _derived(reference, lambda p: _power(p, 0.5))
    return [cp.norm2(cp.multiply(inverse, q) - root) <= cp.sqrt(factor * radius), _within_support(q, reference)]


def _kullback_leibler(
    ambiguity_set: object, q: Expression, reference: Expression, radius: Expression
) -> list[Constraint]:
    import cvxpy as cp

    # Where there is no mass, any positive number may stand for it: q is 0 there.
    positive = _derived(reference, lambda p: np.where(p > 0.0, p, 1.0))
    return [cp.sum(cp.rel_entr(q, positive)) <= radius, _within_support(q, reference)]


def _cressie_read(ambiguity_set: Any, q: Expression, reference: Expression, radius: Expression) -> list[Constraint]:
    import cvxpy as cp

    # sum p (q/p)^k = sum u^k with u = p^(1/k - 1) q; power cones hold u^k for every k, rational or not.
    k = ambiguity_set.k
    u = cp.multiply(_derived(reference, lambda p: _power(p, 1.0 / k - 1.0)), q)
    power = cp.Variable(q.shape, nonneg=True)
    cones = cp.PowCone3D(power, np.ones(q.shape), u, np.full(q.shape, 1.0 / k))
    return [cones, cp.sum(power) <= 1.0 + k * (k - 1.0) * radius, _within_support(q, reference)]


def _conditional_value_at_risk(
    ambiguity_set: Any, q: Expression, reference: Expression, radius: Expression
) -> list[Constraint]:
    return [q <= reference / ambiguity_set.alpha]


def _wasserstein(ambiguity_set: Any, q: Expression, reference: Expression, radius: Expression) -> list[Constraint]:
    import cvxpy as cp

    cost = ambiguity_set.cost
    n = len(cost)
    line = cost[cost[0].argmax()]  # from one end, if it is a line
    if np.allclose(np.abs(line[:, None] - line), cost, rtol=0.0, atol=1e-12 * cost.max()):
        # There the transport cost is the area between the distribution functions.
        order = np.argsort(line)
        return [np.diff(line[order], append=line.max()) @ cp.abs(cp.cumsum((q - reference)[order])) <= radius]
    if n > MOST_TRANSPORTED:
        raise BocuError(
            f"Wasserstein sets off a line have {MOST_TRANSPORTED} contexts at most by CVXPY, found {n}: "
            f"a transport plan has {n * n:,} variables"
        )
    plan = cp.Variable((n, n), nonneg=True)
    moved = cp.sum(cp.multiply(cost, plan))
    return [cp.sum(plan, axis=1) == reference, cp.sum(plan, axis=0) == q, moved <= radius]


_OF: Mapping[str, Callable[[Any, Expression, Expression, Expression], list[Constraint]]] = {
    "TotalVariation": _total_variation,
    "MaximumMeanDiscrepancy": _mmd,
    "ChiSquared": functools.partial(_quadratic, 1.0),
    "ModifiedChiSquared": functools.partial(_quadratic, 2.0),
    "KullbackLeibler": _kullback_leibler,
    "CressieRead": _cressie_read,
    "ConditionalValueAtRisk": _conditional_value_at_risk,
    "Wasserstein": _wasserstein,
}
"""By the name of the class: importing one set imports none of the others."""
