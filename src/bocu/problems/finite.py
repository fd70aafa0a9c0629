"""Problems on a grid of decisions and contexts, whose payoff table stands still while distributions may change.

The settings of Tay et al. (2024) and Kirschner et al. (2020). All coordinates are scaled to [0, 1].
"""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
import pydantic
from pydantic import Field

from bocu.contexts.estimates import discretised, product_grid
from bocu.contexts.stated_laws import LawParameters
from bocu.core.costs import Size, planning_only
from bocu.core.domains import FiniteDomain
from bocu.core.errors import BocuError, shown
from bocu.core.kernels import KERNELS
from bocu.core.parameters import Count, NotNegative, Number, Parameters, Positive
from bocu.core.protocols import CONTEXTUAL
from bocu.core.randomness import Streams
from bocu.core.rounds import Context, Decision, Description, Outline
from bocu.problems.base import Problem, Realisation
from bocu.problems.candidates import CandidateParameters, chosen
from bocu.problems.given_design import MOST_POINTS, InitialDesign, points_of
from bocu.surrogates.grid import GridPrior, check_scales

"""Decisions, or contexts, of a grid: models keep a matrix over all pairs of either."""
MOST_CELLS = 10**8
"""Pairs of decision and context."""


class NormalParameters(Parameters):
    """A normal distribution, the same in every context coordinate, evaluated on the grid and normalised."""

    mean: Number = Field(0.5, description="mean of every coordinate")
    sd: Positive | None = Field(None, description="standard deviation of every coordinate; or give the variance")
    variance: Positive | None = Field(None, description="variance of every coordinate; or give the sd")

    @pydantic.model_validator(mode="after")
    def _one_spread(self) -> Self:
        if (self.sd is None) == (self.variance is None):
            raise ValueError("a normal distribution has an 'sd' or a 'variance', one of the two")
        return self

    def weights(self, points: np.ndarray) -> np.ndarray:
        """Return its density on points, normalised."""
        variance = self.variance if self.variance is not None else (self.sd or 0.0) ** 2
        # The largest exponent is taken off: far from the mean all densities would otherwise be 0.
        exponent = -((points - self.mean) ** 2).sum(axis=1) / (2.0 * variance)
        return discretised(lambda _: np.exp(exponent - exponent.max()), points)


class Normal(Parameters):
    """A normal distribution."""

    normal: NormalParameters = Field(description="its mean, and its `sd` or `variance`")

    def weights_on(self, points: np.ndarray) -> np.ndarray:
        """Evaluate it on context points (contexts, dimension)."""
        return self.normal.weights(points)


class Weights(Parameters):
    """A distribution that is written out."""

    weights: list[NotNegative] = Field(min_length=1, description="one weight a context; they are normalised")

    def weights_on(self, points: np.ndarray) -> np.ndarray:
        """Return the weights, normalised, of as many context points."""
        weights = np.asarray(self.weights)
        if len(weights) != len(points) or not weights.sum() > 0.0:
            raise BocuError(
                f"weights: found {len(weights)} that sum to {weights.sum():g}; {len(points)} with a positive sum wanted"
            )
        return weights / weights.sum()


class ByLaw(Parameters):
    """The density of a law at the contexts, normalised."""

    law: LawParameters = Field(description="the law: `{name, parameters}`, or a name alone (see `bocu list laws`)")

    def weights_on(self, points: np.ndarray) -> np.ndarray:
        """Evaluate it on context points (contexts, dimension)."""
        return self.law.weights_on(points)


Distribution = Literal["uniform"] | Normal | Weights | ByLaw


def weights_on(distribution: Distribution, points: np.ndarray) -> np.ndarray:
    """Evaluate a distribution on context points of shape (contexts, dimension)."""
    if isinstance(distribution, str):
        return np.full(len(points), 1.0 / len(points))
    return distribution.weights_on(points)


