"""What is asked of a log, checked before anything is learnt: decisions, alternatives, the set, units.

`Settings` are what a file states for `bocu suggest`, with bounds and units, to be asked again tomorrow.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pydantic
from pydantic import ConfigDict, Field

from bocu.advice.choices import Decisions, OneOfNames, Range, read_decisions
from bocu.advice.logs import LogTable, read_log_table, read_rows
from bocu.advice.model import HAMMING
from bocu.advice.outcomes import Outcome
from bocu.advice.time import ESTIMATE
from bocu.core.errors import BocuError, shown
from bocu.core.io.yaml_files import read_yaml
from bocu.core.loading import from_registry
from bocu.core.parameters import Count, NotNegative, Number, Parameters, Positive, Reading, nearest, validate
from bocu.robust.ambiguity.conditional_value_at_risk import ConditionalValueAtRisk
from bocu.robust.ambiguity.parameters import SetParameters


def _part(name: str, cells: Sequence[Any]) -> Range | OneOfNames:
    texts = [str(cell).strip() for cell in cells if cell is not None and str(cell).strip()]
    try:
        numbers = np.array([float(text) for text in texts])
    except ValueError:
        levels = tuple(dict.fromkeys(texts))
        if len(levels) < 2:
            raise BocuError(f"--alternatives: column '{name}' has {shown(levels[0])} alone: no choice") from None
        return OneOfNames(name, levels)
    finite = numbers[np.isfinite(numbers)]
    if not len(finite):
        raise BocuError(f"--alternatives: column '{name}': found no number and no name")
    low, high = float(finite.min()), float(finite.max())
    if low == high:
        high = low + max(1.0, abs(low))
    return Range(name, low, high, bool((finite == np.round(finite)).all()))


#: What earns most in later blocks of the log, the worst expectation over the set, the expectation under the forecast,
#: its worst context, and the mean over the worst share of contexts.
OBJECTIVES = REPLAY, DRO, SO, RO, CVAR = "replay", "dro", "so", "ro", "cvar"


def what_is_decided(
    decisions: str | Decisions | None, alternatives: Any, log: LogTable, others: Collection[str]
) -> tuple[Decisions, dict[str, np.ndarray], list[str]]:
    """Return what is decided, the alternatives (d,) by what their rows are called, and what was done to read them.

    Where a list alone says what is decided, it is each column that list and log both have, but for contexts and
    outcomes (`others`). Numbers go from the smallest to the largest that either has, and are whole where all are;
    anything else is a choice of the names that either has.

    Raises:
        BocuError: nothing says what is decided; of alternatives a column is missing or holds what it must not, a value
            is missing, out of bounds or no whole number, or there is no row.
    """
    chosen = read_decisions(decisions) if isinstance(decisions, str) else decisions
    if alternatives is None:
        if chosen is None:
            raise BocuError("--decisions: found none; what is decided is wanted, or a list of --alternatives")
        return chosen, {}, []
    table = read_log_table(alternatives, "alternatives")
    if chosen is None:
        names = [name for name in table.columns if name in log.columns and name not in others]
        if not names:
            raise BocuError(
                f"{table.name}: found the columns {', '.join(table.columns) or 'none'}; at least one decision that the "
                "log has too is wanted"
            )
        chosen = Decisions(tuple(_part(name, [*table.columns[name], *log.columns[name]]) for name in names))
    notes: list[str] = []
    values = read_rows(table, chosen, notes)
    if not len(values):
        raise BocuError(f"{table.name}: found no row; at least one alternative is wanted")
    for faulty, what in (
        (np.isnan(values).any(axis=1), "a value is missing; an alternative has all"),
        (~chosen.inside(values), "out of the bounds of --decisions"),
    ):
        if faulty.any():
            raise BocuError(f"{table.name}: {table.lines[int(np.argmax(faulty))]}: {what}")
    return chosen, dict(zip(table.lines, values, strict=True)), notes


def how_coded(decisions: Decisions, code: str) -> list[str]:
    """Say how names to choose from are told apart, where there are any."""
    names = [part.name for part in decisions.parts if isinstance(part, OneOfNames)]
    if not names:
        return []
    hamming = "different or not, however they differ (Hamming kernel)"
    how = hamming if code == HAMMING else "one-hot, each with a length-scale of its own"
    return [f"names of {', '.join(names)} are told apart {how}"]


def how_weighed(outcomes: Sequence[Outcome], weights: Mapping[str, float] | None) -> list[str]:
    """Say what outcomes count, where there are several."""
    if len(outcomes) == 1:
        return []
    told = ", ".join(f"{one.name} {one.weight:.4g}" for one in outcomes)
    stated = "as stated" if weights else "none were stated: one over the spread of each in the log"
    return [f"weights of outcomes: {told} ({stated}); what is not known of one is taken as independent of another"]


def checked_units(units: Mapping[str, str], columns: Sequence[str]) -> dict[str, str]:
    """Return the units of columns.

    Raises:
        BocuError: one is of no column that was asked for.
    """
    for name in units:
        if name not in columns:
            raise BocuError(f"units: found {shown(name)}, which is no column asked for; {nearest(name, columns)}")
    return dict(units)


def refuse_mixed_up(
    decisions: Decisions, contexts: tuple[str, ...], outcomes: Sequence[Outcome], objective: str
) -> None:
    """Refuse columns with two roles or none, and objectives that there are not.

    Raises:
        BocuError: there is one.
    """
    if not contexts:
        raise BocuError("--contexts: found none; at least one column is wanted")
    columns = [*decisions.names, *contexts, *(one.name for one in outcomes)]
    for name in columns:
        if columns.count(name) > 1:
            raise BocuError(f"column '{name}' has two roles; a column is a decision, a context or the outcome, once")
    if objective not in OBJECTIVES:
        raise BocuError(f"--objective: found {shown(objective)}; {nearest(objective, OBJECTIVES)}")


def extrapolated(names: tuple[str, ...], seen: np.ndarray, asked: np.ndarray) -> list[str]:
    """Return a line for each context that the forecast has outside the log's range."""
    notes = []
    for i, name in enumerate(names):
        outside = int(((asked[:, i] < seen[:, i].min()) | (asked[:, i] > seen[:, i].max())).sum())
        if outside:
            notes.append(
                f"the forecast has '{name}' outside the log's {seen[:, i].min():g} to {seen[:, i].max():g} in "
                f"{outside} of {len(asked)} contexts: there the model extrapolates"
            )
    return notes


