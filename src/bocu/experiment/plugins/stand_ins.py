"""What takes the place of classes from outside while an experiment is planned: they answer, and nothing is imported.

A stand-in has what planning looks at on a class of its kind, a stand-in of parameters what it looks at on those. Both
hand on to `memo.ask`; a method that the class has none of its own of is that of our base class.
"""

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar, Self

import pydantic
from pydantic import ConfigDict, PrivateAttr

from bocu.algorithms.base import Algorithm, AlgorithmParameters
from bocu.ambiguity.base import SolveCost
from bocu.ambiguity.parameters import SetParameters, fault
from bocu.core.about import About, read_look
from bocu.core.costs import Size, Work
from bocu.core.errors import BocuError
from bocu.core.loading import load
from bocu.core.parameters import READING, Parameters, Reading
from bocu.core.plain import Plain
from bocu.core.rounds import Outline
from bocu.experiment.plugins import memo
from bocu.experiment.plugins.answers import plain_outline, read_outline
from bocu.priors.statements import Candidate, PriorParameters
from bocu.problems.base import ProblemParameters
from bocu.problems.given_design import GivenDesign

if TYPE_CHECKING:
    from bocu.data.catalogue import Catalogue
    from bocu.experiment.branches import ProblemPaths
    from bocu.experiment.registry import RegisteredClass

FIGURE = "bocu.figures.stand_in:FigureStandIn"  # by name: figures know what is looked at on their parameters


@functools.cache
def stand_in(entry: "RegisteredClass") -> "StandIn":
    """Return what takes the place of a class from outside.

    Raises:
        BocuError: it cannot be imported, or breaks the contract.
    """
    return StandIn(entry)


