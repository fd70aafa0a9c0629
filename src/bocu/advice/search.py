"""Which decision is best: the objective over payoff tables of the model, and a search among candidates."""

import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from bocu.advice.choices import Allowed, OneOfNames
from bocu.advice.logs import rows_of_a_fit
from bocu.advice.outcomes import Combined
from bocu.core.ties import first_best
from bocu.robust.ambiguity.base import AmbiguitySet, worst_case
from bocu.robust.ambiguity.conditional_value_at_risk import ConditionalValueAtRisk
from bocu.robust.ambiguity.total_variation import TotalVariation

#: A decision differs from another where a number is this share of its range away, or a name is another.
DIFFERENT = 0.1

#: Logged decisions among the candidates; of more so many, spread over time and decisions.
MOST_LOGGED = 2000

#: Standard deviations above the mean that exploring hopes for.
HOPE = 2.0

#: Parts of the radius that prices are told for, and levels of `cvar`, from the smallest set on.
_PARTS = (0.0, 0.25, 0.5, 1.0, 2.0)
_LEVELS = (1.0, 0.75, 0.5, 0.25, 0.1)

#: Two distributions of no context in common differ by so much in total.
_LARGEST_CHANGE = 2.0

_LARGEST_STEP, _SMALLEST_STEP = 1 / 16, 1e-4

#: What worst expectations are off by, as a share of their range, at most.
_ROUNDING = 1e-6

