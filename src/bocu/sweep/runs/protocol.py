"""The loop's one turn: who chooses what, in which order, and what is observed."""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from bocu.core.randomness import Streams
from bocu.core.rounds import Context, Decision, FiniteDomain, Payoff, Round, Situation
from bocu.learners.algorithms.base import Algorithm
from bocu.problems.base import Realisation
from bocu.robust.ambiguity.parameters import SetParameters
from bocu.robust.contexts.references import Estimate


@dataclass(frozen=True)
class Turn:
    """What happened in one round."""

    decision: Decision
    context: Context
    payoff: Payoff  #: noise-free, in units of the payoff; shape (outputs,) where there are several.
    observation: Payoff  #: what the algorithm was told, likewise.
    report: Mapping[str, Any]  #: what the algorithm reported of itself; empty in the initial design.
    seconds: float  #: time that the algorithm took to choose and to learn.
    #: decision that the algorithm would deploy after the round; None where it was not asked.
    recommended: Decision | None = None


class Announcer:
    """Turns what stands before a round into what the algorithm is told, with the radius of its ambiguity set.

    Args:
        ambiguity: the set of the objective or of the algorithm; None where there is none, and no radius.
        contexts: context points, shape (contexts, dimension).
    """

    def __init__(self, ambiguity: SetParameters | None, contexts: np.ndarray | None) -> None:
        self._ambiguity = ambiguity
        self._set = ambiguity.over(contexts) if ambiguity is not None and contexts is not None else None
        self._known: tuple[Situation | None, float] = None, 0.0

    def announce(self, situation: Situation) -> Round:
        """Return what the algorithm is told in a situation."""
        epsilon = self.epsilon(situation)
        return Round(situation.t, situation.available, situation.reference, epsilon, situation.weights)

    def epsilon(self, situation: Situation) -> float | None:
        """Return the radius in a situation, or None where there is no ambiguity set."""
        if self._ambiguity is None or self._set is None:
            return None
        # Where neither distribution changes, the distance between them is not computed again.
        if self._ambiguity.radius == "margin" and self._stands(situation):
            return self._known[1]
        epsilon = self._ambiguity.epsilon(situation, self._set)
        self._known = situation, epsilon
        return epsilon

    def _stands(self, situation: Situation) -> bool:
        known = self._known[0]
        return known is not None and known.reference is situation.reference and known.truth is situation.truth


class Protocol(ABC):
    """Plays rounds. Random numbers of a round are drawn from the streams in the same number, whatever is chosen.

    `seen` holds the contexts of all rows before: indices of shape (rows,), or coordinates of shape (rows, dimension).
    """

    #: Whether what is recommended counts in every round.
    recommends_always: ClassVar[bool] = False

    def situation(self, realisation: Realisation, t: int, seen: np.ndarray) -> Situation:
        """Return what stands before round `t`; rounds of 0 and below belong to the initial design."""
        return _announced(realisation, t, seen)

    @abstractmethod
    def play(self, realisation: Realisation, algorithm: Algorithm, streams: Streams, round_: Round) -> Turn:
        """Play a round as it was announced."""

    def start(self, realisation: Realisation, algorithm: Algorithm, streams: Streams, chosen: tuple[Any, Any]) -> Turn:
        """Tell the algorithm a decision and context of the initial design."""
        return _observe(realisation, algorithm, streams, *chosen, seconds=0.0, t=1, initial=True)

    def recommended(self, algorithm: Algorithm, turn: Turn) -> Decision:
        """Return the decision that the algorithm would deploy after a turn."""
        return algorithm.recommend()

    def replay(self, algorithm: Algorithm, turn: Turn, round_: Round | None) -> None:
        """Tell the algorithm a recorded round without asking it; `round_` is None in the initial design."""
        if round_ is not None:
            algorithm.reinstate(turn.report, round_)
        algorithm.tell(turn.decision, turn.context, turn.observation)


class TimeVarying(Protocol):
    """The learner chooses among the decisions that are available now; the context is the time step itself.

    Source: Ziomek et al. 2025, section 2.
    """

    def play(self, realisation: Realisation, algorithm: Algorithm, streams: Streams, round_: Round) -> Turn:
        decision, seconds = _ask(algorithm, round_)
        return _observe(realisation, algorithm, streams, decision, round_.t, seconds, round_.t)

    def replay(self, algorithm: Algorithm, turn: Turn, round_: Round | None) -> None:
        assert round_ is not None
        algorithm.reinstate(turn.report, round_)
        algorithm.tell(turn.decision, round_.t, turn.observation)


class GeneralProtocol(Protocol):
    """Reference and radius are announced, then the learner decides, then a context comes from the true distribution.

    Source: Kirschner et al. 2020, section 2.1; Tay et al. 2024, algorithm 1. Any of the three may change with time.
    """

    def play(self, realisation: Realisation, algorithm: Algorithm, streams: Streams, round_: Round) -> Turn:
        decision, seconds = _ask(algorithm, round_)
        context = realisation.draw_context(round_.t, streams["contexts"])
        return _observe(realisation, algorithm, streams, decision, context, seconds, round_.t)


