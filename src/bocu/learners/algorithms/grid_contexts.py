"""DRBO-MMD and its minimax approximation: continuous contexts on a grid (baselines of Huang et al., 2024).

The reference is the empirical distribution of the contexts seen, each at its nearest grid point, and the radius that of
Kirschner et al. (2020), Lemma 3.
"""

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Literal, Self, TypeVar

import numpy as np
import pydantic
from pydantic import Field

from bocu.core.about import About, Look, Size, Work, planning_only
from bocu.core.parameters import Integer, later
from bocu.core.rounds import CONTINUOUS, Round, Situation
from bocu.learners.acquisition.base import Functional
from bocu.learners.acquisition.functionals import WorstCaseValue
from bocu.learners.acquisition.minimax import Chord, IdentitySensitivity, MinimaxFunctional, PublishedMinimax
from bocu.learners.acquisition.multistart import FEW_ASCENTS, SearchParameters
from bocu.learners.algorithms.botorch_model import BotorchModelParameters
from bocu.learners.algorithms.continuous_base import Contextual, ContextualParameters, Game, Posteriors
from bocu.learners.surrogates.continuous.model import Posterior
from bocu.robust.ambiguity.base import AmbiguitySet
from bocu.robust.ambiguity.mmd.gram import with_jitter
from bocu.robust.ambiguity.mmd.maximum_mean_discrepancy import MaximumMeanDiscrepancy, MaximumMeanDiscrepancyParameters
from bocu.robust.ambiguity.parameters import StatedSet, by_default, sets_that
from bocu.robust.contexts.estimates import covering_grid, diagonal_grid, empirical

#: Coordinates of contexts up to which few of them determine all, and as how many the model's work is priced else.
_COMPRESSED, _PRICED_CONTEXTS = 2, 512

#: A round with a stand-in for the sensitivity, as a share of one with the exact one, which its price is of.
_STAND_IN = 0.1


class GridContextParameters(ContextualParameters):
    """The grid and the ambiguity set on it."""

    search: SearchParameters = Field(FEW_ASCENTS, description="how the acquisition function is maximised")
    contexts: Annotated[Integer, Field(ge=2, le=10_000)] = Field(
        100, description="least number of contexts of the grid"
    )
    grid: Literal["product", "diagonal"] = Field(
        "product",
        description="`product`: n points a coordinate, as few as make the contexts wanted; `diagonal`: the n points on "
        "the diagonal of that grid alone, as in the published code",
    )
    set: StatedSet = Field(
        by_default("mmd", radius={"delta": 0.1}),
        description="the ambiguity set; its radius is a number, a list, or shrinks with the contexts seen",
    )
    mmd_kernel: Literal["squared-exponential", "context-part-of-model", "scaled-context-part-of-model"] = Field(
        "squared-exponential",
        description="kernel of the MMD: squared exponential of the set's length-scale; that of the model over "
        "contexts as it is fitted in the round, at unit variance; or the same times the fitted output scale, as in the "
        "published code, which divides the radius by its root",
    )

    @pydantic.model_validator(mode="after")
    def _known_radius(self) -> Self:
        if isinstance(self.set.radius, str):
            raise ValueError(
                f"the radius '{self.set.radius}' is not known here; give a number, a list or {{delta: 0.1}}"
            )
        if self.mmd_kernel != "squared-exponential" and not isinstance(self.set, MaximumMeanDiscrepancyParameters):
            raise ValueError("the key 'mmd_kernel' goes with the set 'mmd'")
        if self.mmd_kernel != "squared-exponential" and isinstance(self.model, BotorchModelParameters):
            raise ValueError(f"mmd_kernel: '{self.mmd_kernel}' is of our own model; a BoTorch model has no such part")
        return self


GridType = TypeVar("GridType", bound=GridContextParameters)


class GridContexts(Contextual[GridType]):
    """A functional of an ambiguity set around the empirical distribution on a grid of contexts."""

    @classmethod
    @planning_only
    def work(cls, parameters: GridType, size: Size, rounds: int) -> Work:
        if parameters.grid == "diagonal":  # one line of contexts, however many coordinates they have
            size = replace(size, context_coordinates=min(size.context_coordinates, 1))
        done = super().work(parameters, size, rounds)
        if size.context_coordinates <= _COMPRESSED:
            return done
        points = math.ceil(parameters.contexts ** (1.0 / size.context_coordinates)) ** size.context_coordinates
        return replace(done, counts={**done.counts, "solve": done.counts["solve"] * points / _PRICED_CONTEXTS})

    @cached_property
    def points(self) -> np.ndarray:
        """The grid in the unit cube, shape (n, Dc)."""
        points = covering_grid(self.lower, self.upper, self.parameters.contexts)
        if self.parameters.grid == "product":
            return points
        return diagonal_grid(self.lower, self.upper, round(len(points) ** (1.0 / len(self.lower))))

    @cached_property
    def _fixed_set(self) -> AmbiguitySet | None:
        fixed = self.parameters.mmd_kernel == "squared-exponential"
        return self.parameters.set.over(self.points) if fixed else None

    def _game(self, posteriors: Posteriors, round: Round, generator: np.random.Generator) -> Game:
        reference = empirical(self.observed, self.points)
        ambiguity_set = self._fixed_set or self._model_set(posteriors[0])
        situation = Situation(round.t, reference, reference, len(self.observed))
        radius = self.parameters.set.epsilon(situation, ambiguity_set)
        return self.points, self._functional(ambiguity_set.with_epsilon(radius), reference)

    @abstractmethod
    def _functional(self, ambiguity_set: AmbiguitySet, reference: np.ndarray) -> Functional:
        """Return what is maximised, for a set at the radius of the round."""

    def _model_set(self, posterior: Posterior) -> AmbiguitySet:
        """Return the MMD set whose kernel is the model's over contexts."""
        structure, here = posterior.structure, posterior.hyperparameters
        padded = np.zeros((len(self.points), structure.inputs))
        padded[:, structure.decisions :] = self.points
        gram = structure.correlation(here.lengthscales, padded, padded)
        if self.parameters.mmd_kernel == "scaled-context-part-of-model":
            gram *= here.output_scale
        stated = self.parameters.set
        assert isinstance(stated, MaximumMeanDiscrepancyParameters)
        return MaximumMeanDiscrepancy(0.0, with_jitter(gram, stated.jitter))


