"""What an algorithm is: built from a problem's public description, then asked and told.

The same objects serve the pipeline and a user's own loop::

    algorithm = PEGPUCB(description, None, PEGPUCB.Parameters(), numpy.random.default_rng(0))
    for t in range(1, 201):
        decision = algorithm.ask(Round(t=t, available=open_today))
        algorithm.tell(decision, t, measure(decision))
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bocu.domains import Domain
from bocu.parameters import Parameters

if TYPE_CHECKING:
    from bocu.surrogates.grid import GridPrior
    from bocu.surrogates.time_varying import TimeVaryingPrior
    from bocu.uncertainty import BallParameters

Decision = int | np.ndarray
"""An index into a finite domain, or the coordinates of a point of a box."""

Context = int | np.ndarray
"""As `Decision`; under the protocol "time-varying" the context is the time step, an integer from 1 on."""


Payoff = float | np.ndarray
"""A number, or shape (outputs,) where a problem has several outputs."""


@dataclass(frozen=True)
class Description:
    """What an algorithm may know of a problem.

    Attributes:
        decisions: the decision space.
        contexts: the context space.
        noise: standard deviation of the observation noise, in units of the payoff.
        protocol: registered name of the protocol, which says who chooses what in which order.
        outputs: number of payoffs that are observed at once.
        model: the Gaussian process prior of the payoff, where the problem states one.
        priors: candidate priors, under protocols with an unknown prior.
        best_prior: the best prior that is known to the problem, for oracles only.
    """

    decisions: Domain
    contexts: Domain
    noise: float
    protocol: str
    outputs: int = 1
    model: "GridPrior | None" = None
    priors: "Sequence[TimeVaryingPrior]" = ()
    best_prior: "TimeVaryingPrior | None" = None


@dataclass(frozen=True)
class Outline:
    """What is known of a problem before its data are read.

    Attributes:
        decisions: the decision space; None where the data decide.
        always_open: indices of the decisions that are available in every round; None: all, or not known.
        priors: labels of the candidate priors; None where the data decide.
    """

    decisions: Domain | None = None
    always_open: np.ndarray | None = None
    priors: tuple[str, ...] | None = ()


@dataclass(frozen=True)
class Round:
    """What is announced before a decision; any of it may change from round to round.

    Attributes:
        t: the round, from 1 on.
        available: indices of the decisions that may be taken, ascending; None: all of them.
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
class Reported:
    """A quantity that an algorithm reports of itself in every round.

    Attributes:
        name: variable name in run files.
        long_name: what it is, for people.
        units: its unit; "1" for pure numbers.
        dtype: "int16", "int8" or "float64".
        per_prior: one number for each candidate prior instead of one alone.
    """

    name: str
    long_name: str
    units: str = "1"
    dtype: str = "float64"
    per_prior: bool = False


class AlgorithmParameters(Parameters):
    """The typed parameters of an algorithm that pursues an objective, and what planning asks of them."""

    def unfit(self, name: str, objective: Parameters) -> str:
        """Say why the algorithm is not defined for an objective, in a few words; empty where it is.

        Args:
            name: registered name of the objective.
            objective: its parameters.
        """
        return ""


RECOMMENDED = Reported("recommended", "index of the decision that would be deployed after the round", dtype="int32")
"""Reported where what counts is the decision recommended, not those tried: under the protocol "simulator"."""


class Algorithm(ABC):
    """A decision maker that learns.

    `ask` and `tell` alternate. Between a `tell` and the next `ask`, `state` gives everything that the rest of the
    run depends on, and `restore` puts it back bit for bit.
    """

    Parameters: ClassVar[type[Parameters]]

    #: What it reports of itself in every round; may depend on the protocol.
    reports: tuple[Reported, ...] = ()

    #: An ambiguity set of the algorithm's own, whose radius is announced to it in place of its objective's.
    ambiguity: "BallParameters | None" = None

    def __init__(
        self, description: Description, objective: Any, parameters: Any, generator: np.random.Generator
    ) -> None:
        self.description = description
        self.objective = objective
        self.parameters = parameters
        self.generator = generator

    @classmethod
    def check(cls, parameters: Any, outline: Outline) -> None:
        """Refuse parameters that do not go with a problem, before its data are read.

        Raises:
            BocuError: no algorithm can be built from them there.
        """

    @abstractmethod
    def ask(self, round: Round) -> Decision:
        """Choose the next decision."""

    def choose_context(self, decision: Decision, round: Round) -> Context:
        """Choose the context of a decision that `ask` gave, under the protocol "simulator"."""
        raise NotImplementedError(f"{type(self).__name__} does not choose contexts")

    @abstractmethod
    def tell(self, decision: Decision, context: Context, value: Any) -> None:
        """Record what came back: a number, or shape (outputs,) where there are several.

        After `ask` it uses what `ask` worked out for this decision; see `reinstate` for telling without asking.
        """

    def report(self) -> dict[str, Any]:
        """Give the quantities of `reports` for the round that was just told."""
        return {}

    def reinstate(self, report: Mapping[str, Any], round: Round) -> None:
        """Put back what `ask` had worked out, so that `tell` without `ask` replays a recorded round exactly.

        Args:
            report: the recorded quantities of `reports` of that round.
            round: the recorded round.
        """

    @abstractmethod
    def recommend(self) -> Decision:
        """Give the decision to deploy after what was told so far."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Give all that was learnt, as nested dicts of arrays, numbers, strings and lists of those.

        The generator belongs to the caller, who saves it with its other streams.
        """

    @abstractmethod
    def restore(self, state: Mapping[str, Any]) -> None:
        """Put back what `state` gave."""
