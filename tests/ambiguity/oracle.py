"""Worst cases as parametrised CVXPY problems: slow, general, and written straight from the definitions."""

from functools import singledispatch
from typing import Any

import cvxpy as cp
import numpy as np

from bocu.ambiguity import (
    AmbiguitySet,
    ChiSquared,
    ConditionalValueAtRisk,
    CressieRead,
    KullbackLeibler,
    MaximumMeanDiscrepancy,
    ModifiedChiSquared,
    TotalVariation,
    Wasserstein,
)

TIGHT = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


def worst_case_problem(ambiguity_set: AmbiguitySet, reference: np.ndarray) -> tuple[cp.Problem, cp.Parameter]:
    """The problem `min q.f` over the set, and its parameter f."""
    payoffs = cp.Parameter(len(reference))
    q = cp.Variable(len(reference), nonneg=True)
    problem = cp.Problem(cp.Minimize(payoffs @ q), [cp.sum(q) == 1, *inside(ambiguity_set, q, reference)])
    return problem, payoffs


def solve(problem: cp.Problem, parameter: cp.Parameter, payoffs: np.ndarray, **options: Any) -> float:
    """Value for one payoff vector, by Clarabel."""
    parameter.value = payoffs
    return float(problem.solve(solver=cp.CLARABEL, **options))


@singledispatch
def inside(ambiguity_set: AmbiguitySet, q: cp.Variable, p: np.ndarray) -> list[Any]:
    """Constraints that say: q lies in the set around p."""
    raise TypeError(type(ambiguity_set))


@inside.register
def _(ambiguity_set: TotalVariation, q: cp.Variable, p: np.ndarray) -> list[Any]:
    return [cp.norm1(q - p) <= ambiguity_set.epsilon]


@inside.register
def _(ambiguity_set: MaximumMeanDiscrepancy, q: cp.Variable, p: np.ndarray) -> list[Any]:
    return [cp.norm2(np.linalg.cholesky(ambiguity_set.gram).T @ (q - p)) <= ambiguity_set.epsilon]


def _on_support(q: cp.Variable, p: np.ndarray) -> tuple[Any, np.ndarray, list[Any]]:
    support, rest = np.flatnonzero(p > 0), np.flatnonzero(p == 0)
    return q[support], p[support], [q[rest] == 0] if len(rest) else []


@inside.register
def _(ambiguity_set: ChiSquared, q: cp.Variable, p: np.ndarray) -> list[Any]:
    q, p, rest = _on_support(q, p)
    return [cp.norm2(cp.multiply(p**-0.5, q - p)) <= np.sqrt(ambiguity_set.epsilon), *rest]


@inside.register
def _(ambiguity_set: ModifiedChiSquared, q: cp.Variable, p: np.ndarray) -> list[Any]:
    q, p, rest = _on_support(q, p)
    return [cp.norm2(cp.multiply(p**-0.5, q - p)) <= np.sqrt(2 * ambiguity_set.epsilon), *rest]


@inside.register
def _(ambiguity_set: KullbackLeibler, q: cp.Variable, p: np.ndarray) -> list[Any]:
    q, p, rest = _on_support(q, p)
    return [cp.sum(cp.rel_entr(q, p)) <= ambiguity_set.epsilon, *rest]


@inside.register
def _(ambiguity_set: CressieRead, q: cp.Variable, p: np.ndarray) -> list[Any]:
    q, p, rest = _on_support(q, p)
    k = ambiguity_set.k
    return [
        cp.pnorm(cp.multiply(p ** (1 / k - 1), q), k) <= (1 + k * (k - 1) * ambiguity_set.epsilon) ** (1 / k),
        *rest,
    ]


@inside.register
def _(ambiguity_set: ConditionalValueAtRisk, q: cp.Variable, p: np.ndarray) -> list[Any]:
    return [q <= p / ambiguity_set.alpha]


@inside.register
def _(ambiguity_set: Wasserstein, q: cp.Variable, p: np.ndarray) -> list[Any]:
    plan = cp.Variable(ambiguity_set.cost.shape, nonneg=True)
    moved = cp.sum(cp.multiply(ambiguity_set.cost, plan))
    return [cp.sum(plan, axis=1) == p, cp.sum(plan, axis=0) == q, moved <= ambiguity_set.epsilon]
