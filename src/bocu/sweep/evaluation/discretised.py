"""Problems with continuous contexts as metrics see them: on the fixed discretisation of `bocu.robust.contexts.cells`.

Every law has its mass in each cell; sets act on these weights, and payoffs are those at the points of the cells.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bocu.core.rounds import BoxDomain, Context, Decision, FiniteDomain, Situation
from bocu.problems.base import Realisation
from bocu.robust.contexts.cells import Cells, cells
from bocu.robust.contexts.laws import JointLaw, LawParameters

_PAIRS_AT_A_TIME = 2**19
"""Decisions times contexts whose payoffs are computed at once: a few arrays of 4 MB a coordinate."""

PayoffFunction = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class CellTable:
    """The payoffs of continuous decisions at the points of a discretisation.

    Equal where payoffs and points are, so that what is searched for in one serves the other.
    """

    payoff: PayoffFunction
    discretisation: Cells

    def __call__(self, decisions: np.ndarray) -> np.ndarray:
        """Return payoffs (m, n, 1) of decisions (m, Dx)."""
        points = self.discretisation.points
        block = max(1, _PAIRS_AT_A_TIME // len(points))
        parts = [
            self.payoff(decisions[start : start + block, None, :], points[None])
            for start in range(0, len(decisions), block)
        ]
        return np.concatenate([np.empty((0, len(points))), *parts])[..., None]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, CellTable) and self.payoff == other.payoff and self.discretisation is other.discretisation
        )

    def __hash__(self) -> int:
        return hash(id(self.discretisation))


class DiscretisedRealisation(Realisation):
    """A problem with continuous decisions and contexts, whose contexts are cells.

    Args:
        realisation: the problem as a seed meets it.
        refined: whether there are four times as many cells.

    Raises:
        BocuError: it states no payoffs of arrays, or no law.
    """

    def __init__(self, realisation: Realisation, refined: bool = False) -> None:
        own = realisation.description
        assert isinstance(own.contexts, BoxDomain)
        self._realisation = realisation
        self.cells = cells(own.contexts.dimension, refined=refined)
        self.description = replace(
            own, contexts=FiniteDomain(self.cells.points, own.contexts.names, own.contexts.units)
        )
        self._table = CellTable(realisation.payoff_function, self.cells)
        self._known: list[tuple[object, np.ndarray]] = []

    @property
    def table(self) -> CellTable:
        return self._table

    def payoff(self, decision: Decision, context: Context) -> float:
        return float(self._table(np.asarray(decision)[None])[0, context, 0])

    def payoffs(self, t: int) -> np.ndarray:
        raise NotImplementedError("a problem with continuous decisions has no table of payoffs")

    def reference(self, t: int) -> np.ndarray:
        return self.truth(t)

    def truth(self, t: int) -> np.ndarray:
        return self.masses(self._realisation.law(t))

    def masses(self, law: JointLaw) -> np.ndarray:
        """Return the mass of a law in every cell, the same array for the same law."""
        for known, masses in self._known:
            if known is law:
                return masses
        self._known.append((law, self.cells.masses(law)))
        return self._known[-1][1]


def is_continuous(realisation: Realisation) -> bool:
    """Say whether metrics see a problem on the discretisation: whether decisions and contexts are continuous."""
    own = realisation.description
    return isinstance(own.decisions, BoxDomain) and isinstance(own.contexts, BoxDomain)


def on_cells(
    realisation: Realisation, situations: Sequence[Situation], refined: bool = False
) -> tuple[Realisation, Sequence[Situation]]:
    """Return a problem and its situations on the discretisation; themselves where contexts are no box already.

    Reference and truth are the law that contexts come from: a box of contexts has nothing else announced.
    """
    if not is_continuous(realisation):
        return realisation, situations
    discretised = DiscretisedRealisation(realisation, refined)
    first = [max(situation.t, 1) for situation in situations]
    return discretised, [
        replace(situation, reference=discretised.reference(t), truth=discretised.truth(t))
        for situation, t in zip(situations, first, strict=True)
    ]


def weights_of(realisation: Realisation, law: LawParameters) -> np.ndarray:
    """Return what a stated law weighs the contexts of a problem by: its masses in cells, or its density on a grid.

    Raises:
        BocuError: it has no mass there, or another number of coordinates.
    """
    contexts = realisation.description.contexts
    assert isinstance(contexts, FiniteDomain)
    if isinstance(realisation, DiscretisedRealisation):
        return realisation.masses(law.over(contexts.dimension))
    return law.weights_on(contexts.points)
