"""Problems with continuous decisions, a grid of contexts and one output or several: those of the DRMOBO paper.

Contexts come from the reference, which is announced, unless a truth, a shift or an estimated reference is stated. With
several outputs each round brings weights that make one of them, drawn from the simplex (by the paper's P_s); every
algorithm of one seed meets the same. Decisions lie in a unit cube.

Source: the DRMOBO paper, sections 3 and 5 and appendix D. Hartmann has the plus sign that a maximisation needs; the
second output of Ackley is as printed, at its best away from the centre.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Annotated, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import Field

from bocu.core.about import About, Size, planning_only
from bocu.core.errors import BocuError
from bocu.core.parameters import Integer, Number, Positive
from bocu.core.randomness import Streams, scrambled_sobol
from bocu.core.rounds import (
    SCALARISED,
    Context,
    Decision,
    Description,
    Domain,
    FiniteDomain,
    Outline,
    Payoff,
    unit_cube,
)
from bocu.problems.base import Problem, ProblemParameters, Realisation
from bocu.problems.distributions import ByLaw, Distribution, shifting, weights_on
from bocu.problems.functions import TestFunction, function_named
from bocu.problems.given_design import MOST_POINTS, GivenDesign, points_in_design
from bocu.problems.portfolio import CONTEXT_DIM, DECISION_DIM, PortfolioData, PortfolioDataParameters
from bocu.robust.contexts.estimates import covering_grid, draw
from bocu.robust.contexts.laws import LawParameters
from bocu.robust.contexts.references import Estimate
from bocu.robust.contexts.shifts import Schedule, ShiftParameters

BURR = ByLaw.model_construct(law=LawParameters.model_construct(name="burr-xii", parameters={"a": 2.0, "b": 20.0}))
"""Burr XII(2, 20), the newsvendor's demand."""


class ScalarisedParameters(ProblemParameters):
    """What every such problem has."""

    contexts: Annotated[Integer, Field(ge=1, le=10_000)] = Field(
        100, description="size n of the grid of contexts, of ceil(n^(1/D)) points a coordinate, ends included"
    )
    initial: Annotated[Integer, Field(ge=1, le=MOST_POINTS)] | GivenDesign = Field(
        10,
        description="points of the initial design, scrambled Sobol decisions with contexts from the reference; or "
        "`{file: ...}`: the design itself",
    )
    noise: Annotated[Number, Field(ge=0.0)] = Field(0.0, description="standard deviation of the observation noise")
    decisions: Annotated[Integer, Field(ge=2, le=100_000)] | None = Field(
        None,
        description="size n of a grid of decisions, of ceil(n^(1/D)) points a coordinate, ends included, which are all "
        "that there are; null: the whole box",
    )
    truth: Distribution | None = Field(
        None,
        description="distribution that contexts come from: `uniform`, `{normal: {mean, sd or variance}}`, "
        "`{weights: [...]}`, `{law: {name, parameters}}`; null: the reference, or the problem's own where that is "
        "announced or estimated",
    )
    shift: ShiftParameters | None = Field(
        None, description="how the truth changes over rounds: `{name, parameters}` (see `bocu list shifts`)"
    )
    reference: Distribution | Literal["burr-xii", "announced"] | Estimate | None = Field(
        None,
        description="reference distribution over the contexts, stated as `truth`; `announced`: the truth of the round; "
        "estimated from the contexts seen: `{name: empirical}`, `{name: window, length}`, `{name: discounted, rate}`, "
        "`{name: kde, bandwidth, length}`; null: the problem's own",
    )

    scalarisation: list[Positive] | None = Field(
        None,
        description="law of the weights of several outputs, P_s of the DRMOBO paper: concentrations of a Dirichlet "
        "law, one an output, `[4, 1]` for weights of 0.8 and 0.2 on average; null: uniform on the simplex",
    )

    #: The distribution of a problem whose file states none.
    own: ClassVar[Distribution] = "uniform"

    @property
    def told(self) -> Distribution:
        """The reference, where it is stated; otherwise the problem's own distribution."""
        stated = self.reference
        if stated is None or stated == "announced" or isinstance(stated, Estimate):
            return self.own
        return BURR if stated == "burr-xii" else stated

    @property
    def base(self) -> Distribution:
        """The truth before it shifts."""
        return self.told if self.truth is None else self.truth

    def initial_points(self) -> int:
        return points_in_design(self.initial)


