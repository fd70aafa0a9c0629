"""What is decided, and what of it may be suggested: all within bounds, what keeps constraints too, or a list.

A decision is a row of plain values (d,): numbers, and for a choice of names the position of the name. Its *terms* (D,)
are its numbers, then for each choice one column a name that is 1 where it is taken; the model sees them scaled to
[0, 1] by their bounds. Constraints are linear in terms, and as people write them, "staff + 2*shelf:high <= 10".
"""

import functools
import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bocu.core.errors import BocuError, shown

#: Candidates: a grid where it has no more decisions, else so many Sobol points.
MOST_ON_A_GRID = 4096
SOBOL_POINTS = 2048
_POINTS_A_RANGE = (65, 33, 17)

_COMMAS_OUTSIDE_BRACES = re.compile(r",(?![^{}]*\})")
_NUMBER = r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+"
_FORM = "a linear one such as 'staff + 2*shelf <= 10', of decisions that are numbers, or NAME:LEVEL of a choice"


@dataclass(frozen=True)
class Range:
    """A number between two bounds."""

    name: str
    low: float
    high: float
    whole: bool = False  #: whether only whole numbers are allowed.

    @property
    def span(self) -> float:
        """Upper less lower bound."""
        return self.high - self.low

    @property
    def terms(self) -> dict[str, tuple[float, float]]:
        """Bounds of its term, by name."""
        return {self.name: (self.low, self.high)}

    def tidied(self, values: np.ndarray) -> np.ndarray:
        """Round values to whole numbers or to what tells ten thousandths of the range apart, within the bounds."""
        decimals = 0 if self.whole else 4 - math.ceil(math.log10(self.span))
        return np.clip(np.round(values, decimals), self.low, self.high)

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

    def columns(self, values: np.ndarray) -> np.ndarray:
        """Return the term (n, 1) of values (n,)."""
        return values[:, None]

    def value(self, terms: np.ndarray) -> float:
        """Return the value of its term (1,)."""
        return float(terms[0])

    def shown(self, value: float) -> float | int:
        """Return a value as people read it."""
        return int(value) if self.whole else float(value)


