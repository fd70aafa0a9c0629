"""The settings file of `bocu suggest`: what is asked of a log, with bounds and units, to be asked again tomorrow."""

import math
from pathlib import Path
from typing import Any, Literal

import pydantic
from pydantic import ConfigDict, Field

from bocu.advice.choices import Decisions, OneOfNames, Range
from bocu.core.errors import BocuError
from bocu.core.io.yaml_files import read_yaml
from bocu.core.parameters import Count, NotNegative, Number, Parameters, Positive, validate


class NumberEntry(Parameters):
    """A decision that is a number."""

    low: Number = Field(description="Least value that may be suggested.")
    high: Number = Field(description="Largest value that may be suggested.")
    whole: bool = Field(False, description="Whether only whole numbers are suggested.")
    unit: str = Field("", description="Unit, told beside its numbers.")

    @pydantic.model_validator(mode="after")
    def _has_room(self) -> "NumberEntry":
        if not (math.isfinite(self.high - self.low) and self.low < self.high):
            raise ValueError(f"high ({self.high:g}) must exceed low ({self.low:g})")
        if self.whole and not (self.low.is_integer() and self.high.is_integer()):
            raise ValueError("bounds of whole numbers are whole")
        return self


class ChoiceEntry(Parameters):
    """A decision that is one of several names."""

    levels: list[str] = Field(description="The names, two or more.", min_length=2)

    @pydantic.model_validator(mode="after")
    def _are_different(self) -> "ChoiceEntry":
        if len(set(self.levels)) != len(self.levels) or "" in self.levels:
            raise ValueError("levels must be different names")
        return self


class ContextEntry(Parameters):
    """A column of what is met after deciding."""

    unit: str = Field("", description="Unit, told beside its numbers.")


class OutcomeEntry(Parameters):
    """A column of what is earned or paid."""

    goal: Literal["max", "min"] = Field("max", description="Whether it is earned (`max`) or paid (`min`).")
    weight: Positive | None = Field(
        None, description="Of several outcomes: what a unit of it counts. All have one, or none has."
    )
    unit: str = Field("", description="Unit, told beside its numbers.")


class SetEntry(Parameters):
    """The ambiguity set; the set's own keys stand beside its name (`bocu list sets NAME`)."""

    model_config = ConfigDict(frozen=True, extra="allow", validate_default=True)
    name: str = Field("tv", description="Name of the set (see `bocu list sets`).")
    radius: NotNegative | Literal["estimate"] | None = Field(
        None, description="Its radius, or `estimate`: how far later contexts of the log lie from earlier ones."
    )


class Settings(Parameters):
    """What is asked of a log. What the command line states takes the place of what stands here."""

    decisions: dict[str, NumberEntry | ChoiceEntry] = Field(
        {}, description="What is decided, by column. May be left out where there are alternatives."
    )
    contexts: dict[str, ContextEntry] = Field(
        {}, description="What is met after deciding, by column, or a list of columns."
    )
    outcome: dict[str, OutcomeEntry] = Field(
        {}, description="What is earned or paid, by column, or the one column that is earned."
    )
    forecast: str | None = Field(
        None, description="CSV or JSON file of contexts, relative to this file; left out: those of the log."
    )
    objective: Literal["replay", "dro", "so", "ro", "cvar"] | None = Field(
        None,
        description="`replay`, without a radius the default: what would have earned most in later blocks of the log; "
        "`dro`, with one the default: the worst expectation over the set; `so`: the expectation; `ro`: the worst "
        "context; `cvar`: the mean over the worst share `alpha` of contexts.",
    )
    set: SetEntry = Field(
        default_factory=lambda: SetEntry(name="tv", radius=None), description="The ambiguity set, or its name alone."
    )
    alpha: Positive = Field(0.1, description="Of `cvar`: the share of worst contexts, at most 1.", le=1.0)
    explore: bool = Field(False, description="Whether to suggest what may yet turn out best, as `--try` does.")
    time: str | None = Field(None, description="Column of dates or numbers that rows are in the order of.")
    forget: str | Positive | None = Field(
        None, description="Half-life of rows: `90d`, `12h`, `6w`, `2y`, a number of rows, or `estimate`."
    )
    known: dict[str, Number] = Field({}, description="Contexts that are known before deciding, by column.")
    season: Literal["year", "week", "day"] | None = Field(
        None, description="Season of the dates of `time`, whose place is a context that is known."
    )
    horizon: Count | None = Field(None, description="Rows that an estimated radius is to hold for.")
    constraints: list[str] = Field([], description="Linear constraints between decisions: `staff + 2*shelf <= 10`.")
    alternatives: str | None = Field(
        None, description="CSV or JSON file of all there is to choose from, relative to this file."
    )
    names: Literal["one-hot", "hamming"] = Field(
        "one-hot", description="How the model tells names to choose from apart."
    )
    missing: Literal["average", "leave-out"] = Field(
        "average", description="What becomes of rows of the log that lack contexts alone."
    )

    @pydantic.field_validator("contexts", "outcome", "set", mode="before")
    @classmethod
    def _in_full(cls, value: object, about: pydantic.ValidationInfo) -> object:
        if isinstance(value, str):
            return {"name": value} if about.field_name == "set" else {value: {}}
        if isinstance(value, list) and about.field_name == "contexts" and all(isinstance(name, str) for name in value):
            return {name: {} for name in value}
        return value

    def arguments(self, folder: Path) -> dict[str, Any]:
        """Return the arguments of `bocu.suggest` that this states, files relative to a folder."""
        weights = {name: entry.weight for name, entry in self.outcome.items() if entry.weight is not None}
        columns: dict[str, object] = {**self.decisions, **self.contexts, **self.outcome}
        units = {name: unit for name, entry in columns.items() if (unit := getattr(entry, "unit", ""))}
        found: dict[str, Any] = {key: getattr(self, key) for key in type(self).model_fields}
        for key in ("forecast", "alternatives"):
            found[key] = None if found[key] is None else folder / found[key]
        return {
            **found,
            "decisions": Decisions(tuple(_part(*entry) for entry in self.decisions.items()))
            if self.decisions
            else None,
            "contexts": list(self.contexts),
            "outcome": [f"{name}:min" if entry.goal == "min" else name for name, entry in self.outcome.items()],
            "weights": weights or None,
            "set": self.set.name,
            "radius": self.set.radius,
            "keys": dict(self.set.model_extra or {}),
            "known": self.known or None,
            "units": units,
        }


def read_settings(path: Path) -> dict[str, Any]:
    """Return the arguments of `bocu.suggest` that a settings file states.

    Raises:
        BocuError: it cannot be read, or a key or value is not allowed.
    """
    data = read_yaml(path)
    if not isinstance(data, dict):
        raise BocuError(f"{path}: a mapping of keys to values is wanted; allowed: {', '.join(Settings.model_fields)}")
    return validate(Settings, data, f"{path}: ").arguments(path.parent)


def _part(name: str, entry: NumberEntry | ChoiceEntry) -> Range | OneOfNames:
    if isinstance(entry, ChoiceEntry):
        return OneOfNames(name, tuple(entry.levels))
    return Range(name, entry.low, entry.high, entry.whole)
