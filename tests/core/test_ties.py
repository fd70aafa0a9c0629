"""The first of the best, whatever rounding makes of ties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bocu.core.ties import ROUNDED, TIED, first_best
from bocu.robust.ambiguity import KullbackLeibler, MaximumMeanDiscrepancy, TotalVariation, Wasserstein
from bocu.robust.ambiguity.mmd.gram import squared_exponential_gram, with_jitter
from bocu.robust.objectives.functions import UncertaintyObjective

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("values", "best"),
    [
        ([1.0, 1.0 + 1e-13, 0.5], 0),
        ([1.0, 1.0 + 1e-8, 0.5], 1),
        ([-1.0 - 1e-13, -1.0], 0),
        ([-7.0, 1e-16, 0.0], 1),
        ([-1e6, 1.0, 1.0 + 1e-5], 2),  # one that is far worse blurs no others
        ([1e300, -1e300, 1e300], 0),
        ([1e-300, 1.5e-300], 1),
        ([0.0, -0.0], 0),
        ([-INF, 2.0, INF, INF], 2),
        ([-INF, -INF], 0),
        ([-INF, -1e300, 0.0], 2),
        ([NAN, 1.0, NAN], 1),
        ([NAN, -INF, -INF], 1),
        ([NAN, NAN], 0),
        ([3], 0),
    ],
)
def test_the_first_of_the_best(values, best):
    assert first_best(values) == best


def test_size_of_what_values_are_made_of():
    values = [0.0, 1e-9]
    assert first_best(values) == 1
    assert first_best(values, size=1e4) == 0
    assert first_best([-4.0, -1e-17, 0.0], size=0.0) == 2


numbers = st.floats(-1e6, 1e6).filter(lambda x: x == 0.0 or abs(x) > 1e-6)


@given(st.lists(numbers, min_size=1, max_size=12), st.lists(st.integers(0, 11), max_size=6), st.integers(0, 2**32 - 1))
def test_rounding_decides_nothing(distinct, copied, seed):
    """Values are apart or equal, and then moved by 1e-13 of themselves."""
    values = np.array(distinct + [distinct[i % len(distinct)] for i in copied])
    apart = values.max() - values[values < values.max()]
    if len(apart) and apart.min() < 10.0 * (TIED * abs(values.max()) + ROUNDED * np.abs(values).max()):
        return
    moved = values * (1.0 + 1e-13 * np.random.default_rng(seed).uniform(-1.0, 1.0, len(values)))
    assert first_best(values) == first_best(moved) == np.argmax(values)


POINTS = np.linspace(0.0, 1.0, 16)[:, None]
SETS = {
    "tv": TotalVariation(0.3),
    "kl": KullbackLeibler(0.1),
    "mmd": MaximumMeanDiscrepancy(0.1, with_jitter(squared_exponential_gram(POINTS, 0.2), 1e-3)),
    "wass": Wasserstein(0.1, np.abs(POINTS - POINTS.T)),
}
OBJECTIVES = {
    "dro": UncertaintyObjective.dro,
    "gen": lambda within: UncertaintyObjective.gen(within, 1.0, 0.3),
    "difference": lambda within: UncertaintyObjective.gen(within, 1.0, 0.3, difference=0.01),
    "mr": lambda within: UncertaintyObjective.mr(within, 0.3, difference=0.01),
    "rs": lambda within: UncertaintyObjective.rs(within, -2.0),
}


def tied_table(seed):
    """Payoffs (90, 16), the best decision among them again at other places, and its places."""
    generator = np.random.default_rng(seed)
    table = generator.normal(size=(90, 16)).cumsum(axis=1) / 4.0
    reference = np.bincount(generator.binomial(15, 0.4, size=12), minlength=16) / 12
    return table, reference, np.sort(generator.choice(90, 5, replace=False))


@pytest.mark.parametrize("ambiguity_set", SETS)
@pytest.mark.parametrize("name", OBJECTIVES)
def test_bounds_exclude_none_that_ties(ambiguity_set, name):
    objective = OBJECTIVES[name](SETS[ambiguity_set])
    for seed in range(6):
        table, reference, places = tied_table(seed)
        best = int(np.argmax(objective(table, reference)))
        table[places] = table[best]
        first = min(best, *places)
        found = objective.argmax(table, reference)
        assert found.index == first
        generator = np.random.default_rng(seed)
        for _ in range(4):
            moved = table * (1.0 + 1e-13 * generator.uniform(-1.0, 1.0, table.shape))
            assert objective.argmax(moved, reference).index == first
            assert first_best(objective(moved, reference)) == first


@pytest.mark.parametrize("seed", range(6))
def test_bounds_of_confidence_exclude_none_that_ties(seed):
    table, reference, places = tied_table(seed)
    objective = UncertaintyObjective.gen(SETS["mmd"], 1.0, 0.3, difference=0.01)
    width = 0.2 + np.random.default_rng(seed).random(table.shape)
    best = int(np.argmax(objective.from_bounds(table + width, table - width, reference)))
    for array in (table, width):
        array[places] = array[best]
    for moved in (0.0, 1e-13, -1e-13):
        upper, lower = table + width, table - width
        upper[places[2:]] *= 1.0 + moved
        assert objective.argmax_from_bounds(upper, lower, reference).index == min(best, *places)
