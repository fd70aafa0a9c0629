"""Worst cases as plain CVXPY problems with the reference written in: slow, and without a line of our solvers."""

from typing import Any

import cvxpy as cp
import numpy as np

from bocu.interop.cvxpy import inside
from bocu.robust.ambiguity import AmbiguitySet

TIGHT = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


def worst_case_problem(ambiguity_set: AmbiguitySet, reference: np.ndarray) -> tuple[cp.Problem, cp.Parameter]:
    """The problem `min q.f` over the set, and its parameter f."""
    payoffs = cp.Parameter(len(reference))
    q = cp.Variable(len(reference), nonneg=True)
    within = inside(ambiguity_set, q, cp.Constant(reference), ambiguity_set.epsilon)
    return cp.Problem(cp.Minimize(payoffs @ q), [cp.sum(q) == 1, *within]), payoffs


def solve(problem: cp.Problem, parameter: cp.Parameter, payoffs: np.ndarray, **options: Any) -> float:
    """Value for one payoff vector, by Clarabel."""
    parameter.value = payoffs
    return float(problem.solve(solver=cp.CLARABEL, **options))
