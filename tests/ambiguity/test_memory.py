"""No set builds tables of contexts x contexts for every decision."""

import tracemalloc

import numpy as np
import pytest

from ambiguity.cases import KINDS, make_set


@pytest.mark.parametrize("kind", KINDS)
def test_peak_memory_is_a_few_payoff_matrices(kind: str) -> None:
    generator = np.random.default_rng(0)
    decisions, n = 512, 128
    contexts, reference = generator.random((n, 2)), generator.dirichlet(np.ones(n))
    payoffs = generator.normal(size=(decisions, n))
    ambiguity_set = make_set(kind, 0.2, contexts)
    ambiguity_set.values(payoffs[:4], reference)
    tracemalloc.start()
    ambiguity_set.values(payoffs, reference)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 14 * payoffs.nbytes
