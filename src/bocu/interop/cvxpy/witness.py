"""Looking on while worst cases are solved, and keeping some of them to be solved again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.learners.acquisition.functionals import SampledTotalVariation
from bocu.robust.ambiguity.base import AmbiguitySet
from bocu.robust.ambiguity.total_variation import TotalVariation

if TYPE_CHECKING:
    from bocu.robust.ambiguity.checks import Floats


@dataclass(frozen=True, slots=True)
class Case:
    """A worst case as it was solved.

    Attributes:
        ambiguity_set: the set at its radius.
        payoffs: (n,).
        reference: (n,).
        value: the answer, in units of the payoffs.
    """

    ambiguity_set: AmbiguitySet
    payoffs: Floats
    reference: Floats
    value: float


def varies(payoffs: Floats) -> bool:
    """Whether payoffs (n,) span more than a millionth of their size: below, rounding is seen in shares of the range."""
    return float(np.ptp(payoffs)) > 1e-6 * float(np.abs(payoffs).max())


class Witness:
    """Keeps some of the worst cases that are solved while it looks on, all with the same chance.

    Passed by are sets at radius 0, where the value is the expectation, and payoffs that hardly vary.

    Args:
        most: how many to keep.
        generator: draws which.
    """

    def __init__(self, most: int, generator: np.random.Generator) -> None:
        self.cases: list[Case] = []
        self.seen = 0
        self._most, self._generator = most, generator

    @contextlib.contextmanager
    def looking(self) -> Iterator[None]:
        """Look on, as long as the block lasts."""
        solve, values_at, sampled = AmbiguitySet.solve_rows, AmbiguitySet.solved_at, SampledTotalVariation.__call__

        def solve_seen(own: AmbiguitySet, payoffs: Any, reference: Any, leading: Any, wanted: Any) -> Any:
            asked, found = solve(own, payoffs, reference, leading, wanted)
            self._see(own, payoffs, reference, asked.low + asked.scale * found.value)
            return asked, found

        def values_at_seen(own: AmbiguitySet, payoffs: Any, reference: Any, radii: Any) -> Any:
            values = values_at(own, payoffs, reference, radii)
            for place, radius in enumerate(np.ravel(radii)):
                self._see(own.with_epsilon(float(radius)), payoffs, reference, values[..., place].reshape(-1))
            return values

        def sampled_seen(own: SampledTotalVariation, payoffs: Any) -> Any:
            answer = sampled(own, payoffs)
            if own.of_samples:  # else mass may not go everywhere: no total variation set
                reference = np.zeros(payoffs.shape[-1])
                reference[: own.samples] = 1.0 / own.samples
                self._see(TotalVariation(own.epsilon), payoffs, reference, answer[0])
            return answer

        methods = (
            (AmbiguitySet, "solve_rows", solve, solve_seen),
            (AmbiguitySet, "solved_at", values_at, values_at_seen),
            (SampledTotalVariation, "__call__", sampled, sampled_seen),
        )
        try:
            for owner, name, _, seen in methods:
                setattr(owner, name, seen)
            yield
        finally:
            for owner, name, original, _ in methods:
                setattr(owner, name, original)

    def _see(self, ambiguity_set: AmbiguitySet, payoffs: object, reference: object, values: Floats) -> None:
        """Draw which rows of a table stay (reservoir sampling)."""
        if (ambiguity_set.has_radius and ambiguity_set.epsilon == 0.0) or not len(values):
            return
        payoffs, reference = np.asarray(payoffs, dtype=float), np.asarray(reference, dtype=float)
        n = payoffs.shape[-1]
        many = np.broadcast_to(payoffs, (*np.broadcast_shapes(payoffs.shape[:-1], reference.shape[:-1]), n))
        table, distributions = many.reshape(-1, n), np.broadcast_to(reference, many.shape).reshape(-1, n)
        places = self._generator.integers(self.seen + 1 + np.arange(len(table)))
        for row in np.flatnonzero(places < self._most):
            if varies(table[row]):
                case = Case(ambiguity_set, table[row].copy(), distributions[row].copy(), float(values[row]))
                if len(self.cases) < self._most:
                    self.cases.append(case)
                else:
                    self.cases[places[row]] = case
        self.seen += len(table)
