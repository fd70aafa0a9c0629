"""A model of the user's choice in the place of our own: what an experiment file says of it.

A factory is called with the inputs (t, D), decisions and contexts side by side in the unit cube, and the payoffs
(t, outputs), both as float64 tensors, and returns a BoTorch model. One that it leaves in training mode, as BoTorch's
are made, is fitted by `fit_gpytorch_mll`; one in evaluation mode is taken as it is. Nothing here imports BoTorch.
"""

import inspect
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

import pydantic
from pydantic import Field

from bocu.core.about import planning_only
from bocu.core.errors import BocuError, faults_at, shown
from bocu.core.loading import from_registry, load
from bocu.core.parameters import READING, Parameters, nearest
from bocu.core.plain import Plain
from bocu.learners.algorithms.signatures import Arguments, arguments_written

LIBRARIES = ("botorch", "gpytorch")
"""Packages whose factories and acquisition functions go by where they stand: their versions tell which they are."""

TORCH_NUMBERS = 3e7  #: Float64 that BoTorch and what it imports take beside the library, 240 MB; for planning alone.


def names_factory(data: object) -> bool:
    """Whether what a file says of a model may be a factory: a name alone, or the key for one."""
    return isinstance(data, str) or (isinstance(data, Mapping) and "botorch" in data)


def settled(kind: str, written: str, info: pydantic.ValidationInfo) -> str:
    """Return what specifications call a factory that an experiment file names.

    Args:
        kind: "model" or "acquisition".
        written: a registered name, an entry point's, "module:factory" or "file.py:factory".
        info: of the validation, which tells what files are relative to.

    Raises:
        ValueError: there is none.
    """
    if written.partition(":")[0].partition(".")[0] in LIBRARIES:
        return written
    reading = (info.context or {}).get(READING)
    try:
        called: str = from_registry("find")(kind, written, folder=reading.folder if reading else None).called
    except BocuError as error:
        raise ValueError(str(error).removeprefix(f"found {shown(written)}; ")) from None
    return called


def factory(kind: str, called: str) -> Any:
    """Import what `settled` called so.

    Raises:
        BocuError: it is not there, or cannot be called.
    """
    try:
        found = load(called) if ":" in called else from_registry("find")(kind, called).load()
    except (ImportError, AttributeError) as error:
        raise BocuError(f"{kind}: {called}: {error}") from error
    if not callable(found):
        raise BocuError(f"{kind}: {called}: found {type(found).__name__}; what can be called is wanted")
    return found


def arguments_of(make: Any) -> Arguments:
    """Return what a factory takes."""
    taken = (one for one in inspect.signature(make).parameters.values() if one.kind is not one.VAR_POSITIONAL)
    return [("**", False) if one.kind is one.VAR_KEYWORD else (one.name, one.default is one.empty) for one in taken]


def refuse_arguments(key: str, taken: Arguments, given: Collection[str], filled: Collection[str]) -> None:
    """Refuse keyword arguments that a factory does not take, and the lack of one that it wants.

    Args:
        key: what they stand under in experiment files.
        taken: by the factory.
        given: their names.
        filled: the arguments that are not the user's to give.

    Raises:
        BocuError: one does not fit.
    """
    free = {name: wanted for name, wanted in taken if name not in filled}
    for name in given:
        if name not in free and "**" not in free:
            raise BocuError(f"{key}: it takes no '{name}'; {nearest(name, free)}")
    for name, wanted in free.items():
        if wanted and name not in given:
            raise BocuError(f"{key}: it wants '{name}'; give it under the key '{key}'")


def arguments_planned(kind: str, key: str, called: str) -> Arguments | None:
    """Return what a factory takes, as far as its source tells: it imports torch, perhaps.

    Args:
        kind: "model" or "acquisition".
        key: what names the factory in experiment files.
        called: as `settled` returned it.

    Raises:
        BocuError: there is none of that name.
    """
    with faults_at(f"{key}: found {shown(called)}; "):
        return arguments_written(called if ":" in called else from_registry("find")(kind, called).target)


class BotorchModelParameters(Parameters):
    """Any BoTorch model, fitted to all observations before every decision."""

    in_short = "botorch"
    contextual: ClassVar[bool] = True  # whether contexts are among its inputs

    botorch: str = Field(
        description="what makes the model of inputs (t, D) and payoffs (t, outputs): `module:factory`, such as "
        "`botorch.models:SingleTaskGP`, `file.py:factory`, relative to the experiment file, or a registered name "
        "(see `bocu list models`), which may also stand alone: `model: botorch-default`"
    )
    parameters: Plain = Field(default_factory=dict, description="keyword arguments of the factory")

    @pydantic.model_validator(mode="before")
    @classmethod
    def _name_alone(cls, data: object) -> object:
        return {cls.in_short: data} if isinstance(data, str) else data

    @pydantic.field_validator("botorch")
    @classmethod
    def _settled(cls, written: str, info: pydantic.ValidationInfo) -> str:
        return settled("model", written, info)

    @planning_only
    def refuse_misfits(self) -> None:
        if (taken := arguments_planned("model", "botorch", self.botorch)) is not None:
            refuse_arguments("parameters", taken, self.parameters, [name for name, _ in taken[:2]])

    @planning_only
    def expense(self, context_coordinates: int) -> tuple[float, float]:
        """Return how much more a round, and its work with the observations, take than with our model."""
        return 60.0, 60.0  # tests/benchmarks/botorch_costs.py

    @planning_only
    def held(self) -> float:
        """Return how many float64 the packages behind it take, beyond what a run holds anyway."""
        return TORCH_NUMBERS

    def built(self, decisions: int, contexts: int) -> Any:
        """Return the model before any observation, over so many coordinates of decisions and contexts.

        It plays the part of a `bocu.learners.surrogates.continuous.model.ContinuousGP`.
        """
        return load(from_registry("BRIDGE"))(self, decisions, contexts if self.contextual else 0)


class BotorchDecisionModelParameters(BotorchModelParameters):
    """Any BoTorch model over decisions alone."""

    contextual: ClassVar[bool] = False
