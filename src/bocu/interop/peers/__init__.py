"""Optimisers of other packages as algorithms of a sweep, each with its own defaults.

A package is asked through its own ask and tell. Its study is made anew in each round from all that was told, with a
seed from the algorithm's stream, so that a run that is killed goes on with the same decisions. Decisions and contexts
are in the unit cube; of finitely many decisions the one nearest to the package's proposal is taken, and told.
"""

import copy
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import Field

from bocu.core.about import Size, Work, planning_only
from bocu.core.errors import BocuError
from bocu.core.loading import naming_extras
from bocu.core.parameters import Parameters
from bocu.core.plain import State
from bocu.core.rounds import CONTINUOUS, Context, Decision, Description, FiniteDomain, Round
from bocu.core.ties import first_best
from bocu.learners.algorithms.base import Algorithm, Pursued, announced, plain_round
from bocu.learners.algorithms.botorch_model import TORCH_NUMBERS
from bocu.learners.algorithms.continuous_base import Scaling
from bocu.learners.surrogates.continuous.model import ContinuousGP
from bocu.learners.surrogates.continuous.structure import product

PAYOFF = "payoff"


class PeerParameters(Parameters):
    """Which decision is deployed."""

    recommends: Literal["own", "shared-model"] = Field(
        "own",
        description="`own`: as the package says; `shared-model`: of the decisions tried the one of the best "
        "expectation by a Gaussian process of decisions and contexts, the same for all packages, fitted to all of it",
    )


@dataclass(frozen=True)
class Told:
    """All that a package is told, in the unit cube.

    Attributes:
        decisions: shape (t, Dx).
        contexts: those met, shape (t, Dc).
        payoffs: shape (t,), more is better.
        likely: contexts that an expectation is over, shape (M, Dc): those of the announced reference, else those met.
        weights: their probabilities, shape (M,).
    """

    decisions: np.ndarray
    contexts: np.ndarray
    payoffs: np.ndarray
    likely: np.ndarray
    weights: np.ndarray

    def names(self, with_contexts: bool) -> list[str]:
        """Return names for the coordinates of decisions, then of contexts where these are told."""
        kinds = [("x", self.decisions)] + [("c", self.contexts)] * with_contexts
        return [f"{letter}{place}" for letter, points in kinds for place in range(points.shape[1])]

    def trials(self, with_contexts: bool) -> list[dict[str, float]]:
        """Return what was tried, by name."""
        table = np.hstack([self.decisions, self.contexts]) if with_contexts else self.decisions
        names = self.names(with_contexts)
        return [dict(zip(names, row, strict=True)) for row in table.tolist()]

    def pairs(self) -> np.ndarray:
        """Return the decisions tried, each in all likely contexts, shape (t * M, Dx + Dc)."""
        decisions = np.repeat(self.decisions, len(self.likely), axis=0)
        return np.hstack([decisions, np.tile(self.likely, (len(self.decisions), 1))])

    def expected(self, means: np.ndarray) -> np.ndarray:
        """Return the expectation (t,) of what a model says of `pairs` (t * M,)."""
        expected: np.ndarray = means.reshape(len(self.decisions), -1) @ self.weights
        return expected


PeerParametersType = TypeVar("PeerParametersType", bound=PeerParameters)