@dataclass(frozen=True)
class OneOfNames:
    """One of several names."""

    name: str
    levels: tuple[str, ...]

    @property
    def terms(self) -> dict[str, tuple[float, float]]:
        """Bounds of its terms, by name."""
        return {f"{self.name}:{level}": (0.0, 1.0) for level in self.levels}

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

    def columns(self, values: np.ndarray) -> np.ndarray:
        """Return the terms (n, names) of positions (n,): 1 where a name is taken."""
        return (values[:, None] == np.arange(len(self.levels))).astype(float)

    def value(self, terms: np.ndarray) -> float:
        """Return the position of the name that its terms (names,) take."""
        return float(np.argmax(terms))

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

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """Bounds of all terms (D,), by name."""
        return {name: bounds for i in self._coded for name, bounds in self.parts[i].terms.items()}

    def terms(self, values: np.ndarray) -> np.ndarray:
        """Return the terms (n, D) of decisions (n, d)."""
        return np.hstack([self.parts[i].columns(values[:, i]) for i in self._coded])

    def of_terms(self, terms: np.ndarray) -> np.ndarray:
        """Return the decision (d,) of terms (D,)."""
        return np.array([part.value(terms[self.columns(i)]) for i, part in enumerate(self.parts)])

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Return what the model sees (n, D) of decisions (n, d)."""
        low, high = np.array(list(self.bounds.values())).T
        return (self.terms(values) - low) / (high - low)

    def columns(self, part: int) -> slice:
        """Return the columns of the terms that a part has."""
        before = self._coded[: self._coded.index(part)]
        start = sum(len(self.parts[i].terms) for i in before)
        return slice(start, start + len(self.parts[part].terms))

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


#: What a side may miss its bound by, as a share of what its terms can amount to: rounding, no more.
_SLACK = 1e-9


@dataclass(frozen=True)
class LinearConstraints:
    """Rows `coefficients @ terms <= bounds`, or `==` where `equal`."""

    decisions: Decisions  #: what is decided.
    texts: tuple[str, ...]  #: as they were written, (k,).
    coefficients: np.ndarray  #: shape (k, E).
    bounds: np.ndarray  #: shape (k,).
    equal: np.ndarray  #: shape (k,), bool.

    def met(self, values: np.ndarray) -> np.ndarray:
        """Return which of the constraints decisions (n, d) keep, (n, k)."""
        sides = self.decisions.terms(values) @ self.coefficients.T
        largest = np.abs(list(self.decisions.bounds.values())).max(axis=1)
        slack = _SLACK * (np.abs(self.coefficients) @ largest + np.abs(self.bounds))
        over = sides - self.bounds
        return np.where(self.equal, np.abs(over) <= slack, over <= slack)


def read_constraints(texts: Sequence[str], decisions: Decisions) -> LinearConstraints:
    """Read constraints.

    Raises:
        BocuError: one is not of the form, names what is no decision, or no decision keeps all of them.
    """
    sides = map(np.array, zip(*(_read(text, decisions) for text in texts), strict=True))
    found = LinearConstraints(decisions, tuple(texts), *sides)
    if not len(extremes(found, 1)):
        raise BocuError(f"--constraint: no decision within its bounds keeps {' and '.join(map(shown, texts))}")
    return found


def extremes(constraints: LinearConstraints, count: int) -> np.ndarray:
    """Return decisions (n, d) that keep the constraints and lie farthest in as many directions as `count`, or none.

    Each solves a mixed-integer linear programme in a direction drawn from a fixed seed; the first direction is none.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    decisions = constraints.decisions
    low, high = np.array(list(decisions.bounds.values())).T
    least = np.where(constraints.equal, constraints.bounds, -np.inf)
    kept = [LinearConstraint(constraints.coefficients, least, constraints.bounds)]
    whole, one_each = np.ones(len(low), dtype=int), []
    for i, part in enumerate(decisions.parts):
        if isinstance(part, Range):
            whole[decisions.columns(i)] = part.whole
        else:
            one_each.append(np.isin(np.arange(len(low)), np.r_[decisions.columns(i)]))
    if one_each:
        kept.append(LinearConstraint(np.array(one_each, dtype=float), 1.0, 1.0))
    span = np.where(high > low, high - low, 1.0)
    world = np.random.default_rng(0)
    found = []
    for i in range(count):
        direction = world.normal(size=len(low)) / span if i else np.zeros(len(low))
        end = milp(direction, integrality=whole, bounds=Bounds(low, high), constraints=kept)
        if end.x is None:
            break
        found.append(decisions.of_terms(np.where(whole, np.round(end.x), end.x)))
    return np.array(found).reshape(-1, len(decisions.parts))


def _read(text: str, decisions: Decisions) -> tuple[np.ndarray, float, bool]:
    """Return one row (E,), its upper bound, and whether it is to be met exactly."""
    sides = re.split(r"(<=|>=|==|=|≤|≥)", text)
    if len(sides) != 3:
        raise BocuError(f"--constraint: found {shown(text)}; allowed: {_FORM}, with one of <=, >= and =")
    (row, constant), (other, bound) = (_side(side, text, decisions) for side in (sides[0], sides[2]))
    row, bound = row - other, bound - constant
    if not row.any():
        raise BocuError(f"--constraint: found {shown(text)}, which no decision changes; allowed: {_FORM}")
    if sides[1] in (">=", "≥"):
        row, bound = -row, -bound
    return row, bound, sides[1] in ("=", "==")


