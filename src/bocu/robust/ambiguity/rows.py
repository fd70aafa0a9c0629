"""What a set is asked and answers: rows of payoffs `(B, n)` that span [0, 1] over the contexts that it can reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bocu.robust.ambiguity.checks import Floats


@dataclass(frozen=True, slots=True)
class Normalised:
    """Payoffs as rows, and the way back to what was asked.

    Attributes:
        f: (B, n) payoffs; 0 is the least that the set can reach, 1 the most.
        p: (1, n) one reference for all, or (B, n).
        low: (B,) shift that was taken off.
        scale: (B,) scale that was taken off.
        leading: leading shape of the payoffs, whose product is B.
    """

    f: Floats
    p: Floats
    low: Floats
    scale: Floats
    leading: tuple[int, ...]

    def values(self, values: Floats) -> Floats:
        """Values `(B,)` in units of the payoffs, `(...)`."""
        return (self.low + self.scale * values).reshape(self.leading)

    def slopes(self, slopes: Floats) -> Floats:
        """Slopes `(B,)`, or other differences of values, in units of the payoffs, `(...)`."""
        return (self.scale * slopes).reshape(self.leading)

    def distributions(self, rows: Floats) -> Floats:
        """Distributions `(B, n)`, or their derivatives, as `(..., n)`."""
        return rows.reshape(*self.leading, rows.shape[-1])


@dataclass(slots=True)
class Rows:
    """What a set answers for normalised rows `(B, n)`: fields as in `WorstCase`, optional ones may be missing.

    Attributes:
        gap: (B,) between the value and a lower bound that solving it has proved.
        distance: (B,) a bound on the distribution's distance from the reference, of sets where that is dear to ask.
    """

    value: Floats
    slope: Floats
    distribution: Floats | None = None
    rate: Floats | None = None
    gap: Floats | None = None
    distance: Floats | None = None


@dataclass(slots=True)
class Tangent:
    """Where the tangents of v through `(0, tau)` touch it, a row each: slope and radius `(B,)`, worst case `(B, n)`."""

    slope: Floats
    radius: Floats
    distribution: Floats

    def inverse_radius(self) -> Floats:
        """1 / radius `(B,)`, by which value's gradients become the slope's: `slope = (q.f - tau) / radius`; 0 at 0."""
        return np.divide(1.0, self.radius, out=np.zeros_like(self.radius), where=self.radius > 0.0)


@dataclass(frozen=True, slots=True)
class SolveCost:
    """What solving takes, measured: `points x seconds x (contexts / 64)^growth`.

    Attributes:
        seconds: a point of a payoff table with 64 contexts.
        growth: exponent of the number of contexts.
        memory_mb: what its compiled code takes, MB.
        searched: share of the decisions that a search for the best one solves, in a table with 64 contexts; bounds
            exclude the others. It grows with the contexts, up to all.
        search: seconds of a search for the best decision, however small the table.
    """

    seconds: float
    growth: float = 0.0
    memory_mb: float = 0.0
    searched: float = 1.0
    search: float = 0.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which optional outputs a caller needs; sets skip the work of the others."""

    distribution: bool = True
    rate: bool = False
