"""Algorithms that learn nothing."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bocu.algorithms.base import Algorithm, Context, Decision, Description, Round
from bocu.domains import FiniteDomain
from bocu.parameters import Parameters as TypedParameters


class RandomParameters(TypedParameters):
    """Random has none."""


class Random(Algorithm):
    """A uniform draw from the available decisions. It recommends the decision of the highest payoff seen."""

    Parameters = RandomParameters

    def __init__(
        self, description: Description, objective: Any, parameters: TypedParameters, generator: np.random.Generator
    ) -> None:
        super().__init__(description, objective, parameters, generator)
        self._best_value = -np.inf
        self._best: Decision | None = None

    def ask(self, round: Round) -> Decision:
        domain = self.description.decisions
        if not isinstance(domain, FiniteDomain):
            return self.generator.uniform(domain.lower, domain.upper)
        if round.available is None:
            return int(self.generator.integers(domain.size))
        return int(round.available[self.generator.integers(len(round.available))])

    def tell(self, decision: Decision, context: Context, value: float) -> None:
        if value > self._best_value:
            self._best_value, self._best = float(value), decision

    def recommend(self) -> Decision:
        """Give the decision of the highest payoff seen; before any payoff the first decision of the space."""
        if self._best is not None:
            return self._best
        domain = self.description.decisions
        return 0 if isinstance(domain, FiniteDomain) else domain.lower.copy()

    def state(self) -> dict[str, Any]:
        return {} if self._best is None else {"best": self._best, "best_value": self._best_value}

    def restore(self, state: Mapping[str, Any]) -> None:
        best = state.get("best")
        finite = isinstance(self.description.decisions, FiniteDomain)
        self._best = None if best is None else int(best) if finite else np.asarray(best, dtype=float)
        self._best_value = float(state.get("best_value", -np.inf))