def _side(side: str, text: str, decisions: Decisions) -> tuple[np.ndarray, float]:
    """Return the coefficients (E,) and the constant of one side."""
    columns = {name: i for i, name in enumerate(decisions.bounds)}
    names = "|".join(re.escape(name) for name in sorted(columns, key=len, reverse=True))
    term = re.compile(
        rf"\s*(?P<sign>[+-])?\s*(?:(?P<factor>{_NUMBER})\s*\*\s*)?"
        rf"(?:(?P<name>{names})(?![\w:])(?:\s*(?P<by>[*/])\s*(?P<share>{_NUMBER}))?|(?P<number>{_NUMBER}))\s*"
    )
    row, constant, at = np.zeros(len(columns)), 0.0, 0
    while at < len(side.strip()) or at == 0:
        found = term.match(side.strip(), at)
        if found is None or (at and not found["sign"]):
            raise BocuError(
                f"--constraint: found {shown(text)}, not understood at {shown(side.strip()[at:])}; allowed: {_FORM}; "
                f"terms here: {', '.join(columns)}"
            )
        value = (-1.0 if found["sign"] == "-" else 1.0) * float(found["factor"] or 1.0)
        if found["name"]:
            share = float(found["share"] or 1.0)
            if share == 0.0 and found["by"] == "/":
                raise BocuError(f"--constraint: found {shown(text)}; nothing is divided by 0")
            row[columns[found["name"]]] += value / share if found["by"] == "/" else value * share
        else:
            constant += value * float(found["number"])
        at = found.end()
    return row, constant


#: Extreme decisions under constraints, and the least number of candidates that a grid must leave to be enough.
_EXTREMES, _ENOUGH = 64, 512

#: What two whole numbers are changed by at once.
_BY = (-2.0, -1.0, 1.0, 2.0)


class Allowed:
    """Decisions that may be suggested: all within bounds."""

    def __init__(self, decisions: Decisions) -> None:
        self.decisions = decisions

    def pool(self, logged: np.ndarray) -> np.ndarray:
        """Return different decisions (n, d) that cover all there are, among them those of logged ones (t, d)."""
        return np.unique(np.vstack([self.decisions.candidates(), logged[self.decisions.inside(logged)]]), axis=0)

    def neighbours(self, value: np.ndarray, share: float) -> np.ndarray:
        """Return decisions (n, d) one step from a decision (d,): a share of a range, a whole number, another name."""
        return self.decisions.neighbours(value, share)