class StandIn:
    """Takes the place of a class; see the attributes of the same names there.

    Attributes:
        entry: where the class is.
        bases: the class and all its bases, "module:Class", nearest first.
        is_objective: whether it is an objective, for metrics that are.
    """

    def __init__(self, entry: "RegisteredClass") -> None:
        self.entry = entry
        told = self.ask("family")
        look = told["about"]["look"]
        self.about = About(**{**told["about"], "look": read_look(look) if look else None})
        self.protocols = tuple(told["protocols"])
        self.bases: tuple[str, ...] = tuple(told["bases"])
        self.is_objective: bool = told["is_objective"]
        self.of_priors: bool = told.get("of_priors", False)
        self.finite_decisions: bool = told.get("finite_decisions", False)
        self.scope: str = told.get("scope", "problem")
        self.digested: bool = told.get("digested", False)
        self.finite_slope_at_zero: bool = told.get("finite_slope_at_zero", True)
        self.sensitivity_power: float | None = told.get("sensitivity_power")
        self.has_radius: bool = told.get("has_radius", True)
        self.compiled: bool = told.get("compiled", False)
        self._told = told

    def ask(self, question: str, **arguments: object) -> Any:
        """Ask the class."""
        return memo.ask(self.entry, question, **arguments)

    def says(self, method: str) -> bool:
        """Say whether the class has a method of its own."""
        return method in self._told["says"]

    # Parameters

    def read_parameters(self, data: Mapping[str, object], where: str, reading: Reading) -> Parameters:
        """Do as the function of this name does with a class."""
        folder = str(reading.folder.absolute()) if reading.folder is not None and _names_places(data) else None
        try:
            written = self.ask("parameters", data=_plain(data), folder=folder)
        except BocuError as error:
            raise BocuError(f"{where}{error}") from None
        return self.parameters(written)

    def parameters(self, written: Plain) -> Parameters:
        """Return the stand-in of parameters that the class has written out."""
        values = dict(written["values"])
        values = _with_sets(values, written["sets"])
        if written["design"] is not None:
            values["initial"] = GivenDesign(file=written["design"], **values["initial"])
        kind = {"problem": ProblemStandIn, "algorithm": AlgorithmStandIn, "prior": PriorStandIn}.get(
            self.entry.kind, Told
        )
        made = (load(FIGURE) if self.entry.kind == "figure" else kind).model_validate(values)
        made._of = self
        return made

    @functools.cached_property
    def Parameters(self) -> type[SetParameters]:
        """Of a set: the keys that it has, checked by the class."""
        own = {key: (Any, None) for key in self._told["keys"] if key not in SetParameters.model_fields}
        made = pydantic.create_model(self.entry.name, __base__=SetStandIn, **own)  # type: ignore[call-overload]
        made.stand_in = self
        kind: type[SetParameters] = made
        return kind

    # Problems

    def outline(self, parameters: "ProblemStandIn") -> Outline:
        """As of a problem."""
        return read_outline(self.ask("outline", values=parameters.values()))

    def check_rounds(self, parameters: "ProblemStandIn", iterations: int) -> None:
        """As of a problem."""
        if self.says("check_rounds"):
            self.ask("check_rounds", values=parameters.values(), iterations=iterations)

    def size(self, parameters: "ProblemStandIn") -> Size:
        """As of a problem."""
        return Size(**parameters.told["size"])

    @property
    def announces_radius(self) -> bool:
        """As of the parameters of a problem."""
        announces: bool = self._told["announces_radius"]
        return announces

    # Algorithms

    def pursues(self, protocol: str) -> bool:
        """As of an algorithm."""
        return protocol in self._told["pursues"]

    def plays(self, protocol: str, outline: Outline) -> bool:
        """As of an algorithm."""
        if not (self.says("plays") or self.says("refuses")):
            return protocol in self.protocols
        plays: bool = self.ask("plays", protocol=protocol, about=plain_outline(outline))
        return plays

    def check(self, parameters: "Told", outline: Outline) -> None:
        """As of an algorithm."""
        if self.says("check"):
            self.ask("check", values=parameters.values(), about=plain_outline(outline))

    def work(self, parameters: "Told", size: Size, rounds: int) -> Work:
        """As of an algorithm."""
        if not self.says("work"):
            return Algorithm.work(parameters, size, rounds)
        return Work(**self.ask("work", values=parameters.values(), size=asdict(size), rounds=rounds))

    # Sets

    def concentrates(self) -> bool:
        """As of a set."""
        known: bool = self._told["concentration"]
        return known

    def no_concentration(self) -> str:
        """As of a set."""
        reason: str = self._told["why_no_concentration"]
        return reason

    def solve_cost(self) -> SolveCost:
        """As of a set."""
        return SolveCost(**self._told["cost"])

    # Figures

    @property
    def draws_problem(self) -> bool:
        """As of the parameters of a figure."""
        draws: bool = self._told["draws_problem"]
        return draws


def _plain(data: Mapping[str, object]) -> Plain:
    """Return what YAML made of a text, dates and all, as plain data."""
    plain: Plain = json.loads(json.dumps(data, default=_as_text))
    return plain


def _as_text(value: object) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _names_places(data: object) -> bool:
    """Say whether some text in plain data may be where a class stands."""
    if isinstance(data, Mapping):
        return any(map(_names_places, data.values()))
    if isinstance(data, list | tuple):
        return any(map(_names_places, data))
    return isinstance(data, str) and ":" in data


def _with_sets(values: Any, paths: list[str], path: str = "") -> Any:
    """Return plain data with the ambiguity sets in it as such, at the paths where they are."""
    if path in paths:
        return SetParameters.model_validate(values, context={READING: Reading()})
    if path and not any(other.startswith(f"{path}.") for other in paths):
        return values
    inner = f"{path}." if path else ""
    if isinstance(values, list):
        return [_with_sets(value, paths, f"{inner}{place}") for place, value in enumerate(values)]
    made = {key: _with_sets(value, paths, f"{inner}{key}") for key, value in values.items()}
    return Told.model_validate(made) if path else made


