"""Worst cases as parametrised CVXPY problems: slow, general, and written straight from the definitions."""

from functools import singledispatch
from typing import Any

import cvxpy as cp
import numpy as np

from bocu.ambiguity import (
    Ball,
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


def worst_case_problem(ball: Ball, reference: np.ndarray) -> tuple[cp.Problem, cp.Parameter]:
    """The problem `min q.f` over the ball, and its parameter f."""
    payoffs = cp.Parameter(len(reference))
    q = cp.Variable(len(reference), nonneg=True)
    problem = cp.Problem(cp.Minimize(payoffs @ q), [cp.sum(q) == 1, *inside(ball, q, reference)])
    return problem, payoffs


def solve(problem: cp.Problem, parameter: cp.Parameter, payoffs: np.ndarray, **options: Any) -> float:
    """Value for one payoff vector, by Clarabel."""
    parameter.value = payoffs
    return float(problem.solve(solver=cp.CLARABEL, **options))


@singledispatch
def inside(ball: Ball, q: cp.Variable, p: np.ndarray) -> list[Any]:
    """Constraints that say: q lies in the ball around p."""
    raise TypeError(type(ball))


@inside.register
def _(ball: TotalVariation, q: cp.Variable, p: np.ndarray) -> list[Any]:
    return [cp.norm1(q - p) <= ball.epsilon]


@inside.register
def _(ball: MaximumMeanDiscrepancy, q: cp.Variable, p: np.ndarray) -> list[Any]:
    return [cp.norm2(np.linalg.cholesky(ball.gram).T @ (q - p)) <= ball.epsilon]


def _on_support(q: cp.Variable, p: np.ndarray) -> tuple[Any, np.ndarray, list[Any]]:
    support, rest = np.flatnonzero(p > 0), np.flatnonzero(p == 0)
    return q[support], p[support], [q[rest] == 0] if len(rest) else []


@inside.register
def _(ball: ChiSquared, q: cp.Variable, p: np.ndarray) -> list[Any]:
    q, p, rest = _on_support(q, p)
    return [cp.norm2(cp.multiply(p**-0.5, q - p)) <= np.sqrt(ball.epsilon), *rest]


@inside.register
def _(ball: ModifiedChiSquared, q: cp.Variable, p: np.ndarray) -> list[Any]:
    q, p, rest = _on_support(q, p)
    return [cp.norm2(cp.multiply(p**-0.5, q - p)) <= np.sqrt(2 * ball.epsilon), *rest]


@inside.register
def _(ball: KullbackLeibler, q: cp.Variable, p: np.ndarray) -> list[Any]:
    q, p, rest = _on_support(q, p)
    return [cp.sum(cp.rel_entr(q, p)) <= ball.epsilon, *rest]


@inside.register
def _(ball: CressieRead, q: cp.Variable, p: np.ndarray) -> list[Any]:
    q, p, rest = _on_support(q, p)
    k = ball.k
    return [cp.pnorm(cp.multiply(p ** (1 / k - 1), q), k) <= (1 + k * (k - 1) * ball.epsilon) ** (1 / k), *rest]


@inside.register
def _(ball: ConditionalValueAtRisk, q: cp.Variable, p: np.ndarray) -> list[Any]:
    return [q <= p / ball.alpha]


@inside.register
def _(ball: Wasserstein, q: cp.Variable, p: np.ndarray) -> list[Any]:
    plan = cp.Variable(ball.cost.shape, nonneg=True)
    moved = cp.sum(cp.multiply(ball.cost, plan))
    return [cp.sum(plan, axis=1) == p, cp.sum(plan, axis=0) == q, moved <= ball.epsilon]
