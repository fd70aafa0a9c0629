"""DRMOBO and MOBO: several payoffs at once, scalarised by weights that change from round to round.

Source: the DRMOBO paper, algorithm 1: the next decision maximises the worst case of `s'mu + sqrt_beta s'sigma` over an
ambiguity set around the reference that is announced, on a finite set of contexts. With one output and weight 1 it is
distributionally robust optimisation of a single payoff. Other objectives of the scalarised upper bound (Tay et al.,
2024, table 1) and finite decisions, each of which is then valued, are ours.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from pydantic import Field

from bocu.core.about import About, Look, Size, Work, planning_only
from bocu.core.errors import BocuError
from bocu.core.parameters import Parameters
from bocu.core.rounds import SCALARISED, Description, FiniteDomain, Outline, Round
from bocu.core.ties import first_best
from bocu.learners.acquisition.base import Functional, Surface, SurfaceAcquisition
from bocu.learners.acquisition.functionals import ExpectedValue, functional
from bocu.learners.acquisition.multistart import SearchParameters
from bocu.learners.acquisition.surfaces import WeightedSurface, surface
from bocu.learners.algorithms.base import Pursued
from bocu.learners.algorithms.continuous_base import ContextualParameters, ContinuousAlgorithm, Game, Posteriors
from bocu.learners.algorithms.theorems import Bound, DrmoboWidth
from bocu.robust.objectives.functions import Expectation, UncertaintyObjective

VALUED = 500  #: Decisions that a search of a box values, about; for planning alone.


class MOBOParameters(ContextualParameters):
    """Confidence bound, search, and a model for each output."""

    sqrt_beta: Bound | DrmoboWidth = Field(  # type: ignore[assignment]
        1.5,
        description="multiplier of the posterior standard deviation in the upper confidence bound: a number, or by a "
        "theorem",
    )
    search: SearchParameters = Field(
        SearchParameters(raw=128, restarts=10), description="how the acquisition function is maximised"
    )


class MOBO(ContinuousAlgorithm[MOBOParameters]):
    """The largest expectation of the scalarised upper bound under the reference.

    Where no weights are announced, as with a single output, all outputs count alike.

    Raises:
        BocuError: contexts are not finite.
    """

    about = About(
        title="MOBO",
        summary="UCB on the expectation of scalarised payoffs under the reference (baseline of DRMOBO)",
        look=Look("blue", "dash-dot-dot", "<"),
    )
    protocols = SCALARISED
    finite_decisions = True
    Parameters = MOBOParameters

    @classmethod
    def check(cls, parameters: MOBOParameters, outline: Outline) -> None:
        stated = parameters.sqrt_beta
        if isinstance(stated, DrmoboWidth) and not isinstance(outline.decisions, FiniteDomain):
            stated.check_constants()

    def __init__(
        self, description: Description, objective: Pursued, parameters: MOBOParameters, generator: np.random.Generator
    ) -> None:
        if not isinstance(description.contexts, FiniteDomain):
            raise BocuError(f"finite contexts are wanted; found {type(description.contexts).__name__}")
        super().__init__(description, objective, parameters, generator)
        self.points = self.contexts.inwards(np.arange(description.contexts.size))
        decisions = description.decisions
        #: Decisions in the unit cube, shape (decisions, Dx); None: all points of a box.
        self.candidates = (
            self.decisions.inwards(np.arange(decisions.size)) if isinstance(decisions, FiniteDomain) else None
        )

    @classmethod
    @planning_only
    def work(cls, parameters: MOBOParameters, size: Size, rounds: int) -> Work:
        found = super().work(parameters, size, rounds)
        # A search values some hundred decisions; of finite ones each is.
        share = max(1.0, size.arms / VALUED) if size.arms > 1 else 1.0
        return replace(found, counts={step: share * count for step, count in found.counts.items()})

    def _game(self, posteriors: Posteriors, round: Round, generator: np.random.Generator) -> Game:
        spread = float(self._weights(round) @ [posterior.scale for posterior in posteriors])
        return self.points, self._functional(self._reference(round), round, spread)

    def _functional(self, reference: np.ndarray, round: Round, spread: float) -> Functional:
        """Return what is made of scalarised payoffs, of which `spread` is a typical difference."""
        return ExpectedValue(reference)

    def _uniform(self, round: Round) -> Any:
        if self.candidates is None:
            return super()._uniform(round)
        available = self._available(round)
        return int(available[self.generator.integers(len(available))])

    def _best(self, acquisition: SurfaceAcquisition, round: Round) -> Any:
        if self.candidates is None:
            return super()._best(acquisition, round)
        available = self._available(round)
        return int(available[first_best(acquisition.values(self.candidates[available]))])

    def _member(self, point: np.ndarray) -> Any:
        if self.candidates is None:
            return super()._member(point)
        return first_best(-((self.candidates - point) ** 2).sum(axis=1), 0.0)

    def _available(self, round: Round) -> np.ndarray:
        """Return the indices of the finite decisions that may be taken."""
        assert self.candidates is not None
        return np.arange(len(self.candidates)) if round.available is None else np.asarray(round.available)

    def _reference(self, round: Round) -> np.ndarray:
        """Return the reference announced; the uniform distribution before any round."""
        if round.reference is not None:
            return round.reference
        return np.full(len(self.points), 1.0 / len(self.points))

    def _surface(self, posteriors: Posteriors, points: np.ndarray, sqrt_beta: float, round: Round) -> Surface:
        return WeightedSurface([surface(each, points, sqrt_beta) for each in posteriors], self._weights(round))

    def _weights(self, round: Round) -> np.ndarray:
        """Return the weights announced, shape (outputs,); equal ones where there are none."""
        outputs = len(self.models)
        return np.full(outputs, 1.0 / outputs) if round.weights is None else round.weights


class DRMOBOParameters(MOBOParameters):
    """As MOBO."""

    def unfit(self, name: str, objective: Parameters) -> str:
        return "mobo is its counterpart for so; take it" if name == "so" else ""


class DRMOBO(MOBO):
    """The best decision by an objective, such as the worst expectation, of the scalarised upper bound.

    Raises:
        BocuError: contexts are not finite, or the objective is none over them, or SO.
    """

    about = About(
        title="DRMOBO",
        summary="UCB on the worst expectation, or another objective, of scalarised payoffs",
        paper="DRMOBO",
        look=Look("vermillion", "dashed", "P"),
    )
    protocols = SCALARISED
    pursues_objective = True
    Parameters = DRMOBOParameters

    def __init__(
        self, description: Description, objective: Pursued, parameters: DRMOBOParameters, generator: np.random.Generator
    ) -> None:
        super().__init__(description, objective, parameters, generator)
        if not isinstance(objective, UncertaintyObjective) or isinstance(objective, Expectation):
            raise BocuError(f"found {objective}; an UncertaintyObjective is wanted, other than SO, which is mobo's")
        self.rule = objective

    def _functional(self, reference: np.ndarray, round: Round, spread: float) -> Functional:
        rule = self.rule if round.epsilon is None else self.rule.with_epsilon(round.epsilon)
        return functional(rule, reference, spread)