def stated_set(
    objective: str, name: str, radius: float | str | None, keys: Mapping[str, Any], alpha: float
) -> SetParameters | ConditionalValueAtRisk | None:
    """Return what states the set that worst cases are told for, or None where there is none."""
    has_set = objective == REPLAY or (objective in (DRO, SO) and (radius is not None or objective == DRO))
    if keys and not has_set:
        raise BocuError(
            f"--{next(iter(keys))}: nothing takes it: there is no set without --radius, nor under ro or cvar"
        )
    if objective == CVAR:
        if not 0.0 < alpha <= 1.0:
            raise BocuError(f"--alpha: found {alpha:g}; allowed: more than 0 and at most 1")
        return ConditionalValueAtRisk(alpha)
    if objective == RO:
        return None
    family = from_registry("find")("set", name, "--set: ", Path()).load()
    if radius is None and objective != REPLAY:
        if objective == DRO:
            raise BocuError(f"--radius: the objective 'dro' over the set '{name}' needs one, or estimate")
        return None
    if isinstance(radius, float) and math.isinf(radius):
        raise BocuError("--radius: found inf; allowed: a finite number, or --objective ro, which trusts no forecast")
    if not family.has_radius:
        raise BocuError(f"--set: '{name}' has no radius; allowed here: a set that has one, or --objective cvar")
    return validate(SetParameters, {**keys, "name": name}, "--", Reading(Path()))


def objective_of(objective: str | None, radius: float | str | None) -> str:
    """Return the objective, or, where none is stated, `DRO` at a radius that is a number and else `REPLAY`."""
    return objective or (DRO if isinstance(radius, float) else REPLAY)


def read_radius(radius: float | str | None) -> float | str | None:
    """Return a number, `ESTIMATE` or None."""
    if radius is None or radius == ESTIMATE:
        return radius
    try:
        return float(radius)
    except ValueError:
        raise BocuError(f"--radius: found {shown(radius)}; allowed: a number, or {ESTIMATE}") from None


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
        parts = tuple(
            OneOfNames(name, tuple(entry.levels))
            if isinstance(entry, ChoiceEntry)
            else Range(name, entry.low, entry.high, entry.whole)
            for name, entry in self.decisions.items()
        )
        return {
            **found,
            "decisions": Decisions(parts) if parts else None,
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
