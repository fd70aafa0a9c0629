"""Problems on a grid of decisions and contexts, whose payoff table stands still while distributions may change.

The settings of Tay et al. (2024) and Kirschner et al. (2020). All coordinates are scaled to [0, 1].
"""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, Self, TypeVar

import numpy as np
import pydantic
from pydantic import Field

from bocu.core.about import Size, planning_only
from bocu.core.errors import BocuError, shown
from bocu.core.kernels import KERNELS
from bocu.core.parameters import Count, Positive
from bocu.core.plain import Plain
from bocu.core.randomness import Streams
from bocu.core.rounds import CONTEXTUAL, Context, Decision, Description, FiniteDomain, Outline
from bocu.learners.surrogates.grid import GridPrior, check_scales
from bocu.problems.base import Problem, Realisation
from bocu.problems.candidates import FIT_KERNEL, FITTED, OWN_KERNEL, CandidateParameters, Lengthscale, prior_named
from bocu.problems.distributions import (
    Distribution,
    Normal,
    NormalParameters,
    Reference,
    listed,
    shifting,
    weights_on,
)
from bocu.problems.given_design import MOST_POINTS, InitialDesign, points_in_design
from bocu.problems.priors.grids import fitted_prior, grid_priors
from bocu.robust.contexts.estimates import product_grid
from bocu.robust.contexts.references import Estimate
from bocu.robust.contexts.shifts import Schedule, ShiftParameters

if TYPE_CHECKING:
    from bocu.sweep.experiment.branches import ProblemPaths

LENGTHSCALE = "length-scale of that kernel in every coordinate"

MOST_CELLS = 10**8  #: Pairs of decision and context.