class FiniteParameters(CandidateParameters):
    """What every problem on a grid has. Subclasses give the grids."""

    protocol: Literal["general", "data-driven", "simulator"] = Field(
        "general",
        description="`general`: reference and radius are given, contexts come from the truth; `data-driven`: the "
        "reference is the empirical distribution of the contexts seen; `simulator`: the learner chooses contexts",
    )
    decision_points: list[Count] = Field(description="points a decision coordinate, evenly spaced over [0, 1]")
    context_points: list[Count] = Field(description="points a context coordinate, evenly spaced over [0, 1]")
    reference: Distribution | list[Distribution] = Field(
        Normal(normal=NormalParameters(mean=0.5, variance=0.2)),
        description="reference distribution over the contexts: `uniform`, `{normal: {mean, sd or variance}}`, "
        "`{weights: [...]}`, `{law: {name, parameters}}`, or a list of these over the rounds, whose last one stays",
    )
    truth: Distribution | list[Distribution] = Field(
        "uniform", description="distribution that contexts come from, as `reference`"
    )
    initial: InitialDesign = Field(
        5,
        description="points of the initial design, drawn uniformly from decisions and contexts; or `{file: ...}`: the "
        "design itself",
    )
    initial_replacement: bool = Field(
        True,
        description="whether the same decision and context may be drawn twice for the initial design; the published "
        "code of Tay et al. (2024) draws without replacement",
    )
    kernel: Literal["squared-exponential", "matern-5/2"] = Field(
        "squared-exponential", description="kernel of the Gaussian process that algorithms believe in, not refitted"
    )
    lengthscale: Positive = Field(0.1, description="length-scale of that kernel in every coordinate")
    variance: Positive = Field(1.0, description="variance of that kernel, in squared units of the payoff")
    noise: Positive = Field(0.01, description="standard deviation of the observation noise, which algorithms know")
    ridge: Positive | None = Field(
        None, description="noise variance that algorithms reckon with, where it is not that of the observations"
    )

    @pydantic.field_validator("reference", "truth")
    @classmethod
    def _not_empty(cls, value: object) -> object:
        if value == []:
            raise ValueError("a list of distributions holds one or more")
        return value

    def initial_points(self) -> int:
        return points_of(self.initial)

    def protocol_among(self, known: tuple[str, ...]) -> str:
        return self.protocol


FiniteType = TypeVar("FiniteType", bound=FiniteParameters)


