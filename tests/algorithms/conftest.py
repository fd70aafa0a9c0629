"""A small problem, played to the end, that the algorithms' tests share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from bocu.core.rounds import BoxDomain, Description, FiniteDomain, Round
from bocu.learners.algorithms.base import Algorithm
from bocu.learners.surrogates.time_varying import TimeVaryingPrior


@dataclass
class Game:
    """Payoffs of every arm at every time, and a noise for every time."""

    description: Description
    payoffs: np.ndarray  # (arms, rounds)
    noise: np.ndarray  # (rounds,)
    closed: np.ndarray  # (rounds,) the arm that is not available

    @property
    def rounds(self) -> int:
        return self.payoffs.shape[1]

    def round(self, t: int) -> Round:
        return Round(t=t, available=np.delete(np.arange(len(self.payoffs)), self.closed[t - 1]))

    def observe(self, arm: int, t: int) -> float:
        return float(self.payoffs[arm, t - 1] + self.noise[t - 1])

    def start(self, kind: type[Algorithm], **parameters: Any) -> Algorithm:
        return kind(self.description, None, kind.Parameters(**parameters), np.random.default_rng(1))


@dataclass
class Record:
    """What a run leaves in its file."""

    arms: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    reports: list[dict[str, Any]] = field(default_factory=list)


def _game(seed: int, forgetting: tuple[float, ...], surprise: float = 2.0) -> Game:
    """Draw a game of 6 arms and 25 rounds; the larger `surprise`, the less the priors expect the payoffs."""
    arms, rounds = 6, 25
    generator = np.random.default_rng(seed)
    noise = 0.2
    priors = []
    for k, rate in enumerate(forgetting):
        root = generator.standard_normal((arms, arms))
        priors.append(TimeVaryingPrior(str(k), 1.5 * generator.standard_normal(arms), root @ root.T / arms, rate))
    return Game(
        Description(
            decisions=FiniteDomain(np.arange(arms, dtype=float)[:, None], ("arm",), ("1",)),
            contexts=BoxDomain(np.array([1.0]), np.array([np.inf]), ("time step",), ("1",)),
            noise=noise,
            protocol="time-varying",
            priors=tuple(priors),
            best_prior=priors[1],
        ),
        payoffs=surprise * generator.standard_normal((arms, 1)) + 0.3 * generator.standard_normal((arms, rounds)),
        noise=noise * generator.standard_normal(rounds),
        closed=generator.integers(0, arms, rounds),
    )


@pytest.fixture(params=[(0.0, 0.0, 0.0), (0.1, 0.0, 0.4)], ids=["stationary", "forgetting"])
def game(request: pytest.FixtureRequest) -> Game:
    return _game(3, request.param)


@pytest.fixture
def surprising_games() -> list[Game]:
    """Games in which some or all priors turn out wrong."""
    rates = (0.1, 0.0, 0.4)
    return [_game(seed, rates, surprise) for seed in range(4) for surprise in (6.0, 12.0, 40.0)]


@pytest.fixture
def play() -> Callable[[Game, Algorithm], Record]:
    def play(game: Game, algorithm: Algorithm) -> Record:
        record = Record()
        for t in range(1, game.rounds + 1):
            arm = int(algorithm.ask(game.round(t)))
            record.arms.append(arm)
            record.values.append(game.observe(arm, t))
            algorithm.tell(arm, t, record.values[-1])
            record.reports.append(algorithm.report())
        return record

    return play
