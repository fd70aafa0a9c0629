"""The Hartmann function of three inputs, of which two decide and one is the context (Tay et al. 2024, section 5)."""

import numpy as np
from pydantic import Field

from bocu.core.about import About
from bocu.core.parameters import Count
from bocu.core.randomness import Streams
from bocu.problems.candidates import Lengthscale
from bocu.problems.finite import LENGTHSCALE, FiniteParameters, FiniteProblem
from bocu.problems.functions import function_named


class Hartmann3Parameters(FiniteParameters):
    """Parameters of the Hartmann function on a grid."""

    decision_points: list[Count] = Field(
        [32, 32], description="points a decision coordinate, evenly spaced over [0, 1]"
    )
    context_points: list[Count] = Field([64], description="points of the context, evenly spaced over [0, 1]")
    lengthscale: Lengthscale = Field(0.1, description=LENGTHSCALE)


class Hartmann3(FiniteProblem[Hartmann3Parameters]):
    """The function as it is maximised: the first two inputs decide."""

    about = About(
        title="Hartmann 3-D",
        summary="the Hartmann function of three inputs, two of which decide",
        paper="Tay et al. 2024",
    )
    Parameters = Hartmann3Parameters
    units = "1"
    decision_names = ("x1", "x2")
    decision_units = ("1", "1")
    context_names = ("c",)
    context_units = ("1",)

    def payoff_table(self, streams: Streams) -> np.ndarray:
        """Return the same table to every seed."""
        return function_named("hartmann-3")(self.decisions[:, None, :], self.contexts[None, :, :])
