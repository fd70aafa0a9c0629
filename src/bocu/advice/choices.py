"""What is decided: numbers in a range, whole numbers, and names to choose from.

A decision is a row of plain values (d,): numbers, and for a choice of names the position of the name. The model sees it
encoded (D,): numbers scaled to [0, 1] by their bounds, then choices as one column a name that is 1 where it is taken.
"""

import itertools
import math
import re
from dataclasses import dataclass

import numpy as np

from bocu.core.errors import BocuError, shown

#: Candidates: a grid where it has no more decisions, else so many Sobol points.
MOST_ON_A_GRID = 4096
SOBOL_POINTS = 2048
_POINTS_A_RANGE = (65, 33, 17)

_COMMAS_OUTSIDE_BRACES = re.compile(r",(?![^{}]*\})")


@dataclass(frozen=True)
class Range:
    """A number between two bounds.

    Attributes:
        whole: whether only whole numbers are allowed.
    """

    name: str
    low: float
    high: float
    whole: bool = False

    @property
    def span(self) -> float:
        """Upper less lower bound."""
        return self.high - self.low

    @property
    def width(self) -> int:
        """Columns that the model sees."""
        return 1

    @property
    def decimals(self) -> int:
        """Digits after the point that tell ten thousandths of the range apart; negative: of tens."""
        return 0 if self.whole else 4 - math.ceil(math.log10(self.span))

    def tidied(self, values: np.ndarray) -> np.ndarray:
        """Round values to `decimals` digits, within the bounds."""
        return np.clip(np.round(values, self.decimals), self.low, self.high)

    def spaced(self, points: int) -> np.ndarray:
        """Return at most so many values from bound to bound."""
        return np.unique(self.tidied(np.linspace(self.low, self.high, points)))

    def grid(self, points: int) -> np.ndarray:
        """Return all whole numbers, if a grid can hold them, or at most so many values from bound to bound."""
        if self.whole and self.span < MOST_ON_A_GRID:
            return np.arange(self.low, self.high + 1)
        return self.spaced(points)

    def at(self, shares: np.ndarray) -> np.ndarray:
        """Return the values at shares in [0, 1) of the range."""
        if self.whole:
            return self.low + np.floor(shares * (self.span + 1))
        return self.tidied(self.low + shares * self.span)

    def moved(self, value: float, share: float) -> np.ndarray:
        """Return the values one step either way: a share of the range, but at least 1 of whole numbers."""
        step = max(share * self.span, 1.0) if self.whole else share * self.span
        return self.tidied(value + step * np.array([-1.0, 1.0]))

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Scale values (n,) to (n, 1)."""
        return ((values - self.low) / self.span)[:, None]

    def shown(self, value: float) -> float | int:
        """Return a value as people read it."""
        return int(value) if self.whole else float(value)


@dataclass(frozen=True)
class OneOfNames:
    """One of several names."""

    name: str
    levels: tuple[str, ...]

    @property
    def width(self) -> int:
        """Columns that the model sees."""
        return len(self.levels)

    def spaced(self, points: int) -> np.ndarray:
        """Return the positions of all names, whatever the number of points."""
        return np.arange(float(len(self.levels)))

    def grid(self, points: int) -> np.ndarray:
        """Return the positions of all names, whatever the number of points."""
        return self.spaced(points)

    def at(self, shares: np.ndarray) -> np.ndarray:
        """Return positions at shares in [0, 1)."""
        return np.floor(shares * len(self.levels))

    def moved(self, value: float, share: float) -> np.ndarray:
        """Return the positions of all names, whatever the share."""
        return self.grid(0)

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Return one column a name (n, names), 1 where it is taken."""
        return (values[:, None] == np.arange(len(self.levels))).astype(float)

    def shown(self, value: float) -> str:
        """Return the name at a position."""
        return self.levels[int(value)]


