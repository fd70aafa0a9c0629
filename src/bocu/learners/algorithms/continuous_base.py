"""What the algorithms with continuous decisions have in common (Huang et al., 2024).

A Gaussian process over decisions and contexts, whose hyper-parameters are fitted anew while observations come in, gives
an optimistic payoff `mu + sqrt_beta sigma` of every decision in some contexts; a functional makes one number of these
payoffs, and the next decision is where it is largest, found by ascents from many starts. Algorithms differ in the
contexts and in the functional. All of it happens in unit cubes, into which boxes are scaled.
"""

import copy
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import Field

from bocu.core.about import Size, Work, planning_only
from bocu.core.errors import BocuError
from bocu.core.kernels import KernelName
from bocu.core.parameters import Integer, Parameters, later
from bocu.core.plain import State
from bocu.core.rounds import BoxDomain, Context, Decision, Description, Domain, FiniteDomain, Outline, Round
from bocu.core.ties import first_best
from bocu.learners.acquisition.base import Functional, Surface, SurfaceAcquisition
from bocu.learners.acquisition.multistart import SearchParameters, maximise
from bocu.learners.acquisition.surfaces import surface
from bocu.learners.algorithms.base import Algorithm, AlgorithmParameters, Pursued, Reported, announced, plain_round
from bocu.learners.algorithms.botorch_model import BotorchModelParameters
from bocu.learners.algorithms.theorems import Bound, HuangWidth, Knowledge, width
from bocu.learners.surrogates.continuous.fitting import PublishedStart
from bocu.learners.surrogates.continuous.model import ContinuousGP, FitSettings, Posterior
from bocu.learners.surrogates.continuous.structure import Structure, joint, product
from bocu.robust.contexts.estimates import KernelDensity

Posteriors = Sequence[Posterior]  #: What is believed of the payoff, one for each output.

Game = tuple[np.ndarray, Functional]
"""The contexts that count, in the unit cube (M, Dc), and what is made of the payoffs in them."""


class DecisionModelParameters(Parameters):
    """The Gaussian process of payoffs over decisions alone, and its fits."""

    decision_kernel: KernelName = Field("matern-5/2", description="kernel over decisions")
    refit_every: Annotated[Integer, Field(ge=1)] = Field(
        1, description="hyper-parameters are fitted again after so many observations"
    )
    fit_restarts: Annotated[Integer, Field(ge=0)] = Field(
        0,
        description="ascents of a fit from random draws of the priors, beside those from the last optimum and from "
        "a start at another noise level",
    )
    fit_afresh_every: Annotated[Integer, Field(ge=1)] = Field(
        25,
        description="beyond 60 observations fits climb from all these starts only after so many more observations, and "
        "are carried on from the last optimum between; 1: always",
    )
    fit_start: Literal["carried", "as-published"] = Field(
        "carried",
        exclude_if=later("carried"),
        description="`carried`: fits climb from the last optimum and from a start at another noise level; "
        "`as-published`: each of them once, from where BoTorch's began in 2023: length-scales and output scale log 2, "
        "noise variance 2",
    )

    def unused(self) -> Mapping[str, str]:
        return {} if self.fit_start == "carried" else {"fit_afresh_every": "no fit goes on from the last optimum"}

    def built(self, decisions: int, contexts: int) -> ContinuousGP:
        """Return the model before any observation, over so many coordinates of decisions and contexts."""
        return ContinuousGP(self.structure(decisions, contexts), self.settings)

    def structure(self, decisions: int, contexts: int) -> Structure:
        """Return the kernel over so many coordinates of decisions and contexts."""
        return joint(decisions, 0, self.decision_kernel)

    @planning_only
    def expense(self, context_coordinates: int) -> tuple[float, float]:
        """Return how much more a round, and its work with the observations, take than with one context coordinate."""
        return 1.0, 1.0

    @planning_only
    def held(self) -> float:
        """Return how many float64 a run holds beyond what any does."""
        return 0.0

    @property
    def settings(self) -> FitSettings:
        """How the model is fitted."""
        if self.fit_start == "as-published":
            return FitSettings(PublishedStart(), self.refit_every, self.fit_restarts, afresh=1)
        return FitSettings(every=self.refit_every, restarts=self.fit_restarts, afresh=self.fit_afresh_every)


