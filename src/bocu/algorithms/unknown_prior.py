"""What the algorithms with several candidate priors have in common (Ziomek et al. 2025).

Every round one prior is trusted with the choice (`chosen_prior`), and its prediction for the chosen arm, before the
observation, is reported. All priors learn from all observations. UCB multiplies the standard deviation by `sqrt_beta`
(the paper writes beta).
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import Field

from bocu.algorithms.base import Algorithm, Pursued, Reported
from bocu.core.costs import Size, Work, planning_only
from bocu.core.domains import FiniteDomain
from bocu.core.errors import BocuError
from bocu.core.parameters import Number, Parameters
from bocu.core.plain import State
from bocu.core.rounds import Context, Decision, Description, Round
from bocu.surrogates.time_varying import TimeVaryingPosteriors, TimeVaryingPrior

PAYOFF = "payoff"
"""Unit of reported quantities that are in units of the problem's payoff."""

Delta = Annotated[Number, Field(gt=0.0, lt=1.0)]

_SQUARED_PI = math.pi**2
SQRT_BETA: dict[str, Callable[[int, int, float], float]] = {
    "theorem-4.1": lambda arms, t, delta: math.sqrt(2.0 * math.log(2.0 * arms * _SQUARED_PI * t**2 / delta)),
    "theorem-3.1": lambda arms, t, delta: math.sqrt(2.0 * math.log(1.5 * arms * _SQUARED_PI * t**2 / delta)),
    "union-bound": lambda arms, t, delta: math.sqrt(2.0 * math.log(0.5 * arms * _SQUARED_PI * t**2 / delta)),
}
"""Valid choices of sqrt_beta for finitely many arms as a function of arms, t and delta, from the loosest on: Theorem
4.1(A) as printed, Theorem 3.1 at a third of delta, and what a union bound over arms, times and both tails needs."""


def squared_noise_bound(noise: float, priors: int, t: int, delta: float) -> float:
    """Return xi_t: the sum of n noise terms stays within sqrt(xi_t n) (Ziomek et al. 2025, Theorem 4.1).

    Args:
        noise: standard deviation of the observation noise, in units of the payoff.
        priors: number of candidate priors.
        t: the round, from 1 on.
        delta: probability with which the bounds may fail.

    Returns:
        ``2 noise^2 log(priors pi^2 t^2 / delta)``, in squared units of the payoff.
    """
    return 2.0 * noise**2 * math.log(priors * _SQUARED_PI * t**2 / delta)


class ConfidenceParameters(Parameters):
    """How wide the confidence intervals are."""

    delta: Delta = Field(0.1, description="probability with which the confidence statements may fail")
    confidence: Literal["theorem-4.1", "theorem-3.1", "union-bound"] = Field(
        "theorem-4.1",
        description="rule for sqrt_beta, from the loosest to the tightest; all are valid for finitely many arms",
    )
    sqrt_beta: Annotated[Number, Field(ge=0.0)] | None = Field(
        None, description="a constant multiplier of the standard deviation in place of the rule; null: the rule"
    )


@dataclass(frozen=True)
class Choice:
    """Who chose in a round, and what was predicted for the chosen arm before its payoff was seen.

    Attributes:
        prior: index of the prior; -1: none, the decision came from outside.
        mean: posterior mean under that prior, in units of the payoff.
        sd: posterior standard deviation, in units of the payoff.
        width: half-width of the confidence interval, sqrt_beta times `sd`.
    """

    prior: int
    mean: float
    sd: float
    width: float


NOBODY = Choice(prior=-1, mean=math.nan, sd=math.nan, width=math.nan)

CHOICE_REPORTS = (
    Reported("chosen_prior", "candidate prior trusted with the choice, by its index; -1: none", dtype="int16"),
    Reported("predicted_mean", "posterior mean of the chosen arm under the chosen prior, before observing", PAYOFF),
    Reported("predicted_sd", "posterior standard deviation of the chosen arm under the chosen prior", PAYOFF),
    Reported("confidence_width", "half-width of the confidence interval: sqrt_beta times predicted_sd", PAYOFF),
)
ACTIVE_REPORT = Reported(
    "active_priors", "whether the prior is still a candidate after the round", dtype="int8", per_prior=True
)
WEIGHT_REPORT = Reported("prior_weight", "posterior weight of the prior, before observing", per_prior=True)


Confidence = TypeVar("Confidence", bound=ConfidenceParameters)


