"""Ambiguity sets by CVXPY: those of the user's own, those made of several, and our own ones once more, as an oracle.

A set is a function that returns constraints on the distribution. It is compiled once for a number of contexts and
solved by Clarabel for each row of payoffs: some milliseconds, where our own sets take microseconds
(`tests/benchmarks/constrained_sets.py` measures both). Names load on first use; CVXPY itself with the first solve.
"""

from typing import TYPE_CHECKING

from bocu.core.loading import lazily

if TYPE_CHECKING:
    from bocu.interop.cvxpy.formulations import inside as inside
    from bocu.interop.cvxpy.programme import Programme as Programme
    from bocu.interop.cvxpy.programme import Solution as Solution
    from bocu.interop.cvxpy.programme import programme_of as programme_of
    from bocu.interop.cvxpy.sets import Constraints as Constraints
    from bocu.interop.cvxpy.sets import ConvexSet as ConvexSet
    from bocu.interop.cvxpy.sets import Intersection as Intersection
    from bocu.interop.cvxpy.sets import Moments as Moments

_HOME = {
    "Constraints": "sets",
    "ConvexSet": "sets",
    "Intersection": "sets",
    "Moments": "sets",
    "Programme": "programme",
    "Solution": "programme",
    "inside": "formulations",
    "programme_of": "programme",
}

__all__ = sorted(_HOME)
__getattr__, __dir__ = lazily(__name__, _HOME)