class ProductModelParameters(DecisionModelParameters):
    """The Gaussian process of payoffs over decisions and contexts: a kernel over each, multiplied."""

    context_kernel: KernelName = Field("squared-exponential", description="kernel over contexts")

    def structure(self, decisions: int, contexts: int) -> Structure:
        return product(decisions, contexts, self.decision_kernel, self.context_kernel)

    @planning_only
    def expense(self, context_coordinates: int) -> tuple[float, float]:
        # Contexts compress the less, the more coordinates they have.
        return {0: (1.0, 1.0), 1: (1.0, 1.0), 2: (1.0, 4.0)}.get(context_coordinates, (3.0, 12.0))


class ModelParameters(ProductModelParameters):
    """The Gaussian process of payoffs over decisions and contexts."""

    kernel: Literal["product", "joint"] = Field(
        "product",
        description="`product`: a kernel over decisions times one over contexts; `joint`: one kernel, that of "
        "decisions, over both together, as the published code has it",
    )

    def unused(self) -> Mapping[str, str]:
        joint = {"context_kernel": "a joint kernel is that of decisions"} if self.kernel == "joint" else {}
        return {**super().unused(), **joint}

    def structure(self, decisions: int, contexts: int) -> Structure:
        if self.kernel == "joint":
            return joint(decisions, contexts, self.decision_kernel)
        return super().structure(decisions, contexts)

    @planning_only
    def expense(self, context_coordinates: int) -> tuple[float, float]:
        if self.kernel != "joint":
            return super().expense(context_coordinates)
        # In more than two coordinates every context is evaluated.
        return (4.0, 5.0) if context_coordinates <= 2 else (5.0, 20.0)


class ContinuousAlgorithmParameters(AlgorithmParameters):
    """Confidence bound and search."""

    sqrt_beta: Bound | HuangWidth = Field(
        1.5,
        description="multiplier of the posterior standard deviation in the upper confidence bound: a number, or by a "
        "theorem",
    )
    search: SearchParameters = Field(SearchParameters(), description="how the acquisition function is maximised")
    model: DecisionModelParameters | BotorchModelParameters


class ContextualParameters(ContinuousAlgorithmParameters):
    """Confidence bound, search, and a model with contexts."""

    model: ModelParameters | BotorchModelParameters = Field(
        ModelParameters(), description="the Gaussian process of payoffs; or a BoTorch model, such as `botorch-default`"
    )


class Scaling:
    """Maps a space to the unit cube and back; the identity where it is one."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        if isinstance(domain, BoxDomain):
            self.lower, width = domain.lower, domain.upper - domain.lower
        else:
            self.lower, width = domain.points.min(axis=0), np.ptp(domain.points, axis=0)
        self.width = np.where(width > 0.0, width, 1.0)

    def inwards(self, member: Any) -> np.ndarray:
        """Return the unit cube's point (D,) of a member of the space, by coordinates or index."""
        return (self._domain.coordinates(member) - self.lower) / self.width

    def outwards(self, point: np.ndarray) -> np.ndarray:
        """Return the coordinates (D,) of a point of the unit cube."""
        return self.lower + self.width * point

    def member(self, point: np.ndarray, available: np.ndarray | None = None) -> Decision:
        """Return the member at a point (D,) of the unit cube: of finitely many the nearest that is available."""
        if not isinstance(self._domain, FiniteDomain):
            return self.outwards(point)
        places = np.arange(self._domain.size) if available is None else np.asarray(available)
        members = (self._domain.points[places] - self.lower) / self.width
        return int(places[first_best(-np.sum((members - point) ** 2, axis=1))])


