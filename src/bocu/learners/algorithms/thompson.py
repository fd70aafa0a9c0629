"""Thompson sampling on a grid under any uncertainty objective.

TS-BOCU: Tay et al. (2024), algorithm 1. DRBQO, distributionally robust Bayesian quadrature optimisation under a
simulator: Nguyen et al. (2020); contexts are a fixed sample, the reference on them uniform, the set `chi2mod`. As in
the published code, `thanhnguyentang/drbqo`: the decision is the best of a sample of the posterior by 1,000 random
Fourier features, or now and then a uniform one; the context is the one of which least is known; recommended is, of the
decisions tried, the best by the posterior mean.
"""

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, Self

import numpy as np
import pydantic
from pydantic import Field

from bocu.core.about import About, Look, Size, Work, planning_only
from bocu.core.parameters import Integer, Number, Parameters
from bocu.core.rounds import GRID, Round
from bocu.learners.algorithms.base import SIMULATOR
from bocu.learners.algorithms.finite_base import BoundParameters, FiniteAlgorithm
from bocu.robust.objectives.functions import DistributionallyRobustParameters, UncertaintyObjective

if TYPE_CHECKING:
    from bocu.learners.surrogates.fourier import FourierSampler
    from bocu.learners.surrogates.pathwise import PathwiseSampler


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
            "point": 0 if size.rehearsal else size.points * rounds,
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
    def sampler(self) -> "PathwiseSampler | FourierSampler":
        """What draws payoff tables from the posterior."""
        prior = self.posterior.prior
        if self.parameters.posterior == "pathwise":
            from bocu.learners.surrogates.pathwise import PathwiseSampler

            return PathwiseSampler(prior)
        from bocu.learners.surrogates.fourier import FourierSampler

        return FourierSampler(prior, self.parameters.features, self.parameters.pairs)


class DRBQOParameters(ThompsonParameters):
    """How the posterior is sampled, and how often it is not."""

    posterior: Literal["pathwise", "fourier"] = Field(
        "fourier", description="`pathwise`: exact samples; `fourier`: random Fourier features, redrawn every round"
    )
    features: Annotated[Integer, Field(ge=1, le=1_000_000)] = Field(
        1000, description="number of Fourier features, each counted"
    )
    exploration: Annotated[Number, Field(ge=0.0, le=1.0)] = Field(
        0.1, description="probability with which a decision is drawn uniformly"
    )

    def unfit(self, name: str, objective: Parameters) -> str:
        if not isinstance(objective, DistributionallyRobustParameters):
            return "it pursues a worst expectation; take dro"
        return ""


class DRBQO(ThompsonSampling):
    """The best worst expectation of a sample of the posterior, or a uniform decision."""

    about = About(
        title="DRBQO",
        summary="Thompson sampling of the worst expectation on a simulator, some decisions uniform",
        paper="Nguyen et al. 2020",
        look=Look("orange", "solid", "^"),
    )
    protocols = (SIMULATOR,)  # type: ignore[assignment]
    pursues_objective = True
    Parameters = DRBQOParameters
    parameters: DRBQOParameters

    def _choose(self, round: Round, available: np.ndarray | None) -> int:
        if self.generator.random() < self.parameters.exploration:
            among = np.arange(len(self.posterior.prior.decisions)) if available is None else available
            return int(among[self.generator.integers(len(among))])
        return super()._choose(round, available)

    def recommend(self) -> int:
        return self.best_tried()