ScalarisedType = TypeVar("ScalarisedType", bound=ScalarisedParameters)


class ScalarisedProblem(Problem[ScalarisedType]):
    """Payoffs over a grid of contexts.

    A problem of one's own says its `dimensions`, its `outputs` and `evaluate`, and where it likes its `reference`.
    """

    Parameters: ClassVar[type[ProblemParameters]] = ScalarisedParameters
    protocols = SCALARISED
    units = "1"

    @property
    @abstractmethod
    def dimensions(self) -> tuple[int, int]:
        """Numbers of coordinates of a decision and of a context, Dx and Dc."""

    @property
    def outputs(self) -> int:
        """Number of payoffs that a decision has at once, K."""
        return 1

    @abstractmethod
    def evaluate(self, decisions: np.ndarray, contexts: np.ndarray) -> np.ndarray:
        """Return payoffs (..., K), or (...,) where K is 1, of decisions (..., Dx) in contexts (..., Dc).

        Leading axes broadcast; all coordinates lie in [0, 1].
        """

    @cached_property
    def decisions(self) -> Domain:
        """The unit cube, or a grid of it."""
        cube = unit_cube("decision", self.dimensions[0])
        size = self.parameters.decisions
        return (
            cube if size is None else FiniteDomain(covering_grid(cube.lower, cube.upper, size), cube.names, cube.units)
        )

    @cached_property
    def contexts(self) -> np.ndarray:
        """The context points, shape (contexts, Dc)."""
        dimension = self.dimensions[1]
        return covering_grid(np.zeros(dimension), np.ones(dimension), self.parameters.contexts)

    @cached_property
    def reference(self) -> np.ndarray:
        """The reference, unless it is announced or estimated, shape (contexts,)."""
        return weights_on(self.parameters.told, self.contexts)

    @cached_property
    def truth(self) -> np.ndarray:
        """What contexts come from, before it shifts, shape (contexts,)."""
        stated = self.parameters.truth
        return self.reference if stated is None else weights_on(stated, self.contexts)

    @cached_property
    def schedule(self) -> Schedule | None:
        """The laws that contexts come from round by round, where they shift."""
        shift = self.parameters.shift
        return None if shift is None else shifting(self.parameters.base, shift, self.dimensions[1])

    def truth_in(self, t: int) -> np.ndarray:
        """Return the distribution that the context of round `t` comes from, shape (contexts,)."""
        return self.truth if self.schedule is None else self.schedule.weights(t, self.contexts)

    def reference_in(self, t: int) -> np.ndarray:
        """Return the distribution that is told before round `t`, where it is not estimated, shape (contexts,)."""
        if self.parameters.reference == "announced":
            return self.truth if self.schedule is None else self.schedule.announced(t, self.contexts)
        return self.reference

    @classmethod
    def check_rounds(cls, parameters: ScalarisedType, iterations: int) -> None:
        if parameters.shift is not None:
            shifting(parameters.base, parameters.shift, cls.bare(parameters).dimensions[1]).check(iterations)

    def payoffs(self, decisions: np.ndarray) -> np.ndarray:
        """Return the payoffs of decisions (m, Dx) in all contexts, shape (m, contexts, K)."""
        found = self.evaluate(decisions[:, None, :], self.contexts[None])
        return found[..., None] if found.ndim == 2 else found

    @classmethod
    def outline(cls, parameters: ScalarisedType) -> Outline:
        stated = parameters.scalarisation
        if stated is None and parameters.decisions is None:
            return Outline()
        bare = cls.bare(parameters)
        if stated is not None and (len(stated) != bare.outputs or bare.outputs == 1):
            allowed = f"{bare.outputs} numbers, one an output" if bare.outputs > 1 else "null where there is one output"
            raise BocuError(f"scalarisation: found {stated}; allowed: {allowed}")
        return Outline() if parameters.decisions is None else Outline(bare.decisions)

    @classmethod
    @planning_only
    def size(cls, parameters: ScalarisedType) -> Size:
        return Size(arms=parameters.decisions or 1)

    def realise(self, streams: Streams) -> "ScalarisedRealisation":
        return ScalarisedRealisation(self, int(streams["weights"].integers(2**63)))


