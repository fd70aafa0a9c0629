import numpy as np
import pytest

from bocu.core.errors import BocuError
from bocu.evaluation.curves import medians as _medians
from bocu.figures.cost import Cost, CostParameters


def test_a_point_is_the_median_of_its_rounds_and_the_initial_design_is_left_out():
    iterations = np.array([-1, 0, 1, 2, 3, 4, 5])
    seconds = np.array([[9.0, 9.0, 1.0, 2.0, 30.0, 4.0, 6.0]])
    rounds, medians = _medians(iterations, seconds, 3)
    assert rounds.tolist() == [3, 5]
    assert medians.tolist() == [[2.0, 5.0]]


def test_it_draws_a_line_for_every_algorithm(cube_path):
    drawing = Cost(CostParameters(smooth=4)).draw({"cube": cube_path})
    lines = {line.get_label() for axes in drawing.figure.axes for line in axes.get_lines()}
    assert {"Random", "PE-GP-UCB"} <= lines
    assert "ms" in drawing.figure.axes[0].get_ylabel()
    assert "Random from" in drawing.alternative


def test_an_algorithm_that_is_not_there_is_named(cube_path):
    with pytest.raises(BocuError, match="no algorithm 'x'"):
        Cost(CostParameters(algorithms=["x"])).draw({"cube": cube_path})
