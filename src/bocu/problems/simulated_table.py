"""Problems whose payoffs a simulator computed, situation by situation: a context is a cell of situations.

The payoff of a decision under a context is the mean over the cell's situations. What is observed is that of one of
them, drawn at random, so that the noise differs from cell to cell: algorithms are told its standard deviation in each.
A distribution over the contexts is one over situations, summed up by cell.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf
from bocu.core.randomness import Streams
from bocu.core.rounds import Context, Decision, Payoff
from bocu.problems.distributions import listed, weights_on
from bocu.problems.finite import FiniteParameters, FiniteProblem, FiniteRealisation
from bocu.problems.prepared_data import PreparedDataParameters

#: Grids are compared up to rounding.
_ROUNDING = 1e-9


class SimulatedTableParameters(PreparedDataParameters, FiniteParameters):
    """Parameters of a table that a simulator filled; subclasses say which laws it knows."""

    read_rows: ClassVar[str] = "bocu.problems.priors.observations:table_rows"


TableType = TypeVar("TableType", bound=SimulatedTableParameters)


@dataclass(frozen=True)
class Situations:
    """What a table knows of its situations."""

    file: str  #: where they come from, for error lines.
    payoffs: np.ndarray  #: shape (decisions, situations).
    features: np.ndarray  #: coordinates, scaled, shape (situations, dimension).
    values: np.ndarray  #: the same in their own units.
    told: Mapping[str, np.ndarray]  #: further variables by name, shape (situations,) each.
    cell: np.ndarray  #: of each situation, shape (situations,).
    cells: int  #: their number.

    @property
    def members(self) -> np.ndarray:
        """Numbers of situations a cell, shape (cells,)."""
        return np.bincount(self.cell, minlength=self.cells)

    def by_cell(self, values: np.ndarray) -> np.ndarray:
        """Average over the situations of each cell: (..., situations) to (..., cells)."""
        sums = values @ np.equal.outer(self.cell, np.arange(self.cells)).astype(float)
        return sums / self.members

    def spread(self) -> np.ndarray:
        """Return the standard deviation of payoffs within each cell, over all decisions, shape (cells,)."""
        means = self.by_cell(self.payoffs)
        return np.sqrt(self.by_cell((self.payoffs - means[:, self.cell]) ** 2).mean(axis=0))


class SimulatedTable(FiniteProblem[TableType]):
    """Payoffs of a table, and distributions over its situations.

    Attributes:
        situations: those of the table; not there before its file is read.
        truths_of_situations: distributions over the situations, as `truths`.

    Raises:
        BocuError: the prepared file is unusable, or is of another grid of decisions.
    """

    situations: Situations | None = None

    def _lay_out(self) -> None:
        settings = self.parameters
        self.decisions = self._grid("decision", settings.decision_points, len(self.decision_names))
        if "data" not in self.inputs:
            return  # planning opens no file
        self.situations = self._read(self.inputs["data"])
        self.contexts = self.situations.by_cell(self.situations.features.T).T
        over_references = [self._weights(entry) for entry in listed(settings.reference)]
        self.truths_of_situations = [self._weights(entry) for entry in listed(settings.truth)]
        self.references = [self._summed(weights) for weights in over_references]
        self.truths = [self._summed(weights) for weights in self.truths_of_situations]

    @abstractmethod
    def cells(self, values: np.ndarray) -> np.ndarray:
        """Return the cell of each situation (situations, dimension), numbered without gaps, shape (situations,)."""

    def law(self, entry: object, situations: Situations) -> np.ndarray | None:
        """Return the distribution over situations that a law of this problem's own states; None: it is none."""
        return None

    @property
    def model_noise(self) -> float | np.ndarray:
        """The noise that algorithms reckon with: in each cell that of its situations, and the measurement's."""
        settings = self.parameters
        if self.situations is None or settings.ridge is not None:
            return super().model_noise
        return np.sqrt(self.situations.spread() ** 2 + settings.noise**2)

    def payoff_table(self, streams: Streams) -> np.ndarray:
        """Return the same table to every seed."""
        return self._table

    def realise(self, streams: Streams) -> "TableRealisation":
        return TableRealisation(self, self.payoff_table(streams))

    def _read(self, path: str) -> Situations:
        data = read_netcdf(path)
        self._cite(data.attrs)
        found = data["decisions"].values
        if found.shape != self.decisions.shape or np.abs(found - self.decisions).max() > _ROUNDING:
            raise BocuError(
                f"decision_points: found {self.parameters.decision_points}; {path} has {len(found)} other decisions"
            )
        told = {name: data[name].values for name in ("law", "origin", "year") if name in data}
        values = data["situation_values"].values
        cell = self.cells(values)
        situations = Situations(
            path, data["payoff"].values, data["features"].values, values, told, cell, int(cell.max()) + 1
        )
        self._table = situations.by_cell(situations.payoffs)
        self._table.setflags(write=False)
        return situations

    def _weights(self, entry: Any) -> np.ndarray:
        """Return a distribution over the situations; one over contexts is shared out evenly within each cell."""
        assert self.situations is not None
        own = self.law(entry, self.situations)
        if own is not None:
            return own
        return self.shared_out(weights_on(entry, self.contexts))

    def shared_out(self, of_cells: np.ndarray) -> np.ndarray:
        """Return a distribution (cells,) over the situations: evenly within each cell, shape (situations,)."""
        assert self.situations is not None
        return (of_cells / self.situations.members)[self.situations.cell]

    def _summed(self, weights: np.ndarray) -> np.ndarray:
        assert self.situations is not None
        return np.bincount(self.situations.cell, weights, minlength=self.situations.cells)


class TableRealisation(FiniteRealisation):
    """The table, whose observations are single situations of a cell."""

    def __init__(self, problem: SimulatedTable, table: np.ndarray) -> None:
        super().__init__(problem, table)
        assert problem.situations is not None
        self._situations = problem.situations
        self._table_problem = problem
        self._members = [np.flatnonzero(self._situations.cell == cell) for cell in range(self._situations.cells)]
        self._measured = problem.parameters.noise

    def observe(self, decision: Decision, context: Context, payoff: Payoff, generator: np.random.Generator) -> Payoff:
        """Return the payoff of a situation of the cell, measured; one normal draw chooses, a second one is added."""
        from scipy.special import ndtr  # slow to import, and planning needs none of it

        which, added = generator.standard_normal(2)
        members = self._members[int(context)]
        chosen = members[min(int(ndtr(which) * len(members)), len(members) - 1)]
        return float(self._situations.payoffs[int(decision), chosen] + self._measured * added)

    def outcomes(self, t: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the payoffs of single situations, and their probabilities."""
        problem = self._table_problem
        if problem.schedule is not None:
            return self._situations.payoffs, problem.shared_out(problem.truth_in(t))
        truths = problem.truths_of_situations
        return self._situations.payoffs, truths[min(t, len(truths)) - 1]
