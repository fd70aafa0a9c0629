"""What classes say of their costs, and that it stays out of the hash of their code."""

import pytest

from bocu.sweep.experiment.fingerprints.definitions import read_source

CLASS = """
from abc import ABC
from bocu.core import about
from bocu.core.about import planning_only

class Mine(ABC):
    @classmethod
    @planning_only
    def work(cls, rounds):
        return rounds

    @classmethod
    def ask(cls, rounds):
        return rounds
"""


def digest(text):
    return read_source(text.encode(), "mine.py").statements[0].digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def work(cls, rounds):\n        return rounds", "def work(cls, rounds):\n        return rounds**3"),
        ("@planning_only", "@about.planning_only"),
        ("    @classmethod\n    @planning_only\n    def work(cls, rounds):\n        return rounds\n", ""),
    ],
)
def test_what_only_planning_calls_is_no_part_of_a_class(old, new):
    assert old in CLASS
    assert digest(CLASS.replace(old, new, 1)) == digest(CLASS)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def ask(cls, rounds):\n        return rounds", "def ask(cls, rounds):\n        return rounds**3"),
        ("    @planning_only\n", ""),
        ("(ABC)", ""),
    ],
)
def test_all_else_is(old, new):
    assert old in CLASS
    assert digest(CLASS.replace(old, new, 1)) != digest(CLASS)
