"""TS-BOCU: Thompson sampling under any uncertainty objective (Tay et al. 2024, algorithm 1)."""

from dataclasses import replace
from functools import cached_property
from typing import Annotated, Literal, Protocol, Self

import numpy as np
import pydantic
from pydantic import Field

from bocu.core.about import About, Look, Size, Work, planning_only
from bocu.core.parameters import Integer
from bocu.core.rounds import GRID, Round
from bocu.learners.algorithms.finite_base import BoundParameters, FiniteAlgorithm
from bocu.learners.surrogates.grid import GridPosterior
from bocu.robust.objectives.functions import UncertaintyObjective


class ThompsonParameters(BoundParameters):
    """How the posterior is sampled; `sqrt_beta` only enters what is recommended."""

    posterior: Literal["pathwise", "fourier"] = Field(
        "pathwise", description="`pathwise`: exact samples; `fourier`: random Fourier features, redrawn every round"
    )
    features: Annotated[Integer, Field(ge=1, le=1_000_000)] = Field(
        1024, description="number of Fourier features, each counted"
    )
    pairs: bool = Field(
        False, description="features are cosine and sine of half as many frequencies, not cosines with random phases"
    )

    @pydantic.model_validator(mode="after")
    def _even(self) -> Self:
        if self.pairs and self.features % 2:
            raise ValueError("features in pairs are even in number")
        return self


class _Sampler(Protocol):
    def draw(self, posterior: GridPosterior, generator: np.random.Generator) -> np.ndarray:
        """Draw one payoff table of shape (decisions, contexts)."""


class ThompsonSampling(FiniteAlgorithm[ThompsonParameters]):
    """The best decision of a payoff table that is sampled from the posterior, by the objective pursued."""

    about = About(
        title="TS-BOCU",
        summary="Thompson sampling under the objective",
        paper="Tay et al. 2024",
        look=Look("vermillion", "long-dash", "P"),
    )
    protocols = GRID
    pursues_objective = True
    Parameters = ThompsonParameters

    @classmethod
    @planning_only
    def work(cls, parameters: ThompsonParameters, size: Size, rounds: int) -> Work:
        exact = super().work(parameters, size, rounds)
        if parameters.posterior == "pathwise":
            return exact
        features = parameters.features
        solved = min(rounds**2 / 3, rounds * features / 2)  # more observations than features are solved in another way
        counts = {
            "round": rounds,
            "point": size.points * rounds * (size.choices_per_round - 1),
            "history": exact.counts["history"],
            "feature": size.points * features * rounds,
            "feature_solve": features * solved * rounds,
        }
        return replace(exact, counts=counts)

    def _rule(self) -> UncertaintyObjective:
        return self._pursued()

    def _choose(self, round: Round, available: np.ndarray | None) -> int:
        sample = self.sampler.draw(self.posterior, self.generator)
        if available is None:
            return self.best(sample, round)
        return int(available[self.best(sample[available], round)])

    def _moments(self, decision: int) -> tuple[np.ndarray, np.ndarray]:
        # Sampling never asks for the whole grid's mean and variance, and one decision's are cheaper alone.
        one = np.array([decision])
        return self.posterior.mean_of(one)[0], np.sqrt(self.posterior.variance_of(one)[0])

    @cached_property
    def sampler(self) -> _Sampler:
        """What draws payoff tables from the posterior."""
        prior = self.posterior.prior
        if self.parameters.posterior == "pathwise":
            from bocu.learners.surrogates.pathwise import PathwiseSampler

            return PathwiseSampler(prior)
        from bocu.learners.surrogates.fourier import FourierSampler

        return FourierSampler(prior, self.parameters.features, self.parameters.pairs)
