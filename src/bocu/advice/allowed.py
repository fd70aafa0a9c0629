"""What may be suggested: all within bounds, what keeps linear constraints too, or the alternatives of a list.

Constraints are as people write them, "staff + 2*shelf <= 10". A term is a decision that is a number, or `name:level` of
a choice of names: 1 where that name is taken, else 0. All constraints together are rows over the *terms* (E,) of a
decision: its numbers, then the indicators of its choices.
"""

import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bocu.advice.choices import SOBOL_POINTS, Decisions, OneOfNames, Range
from bocu.core.errors import BocuError, shown

#: What a side may miss its bound by, as a share of what its terms can amount to: rounding, no more.
_SLACK = 1e-9

_NUMBER = r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+"
_FORM = "a linear one such as 'staff + 2*shelf <= 10', of decisions that are numbers, or NAME:LEVEL of a choice"


@dataclass(frozen=True)
class LinearConstraints:
    """Rows `coefficients @ terms <= bounds`, or `==` where `equal`.

    Attributes:
        decisions: what is decided.
        texts: as they were written, (k,).
        coefficients: shape (k, E).
        bounds: shape (k,).
        equal: shape (k,), bool.
    """

    decisions: Decisions
    texts: tuple[str, ...]
    coefficients: np.ndarray
    bounds: np.ndarray
    equal: np.ndarray

    def met(self, values: np.ndarray) -> np.ndarray:
        """Return which of the constraints decisions (n, d) keep, (n, k)."""
        sides = terms(self.decisions, values) @ self.coefficients.T
        largest = np.array([max(abs(low), abs(high)) for low, high in _bounds(self.decisions)])
        slack = _SLACK * (np.abs(self.coefficients) @ largest + np.abs(self.bounds))
        over = sides - self.bounds
        return np.where(self.equal, np.abs(over) <= slack, over <= slack)


def terms(decisions: Decisions, values: np.ndarray) -> np.ndarray:
    """Return the terms (n, E) of decisions (n, d)."""
    numbers = [values[:, [i]] for i, part in enumerate(decisions.parts) if isinstance(part, Range)]
    names = [part.encode(values[:, i]) for i, part in enumerate(decisions.parts) if isinstance(part, OneOfNames)]
    return np.hstack([*numbers, *names])


def read_constraints(texts: Sequence[str], decisions: Decisions) -> LinearConstraints:
    """Read constraints.

    Raises:
        BocuError: one is not of the form, names what is no decision, or no decision keeps all of them.
    """
    rows, bounds, equal = [], [], []
    for text in texts:
        row, bound, is_equal = _read(text, decisions)
        rows.append(row)
        bounds.append(bound)
        equal.append(is_equal)
    found = LinearConstraints(decisions, tuple(texts), np.array(rows), np.array(bounds), np.array(equal, dtype=bool))
    if not len(extremes(found, 1)):
        raise BocuError(f"--constraint: no decision within its bounds keeps {' and '.join(map(shown, texts))}")
    return found


