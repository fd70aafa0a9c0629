"""What the algorithms with several candidate priors have in common (Ziomek et al. 2025).

Every round one prior is trusted with the choice (`chosen_prior`), and its prediction for the chosen arm, before the
observation, is reported. All priors learn from all observations. UCB multiplies the standard deviation by `sqrt_beta`
(the paper writes beta).

The paper's rules are for a context that is the time itself. Under the protocols on a grid of decisions and contexts,
where payoffs stand still or change with time, they are ours: arms are rated by the objective of their upper confidence
bounds, and what is predicted is the payoff in the context that was met. A confidence statement on all points of the
grid holds at that point however it was chosen from what was observed before. Under the protocol "simulator" the context
is the one of which the chosen prior knows least, and recommended is the decision whose lower bounds were rated highest
in its own round, of those that the prior trusted now chose (Kirschner et al. 2020, equation 10).
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import Field

from bocu.algorithms.base import PESSIMISTIC, SIMULATOR, Algorithm, AlgorithmParameters, Pursued, Reported
from bocu.algorithms.beliefs import Beliefs, Offers, TimeVaryingBeliefs
from bocu.core.costs import Size, Work, planning_only
from bocu.core.domains import FiniteDomain
from bocu.core.errors import BocuError
from bocu.core.parameters import Number
from bocu.core.plain import State
from bocu.core.protocols import FINITE, TIME_VARYING
from bocu.core.rounds import Context, Decision, Description, Outline, Round
from bocu.surrogates.time_varying import ArmPosteriors, TimeVaryingPosteriors, TimeVaryingPrior

PAYOFF = "payoff"
"""Unit of reported quantities that are in units of the problem's payoff."""

Delta = Annotated[Number, Field(gt=0.0, lt=1.0)]

_SQUARED_PI = math.pi**2
SQRT_BETA: dict[str, Callable[[int, int, float], float]] = {
    "theorem-4.1": lambda arms, t, delta: math.sqrt(2.0 * math.log(2.0 * arms * _SQUARED_PI * t**2 / delta)),
    "theorem-3.1": lambda arms, t, delta: math.sqrt(2.0 * math.log(1.5 * arms * _SQUARED_PI * t**2 / delta)),
    "union-bound": lambda arms, t, delta: math.sqrt(2.0 * math.log(0.5 * arms * _SQUARED_PI * t**2 / delta)),
}
"""Valid choices of sqrt_beta for finitely many points as a function of points, t and delta, from the loosest on:
Theorem 4.1(A) as printed, Theorem 3.1 at a third of delta, and what a union bound over points, times and both tails
needs."""


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