@dataclass(frozen=True)
class Decisions:
    """All that is decided together."""

    parts: tuple[Range | OneOfNames, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each part."""
        return tuple(part.name for part in self.parts)

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Return what the model sees (n, D) of decisions (n, d)."""
        return np.hstack([self.parts[i].encode(values[:, i]) for i in self._coded])

    def columns(self, part: int) -> slice:
        """Return the columns of what the model sees that a part has."""
        before = self._coded[: self._coded.index(part)]
        start = sum(self.parts[i].width for i in before)
        return slice(start, start + self.parts[part].width)

    @property
    def _coded(self) -> list[int]:
        """Parts in the order of their columns: numbers first."""
        return sorted(range(len(self.parts)), key=lambda i: isinstance(self.parts[i], OneOfNames))

    def shown(self, value: np.ndarray) -> dict[str, float | int | str]:
        """Return one decision (d,) by name, as people read it."""
        return {part.name: part.shown(entry) for part, entry in zip(self.parts, value, strict=True)}

    def inside(self, values: np.ndarray) -> np.ndarray:
        """Return which decisions (n, d) lie within all bounds, (n,)."""
        within = np.ones(len(values), dtype=bool)
        for i, part in enumerate(self.parts):
            if isinstance(part, Range):
                within &= (part.low <= values[:, i]) & (values[:, i] <= part.high)
        return within

    def candidates(self) -> np.ndarray:
        """Return decisions (n, d) that cover all there are: a grid, or Sobol points where a grid is too large."""
        for points in _POINTS_A_RANGE:
            grids = [part.grid(points) for part in self.parts]
            if math.prod(len(grid) for grid in grids) <= MOST_ON_A_GRID:
                return np.array(list(itertools.product(*grids)))
        from scipy.stats import qmc

        shares = qmc.Sobol(len(self.parts), rng=np.random.default_rng(0)).random(SOBOL_POINTS)
        return np.unique(np.stack([part.at(shares[:, i]) for i, part in enumerate(self.parts)], axis=1), axis=0)

    def neighbours(self, value: np.ndarray, share: float) -> np.ndarray:
        """Return decisions (n, d) one step away in one part: a share of its range, whole numbers, another name."""
        found = []
        for i, part in enumerate(self.parts):
            found += [[*value[:i], step, *value[i + 1 :]] for step in part.moved(value[i], share) if step != value[i]]
        return np.array(found).reshape(-1, len(self.parts))


def read_decisions(text: str) -> Decisions:
    """Read "price:1..20,staff:int:1..8,shelf:{low,high}".

    Raises:
        BocuError: it is not of that form, a name stands twice, or a range is empty.
    """
    parts = tuple(_part(entry.strip()) for entry in _COMMAS_OUTSIDE_BRACES.split(text))
    for i, part in enumerate(parts):
        if part.name in {other.name for other in parts[:i]}:
            raise BocuError(f"--decisions: '{part.name}' stands twice")
    return Decisions(parts)


def _part(entry: str) -> Range | OneOfNames:
    name, _, domain = (side.strip() for side in entry.partition(":"))
    if name and domain.startswith("{") and domain.endswith("}"):
        levels = tuple(level.strip() for level in domain[1:-1].split(","))
        if len(set(levels)) != len(levels) or len(levels) < 2 or "" in levels:
            raise BocuError(f"--decisions: {name}: found {shown(domain)}; allowed: two different names or more")
        return OneOfNames(name, levels)
    kind, _, bounds = domain.rpartition(":")
    low, dots, high = bounds.partition("..")
    if not name or not dots or kind.strip() not in ("", "int", "float"):
        raise BocuError(f"--decisions: found {shown(entry)}; allowed: NAME:1..20, NAME:int:1..8 or NAME:{{low,high}}")
    try:
        found = Range(name, float(low), float(high), kind.strip() == "int")
    except ValueError:
        raise BocuError(f"--decisions: {name}: found {shown(bounds)}; allowed: two numbers, as 1..20") from None
    if not (math.isfinite(found.low) and math.isfinite(found.high) and found.low < found.high):
        raise BocuError(f"--decisions: {name}: found {shown(bounds)}; the second number must exceed the first")
    if found.whole and not (found.low.is_integer() and found.high.is_integer()):
        raise BocuError(f"--decisions: {name}: found {shown(bounds)}; bounds of whole numbers are whole")
    return found
