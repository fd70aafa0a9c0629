"""What may be suggested: all within bounds, what keeps constraints too, or the alternatives of a list."""

import itertools
from abc import ABC, abstractmethod

import numpy as np

from bocu.advice.choices import SOBOL_POINTS, Decisions, OneOfNames, Range
from bocu.advice.constraints import LinearConstraints, extremes

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
