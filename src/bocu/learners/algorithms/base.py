"""What an algorithm is: built from a problem's public description, then asked and told.

The same objects serve the pipeline and a user's own loop::

    algorithm = PEGPUCB(description, None, PEGPUCB.Parameters(), numpy.random.default_rng(0))
    for t in range(1, 201):
        decision = algorithm.ask(Round(t=t, available=open_today))
        algorithm.tell(decision, t, measure(decision))
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias

import numpy as np

from bocu.core.about import About, Size, Work, planning_only
from bocu.core.errors import BocuError
from bocu.core.parameters import Parameters, ParametersType
from bocu.core.plain import State
from bocu.core.rounds import Context, Decision, Description, Outline, Round
from bocu.core.ties import first_best
from bocu.learners.algorithms.plain_state import plain_state, put_back

if TYPE_CHECKING:
    from bocu.robust.ambiguity.parameters import SetParameters
    from bocu.robust.objectives.functions import Objective, UncertaintyObjective

Pursued: TypeAlias = "UncertaintyObjective | Objective | None"
"""What an algorithm is to pursue: an objective over the finite contexts, one as configured over a box, or nothing."""


@dataclass(frozen=True)
class Reported:
    """A quantity that an algorithm reports of itself in every round."""

    name: str  #: variable name in run files.
    long_name: str  #: what it is, for people.
    units: str = "1"  #: its unit; "1" for pure numbers.
    dtype: str = "float64"  #: "int16", "int8" or "float64".
    per_prior: bool = False  #: one number for each candidate prior instead of one alone.


def plain_round(round: Round) -> State:
    """Return what was announced of a round and recommendations go by, as plain data."""
    return {"t": round.t, "reference": round.reference, "epsilon": round.epsilon, "weights": round.weights}


def announced(plain: Mapping[str, Any] | None) -> Round | None:
    """Return the round that `plain_round` made plain data of."""
    return None if plain is None else Round(**plain)


def open_decisions(round: Round, decisions: int) -> np.ndarray | None:
    """Return the indices of the finite decisions that may be taken in a round, ascending; None: all of them.

    Raises:
        BocuError: what is announced is none, or not among the decisions.
    """
    if round.available is None:
        return None
    available = np.asarray(round.available)
    if available.size == 0 or available.min() < 0 or available.max() >= decisions:
        found = "none" if available.size == 0 else f"{available.min()} to {available.max()}"
        raise BocuError(f"round {round.t}: available: found {found}; allowed: some of 0 to {decisions - 1}")
    return available


SIMULATOR = "simulator"  #: The protocol under which contexts are chosen.

PESSIMISTIC = Reported(
    "pessimistic_value", "objective of the decision's lower confidence bound, before its payoff was observed", "payoff"
)
"""What is reported there of every decision."""


class BestTried:
    """The decision that each of several models rated highest by its lower bounds, among those that it chose.

    It is what Kirschner et al. (2020, equation 10) recommend on a simulator: rated in its own round, before its payoff
    was seen.
    """

    def __init__(self, models: int = 1) -> None:
        self._decision = np.full(models, -1, dtype=np.int64)
        self._value = np.full(models, -np.inf)

    def note(self, model: int, decision: int, value: float) -> None:
        """Take in a choice of a model; one that no model or no value stands behind changes nothing."""
        new = model >= 0 and not math.isnan(value)
        if new and (self._decision[model] < 0 or first_best((self._value[model], value))):
            self._decision[model], self._value[model] = decision, value

    def decision(self, trust: np.ndarray | None = None) -> int:
        """Return that of the model trusted most; of any where that one chose none; before any choice the first."""
        own = 0 if trust is None else first_best(trust)
        chosen = own if self._decision[own] >= 0 else first_best(self._value)
        return max(int(self._decision[chosen]), 0)

    def state(self) -> State:
        """Return what a checkpoint keeps."""
        return {"decision": self._decision.copy(), "value": self._value.copy()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` returned."""
        self._decision = np.array(state["decision"], dtype=np.int64)
        self._value = np.array(state["value"], dtype=float)


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

    To be written: `about`, `protocols`, `Parameters`, `ask`, `tell` and `recommend`; on a simulator `choose_context`.
    All else may stay: what plans ask (`pursues`, `refuses`, `check`, `work`), what is reported (`report`, `reinstate`).
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

    @abstractmethod
    def ask(self, round: Round) -> Decision:
        """Choose the next decision."""

    @abstractmethod
    def tell(self, decision: Decision, context: Context, value: Any) -> None:
        """Record what came back: a number, or shape (outputs,) where there are several.

        After `ask` it uses what `ask` worked out for this decision; see `reinstate` for telling without asking.
        """

    @abstractmethod
    def recommend(self) -> Decision:
        """Return the decision to deploy after what was told so far, and change nothing: neither state nor generator.

        Every run asks for it, after each round or after some; later decisions are the same as without.
        """

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
        return Work({"round": rounds}, numbers=held, tables=rounds, priors=size.priors)

    def choose_context(self, decision: Decision, round: Round) -> Context:
        """Choose the context of a decision that `ask` gave, under the protocol "simulator"."""
        raise NotImplementedError(f"{type(self).__name__} does not choose contexts")

    def report(self) -> dict[str, Any]:
        """Return the quantities of `reports` for the round that was just told."""
        return {}

    def reinstate(self, report: Mapping[str, object], round: Round) -> None:
        """Put back what `ask` had worked out, so that `tell` without `ask` replays a recorded round exactly.

        Args:
            report: the recorded quantities of `reports` of that round.
            round: the recorded round.
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