Continuous = TypeVar("Continuous", bound=ContinuousAlgorithmParameters)


class ContinuousAlgorithm(Algorithm[Continuous]):
    """A functional of the optimistic payoff in some contexts, maximised over the decisions.

    It reports the hyper-parameters of its fits, by which a recorded run is told again without fitting.

    Attributes:
        models: one Gaussian process for each output.

    Raises:
        BocuError: decisions are no bounded box, nor finite where these may be.
    """

    #: Whether decisions may be finite too.
    finite_decisions: ClassVar[bool] = False

    @classmethod
    @planning_only
    def refuses(cls, protocol: str, outline: Outline) -> str:
        finite = isinstance(outline.decisions, FiniteDomain) and not cls.finite_decisions
        return super().refuses(protocol, outline) or ("it searches a box; decisions are finite" if finite else "")

    @classmethod
    @planning_only
    def work(cls, parameters: Continuous, size: Size, rounds: int) -> Work:
        ascents = 0.3 + 0.7 * parameters.search.restarts / 50
        round, solve = parameters.model.expense(size.context_coordinates)
        return Work(
            {"round": round * ascents * rounds, "solve": solve * ascents * rounds**3 / 3}, parameters.model.held()
        )

    def __init__(
        self, description: Description, objective: Pursued, parameters: Continuous, generator: np.random.Generator
    ) -> None:
        super().__init__(description, objective, parameters, generator)
        domain = description.decisions
        finite = self.finite_decisions and isinstance(domain, FiniteDomain)
        if not finite and (not isinstance(domain, BoxDomain) or not np.isfinite([domain.lower, domain.upper]).all()):
            raise BocuError(f"decisions in a bounded box are wanted; found {type(domain).__name__}")
        self.decisions = Scaling(domain)
        self.contexts = Scaling(description.contexts)
        model, contexts = self.parameters.model, description.contexts.dimension
        self.models = [model.built(domain.dimension, contexts) for _ in range(description.outputs)]
        self.reports: tuple[Reported, ...] = tuple(
            report for output in range(description.outputs) for report in self._reported(output)
        )
        self._round: Round | None = None

    def ask(self, round: Round) -> Any:
        """Choose the next decision: coordinates, shape (Dx,). Before any observation it is a uniform draw."""
        self._round = round
        if not self.models[0].count:
            return self._uniform(round)
        posteriors = [model.posterior(self.generator) for model in self.models]
        points, functional = self._game(posteriors, round, self.generator)
        return self._best(SurfaceAcquisition(self._explored(posteriors, points, round), functional), round)

    def tell(self, decision: Decision, context: Context, value: Any) -> None:
        where = self.decisions.inwards(decision)
        when = self.contexts.inwards(context)
        for model, one in zip(self.models, np.atleast_1d(value), strict=True):
            model.add(where, when, float(one))

    def recommend(self) -> Any:
        """Return the decision to deploy, shape (Dx,): the best of those tried, by the posterior mean.

        The mean takes the place of the optimistic payoff; contexts and functional are the algorithm's own, at what was
        announced last. Before any observation it is the lower corner.
        """
        if not self.models[0].count:
            return self._member(np.zeros(self.description.decisions.dimension))
        generator = copy.deepcopy(self.generator)  # looking at what is known leaves the next decision as it is
        posteriors = [model.glance(generator) for model in self.models]
        round = self._round or Round(t=1)
        points, functional = self._game(posteriors, round, generator)
        expected = SurfaceAcquisition(self._surface(posteriors, points, 0.0, round), functional)
        tried = self.models[0].inputs[:, : self.description.decisions.dimension]
        return self._member(tried[first_best(expected(tried)[0])])

    def report(self) -> dict[str, Any]:
        values = [value for model in self.models for value in model.found()]
        return {report.name: value for report, value in zip(self.reports, values, strict=True)}

    def reinstate(self, report: Mapping[str, object], round: Round) -> None:
        self._round = round
        values = np.array([report[reported.name] for reported in self.reports]).reshape(len(self.models), -1)
        for model, row in zip(self.models, values, strict=True):
            model.reinstate_found(row)

    def state(self) -> State:
        state: State = {"models": [model.state() for model in self.models]}
        return state if self._round is None else {**state, "round": plain_round(self._round)}

    def restore(self, state: State) -> None:
        for model, saved in zip(self.models, state["models"], strict=True):
            model.restore(saved)
        self._round = announced(state.get("round"))

    @property
    def observed(self) -> np.ndarray:
        """Contexts met so far, in the unit cube, shape (t, Dc)."""
        return self.models[0].inputs[:, self.description.decisions.dimension :]

    def _uniform(self, round: Round) -> Any:
        """Draw a decision while nothing is known."""
        return self.decisions.outwards(self.generator.random(self.description.decisions.dimension))

    def _best(self, acquisition: SurfaceAcquisition, round: Round) -> Any:
        """Return the decision of largest acquisition."""
        search = self.parameters.search
        best = maximise(acquisition, self.generator, raw=search.raw, restarts=search.restarts, merge=search.merge)
        return self._member(best.decision)

    def _member(self, point: np.ndarray) -> Any:
        """Return the decision at a point of the unit cube, shape (Dx,)."""
        return self.decisions.outwards(point)

    @abstractmethod
    def _game(self, posteriors: Posteriors, round: Round, generator: np.random.Generator) -> Game:
        """Return what counts in a round."""

    def _explored(self, posteriors: Posteriors, points: np.ndarray, round: Round) -> Surface:
        """Return the payoff over contexts (M, Dc) that the next decision is chosen by."""
        return self._surface(posteriors, points, self.sqrt_beta(round), round)

    def sqrt_beta(self, round: Round) -> float:
        """Return the multiplier of the posterior standard deviation in a round."""
        decisions, contexts = self.description.decisions, self.description.contexts
        known = Knowledge(
            t=max(1, round.t),
            coordinates=decisions.dimension,
            decisions=decisions.size if isinstance(decisions, FiniteDomain) else None,
            contexts=contexts.size if isinstance(contexts, FiniteDomain) else None,
            outputs=len(self.models),
        )
        return width(self.parameters.sqrt_beta, known)

    def _surface(self, posteriors: Posteriors, points: np.ndarray, sqrt_beta: float, round: Round) -> Surface:
        """Return the payoff `mu + sqrt_beta sigma` over contexts (M, Dc)."""
        return surface(posteriors[0], points, sqrt_beta)

    def _reported(self, output: int) -> list[Reported]:
        """Return what is reported of the fit of one output."""
        several = self.description.outputs > 1
        prefix, of = (f"output_{output + 1}_", f" of output {output + 1}") if several else ("", "")
        return [Reported(f"{prefix}{name}", f"{what}{of}") for name, what in self.models[output].quantities]


class Contextual(ContinuousAlgorithm[Continuous]):
    """One whose contexts are seen after the decision, in a bounded box.

    Raises:
        BocuError: contexts are no bounded box.
    """

    Parameters: ClassVar[type[Parameters]] = ContextualParameters

    def __init__(
        self, description: Description, objective: Pursued, parameters: Continuous, generator: np.random.Generator
    ) -> None:
        domain = description.contexts
        if not isinstance(domain, BoxDomain) or not np.isfinite([domain.lower, domain.upper]).all():
            raise BocuError(f"contexts in a bounded box are wanted; found {type(domain).__name__}")
        super().__init__(description, objective, parameters, generator)
        self.lower, self.upper = np.zeros(domain.dimension), np.ones(domain.dimension)

    def _estimated(self, samples: int, generator: np.random.Generator, weights: np.ndarray | None = None) -> np.ndarray:
        """Draw from a kernel density estimate of the contexts seen, by weights (t,) or alike, shape (samples, Dc)."""
        return KernelDensity.fit(self.observed, self.lower, self.upper, weights).sample(generator, samples)