class Constrained(Allowed):
    """What keeps linear constraints.

    Where a grid has next to no decisions that do, they are mixed from extreme ones, which a mixed-integer linear
    programme finds. Steps go along single decisions, along each constraint and along all that are equations, so that a
    decision at a bound moves along it.
    """

    def __init__(self, constraints: LinearConstraints) -> None:
        super().__init__(constraints.decisions)
        self.constraints = constraints
        self._numbers = [i for i, part in enumerate(self.decisions.parts) if isinstance(part, Range)]

    def pool(self, logged: np.ndarray) -> np.ndarray:
        """Return candidates and logged decisions that keep the constraints, and mixtures where they are few."""
        kept = self._kept(np.vstack([self.decisions.candidates(), logged]))
        ends = extremes(self.constraints, _EXTREMES)
        more = self._mixed(ends) if len(kept) < _ENOUGH else ends
        return np.unique(np.vstack([kept, self._kept(more)]), axis=0)

    def neighbours(self, value: np.ndarray, share: float) -> np.ndarray:
        near = [self.decisions.neighbours(value, share)]
        for direction in self._directions:
            for step in (share * direction, -share * direction):
                moved = value.copy()
                moved[self._numbers] += step
                near.append(self._rounded(moved[None]))
        near.append(value + self._exchanges)
        found = self._kept(np.vstack(near))
        return found[(found != value).any(axis=1)]

    def _kept(self, values: np.ndarray) -> np.ndarray:
        inside = values[self.decisions.inside(values)]
        return inside[self.constraints.met(inside).all(axis=1)]

    def _rounded(self, values: np.ndarray) -> np.ndarray:
        rounded = values.copy()
        for i, part in enumerate(self.decisions.parts):
            if isinstance(part, Range) and part.whole:
                rounded[:, i] = np.round(values[:, i])
        return rounded

    def _mixed(self, ends: np.ndarray) -> np.ndarray:
        """Return extreme decisions (n, d) and mixtures of pairs and triples of those that have the same names."""
        names = [i for i, part in enumerate(self.decisions.parts) if isinstance(part, OneOfNames)]
        world = np.random.default_rng(0)
        found = [ends]
        for group in np.unique(ends[:, names], axis=0):
            alike = ends[(ends[:, names] == group).all(axis=1)]
            picked = alike[world.integers(len(alike), size=(SOBOL_POINTS, 3))]
            shares = world.dirichlet(np.ones(3), SOBOL_POINTS)
            shares[::2, 2] = 0.0
            shares /= shares.sum(axis=1, keepdims=True)
            found.append(self._rounded(np.einsum("nk,nkd->nd", shares, picked)))
        return np.vstack(found)

    @functools.cached_property
    def _directions(self) -> np.ndarray:
        """Return directions (m, numbers), a whole range long at most."""
        spans = np.array([part.span for part in self.decisions.parts if isinstance(part, Range)])
        count = len(spans)
        rows = self.constraints.coefficients[:, :count] * spans
        groups = [rows[[k]] for k in range(len(rows))]
        if self.constraints.equal.sum() > 1:
            groups.append(rows[self.constraints.equal])
        found = [direction for group in groups for direction in np.eye(count) - np.linalg.pinv(group) @ group]
        largest = np.abs(np.array(found)).max(axis=1, keepdims=True) if found else np.ones((0, 1))
        scaled = np.array(found).reshape(-1, count) / np.maximum(largest, 1e-12)
        return scaled[(largest > 1e-9).ravel()] * spans

    @functools.cached_property
    def _exchanges(self) -> np.ndarray:
        """Return steps (m, d) that change two whole numbers at once, each by one or two."""
        whole = [i for i, part in enumerate(self.decisions.parts) if isinstance(part, Range) and part.whole]
        steps = []
        for (a, b), by_a, by_b in itertools.product(itertools.combinations(whole, 2), _BY, _BY):
            step = np.zeros(len(self.decisions.parts))
            step[a], step[b] = by_a, by_b
            steps.append(step)
        return np.array(steps).reshape(-1, len(self.decisions.parts))


class Listed(Allowed):
    """The alternatives (n, d) of a list, and nothing else."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def pool(self, logged: np.ndarray) -> np.ndarray:
        return np.unique(self.values, axis=0)

    def neighbours(self, value: np.ndarray, share: float) -> np.ndarray:
        return np.empty((0, len(value)))


def what_is_allowed(
    decisions: Decisions, offered: Mapping[str, np.ndarray], constraints: Sequence[str]
) -> tuple[Allowed, Callable[[np.ndarray], list[str]]]:
    """Return what may be suggested, and what there is to say of logged decisions (t, d) under the constraints.

    Where no alternatives (d,) are offered it is all within bounds.

    Raises:
        BocuError: a constraint is not understood, or nothing keeps them all.
    """
    listed = np.array(list(offered.values()))
    if not constraints:
        return Listed(listed) if offered else Allowed(decisions), lambda logged: []
    stated = read_constraints(constraints, decisions)

    def broken(logged: np.ndarray) -> list[str]:
        kept = stated.met(logged)
        return [
            f"{(~kept[:, k]).sum()} of {len(kept)} logged decisions do not keep '{text}'; learnt from, never suggested"
            for k, text in enumerate(stated.texts)
            if not kept[:, k].all()
        ]

    if not offered:
        return Constrained(stated), broken
    left = listed[stated.met(listed).all(axis=1)]
    if not len(left):
        raise BocuError(f"--alternatives: none of {len(listed)} keeps {' and '.join(map(shown, constraints))}")
    return Listed(left), broken
