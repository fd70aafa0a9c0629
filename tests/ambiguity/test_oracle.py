"""Random instances against CVXPY and Clarabel, which know nothing of closed forms."""

import numpy as np
import pytest

from ambiguity.cases import KINDS, make_set, random_instance
from ambiguity.oracle import TIGHT, solve, worst_case_problem
from bocu.robust.ambiguity import worst_case

RADII = {"wass": (0.02, 0.3), "mmd": (0.03, 0.4)}
SIZES = [(9, 4, True), (64, 2, False)]


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