Measure = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Rule:
    """The objective, and the set that guarantees are told for."""

    objective: str  #: "dro", "so", "ro" or "cvar".
    ambiguity: AmbiguitySet | None  #: None where no set was asked for.
    weights: np.ndarray  #: of the forecast's contexts, shape (C,).
    #: of each context, (C,), where the set is one of distributions over cells; None: over contexts.
    cells: np.ndarray | None = None
    #: the rule that decides, where that is another than the one that guarantees are told for.
    decides: "Rule | None" = None

    @functools.cached_property
    def _owners(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights of contexts within each cell, (C, cells), and of cells, (cells,)."""
        assert self.cells is not None
        owners = np.zeros((len(self.cells), int(self.cells.max()) + 1))
        owners[np.arange(len(self.cells)), self.cells] = self.weights
        shares = owners.sum(axis=0)
        return owners / np.where(shares > 0.0, shares, 1.0), shares

    @property
    def has_worst(self) -> bool:
        """Whether there is a worst distribution."""
        return self.ambiguity is not None or self.objective == "ro"

    @property
    def size(self) -> float | None:
        """Radius of the set or level of `cvar`; None without a set."""
        if self.ambiguity is None:
            return None
        if isinstance(self.ambiguity, ConditionalValueAtRisk):
            return self.ambiguity.alpha
        return self.ambiguity.epsilon

    @property
    def _end(self) -> float:
        """Radius from which on a set has all distributions."""
        ends = isinstance(self.ambiguity, TotalVariation)
        return max(_LARGEST_CHANGE, self.size or 0.0) if ends else math.inf

    def sizes(self) -> list["Rule"]:
        """Return the worst expectation over smaller and larger sets, this one among them; none without a set."""
        here = self.size or 0.0
        return self._over(sorted({*_LEVELS, here}, reverse=True), sorted(part * here for part in _PARTS))

    def at_sizes(self, count: int, farthest: float) -> list["Rule"]:
        """Return the worst expectation over `count` sets from radius 0 to `farthest` times this one's.

        Of `cvar` they are levels from 1 down. Without a set there are none.
        """
        here = self.size or 1.0
        end = min(farthest * (self.size or 0.0), self._end)
        return self._over(np.linspace(1.0, here / farthest, count), np.linspace(0.0, end, count))

    def _over(self, levels: Iterable[float], radii: Iterable[float]) -> list["Rule"]:
        """Return the worst expectation at levels of `cvar`, else over sets of different radii; none without a set."""
        here = self.ambiguity
        if here is None:
            return []
        sets: list[AmbiguitySet]
        if isinstance(here, ConditionalValueAtRisk):
            sets = [ConditionalValueAtRisk(float(level)) for level in levels]
        else:
            sets = [here.with_epsilon(float(radius)) for radius in sorted({min(radius, self._end) for radius in radii})]
        return [Rule("dro", ambiguity, self.weights, self.cells) for ambiguity in sets]

    def values(self, payoffs: np.ndarray) -> np.ndarray:
        """Return the objective (n,) of payoffs (n, C)."""
        if self.decides is not None:
            return self.decides.values(payoffs)
        return payoffs @ self.weights if self.objective == "so" else self.lowest(payoffs)

    def lowest(self, payoffs: np.ndarray) -> np.ndarray:
        """Return worst expectations (n,) of payoffs (n, C)."""
        if self.ambiguity is None:
            return np.asarray(payoffs.min(axis=1))
        if self.cells is not None:
            owners, shares = self._owners
            return self.ambiguity.values(payoffs @ owners, shares)[0]
        return self.ambiguity.values(payoffs, self.weights)[0]

    def worst(self, payoffs: np.ndarray) -> np.ndarray:
        """Return worst distributions (n, C) of payoffs (n, C)."""
        if self.ambiguity is None:
            return (np.arange(payoffs.shape[1]) == payoffs.argmin(axis=1)[:, None]).astype(float)
        if self.cells is not None:
            owners, shares = self._owners
            return worst_case(payoffs @ owners, shares, self.ambiguity).distribution @ owners.T
        return np.asarray(worst_case(payoffs, self.weights, self.ambiguity).distribution)

    def pursued(self, payoffs: np.ndarray) -> np.ndarray:
        """Return the distributions (n, C) that the objective of payoffs (n, C) is an expectation under."""
        if self.decides is not None:
            return self.decides.pursued(payoffs)
        return np.broadcast_to(self.weights, payoffs.shape) if self.objective == "so" else self.worst(payoffs)


class Search:
    """Decisions worth a look, those that were logged within bounds among them, and the best by any measure.

    A measure takes decisions (n, d) and returns numbers (n,), to be maximised.

    Args:
        learnt: the model.
        rule: what is best.
        allowed: what may be suggested; left out, all within bounds.

    Attributes:
        pool: candidates, shape (n, d).
    """

    def __init__(self, learnt: Combined, rule: Rule, allowed: Allowed | None = None) -> None:
        self.learnt = learnt
        self.rule = rule
        self.allowed = Allowed(learnt.decisions) if allowed is None else allowed
        logged = learnt.log.decisions
        self.pool = self.allowed.pool(logged[rows_of_a_fit(logged, MOST_LOGGED)])

    def payoffs(self, values: np.ndarray) -> np.ndarray:
        """Return expected payoffs (n, C) of decisions (n, d)."""
        return self._of_pool if values is self.pool else self.learnt.means(values)

    @functools.cached_property
    def _of_pool(self) -> np.ndarray:
        return self.learnt.means(self.pool)

    def expectations(self, values: np.ndarray) -> np.ndarray:
        """Measure the expectation under the forecast."""
        return self.payoffs(values) @ self.rule.weights

    def values(self, values: np.ndarray) -> np.ndarray:
        """Measure the objective."""
        return self.rule.values(self.payoffs(values))

    def lowest_by(self, rule: Rule) -> Measure:
        """Return the measure of what decisions guarantee under another rule."""
        return lambda values: rule.lowest(self.payoffs(values))

    def optimism(self, values: np.ndarray) -> np.ndarray:
        """Measure what the objective may yet turn out to be.

        It is the expectation under the distribution q that is worst for the expected payoffs, and `HOPE` standard
        deviations of that expectation. No payoff function whose expectation under q lies below has an objective above.
        """
        payoffs = self.payoffs(values)
        spreads = self.learnt.spreads(values, self.rule.pursued(payoffs))
        return self.rule.values(payoffs) + HOPE * spreads

    def best(self, measure: Measure) -> np.ndarray:
        """Return the decision (d,) of highest measure: of the candidates, then of ever closer neighbours."""
        return self._refined(measure, self._values_of_pool if measure == self.values else measure(self.pool))

    def best_by_size(self) -> list[tuple[Rule, np.ndarray]]:
        """Return the decision (d,) of best guarantee over smaller and larger sets, this rule's among them, in order.

        A larger set guarantees no more: whoever guarantees less over the set before than somebody does over this one
        is not asked.
        """
        found = []
        most = self.expectations(self.pool)
        for rule in self.rule.sizes():
            top = first_best(most)
            least = rule.lowest(self._of_pool[top : top + 1])[0]
            left = np.flatnonzero(most >= least - _ROUNDING * (abs(least) + np.ptp(most)))
            most = np.full(len(most), -np.inf)
            most[left] = rule.lowest(self._of_pool[left])
            found.append((rule, self._refined(self.lowest_by(rule), most)))
        return found

    @functools.cached_property
    def _values_of_pool(self) -> np.ndarray:
        return self.values(self.pool)

    def _refined(self, measure: Measure, found: np.ndarray) -> np.ndarray:
        """Return the decision (d,) that ever smaller steps lead to from the best of what candidates measure (n,)."""
        best = first_best(found)
        at, top = self.pool[best], float(found[best])
        step = _LARGEST_STEP
        while step > _SMALLEST_STEP:
            near = self.allowed.neighbours(at, step)
            values = np.append(top, measure(near) if len(near) else [])
            if best := first_best(values):
                at, top = near[best - 1], float(values[best])
            else:
                step /= 2.0
        return at

    def apart(self, value: np.ndarray) -> np.ndarray | None:
        """Return the best candidate by the objective that differs from a decision (d,); None where none does."""
        differs = np.zeros(len(self.pool), dtype=bool)
        for i, part in enumerate(self.learnt.decisions.parts):
            least = 0.5 if isinstance(part, OneOfNames) else DIFFERENT * part.span
            differs |= np.abs(self.pool[:, i] - value[i]) >= least
        found = np.where(differs, self._values_of_pool, -np.inf)
        return self.pool[first_best(found)] if differs.any() else None
