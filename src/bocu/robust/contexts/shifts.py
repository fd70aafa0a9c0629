"""Shifts: how the law of contexts changes from round to round, as an experiment file states it.

A shift turns the law that a problem states into that of each round. It is plain data made of plain data: laws go in as
`LawParameters` and come out as such, so that the same shift serves continuous contexts and grids. A shift of one's own
is a class here in all but place; see `Shift`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, cast

import numpy as np
import pydantic
from pydantic import Field

from bocu.core.about import About
from bocu.core.errors import BocuError, faults_at, shown
from bocu.core.io.files import canonical_json
from bocu.core.parameters import Count, Number, Parameters, ParametersType, Positive
from bocu.core.plain import Plain
from bocu.robust.contexts.laws import JointLaw, LawParameters, NamedParameters


class ShiftParameters(NamedParameters):
    """How a law of contexts changes over rounds."""

    kind: ClassVar[str] = "shift"

    name: str = Field(
        description="the shift (see `bocu list shifts`), an entry point, `module:Class` or `file.py:Class`"
    )
    parameters: Plain = Field(default_factory=dict, description="its parameters")


class Shift(ABC, Generic[ParametersType]):
    """A way in which a law of contexts changes over rounds."""

    about: ClassVar[About]
    Parameters: ClassVar[type[Parameters]]

    def __init__(self, parameters: ParametersType) -> None:
        self.parameters = parameters

    @abstractmethod
    def law(self, base: LawParameters, t: int) -> LawParameters:
        """Return the law that the context of a round comes from.

        It depends on the arguments alone. Rounds that share a law return equal ones: they are scored together.

        Args:
            base: the law that the problem states.
            t: the round, from 1 on; the initial design is of round 1.

        Raises:
            BocuError: the law cannot be shifted so.
        """

    def announced(self, base: LawParameters, t: int) -> LawParameters:
        """Return the law that is told before a round, where the reference is said to be announced."""
        return self.law(base, t)

    def begins(self) -> int:
        """Return the first round whose law may be another than the stated one."""
        return 1

    def unfit(self, iterations: int) -> str:
        """Say why it does not go with so many rounds; empty where it does."""
        if self.begins() > iterations:
            return f"it begins in round {self.begins()}; there are {iterations} rounds"
        return ""


class JumpParameters(Parameters):
    """When, and to what."""

    at: Count = Field(description="the first round under the other law")
    to: LawParameters = Field(description="the other law: `{name, parameters}`, or a name alone")


class Jump(Shift[JumpParameters]):
    """p_t is the stated law before round `at`, the other from then on."""

    about = About(title="jump", summary="another law from one round on")
    Parameters = JumpParameters

    def law(self, base: LawParameters, t: int) -> LawParameters:
        return self.parameters.to if t >= self.parameters.at else base

    def begins(self) -> int:
        return self.parameters.at


class DriftParameters(Parameters):
    """Where to, and how long it takes."""

    to: LawParameters = Field(description="the law at the end: `{name, parameters}`, or a name alone")
    over: Count = Field(description="rounds that it takes")
    start: Count = Field(1, description="the last round under the stated law")
    steps: Count | None = Field(
        None, description="equal steps in which it goes there, each an optimum to search for; null: one a round"
    )
    path: Literal["parameters", "mixture"] = Field(
        "parameters",
        description="`parameters`: every number of the law moves along a line, for two laws of one name; `mixture`: "
        "contexts come ever more often from the other law, whatever the two are",
    )


class Drift(Shift[DriftParameters]):
    """A law on the way from the stated one to another: at the share s = min(1, max(0, (t - start) / over))."""

    about = About(title="drift", summary="from the stated law to another, along a line")
    Parameters = DriftParameters

    def law(self, base: LawParameters, t: int) -> LawParameters:
        stated = self.parameters
        share = min(1.0, max(0.0, (t - stated.start) / stated.over))
        if stated.steps is not None:
            share = math.floor(share * stated.steps) / stated.steps
        return (mixed if stated.path == "mixture" else between)(base, stated.to, share)

    def begins(self) -> int:
        return self.parameters.start + 1


class SeasonParameters(Parameters):
    """How long, how far, and of what."""

    period: Positive = Field(description="rounds after which it repeats; whole numbers repeat the same laws")
    amplitude: dict[str, Number] = Field(
        min_length=1, description="by the name of a parameter of the law how far it goes to either side"
    )
    phase: Number = Field(0.0, description="rounds by which it is ahead; 0: it starts at the stated law, upwards")


class Season(Shift[SeasonParameters]):
    """Parameters that swing: each is its stated value plus its amplitude times sin(2 pi (t - 1 + phase) / period)."""

    about = About(title="season", summary="parameters of the law that swing around their stated values")
    Parameters = SeasonParameters

    def law(self, base: LawParameters, t: int) -> LawParameters:
        stated = self.parameters
        # Rounds a period apart have the same law to the last bit.
        turn = math.fmod(t - 1 + stated.phase, stated.period) / stated.period
        swing = math.sin(2.0 * math.pi * turn)
        parameters = dict(base.parameters)
        for key, amplitude in stated.amplitude.items():
            value = parameters.get(key)
            if isinstance(value, bool) or not isinstance(value, int | float):
                numbers = [name for name, other in parameters.items() if isinstance(other, int | float)]
                raise BocuError(
                    f"shift: amplitude: the law '{base.name}' has no number '{key}'; "
                    f"{'allowed: ' + ', '.join(numbers) if numbers else 'it has none that could swing'}"
                )
            parameters[key] = value + amplitude * swing
        return restated(base.name, parameters)


class TrainTestParameters(Parameters):
    """The two laws, and the round that parts them."""

    at: Count = Field(description="the first round of the test")
    test: LawParameters = Field(description="the law of the test: `{name, parameters}`, or a name alone")
    train: LawParameters | None = Field(None, description="the law before it; null: the stated one")


class TrainTest(Shift[TrainTestParameters]):
    """As a jump, but never announced: the reference stays the law of the training."""

    about = About(title="train and test", summary="a law for training and another for the test, which is not announced")
    Parameters = TrainTestParameters

    def law(self, base: LawParameters, t: int) -> LawParameters:
        return self.parameters.test if t >= self.parameters.at else self.announced(base, t)

    def announced(self, base: LawParameters, t: int) -> LawParameters:
        return self.parameters.train or base

    def begins(self) -> int:
        return 1 if self.parameters.train is not None else self.parameters.at

    def unfit(self, iterations: int) -> str:
        at = self.parameters.at
        return f"the test begins in round {at}; there are {iterations} rounds" if at > iterations else ""


def between(base: LawParameters, to: LawParameters, share: float) -> LawParameters:
    """Return the law at a share of the way from one to another of the same name: every number moves along a line.

    Args:
        base: the law at share 0.
        to: the law at share 1.
        share: beyond 0 and 1 the line goes on, as long as its numbers are parameters of a law.

    Raises:
        BocuError: the two have other names or shapes, or there is no such law.
    """
    if share in (0.0, 1.0):
        return to if share else base
    if base.name != to.name:
        raise BocuError(
            f"shift: no line leads from the law '{base.name}' to '{to.name}'; take two of one name, or `path: mixture`"
        )
    return restated(base.name, _on_the_line(base.parameters, to.parameters, share, "parameters"))


def mixed(base: LawParameters, to: LawParameters, share: float) -> LawParameters:
    """Return the law of contexts that come from another law in a share of the rounds.

    Raises:
        BocuError: the share is not between 0 and 1.
    """
    if share in (0.0, 1.0):
        return to if share else base
    if not 0.0 < share < 1.0:
        raise BocuError(f"shift: found the share {share:g} of a mixture; allowed: 0 to 1")
    parts = [{"law": law.model_dump(mode="json"), "weight": w} for law, w in ((base, 1.0 - share), (to, share))]
    return restated("mixture", {"of": parts})


def restated(name: str, parameters: Mapping[str, object]) -> LawParameters:
    """Return a law of other parameters.

    Raises:
        BocuError: they are none of it.
    """
    try:
        return LawParameters.model_validate({"name": name, "parameters": parameters})
    except pydantic.ValidationError as error:
        message = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise BocuError(f"shift: there is no such law '{name}': {message}") from None


def _on_the_line(low: Any, high: Any, share: float, where: str) -> Any:
    if low == high:
        return low
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in (low, high)):
        return (1.0 - share) * low + share * high
    if isinstance(low, Mapping) and isinstance(high, Mapping) and low.keys() == high.keys():
        return {key: _on_the_line(low[key], high[key], share, f"{where}.{key}") for key in low}
    if isinstance(low, list) and isinstance(high, list) and len(low) == len(high):
        pairs = enumerate(zip(low, high, strict=True))
        return [_on_the_line(one, other, share, f"{where}.{place}") for place, (one, other) in pairs]
    raise BocuError(
        f"shift: no line leads from {shown(low)} to {shown(high)} in {where} of the laws; take `path: mixture`"
    )


MOST_OUTSIDE = 0.5
"""Share of a shifted law's mass beyond one end of the box in a coordinate: where more is, it has left the box."""

