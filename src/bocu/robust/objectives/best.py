"""The best of some decisions, with its certificate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bocu.core.ties import first_best
from bocu.robust.ambiguity.checks import Floats


@dataclass(frozen=True, slots=True)
class Best:
    """The best decision, with its certificate.

    Attributes:
        index: position of the decision along the decisions' axis; the lowest on ties, see `bocu.core.ties`.
        value: its objective value, computed exactly.
        bound: no other decision is better than this; at most `value`, but for a tie or a tolerance that was asked for.
        solved: number of decisions whose value was computed, the others being excluded by bounds.
        highest: position of the very largest value, whether it ties with another or not.
    """

    index: int
    value: float
    bound: float
    solved: int
    highest: int


def best_of(values: Floats, size: float | None = None) -> Best:
    """The best of values `(decisions,)` that are all known; `size` as `first_best` has it."""
    index = first_best(values, size)
    value = float(values[index])
    others = values.copy()
    others[index] = -np.inf
    return Best(index, value, float(others.max()), len(values), int(values.argmax()))
