"""What an algorithm is: built from a problem's public description, then asked and told.

The same objects serve the pipeline and a user's own loop::

    algorithm = PEGPUCB(description, None, PEGPUCB.Parameters(), numpy.random.default_rng(0))
    for t in range(1, 201):
        decision = algorithm.ask(Round(t=t, available=open_today))
        algorithm.tell(decision, t, measure(decision))
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias

import numpy as np

from bocu.core.about import About, Size, Work, planning_only
from bocu.core.parameters import Parameters, ParametersType
from bocu.core.plain import State
from bocu.core.rounds import Context, Decision, Description, Outline, Round
from bocu.learners.algorithms.plain_state import plain_state, put_back

if TYPE_CHECKING:
    from bocu.robust.ambiguity.parameters import SetParameters
    from bocu.robust.objectives.functions import Objective, UncertaintyObjective

Pursued: TypeAlias = "UncertaintyObjective | Objective | None"
"""What an algorithm is to pursue: an objective over the finite contexts, one as configured over a box, or nothing."""


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


SIMULATOR = "simulator"
"""The protocol under which contexts are chosen."""

PESSIMISTIC = Reported(
    "pessimistic_value", "objective of the decision's lower confidence bound, before its payoff was observed", "payoff"
)
"""What is reported there of every decision."""


class AlgorithmParameters(Parameters):
    """The typed parameters of an algorithm that pursues an objective, and what planning asks of them."""

    def unfit(self, name: str, objective: Parameters) -> str:
        """Say why the algorithm is not defined for an objective, in a few words; empty where it is.

        Args:
            name: registered name of the objective.
            objective: its parameters.
        """
        return ""


class Algorithm(ABC, Generic[ParametersType]):
    """A decision maker that learns.

    `ask` and `tell` alternate. Between a `tell` and the next `ask`, `state` gives everything that the rest of the
    run depends on, and `restore` puts it back bit for bit. Neither need be written: see `state`.
    """

    about: ClassVar[About]
    #: The protocols that it is defined for.
    protocols: ClassVar[tuple[str, ...]]
    #: Whether the objective changes what it does; one that pursues none runs once a problem.
    pursues_objective: ClassVar[bool] = False
    Parameters: ClassVar[type[Parameters]]

    #: What it reports of itself in every round; may depend on the protocol.
    reports: tuple[Reported, ...] = ()

    def __init__(
        self,
        description: Description,
        objective: Pursued,
        parameters: ParametersType,
        generator: np.random.Generator,
    ) -> None:
        self.description = description
        self.objective = objective
        self.parameters = parameters
        self.generator = generator

    @classmethod
    def pursues(cls, protocol: str) -> bool:
        """Say whether the objective changes what it does under a protocol."""
        return cls.pursues_objective

    @classmethod
    def plays(cls, protocol: str, outline: Outline) -> bool:
        """Say whether it is defined for a problem, by its protocol and what is known before its data are read."""
        return not cls.refuses(protocol, outline)

    @classmethod
    @planning_only
    def refuses(cls, protocol: str, outline: Outline) -> str:
        """Say why it is not defined for a problem, in a few words; empty where it is. `plays` follows it."""
        return "" if protocol in cls.protocols else f"it is defined for {', '.join(cls.protocols)}"

    @property
    def ambiguity(self) -> "SetParameters | None":
        """An ambiguity set of the algorithm's own, whose radius is announced to it in place of its objective's."""
        return None

    @classmethod
    def check(cls, parameters: ParametersType, outline: Outline) -> None:
        """Refuse parameters that do not go with a problem, before its data are read.

        Raises:
            BocuError: no algorithm can be built from them there.
        """

    @classmethod
    @planning_only
    def work(cls, parameters: ParametersType, size: Size, rounds: int) -> Work:
        """Count what a seed of so many rounds takes. Where nothing is said, planning assumes the worst.

        Args:
            parameters: those of the algorithm.
            size: how large the problem is.
            rounds: to be played, not counting the initial design.
        """
        held = 7 * size.kernels * size.arms * rounds
        choices = rounds * size.choices_per_round
        return Work({"round": rounds}, numbers=held, tables=choices, priors=size.priors)

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
        """Return the quantities of `reports` for the round that was just told."""
        return {}

    def reinstate(self, report: Mapping[str, object], round: Round) -> None:
        """Put back what `ask` had worked out, so that `tell` without `ask` replays a recorded round exactly.

        Args:
            report: the recorded quantities of `reports` of that round.
            round: the recorded round.
        """

    @abstractmethod
    def recommend(self) -> Decision:
        """Return the decision to deploy after what was told so far, and change nothing: neither state nor generator.

        Every run asks for it, after each round or after some; later decisions are the same as without.
        """

    def state(self) -> State:
        """Return all that was learnt, as nested dicts of arrays, numbers, strings and lists of those.

        Nothing that is done later changes it. Where a class says nothing else, it holds all attributes that are plain
        and names the others (see `algorithms.plain_state`), which come back by telling again. `generator` belongs
        to the caller, who saves it with its other streams.
        """
        return plain_state(self)

    def restore(self, state: State) -> None:
        """Put back what `state` gave, whatever this object or one built like it has met since.

        Raises:
            BocuError: a state that the class did not say itself names attributes that are not plain.
        """
        put_back(self, state)