class Peer(Algorithm[PeerParametersType]):
    """An optimiser of another package."""

    protocols = ("general", "data-driven", *CONTINUOUS)
    Parameters: ClassVar[type[Parameters]] = PeerParameters

    def __init__(
        self,
        description: Description,
        objective: Pursued,
        parameters: PeerParametersType,
        generator: np.random.Generator,
    ) -> None:
        super().__init__(description, objective, parameters, generator)
        self._spaces = Scaling(description.decisions), Scaling(description.contexts)
        self._decisions = np.empty((0, description.decisions.dimension))
        self._contexts = np.empty((0, description.contexts.dimension))
        self._payoffs = np.empty(0)
        self._round: Round | None = None

    @classmethod
    @planning_only
    def work(cls, parameters: PeerParametersType, size: Size, rounds: int) -> Work:
        return Work({"round": rounds, "told": rounds**2 / 2}, numbers=TORCH_NUMBERS)

    def ask(self, round: Round) -> Decision:
        """Choose the next decision; before any observation it is a uniform draw."""
        self._round = round
        seed = int(self.generator.integers(2**31))
        if not len(self._payoffs):
            point = self.generator.random(self._decisions.shape[1])
        else:
            with naming_extras():
                point = self._proposed(self._told(round), seed)
        return self._spaces[0].member(np.clip(point, 0.0, 1.0), round.available)

    def tell(self, decision: Decision, context: Context, value: Any) -> None:
        if np.size(value) != 1 or not np.isfinite(value):
            raise BocuError(f"observation: found {value}; one finite number is wanted")
        decisions, contexts = self._spaces
        self._decisions = np.vstack([self._decisions, decisions.inwards(decision)])
        self._contexts = np.vstack([self._contexts, contexts.inwards(context)])
        self._payoffs = np.append(self._payoffs, float(np.squeeze(value)))

    def recommend(self) -> Decision:
        """Return the decision to deploy: see `PeerParameters`; before any observation the lower corner."""
        round = self._round or Round(t=1)
        if not len(self._payoffs):
            return self._spaces[0].member(np.zeros(self._decisions.shape[1]), round.available)
        told, generator = self._told(round), copy.deepcopy(self.generator)
        if self.parameters.recommends == "shared-model":
            best = told.decisions[first_best(expectations(told, generator))]
        else:
            with naming_extras():
                best = np.clip(self._best(told, int(generator.integers(2**31))), 0.0, 1.0)
        return self._spaces[0].member(best, round.available)

    @abstractmethod
    def _proposed(self, told: Told, seed: int) -> np.ndarray:
        """Return what the package would try next, shape (Dx,)."""

    @abstractmethod
    def _best(self, told: Told, seed: int) -> np.ndarray:
        """Return what the package calls the best decision, shape (Dx,)."""

    def state(self) -> State:
        told: State = {"decisions": self._decisions, "contexts": self._contexts, "payoffs": self._payoffs}
        state: State = {name: values.copy() for name, values in told.items()}
        return state if self._round is None else {**state, "round": plain_round(self._round)}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._decisions = np.array(state["decisions"], dtype=float).reshape(-1, self._decisions.shape[1])
        self._contexts = np.array(state["contexts"], dtype=float).reshape(-1, self._contexts.shape[1])
        self._payoffs = np.array(state["payoffs"], dtype=float)
        self._round = announced(state.get("round"))

    def reinstate(self, report: Mapping[str, object], round: Round) -> None:
        self._round = round

    def _told(self, round: Round) -> Told:
        space = self.description.contexts
        if isinstance(space, FiniteDomain):
            weights = np.full(space.size, 1.0 / space.size) if round.reference is None else np.asarray(round.reference)
            likely = np.stack([self._spaces[1].inwards(index) for index in np.flatnonzero(weights)])
            return Told(self._decisions, self._contexts, self._payoffs, likely, weights[weights > 0.0])
        weights = np.full(len(self._payoffs), 1.0 / len(self._payoffs))
        return Told(self._decisions, self._contexts, self._payoffs, self._contexts, weights)


def expectations(told: Told, generator: np.random.Generator) -> np.ndarray:
    """Return the expected payoff of every decision tried, by the posterior mean of the model that packages share.

    Its kernel is a Matern-5/2 over decisions times a squared exponential over contexts, fitted by maximum a posteriori.

    Returns:
        Shape (t,), in units of the payoff.
    """
    width = told.decisions.shape[1]
    model = ContinuousGP(product(width, told.contexts.shape[1], "matern-5/2", "squared-exponential"))
    for row in zip(told.decisions, told.contexts, told.payoffs, strict=True):
        model.add(*row)
    posterior = model.posterior(generator)
    pairs = told.pairs()
    means = posterior.shift + posterior.scale * (posterior.mean + posterior.covariance(pairs) @ posterior.weights)
    return told.expected(means)
