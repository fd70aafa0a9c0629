"""Worst cases at the edges of double precision: right by their duals, within the radius, and with gaps that hold."""

import numpy as np
import pytest

from ambiguity.cases import KINDS, make_set
from ambiguity.extremes import failures
from bocu import UncertaintyObjective
from bocu.core.errors import BocuError
from bocu.robust.ambiguity import (
    ChiSquared,
    ConditionalValueAtRisk,
    CressieRead,
    MaximumMeanDiscrepancy,
    ModifiedChiSquared,
    TotalVariation,
    squared_exponential_gram,
    worst_case,
)
from bocu.robust.ambiguity.base import Rows, Wanted

LINE = np.linspace(0.0, 1.0, 11)


@pytest.mark.parametrize("kind", KINDS)
def test_random_extremes(kind: str) -> None:
    assert failures(kind, 60 if kind == "wass" else 150, seed=1) == []


@pytest.mark.drill
@pytest.mark.parametrize("kind", KINDS)
def test_three_thousand_random_extremes(kind: str) -> None:
    assert failures(kind, 3000) == []


def test_chi_squared_sees_the_tail_of_a_concentrated_reference() -> None:
    p = [1.0 - 6e-15 - 1e-16, 6e-15, 1e-16]
    found = worst_case([1.0, 2.0, -2.0], p, ChiSquared(0.1))
    assert found.value == pytest.approx(1.0 - 3.0 * np.sqrt(0.1 * 1e-16), abs=1e-14)
    assert ChiSquared(0.1).distance(found.distribution, p) == pytest.approx(0.1, rel=1e-6)
    normal = np.exp(-0.5 * ((LINE - 0.3) / 0.01185) ** 2)
    narrow = worst_case(np.sin(9.0 * LINE), normal / normal.sum(), ModifiedChiSquared(0.1))
    other = worst_case(np.sin(9.0 * LINE), normal / normal.sum(), CressieRead(0.1, 2.0))
    assert narrow.value == pytest.approx(other.value, abs=1e-14)
    assert narrow.value > 0.42


def test_cvar_counts_masses_that_a_sum_with_larger_ones_loses() -> None:
    # A third of the outcomes of probability 3e-20 is 0, the others are 1.
    found = worst_case([0.0, 1.0, 5.0], [1e-20, 1.0, 0.0], ConditionalValueAtRisk(3e-20))
    assert found.value == pytest.approx(2.0 / 3.0, rel=1e-14)
    assert found.gap <= 1e-15


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("radius", [1e200, 1e308, np.inf])
def test_the_largest_radii_are_at_the_floor(kind: str, radius: float) -> None:
    payoffs, p = np.sin(9.0 * LINE) + np.arange(3)[:, None], np.full(11, 1.0 / 11)
    ambiguity_set = make_set(kind, 1.0, LINE[:, None]).with_epsilon(radius)
    if kind == "cvar":
        ambiguity_set = ConditionalValueAtRisk(1.0 / radius if radius < np.inf else 1e-308)
    floor = pytest.approx(payoffs.min(axis=1), abs=1e-15)
    answer = worst_case(payoffs, p, ambiguity_set)
    assert answer.value == floor
    assert (answer.gap <= 1e-14).all()
    assert ambiguity_set.values_at(payoffs, p, [1.0, radius])[:, 1] == floor
    assert UncertaintyObjective.dro(ambiguity_set).argmax(payoffs, p).index == 2


@pytest.mark.parametrize("radius", [1e-200, 1e-308])
def test_mmd_at_the_smallest_radii_is_next_to_the_expectation(radius: float) -> None:
    gram, f = squared_exponential_gram(LINE, 0.3), np.sin(9.0 * LINE)
    for p in (np.full(11, 1.0 / 11), np.eye(11)[3]):
        found = worst_case(f, p, MaximumMeanDiscrepancy(radius, gram))
        assert found.value == pytest.approx(p @ f, abs=1e-15)
        assert found.slope == pytest.approx(worst_case(f, p, MaximumMeanDiscrepancy(0.0, gram)).slope, rel=1e-6)


class Careless(TotalVariation):
    """Total variation with answers of another radius, as a set of one's own may be wrong."""

    taken = 0.3
    lost = False

    def solve(self, f: np.ndarray, p: np.ndarray, wanted: Wanted) -> Rows:
        found = TotalVariation(self.taken).solve(f, p, wanted)
        if self.lost:
            assert found.distribution is not None
            found.distribution[1, 2] = np.nan
        return found


def test_the_gap_bounds_the_error_of_an_answer_that_is_wrong() -> None:
    payoffs, p = np.sin(9.0 * LINE) * np.array([[1.0], [40.0]]), np.full(11, 1.0 / 11)
    for taken in (0.05, 0.2, 0.3, 1.9):
        wrong = Careless(0.2)
        wrong.taken = taken
        found = worst_case(payoffs, p, wrong)
        error = np.abs(found.value - worst_case(payoffs, p, TotalVariation(0.2)).value)
        assert (found.gap >= error * (1.0 - 1e-12)).all()
        assert (found.gap <= 3.0 * np.ptp(payoffs, axis=1)).all()
        assert (found.gap <= 1e-14 * np.ptp(payoffs, axis=1)).all() == (taken == 0.2)


def test_a_set_that_is_not_solved_says_so() -> None:
    wrong = Careless(0.2)
    wrong.lost = True
    with pytest.raises(BocuError, match=r"not solved in row 1: .*, 1 of 11 probabilities that are not numbers"):
        worst_case(np.sin(9.0 * LINE) * np.array([[1.0], [40.0]]), np.full(11, 1.0 / 11), wrong)
