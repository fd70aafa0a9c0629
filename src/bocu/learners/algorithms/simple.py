"""Algorithms that learn nothing. Under the simulator they choose contexts uniformly."""

from typing import Annotated

import numpy as np
from pydantic import Field

from bocu.core.about import About, Look, Size, Work, planning_only
from bocu.core.errors import BocuError
from bocu.core.parameters import Integer, Number, ParametersType
from bocu.core.parameters import Parameters as TypedParameters
from bocu.core.rounds import (
    EVERY,
    FINITE,
    BoxDomain,
    Context,
    Decision,
    Description,
    Domain,
    FiniteDomain,
    Outline,
    Payoff,
    Round,
)
from bocu.core.ties import first_best
from bocu.learners.algorithms.base import Algorithm, Pursued


class WithoutModel(Algorithm[ParametersType]):
    """What they share."""

    @classmethod
    @planning_only
    def work(cls, parameters: ParametersType, size: Size, rounds: int) -> Work:
        return Work({"round": rounds})

    def choose_context(self, decision: Decision, round: Round) -> Context:
        """Draw a context uniformly."""
        return _uniform(self.description.contexts, self.generator)


class RandomParameters(TypedParameters):
    """Random has none."""


class Random(WithoutModel[RandomParameters]):
    """A uniform draw from the available decisions. It recommends the decision of the highest payoff seen."""

    about = About(
        title="Random",
        summary="a uniform draw from the available decisions",
        look=Look("grey", "dotted", "x"),
    )
    protocols = EVERY
    Parameters = RandomParameters

    def __init__(
        self, description: Description, objective: Pursued, parameters: RandomParameters, generator: np.random.Generator
    ) -> None:
        super().__init__(description, objective, parameters, generator)
        self._best_value = -np.inf
        self._best: Decision | None = None

    def ask(self, round: Round) -> Decision:
        if round.available is None:
            return _uniform(self.description.decisions, self.generator)
        if isinstance(self.description.decisions, BoxDomain):
            return _uniform_in(np.asarray(round.available), self.generator)
        return int(round.available[self.generator.integers(len(round.available))])

    def tell(self, decision: Decision, context: Context, value: Payoff) -> None:
        total = float(np.sum(value))
        if total > self._best_value:
            self._best_value, self._best = total, decision

    def recommend(self) -> Decision:
        """Return the decision of the highest payoff seen (of the highest sum of outputs); before any the first one."""
        if self._best is not None:
            return self._best
        domain = self.description.decisions
        return 0 if isinstance(domain, FiniteDomain) else domain.lower.copy()


class ConstantParameters(TypedParameters):
    """Which decision it is."""

    decision: Annotated[Integer, Field(ge=0)] | Annotated[list[Number], Field(min_length=1)] = Field(
        description="index of the decision, or its coordinates, for which the nearest decision of a finite space stands"
    )


class Constant(WithoutModel[ConstantParameters]):
    """Always the same decision.

    Raises:
        BocuError: there is no such decision.
    """

    about = About(title="Constant", summary="always the same decision", look=Look("black", "dotted", "X"))
    protocols = FINITE
    Parameters = ConstantParameters

    def __init__(
        self,
        description: Description,
        objective: Pursued,
        parameters: ConstantParameters,
        generator: np.random.Generator,
    ) -> None:
        super().__init__(description, objective, parameters, generator)
        self.decision = _decision(self.parameters.decision, description.decisions)

    @classmethod
    @planning_only
    def refuses(cls, protocol: str, outline: Outline) -> str:
        box = "it takes one of finitely many decisions" if isinstance(outline.decisions, BoxDomain) else ""
        return super().refuses(protocol, outline) or box

    @classmethod
    def check(cls, parameters: ConstantParameters, outline: Outline) -> None:
        if outline.decisions is None:
            return
        decision = _decision(parameters.decision, outline.decisions)
        if outline.always_open is not None and not np.isin(decision, outline.always_open):
            raise BocuError(f"constant: decision: found {decision}, which is not available in every round")

    def ask(self, round: Round) -> Decision:
        if round.available is not None and not np.isin(self.decision, round.available):
            raise BocuError(f"constant: decision {self.decision} is not available in round {round.t}")
        return self.decision

    def tell(self, decision: Decision, context: Context, value: float) -> None:
        """Learn nothing."""

    def recommend(self) -> Decision:
        return self.decision


def _uniform(domain: Domain, generator: np.random.Generator) -> Decision:
    if isinstance(domain, FiniteDomain):
        return int(generator.integers(domain.size))
    return generator.uniform(domain.lower, domain.upper)


def _uniform_in(boxes: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Draw a point of disjoint boxes, by their corners (boxes, 2, D)."""
    volumes = np.prod(boxes[:, 1] - boxes[:, 0], axis=1)
    lower, upper = boxes[generator.choice(len(boxes), p=volumes / volumes.sum())]
    return generator.uniform(lower, upper)


def _decision(wanted: int | list[float], domain: Domain) -> Decision:
    if isinstance(wanted, int):
        if isinstance(domain, FiniteDomain) and wanted < domain.size:
            return wanted
        allowed = f"0 to {domain.size - 1}" if isinstance(domain, FiniteDomain) else "coordinates"
        raise BocuError(f"constant: decision: found {wanted}; allowed: {allowed}")
    point = np.asarray(wanted)
    if len(point) != domain.dimension:
        raise BocuError(f"constant: decision: found {len(point)} coordinates; {domain.dimension} wanted")
    if isinstance(domain, FiniteDomain):
        return first_best(-((domain.points - point) ** 2).sum(axis=1), 0.0)
    if (point < domain.lower).any() or (point > domain.upper).any():
        raise BocuError(f"constant: decision: found {wanted}; allowed: {domain.lower} to {domain.upper}")
    return point
