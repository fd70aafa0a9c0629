"""Two synthetic functions of one decision and one context (Kirschner et al. 2020, section 4 and figures 1 and 4a).

The paper prints neither; these are ours, made to have the properties that it states. Function a: the best decisions
under the stochastic, the worst-case and the distributionally robust objective all differ, and the robust one does
better than the stochastic one under the true distribution. Function b: they coincide. Both hold whether the spread of
the reference N(0.5, 0.05) and of the truth N(0.45, 0.1) is read as a standard deviation or as a variance.

Both are sums of Gaussian bumps no narrower than the length-scale 0.1 of the surrogate's squared exponential kernel,
and so lie in its reproducing kernel Hilbert space.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import pydantic
from pydantic import Field

from bocu.core.about import About
from bocu.core.parameters import Count, Positive
from bocu.core.randomness import Streams
from bocu.problems.candidates import Lengthscale
from bocu.problems.distributions import Distribution, Normal, NormalParameters, Reference
from bocu.problems.finite import LENGTHSCALE, FiniteParameters, FiniteProblem
from bocu.problems.given_design import InitialDesign

REFERENCE = (0.5, 0.05)
TRUTH = (0.45, 0.1)
"""Mean and spread, of which the paper does not say whether it is a standard deviation or a variance."""


class Bump(NamedTuple):
    """`height exp(-((x - decision) / decision_width)^2 / 2 - ((c - context) / context_width)^2 / 2)`."""

    height: float
    decision: float
    decision_width: float
    context: float
    context_width: float


#: High but for small contexts around decision 0.15; nearly as high but for large contexts around 0.5, and never as low;
#: flat around 0.85.
FUNCTION_A = (
    Bump(2.05, 0.15, 0.1, 0.75, 0.3),
    Bump(-2.0, 0.15, 0.1, 0.0, 0.14),
    Bump(1.5, 0.5, 0.1, 0.4, 0.6),
    Bump(-1.0, 0.5, 0.15, 0.8, 0.18),
    Bump(0.6, 0.85, 0.1, 0.5, 0.6),
)

#: One ridge above all else in every context, of two bumps of one profile over decisions; what lies beside it is too far
#: away to move its top by a grid step.
FUNCTION_B = (
    Bump(1.2, 0.65, 0.14, 0.45, 0.5),
    Bump(0.5, 0.65, 0.14, 0.3, 0.12),
    Bump(0.7, 0.15, 0.1, 0.6, 0.15),
    Bump(-0.5, 0.2, 0.1, 0.05, 0.15),
)


FUNCTIONS = {"a": FUNCTION_A, "b": FUNCTION_B}


class KirschnerParameters(FiniteParameters):
    """Parameters of the functions; the model, the noise and the grid are ours, the paper does not say."""

    function: Literal["a", "b"] = Field(
        "a",
        description="a: the stochastic, worst-case and distributionally robust optima all differ; b: they coincide",
    )
    spread: Literal["sd", "variance"] = Field(
        "sd",
        description="what the second number of the paper's N(0.5, 0.05) and N(0.45, 0.1) is, where reference and truth "
        "are left out",
    )
    decision_points: list[Count] = Field([100], description="points of the decision, evenly spaced over [0, 1]")
    context_points: list[Count] = Field([100], description="points of the context, evenly spaced over [0, 1]")
    reference: Reference = Field(
        Normal(normal=NormalParameters(mean=REFERENCE[0], sd=REFERENCE[1])),
        description="reference distribution over the contexts; left out: N(0.5, 0.05), by `spread`",
    )
    truth: Distribution | list[Distribution] = Field(
        Normal(normal=NormalParameters(mean=TRUTH[0], sd=TRUTH[1])),
        description="distribution that contexts come from; left out: N(0.45, 0.1), by `spread`",
    )
    initial: InitialDesign = Field(
        0,
        description="points of the initial design, drawn uniformly from decisions and contexts; or `{file: ...}`: the "
        "design itself",
    )
    lengthscale: Lengthscale = Field(0.1, description=LENGTHSCALE)
    noise: Positive = Field(
        0.001**0.5, description="standard deviation of the observation noise, which algorithms know"
    )

    @pydantic.model_validator(mode="before")
    @classmethod
    def _by_spread(cls, given: object) -> object:
        if not isinstance(given, dict) or given.get("spread") != "variance":
            return given
        read = {
            key: {"normal": {"mean": mean, "variance": number}}
            for key, (mean, number) in {"reference": REFERENCE, "truth": TRUTH}.items()
        }
        return {**read, **given}


class Kirschner(FiniteProblem[KirschnerParameters]):
    """One of the two functions."""

    about = About(
        title="Synthetic functions",
        summary="two functions whose optima differ or coincide, one decision, one context",
        paper="Kirschner et al. 2020",
    )
    Parameters = KirschnerParameters
    units = "1"
    decision_names = ("decision",)
    decision_units = ("1",)
    context_names = ("context",)
    context_units = ("1",)

    @property
    def title(self) -> str:
        return f"Synthetic function {self.parameters.function}"

    def payoff_table(self, streams: Streams) -> np.ndarray:
        """Return the same table to every seed."""
        bumps = FUNCTIONS[self.parameters.function]
        return bump_payoffs(bumps, self.decisions[:, 0], self.contexts[:, 0])


def bump_payoffs(bumps: Sequence[Bump], decisions: np.ndarray, contexts: np.ndarray) -> np.ndarray:
    """Sum bumps at decisions (X,) and contexts (C,), both in [0, 1]: payoffs (X, C)."""
    over_decisions = np.stack([_profile(decisions, bump.decision, bump.decision_width) for bump in bumps], axis=1)
    over_contexts = np.stack([_profile(contexts, bump.context, bump.context_width) for bump in bumps])
    return over_decisions * [bump.height for bump in bumps] @ over_contexts


def _profile(at: np.ndarray, centre: float, width: float) -> np.ndarray:
    return np.exp(-0.5 * ((at - centre) / width) ** 2)
