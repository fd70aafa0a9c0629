"""Any uncertainty objective with continuous decisions and contexts, over contexts that are sampled.

Contexts with equal reference mass, drawn from a kernel density estimate (Huang et al., 2024) or those seen, and
scrambled Sobol contexts without any stand for the box: the objective is that of the finite game on them, solved
exactly, an average over samples with its worst case.

- UCB-BOCU-KDE: UCB under any objective (Tay et al., 2024, UCB-BOCU-2); sets of divergences around a continuous
  reference: Husain et al. (2023, equation 14). A divergence leaves mass on the samples, so that beyond its largest
  distance from M equal samples to one alone, log M for `kl` and (M - 1) / 2 for `chi2mod`, a radius changes nothing any
  more: the value is the minimum over the samples.
- DRO-BO-φ (after the abstract of Husain et al., 2023): the closed forms of `acquisition.functionals`, for `chi2`,
  `chi2mod` and `tv`: no solver, and a penalty that goes on growing where the exact worst case has reached the least
  payoff. On grids they are `sensitivity-approximation`.
- TS-BOCU-KDE: Thompson sampling under an uncertainty objective (Tay et al., 2024, algorithm 1). No paper has it over
  such samples.
"""

from typing import Annotated, Literal, TypeVar

import numpy as np
import pydantic
from pydantic import Field

