"""DRMOBO and MOBO: several payoffs at once, scalarised by weights that change from round to round.

Source: the DRMOBO paper, algorithm 1: the next decision maximises the worst case of `s'mu + sqrt_beta s'sigma` over an
ambiguity set around the reference that is announced, on a finite set of contexts. With one output and weight 1 it is
distributionally robust optimisation of a single payoff.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from bocu.acquisition.base import Functional, Surface
from bocu.acquisition.functionals import ExpectedValue, WorstCaseValue
from bocu.algorithms.base import Pursued
from bocu.algorithms.continuous_base import ContextualParameters, ContinuousAlgorithm, SearchParameters
from bocu.core.about import About, Look
from bocu.core.domains import FiniteDomain
from bocu.core.errors import BocuError
from bocu.core.parameters import Parameters
from bocu.core.protocols import SCALARISED
from bocu.core.rounds import Description, Round
from bocu.objectives.functions import Slice
from bocu.objectives.stated import DistributionallyRobustParameters

if TYPE_CHECKING:
    from bocu.surrogates.continuous.model import Posterior


class MOBOParameters(ContextualParameters):
    """Confidence bound, search, and a model for each output."""

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
    Parameters = MOBOParameters

    def __init__(
        self, description: Description, objective: Pursued, parameters: MOBOParameters, generator: np.random.Generator
    ) -> None:
        if not isinstance(description.contexts, FiniteDomain):
            raise BocuError(f"finite contexts are wanted; found {type(description.contexts).__name__}")
        super().__init__(description, objective, parameters, generator)
        points = description.contexts.points
        self.points = np.stack([self.contexts.inwards(index) for index in range(len(points))])

    def _game(
        self, posteriors: Sequence["Posterior"], round: Round, generator: np.random.Generator
    ) -> tuple[np.ndarray, Functional]:
        return self.points, self._functional(self._reference(round), round)

    def _functional(self, reference: np.ndarray, round: Round) -> Functional:
        """Return what is made of scalarised payoffs."""
        return ExpectedValue(reference)

    def _reference(self, round: Round) -> np.ndarray:
        """Return the reference announced; the uniform distribution before any round."""
        if round.reference is not None:
            return round.reference
        return np.full(len(self.points), 1.0 / len(self.points))

    def _surface(
        self, posteriors: Sequence["Posterior"], points: np.ndarray, sqrt_beta: float, round: Round
    ) -> Surface:
        from bocu.acquisition.surfaces import WeightedSurface, surface

        outputs = len(posteriors)
        weights = np.full(outputs, 1.0 / outputs) if round.weights is None else round.weights
        return WeightedSurface([surface(each, points, sqrt_beta) for each in posteriors], weights)


class DRMOBOParameters(MOBOParameters):
    """As MOBO."""

    def unfit(self, name: str, objective: Parameters) -> str:
        if not isinstance(objective, DistributionallyRobustParameters):
            return "it pursues a worst expectation; take dro (mobo is its counterpart for so)"
        return ""


class DRMOBO(MOBO):
    """The largest worst expectation of the scalarised upper bound.

    Raises:
        BocuError: contexts are not finite, or the objective is not DRO.
    """

    about = About(
        title="DRMOBO",
        summary="UCB on the worst expectation of scalarised payoffs",
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
        if not isinstance(objective, Slice) or objective.beta != 0.0:
            raise BocuError(f"found {objective}; DRO is wanted")
        self.ambiguity_set = objective.ambiguity_set

    def _functional(self, reference: np.ndarray, round: Round) -> Functional:
        ambiguity_set = self.ambiguity_set if round.epsilon is None else self.ambiguity_set.with_epsilon(round.epsilon)
        return WorstCaseValue(ambiguity_set, reference)