class FiniteProblem(Problem[FiniteType]):
    """A payoff table over a grid; subclasses say what it holds.

    Attributes:
        decisions, contexts: grid points, shapes (decisions, dimension) and (contexts, dimension).
        references, truths: distributions over the rounds, the last one stays.
        own_model: the Gaussian process that the parameters state.
        priors: the candidates.
        model: the Gaussian process that algorithms with one model believe in.
    """

    decision_names: ClassVar[tuple[str, ...]]
    decision_units: ClassVar[tuple[str, ...]]
    context_names: ClassVar[tuple[str, ...]]
    context_units: ClassVar[tuple[str, ...]]
    protocols = CONTEXTUAL

    def __init__(self, parameters: FiniteType, inputs: Mapping[str, Any]) -> None:
        super().__init__(parameters, inputs)
        self._lay_out()
        settings = self.parameters
        kernel = KERNELS[settings.kernel]
        self.own_model = GridPrior(
            self.decisions,
            self.contexts,
            kernel((settings.lengthscale,) * self.decisions.shape[1]),
            kernel((settings.lengthscale,) * self.contexts.shape[1]),
            settings.variance,
            self._model_noise,
        )
        self.priors = settings.laid_out(inputs, self.decisions, self.contexts, self._model_noise)
        self.prior_labels = tuple(prior.label for prior in self.priors)
        self.model = chosen(self.priors, settings.believed, self.own_model)
        self.best_prior = chosen(self.priors, settings.best, self.model) if self.priors else None

    @classmethod
    def outline(cls, parameters: FiniteType) -> Outline:
        bare = cls.__new__(cls)
        Problem.__init__(bare, parameters, {})
        bare._lay_out()
        check_scales(parameters.variance, bare._model_noise)
        labels = parameters.check_candidates(len(cls.decision_names) + len(cls.context_names))
        return Outline(FiniteDomain(bare.decisions, cls.decision_names, cls.decision_units), priors=labels)

    @classmethod
    @planning_only
    def size(cls, parameters: FiniteType) -> Size:
        priors = max(len(parameters.candidates), 1)
        points = math.prod(parameters.decision_points), math.prod(parameters.context_points)
        return Size(*points, priors=priors, kernels=priors)

    def _lay_out(self) -> None:
        """Make grids and distributions, for which no file is needed."""
        settings = self.parameters
        self.decisions = self._grid("decision", settings.decision_points, len(self.decision_names))
        self.contexts = self._grid("context", settings.context_points, len(self.context_names))
        cells = len(self.decisions) * len(self.contexts)
        if cells > MOST_CELLS:
            raise BocuError(f"decision_points, context_points: found {cells} pairs; allowed: up to {MOST_CELLS}")
        self.references = [weights_on(entry, self.contexts) for entry in _listed(settings.reference)]
        self.truths = [weights_on(entry, self.contexts) for entry in _listed(settings.truth)]

    @property
    def _model_noise(self) -> float | np.ndarray:
        settings = self.parameters
        return settings.noise if settings.ridge is None else float(np.sqrt(settings.ridge))

    @abstractmethod
    def payoff_table(self, streams: Streams) -> np.ndarray:
        """Return the noise-free payoffs on the grid, shape (decisions, contexts); draws from "problem" alone."""

    def feasible(self, kind: str, points: np.ndarray) -> np.ndarray | None:
        """Say which points of the full grid exist, shape (points,), for kind "decision" or "context"; None: all."""
        return None

    def realise(self, streams: Streams) -> "FiniteRealisation":
        return FiniteRealisation(self, self.payoff_table(streams))

    def _grid(self, kind: str, counts: list[int], dimension: int) -> np.ndarray:
        if len(counts) != dimension:
            raise BocuError(f"{kind}_points: found {len(counts)} numbers; {dimension} wanted, one a {kind} coordinate")
        if math.prod(counts) > MOST_POINTS:
            raise BocuError(f"{kind}_points: found {shown(math.prod(counts))} points; allowed: up to {MOST_POINTS}")
        points = product_grid(np.zeros(dimension), np.ones(dimension), counts)
        kept = self.feasible(kind, points)
        return points if kept is None else points[kept]


class FiniteRealisation(Realisation):
    """One payoff table.

    Args:
        problem: the family.
        table: payoffs, shape (decisions, contexts).
    """

    def __init__(self, problem: FiniteProblem, table: np.ndarray) -> None:
        self._table = table
        self._references, self._truths = problem.references, problem.truths
        self._replacement = problem.parameters.initial_replacement
        self.description = Description(
            decisions=FiniteDomain(problem.decisions, problem.decision_names, problem.decision_units),
            contexts=FiniteDomain(problem.contexts, problem.context_names, problem.context_units),
            noise=problem.parameters.noise,
            protocol=problem.protocol,
            model=problem.model,
            priors=problem.priors,
            best_prior=problem.best_prior,
        )

    def initial_design(self, generator: np.random.Generator, size: int) -> Sequence[tuple[Decision, Context]]:
        if self._replacement:
            return super().initial_design(generator, size)
        if size > self._table.size:
            raise BocuError(f"initial: found {size} points; allowed without replacement: {self._table.size} or fewer")
        chosen = generator.choice(self._table.size, size, replace=False)
        decisions, contexts = np.unravel_index(chosen, self._table.shape)
        return list(zip(decisions.tolist(), contexts.tolist(), strict=True))

    def payoff(self, decision: Decision, context: Context) -> float:
        return float(self._table[decision, context])

    def payoffs(self, t: int) -> np.ndarray:
        return self._table

    def reference(self, t: int) -> np.ndarray:
        return self._references[min(t, len(self._references)) - 1]

    def truth(self, t: int) -> np.ndarray:
        return self._truths[min(t, len(self._truths)) - 1]


def _listed(entry: Distribution | list[Distribution]) -> list[Distribution]:
    return entry if isinstance(entry, list) else [entry]
