"""A Gaussian process over arms that does not change, told what it is to forget of payoffs that do.

Three ways to forget: all is dropped every so many rounds (Bogunovic et al. 2016; Zhou and Shroff 2021), only the newest
observations are kept (Zhou and Shroff 2021), or an observation's weight falls by a factor every round (Deng et al.
2022). Of the papers only abstracts and other people's code were read. A weight w is a noise variance R^2 / w, which the
minimiser of ``sum of w (y - f)^2 + R^2 norm(f)^2`` is the posterior mean of.

What is kept changes from round to round, so that posteriors are solved anew: O(kept^3 + kept^2 arms) a round.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bocu.core.plain import State
from bocu.core.ties import first_best
from bocu.learners.surrogates.time_varying import ArmPosteriors, TimeVaryingPosteriors, TimeVaryingPrior


class Memory(ABC):
    """What is left of observations in a round."""

    @abstractmethod
    def weights(self, t: int, times: np.ndarray) -> np.ndarray:
        """Return weights of observations in round `t`, shape (n,), given their rounds (n,), ascending; 0: dropped."""

    def spread_weights(self, t: int, times: np.ndarray) -> np.ndarray:
        """Return those that the standard deviation is reckoned with."""
        return self.weights(t, times)


@dataclass(frozen=True)
class Restarts(Memory):
    """Everything is dropped every so many rounds.

    Attributes:
        every: rounds of a block; None: nothing is ever dropped.
    """

    every: int | None

    def weights(self, t: int, times: np.ndarray) -> np.ndarray:
        if self.every is None:
            return np.ones(len(times))
        return ((times - 1) // self.every == (t - 1) // self.every).astype(float)


@dataclass(frozen=True)
class Window(Memory):
    """The newest observations are kept.

    Attributes:
        length: their number.
    """

    length: int

    def weights(self, t: int, times: np.ndarray) -> np.ndarray:
        return (np.arange(len(times)) >= len(times) - self.length).astype(float)


@dataclass(frozen=True)
class Fading(Memory):
    """Weights fall by a factor a round; that of the newest round before `t` is 1.

    Attributes:
        rate: the factor, above 0 and at most 1.
        squared: whether the standard deviation is reckoned with squared weights.
    """

    rate: float
    squared: bool = False

    def weights(self, t: int, times: np.ndarray) -> np.ndarray:
        return self.rate ** np.maximum(t - 1.0 - times, 0.0)

    def spread_weights(self, t: int, times: np.ndarray) -> np.ndarray:
        weights = self.weights(t, times)
        return weights**2 if self.squared else weights


class ForgetfulPosteriors(ArmPosteriors):
    """The posterior of one prior given what is not forgotten. There is no evidence of observations that are.

    Args:
        prior: its own forgetting is left out of account.
        noise: standard deviation of the observation noise, in units of the payoff.
        memory: what is left of observations.
    """

    def __init__(self, prior: TimeVaryingPrior, noise: float, memory: Memory) -> None:
        self.priors = (prior,)
        self.noise = noise
        self.memory = memory
        self.time = 0
        self.log_evidence = np.zeros(1)
        self._told: list[tuple[int, int, float]] = []
        self._predicted: tuple[int, np.ndarray, np.ndarray] | None = None

    def predict(self, t: int) -> tuple[np.ndarray, np.ndarray]:
        if self._predicted is None or self._predicted[0] != t:
            self._predicted = (t, *self._solve(t))
        _, mean, sd = self._predicted
        return mean[None], sd[None]

    def observe(self, arm: int, t: int, value: float) -> None:
        self._refuse(arm, t, value)
        self._told.append((arm, t, value))
        self.time = t
        self._predicted = None

    def state(self) -> State:
        arms, times, values = self._columns()
        return {"arms": arms, "times": times, "values": values}

    def restore(self, state: State) -> None:
        columns = np.asarray(state["arms"]).tolist(), np.asarray(state["times"]).tolist(), np.asarray(state["values"])
        self._told = list(zip(columns[0], columns[1], columns[2].tolist(), strict=True))
        self.time = self._told[-1][1] if self._told else 0
        self._predicted = None

    def _columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        arms, times, values = zip(*self._told, strict=True) if self._told else ((), (), ())
        return np.array(arms, dtype=np.int64), np.array(times, dtype=np.int64), np.array(values, dtype=float)

    def _solve(self, t: int) -> tuple[np.ndarray, np.ndarray]:
        from scipy.linalg import solve_triangular  # slow to import, and planning needs none of it

        (prior,) = self.priors
        arms, times, values = self._columns()
        weights, spread = self.memory.weights(t, times), self.memory.spread_weights(t, times)
        mean, variance = prior.mean_at(t), np.diag(prior.covariance)
        excess = values - np.array([prior.mean_at(int(time))[arm] for arm, time in zip(arms, times, strict=True)])
        if weights.any():
            known, kept = self._root(arms, weights)
            cross = prior.covariance[arms[kept]]
            mean = mean + _solved(known, excess[kept]) @ cross
        if spread.any():
            known, kept = self._root(arms, spread)
            rows = solve_triangular(known, prior.covariance[arms[kept]], lower=True, check_finite=False)
            variance = variance - (rows**2).sum(axis=0)
        return mean, np.sqrt(np.maximum(variance, 0.0))

    def _root(self, arms: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the lower Cholesky factor of noisy covariances of what is kept, and which that is."""
        from scipy.linalg import cho_factor

        kept = np.flatnonzero(weights)
        gram = self.priors[0].covariance[np.ix_(arms[kept], arms[kept])]
        factor, _ = cho_factor(gram + np.diag(self.noise**2 / weights[kept]), lower=True, check_finite=False)
        return factor, kept


def _solved(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve with a matrix of which the lower Cholesky factor is given."""
    from scipy.linalg import cho_solve

    solved: np.ndarray = cho_solve((factor, True), right, check_finite=False)
    return solved


class InformationGain:
    """How much observations can tell of payoffs at most: the greedy choice of arms, within a factor of 1 - 1/e.

    Source: Srinivas et al. (2010): the gain ``log det(I + K / R^2) / 2`` is submodular in the set of observations.

    Args:
        prior: its forgetting is left out of account.
        noise: standard deviation R of the observation noise, in units of the payoff.
    """

    def __init__(self, prior: TimeVaryingPrior, noise: float) -> None:
        self._prior = prior
        self._noise = noise
        self._gains = [0.0]

    def of(self, count: int) -> float:
        """Return the gain of so many observations, in nats."""
        while len(self._gains) <= count:
            variance = self._greedy.predict(1)[1][0] ** 2
            arm = first_best(variance)
            self._gains.append(self._gains[-1] + 0.5 * float(np.log1p(variance[arm] / self._noise**2)))
            self._greedy.observe(arm, 1, 0.0)
        return self._gains[count]

    @cached_property
    def _greedy(self) -> TimeVaryingPosteriors:
        still = TimeVaryingPrior(self._prior.label, np.zeros(self._prior.arms), self._prior.covariance)
        return TimeVaryingPosteriors([still], self._noise)