def extremes(constraints: LinearConstraints, count: int) -> np.ndarray:
    """Return decisions (n, d) that keep the constraints and lie farthest in as many directions as `count`, or none.

    Each solves a mixed-integer linear programme in a direction drawn from a fixed seed; the first direction is none.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    decisions = constraints.decisions
    low, high = (np.array(side) for side in zip(*_bounds(decisions), strict=True))
    numbers = [part for part in decisions.parts if isinstance(part, Range)]
    choices = [part for part in decisions.parts if isinstance(part, OneOfNames)]
    one_each = np.zeros((len(choices), len(low)))
    at = len(numbers)
    for row, part in zip(one_each, choices, strict=True):
        row[at : at + len(part.levels)] = 1.0
        at += len(part.levels)
    least = np.where(constraints.equal, constraints.bounds, -np.inf)
    kept = [LinearConstraint(constraints.coefficients, least, constraints.bounds)]
    if choices:
        kept.append(LinearConstraint(one_each, 1.0, 1.0))
    whole = np.array([*(part.whole for part in numbers), *(True for _ in range(len(low) - len(numbers)))], dtype=int)
    span = np.where(high > low, high - low, 1.0)
    world = np.random.default_rng(0)
    found = []
    for i in range(count):
        direction = world.normal(size=len(low)) / span if i else np.zeros(len(low))
        end = milp(direction, integrality=whole, bounds=Bounds(low, high), constraints=kept)
        if end.x is None:
            break
        found.append(_decision(decisions, np.where(whole, np.round(end.x), end.x)))
    return np.array(found).reshape(-1, len(decisions.parts))


def _decision(decisions: Decisions, point: np.ndarray) -> np.ndarray:
    """Return the decision (d,) of terms (E,)."""
    number, name = 0, sum(isinstance(part, Range) for part in decisions.parts)
    found = []
    for part in decisions.parts:
        if isinstance(part, Range):
            found.append(float(point[number]))
            number += 1
        else:
            found.append(float(np.argmax(point[name : name + len(part.levels)])))
            name += len(part.levels)
    return np.array(found)


def _bounds(decisions: Decisions) -> list[tuple[float, float]]:
    numbers = [(part.low, part.high) for part in decisions.parts if isinstance(part, Range)]
    return numbers + [(0.0, 1.0) for part in decisions.parts if isinstance(part, OneOfNames) for _ in part.levels]


def _columns(decisions: Decisions) -> dict[str, int]:
    """Return the place of each term by its name."""
    names = [part.name for part in decisions.parts if isinstance(part, Range)]
    for part in decisions.parts:
        if isinstance(part, OneOfNames):
            names += [f"{part.name}:{level}" for level in part.levels]
    return {name: i for i, name in enumerate(names)}


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
    columns = _columns(decisions)
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


class Allowed(ABC):
    """Decisions that may be suggested."""

    @abstractmethod
    def pool(self, logged: np.ndarray) -> np.ndarray:
        """Return different decisions (n, d) that cover all there are, among them those of logged ones (t, d)."""

    @abstractmethod
    def neighbours(self, value: np.ndarray, share: float) -> np.ndarray:
        """Return decisions (n, d) one step from a decision (d,): a share of a range, a whole number, another name."""


class Free(Allowed):
    """All within bounds."""

    def __init__(self, decisions: Decisions) -> None:
        self.decisions = decisions

    def pool(self, logged: np.ndarray) -> np.ndarray:
        """Return candidates, and what was logged within bounds."""
        return np.unique(np.vstack([self.decisions.candidates(), logged[self.decisions.inside(logged)]]), axis=0)

    def neighbours(self, value: np.ndarray, share: float) -> np.ndarray:
        """Return decisions that differ in one part."""
        return self.decisions.neighbours(value, share)


class Constrained(Allowed):
    """What keeps linear constraints.

    Where a grid has next to no decisions that do, they are mixed from extreme ones, which a mixed-integer linear
    programme finds. Steps go along single decisions, along each constraint and along all that are equations, so that a
    decision at a bound moves along it.
    """

    def __init__(self, constraints: LinearConstraints) -> None:
        self.constraints = constraints
        self.decisions = constraints.decisions
        self._numbers = [i for i, part in enumerate(self.decisions.parts) if isinstance(part, Range)]
        self._directions = self._along()
        self._exchanges = self._exchanged()

    def pool(self, logged: np.ndarray) -> np.ndarray:
        """Return candidates and logged decisions that keep the constraints, and mixtures where they are few."""
        kept = self._kept(np.vstack([self.decisions.candidates(), logged]))
        ends = extremes(self.constraints, _EXTREMES)
        more = self._mixed(ends) if len(kept) < _ENOUGH else ends
        return np.unique(np.vstack([kept, self._kept(more)]), axis=0)

    def neighbours(self, value: np.ndarray, share: float) -> np.ndarray:
        """Return decisions that keep the constraints, one step along."""
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

    def _along(self) -> np.ndarray:
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

    def _exchanged(self) -> np.ndarray:
        """Return steps (m, d) that change two whole numbers at once, each by one or two."""
        whole = [i for i, part in enumerate(self.decisions.parts) if isinstance(part, Range) and part.whole]
        steps = []
        for (a, b), by_a, by_b in itertools.product(itertools.combinations(whole, 2), _BY, _BY):
            step = np.zeros(len(self.decisions.parts))
            step[a], step[b] = by_a, by_b
            steps.append(step)
        return np.array(steps).reshape(-1, len(self.decisions.parts))


class Listed(Allowed):
    """The alternatives of a list, and nothing else.

    Args:
        values: shape (n, d).
    """

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def pool(self, logged: np.ndarray) -> np.ndarray:
        """Return the alternatives."""
        return np.unique(self.values, axis=0)

    def neighbours(self, value: np.ndarray, share: float) -> np.ndarray:
        """Return none: there is nothing beside the list."""
        return np.empty((0, len(value)))
