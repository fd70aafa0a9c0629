"""The loop's one turn: who chooses what, in which order, and what is observed."""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bocu.algorithms.base import Algorithm, Context, Decision
from bocu.problems.base import Realisation
from bocu.randomness import Streams


@dataclass(frozen=True)
class Turn:
    """What happened in one round.

    Attributes:
        payoff: noise-free, in units of the payoff.
        observation: what the algorithm was told.
        report: what the algorithm reported of itself.
        seconds: time that the algorithm took to choose and to learn.
    """

    decision: Decision
    context: Context
    payoff: float
    observation: float
    report: Mapping[str, Any]
    seconds: float


class Protocol(ABC):
    """Plays rounds. Random numbers of a round are drawn from the streams in the same number, whatever is chosen."""

    @abstractmethod
    def play(self, t: int, realisation: Realisation, algorithm: Algorithm, streams: Streams) -> Turn:
        """Play round `t`, from 1 on."""

    @abstractmethod
    def replay(self, t: int, realisation: Realisation, algorithm: Algorithm, turn: Turn) -> None:
        """Tell the algorithm a recorded round without asking it."""


class TimeVarying(Protocol):
    """The learner chooses among the decisions that are available now; the context is the time step itself.

    Source: Ziomek et al. 2025, section 2.
    """

    def play(self, t: int, realisation: Realisation, algorithm: Algorithm, streams: Streams) -> Turn:
        announced = realisation.round(t)
        start = time.perf_counter()
        decision = algorithm.ask(announced)
        seconds = time.perf_counter() - start
        payoff = realisation.payoff(decision, t)
        observation = payoff + realisation.description.noise * streams["noise"].standard_normal()
        start = time.perf_counter()
        algorithm.tell(decision, t, observation)
        seconds += time.perf_counter() - start
        return Turn(decision, t, payoff, float(observation), algorithm.report(), seconds)

    def replay(self, t: int, realisation: Realisation, algorithm: Algorithm, turn: Turn) -> None:
        algorithm.reinstate(turn.report, realisation.round(t))
        algorithm.tell(turn.decision, t, turn.observation)


PROTOCOLS: Mapping[str, Protocol] = {"time-varying": TimeVarying()}