class ScalarisedRealisation(Realisation):
    """Payoffs are the same for every seed: seeds differ by initial design, contexts, noise and weights."""

    def __init__(self, problem: ScalarisedProblem, entropy: int) -> None:
        self.problem = problem
        self._entropy = entropy
        grid = unit_cube("context", problem.dimensions[1])
        self.description = Description(
            decisions=problem.decisions,
            contexts=FiniteDomain(problem.contexts, grid.names, grid.units),
            noise=problem.parameters.noise,
            protocol=problem.protocol,
            outputs=problem.outputs,
        )
        stated = problem.parameters.reference
        self.estimate = stated if isinstance(stated, Estimate) else None

    def payoff(self, decision: Decision, context: Context) -> Payoff:
        domain = self.description.decisions
        at = domain.points[decision] if isinstance(domain, FiniteDomain) else np.asarray(decision)
        found = self.problem.evaluate(at, self.problem.contexts[context])
        return found if self.problem.outputs > 1 else float(np.squeeze(found))

    def payoffs(self, t: int) -> np.ndarray:
        raise NotImplementedError("payoffs of several outputs, or of a box of decisions, are those of `table`")

    def reference(self, t: int) -> np.ndarray:
        return self.problem.reference_in(t)

    def truth(self, t: int) -> np.ndarray:
        return self.problem.truth_in(t)

    @property
    def table(self) -> Callable[[np.ndarray], np.ndarray]:
        return self.problem.payoffs

    def weights(self, t: int) -> np.ndarray | None:
        """Return weights on the simplex that depend on the seed and `t` alone."""
        if self.problem.outputs == 1:
            return None
        generator = np.random.default_rng(np.random.SeedSequence([self._entropy, t]))
        stated = self.problem.parameters.scalarisation
        return generator.dirichlet(np.ones(self.problem.outputs) if stated is None else np.array(stated))

    def initial_design(self, generator: np.random.Generator, size: int) -> Sequence[tuple[Decision, Context]]:
        """Draw scrambled Sobol decisions, or finite ones uniformly, with contexts from the truth of the first round."""
        domain = self.description.decisions
        decisions: Sequence[Decision]
        if isinstance(domain, FiniteDomain):
            decisions = generator.integers(domain.size, size=size).tolist()
        else:
            decisions = list(scrambled_sobol(domain.lower, domain.upper, size, generator))
        contexts = draw(self.problem.truth_in(1), generator.random(size))
        return [(decision, int(context)) for decision, context in zip(decisions, contexts, strict=True)]


class TwoOutputsParameters(ScalarisedParameters):
    """One output or two."""

    outputs: Annotated[Integer, Field(ge=1, le=2)] = Field(
        1, description="1: the function alone; 2: with a second one that the same context affects in another way"
    )


TwoOutputsType = TypeVar("TwoOutputsType", bound=TwoOutputsParameters)


