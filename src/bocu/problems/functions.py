"""Closed-form test functions of a decision and a context, both scaled to the unit cube, to be maximised.

Sources: Huang et al. (2024), appendix B.2; second objectives: the DRMOBO paper, appendices D.2 and D.3; Hartmann-3 and
the constants of Hartmann: Surjanovic and Bingham (2013). Where a paper prints a wrong sign, the standard function is
meant: Ackley is 0 at its best, Hartmann has bumps and no pits, and its second weight is 1.2 (printed: 2.0).

A formula takes decisions `(..., Dx)` and contexts `(..., Dc)`, whose leading axes broadcast, and gives `(...,)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from bocu.core.errors import BocuError
from bocu.core.parameters import nearest
from bocu.robust.ambiguity.checks import Floats

Formula = Callable[[Floats, Floats], Floats]

#: Second weight of Hartmann-6: the standard one, and the one that Huang et al. (2024) print.
HARTMANN_STANDARD, HARTMANN_PRINTED = 1.2, 2.0


@dataclass(frozen=True)
class TestFunction:
    """A function of a decision and a context, with one output or several."""

    __test__ = False  # no test case, whatever its name says

    name: str  #: for messages.
    decision_dim: int  #: Dx.
    context_dim: int  #: Dc.
    formulas: tuple[Formula, ...]  #: one a output.

    @property
    def outputs(self) -> int:
        """Number of outputs, K."""
        return len(self.formulas)

    def __call__(self, decisions: ArrayLike, contexts: ArrayLike) -> Floats:
        """Payoffs `(...,)`, or `(..., K)` with several outputs.

        Args:
            decisions: (..., Dx), in [0, 1].
            contexts: (..., Dc), in [0, 1]; leading axes broadcast against those of `decisions`.

        Raises:
            BocuError: where a last axis has another length than Dx or Dc.
        """
        x, c = np.asarray(decisions, dtype=np.float64), np.asarray(contexts, dtype=np.float64)
        for what, array, wanted in (("decisions", x, self.decision_dim), ("contexts", c, self.context_dim)):
            if array.shape[-1:] != (wanted,):
                raise BocuError(
                    f"{self.name}: {what} have shape {array.shape}: the last axis must have length {wanted}"
                )
        if self.outputs == 1:
            return self.formulas[0](x, c)
        return np.stack([formula(x, c) for formula in self.formulas], axis=-1)


def ackley(x: Floats, c: Floats, *, ripple: float = 1.0) -> Floats:
    """Ackley in any dimension, at best 0 at the centre; `ripple` is the sign of the cosines' mean in the exponent."""
    dimension = x.shape[-1] + c.shape[-1]
    x, c = 65.536 * x - 32.768, 65.536 * c - 32.768
    square = ((x**2).sum(axis=-1) + (c**2).sum(axis=-1)) / dimension
    cosine = (np.cos(2 * math.pi * x).sum(axis=-1) + np.cos(2 * math.pi * c).sum(axis=-1)) / dimension
    return 20.0 * np.exp(-0.2 * np.sqrt(square)) + np.exp(ripple * cosine) - 20.0 - math.e


def modified_branin(x: Floats, c: Floats) -> Floats:
    """Modified Branin, 2 + 2, Williams (2000): minus the geometric mean of two Branin functions."""
    first = _branin(15.0 * x[..., 0] - 5.0, 15.0 * c[..., 0])
    second = _branin(15.0 * c[..., 1] - 5.0, 15.0 * x[..., 1])
    return -np.sqrt(first * second)


def _branin(u: Floats, v: Floats) -> Floats:
    parabola = v - 5.1 / (4 * math.pi**2) * u**2 + 5.0 / math.pi * u - 6.0
    return parabola**2 + 10.0 * (1.0 - 1.0 / (8 * math.pi)) * np.cos(u) + 10.0


