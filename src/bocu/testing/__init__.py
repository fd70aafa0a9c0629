"""The conformance test: whether a class keeps what `bocu` promises of all its kind, ours and anybody's.

One line of pytest for each class of one's own::

    from bocu.testing import check_algorithm

    def test_mine():
        check_algorithm("mine.py:Mine")

Each check takes what an experiment file may name: a registered name or entry point, `module:Class`, or
`path/to/file.py:Class`, relative to the file of the test. What is broken is an `AssertionError` of one line that says
what and where. Imports `figures` and below.
"""

from typing import TYPE_CHECKING

from bocu.core.loading import lazily

if TYPE_CHECKING:
    from bocu.testing.algorithms import check_algorithm as check_algorithm
    from bocu.testing.breaches import Breach as Breach
    from bocu.testing.figures import check_figure as check_figure
    from bocu.testing.laws import check_law as check_law
    from bocu.testing.laws import check_shift as check_shift
    from bocu.testing.objectives import check_metric as check_metric
    from bocu.testing.objectives import check_objective as check_objective
    from bocu.testing.problems import check_problem as check_problem
    from bocu.testing.sets import check_set as check_set

_HOME = {
    "Breach": "breaches",
    "check_algorithm": "algorithms",
    "check_figure": "figures",
    "check_law": "laws",
    "check_metric": "objectives",
    "check_objective": "objectives",
    "check_problem": "problems",
    "check_set": "sets",
    "check_shift": "laws",
}

__all__ = sorted(_HOME)
__getattr__, __dir__ = lazily(__name__, _HOME)
