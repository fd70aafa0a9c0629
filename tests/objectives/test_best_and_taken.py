"""The best value of a round by itself, and that of the decision taken: what scores of references that move ask for."""

from typing import Any

import numpy as np
import pytest

from bocu.robust.ambiguity.mmd.gram import squared_exponential_gram
from bocu.robust.ambiguity.mmd.maximum_mean_discrepancy import MaximumMeanDiscrepancy
from bocu.robust.ambiguity.total_variation import TotalVariation
from bocu.robust.objectives.functions import UncertaintyObjective

N = 30
CONTEXTS = np.linspace(0.0, 1.0, N)[:, None]
DECISIONS = np.linspace(0.0, 1.0, 80)[:, None]
GRAM = squared_exponential_gram(CONTEXTS, 0.1)


class Counting(MaximumMeanDiscrepancy):
    """Counts the rows that it solves."""

    rows: list[int]

    def solve(self, f: Any, p: Any, wanted: Any) -> Any:
        self.rows.append(len(f))
        return super().solve(f, p, wanted)


def payoffs() -> np.ndarray:
    return np.sin(7.0 * DECISIONS) * np.cos(5.0 * CONTEXTS.T) + np.exp(-30.0 * (DECISIONS - CONTEXTS.T) ** 2)


def reference(seen: int, generator: np.random.Generator) -> np.ndarray:
    return np.bincount(generator.binomial(N - 1, 0.4, size=seen), minlength=N) / seen


OBJECTIVES = {
    "dro": UncertaintyObjective.dro,
    "gen": lambda within: UncertaintyObjective.gen(within, 1.0, 0.3),
    "difference": lambda within: UncertaintyObjective.gen(within, 1.0, 0.3, difference=0.01),
    "mr": lambda within: UncertaintyObjective.mr(within, 0.3),
    "wcs": UncertaintyObjective.wcs,
    "rs": lambda within: UncertaintyObjective.rs(within, 0.2),
}


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("ambiguity_set", [MaximumMeanDiscrepancy(0.1, GRAM), TotalVariation(0.1)], ids=["mmd", "tv"])
def test_numbers_are_those_of_all_decisions_to_the_last_digit(name, ambiguity_set):
    objective, table, generator = OBJECTIVES[name](ambiguity_set), payoffs(), np.random.default_rng(3)
    for seen in (1, 2, 5, 20, 90):
        p = reference(seen, generator)
        values = objective(table, p)
        for available in (None, np.arange(1, 80, 3)):
            offered = values if available is None else values[available]
            for taken in (1, 40, int(values.argmax())):
                best, value = objective.best_and_taken(table, p, taken, available)
                assert (best, value) == (offered.max(), values[taken])


def test_few_decisions_are_solved():
    within = Counting(0.05, GRAM)
    within.rows, objective, generator = [], UncertaintyObjective.dro(within), np.random.default_rng(5)
    for seen in (5, 20, 90):
        objective.best_and_taken(payoffs(), reference(seen, generator), 40)
    assert sum(within.rows) < 3 * len(DECISIONS) / 3
