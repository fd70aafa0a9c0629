"""What the algorithms with several candidate priors have in common (Ziomek et al. 2025).

Every round one prior is trusted with the choice (`chosen_prior`), and its prediction for the chosen arm, before the
observation, is reported. All priors learn from all observations. UCB multiplies the standard deviation by `sqrt_beta`
(the paper writes beta).

The paper's rules are for a context that is the time itself, and for finitely many arms or a box of them (Theorem 4.1, A
and B). Under the protocols on a grid of decisions and contexts,
where payoffs stand still or change with time, they are ours: arms are rated by the objective of their upper confidence
bounds, and what is predicted is the payoff in the context that was met. A confidence statement on all points of the
grid holds at that point however it was chosen from what was observed before. Under the protocol "simulator" the context
is the one of which the chosen prior knows least, and recommended is the decision whose lower bounds were rated highest
in its own round, of those that the prior trusted now chose (Kirschner et al. 2020, equation 10).
"""

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from bocu.core.about import Size, Work, planning_only
from bocu.core.errors import BocuError
from bocu.core.plain import State
from bocu.core.rounds import (
    FINITE,
    TIME_VARYING,
    BoxDomain,
    Context,
    Decision,
    Description,
    FiniteDomain,
    Outline,
    Round,
)
from bocu.core.ties import first_best
from bocu.learners.algorithms.base import (
    PESSIMISTIC,
    SIMULATOR,
    Algorithm,
    BestTried,
    Pursued,
    Reported,
    announced,
    plain_round,
)
from bocu.learners.algorithms.beliefs import (
    Beliefs,
    ConfidenceParameters,
    DriftingBeliefs,
    GridBeliefs,
    Ratings,
    SearchedParameters,
    TimeVaryingBeliefs,
)
from bocu.learners.surrogates.box_time_varying import BoxPrior
from bocu.learners.surrogates.time_varying import TimeVaryingPosteriors, TimeVaryingPrior
from bocu.robust.objectives.functions import UncertaintyObjective

PAYOFF = "payoff"  #: Unit of reported quantities that are in units of the problem's payoff.


@dataclass(frozen=True)
class Choice:
    """Who chose in a round, and what was predicted for the chosen arm before its payoff was seen."""

    prior: int  #: index of the prior; -1: none, the decision came from outside.
    mean: float  #: posterior mean under that prior, in units of the payoff.
    sd: float  #: posterior standard deviation, in units of the payoff.
    width: float  #: half-width of the confidence interval, sqrt_beta times `sd`.


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


@dataclass(frozen=True)
class Prediction:
    """What is predicted for the arm that was asked for, over the contexts that may be met."""

    prior: int  #: index of the prior that chose.
    # mean, sd, width: as `Choice` has them, shape (contexts,), or of one alone where the context met is known.
    mean: np.ndarray
    sd: np.ndarray
    width: np.ndarray
    value: float  #: objective of the arm's lower bounds; not a number where contexts are not chosen.

    def met(self, place: int) -> Choice:
        """Return the choice once the context is known."""
        here = min(place, len(self.mean) - 1)
        return Choice(self.prior, float(self.mean[here]), float(self.sd[here]), float(self.width[here]))


def one_hot(index: int, size: int) -> np.ndarray:
    """Return weights of shape (size,), all of it on one index."""
    weights = np.zeros(size)
    weights[index] = 1.0
    return weights


Confidence = TypeVar("Confidence", bound=ConfidenceParameters)


