"""StableOpt on a grid, as a baseline of distributionally robust optimisation (Kirschner et al. 2020, section 4)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field

from bocu.core.about import About, Look
from bocu.core.rounds import GRID, Round
from bocu.learners.algorithms.finite_base import BoundParameters, UpperConfidenceAlgorithm
from bocu.robust.ambiguity.parameters import StatedSet, by_default
from bocu.robust.contexts.estimates import around_mean
from bocu.robust.objectives.functions import UncertaintyObjective


class StableOptParameters(BoundParameters):
    """Bounds, and where the radius comes from."""

    set: StatedSet = Field(
        by_default("mmd"),
        description="distance and radius rule that give the radius, which is then read as a Euclidean distance of "
        "contexts",
    )


class StableOpt(UpperConfidenceAlgorithm[StableOptParameters]):
    """The largest minimum of the upper bound over the contexts within the radius of the reference's mean.

    The context nearest to the mean, of the lowest index, where none is within the radius; all where it is infinite.
    """

    about = About(
        title="StableOpt",
        summary="StableOpt: UCB on the minimum over contexts near the reference's mean",
        paper="Kirschner et al. 2020",
        look=Look("purple", "dashed", "h"),
    )
    protocols = GRID
    Parameters = StableOptParameters

    #: Reference, radius and rule of the latest round.
    _ruled: "tuple[np.ndarray, float, MinimumOver] | None" = None

    @property
    def ambiguity(self) -> StatedSet:
        return self.parameters.set

    def rule_in(self, round: Round) -> UncertaintyObjective:
        reference = self.reference(round)
        radius = 0.0 if round.epsilon is None else round.epsilon
        # Rounds of a rehearsal share one reference, the same object.
        if self._ruled is None or self._ruled[0] is not reference or self._ruled[1] != radius:
            rule = MinimumOver(around_mean(self.posterior.prior.contexts, reference, radius))
            self._ruled = reference, radius, rule
        return self._ruled[2]

    def _rule(self) -> UncertaintyObjective:
        return UncertaintyObjective.ro()


@dataclass(frozen=True)
class MinimumOver(UncertaintyObjective):
    """The minimum over some of the contexts, whatever the reference.

    Attributes:
        contexts: their indices.
    """

    contexts: np.ndarray

    def __call__(self, payoffs: object, reference: object) -> Any:
        """Return the minima, shape (..., decisions), of payoffs (..., decisions, contexts)."""
        return np.asarray(payoffs)[..., self.contexts].min(axis=-1)