class ConfidenceParameters(AlgorithmParameters):
    """How wide the confidence intervals are, and how an objective's slope is taken."""

    delta: Delta = Field(0.1, description="probability with which the confidence statements may fail")
    confidence: Literal["theorem-4.1", "theorem-3.1", "union-bound"] = Field(
        "theorem-4.1",
        description="rule for sqrt_beta, from the loosest to the tightest; all are valid for finitely many arms, or "
        "pairs of arm and context",
    )
    sqrt_beta: Annotated[Number, Field(ge=0.0)] | None = Field(
        None, description="a constant multiplier of the standard deviation in place of the rule; null: the rule"
    )
    slope: Literal["exact", "as-pursued"] = Field(
        "exact",
        description="on a grid of contexts: `exact`, whatever the objective states, or as the objective states it",
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
    """A rule over several candidate priors. Arms are indices of the description's finite decision space.

    An observation whose decision was neither asked for nor reinstated informs all posteriors, but no prior answers for
    it (`chosen_prior` is -1).

    Raises:
        BocuError: the decision space is not finite, there are no candidate priors, they are over other arms, or no
            objective is given where there are contexts.
    """

    reports: tuple[Reported, ...] = CHOICE_REPORTS
    protocols = FINITE

    @classmethod
    def pursues(cls, protocol: str) -> bool:
        return protocol not in TIME_VARYING

    @classmethod
    @planning_only
    def refuses(cls, protocol: str, outline: Outline) -> str:
        bare = protocol not in TIME_VARYING and outline.priors == ()
        return super().refuses(protocol, outline) or ("the problem has no candidate priors" if bare else "")

    @classmethod
    @planning_only
    def work(cls, parameters: Confidence, size: Size, rounds: int) -> Work:
        if size.contexts > 1:
            from bocu.algorithms.finite_base import BoundParameters, FiniteAlgorithm

            one = FiniteAlgorithm.work(BoundParameters(), size, rounds)
            counts = {step: count * (1 if step == "round" else size.priors) for step, count in one.counts.items()}
            return Work(counts, size.priors * one.numbers, one.tables * size.priors, size.priors)
        rows = size.kernels * size.arms * rounds
        choices = rounds * size.choices_per_round
        counts = {"round": choices, "prediction": size.priors * size.arms * choices, "update": rows * rounds / 2}
        return Work(counts, numbers=7 * rows, priors=size.priors)

    def __init__(
        self, description: Description, objective: Pursued, parameters: Confidence, generator: np.random.Generator
    ) -> None:
        super().__init__(description, objective, parameters, generator)
        if not isinstance(description.decisions, FiniteDomain):
            raise BocuError("the decision space is a box; a finite one is wanted")
        self.priors = self._candidates()
        self.arms = description.decisions.size
        self._refuse_other_arms()
        self.surrogate = self._believe()
        self.simulates = description.protocol == SIMULATOR
        if self.simulates:
            self.reports = (*type(self).reports, PESSIMISTIC)
        self._asked: int | None = None
        self._pending: _Pending | None = None
        self._told = NOBODY
        self._told_value = math.nan
        self._round: Round | None = None
        self._best = _Deployable(len(self.priors))
        self._index = self._indices()
        self._begin()

    def posteriors(self, t: int) -> tuple[np.ndarray, np.ndarray]:
        """Return posterior mean and standard deviation of every arm at time `t` under every prior, (priors, arms) each.

        The time may not lie before the newest observation; replay a run up to the round of interest.

        Raises:
            BocuError: contexts are no time steps.
        """
        if not isinstance(self.surrogate, TimeVaryingBeliefs):
            raise BocuError("contexts are no time steps; each prior has a posterior over a grid")
        return self.surrogate.posteriors.predict(t)

    def sqrt_beta(self, t: int) -> float:
        """Return the multiplier of the standard deviation in round `t`."""
        if self.parameters.sqrt_beta is not None:
            return self.parameters.sqrt_beta
        return self.valid_sqrt_beta(t)

    def valid_sqrt_beta(self, t: int) -> float:
        """Return the multiplier with which the confidence statements hold in round `t`, by the rule."""
        return SQRT_BETA[self.parameters.confidence](self.surrogate.points, t, self.parameters.delta)

    def ask(self, round: Round) -> Decision:
        sqrt_beta = self.sqrt_beta(round.t)
        available = self._available(round)
        prior, position = self._choose(self._offers(round, available, sqrt_beta))
        arm = int(available[position])
        self._round = round
        self._asked = arm
        mean, sd = self.surrogate.foresee(prior, arm, round)
        self._pending = _Pending(self._index[prior], mean, sd, sqrt_beta)
        if self.simulates:
            self._pending.value = self.surrogate.rate(mean - sqrt_beta * sd, round)
        return arm

    def choose_context(self, decision: Decision, round: Round) -> Context:
        """Choose the context in which the prior that chose, or else the one trusted, knows the payoff least."""
        if self._asked == int(decision) and self._pending is not None:
            return int(np.argmax(self._pending.sd))
        return int(np.argmax(self.surrogate.foresee(int(np.argmax(self._trust())), int(decision), round)[1]))

    def tell(self, decision: Decision, context: Context, value: float) -> None:
        arm = int(decision)
        answered = self._pending if self._asked in (None, arm) else None
        self._told = answered.met(self.surrogate.place(context)) if answered else NOBODY
        self._told_value = answered.value if answered else math.nan
        self._asked = self._pending = None
        if answered and self._round is not None:
            self._best.note(self._row(self._told), arm, self._told_value)
            self._metric(self._told, self._round.t, float(value))
        else:
            self._metric(NOBODY, 0, float(value))
        # The initial design belongs to the first round.
        self.surrogate.observe(arm, context, float(value), 1 if self._round is None else self._round.t)

    def report(self) -> dict[str, Any]:
        return {
            "chosen_prior": self._told.prior,
            "predicted_mean": self._told.mean,
            "predicted_sd": self._told.sd,
            "confidence_width": self._told.width,
            **({PESSIMISTIC.name: self._told_value} if self.simulates else {}),
        }

    def reinstate(self, report: Mapping[str, Any], round: Round) -> None:
        self._round = round
        self._asked = None
        choice = Choice(
            int(report["chosen_prior"]),
            float(report["predicted_mean"]),
            float(report["predicted_sd"]),
            float(report["confidence_width"]),
        )
        self._pending = _Pending.recorded(choice, float(report.get(PESSIMISTIC.name, math.nan)))

    def recommend(self) -> Decision:
        trust = self._trust()
        if self.simulates:
            return self._best.decision(trust)
        t = 1 if self._round is None else self._round.t
        return self.surrogate.recommend(trust, self._round, self.sqrt_beta(t))

    def state(self) -> State:
        state: State = {"surrogate": self.surrogate.state(), "best": self._best.state()}
        if self._round is not None and self.pursues(self.description.protocol):
            announced = {"t": self._round.t, "reference": self._round.reference, "epsilon": self._round.epsilon}
            state["round"] = announced
        return state

    def restore(self, state: State) -> None:
        self.surrogate.restore(state["surrogate"])
        self._best.restore(state["best"])
        announced = state.get("round")
        self._round = None if announced is None else Round(**announced)
        self._asked = self._pending = None
        self._told, self._told_value = NOBODY, math.nan

    def _offers(self, round: Round, available: np.ndarray, sqrt_beta: float) -> Offers:
        """Rate the available decisions under the priors, by upper bounds `mean + sqrt_beta deviation`."""
        return self.surrogate.offers(round, available, sqrt_beta)

    @abstractmethod
    def _choose(self, offers: Offers) -> tuple[int, int]:
        """Choose prior and arm, the latter by its position among those available."""

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

    def _candidates(self) -> tuple[Any, ...]:
        if not self.description.priors:
            raise BocuError("the problem offers no candidate priors")
        return tuple(self.description.priors)

    def _refuse_other_arms(self) -> None:
        contexts = self.description.contexts
        for prior in self.priors:
            if self.description.protocol in TIME_VARYING:
                if prior.arms != self.arms:
                    raise BocuError(f"prior '{prior.label}' has {prior.arms} arms, the problem {self.arms}")
                continue
            wanted = self.arms, contexts.size if isinstance(contexts, FiniteDomain) else 0
            if isinstance(prior, TimeVaryingPrior):
                if prior.arms != math.prod(wanted):
                    raise BocuError(f"prior '{prior.label}' has {prior.arms} arms, the problem {wanted} pairs")
            elif prior.shape != wanted:
                raise BocuError(f"prior '{prior.label}' is over a grid of {prior.shape}, the problem {wanted}")

    def _believe(self) -> Beliefs:
        if self.description.protocol in TIME_VARYING:
            return TimeVaryingBeliefs(self._posteriors())
        from bocu.algorithms.grid_beliefs import DriftingBeliefs, GridBeliefs
        from bocu.objectives.functions import UncertaintyObjective

        if not isinstance(self.objective, UncertaintyObjective):
            raise BocuError(f"found objective {self.objective!r}; an UncertaintyObjective is wanted")
        rule = self.objective.exact() if self.parameters.slope == "exact" else self.objective
        if isinstance(self.priors[0], TimeVaryingPrior):
            contexts = self.description.contexts
            assert isinstance(contexts, FiniteDomain)
            return DriftingBeliefs(self._posteriors(), contexts.size, rule)
        return GridBeliefs(self.priors, rule)

    def _posteriors(self) -> ArmPosteriors:
        """Return what is believed of arms, or of pairs of decision and context, whose payoffs change with time."""
        return TimeVaryingPosteriors(self.priors, self.description.noise)

    def _row(self, choice: Choice) -> int:
        """Return the place of the prior that chose among those that are followed; -1: none did."""
        return -1 if math.isnan(choice.mean) else self._index.index(choice.prior)

    def _available(self, round: Round) -> np.ndarray:
        if round.available is None:
            return np.arange(self.arms)
        available = np.asarray(round.available)
        if available.size == 0 or available.min() < 0 or available.max() >= self.arms:
            found = "none" if available.size == 0 else f"{available.min()} to {available.max()}"
            raise BocuError(f"round {round.t}: available: found {found}; allowed: some of 0 to {self.arms - 1}")
        return available


@dataclass
class _Pending:
    """What is predicted for the arm that was asked for, over the contexts that may be met.

    Attributes:
        prior: index of the prior that chose.
        mean, sd: of its prediction, shape (contexts,), or of one alone where the context that was met is known.
        sqrt_beta: multiplier of `sd` in the confidence bound; or the half-width itself where `known` is set.
        known: the choice, where it was recorded.
        value: objective of the arm's lower bounds; not a number where contexts are not chosen.
    """

    prior: int
    mean: np.ndarray
    sd: np.ndarray
    sqrt_beta: float
    known: Choice | None = None
    value: float = math.nan

    @classmethod
    def recorded(cls, choice: Choice, value: float) -> "_Pending":
        return cls(choice.prior, np.empty(0), np.empty(0), math.nan, choice, value)

    def met(self, place: int) -> Choice:
        """Return the choice once the context is known."""
        if self.known is not None:
            return self.known
        mean, sd = float(self.mean[place]), float(self.sd[place])
        return Choice(self.prior, mean, sd, self.sqrt_beta * sd)


class _Deployable:
    """The arm that each prior has rated highest by its lower bounds, among those that it chose."""

    def __init__(self, priors: int) -> None:
        self._arm = np.full(priors, -1, dtype=np.int64)
        self._value = np.full(priors, -np.inf)

    def note(self, prior: int, arm: int, value: float) -> None:
        """Take in a choice of a prior; one that no prior or no value stands behind changes nothing."""
        if prior >= 0 and not math.isnan(value) and (self._arm[prior] < 0 or value > self._value[prior]):
            self._arm[prior], self._value[prior] = arm, value

    def decision(self, trust: np.ndarray) -> int:
        """Return the arm of the prior trusted most; of any where that one chose none; before any choice the first."""
        own = int(np.argmax(trust))
        chosen = own if self._arm[own] >= 0 else int(np.argmax(self._value))
        return max(int(self._arm[chosen]), 0)

    def state(self) -> dict[str, Any]:
        return {"arm": self._arm.copy(), "value": self._value.copy()}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._arm = np.array(state["arm"], dtype=np.int64)
        self._value = np.array(state["value"], dtype=float)


def one_hot(index: int, size: int) -> np.ndarray:
    """Return weights of shape (size,), all of it on one index."""
    weights = np.zeros(size)
    weights[index] = 1.0
    return weights
