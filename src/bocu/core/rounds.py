"""What problems, algorithms and the loop between them tell one another; none of the three is imported here.

The names of the protocols, and the groups of them that classes are defined for, stand here as well: a protocol says who
chooses what in which order, and how each is played stands in `bocu.sweep.runs.protocol`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

TIME_VARYING = ("time-varying",)
CONTEXTUAL = ("general", "data-driven", "simulator")
CONTINUOUS = ("continuous",)
SCALARISED = ("scalarised",)
ROLLING = ("rolling-simulator",)
GRID = CONTEXTUAL + ROLLING
FINITE = TIME_VARYING + GRID
ANNOUNCED = GRID + SCALARISED
EVERY = FINITE + CONTINUOUS + SCALARISED


@dataclass(frozen=True)
class FiniteDomain:
    """A finite set of points; a decision or context in it is named by its index.

    Attributes:
        points: coordinates, shape (size, dimension).
        names: what each coordinate is, with its unit in the same place of `units`.
    """

    points: np.ndarray
    names: tuple[str, ...]
    units: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of members."""
        return len(self.points)

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return self.points.shape[1]

    def coordinates(self, index: int) -> np.ndarray:
        """Return the coordinates (dimension,) of a member, by its index."""
        return self.points[index]


@dataclass(frozen=True)
class BoxDomain:
    """All points between `lower` and `upper`, both of shape (dimension,); a member is named by its coordinates."""

    lower: np.ndarray
    upper: np.ndarray
    names: tuple[str, ...]
    units: tuple[str, ...]

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.lower)

    def coordinates(self, point: np.ndarray) -> np.ndarray:
        """Return a member's coordinates: itself, as an array (dimension,)."""
        return np.asarray(point, dtype=float)


Domain = FiniteDomain | BoxDomain


def unit_cube(kind: str, dimension: int) -> BoxDomain:
    """Return the box [0, 1]^dimension of decisions or contexts."""
    names = tuple(f"{kind} {place + 1}" for place in range(dimension)) if dimension > 1 else (kind,)
    return BoxDomain(np.zeros(dimension), np.ones(dimension), names, ("1",) * dimension)


def time_steps(last: float = np.inf) -> BoxDomain:
    """Return the times 1, 2, ... up to the last one, where time is what contexts are."""
    return BoxDomain(np.array([1.0]), np.array([last]), ("time step",), ("1",))


Decision = int | np.ndarray  #: An index into a finite domain, or the coordinates of a point of a box.

Context = int | np.ndarray
"""As `Decision`; under the protocol "time-varying" the context is the time step, an integer from 1 on."""

Payoff = float | np.ndarray  #: A number, or shape (outputs,) where a problem has several outputs.


class Prior(Protocol):
    """A Gaussian process prior of a payoff: what it is over, those know who state it and those who learn by it."""

    @property
    def label(self) -> str:
        """Its name for figures, reports and error lines."""
        ...


@dataclass(frozen=True)
class Description:
    """What an algorithm may know of a problem.

    Attributes:
        decisions: the decision space.
        contexts: the context space.
        noise: standard deviation of the observation noise, in units of the payoff.
        protocol: registered name of the protocol, which says who chooses what in which order.
        outputs: number of payoffs that are observed at once.
        model: the Gaussian process prior of the payoff over a grid, a `GridPrior`, where the problem states one.
        priors: candidate priors of the payoff, where the right one is unknown: over decisions and time steps under the
            protocol "time-varying", otherwise over decisions and contexts; over their pairs, those of one decision
            together, and time steps where payoffs on a grid change with time.
        best_prior: the best prior that is known to the problem, for oracles only.
    """

    decisions: Domain
    contexts: Domain
    noise: float
    protocol: str
    outputs: int = 1
    model: Any = None
    priors: Sequence[Prior] = ()
    best_prior: Prior | None = None


@dataclass(frozen=True)
class Outline:
    """What is known of a problem before its data are read."""

    decisions: Domain | None = None  #: the decision space; None where the data decide.
    #: indices of the decisions that are available in every round; None: all, or not known.
    always_open: np.ndarray | None = None
    priors: tuple[str, ...] | None = ()  #: labels of the candidate priors; None where the data decide.
    drifting: bool = False  #: whether payoffs on a grid of decisions and contexts change with time.


@dataclass(frozen=True)
class Round:
    """What is announced before a decision; any of it may change from round to round.

    Attributes:
        t: the round, from 1 on.
        available: indices of the decisions that may be taken, ascending; in a box the corners of the boxes that are
            open, shape (boxes, 2, dimension); None: all of them.
        reference: reference distribution over the contexts, shape (contexts,).
        epsilon: radius of the ambiguity set; None where there is none.
        weights: scalarisation weights, shape (outputs,).
    """

    t: int
    available: np.ndarray | None = None
    reference: np.ndarray | None = None
    epsilon: float | None = None
    weights: np.ndarray | None = None


@dataclass(frozen=True)
class Situation:
    """A round before its decision."""

    t: int  #: the round, from 1 on; 0 and below in the initial design.
    reference: np.ndarray  #: reference distribution over the contexts, shape (contexts,).
    truth: np.ndarray  #: distribution that contexts come from, shape (contexts,); the learner is not told.
    observed: int  #: number of contexts that were seen before.
    available: np.ndarray | None = None  #: decisions that may be taken, as `Round` has them; None: all of them.
    margin: float | None = None  #: radius that the problem itself announces; None where it announces none.
    #: scalarisation weights of the outputs, shape (outputs,); None where there is one output.
    weights: np.ndarray | None = None
