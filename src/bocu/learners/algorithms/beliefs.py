"""What is believed of payoffs under each of several candidate priors, and how decisions are rated under each.

There are three kinds. Here are those where the context is the time step (Ziomek et al. 2025) and arms are finite: a
decision is rated by the upper confidence bound of its payoff now. `algorithms.box_beliefs` has those where arms
are a box, `bocu.learners.algorithms.grid_beliefs` those over a finite set of contexts.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.plain import State
from bocu.core.rounds import Context, Decision, Round
from bocu.core.ties import first_best
from bocu.learners.algorithms.prior_confidence import SQRT_BETA
from bocu.learners.surrogates.time_varying import TimeVaryingPosteriors


class Offers(ABC):
    """What each prior would decide for in a round, among the decisions that are available."""

    @abstractmethod
    def first_best(self, priors: Sequence[int] | np.ndarray) -> tuple[int, Decision]:
        """Return prior and decision of the best rating among `priors`; ties go to the first of each."""

    @abstractmethod
    def best_on_average(self, weights: np.ndarray) -> Decision:
        """Return the decision of the best weighted mean of the priors' ratings; weights of shape (priors,)."""


class Beliefs(ABC):
    """The posteriors of several priors given the same observations.

    Attributes:
        points: number of points that the payoff has in one round: confidence statements hold at all of them.
        arms: number of decisions. Of a box both are 0.
        log_evidence: log density of the observations under each prior, in nats, shape (priors,).
    """

    points: int
    arms: int

    def available(self, round: Round) -> np.ndarray:
        """Return which decisions may be taken: indices, ascending; in a box corners of the open boxes, (boxes, 2, D).

        Raises:
            BocuError: what is announced is none, or not among the decisions.
        """
        if round.available is None:
            return np.arange(self.arms)
        available = np.asarray(round.available)
        if available.size == 0 or available.min() < 0 or available.max() >= self.arms:
            found = "none" if available.size == 0 else f"{available.min()} to {available.max()}"
            raise BocuError(f"round {round.t}: available: found {found}; allowed: some of 0 to {self.arms - 1}")
        return available

    def member(self, decision: Decision) -> Decision:
        """Return a decision as it is kept: an index, or coordinates (D,)."""
        return int(decision)

    @property
    @abstractmethod
    def log_evidence(self) -> np.ndarray:
        """The log marginal likelihood of what was observed under every prior, shape (priors,)."""

    def valid_sqrt_beta(self, rule: str, t: int, delta: float, prior: int) -> float:
        """Return the multiplier of a prior's deviation with which confidence statements hold in round `t`.

        Args:
            rule: its name in `SQRT_BETA`.
            t: the round, from 1 on.
            delta: probability with which the statements may fail.
            prior: whose it is.
        """
        return SQRT_BETA[rule](self.points, t, delta)

    @abstractmethod
    def offers(self, round: Round, available: np.ndarray, sqrt_beta: np.ndarray) -> Offers:
        """Rate the available decisions by upper bounds `mean + sqrt_beta deviation`.

        Args:
            round: what is announced.
            available: indices, ascending; in a box the corners of the open boxes, shape (boxes, 2, D).
            sqrt_beta: one for each prior, shape (priors,).
        """

    @abstractmethod
    def foresee(self, prior: int, decision: Decision, round: Round) -> tuple[np.ndarray, np.ndarray]:
        """Return posterior mean and standard deviation of a decision's payoff, shape (contexts of the round,)."""

    def rate(self, payoffs: np.ndarray, round: Round) -> float:
        """Return the rating of payoffs over the contexts of a round, shape (contexts,)."""
        raise NotImplementedError(f"{type(self).__name__} has no objective")

    @abstractmethod
    def place(self, context: Context) -> int:
        """Return the place of a context in what `foresee` gives."""

    @abstractmethod
    def observe(self, decision: Decision, context: Context, value: float, t: int) -> None:
        """Condition all posteriors on a payoff of round `t`, from 1 on."""

    @abstractmethod
    def recommend(self, weights: np.ndarray, round: Round | None, sqrt_beta: np.ndarray) -> Decision:
        """Return the decision to deploy where priors are trusted by `weights`, shape (priors,)."""

    @abstractmethod
    def state(self) -> State:
        """Return all that the observations left behind."""

    @abstractmethod
    def restore(self, state: State) -> None:
        """Put back what `state` gave, bit for bit."""


class TimeVaryingOffers(Offers):
    """Upper confidence bounds of payoffs, shape (priors, available decisions), and the indices of those decisions."""

    def __init__(self, upper: np.ndarray, available: np.ndarray) -> None:
        self._upper = upper
        self._available = available

    def first_best(self, priors: Sequence[int] | np.ndarray) -> tuple[int, int]:
        prior, position = first_maximum(self._upper, priors)
        return prior, int(self._available[position])

    def best_on_average(self, weights: np.ndarray) -> int:
        return int(self._available[first_best(weights @ self._upper)])


class TimeVaryingBeliefs(Beliefs):
    """Beliefs where the context is the time step itself; recommended is the decision of the highest mean now."""

    def __init__(self, posteriors: TimeVaryingPosteriors) -> None:
        self.posteriors = posteriors
        self.points = self.arms = posteriors.arms

    @property
    def log_evidence(self) -> np.ndarray:
        return self.posteriors.log_evidence

    def offers(self, round: Round, available: np.ndarray, sqrt_beta: np.ndarray) -> Offers:
        mean, sd = self.posteriors.predict(round.t)
        return TimeVaryingOffers((mean + sqrt_beta[:, None] * sd)[:, available], available)

    def foresee(self, prior: int, decision: Decision, round: Round) -> tuple[np.ndarray, np.ndarray]:
        mean, sd = self.posteriors.predict(round.t)
        return mean[prior, [int(decision)]], sd[prior, [int(decision)]]

    def place(self, context: Context) -> int:
        return 0

    def observe(self, decision: Decision, context: Context, value: float, t: int) -> None:
        self.posteriors.observe(int(decision), int(context), value)

    def recommend(self, weights: np.ndarray, round: Round | None, sqrt_beta: np.ndarray) -> int:
        return first_best(weights @ self.posteriors.mean(self.posteriors.time))

    def state(self) -> State:
        return self.posteriors.state()

    def restore(self, state: State) -> None:
        self.posteriors.restore(state)


def first_maximum(ratings: np.ndarray, priors: Sequence[int] | np.ndarray) -> tuple[int, int]:
    """Find the largest among the rows `priors` of `ratings`; ties go to the first prior, then to the first decision."""
    row, position = divmod(first_best(ratings[priors].ravel()), ratings.shape[1])
    return int(priors[row]), position
