"""Problems with continuous decisions and contexts that are seen after the decision: those of Huang et al. (2024).

Regret is against `max_x E_c f(x, c)` under the true distribution, which no algorithm knows. Decisions and contexts lie
in unit cubes.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import Field

from bocu.core.about import About, Size, planning_only
from bocu.core.errors import BocuError
from bocu.core.parameters import Integer, Number
from bocu.core.randomness import Streams, scrambled_sobol
from bocu.core.rounds import CONTINUOUS, Context, Decision, Description, Domain, Outline, unit_cube
from bocu.problems.base import Problem, ProblemParameters, Realisation
from bocu.problems.expected import ExpectedPayoffFunction, Optimum, PayoffFunction
from bocu.problems.functions import function_named
from bocu.problems.given_design import MOST_POINTS, GivenDesign, points_in_design
from bocu.problems.optima import RuleName, expectation_named, expected_payoff, optima_along, optimum_of
from bocu.problems.portfolio import CONTEXT_DIM, DECISION_DIM, PortfolioData, PortfolioDataParameters
from bocu.robust.contexts.laws import JointLaw, LawParameters
from bocu.robust.contexts.shifts import Schedule, ShiftParameters, restated


class ContinuousParameters(ProblemParameters):
    """What every such problem has."""

    initial: Annotated[Integer, Field(ge=1, le=MOST_POINTS)] | GivenDesign = Field(
        10,
        description="points of the initial design, or `{file: ...}`: the design itself; an experiment's `iterations` "
        "come after them",
    )
    initial_contexts: Literal["true", "sobol"] = Field(
        "true",
        description="where the contexts of the initial design come from: the true distribution (as the published "
        "code has it), or a scrambled Sobol sequence over the box (as the paper's algorithm 1 has it)",
    )
    contexts_told: Literal["clipped", "as-drawn"] = Field(
        "clipped",
        description="what algorithms are told, and run files record, of a context: where the payoff was observed, "
        "clipped to the box, or as it was drawn, perhaps outside of it, as the published code has it",
    )
    noise: Annotated[Number, Field(ge=0.0)] = Field(0.0, description="standard deviation of the observation noise")
    rule: RuleName | None = Field(
        None,
        description="how E_c f is computed for regret: `quadrature` (one or two context coordinates; the default "
        "there) or `sobol` (2^21 points, 2^16 for the portfolio)",
    )
    optimum: Literal["computed", "published"] = Field(
        "computed",
        description="what regret is against: the optimum of E_c f, or the number that the published code has",
    )

    law: LawParameters | None = Field(
        None,
        description="distribution of contexts in place of the problem's own: `{name, parameters}`, or a name alone; "
        "the optimum is then searched for, seconds to a minute a problem",
    )
    shift: ShiftParameters | None = Field(
        None,
        description="how that distribution changes over rounds: `{name, parameters}` (see `bocu list shifts`); regret "
        "is against the optimum of the round, which is searched for",
    )

    def initial_points(self) -> int:
        return points_in_design(self.initial)

    @property
    def dear_optima(self) -> bool:
        return self.optimum == "computed" and (self.law is not None or self.shift is not None)


ContinuousType = TypeVar("ContinuousType", bound=ContinuousParameters)


class ContinuousProblem(Problem[ContinuousType]):
    """A payoff under a distribution of contexts, by its name in `bocu.problems.optima`."""

    Parameters: ClassVar[type[ProblemParameters]] = ContinuousParameters
    expectation: ClassVar[str]
    protocols = CONTINUOUS
    units = "1"

    def __init__(self, parameters: ContinuousType, inputs: Mapping[str, object]) -> None:
        super().__init__(parameters, inputs)
        stated = self.parameters.law
        own = expectation_named(self.expectation)
        self._stated_law = None if stated is None else stated.over(own.law.dimension)
        self.setting = own if self._stated_law is None else expectation_named(self.expectation, self._stated_law)
        self.rule = self._rule(self.parameters)
        self.schedule = self._schedule(self.expectation, self.parameters)
        self._optima: dict[str, Optimum] = {}

    @classmethod
    def outline(cls, parameters: ContinuousType) -> Outline:
        cls._rule(parameters)
        if parameters.optimum == "published" and (parameters.law is not None or parameters.shift is not None):
            raise BocuError("optimum: found 'published', which is that under the problem's own law; leave one out")
        return Outline()

    @classmethod
    def check_rounds(cls, parameters: ContinuousType, iterations: int) -> None:
        if (schedule := cls._schedule(cls.expectation, parameters)) is not None:
            schedule.check(iterations)

    @staticmethod
    def _schedule(expectation: str, parameters: ContinuousParameters) -> Schedule | None:
        if parameters.shift is None:
            return None
        own = expectation_named(expectation)
        return Schedule(parameters.law or restated(**own.stated), parameters.shift, own.law.dimension)

    @classmethod
    @planning_only
    def size(cls, parameters: ContinuousType) -> Size:
        return Size(context_coordinates=expectation_named(cls.expectation).law.dimension)

    @classmethod
    def _rule(cls, parameters: ContinuousParameters) -> RuleName:
        allowed = expectation_named(cls.expectation).rules
        rule: RuleName = parameters.rule or ("quadrature" if "quadrature" in allowed else "sobol")
        if rule not in allowed:
            raise BocuError(f"rule: found '{rule}'; allowed for {cls.about.title}: {', '.join(allowed)}")
        return rule

    @cached_property
    def payoff(self) -> PayoffFunction:
        """The payoff of decisions (..., Dx) and contexts (..., Dc)."""
        assert self.setting.function is not None
        return function_named(self.setting.function)

    @property
    def law(self) -> JointLaw:
        """The true distribution of the context."""
        return self.setting.law

    def law_in(self, t: int) -> JointLaw:
        """Return the distribution that the context of round `t` comes from, from 1 on."""
        return self.law if self.schedule is None or self.schedule.stands(t) else self.schedule.law(t)

    def told(self, t: int) -> JointLaw:
        """Return the distribution of the contexts that algorithms are told; equal numbers are equal contexts."""
        law = self.law_in(t)
        return law.unclipped() if self.parameters.contexts_told == "as-drawn" else law

    @property
    def dimensions(self) -> tuple[int, int]:
        """Dx and Dc."""
        assert self.setting.function is not None
        function = function_named(self.setting.function)
        return function.decision_dim, function.context_dim

    @cached_property
    def expected(self) -> ExpectedPayoffFunction:
        """E_c f under the true distribution."""
        return expected_payoff(self.expectation, self.rule, self.payoff, self._stated_law)

    @cached_property
    def best(self) -> float:
        """What regret is against."""
        if self.parameters.optimum == "published" and self.setting.published is not None:
            return self.setting.published
        return self.optimum.value

    @cached_property
    def optimum(self) -> Optimum:
        """The best decision under the law that there is without a shift."""
        return optimum_of(self.expectation, self.rule, self.payoff, self._stated_law)

    def best_in_rounds(self, rounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the largest E_c f under the laws of rounds (n,), and the decisions (n, Dx) that have it."""
        optima = self._optima_of(first := np.maximum(rounds, 1))
        found = [optima[key] if key else self.optimum for key in map(self._key, first.tolist())]
        return np.array([end.value for end in found]), np.array([end.decision for end in found])

    def expected_in_rounds(
        self, decisions: np.ndarray, rounds: np.ndarray, optima: Mapping[int, float]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return E_c f of decisions (n, Dx) under the laws of their rounds (n,), and the best there is, both (n,).

        The best under one of many laws is no less than what is asked about; none is searched for that `optima` has.
        """
        first, values, best = np.maximum(rounds, 1), np.empty(len(decisions)), np.empty(len(decisions))
        for key, rows in self._alike(first).items():
            values[rows] = self._expected_in(int(first[rows[0]]), key)(decisions[rows])
        searched = {} if optima else self._optima_of(first)
        for key, rows in self._alike(first).items():
            top = optima[int(first[rows[0]])] if optima else searched[key].value if key else self.best
            best[rows] = np.maximum(top, values[rows].max()) if key else top
        return values, best

    def _alike(self, rounds: np.ndarray) -> dict[str, np.ndarray]:
        """Gather the rows whose rounds have one law, by what it is; empty where it is the one without a shift."""
        keys = [self._key(int(t)) for t in rounds]
        return {key: np.flatnonzero([other == key for other in keys]) for key in dict.fromkeys(keys)}

    def _key(self, t: int) -> str:
        return "" if self.schedule is None or self.schedule.stands(t) else self.schedule.key(t)

    def _expected_in(self, t: int, key: str) -> ExpectedPayoffFunction:
        # Made anew: points of a law may take tens of megabytes, and there may be a law a round.
        return expected_payoff(self.expectation, self.rule, self.payoff, self.law_in(t)) if key else self.expected

    def _optima_of(self, rounds: np.ndarray) -> dict[str, Optimum]:
        """Return the optimum under every law that a shift makes up to the last of some rounds."""
        laws = {self._key(t): t for t in range(int(rounds.max(initial=1)), 0, -1)}
        missing = sorted((t, key) for key, t in laws.items() if key and key not in self._optima)
        if missing:
            found = optima_along(self.expectation, [self.law_in(t) for t, _ in missing], self.rule, self.payoff)
            self._optima.update(zip([key for _, key in missing], found, strict=True))
        return {key: self._optima[key] for key in laws if key}

    def contexts_given(self, realisation: Realisation) -> Domain | None:
        return None if self.parameters.contexts_told == "as-drawn" else realisation.description.contexts

    def realise(self, streams: Streams) -> "ContinuousRealisation":
        return ContinuousRealisation(self)


class ContinuousRealisation(Realisation):
    """The same for every seed: seeds differ by initial design, contexts and noise."""

    def __init__(self, problem: ContinuousProblem) -> None:
        self.problem = problem
        self.description = Description(
            decisions=unit_cube("decision", problem.dimensions[0]),
            contexts=unit_cube("context", problem.dimensions[1]),
            noise=problem.parameters.noise,
            protocol=problem.protocol,
        )

    def payoff(self, decision: Decision, context: Context) -> float:
        law = self.problem.law
        return float(self.problem.payoff(np.asarray(decision), np.clip(context, law.lower, law.upper)))

    def payoffs(self, t: int) -> np.ndarray:
        raise NotImplementedError("a continuous problem has no table of payoffs")

    def reference(self, t: int) -> np.ndarray:
        raise NotImplementedError("a continuous problem announces no reference")

    def draw_context(self, t: int, generator: np.random.Generator) -> Context:
        return self.problem.told(t).sample(generator, 1)[0]

    def initial_design(self, generator: np.random.Generator, size: int) -> Sequence[tuple[Decision, Context]]:
        """Draw scrambled Sobol decisions, with contexts from the true distribution or from the same sequence."""
        dimension = self.problem.dimensions[0]
        if self.problem.parameters.initial_contexts == "sobol":
            whole = sum(self.problem.dimensions)
            both = scrambled_sobol(np.zeros(whole), np.ones(whole), size, generator)
            return list(zip(both[:, :dimension], both[:, dimension:], strict=True))
        decisions = scrambled_sobol(np.zeros(dimension), np.ones(dimension), size, generator)
        return list(zip(decisions, self.problem.told(1).sample(generator, size), strict=True))

    def expected_payoffs(self, decisions: np.ndarray) -> tuple[np.ndarray, float]:
        return self.problem.expected(decisions), self.problem.best

    @property
    def payoff_function(self) -> PayoffFunction:
        return self.problem.payoff

    def law(self, t: int) -> JointLaw:
        return self.problem.law_in(t)

    def expected_in_rounds(self, decisions: np.ndarray, rounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.problem.expected_in_rounds(decisions, rounds, self.optima)

    def best_in_rounds(self, rounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.problem.best_in_rounds(rounds)


class Ackley(ContinuousProblem[ContinuousParameters]):
    """Ackley, 2 + 1, context N(0.5, 0.15^2)."""

    about = About(
        title="Ackley, 2 + 1",
        summary="Ackley, 2 + 1, normal context",
        paper="Huang et al. 2024",
    )
    expectation = "ackley"


class Ackley24(ContinuousProblem[ContinuousParameters]):
    """Ackley, 2 + 4, contexts N(0.5, 0.15^2)."""

    about = About(
        title="Ackley, 2 + 4",
        summary="Ackley, 2 + 4, normal contexts",
        paper="Huang et al. 2024",
    )
    expectation = "ackley-2-4"


class ModifiedBranin(ContinuousProblem[ContinuousParameters]):
    """Modified Branin, 2 + 2, contexts N(0.5, 0.1^2)."""

    about = About(
        title="Modified Branin",
        summary="modified Branin, 2 + 2, normal contexts",
        paper="Huang et al. 2024",
    )
    expectation = "modified-branin"


class HartmannParameters(ContinuousParameters):
    """Which constants."""

    constants: Literal["standard", "as-printed"] = Field(
        "standard", description="second weight 1.2 (standard, and the published code), or 2.0 (the paper's text)"
    )


class _Hartmann(ContinuousProblem[HartmannParameters]):
    Parameters = HartmannParameters

    def __init__(self, parameters: HartmannParameters, inputs: Mapping[str, object]) -> None:
        if parameters.constants == "as-printed":
            self.expectation = f"{type(self).expectation}-as-printed"  # type: ignore[misc]
        super().__init__(parameters, inputs)


class Hartmann(_Hartmann):
    """Hartmann-6, 5 + 1, context N(0.5, 0.1^2)."""

    about = About(
        title="Hartmann, 5 + 1",
        summary="Hartmann, 5 + 1, normal context",
        paper="Huang et al. 2024",
    )
    expectation = "hartmann-6"


class ComplicatedHartmann(_Hartmann):
    """Hartmann-6, 5 + 1, context from a mixture of six normal and two Cauchy distributions."""

    about = About(
        title="Complicated Hartmann",
        summary="Hartmann, 5 + 1, context from a mixture of eight distributions",
        paper="Huang et al. 2024",
    )
    expectation = "complicated-hartmann"


class Newsvendor(ContinuousProblem[ContinuousParameters]):
    """Newsvendor, 1 + 1, demand Burr XII."""

    about = About(
        title="Newsvendor",
        summary="newsvendor, 1 + 1, Burr XII demand",
        paper="Huang et al. 2024",
    )
    expectation = "newsvendor"


class PortfolioParameters(PortfolioDataParameters, ContinuousParameters):
    """Which surrogate of the simulator."""

    @property
    def dear_optima(self) -> bool:
        other = self.source not in ("mirror", "download") or self.fit == "refitted"  # than the payoff of stored optima
        return super().dear_optima or (self.optimum == "computed" and other)


class _Portfolio(PortfolioData[PortfolioParameters], ContinuousProblem[PortfolioParameters]):
    Parameters = PortfolioParameters

    @property
    def dimensions(self) -> tuple[int, int]:
        return DECISION_DIM, CONTEXT_DIM


class PortfolioNormal(_Portfolio):
    """Portfolio, 3 + 2, contexts N(0.5, 0.1^2)."""

    about = About(
        title="Portfolio, normal contexts",
        summary="multi-period portfolio, 3 + 2, normal contexts",
        paper="Huang et al. 2024",
    )
    expectation = "portfolio-normal"


class PortfolioUniform(_Portfolio):
    """Portfolio, 3 + 2, uniform contexts."""

    about = About(
        title="Portfolio, uniform contexts",
        summary="multi-period portfolio, 3 + 2, uniform contexts",
        paper="Huang et al. 2024",
    )
    expectation = "portfolio-uniform"