class UnknownPriorAlgorithm(Algorithm[Confidence]):
    """A rule over several candidate priors. Arms are indices of a finite decision space, or points of a box.

    An observation whose decision was neither asked for nor reinstated informs all posteriors, but no prior answers for
    it (`chosen_prior` is -1).

    Raises:
        BocuError: the decision space is a box and the rule is for finite ones or payoffs do not change with time, there
            are no candidate priors, they are over other arms, or no objective is given where there are contexts.
    """

    #: Whether arms may be a box.
    boxes: ClassVar[bool] = True
    reports: tuple[Reported, ...] = CHOICE_REPORTS
    protocols = FINITE

    @classmethod
    def pursues(cls, protocol: str) -> bool:
        return protocol not in TIME_VARYING

    @classmethod
    @planning_only
    def refuses(cls, protocol: str, outline: Outline) -> str:
        bare = protocol not in TIME_VARYING and outline.priors == ()
        box = isinstance(outline.decisions, BoxDomain) and not cls.boxes
        return (
            super().refuses(protocol, outline)
            or ("the problem has no candidate priors" if bare else "")
            or ("it chooses among finitely many arms; here they are a box" if box else "")
        )

    @classmethod
    @planning_only
    def work(cls, parameters: Confidence, size: Size, rounds: int) -> Work:
        if size.contexts > 1:
            from bocu.learners.algorithms.finite_base import BoundParameters, FiniteAlgorithm

            one = FiniteAlgorithm.work(BoundParameters(), size, rounds)
            counts = {step: count * (1 if step == "round" else size.priors) for step, count in one.counts.items()}
            return Work(counts, size.priors * one.numbers, one.tables * size.priors, size.priors)
        if size.arms == 1:  # a box, some rounds of which may leave two open
            return Work({"search": 1.5 * rounds}, numbers=rounds**2, priors=size.priors)
        rows = size.kernels * size.arms * rounds
        counts = {"round": rounds, "prediction": size.priors * size.arms * rounds, "update": rows * rounds / 2}
        return Work(counts, numbers=7 * rows, priors=size.priors)

    def __init__(
        self, description: Description, objective: Pursued, parameters: Confidence, generator: np.random.Generator
    ) -> None:
        super().__init__(description, objective, parameters, generator)
        box = isinstance(description.decisions, BoxDomain)
        if box and not (self.boxes and description.protocol in TIME_VARYING):
            raise BocuError("the decision space is a box; a finite one is wanted")
        self.priors = self._candidates()
        self._refuse_other_arms()
        self.surrogate = self._believe()
        self.simulates = description.protocol == SIMULATOR
        if self.simulates:
            self.reports = (*type(self).reports, PESSIMISTIC)
        self._asked: Decision | None = None
        self._pending: Prediction | None = None
        self._told = NOBODY
        self._told_value = math.nan
        self._round: Round | None = None
        self._best = BestTried(len(self.priors))
        self._widths: tuple[int, np.ndarray] | None = None  # the multipliers of the last round asked about
        self._index = self._indices()
        self._begin()

    def posteriors(self, t: int) -> tuple[np.ndarray, np.ndarray]:
        """Return posterior mean and standard deviation of every arm at time `t` under every prior, (priors, arms) each.

        The time may not lie before the newest observation; replay a run up to the round of interest.

        Raises:
            BocuError: contexts are no time steps, or arms are a box.
        """
        if not isinstance(self.surrogate, TimeVaryingBeliefs):
            raise BocuError("arms are no list whose payoffs change with time alone; see `surrogate`")
        return self.surrogate.process.predict(t)

    def sqrt_beta(self, t: int, prior: int = 0) -> float:
        """Return the multiplier of a prior's standard deviation in round `t`; only in a box do priors differ in it."""
        if self.parameters.sqrt_beta is not None:
            return self.parameters.sqrt_beta
        return self.valid_sqrt_beta(t, prior)

    def valid_sqrt_beta(self, t: int, prior: int = 0) -> float:
        """Return the multiplier with which the confidence statements hold in round `t`, by the rule."""
        return self.surrogate.valid_sqrt_beta(self.parameters.confidence, t, self.parameters.delta, prior)

    def ask(self, round: Round) -> Decision:
        sqrt_beta = self._multipliers(round.t)
        prior, arm = self._choose(self.surrogate.ratings(round, self.surrogate.available(round), sqrt_beta))
        self._round = round
        self._asked = arm
        mean, sd = self.surrogate.foresee(prior, arm, round)
        width = sqrt_beta[prior] * sd
        value = self.surrogate.rate(mean - width, round) if self.simulates else math.nan
        self._pending = Prediction(self._index[prior], mean, sd, width, value)
        return arm

    def choose_context(self, decision: Decision, round: Round) -> Context:
        """Choose the context in which the prior that chose, or else the one trusted, knows the payoff least."""
        if self._asked == int(decision) and self._pending is not None:
            return first_best(self._pending.sd)
        return first_best(self.surrogate.foresee(first_best(self._trust()), int(decision), round)[1])

    def tell(self, decision: Decision, context: Context, value: float) -> None:
        arm = self.surrogate.member(decision)
        answered = self._pending if self._asked is None or np.array_equal(self._asked, arm) else None
        self._told = answered.met(self.surrogate.place(context)) if answered else NOBODY
        self._told_value = answered.value if answered else math.nan
        self._asked = self._pending = None
        if answered and self._round is not None:
            if self.simulates:
                self._best.note(self._row(self._told), int(arm), self._told_value)
            self._conclude(self._told, self._round.t, float(value))
        else:
            self._conclude(NOBODY, 0, float(value))
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
        mean, sd, width = (np.atleast_1d(report[each.name]).astype(float) for each in CHOICE_REPORTS[1:])
        value = float(report.get(PESSIMISTIC.name, math.nan))
        self._pending = Prediction(int(report["chosen_prior"]), mean, sd, width, value)

    def recommend(self) -> Decision:
        trust = self._trust()
        if self.simulates:
            return self._best.decision(trust)
        t = 1 if self._round is None else self._round.t
        return self.surrogate.recommend(trust, self._round, self._multipliers(t))

    def state(self) -> State:
        state: State = {"surrogate": self.surrogate.state(), "best": self._best.state()}
        if self._round is not None and self.pursues(self.description.protocol):
            state["round"] = plain_round(self._round)
        return state

    def restore(self, state: State) -> None:
        self.surrogate.restore(state["surrogate"])
        self._best.restore(state["best"])
        self._round = announced(state.get("round"))
        self._asked = self._pending = None
        self._told, self._told_value = NOBODY, math.nan

    def _multipliers(self, t: int) -> np.ndarray:
        """Return the multipliers of the priors' standard deviations in round `t`, shape (priors,)."""
        if self._widths is None or self._widths[0] != t:
            self._widths = t, np.array([self.sqrt_beta(t, prior) for prior in range(len(self.priors))])
        return self._widths[1]

    @abstractmethod
    def _choose(self, ratings: Ratings) -> tuple[int, Decision]:
        """Choose prior and arm."""

    @abstractmethod
    def _trust(self) -> np.ndarray:
        """Return the weights, shape (priors,), by which priors enter a recommendation."""

    def _conclude(self, choice: Choice, t: int, value: float) -> None:
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
        arms, contexts = self.description.decisions, self.description.contexts
        for prior in self.priors:
            if isinstance(arms, BoxDomain) or isinstance(prior, BoxPrior):
                found = prior.dimension if isinstance(prior, BoxPrior) else "no"
                wanted = arms.dimension if isinstance(arms, BoxDomain) else "no"
                if found != wanted:
                    raise BocuError(f"prior '{prior.label}' is over {found} coordinates of a box, the problem {wanted}")
                continue
            if self.description.protocol in TIME_VARYING:
                if prior.arms != arms.size:
                    raise BocuError(f"prior '{prior.label}' has {prior.arms} arms, the problem {arms.size}")
                continue
            shape = arms.size, contexts.size if isinstance(contexts, FiniteDomain) else 0
            if isinstance(prior, TimeVaryingPrior):
                if prior.arms != math.prod(shape):
                    raise BocuError(f"prior '{prior.label}' has {prior.arms} arms, the problem {shape} pairs")
            elif prior.shape != shape:
                raise BocuError(f"prior '{prior.label}' is over a grid of {prior.shape}, the problem {shape}")

    def _believe(self) -> Beliefs:
        arms = self.description.decisions
        if isinstance(arms, BoxDomain):
            from bocu.learners.algorithms.box_beliefs import BoxBeliefs

            assert isinstance(self.parameters, SearchedParameters)
            return BoxBeliefs(self.priors, self.description.noise, arms, self.parameters.search, self.generator)
        if self.description.protocol in TIME_VARYING:
            return TimeVaryingBeliefs(self._posteriors())
        if not isinstance(self.objective, UncertaintyObjective):
            raise BocuError(f"found objective {self.objective!r}; an UncertaintyObjective is wanted")
        rule = self.objective.exact() if self.parameters.slope == "exact" else self.objective
        if isinstance(self.priors[0], TimeVaryingPrior):
            contexts = self.description.contexts
            assert isinstance(contexts, FiniteDomain)
            return DriftingBeliefs(self._posteriors(), contexts.size, rule)
        return GridBeliefs(self.priors, rule)

    def _posteriors(self) -> TimeVaryingPosteriors:
        """Return what is believed of arms, or of pairs of decision and context, whose payoffs change with time."""
        return TimeVaryingPosteriors(self.priors, self.description.noise)

    def _row(self, choice: Choice) -> int:
        """Return the place of the prior that chose among those that are followed; -1: none did."""
        return -1 if math.isnan(choice.mean) else self._index.index(choice.prior)
