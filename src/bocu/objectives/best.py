"""The best of some decisions, with its certificate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bocu.ambiguity.checks import Floats


@dataclass(frozen=True, slots=True)
class Best:
    """The best decision, with its certificate.

    Attributes:
        index: position of the decision along the decisions' axis; the lowest on ties.
        value: its objective value, computed exactly.
        bound: no other decision is better than this; at most `value` unless a tolerance was asked for.
        solved: number of decisions whose value was computed, the others being excluded by bounds.
    """

    index: int
    value: float
    bound: float
    solved: int


def best_of(values: Floats) -> Best:
    """The best of values `(decisions,)` that are all known."""
    index = int(values.argmax())
    value = float(values[index])
    others = values.copy()
    others[index] = -np.inf
    return Best(index, value, float(others.max()), len(values))
