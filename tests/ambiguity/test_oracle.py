"""Random instances against CVXPY and Clarabel, which know nothing of closed forms."""

import numpy as np
import pytest

from ambiguity.cases import KINDS, make_set, random_instance
from ambiguity.oracle import TIGHT, solve, worst_case_problem
from bocu.robust.ambiguity import worst_case

RADII = {"wass": (0.02, 0.3), "mmd": (0.03, 0.4)}
SIZES = [(5, 4, False), (9, 4, True), (40, 2, False), (64, 2, True)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "rows", "zeros"), SIZES)
def test_value_agrees_with_conic_solver(kind: str, n: int, rows: int, zeros: bool) -> None:
    contexts, payoffs, reference = random_instance(n, n, rows, zeros=zeros)
    for epsilon in RADII.get(kind, (0.05, 0.7)):
        ambiguity_set = make_set(kind, epsilon, contexts)
        problem, parameter = worst_case_problem(ambiguity_set, reference)
        found = worst_case(payoffs, reference, ambiguity_set).value
        for row in range(rows):
            # Solve the shifted and scaled payoffs, where the solver's absolute tolerances mean the same.
            low, spread = payoffs[row].min(), np.ptp(payoffs[row])
            expected = solve(problem, parameter, (payoffs[row] - low) / spread, **TIGHT)
            assert abs((found[row] - low) / spread - expected) <= 1e-7


@pytest.mark.parametrize("kind", KINDS)
def test_value_agrees_with_conic_solver_at_256_contexts(kind: str) -> None:
    # The transport plan of 256 contexts has 65,536 entries, too many for a test: a quarter of the contexts there.
    n = 64 if kind == "wass" else 256
    contexts, payoffs, reference = random_instance(1, n, zeros=True)
    ambiguity_set = make_set(kind, 0.1, contexts)
    problem, parameter = worst_case_problem(ambiguity_set, reference)
    low, spread = payoffs.min(), np.ptp(payoffs)
    expected = solve(problem, parameter, (payoffs[0] - low) / spread, **TIGHT)
    assert abs((worst_case(payoffs[0], reference, ambiguity_set).value - low) / spread - expected) <= 1e-7
