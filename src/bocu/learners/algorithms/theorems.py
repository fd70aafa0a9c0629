"""Widths of confidence bounds as the papers' theorems have them, in place of a number.

`sqrt_beta: {theorem: kirschner-2020, norm: 2}` in an experiment file. Constants that no theorem makes computable (the
norm of the payoff, the tail of its slope) are stated by whoever chooses the theorem. Symbols are the papers'.
"""

import math
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from bocu.core.errors import BocuError
from bocu.core.parameters import Number, Parameters, Positive

Delta = Annotated[Number, Field(gt=0.0, lt=1.0)]
_DELTA = Field(0.1, description="probability with which the bounds may fail in some round")
_TAIL = (
    "of the tail of the payoff's slope along a decision coordinate, P(sup > J) <= a exp(-(J/b)^2); for continuous "
    "decisions"
)


@dataclass(frozen=True)
class Knowledge:
    """What widths depend on."""

    t: int  #: the round, from 1 on.
    coordinates: int  #: of a decision.
    decisions: int | None  #: how many there are; None where they are continuous, in the unit cube.
    contexts: int | None  #: how many there are; None where they are continuous.
    outputs: int = 1  #: payoffs that are observed at once.
    noise: float = 1.0  #: standard deviation of the observation noise over that of the model.
    #: of the identity plus the Gram matrix of what was observed, divided by the model's noise variance.
    log_determinant: float = 0.0


class TayWidth(Parameters):
    """Tay et al. (2024), Theorem 4.1, by its equation for U_t: `2 ln((t^2 + 1) X C / sqrt(2 pi))`."""

    theorem: Literal["tay-2024"] = Field(
        description="`tay-2024`: Theorem 4.1 of Tay et al. (2024), for finitely many decisions and contexts"
    )

    def sqrt_beta(self, known: Knowledge) -> float:
        """Return the multiplier of the standard deviation in a round.

        Raises:
            BocuError: decisions or contexts are continuous.
        """
        pairs = _finite(known.decisions, "decisions", self.theorem) * _finite(known.contexts, "contexts", self.theorem)
        return math.sqrt(2.0 * math.log((known.t**2 + 1) * pairs / math.sqrt(2.0 * math.pi)))


class KirschnerWidth(Parameters):
    """Kirschner et al. (2020): `sigma sqrt(log det(I + K_{t-1}) + 2 log(1 / delta)) + B`, of ridge regression.

    With the ridge r in place of 1, which a Gaussian process of noise variance r has, K is divided by r and sigma by its
    root.
    """

    theorem: Literal["kirschner-2020"] = Field(
        description="`kirschner-2020`: of Kirschner et al. (2020), on a grid, by what was observed"
    )
    norm: Positive = Field(description="bound B on the norm of the payoff in the kernel's space")
    delta: Delta = _DELTA
    statement: Literal["lemma-1", "theorem-2", "corollary-4"] = Field(
        "theorem-2", description="which part of delta the bounds have: all of it, a half, or a third"
    )

    def sqrt_beta(self, known: Knowledge) -> float:
        """Return the multiplier of the standard deviation in a round."""
        parts = {"lemma-1": 1, "theorem-2": 2, "corollary-4": 3}[self.statement]
        inside = known.log_determinant + 2.0 * math.log(parts / self.delta)
        return known.noise * math.sqrt(inside) + self.norm


class HuangWidth(Parameters):
    """Huang et al. (2024), Theorem 1: `2 log(t^2 / sqrt(2 pi)) + 2 Dx log(t^2 Dx a b r sqrt(pi) / 2)`, at least 0."""

    theorem: Literal["huang-2024"] = Field(
        description="`huang-2024`: Theorem 1 of Huang et al. (2024), for continuous decisions"
    )
    a: Positive = Field(description=f"constant a {_TAIL}")
    b: Positive = Field(description=f"constant b {_TAIL}")

    def sqrt_beta(self, known: Knowledge) -> float:
        """Return the multiplier of the standard deviation in a round; r is 1, the side of the unit cube."""
        t, dimension = known.t, known.coordinates
        net = t**2 * dimension * self.a * self.b * math.sqrt(math.pi) / 2.0
        return math.sqrt(max(0.0, 2.0 * math.log(t**2 / math.sqrt(2.0 * math.pi)) + 2.0 * dimension * math.log(net)))


class DrmoboWidth(Parameters):
    """The DRMOBO paper, Theorem 1: `2 log(8 K X C pi^2 t^2 / (6 delta))`.

    X counts the decisions or, where they are continuous, a net of `(2 d t^2 b r sqrt(log(8 d C a / delta)))^d`. The K
    outputs, over which the proof takes a union bound too, are missing in the print.
    """

    theorem: Literal["drmobo"] = Field(description="`drmobo`: Theorem 1 of the DRMOBO paper, for finite contexts")
    delta: Delta = _DELTA
    a: Positive | None = Field(None, description=f"constant a {_TAIL}")
    b: Positive | None = Field(None, description=f"constant b {_TAIL}")

    def sqrt_beta(self, known: Knowledge) -> float:
        """Return the multiplier of the standard deviation in a round; r is 1, the side of the unit cube.

        Raises:
            BocuError: contexts are continuous, or decisions are and the constants are missing.
        """
        contexts = _finite(known.contexts, "contexts", self.theorem)
        log_decisions = self._log_net(known, contexts) if known.decisions is None else math.log(known.decisions)
        others = math.log(8.0 * known.outputs * contexts * math.pi**2 * known.t**2 / (6.0 * self.delta))
        return math.sqrt(max(0.0, 2.0 * (log_decisions + others)))

    def check_constants(self) -> tuple[float, float]:
        """Return a and b, which continuous decisions need.

        Raises:
            BocuError: they are missing.
        """
        if self.a is None or self.b is None:
            raise BocuError("sqrt_beta: theorem 'drmobo': the keys 'a' and 'b' are required for continuous decisions")
        return self.a, self.b

    def _log_net(self, known: Knowledge, contexts: int) -> float:
        a, b = self.check_constants()
        inside = math.log(8.0 * known.coordinates * contexts * a / self.delta)
        if inside <= 0.0:
            raise BocuError(f"sqrt_beta.a: found {a}; allowed: so large that 8 d C a exceeds delta")
        return known.coordinates * math.log(2.0 * known.coordinates * known.t**2 * b * math.sqrt(inside))


Bound = Annotated[Number, Field(ge=0.0)]
GridWidth = Bound | TayWidth | KirschnerWidth | DrmoboWidth


def width(stated: float | TayWidth | KirschnerWidth | HuangWidth | DrmoboWidth, known: Knowledge) -> float:
    """Return the multiplier of the standard deviation: the number that is stated, or what the theorem has."""
    return stated if isinstance(stated, float | int) else stated.sqrt_beta(known)


def _finite(count: int | None, what: str, theorem: str) -> int:
    if count is None:
        raise BocuError(f"sqrt_beta: theorem '{theorem}' is for finitely many {what}; here they are continuous")
    return count
