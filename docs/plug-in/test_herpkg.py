"""The outsider's own test: her classes keep what `bocu` promises of all."""

import pytest

from bocu.testing import check_algorithm, check_metric, check_problem, check_set


@pytest.mark.parametrize("name", ["robust-botorch", "in_turn.py:InTurn"])
def test_algorithm(name):
    check_algorithm(name, rounds=4)


def test_problem():
    check_problem("harbour")


def test_set():
    check_set("contamination")


def test_metric():
    check_metric("median")
