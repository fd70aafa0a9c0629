"""Two outputs of what simulators computed, whose contexts shift: what is earned, and what it spares.

Of a table with one output (`simulated_table`) the first is that output, in larger units. The second is known of a
decision in advance and the same in every context: how much less it costs in water, or in wear, than the dearest
decision. Decisions, cells, laws and what is observed of the first output are those of the table's own problem.

Which second outputs, and their units, are ours: trade-offs of irrigation are usually between profit or yield and water,
those of wake steering between power and loads. No load is computed here; yaw stands for it.
"""

from abc import abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import Field

from bocu.core.about import About, Size, planning_only
from bocu.core.parameters import Count, Positive
from bocu.core.randomness import Streams
from bocu.core.rounds import Context, Decision, FiniteDomain, Outline, Payoff
from bocu.problems.base import ProblemParameters
from bocu.problems.irrigation import Irrigation, SuffolkLaw
from bocu.problems.prepared_data import PreparedDataParameters
from bocu.problems.scalarised import ScalarisedParameters, ScalarisedProblem, ScalarisedRealisation
from bocu.problems.simulated_table import SimulatedTable
from bocu.problems.wake_steering import WakeSteering, Wind, WindLaw, WindParameters
from bocu.robust.contexts.references import Estimate


class TwoObjectiveParameters(PreparedDataParameters, ScalarisedParameters):
    """What both have; subclasses say which laws they know."""

    decisions: None = Field(None, description="null: all decisions that were computed")


TwoObjectiveType = TypeVar("TwoObjectiveType", bound=TwoObjectiveParameters)


class TwoObjectiveTable(ScalarisedProblem[TwoObjectiveType]):
    """The output of a table, and what a decision spares.

    To be written: `first`, `unit` and `cost`.
    """

    first: ClassVar[type[SimulatedTable[Any]]]  #: the problem of the first output alone.
    unit: ClassVar[float]  #: what its payoffs are divided by.
    outputs = 2

    def __init__(self, parameters: TwoObjectiveType, inputs: Any) -> None:
        super().__init__(parameters, inputs)
        self._cite(self.alone.provenance)

    @abstractmethod
    def cost(self, decisions: np.ndarray) -> np.ndarray:
        """Return what decisions (m, Dx) cost, shape (m,), in units of the second output."""

    @cached_property
    def settings(self) -> ProblemParameters:
        """Parameters of the problem of the first output alone, with the same laws."""
        given = self.parameters
        stated: dict[str, Any] = {name: getattr(given, name) for name in ("source", "reference", "truth", "shift")}
        stated |= {"noise": self.unit * given.noise}
        stated |= {"context_points": given.contexts} if given.contexts else {}
        return self.first.Parameters.model_construct(None, **stated)

    @cached_property
    def alone(self) -> SimulatedTable[Any]:
        """The problem of the first output alone."""
        return self.first(self.settings, self.inputs)

    @property
    def dimensions(self) -> tuple[int, int]:
        return len(self.first.decision_names), len(self.first.context_names)

    @cached_property
    def decisions(self) -> FiniteDomain:
        """All that were computed."""
        found = self.first.outline(self.settings).decisions
        assert isinstance(found, FiniteDomain)
        return found

    @cached_property
    def contexts(self) -> np.ndarray:
        """The cells, shape (contexts, Dc)."""
        return self.alone.contexts

    @cached_property
    def outcomes(self) -> np.ndarray:
        """Payoffs of all decisions in all cells, shape (decisions, contexts, 2)."""
        first = self.alone.payoff_table(Streams(0)) / self.unit
        cost = self.cost(self.decisions.points)
        return np.stack([first, np.broadcast_to((cost.max() - cost)[:, None], first.shape)], axis=-1)

    def evaluate(self, decisions: np.ndarray, contexts: np.ndarray) -> np.ndarray:
        return self.outcomes[_nearest(decisions, self.decisions.points), _nearest(contexts, self.contexts)]

    @cached_property
    def reference(self) -> np.ndarray:
        """The first reference, unless it is announced or estimated, shape (contexts,)."""
        return self.alone.references[0]

    @cached_property
    def truth(self) -> np.ndarray:
        """What contexts come from at first, shape (contexts,)."""
        return self.alone.truths[0]

    def truth_in(self, t: int) -> np.ndarray:
        return self.alone.truth_in(t)

    def reference_in(self, t: int) -> np.ndarray:
        return self.alone.reference_in(t)

    @classmethod
    def check_rounds(cls, parameters: TwoObjectiveType, iterations: int) -> None:
        cls.first.check_rounds(cls.bare(parameters).settings, iterations)

    @classmethod
    def outline(cls, parameters: TwoObjectiveType) -> Outline:
        return replace(super().outline(parameters), decisions=cls.bare(parameters).decisions)

    @classmethod
    @planning_only
    def size(cls, parameters: TwoObjectiveType) -> Size:
        return Size(arms=cls.bare(parameters).decisions.size)

    def realise(self, streams: Streams) -> "TwoObjectiveRealisation":
        return TwoObjectiveRealisation(self, streams)


