"""Bandits with an unknown prior: PE-GP-UCB and what it is compared with (Ziomek et al. 2025).

PE-GP-UCB is Algorithm 1 and Regret Balancing that of supplement D, with their errata corrected: widths are those before
the observation, choices are among the available arms, and the data of all priors are shared. On a grid of contexts they
pursue an objective, see `bocu.learners.algorithms.unknown_prior`. TV-GP-UCB knows one prior, that of a candidate or the
best that the problem knows, which is an oracle's knowledge (Bogunovic et al. 2016).
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from bocu.core.about import About, Look, Size, Work, planning_only
from bocu.core.errors import BocuError
from bocu.core.parameters import Number, nearest
from bocu.core.plain import State
from bocu.core.rounds import TIME_VARYING, Decision, Outline
from bocu.core.ties import first_best
from bocu.learners.algorithms.base import Reported
from bocu.learners.algorithms.beliefs import (
    SQRT_BETA,
    ConfidenceParameters,
    Ratings,
    SearchedParameters,
    squared_noise_bound,
)
from bocu.learners.algorithms.unknown_prior import (
    ACTIVE_REPORT,
    CHOICE_REPORTS,
    PAYOFF,
    WEIGHT_REPORT,
    Choice,
    Confidence,
    UnknownPriorAlgorithm,
    one_hot,
)
from bocu.learners.surrogates.box_time_varying import BoxPrior
from bocu.learners.surrogates.time_varying import TimeVaryingPosteriors, TimeVaryingPrior, drifting


class _Accounts:
    """What each prior answers for: its plays, and sums over them.

    Attributes:
        plays: rounds in which the prior was trusted, shape (priors,).
        active: whether it is still a candidate, shape (priors,).
        total: sum over its plays of what the algorithm watches, in units of the payoff, shape (priors,).
        width: sum over its plays of the half-widths of the confidence intervals, shape (priors,).
    """

    def __init__(self, priors: int) -> None:
        self.active = np.ones(priors, dtype=bool)
        self.clear()

    def clear(self) -> None:
        self.plays = np.zeros(self.active.size, dtype=np.int64)
        self.total = np.zeros(self.active.size)
        self.width = np.zeros(self.active.size)

    def book(self, prior: int, amount: float, width: float) -> None:
        self.plays[prior] += 1
        self.total[prior] += amount
        self.width[prior] += width

    def most_played(self) -> int:
        """Return the active prior with most plays; ties go to the lowest index."""
        return int(np.argmax(np.where(self.active, self.plays, -1)))

    def state(self) -> State:
        return {name: getattr(self, name).copy() for name in ("active", "plays", "total", "width")}

    def restore(self, state: State) -> None:
        for name, kept in state.items():
            getattr(self, name)[:] = kept


class _Accounting(UnknownPriorAlgorithm[Confidence]):
    """Keeps an account for each prior, and reports which of them are still candidates."""

    def _begin(self) -> None:
        self._accounts = _Accounts(len(self.priors))

    def report(self) -> dict[str, Any]:
        return {**super().report(), "active_priors": self._accounts.active.astype(np.int8)}

    def state(self) -> State:
        return {**super().state(), "accounts": self._accounts.state()}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._accounts.restore(state["accounts"])


class EliminationParameters(SearchedParameters):
    """Parameters of PE-GP-UCB."""

    on_no_prior: Literal["reset", "stop"] = Field(
        "reset",
        description="when all priors are rejected: take all back with empty accounts and flag the round, or stop",
    )
    test: Literal["as-chosen", "rule"] = Field(
        "as-chosen",
        description="multiplier of the standard deviation in the test: that of the confidence bound; or the one of the "
        "rule `confidence`, with which the test is valid whatever the constant `sqrt_beta`",
    )

    def unused(self) -> Mapping[str, str]:
        known = super().unused()
        return known if self.sqrt_beta is not None else {**known, "test": "without `sqrt_beta` both are the rule's"}


_NO_VERDICT: State = {"rejected_prior": -1, "all_rejected": 0, "error_sum": math.nan, "error_limit": math.nan}
"""What PE-GP-UCB reports where it concluded nothing."""


class PEGPUCB(_Accounting[EliminationParameters]):
    """GP-UCB with prior elimination (Ziomek et al. 2025, Algorithm 1, corrected).

    The arm and the prior of the largest upper confidence bound are chosen together. A prior is rejected when the sum of
    its prediction errors over its own plays leaves ``sqrt(xi_t plays) + sum of confidence widths``, the widths being
    those before each observation.

    Once all priors are rejected, `on_no_prior: reset` takes all back and empties their accounts: with the old accounts
    each would be rejected again at its next play.
    """

    about = About(
        title="PE-GP-UCB",
        summary="GP-UCB with prior elimination",
        paper="Ziomek et al. 2025",
        look=Look("vermillion", "solid", "o"),
    )
    Parameters = EliminationParameters
    reports = (
        *CHOICE_REPORTS,
        ACTIVE_REPORT,
        Reported("rejected_prior", "prior rejected in this round, by its index; -1: none", dtype="int16"),
        Reported("all_rejected", "whether the last candidate was rejected in this round", dtype="int8"),
        Reported("error_sum", "sum of the chosen prior's prediction errors over its plays", PAYOFF),
        Reported("error_limit", "absolute value of error_sum beyond which the chosen prior is rejected", PAYOFF),
    )

    def _begin(self) -> None:
        super()._begin()
        self._verdict = _NO_VERDICT

    def _choose(self, ratings: Ratings) -> tuple[int, Decision]:
        return ratings.first_best(np.flatnonzero(self._accounts.active))

    def _conclude(self, choice: Choice, t: int, value: float) -> None:
        self._verdict = _NO_VERDICT
        if choice.prior < 0:
            return
        accounts, prior = self._accounts, choice.prior
        width = choice.width if self.parameters.test == "as-chosen" else self.valid_sqrt_beta(t, prior) * choice.sd
        accounts.book(prior, value - choice.mean, width)
        xi = squared_noise_bound(self.description.noise, len(self.priors), t, self.parameters.delta)
        error = float(accounts.total[prior])
        limit = math.sqrt(xi * int(accounts.plays[prior])) + float(accounts.width[prior])
        rejected = abs(error) > limit
        if rejected:
            accounts.active[prior] = False
        everyone = not accounts.active.any()
        self._verdict = {
            "rejected_prior": prior if rejected else -1,
            "all_rejected": int(everyone),
            "error_sum": error,
            "error_limit": limit,
        }
        if everyone:
            if self.parameters.on_no_prior == "stop":
                raise BocuError(
                    f"all {len(self.priors)} priors are rejected in round {t} and on_no_prior is 'stop'; "
                    "'reset' goes on with all of them"
                )
            accounts.active[:] = True
            accounts.clear()

    def report(self) -> dict[str, Any]:
        return {**super().report(), **self._verdict}

    def _trust(self) -> np.ndarray:
        return one_hot(self._accounts.most_played(), len(self.priors))

    def restore(self, state: State) -> None:
        super().restore(state)
        self._verdict = _NO_VERDICT


class _WeightedPriors(UnknownPriorAlgorithm[Confidence]):
    """Reports the posterior probabilities of the priors."""

    reports = (*CHOICE_REPORTS, WEIGHT_REPORT)

    def _begin(self) -> None:
        self._reported_weights = self._weights()

    def _conclude(self, choice: Choice, t: int, value: float) -> None:
        self._reported_weights = self._weights()

    def _weights(self) -> np.ndarray:
        return softmax(self.surrogate.log_evidence)

    def report(self) -> dict[str, Any]:
        return {**super().report(), "prior_weight": self._reported_weights}


class MaximumLikelihood(_WeightedPriors[SearchedParameters]):
    """GP-UCB under the prior of the highest evidence so far; in round 1 that is the first prior."""

    about = About(
        title="MLE",
        summary="GP-UCB under the prior of highest evidence",
        paper="Ziomek et al. 2025",
        look=Look("blue", "dashed", "s"),
    )
    Parameters = SearchedParameters

    def _choose(self, ratings: Ratings) -> tuple[int, Decision]:
        return ratings.first_best([first_best(self.surrogate.log_evidence)])

    def _trust(self) -> np.ndarray:
        return one_hot(first_best(self.surrogate.log_evidence), len(self.priors))


class BayesianParameters(SearchedParameters):
    """Parameters of the fully Bayesian rule."""

    hyperprior: tuple[Annotated[Number, Field(gt=0.0)], ...] | None = Field(
        None, description="positive weights of the candidate priors before any data, in their order; null: equal ones"
    )


class FullyBayesian(_WeightedPriors[BayesianParameters]):
    """Maximises the average of the priors' upper confidence bounds, weighted by their posterior probabilities.

    `chosen_prior` is the prior of the largest weight; the reported prediction is that prior's.

    Raises:
        BocuError: `hyperprior` has not one weight for each prior.
    """

    about = About(
        title="Fully Bayesian",
        summary="GP-UCB averaged over priors by their posterior weights",
        paper="Ziomek et al. 2025",
        look=Look("green", "dash-dot", "D"),
    )
    Parameters = BayesianParameters

    @classmethod
    def check(cls, parameters: Any, outline: Outline) -> None:
        if outline.priors is not None:
            cls._check_hyperprior(parameters.hyperprior, len(outline.priors))

    @classmethod
    def _check_hyperprior(cls, hyperprior: tuple[float, ...] | None, priors: int) -> None:
        if hyperprior is not None and len(hyperprior) != priors:
            raise BocuError(f"hyperprior: found {len(hyperprior)} weights; allowed: {priors}")

    def _begin(self) -> None:
        hyperprior = self.parameters.hyperprior
        self._check_hyperprior(hyperprior, len(self.priors))
        if hyperprior is None:
            hyperprior = (1.0,) * len(self.priors)
        self._log_hyperprior = np.log(hyperprior)
        super()._begin()

    def _choose(self, ratings: Ratings) -> tuple[int, Decision]:
        weights = self._weights()
        return first_best(weights), ratings.best_on_average(weights)

    def _weights(self) -> np.ndarray:
        return softmax(self.surrogate.log_evidence + self._log_hyperprior)

    def _trust(self) -> np.ndarray:
        return self._weights()


class BalancingParameters(SearchedParameters):
    """Parameters of Regret Balancing."""

    mode: Literal["paper", "valid"] = Field(
        "paper",
        description="elimination test: as printed, or the form that provably keeps the true prior of a stationary "
        "problem (noise term added instead of subtracted, confidence widths twice)",
    )


class RegretBalancing(_Accounting[BalancingParameters]):
    """Regret balancing and elimination over priors (Ziomek et al. 2025, supplement D, corrected).

    The least played candidate plays next. Once all candidates have been played, a prior is dropped whose optimistic
    mean payoff is below another's `lower_bound`, the mean of the payoffs of its plays minus ``sqrt(xi_t / plays)``.
    """

    about = About(
        title="Regret Balancing",
        summary="regret balancing and elimination over priors",
        paper="Ziomek et al. 2025",
        look=Look("purple", "dash-dot-dot", "^"),
    )
    Parameters = BalancingParameters
    reports = (
        *CHOICE_REPORTS,
        ACTIVE_REPORT,
        Reported(
            "lower_bound",
            "lower bound on the mean payoff of the prior's plays, once all candidates have been played",
            PAYOFF,
            per_prior=True,
        ),
    )

    def _begin(self) -> None:
        super()._begin()
        self._lower = np.full(len(self.priors), np.nan)

    def _choose(self, ratings: Ratings) -> tuple[int, Decision]:
        plays = np.where(self._accounts.active, self._accounts.plays, np.iinfo(np.int64).max)
        return ratings.first_best([int(np.argmin(plays))])

    def _conclude(self, choice: Choice, t: int, value: float) -> None:
        accounts = self._accounts
        if choice.prior < 0:
            return
        accounts.book(choice.prior, value, choice.width)
        active = np.flatnonzero(accounts.active)
        plays = accounts.plays[active]
        if plays.min() == 0:
            return
        xi = squared_noise_bound(self.description.noise, len(self.priors), t, self.parameters.delta)
        mean, noise, width = accounts.total[active] / plays, np.sqrt(xi / plays), accounts.width[active] / plays
        lower = mean - noise
        optimistic = lower + width if self.parameters.mode == "paper" else mean + noise + 2.0 * width
        self._lower = np.full(len(self.priors), np.nan)
        self._lower[active] = lower
        accounts.active[active[optimistic < lower.max()]] = False

    def report(self) -> dict[str, Any]:
        return {**super().report(), "lower_bound": self._lower}

    def _trust(self) -> np.ndarray:
        """Trust the candidate of the highest lower bound; before there is one, the first."""
        lower = np.where(self._accounts.active & ~np.isnan(self._lower), self._lower, -np.inf)
        return one_hot(first_best(lower), len(self.priors))

    def state(self) -> State:
        return {**super().state(), "lower": self._lower.copy()}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._lower = np.array(state["lower"], dtype=float)


class _OnePrior(UnknownPriorAlgorithm[Confidence]):
    """One prior is believed in, whatever is observed; `chosen_prior` is its index among the candidates, or -1.

    Raises:
        BocuError: the problem has no such prior.
    """

    @classmethod
    @planning_only
    def work(cls, parameters: Any, size: Size, rounds: int) -> Work:
        return super().work(parameters, replace(size, priors=1, kernels=1), rounds)

    def _candidates(self) -> tuple[Any, ...]:
        self._source = self._believed()
        return (self._source,)

    def _believed(self) -> Any:
        """Return the prior of the problem that is believed in: the best that it knows."""
        if self.description.best_prior is None:
            raise BocuError("the problem knows no best prior")
        return self.description.best_prior

    def _indices(self) -> list[int]:
        places = (place for place, prior in enumerate(self.description.priors) if prior is self._source)
        return [next(places, -1)]

    def _choose(self, ratings: Ratings) -> tuple[int, Decision]:
        return ratings.first_best([0])

    def _trust(self) -> np.ndarray:
        return np.ones(1)


class Oracle(_OnePrior[SearchedParameters]):
    """TV-GP-UCB with the best prior known: a yardstick, not a competitor."""

    about = About(
        title="Oracle (best prior known)",
        summary="TV-GP-UCB with the best prior known: a yardstick, not a competitor",
        look=Look("black", "long-dash", "*"),
        yardstick=True,
    )
    Parameters = SearchedParameters


def softmax(logarithms: np.ndarray) -> np.ndarray:
    """Normalise weights that are given by their logarithms, shape (priors,)."""
    weights = np.exp(logarithms - logarithms.max())
    return weights / weights.sum()


MOST_ARMS = 2_000  #: Or pairs of decision and context: a matrix over all of them is kept.
BEST, FIRST = "best", "first"


class TVGPUCBParameters(ConfidenceParameters):
    """Which prior is believed in, how fast it forgets, and how wide the bounds are."""

    prior: str = Field(
        FIRST,
        description="the prior that is believed in: label of a candidate; `first`, the first one; or `best`, the best "
        "that the problem knows, as the oracle does",
    )
    confidence: Literal["practice", "finite-arms", "theorem-4.1", "theorem-3.1", "union-bound"] = Field(  # type: ignore[assignment]
        "practice",
        description="rule for sqrt_beta: `practice`, sqrt(0.8 log(4 t)), as Bogunovic et al. (2016) are said to have "
        "it; `finite-arms`, sqrt(2 log(arms pi^2 t^2 / (6 delta))); or a rule of Ziomek et al. (2025)",
    )
    forgetting: Annotated[Number, Field(ge=0.0, le=1.0)] | None = Field(
        None, description="share of the payoff's variance that is new in every round; null: that of the prior"
    )


class TVGPUCB(_OnePrior[TVGPUCBParameters]):
    """The largest upper confidence bound under one prior whose covariance with the past fades at one rate.

    Raises:
        BocuError: the problem has no such prior, or too many pairs of decision and context.
    """

    about = About(
        title="TV-GP-UCB",
        summary="GP-UCB under one prior that forgets at one rate",
        paper="Bogunovic et al. 2016, as in Ziomek et al. 2025",
        look=Look("black", "solid", "s"),
    )
    Parameters = TVGPUCBParameters
    boxes = False
    protocols = (*TIME_VARYING, "general", "data-driven")  # type: ignore[assignment]

    @classmethod
    @planning_only
    def refuses(cls, protocol: str, outline: Outline) -> str:
        stands = protocol not in TIME_VARYING and not outline.drifting
        return super().refuses(protocol, outline) or ("its payoffs stand still" if stands else "")

    @classmethod
    def check(cls, parameters: Any, outline: Outline) -> None:
        labels = outline.priors
        if labels is not None and parameters.prior not in (BEST, FIRST, *labels):
            raise BocuError(f"prior: no candidate '{parameters.prior}'; {nearest(parameters.prior, [BEST, *labels])}")

    @classmethod
    @planning_only
    def work(cls, parameters: Any, size: Size, rounds: int) -> Work:
        return super().work(parameters, replace(size, arms=size.points, contexts=1), rounds)

    def valid_sqrt_beta(self, t: int, prior: int = 0) -> float:
        delta, rule = self.parameters.delta, self.parameters.confidence
        if rule == "practice":
            return math.sqrt(0.8 * math.log(4.0 * t))
        if rule == "finite-arms":
            return math.sqrt(2.0 * math.log(self.surrogate.points * math.pi**2 * t**2 / (6.0 * delta)))
        return SQRT_BETA[rule](self.surrogate.points, t, delta)

    def _posteriors(self) -> TimeVaryingPosteriors:
        (prior,) = self.priors
        rate = self.parameters.forgetting
        used = prior if rate is None else replace(prior, forgetting=rate)
        return TimeVaryingPosteriors([used], self.description.noise)

    def _candidates(self) -> tuple[Any, ...]:
        return (self._over_arms(*super()._candidates()),)

    def _believed(self) -> Any:
        label = self.parameters.prior
        if label == BEST:
            return super()._believed()
        offered = UnknownPriorAlgorithm._candidates(self)
        places = {prior.label: place for place, prior in reversed([*enumerate(offered)])}
        if label != FIRST and label not in places:
            raise BocuError(f"prior: no candidate '{label}'; {nearest(label, [BEST, FIRST, *places])}")
        return offered[0 if label == FIRST else places[label]]

    def _over_arms(self, prior: Any) -> TimeVaryingPrior:
        if isinstance(prior, TimeVaryingPrior):
            return prior
        if isinstance(prior, BoxPrior):
            raise BocuError(f"prior '{prior.label}' is over a box; one over finitely many arms is wanted")
        if prior.size > MOST_ARMS:
            raise BocuError(f"found {prior.size} pairs of decision and context; allowed: up to {MOST_ARMS} here")
        return drifting(prior, 0.0, prior.label)