class UnknownPriorAlgorithm(Algorithm[Confidence]):
    """A GP-UCB rule over several candidate priors. Arms are indices of the description's finite decision space.

    An observation whose decision was neither asked for nor reinstated informs all posteriors, but no prior answers for
    it (`chosen_prior` is -1).

    Raises:
        BocuError: the decision space is not finite, there are no candidate priors, or they are over other arms.
    """

    reports: tuple[Reported, ...] = CHOICE_REPORTS

    @classmethod
    @planning_only
    def work(cls, parameters: Confidence, size: Size, rounds: int) -> Work:
        rows = size.kernels * size.arms * rounds
        counts = {"round": rounds, "prediction": size.priors * size.arms * rounds, "update": rows * rounds / 2}
        return Work(counts, numbers=7 * rows, priors=size.priors)

    def __init__(
        self, description: Description, objective: Pursued, parameters: Confidence, generator: np.random.Generator
    ) -> None:
        super().__init__(description, objective, parameters, generator)
        if not isinstance(description.decisions, FiniteDomain):
            raise BocuError(f"{self.title}: the decision space is a box; a finite one is wanted")
        self.priors = self._candidates()
        self.arms = description.decisions.size
        if wrong := next((prior for prior in self.priors if prior.arms != self.arms), None):
            raise BocuError(f"{self.title}: prior '{wrong.label}' has {wrong.arms} arms, the problem {self.arms}")
        self.surrogate = TimeVaryingPosteriors(self.priors, description.noise)
        self._asked: int | None = None
        self._pending: Choice | None = None
        self._told = NOBODY
        self._index = self._indices()
        self._begin()

    def posteriors(self, t: int) -> tuple[np.ndarray, np.ndarray]:
        """Return posterior mean and standard deviation of every arm at time `t` under every prior, (priors, arms) each.

        The time may not lie before the newest observation; replay a run up to the round of interest.
        """
        return self.surrogate.predict(t)

    def sqrt_beta(self, t: int) -> float:
        """Return the multiplier of the standard deviation in round `t`."""
        if self.parameters.sqrt_beta is not None:
            return self.parameters.sqrt_beta
        return SQRT_BETA[self.parameters.confidence](self.arms, t, self.parameters.delta)

    def ask(self, round: Round) -> Decision:
        mean, sd = self.surrogate.predict(round.t)
        sqrt_beta = self.sqrt_beta(round.t)
        available = self._available(round)
        prior, position = self._choose((mean + sqrt_beta * sd)[:, available])
        arm = int(available[position])
        self._asked = arm
        chosen_mean, chosen_sd = float(mean[prior, arm]), float(sd[prior, arm])
        self._pending = Choice(self._index[prior], chosen_mean, chosen_sd, sqrt_beta * chosen_sd)
        return arm

    def tell(self, decision: Decision, context: Context, value: float) -> None:
        arm, t = int(decision), int(context)
        answered = self._pending is not None and self._asked in (None, arm)
        self._told = self._pending if answered and self._pending else NOBODY
        self._asked = self._pending = None
        self._metric(self._told, t, float(value))
        self.surrogate.observe(arm, t, float(value))

    def report(self) -> dict[str, Any]:
        return {
            "chosen_prior": self._told.prior,
            "predicted_mean": self._told.mean,
            "predicted_sd": self._told.sd,
            "confidence_width": self._told.width,
        }

    def reinstate(self, report: Mapping[str, Any], round: Round) -> None:
        prior = int(report["chosen_prior"])
        self._asked = None
        self._pending = Choice(
            prior, float(report["predicted_mean"]), float(report["predicted_sd"]), float(report["confidence_width"])
        )

    def recommend(self) -> Decision:
        mean, _ = self.surrogate.predict(self.surrogate.time)
        return int(np.argmax(self._trust() @ mean))

    def state(self) -> State:
        return {"surrogate": self.surrogate.state()}

    def restore(self, state: State) -> None:
        self.surrogate.restore(state["surrogate"])
        self._asked = self._pending = None
        self._told = NOBODY

    @abstractmethod
    def _choose(self, ucb: np.ndarray) -> tuple[int, int]:
        """Choose prior and arm given upper confidence bounds of shape (priors, available arms)."""

    @abstractmethod
    def _trust(self) -> np.ndarray:
        """Return the weights, shape (priors,), by which priors enter a recommendation."""

    def _metric(self, choice: Choice, t: int, value: float) -> None:
        """Draw conclusions on priors from an observation that the posteriors have not seen yet."""

    def _begin(self) -> None:
        """Set up what the rule itself keeps."""

    def _indices(self) -> list[int]:
        """Return for each prior that is followed its index among the candidates of the problem."""
        return list(range(len(self.priors)))

    def _candidates(self) -> tuple[TimeVaryingPrior, ...]:
        if not self.description.priors:
            raise BocuError(f"{self.title}: the problem offers no candidate priors")
        return tuple(self.description.priors)

    def _available(self, round: Round) -> np.ndarray:
        if round.available is None:
            return np.arange(self.arms)
        available = np.asarray(round.available)
        if available.size == 0 or available.min() < 0 or available.max() >= self.arms:
            found = "none" if available.size == 0 else f"{available.min()} to {available.max()}"
            raise BocuError(f"round {round.t}: available: found {found}; allowed: some of 0 to {self.arms - 1}")
        return available


def first_maximum(ucb: np.ndarray, priors: Sequence[int] | np.ndarray) -> tuple[int, int]:
    """Find the largest bound among the rows `priors` of `ucb`; ties go to the first prior, then to the first arm."""
    row, position = divmod(int(np.argmax(ucb[priors])), ucb.shape[1])
    return int(priors[row]), position


def one_hot(index: int, size: int) -> np.ndarray:
    """Return weights of shape (size,), all of it on one index."""
    weights = np.zeros(size)
    weights[index] = 1.0
    return weights