class TestFunctionProblem(ScalarisedProblem[TwoOutputsType]):
    """A closed-form test function, or two under the same context."""

    __test__ = False  # no test case, whatever its name says

    Parameters: ClassVar[type[ProblemParameters]] = TwoOutputsParameters
    functions: ClassVar[tuple[str, str]]

    @property
    def function_name(self) -> str:
        """Name in `bocu.problems.functions`."""
        return self.functions[self.parameters.outputs - 1]

    @cached_property
    def function(self) -> TestFunction:
        """The function, or both."""
        return function_named(self.function_name)

    @property
    def dimensions(self) -> tuple[int, int]:
        return self.function.decision_dim, self.function.context_dim

    @property
    def outputs(self) -> int:
        return self.function.outputs

    def evaluate(self, decisions: np.ndarray, contexts: np.ndarray) -> np.ndarray:
        return self.function(decisions, contexts)


class ScalarisedAckley(TestFunctionProblem[TwoOutputsParameters]):
    """Ackley, 2 + 1."""

    about = About(
        title="Ackley, 2 + 1, grid of contexts",
        summary="Ackley, 2 + 1, one output or two, on a grid of contexts",
        paper="DRMOBO",
    )
    functions = ("ackley", "ackley-two")


class ScalarisedModifiedBranin(TestFunctionProblem[TwoOutputsParameters]):
    """Modified Branin, 2 + 2."""

    about = About(
        title="Modified Branin, grid of contexts",
        summary="modified Branin, 2 + 2, one output or two, on a grid of contexts",
        paper="DRMOBO",
    )
    functions = ("modified-branin", "modified-branin-two")


class ScalarisedHartmannParameters(TwoOutputsParameters):
    """Which constants."""

    constants: Literal["standard", "as-printed"] = Field(
        "standard", description="second weight 1.2 (standard), or 2.0 (the paper's text)"
    )


class ScalarisedHartmann(TestFunctionProblem[ScalarisedHartmannParameters]):
    """Hartmann-6, 5 + 1."""

    about = About(
        title="Hartmann, 5 + 1, grid of contexts",
        summary="Hartmann, 5 + 1, one output or two, on a grid of contexts",
        paper="DRMOBO",
    )
    Parameters = ScalarisedHartmannParameters
    functions = ("hartmann-6", "hartmann-6-two")

    @property
    def function_name(self) -> str:
        printed = self.parameters.constants == "as-printed"
        return super().function_name + ("-as-printed" if printed else "")


class ScalarisedNewsvendorParameters(TwoOutputsParameters):
    """Which demand."""

    own: ClassVar[Distribution] = BURR

    reference: Distribution | Literal["burr-xii", "announced"] | Estimate | None = Field(
        "burr-xii",
        description="the reference, stated as for other grids of contexts, or `burr-xii`: Burr XII(2, 20), whose "
        "density at the points is normalised (none is left for a demand of 0)",
    )


class ScalarisedNewsvendor(TestFunctionProblem[ScalarisedNewsvendorParameters]):
    """Newsvendor, 1 + 1; the two outputs meet the demand less 0.1 and more 0.1."""

    about = About(
        title="Newsvendor, grid of contexts",
        summary="newsvendor, 1 + 1, one output or two, on a grid of demands",
        paper="DRMOBO",
    )
    Parameters = ScalarisedNewsvendorParameters
    functions = ("newsvendor", "newsvendor-two")


class ScalarisedPortfolioParameters(PortfolioDataParameters, ScalarisedParameters):
    """Which surrogate of the simulator."""

    @property
    def dear_optima(self) -> bool:
        return self.decisions is None and not isinstance(self.reference, Estimate)


class ScalarisedPortfolio(
    PortfolioData[ScalarisedPortfolioParameters], ScalarisedProblem[ScalarisedPortfolioParameters]
):
    """Portfolio, 3 + 2, one output."""

    about = About(
        title="Portfolio, grid of contexts",
        summary="multi-period portfolio, 3 + 2, one output, on a grid of contexts",
        paper="DRMOBO",
    )
    Parameters = ScalarisedPortfolioParameters
    dimensions = DECISION_DIM, CONTEXT_DIM

    def evaluate(self, decisions: np.ndarray, contexts: np.ndarray) -> np.ndarray:
        return self.payoff(decisions, contexts)