from bocu.core.about import About, Look
from bocu.core.errors import BocuError
from bocu.core.parameters import Integer, Parameters
from bocu.core.randomness import scrambled_sobol
from bocu.core.rounds import CONTINUOUS, Description, Round, Situation
from bocu.learners.acquisition.base import Surface
from bocu.learners.acquisition.functionals import MeanLessDeviation, MeanLessRange, ObjectiveValue, functional
from bocu.learners.acquisition.surfaces import SampledSurface
from bocu.learners.algorithms.base import Pursued
from bocu.learners.algorithms.botorch_model import BotorchModelParameters, names_factory
from bocu.learners.algorithms.continuous_base import (
    Contextual,
    ContinuousAlgorithmParameters,
    Game,
    ModelParameters,
    Posteriors,
    ProductModelParameters,
)
from bocu.robust.ambiguity.divergences import ChiSquared, ModifiedChiSquared
from bocu.robust.contexts.estimates import KernelDensity
from bocu.robust.objectives.functions import (
    DistributionallyRobustParameters,
    GeneralParameters,
    Objective,
    Slice,
    Stochastic,
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


class UCBDensityParameters(SampledReferenceParameters):
    """Confidence bound, model, and what stands for the reference."""

    model: ModelParameters | BotorchModelParameters = Field(
        ModelParameters(), description="the Gaussian process of payoffs; or a BoTorch model, such as `botorch-default`"
    )
    reference: Literal["kde", "empirical"] = Field(
        "kde",
        description="`kde`: `samples` draws from a kernel density estimate of the contexts seen; `empirical`: the "
        "contexts seen themselves, whatever `samples` says",
    )
    others: Annotated[Integer, Field(ge=0, le=1_000_000)] = Field(
        128,
        description="scrambled Sobol contexts without reference mass, which a worst case may move mass to; none are "
        "drawn where it cannot, as with divergences and CVaR",
    )


class UCBDensity(SampledReference[UCBDensityParameters]):
    """The best decision by the objective pursued of the upper confidence bound."""

    about = About(
        title="UCB-BOCU-KDE",
        summary="UCB under the objective over a kernel density estimate of the context, or the contexts seen (ours)",
        look=Look("sky", "dotted", "*"),
    )
    protocols = CONTINUOUS
    Parameters = UCBDensityParameters

    def _game(self, posteriors: Posteriors, round: Round, generator: np.random.Generator) -> Game:
        points, rule, reference = self._sampled(round, generator, self.parameters.others if self._spreads else 0)
        return points, functional(rule, reference, posteriors[0].scale)

    def _drawn(self, generator: np.random.Generator) -> np.ndarray:
        return self.observed if self.parameters.reference == "empirical" else super()._drawn(generator)

    @property
    def _spreads(self) -> bool:
        """Whether contexts without reference mass can change the value."""
        ambiguity = self._pursued.ambiguity
        if ambiguity is None:
            return not isinstance(self._pursued, Stochastic)
        return getattr(ambiguity.family, "leaves_support", True)


CLOSED = ("chi2", "chi2mod", "tv")


class ClosedFormParameters(UCBDensityParameters):
    """As those of UCB-BOCU-KDE; `others` also are where total variation looks for the largest payoff."""

    def unfit(self, name: str, objective: Parameters) -> str:
        if not isinstance(objective, DistributionallyRobustParameters):
            return "closed forms are those of the worst expectation; take dro"
        if objective.set.name not in CLOSED:
            return f"'{objective.set.name}' has no closed form; take {', '.join(CLOSED)}, or ucb-bocu-kde"
        return super().unfit(name, objective)


class ClosedFormDivergence(UCBDensity):
    """The best decision by a closed-form lower bound of the worst expectation of the upper confidence bound."""

    about = About(
        title="DRO-BO-φ (after its abstract)",
        summary="UCB on closed-form lower bounds of the worst expectation within a divergence of the density estimate",
        paper="after the abstract of Husain et al. 2023",
        look=Look("blue", "dotted", "P"),
    )
    protocols = CONTINUOUS
    Parameters = ClosedFormParameters

    def _game(self, posteriors: Posteriors, round: Round, generator: np.random.Generator) -> Game:
        points, rule, reference = self._sampled(round, generator, self.parameters.others if self._spreads else 0)
        if not isinstance(rule, Slice):
            raise BocuError(f"found {rule}; a worst expectation is wanted")
        ambiguity = rule.ambiguity_set
        if isinstance(ambiguity, ChiSquared | ModifiedChiSquared):
            factor = 2.0 if isinstance(ambiguity, ModifiedChiSquared) else 1.0
            return points, MeanLessDeviation(ambiguity.epsilon, reference, factor)
        return points, MeanLessRange(ambiguity.epsilon, reference)


class ThompsonDensityParameters(SampledReferenceParameters):
    """How the posterior and the estimate are sampled; `sqrt_beta` does not enter."""

    model: ProductModelParameters = Field(ProductModelParameters(), description="the Gaussian process of payoffs")
    features: Annotated[Integer, Field(ge=1, le=1_000_000)] = Field(
        1024, description="random Fourier features of the prior's sample, which the data then correct exactly"
    )

    @pydantic.field_validator("model", mode="before")
    @classmethod
    def _no_factory(cls, data: object) -> object:
        if names_factory(data):
            raise ValueError(
                "samples are drawn from our own model, whose kernel is a product over decisions and contexts; "
                "a BoTorch model is not taken here"
            )
        return data


class ThompsonDensity(SampledReference[ThompsonDensityParameters]):
    """The best decision of a payoff function that is sampled from the posterior, by the objective pursued.

    Raises:
        BocuError: the objective is none that an experiment states.
    """

    about = About(
        title="TS-BOCU-KDE",
        summary="Thompson sampling under the objective over a kernel density estimate of the context (ours)",
        look=Look("vermillion", "dash-dot-dot", "X"),
    )
    protocols = CONTINUOUS
    Parameters = ThompsonDensityParameters

    def _game(self, posteriors: Posteriors, round: Round, generator: np.random.Generator) -> Game:
        points, rule, reference = self._sampled(round, generator, self.parameters.others)
        return points, ObjectiveValue(rule, reference, posteriors[0].scale)

    def _explored(self, posteriors: Posteriors, points: np.ndarray, round: Round) -> Surface:
        posterior = posteriors[0]
        waves = posterior.prior_sample(self.parameters.features, self.generator)
        return SampledSurface(posterior, points, waves, self.generator.standard_normal(len(posterior.inputs)))
