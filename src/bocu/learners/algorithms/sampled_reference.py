"""What the algorithms have in common that pursue an objective over continuous contexts, known by those seen alone.

Contexts with equal reference mass, drawn from an estimate or those seen, and scrambled Sobol contexts without any stand
for the box: the objective is that of the finite game on them, an average over samples with its worst case.
"""

from typing import Annotated, TypeVar

import numpy as np
from pydantic import Field

from bocu.core.errors import BocuError
from bocu.core.parameters import Integer, Parameters
from bocu.core.randomness import scrambled_sobol
from bocu.core.rounds import Description, Round, Situation
from bocu.learners.algorithms.base import Pursued
from bocu.learners.algorithms.continuous_base import Contextual, ContinuousAlgorithmParameters
from bocu.robust.contexts.estimates import KernelDensity
from bocu.robust.objectives.functions import (
    DistributionallyRobustParameters,
    GeneralParameters,
    Objective,
    UncertaintyObjective,
)


class SampledReferenceParameters(ContinuousAlgorithmParameters):
    """How many contexts stand for the box."""

    samples: Annotated[Integer, Field(ge=1, le=1_000_000)] = Field(
        128, description="draws from the density estimate, new ones in every round, each of the same reference mass"
    )
    others: Annotated[Integer, Field(ge=0, le=1_000_000)] = Field(
        128, description="scrambled Sobol contexts without reference mass, which a worst case may move mass to"
    )

    def unfit(self, name: str, objective: Parameters) -> str:
        if isinstance(objective, DistributionallyRobustParameters | GeneralParameters):
            stated = objective.set
            if isinstance(stated.radius, str) and stated.family.has_radius:
                found = f"the radius '{stated.radius}' is not known over continuous contexts"
                return f"{found}; give a number, a list or a delta"
        return ""


Sampled = TypeVar("Sampled", bound=SampledReferenceParameters)


class SampledReference(Contextual[Sampled]):
    """One that pursues an objective over sampled contexts.

    Raises:
        BocuError: the objective is none that an experiment states, or its radius is not known over a box.
    """

    pursues_objective = True

    def __init__(
        self, description: Description, objective: Pursued, parameters: Sampled, generator: np.random.Generator
    ) -> None:
        super().__init__(description, objective, parameters, generator)
        if not isinstance(objective, Objective):
            raise BocuError(f"found objective {objective!r}; one of bocu.robust.objectives.functions is wanted")
        if reason := self.parameters.unfit("", objective.parameters):
            raise BocuError(reason)
        self._pursued = objective

    def _drawn(self, generator: np.random.Generator) -> np.ndarray:
        """Return the contexts that have reference mass, equal for each, shape (samples, Dc)."""
        estimate = KernelDensity.fit(self.observed, self.lower, self.upper)
        return estimate.sample(generator, self.parameters.samples)

    def _sampled(
        self, round: Round, generator: np.random.Generator, others: int
    ) -> tuple[np.ndarray, UncertaintyObjective, np.ndarray]:
        """Return contexts of a round, the objective over them at its radius, and the reference on them.

        Args:
            round: the round.
            generator: draws them.
            others: number of contexts without reference mass.

        Returns:
            Contexts in the unit cube, shape (M, Dc); the objective; reference probabilities, shape (M,).
        """
        drawn = self._drawn(generator)
        points = drawn
        if others:
            points = np.concatenate([drawn, scrambled_sobol(self.lower, self.upper, others, generator)])
        # Equal contexts, as many as are clipped to a bound, would make distances between distributions degenerate.
        points, owner = np.unique(points, axis=0, return_inverse=True)
        reference = np.bincount(owner.reshape(-1)[: len(drawn)], minlength=len(points)) / len(drawn)
        rule = self._pursued.over(points)
        ambiguity = self._pursued.ambiguity
        if ambiguity is not None and not isinstance(ambiguity.radius, str):
            situation = Situation(round.t, reference, reference, len(self.observed))
            rule = rule.with_epsilon(ambiguity.epsilon(situation, ambiguity.over(points)))
        return points, rule, reference