def hartmann(x: Floats, c: Floats, *, second_weight: float = HARTMANN_STANDARD) -> Floats:
    """Hartmann in 3 or 6 dimensions, of which the first Dx decide: sum of four bumps.

    Each bump is a product over the coordinates, therefore of a factor of the decision and one of the context.
    """
    scale, centre = _HARTMANN[x.shape[-1] + c.shape[-1]]
    split = x.shape[-1]
    weight = np.array([1.0, second_weight, 3.0, 3.2])
    by_decision = np.exp(-(scale[:, :split] * (x[..., None, :] - centre[:, :split]) ** 2).sum(axis=-1))
    by_context = np.exp(-(scale[:, split:] * (c[..., None, :] - centre[:, split:]) ** 2).sum(axis=-1))
    # One bump at a time: no array larger than the answer.
    return sum(
        (weight[i] * by_decision[..., i] * by_context[..., i] for i in range(1, 4)),
        start=weight[0] * by_decision[..., 0] * by_context[..., 0],
    )


_HARTMANN = {
    3: (
        np.array([[3.0, 10, 30], [0.1, 10, 35], [3.0, 10, 30], [0.1, 10, 35]]),
        1e-4 * np.array([[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]),
    ),
    6: (
        np.array(
            [
                [10, 3, 17, 3.5, 1.7, 8],
                [0.05, 10, 17, 0.1, 8, 14],
                [3, 3.5, 1.7, 10, 17, 8],
                [17, 8, 0.05, 10, 0.1, 14],
            ]
        ),
        1e-4
        * np.array(
            [
                [1312, 1696, 5569, 124, 8283, 5886],
                [2329, 4135, 8307, 3736, 1004, 9991],
                [2348, 1451, 3522, 2883, 3047, 6650],
                [4047, 8828, 8732, 5743, 1091, 381],
            ]
        ),
    ),
}


def newsvendor(x: Floats, c: Floats, *, shift: float = 0.0) -> Floats:
    """Newsvendor, 1 + 1: bought at 5, sold at 9, the rest at 1; the demand is `max(c + shift, 0)`."""
    stock, demand = x[..., 0], c[..., 0]
    if shift:
        demand = np.maximum(demand + shift, 0.0)
    return 9.0 * np.minimum(stock, demand) + np.maximum(0.0, stock - demand) - 5.0 * stock


def mirrored(formula: Formula) -> Formula:
    """The same payoff under the context 1 - c: the second objective of modified Branin and Hartmann."""
    return lambda x, c: formula(x, 1.0 - c)


def _six(second_weight: float) -> Formula:
    return partial(hartmann, second_weight=second_weight)


#: Test functions by name; names that end in `-two` have two outputs.
FUNCTIONS = {
    function.name: function
    for function in (
        TestFunction("ackley", 2, 1, (ackley,)),
        TestFunction("ackley-2-4", 2, 4, (ackley,)),
        TestFunction("modified-branin", 2, 2, (modified_branin,)),
        TestFunction("hartmann-3", 2, 1, (hartmann,)),
        TestFunction("hartmann-6", 5, 1, (_six(HARTMANN_STANDARD),)),
        TestFunction("hartmann-6-as-printed", 5, 1, (_six(HARTMANN_PRINTED),)),
        TestFunction("newsvendor", 1, 1, (newsvendor,)),
        TestFunction("ackley-two", 2, 1, (ackley, partial(ackley, ripple=-1.0))),
        TestFunction("modified-branin-two", 2, 2, (modified_branin, mirrored(modified_branin))),
        TestFunction("hartmann-6-two", 5, 1, (_six(HARTMANN_STANDARD), mirrored(_six(HARTMANN_STANDARD)))),
        TestFunction("hartmann-6-two-as-printed", 5, 1, (_six(HARTMANN_PRINTED), mirrored(_six(HARTMANN_PRINTED)))),
        TestFunction("newsvendor-two", 1, 1, (partial(newsvendor, shift=-0.1), partial(newsvendor, shift=0.1))),
    )
}


def function_named(name: str) -> TestFunction:
    """Look a test function up.

    Raises:
        BocuError: there is none of that name.
    """
    if name not in FUNCTIONS:
        raise BocuError(f"no test function '{name}'; {nearest(name, FUNCTIONS)}")
    return FUNCTIONS[name]
