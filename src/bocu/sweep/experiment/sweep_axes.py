"""What may be written under `sweep` of an experiment file: which parameters take which values."""

import functools
import itertools
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pydantic
from pydantic import Field

from bocu.core.parameters import Parameters
from bocu.core.plain import Plain
from bocu.sweep.experiment.titles import in_words

SECTIONS = ("problems", "objectives", "algorithms", "metrics")
EVERY = "*"
PIECE = r"[a-z0-9]+(-[a-z0-9]+)*"

Coordinate = float | str
Point = Mapping[str, str]  #: Values by the names of their axes, as labels have them.


class Axis(Parameters):
    """A parameter, or several that move together, and its values."""

    of: list[str] = Field(
        min_length=1,
        description="What it sets: `problems.hills.noise`, section, label and path of keys; `*` for the label: every "
        "entry of the section that has the parameter. Several are set to the same value.",
    )
    values: list[Any] | Plain = Field(
        description="Its values; as a mapping, by the names that labels and figures have for them."
    )

    @pydantic.field_validator("of", mode="before")
    @classmethod
    def _one_alone(cls, of: object) -> object:
        return [of] if isinstance(of, str) else of

    @pydantic.field_validator("of")
    @classmethod
    def _targets(cls, of: list[str]) -> list[str]:
        for target in of:
            section, _, rest = target.partition(".")
            label, _, path = rest.partition(".")
            if section not in SECTIONS or not label or not all(path.split(".")):
                raise ValueError(
                    f"'{target}' names no parameter; allowed: SECTION.LABEL.PARAMETER, where the section is "
                    f"{', '.join(SECTIONS)}"
                )
        return of

    @pydantic.field_validator("values", mode="before")
    @classmethod
    def _value_alone(cls, values: object) -> object:
        if isinstance(values, Mapping):
            return {str(name): value for name, value in values.items()}  # in YAML a name may look like a number
        return values if isinstance(values, list | tuple) else [values]

    @pydantic.model_validator(mode="after")
    def _values_can_be_told_apart(self) -> "Axis":
        if not self.values:
            raise ValueError("a sweep needs one value at least")
        if isinstance(self.values, dict):
            for name in self.values:
                if not re.fullmatch(PIECE, name):
                    raise ValueError(f"'{name}' is no name of a value: lower-case letters, digits, single hyphens")
            return self
        pieces = [_piece(value) for value in self.values]
        for place, piece in enumerate(pieces):
            if piece in pieces[:place]:
                raise ValueError(f"labels would have '{piece}' for two of its values; name them: a mapping")
        return self

    @functools.cached_property
    def pieces(self) -> Plain:
        """Its values by what labels have for them."""
        if isinstance(self.values, dict):
            return dict(self.values)
        return {_piece(value): value for value in self.values}

    def coordinate(self, piece: str) -> Coordinate:
        """Return what cubes and figures have for a value: a number itself, else its name or text."""
        value = _number(self.pieces[piece])
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        return piece if isinstance(self.values, dict) else str(value)

    def written(self, piece: str) -> str:
        """Write a value as people read it."""
        return in_words(piece) if isinstance(self.values, dict) else str(self.pieces[piece])

    @property
    def targets(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """Section, label and path of keys of everything that it sets."""
        found = []
        for target in self.of:
            section, label, path = target.split(".", 2)
            found.append((section, label, tuple(path.split("."))))
        return found


Grid = dict[str, Axis]  #: Axes by name: a grid has all combinations of their values.


def points_of_grids(grids: list[Grid]) -> Iterator[Point]:
    """Return the points of several grids, each once."""
    seen = set()
    for grid in grids:
        for pieces in itertools.product(*(grid[name].pieces for name in grids[0])):
            if pieces not in seen:
                seen.add(pieces)
                yield dict(zip(grids[0], pieces, strict=True))


def in_full(sweep: object) -> object:
    """Write a sweep out: a list of grids of axes, each by its name, with what it sets and its values.

    Raises:
        ValueError: an axis does not say what it sets.
    """
    if not sweep:
        return []
    grids = [sweep] if isinstance(sweep, Mapping) else sweep
    if not isinstance(grids, list | tuple) or not all(isinstance(grid, Mapping) and grid for grid in grids):
        raise ValueError("a mapping of parameters to values is wanted, or a list of such mappings")
    first: Plain = {}
    written = []
    for grid in grids:
        axes = {}
        for key, stated in grid.items():
            name = str(key).rpartition(".")[2].replace("_", "-").lower()
            axes[name] = _axis(str(key), stated, first.get(name))
        if first and axes.keys() != first.keys():
            odd = sorted(axes.keys() ^ first.keys())[0]
            raise ValueError(f"'{odd}' stands in some of the grids only; each grid states all")
        first = first or axes
        written.append({name: axes[name] for name in first})
    return written


def _axis(key: str, stated: Any, before: Any) -> Any:
    if isinstance(stated, Mapping) and "of" in stated:
        return stated
    values = stated.get("values", stated) if isinstance(stated, Mapping) else stated
    if "." in key:
        return {"of": [key], "values": values}
    if before is None:
        raise ValueError(f"'{key}' does not say what it sets: {{of: problems.LABEL.PARAMETER, values: [...]}}")
    return {"of": before["of"], "values": values}


def _number(value: object) -> Any:
    """Return the number that a text stands for: in YAML 1e-4 is text."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


def _piece(value: object) -> str:
    """Write a value as a part of a label: 0.1 as 0p1, -1 as m1."""
    value = _number(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float) and math.isfinite(value):
        mantissa, _, exponent = f"{value:.12g}".partition("e")
        written = mantissa + (f"e{int(exponent)}" if exponent else "")
        return written.replace("-", "m").replace(".", "p")
    piece = re.sub(r"[^a-z0-9]+", "-", value.lower()).strip("-") if isinstance(value, str) else ""
    if not piece:
        raise ValueError("what is neither a number nor a word needs a name: a mapping of names to values")
    return piece
