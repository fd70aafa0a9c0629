"""What goes with what: algorithm x kind of problem x protocol x objective x set, found by asking the classes.

Nothing here knows an answer: `refuses` of an algorithm says where it is defined, `pursues` whether an objective matters
there, `unfit` of its parameters which objectives it takes; an objective's own parameters say which sets they take, and
the protocols of a metric what it scores. Radii are numbers here: some rules for them need a problem that has one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pydantic

from bocu.core.parameters import Parameters
from bocu.core.rounds import CONTINUOUS, GRID, SCALARISED, TIME_VARYING, FiniteDomain, Outline, unit_cube
from bocu.learners.algorithms.base import AlgorithmParameters
from bocu.sweep.experiment.registry import RegisteredClass, registered

RADIUS = 0.1  #: Radius of every set that is asked after.
PLACEHOLDER = 0.1  #: What a number stands at that an objective requires.

_TABLE = FiniteDomain(np.zeros((2, 1)), ("x",), ("1",))
_BOX = unit_cube("x", 1)
_PRIORS = ("a prior", "another")


@dataclass(frozen=True)
class ProblemKind:
    """What algorithms can tell problems apart by before their data are read."""

    name: str  #: for people.
    protocols: tuple[str, ...]  #: under which such problems are played.
    outline: Outline  #: what one is like.


KINDS = (
    ProblemKind("arms that change with time", TIME_VARYING, Outline(_TABLE, priors=_PRIORS)),
    ProblemKind("box of arms that change with time", TIME_VARYING, Outline(_BOX, priors=_PRIORS)),
    ProblemKind("grids of decisions and contexts", GRID, Outline(_TABLE)),
    ProblemKind("grids, candidate priors", GRID, Outline(_TABLE, priors=_PRIORS)),
    ProblemKind("grids that change with time", ("general", "data-driven"), Outline(_TABLE, None, _PRIORS, True)),
    ProblemKind("boxes of decisions and contexts", CONTINUOUS, Outline(_BOX)),
    ProblemKind("box of decisions, grid of contexts", SCALARISED, Outline(_BOX)),
    ProblemKind("grids, scalarised outputs", SCALARISED, Outline(_TABLE)),
)


@dataclass(frozen=True)
class Applicability:
    """Whether one combination runs."""

    algorithm: str  #: registered name.
    kind: str  #: name of the kind of problem.
    protocol: str  #: registered name.
    objective: str | None = None  #: registered name; None where none is pursued, or nothing runs whatever it is.
    set: str | None = None  #: registered name; None where there is none.
    reason: str = ""  #: why it does not run; empty where it does.

    @property
    def runs(self) -> bool:
        """Whether the combination runs."""
        return not self.reason


def combinations() -> Iterator[Applicability]:
    """Return an answer for every combination of what is registered; what is refused as a whole has one for all."""
    for entry in registered("algorithm"):
        pursued: list[tuple[str | None, str | None, str]] | None = None
        own = list(own_sets(entry))
        for kind in KINDS:
            for protocol in kind.protocols:
                reason = _refusal(entry.load(), protocol, kind.outline)
                if reason:
                    yield Applicability(entry.name, kind.name, protocol, reason=reason)
                    continue
                if entry.load().pursues(protocol):
                    pursued = list(pursuits(entry)) if pursued is None else pursued
                    found = pursued
                else:
                    found = own or [(None, None, "")]
                yield from (Applicability(entry.name, kind.name, protocol, *each) for each in found)


def pursuits(algorithm: RegisteredClass) -> Iterator[tuple[str | None, str | None, str]]:
    """Return objective, set and reason for every objective with every set, of an algorithm that pursues one."""
    parameters = algorithm.load().Parameters.model_construct()  # defaults, without what is required
    for objective in registered("objective"):
        takes_set = "set" in objective.load().Parameters.model_fields
        for name, stated in _stated_sets().items() if takes_set else [(None, None)]:
            reasons = [
                made
                if isinstance(made, str)
                else parameters.unfit(objective.name, made)
                if isinstance(parameters, AlgorithmParameters)
                else ""
                for made in _objectives(objective.load().Parameters, stated)
            ]
            yield objective.name, name, "" if "" in reasons else reasons[0]


def own_sets(algorithm: RegisteredClass) -> Iterator[tuple[str | None, str | None, str]]:
    """Return the same for the sets that an algorithm has a key of its own for, whatever is pursued."""
    if "set" in algorithm.load().Parameters.model_fields:
        for name, stated in _stated_sets().items():
            made = _validated(algorithm.load().Parameters, {"set": stated})
            yield None, name, made if isinstance(made, str) else ""


def scorers() -> Mapping[str, tuple[str, ...]]:
    """Return for every metric the protocols whose runs it scores."""
    return {entry.name: tuple(entry.load().protocols) for entry in registered("metric")}


def _refusal(algorithm: Any, protocol: str, outline: Outline) -> str:
    if algorithm.plays(protocol, outline):
        return ""
    return algorithm.refuses(protocol, outline) or "it is not defined there"


def _stated_sets() -> dict[str | None, Any]:
    """Return every registered set at a radius, without what its class requires beside: no answer depends on that."""
    found = {entry.name: entry.load().Parameters for entry in registered("set")}
    return {name: kind.model_construct(name=name, radius=RADIUS) for name, kind in found.items()}


def _objectives(kind: type[Parameters], stated: object) -> Iterator[Parameters | str]:
    """Return an objective's parameters in each way that it may take a slope, or why they cannot be."""
    required = {key: PLACEHOLDER for key, field in kind.model_fields.items() if field.is_required()}
    given = {**required, **({} if stated is None else {"set": stated})}
    yield _validated(kind, given)
    if "slope" in kind.model_fields:
        yield _validated(kind, {**given, "slope": {"difference": PLACEHOLDER}})


def _validated(kind: type[Parameters], given: Mapping[str, object]) -> Parameters | str:
    try:
        return kind.model_validate(given)
    except pydantic.ValidationError as error:
        message: str = error.errors()[0]["msg"]
        return message.removeprefix("Value error, ")