class FiniteParameters(CandidateParameters):
    """What every problem on a grid has. Subclasses give the grids."""

    protocol: Literal["general", "data-driven", "simulator"] = Field(
        "general",
        description="`general`: reference and radius are given, contexts come from the truth; `data-driven`: the "
        "reference is the empirical distribution of the contexts seen; `simulator`: the learner chooses contexts",
    )
    decision_points: list[Count] = Field(description="points a decision coordinate, evenly spaced over [0, 1]")
    context_points: list[Count] = Field(description="points a context coordinate, evenly spaced over [0, 1]")
    reference: Reference = Field(
        Normal(normal=NormalParameters(mean=0.5, variance=0.2)),
        description="reference distribution over the contexts: `uniform`, `{normal: {mean, sd or variance}}`, "
        "`{weights: [...]}`, `{law: {name, parameters}}`, or a list of these over the rounds, whose last one stays; "
        "`announced`: the truth of the round; or estimated from the contexts seen: `{name: empirical}`, `{name: "
        "window, length}`, `{name: discounted, rate}`, `{name: kde, bandwidth, length}`",
    )
    truth: Distribution | list[Distribution] = Field(
        "uniform", description="distribution that contexts come from, stated as `reference`"
    )
    shift: ShiftParameters | None = Field(
        None, description="how the truth changes over rounds: `{name, parameters}` (see `bocu list shifts`)"
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
    lengthscale: Lengthscale = Field(
        FITTED,
        description=f"{LENGTHSCALE}; `fitted`: a job finds one for each, with variance and mean, from 30 payoffs of a "
        "draw that no run meets",
    )
    variance: Positive = Field(
        1.0,
        description="variance of that kernel, in squared units of the payoff, where its length-scale is stated",
    )
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

    @pydantic.model_validator(mode="after")
    def _sees_what_comes(self) -> Self:
        if self.protocol == "simulator" and isinstance(self.reference, Estimate):
            raise ValueError("the learner of a simulator chooses its contexts: an estimate says nothing of the truth")
        return self

    @pydantic.model_validator(mode="after")
    def _whole_kernel(self) -> Self:
        if self.lengthscale == FITTED and self.variance != type(self).model_fields["variance"].default:
            raise ValueError("a variance is stated and no length-scale; state 'lengthscale' too, or neither")
        return self

    @property
    def fits_kernel(self) -> bool:
        """Whether a job fits the kernel that algorithms with one model believe in."""
        return self.lengthscale == FITTED and self.believed is None

    def inputs(self, paths: "ProblemPaths") -> dict[str, str | list[str]]:
        return {**super().inputs(paths), **({"kernel": paths.prior(OWN_KERNEL)} if self.fits_kernel else {})}

    def priors(self) -> dict[str, Plain]:
        fitted: dict[str, Plain] = {OWN_KERNEL: {"fit": FIT_KERNEL, "statement": None}} if self.fits_kernel else {}
        return {**super().priors(), **fitted}

    def initial_points(self) -> int:
        return points_in_design(self.initial)

    def protocol_among(self, known: tuple[str, ...]) -> str:
        return self.protocol


FiniteType = TypeVar("FiniteType", bound=FiniteParameters)


class FiniteProblem(Problem[FiniteType]):
    """A payoff table over a grid; subclasses say what it holds.

    Attributes:
        decisions, contexts: grid points, shapes (decisions, dimension) and (contexts, dimension).
        references, truths: those stated over the rounds, the last one stays; `truth_in` and `reference_in` are those of
            a round, shifted or announced.
        decision_units, context_units: of the coordinates; left out, they are scaled and have none.
        priors: the candidates.
        model: the Gaussian process that algorithms with one model believe in; None before it was fitted.
    """

    decision_names: ClassVar[tuple[str, ...]]
    decision_units: ClassVar[tuple[str, ...]] = ()
    context_names: ClassVar[tuple[str, ...]]
    context_units: ClassVar[tuple[str, ...]] = ()
    protocols = CONTEXTUAL
    units = "1"

    def __init__(self, parameters: FiniteType, inputs: Mapping[str, object]) -> None:
        super().__init__(parameters, inputs)
        self._lay_out()
        settings = self.parameters
        self.priors = settings.laid_out(inputs, self.decisions, self.contexts, self.model_noise)
        self.prior_labels = tuple(prior.label for prior in self.priors)
        unknown = settings.fits_kernel and "kernel" not in inputs
        own = None if unknown or settings.believed is not None else self.own_model
        self.model = prior_named(self.priors, settings.believed, own)
        self.best_prior = prior_named(self.priors, settings.best, self.model) if self.priors else None

    @classmethod
    def outline(cls, parameters: FiniteType) -> Outline:
        bare = cls.bare(parameters)
        bare._lay_out()
        check_scales(parameters.variance, bare.model_noise)
        labels = parameters.check_candidates(len(cls.decision_names) + len(cls.context_names))
        return Outline(_space(bare.decisions, cls.decision_names, cls.decision_units), priors=labels)

    @classmethod
    def check_rounds(cls, parameters: FiniteType, iterations: int) -> None:
        if parameters.shift is not None:
            shifting(parameters.truth, parameters.shift, len(cls.context_names)).check(iterations)

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
        self.references = [weights_on(entry, self.contexts) for entry in listed(settings.reference)]
        self.truths = [weights_on(entry, self.contexts) for entry in listed(settings.truth)]

    @cached_property
    def schedule(self) -> Schedule | None:
        """The laws that contexts come from round by round, where they shift."""
        shift = self.parameters.shift
        return None if shift is None else shifting(self.parameters.truth, shift, self.contexts.shape[1])

    def truth_in(self, t: int) -> np.ndarray:
        """Return the distribution that the context of round `t` comes from, shape (contexts,)."""
        return _of_round(self.truths, t) if self.schedule is None else self.schedule.weights(t, self.contexts)

    def reference_in(self, t: int) -> np.ndarray:
        """Return the distribution that is told before round `t`, where it is not estimated, shape (contexts,)."""
        if self.parameters.reference == "announced":
            return self.truth_in(t) if self.schedule is None else self.schedule.announced(t, self.contexts)
        return _of_round(self.references, t)

    @cached_property
    def own_model(self) -> GridPrior:
        """The Gaussian process that the parameters state, or that was fitted.

        Raises:
            BocuError: it was not fitted, as when payoffs are drawn from it.
        """
        settings = self.parameters
        if settings.lengthscale == FITTED:
            if "kernel" not in self.inputs:
                raise BocuError("lengthscale: found 'fitted', before a job fitted it; state a number here")
            fitted = fitted_prior(OWN_KERNEL, self.inputs["kernel"])
            return grid_priors([fitted], {}, self.decisions, self.contexts, self.model_noise)[0]
        kernel = KERNELS[settings.kernel]
        over_decisions, over_contexts = self._lengthscales()
        return GridPrior(
            self.decisions,
            self.contexts,
            kernel((over_decisions,) * self.decisions.shape[1]),
            kernel((over_contexts,) * self.contexts.shape[1]),
            settings.variance,
            self.model_noise,
        )

    def _lengthscales(self) -> tuple[float, float]:
        """Return those of every decision and of every context coordinate."""
        stated = float(self.parameters.lengthscale)
        return stated, stated

    @property
    def model_noise(self) -> float | np.ndarray:
        """The standard deviation of the noise that algorithms reckon with; one number, or one a context (contexts,)."""
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
        self._problem = problem
        self._replacement = problem.parameters.initial_replacement
        self.description = Description(
            decisions=_space(problem.decisions, problem.decision_names, problem.decision_units),
            contexts=_space(problem.contexts, problem.context_names, problem.context_units),
            noise=problem.parameters.noise,
            protocol=problem.protocol,
            model=problem.model,
            priors=problem.priors,
            best_prior=problem.best_prior,
        )
        stated = problem.parameters.reference
        self.estimate = stated if isinstance(stated, Estimate) else None

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
        return self._problem.reference_in(t)

    def truth(self, t: int) -> np.ndarray:
        return self._problem.truth_in(t)


def _space(points: np.ndarray, names: tuple[str, ...], units: tuple[str, ...]) -> FiniteDomain:
    return FiniteDomain(points, names, units or ("1",) * len(names))


def _of_round(distributions: Sequence[np.ndarray], t: int) -> np.ndarray:
    return distributions[min(t, len(distributions)) - 1]