_CHECKED = 100  #: Rounds that are looked at before a sweep starts, evenly spread where there are more.


class Schedule:
    """The laws of all rounds. What two rounds share is made once, and is the same object in both.

    Args:
        base: the law that is stated.
        shift: what changes it.
        dimension: number of coordinates of a context, Dc.
    """

    def __init__(self, base: LawParameters, shift: ShiftParameters, dimension: int) -> None:
        self.base = base
        self.dimension = dimension
        self._stated = shift
        self._base_text = _text(base)
        self._rounds: dict[int, tuple[LawParameters, str]] = {}
        self._laws: dict[str, JointLaw] = {}
        self._weights: dict[tuple[str, int], np.ndarray] = {}

    @cached_property
    def shift(self) -> Shift[Any]:
        """What changes the law."""
        return cast("Shift[Any]", self._stated.made())

    def stated(self, t: int) -> LawParameters:
        """Return the law that the context of round `t` comes from, as a file would state it."""
        return self._round(t)[0]

    def key(self, t: int) -> str:
        """Return what two rounds share if their laws are equal."""
        return self._round(t)[1]

    def stands(self, t: int) -> bool:
        """Say whether the law of round `t` is the one that is stated."""
        return self.key(t) == self._base_text

    def law(self, t: int) -> JointLaw:
        """Return the law that the context of round `t` comes from.

        Raises:
            BocuError: there is none, it has another number of coordinates, or it leaves the box.
        """
        return self._law(*self._round(t), t)

    def weights(self, t: int, points: np.ndarray) -> np.ndarray:
        """Return its weights `(contexts,)` on the context points `(contexts, Dc)`.

        Raises:
            BocuError: as `law`, or it has no mass at any of them.
        """
        return self._weighed(*self._round(t), t, points)

    def announced(self, t: int, points: np.ndarray) -> np.ndarray:
        """Return the weights `(contexts,)` of the law that is told before round `t`.

        Raises:
            BocuError: as `weights`.
        """
        told = self.shift.announced(self.base, t)
        return self._weighed(told, _text(told), t, points)

    def check(self, iterations: int) -> None:
        """Refuse a shift that does not go with so many rounds.

        Raises:
            BocuError: it begins after the last round, or there is no law for some round.
        """
        if reason := self.shift.unfit(iterations):
            raise BocuError(f"shift: '{self._stated.name}': {reason}")
        for t in np.unique(np.linspace(1, iterations, min(iterations, _CHECKED)).astype(int)):
            self.law(int(t))

    def _round(self, t: int) -> tuple[LawParameters, str]:
        if t not in self._rounds:
            stated = self.shift.law(self.base, t)
            self._rounds[t] = stated, _text(stated)
        return self._rounds[t]

    def _law(self, stated: LawParameters, text: str, t: int) -> JointLaw:
        if text not in self._laws:
            with faults_at(f"shift: round {t}: "):
                law = stated.over(self.dimension)
            if text != self._base_text:
                _refuse_outside(law, t)
            self._laws[text] = law
        return self._laws[text]

    def _weighed(self, stated: LawParameters, text: str, t: int, points: np.ndarray) -> np.ndarray:
        self._law(stated, text, t)
        key = text, len(points)
        if key not in self._weights:
            with faults_at(f"shift: round {t}: "):
                self._weights[key] = stated.weights_on(points)
        return self._weights[key]


def _refuse_outside(law: JointLaw, t: int) -> None:
    outside = law.atoms()
    coordinate, end = np.unravel_index(int(outside.argmax()), outside.shape)
    share = outside[coordinate, end]
    if share > MOST_OUTSIDE:
        place = f"{'above 1' if end else 'below 0'} in coordinate {coordinate + 1}"
        raise BocuError(f"shift: in round {t} the law leaves the box: {100 * share:.0f} % of it lie {place}")


def _text(stated: LawParameters) -> str:
    return canonical_json(stated.model_dump(mode="json"))
