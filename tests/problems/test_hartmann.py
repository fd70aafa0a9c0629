"""`bocu.problems.synthetic`: the standard function, maximised, with its first two inputs deciding."""

import numpy as np
import pytest

from bocu.core.randomness import Streams
from bocu.problems.synthetic import Hartmann3, Hartmann3Parameters

BEST, HIGHEST = np.array([0.114614, 0.555649, 0.852547]), 3.86278  # Surjanovic and Bingham (2013)


def test_the_best_grid_point_is_next_to_the_known_optimum() -> None:
    problem = Hartmann3(Hartmann3Parameters(), {})
    table = problem.realise(Streams(0)).payoffs(1)
    assert table.shape == (1024, 64)
    decision, context = np.unravel_index(table.argmax(), table.shape)
    found = np.append(problem.decisions[decision], problem.contexts[context])
    assert np.abs(found - BEST)[:2].max() < 0.1
    assert abs(found[2] - BEST[2]) < 0.02
    assert HIGHEST - 0.05 < table.max() <= HIGHEST


def test_a_value_by_hand() -> None:
    parameters = Hartmann3Parameters(decision_points=[2, 2], context_points=[2])
    table = Hartmann3(parameters, {}).realise(Streams(0)).payoffs(1)
    scale = np.array([[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]])
    centre = np.array([[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]) / 1e4
    at = np.array([0.0, 1.0, 1.0])  # decision (0, 1), context 1
    assert table[1, 1] == pytest.approx(float([1, 1.2, 3, 3.2] @ np.exp(-(scale * (at - centre) ** 2).sum(axis=1))))
