"""StableOpt over a box of contexts, as the baseline that Huang et al. (2024) compare with."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from bocu.core.about import About, Look
from bocu.core.parameters import Integer
from bocu.core.randomness import scrambled_sobol
from bocu.core.rounds import CONTINUOUS, Round
from bocu.learners.acquisition.base import Functional
from bocu.learners.acquisition.functionals import MinimumValue
from bocu.learners.algorithms.continuous_base import Contextual, ContextualParameters
from bocu.learners.algorithms.search_parameters import SearchParameters
from bocu.robust.contexts.estimates import box_around_mean

if TYPE_CHECKING:
    from bocu.learners.surrogates.continuous.model import Posterior


class StableOptContinuousParameters(ContextualParameters):
    """The box, and the points in it."""

    search: SearchParameters = Field(
        SearchParameters(merge=True), description="how the acquisition function is maximised"
    )
    points: Annotated[Integer, Field(ge=1, le=1_000_000)] = Field(
        1024, description="scrambled Sobol points of the box, new ones in every round"
    )
    ddof: Literal[0, 1] = Field(1, description="the standard deviation divides by the number of contexts less this")
    box: Literal["around-mean", "as-published"] = Field(
        "around-mean",
        description="[mean - sd, mean + sd] of the contexts seen, or the box [mean - 3 sd, mean - sd] that the "
        "published code's points fall into",
    )
    clip_box: bool = Field(
        True,
        description="whether [mean - sd, mean + sd] is cut to the context space, before it becomes another box; the "
        "published code does not cut",
    )


class StableOptContinuous(Contextual[StableOptContinuousParameters]):
    """The largest minimum of the upper bound over contexts within a standard deviation of their mean."""

    about = About(
        title="StableOpt",
        summary="StableOpt: UCB on the minimum over a box around the mean of the contexts",
        paper="Huang et al. 2024",
        look=Look("purple", "dash-dot", "v"),
    )
    protocols = CONTINUOUS
    Parameters = StableOptContinuousParameters

    def _game(
        self, posteriors: Sequence["Posterior"], round: Round, generator: np.random.Generator
    ) -> tuple[np.ndarray, Functional]:
        space = (self.lower, self.upper) if self.parameters.clip_box else (None, None)
        lower, upper = box_around_mean(self.observed, *space, ddof=self.parameters.ddof)
        if self.parameters.box == "as-published":
            lower, upper = 2.0 * lower - upper, lower
        return scrambled_sobol(lower, upper, self.parameters.points, generator), MinimumValue()