class DataDriven(GeneralProtocol):
    """As general, but the reference is the empirical distribution of the contexts seen; uniform while there is none.

    Where a problem estimates its reference in another way, it is that.

    Source: Kirschner et al. 2020, section 2.2.
    """

    def situation(self, realisation: Realisation, t: int, seen: np.ndarray) -> Situation:
        return _announced(realisation, t, seen, realisation.estimate or Estimate(name="empirical"))


class Simulator(GeneralProtocol):
    """The learner chooses the context too, as one does with a simulator; what counts is what it recommends.

    Source: Kirschner et al. 2020, section 2.3 and equation 10.
    """

    recommends_always = True

    def play(self, realisation: Realisation, algorithm: Algorithm, streams: Streams, round_: Round) -> Turn:
        decision, seconds = _ask(algorithm, round_)
        start = time.perf_counter()
        context = algorithm.choose_context(decision, round_)
        seconds += time.perf_counter() - start
        return _observe(realisation, algorithm, streams, decision, context, seconds, round_.t)


class RollingSimulator(Simulator):
    """Before each round the learner, knowing nothing, plays the simulator; what it then recommends is deployed.

    Payoff and observation of a round are those of the decision deployed, under the context that the truth brings. What
    was tried on the way is neither recorded nor remembered, so that rounds are replayed without it.

    Source: Kirschner et al. 2020, section 4, wind power.
    """

    def play(self, realisation: Realisation, algorithm: Algorithm, streams: Streams, round_: Round) -> Turn:
        rehearsal = realisation.rehearsal
        assert rehearsal is not None
        nothing_known = algorithm.state()
        seconds = 0.0
        for chosen in realisation.initial_design(streams["initial-design"], rehearsal.initial):
            seconds += self.start(realisation, algorithm, streams, chosen).seconds
        for step in range(1, rehearsal.steps + 1):
            seconds += super().play(realisation, algorithm, streams, replace(round_, t=step)).seconds
        start = time.perf_counter()
        deployed = algorithm.recommend()
        seconds += time.perf_counter() - start
        algorithm.restore(nothing_known)
        context = realisation.draw_context(round_.t, streams["contexts"])
        payoff = realisation.payoff_at(round_.t, deployed, context)
        return Turn(deployed, context, payoff, payoff, {}, seconds)

    def recommended(self, algorithm: Algorithm, turn: Turn) -> Decision:
        """Return the decision deployed, for that is what was recommended; now nothing is known any more."""
        return turn.decision

    def replay(self, algorithm: Algorithm, turn: Turn, round_: Round | None) -> None:
        """Tell nothing: no round leaves anything behind."""


class ContinuousProtocol(GeneralProtocol):
    """Decisions and contexts are points of boxes; nothing is announced, and the context is seen after the decision.

    Source: Huang et al. 2024, section 3.
    """

    def situation(self, realisation: Realisation, t: int, seen: np.ndarray) -> Situation:
        unknown = np.empty(0)
        return Situation(t, unknown, unknown, len(seen))


class Scalarised(GeneralProtocol):
    """As general, with continuous decisions and several outputs, which the weights of the round make one of.

    Source: the DRMOBO paper, algorithm 1.
    """

    def situation(self, realisation: Realisation, t: int, seen: np.ndarray) -> Situation:
        return replace(super().situation(realisation, t, seen), weights=realisation.weights(max(t, 1)))


PROTOCOLS: Mapping[str, Protocol] = {
    "time-varying": TimeVarying(),
    "general": GeneralProtocol(),
    "data-driven": DataDriven(),
    "simulator": Simulator(),
    "rolling-simulator": RollingSimulator(),
    "continuous": ContinuousProtocol(),
    "scalarised": Scalarised(),
}


def _announced(realisation: Realisation, t: int, seen: np.ndarray, estimate: Estimate | None = None) -> Situation:
    first = max(t, 1)
    estimate = estimate or realisation.estimate
    contexts = realisation.description.contexts
    if estimate is not None and isinstance(contexts, FiniteDomain):
        reference, observed = estimate.weights(seen, contexts.points), estimate.counted(len(seen))
    else:
        reference, observed = realisation.reference(first), len(seen)
    return Situation(
        t,
        reference,
        realisation.truth(first),
        observed,
        realisation.available(first),
        realisation.margin(first),
    )


def _ask(algorithm: Algorithm, round_: Round) -> tuple[Decision, float]:
    start = time.perf_counter()
    decision = algorithm.ask(round_)
    return decision, time.perf_counter() - start


def _observe(
    realisation: Realisation,
    algorithm: Algorithm,
    streams: Streams,
    decision: Decision,
    context: Context,
    seconds: float,
    t: int,
    initial: bool = False,
) -> Turn:
    payoff = realisation.payoff_at(t, decision, context)
    observation = realisation.observe(decision, context, payoff, streams["noise"])
    start = time.perf_counter()
    algorithm.tell(decision, context, observation)
    seconds += time.perf_counter() - start
    return Turn(decision, context, payoff, observation, {} if initial else algorithm.report(), seconds)