class DRBOMMDParameters(GridContextParameters):
    """The grid and the MMD set on it."""

    @pydantic.model_validator(mode="after")
    def _mmd(self) -> Self:
        if not isinstance(self.set, MaximumMeanDiscrepancyParameters):
            raise ValueError(f"found the set '{self.set.name}'; allowed: mmd")
        return self


class DRBOMMD(GridContexts[DRBOMMDParameters]):
    """The worst mean of the upper bound over an MMD set, exactly."""

    about = About(
        title="DRBO-MMD",
        summary="UCB on the worst expectation over an MMD set on a grid of contexts (baseline of Huang et al. 2024)",
        look=Look("green", "long-dash", "D"),
    )
    protocols = CONTINUOUS
    Parameters = DRBOMMDParameters

    def _functional(self, ambiguity_set: AmbiguitySet, reference: np.ndarray) -> Functional:
        return WorstCaseValue(ambiguity_set, reference)


class MinimaxContinuousParameters(GridContextParameters):
    """The grid, the ambiguity set on it, and its sensitivity."""

    contexts: Annotated[Integer, Field(ge=2, le=10_000)] = Field(
        1024, description="least number of contexts of the grid"
    )
    sensitivity: Literal["exact", "identity"] = Field(
        "exact",
        description="sensitivity of the worst expectation at radius 0; `identity`: the published code's stand-in for "
        "`mmd`, its Gram matrix replaced by the identity",
    )
    mean: Literal["reference", "uniform"] = Field(
        "reference",
        description="distribution of the expectation that the approximation starts from: the reference, or the uniform "
        "one of the published code; distances are from the reference in both",
    )
    cases: Literal["corrected", "as-published"] = Field(
        "corrected",
        exclude_if=later("corrected"),
        description="`as-published`: what the cases of the published code come to: the middle of the chord and the "
        "least payoff; for a decision whose set reaches the least payoff, the mean of the payoffs observed, where it "
        "is evaluated beside one whose set does not",
    )

    def unused(self) -> Mapping[str, str]:
        return {} if self.cases == "corrected" else {"sensitivity": "no case of the published code comes to it"}

    @pydantic.model_validator(mode="after")
    def _defined(self) -> Self:
        if self.set.family.sensitivity_power is None:
            others = sets_that(lambda family: family.sensitivity_power is not None)
            raise ValueError(f"'{self.set.name}' has no such approximation; take {others}")
        if self.sensitivity == "identity" and not isinstance(self.set, MaximumMeanDiscrepancyParameters):
            raise ValueError(f"the sensitivity 'identity' stands in for that of mmd, not of '{self.set.name}'")
        return self


class MinimaxContinuous(GridContexts[MinimaxContinuousParameters]):
    """The minimax approximation (Tay et al., 2022) of the worst mean of the upper bound, on a finer grid."""

    about = About(
        title="DRBO-MMD minimax",
        summary="UCB on its minimax approximation on a finer grid (baseline of Huang et al. 2024)",
        look=Look("orange", "long-dash", "d"),
        aliases={"drbo-mmd-minimax": "DRBO-MMD minimax"},
    )
    protocols = CONTINUOUS
    Parameters = MinimaxContinuousParameters

    @classmethod
    @planning_only
    def work(cls, parameters: MinimaxContinuousParameters, size: Size, rounds: int) -> Work:
        done = super().work(parameters, size, rounds)
        exact = 1.0 if (parameters.sensitivity, parameters.cases) == ("exact", "corrected") else _STAND_IN
        return replace(done, counts={**done.counts, "round": done.counts["round"] * exact})

    def _functional(self, ambiguity_set: AmbiguitySet, reference: np.ndarray) -> Functional:
        stand_in = IdentitySensitivity() if self.parameters.sensitivity == "identity" else None
        mean = np.full(len(reference), 1.0 / len(reference)) if self.parameters.mean == "uniform" else None
        if self.parameters.cases == "as-published":
            return PublishedMinimax(Chord(ambiguity_set, reference, mean), float(self.models[0].outputs.mean()))
        return MinimaxFunctional(ambiguity_set, reference, stand_in, mean)