class Told(Parameters):
    """Parameters of a class from outside, as it has written them out."""

    model_config = ConfigDict(extra="allow")
    _of: StandIn = PrivateAttr()

    def values(self) -> Plain:
        """Return them as plain data."""
        return self.model_dump(mode="json")


class AlgorithmStandIn(AlgorithmParameters, Told):
    """Parameters of an algorithm from outside."""


class PriorStandIn(PriorParameters, Told):
    """Parameters of candidate priors from outside."""

    def candidates(self, label: str) -> "Iterator[Candidate]":
        plain = self._of.ask("candidates", values=self.values(), label=label)
        return iter(pydantic.TypeAdapter(list[Candidate]).validate_python(plain))


class ProblemStandIn(ProblemParameters, Told):
    """Parameters of a problem from outside."""

    def values(self) -> Plain:
        given = self.given_design
        file = {} if given is None else {"initial": {**given.model_dump(mode="json"), "file": given.file}}
        return {**super().values(), **file}

    @property
    def told(self) -> Plain:
        """What planning asks of them."""
        told: Plain = self._of.ask("problem", values=self.values())
        return told

    @property
    def announces_radius(self) -> bool:  # type: ignore[override]
        return self._of.announces_radius

    def resolve(self, catalogue: "Catalogue", source: str, mirror: str | None) -> Self:
        if not self._of.says("resolve"):
            return self
        resolved = self._of.ask("resolve", values=self.values(), sources=_sources(), source=source, mirror=mirror)
        made: Any = self._of.parameters(resolved)
        return made

    def takes(self, candidate: "Candidate") -> str:
        if not self._of.says("takes"):
            return super().takes(candidate)
        reason: str = self._of.ask("takes", values=self.values(), candidate=candidate.model_dump(mode="json"))
        return reason

    def with_candidates(self, candidates: "Sequence[Candidate]") -> Self:
        if not self._of.says("with_candidates"):
            return self
        plain = [candidate.model_dump(mode="json") for candidate in candidates]
        made: Any = self._of.parameters(self._of.ask("with_candidates", values=self.values(), candidates=plain))
        return made

    def horizon(self) -> int | None:
        horizon: int | None = self.told["horizon"]
        return horizon

    def initial_points(self) -> int:
        points: int = self.told["initial_points"]
        return points

    def protocol_among(self, known: tuple[str, ...]) -> str:
        protocol: str = self.told["protocol"]
        return protocol

    def priors(self) -> dict[str, Plain]:
        priors: dict[str, Plain] = self.told["priors"]
        return priors

    def inputs(self, paths: "ProblemPaths") -> dict[str, str | list[str]]:
        return self._files(paths, "inputs")

    def prior_inputs(self, paths: "ProblemPaths") -> dict[str, str | list[str]]:
        return self._files(paths, "prior_inputs")

    def _files(self, paths: "ProblemPaths", key: str) -> dict[str, str | list[str]]:
        told = {"key": key, "sources": _sources(), "folder": paths.folder}
        found: dict[str, str | list[str]] = self._of.ask("files", values=self.values(), **told)
        return found


def _sources() -> str:
    from bocu.data.catalogue import sources_file

    return str(sources_file())


class SetStandIn(SetParameters):
    """An ambiguity set from outside, in an objective or an algorithm."""

    stand_in: ClassVar[StandIn]

    @pydantic.model_validator(mode="wrap")
    @classmethod
    def _of_the_set_named(
        cls, data: Any, validate: pydantic.ModelWrapValidatorHandler["SetStandIn"], info: pydantic.ValidationInfo
    ) -> "SetStandIn":
        try:
            return validate(cls.stand_in.ask("parameters", data=_plain(data), folder=None)["values"])
        except BocuError as error:
            key, _, message = str(error).partition(": ")
            raise fault(key, data.get(key), message.partition("; ")[2] or message) from None

    @property
    def family(self) -> Any:
        return self.stand_in