class TwoObjectiveRealisation(ScalarisedRealisation):
    """Of the first output a single situation is observed, of the second all that there is to know."""

    def __init__(self, problem: TwoObjectiveTable, streams: Streams) -> None:
        super().__init__(problem, int(streams["weights"].integers(2**63)))
        self._alone, self._unit = problem.alone.realise(streams), problem.unit
        self.description = replace(self.description, contexts=self._alone.description.contexts)

    def observe(self, decision: Decision, context: Context, payoff: Payoff, generator: np.random.Generator) -> Payoff:
        first, second = np.asarray(payoff)
        return np.array([self._alone.observe(decision, context, first, generator) / self._unit, second])


def _nearest(points: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Return the indices (...) of the members (size, D) that points (..., D) are."""
    return ((points[..., None, :] - members) ** 2).sum(axis=-1).argmin(axis=-1)


class IrrigationTwoParameters(TwoObjectiveParameters):
    """Cells, laws and noise of the potatoes."""

    dataset: ClassVar[str] = "irrigation"
    record: ClassVar[str] = "suffolk"

    contexts: Annotated[list[Count], Field(min_length=2, max_length=2)] = Field(  # type: ignore[assignment]
        [6, 6], description="cells by quantiles of rain and of reference evapotranspiration, as in `irrigation`"
    )
    reference: SuffolkLaw | Annotated[list[SuffolkLaw], Field(min_length=1)] | Literal["announced"] | Estimate = Field(  # type: ignore[assignment]
        "historical", description="reference distribution, as in `irrigation`"
    )
    truth: SuffolkLaw | Annotated[list[SuffolkLaw], Field(min_length=1)] = Field(  # type: ignore[assignment]
        "ssp585-2040-59", description="distribution that seasons come from, as in `irrigation`"
    )
    noise: Positive = Field(
        0.05,
        description="standard deviation of what is measured wrongly of the profit, in thousand GBP/ha; to it comes the "
        "difference between seasons of a cell",
    )


class IrrigationTwo(TwoObjectiveTable[IrrigationTwoParameters]):
    """Profit in thousand GBP/ha, which pays for its water, and water left in rivers, in hundreds of mm."""

    about = About(
        title="Irrigation of potatoes, profit and water",
        summary="profit of potatoes in Suffolk and water that is left in rivers, while the climate dries; AquaCrop",
    )
    Parameters = IrrigationTwoParameters
    first = Irrigation
    unit = 1000.0

    def cost(self, decisions: np.ndarray) -> np.ndarray:
        """Return the season's water in hundreds of mm, of up to 33 mm in six early and 44 mm in seven late weeks."""
        return decisions @ [6 * 0.33, 7 * 0.44]


class WakeSteeringTwoParameters(TwoObjectiveParameters):
    """Laws and noise of the row of three turbines."""

    dataset: ClassVar[str] = "wake-steering"
    record: ClassVar[str] = "row-of-three"

    contexts: None = Field(None, description="null: all winds that were computed")  # type: ignore[assignment]
    reference: WindLaw | Annotated[list[WindLaw], Field(min_length=1)] | Literal["announced"] | Estimate = Field(  # type: ignore[assignment]
        Wind(wind=WindParameters(mean=2.0, sd=3.0)), description="reference distribution, as in `wake-steering`"
    )
    truth: WindLaw | Annotated[list[WindLaw], Field(min_length=1)] = Field(  # type: ignore[assignment]
        Wind(wind=WindParameters(mean=2.0, sd=6.0)), description="distribution of winds, as in `wake-steering`"
    )
    noise: Positive = Field(0.2, description="standard deviation of the measured gain, in hundreds of kW")


class WakeSteeringTwo(TwoObjectiveTable[WakeSteeringTwoParameters]):
    """Gain in hundreds of kW, and misalignment that is spared, in tens of degrees: a proxy of wear, ours."""

    about = About(
        title="Wake steering, power and yaw",
        summary="gain of a row of three turbines and yaw that is spared, which stands for wear; FLORIS",
    )
    Parameters = WakeSteeringTwoParameters
    first = WakeSteering
    unit = 100.0

    def cost(self, decisions: np.ndarray) -> np.ndarray:
        """Return the mean misalignment of the two turbines that are turned, in tens of degrees, of up to 30."""
        return np.abs(6.0 * decisions - 3.0).mean(axis=1)
