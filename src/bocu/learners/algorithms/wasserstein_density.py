"""ERBO and WDRBO: continuous contexts by those seen, hedged by how steep payoffs are in them (Micheli et al., 2025).

Defaults are those of the published code, `frmicheli/WDRBO`: radius 0.3 / sqrt(i) after i evaluations, with those of the
initial design, slopes at 100 contexts that are drawn once a run, sqrt_beta 1.5. What law those come from is not
published: here a scrambled Sobol sequence. There the ascent follows the mean alone, and its penalty only ranks where
ascents end; here it follows both. Slopes are central differences over a thousandth of the box.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from bocu.core.about import About, Look
from bocu.core.parameters import Integer, NotNegative
from bocu.core.randomness import scrambled_sobol
from bocu.core.rounds import CONTINUOUS, Description, Round
from bocu.learners.acquisition.base import Functional
from bocu.learners.acquisition.functionals import ExpectedValue
from bocu.learners.acquisition.slopes import SlopePenalty, Stencil
from bocu.learners.algorithms.base import Pursued
from bocu.learners.algorithms.continuous_base import Contextual, ContextualParameters

if TYPE_CHECKING:
    from bocu.learners.surrogates.continuous.model import Posterior

STEP = 1e-3
"""To either side of a context in differences, in the unit cube."""
PUBLISHED_RADIUS = 0.3
"""Of the published code, after one evaluation."""


class ERBOParameters(ContextualParameters):
    """As every algorithm with contexts."""


class ERBO(Contextual[ERBOParameters]):
    """The largest mean of the upper bound over the contexts seen."""

    about = About(
        title="ERBO",
        summary="UCB on the mean over the contexts seen",
        paper="Micheli et al. 2025",
        look=Look("orange", "dash-dot", "<"),
    )
    protocols = CONTINUOUS
    Parameters = ERBOParameters

    def _game(
        self, posteriors: Sequence["Posterior"], round: Round, generator: np.random.Generator
    ) -> tuple[np.ndarray, Functional]:
        return self.observed, ExpectedValue()


class WDRBOParameters(ContextualParameters):
    """How far contexts may move, and where slopes are taken."""

    radius: Literal["shrinking"] | NotNegative = Field(
        "shrinking",
        description="1-Wasserstein radius around the contexts seen, in units of the context: a number, or `shrinking`: "
        "0.3 / sqrt(i) after i evaluations, those of the initial design included",
    )
    points: Annotated[Integer, Field(ge=1, le=1_000_000)] = Field(
        100, description="scrambled Sobol contexts at which slopes are taken, drawn once a run"
    )
    floor: bool = Field(
        False,
        description="whether the value is no less than the smallest payoff in any of these contexts; the published "
        "code's may be",
    )


class WDRBO(Contextual[WDRBOParameters]):
    """The largest mean of the upper bound over the contexts seen, less the radius times its steepest slope."""

    about = About(
        title="WDRBO",
        summary="UCB on a lower bound of the worst expectation within a Wasserstein distance of the contexts seen",
        paper="Micheli et al. 2025",
        look=Look("green", "solid", "D"),
    )
    protocols = CONTINUOUS
    Parameters = WDRBOParameters

    def __init__(
        self, description: Description, objective: Pursued, parameters: WDRBOParameters, generator: np.random.Generator
    ) -> None:
        super().__init__(description, objective, parameters, generator)
        points = scrambled_sobol(self.lower, self.upper, parameters.points, generator)
        self.stencil = Stencil.around(points, STEP, self.contexts.width)

    def _game(
        self, posteriors: Sequence["Posterior"], round: Round, generator: np.random.Generator
    ) -> tuple[np.ndarray, Functional]:
        seen = len(self.observed)
        stated = self.parameters.radius
        radius = PUBLISHED_RADIUS / np.sqrt(seen) if stated == "shrinking" else stated
        penalty = SlopePenalty(radius, seen, self.stencil, self.parameters.floor)
        return np.concatenate([self.observed, self.stencil.contexts]), penalty
