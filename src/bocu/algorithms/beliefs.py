"""What is believed of payoffs under each of several candidate priors, and how decisions are rated under each.

There are two kinds. Where the context is the time step (Ziomek et al. 2025), a decision is rated by the upper
confidence bound of its payoff now. Where contexts are a finite set, it is rated by the objective of its upper bounds
over all of them, as UCB-BOCU-2 does under one prior (Tay et al. 2024, section 4).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bocu.core.domains import FiniteDomain
from bocu.core.errors import BocuError
from bocu.core.rounds import Context, Description, Round
from bocu.objectives.functions import UncertaintyObjective
from bocu.surrogates.grid import GridPosterior, GridPrior
from bocu.surrogates.time_varying import TimeVaryingPosteriors, TimeVaryingPrior


class Offers(ABC):
    """What each prior would decide for in a round. Decisions are positions among those available."""

    @abstractmethod
    def first_best(self, priors: Sequence[int] | np.ndarray) -> tuple[int, int]:
        """Return prior and position of the best rating among `priors`; ties go to the first of each."""

    @abstractmethod
    def best_on_average(self, weights: np.ndarray) -> int:
        """Return the position of the best weighted mean of the priors' ratings; weights of shape (priors,)."""


class Beliefs(ABC):
    """The posteriors of several priors given the same observations.

    Attributes:
        points: number of points that the payoff has in one round: confidence statements hold at all of them.
        log_evidence: log density of the observations under each prior, in nats, shape (priors,).
    """

    points: int

    @property
    @abstractmethod
    def log_evidence(self) -> np.ndarray: ...

    @abstractmethod
    def offers(self, round: Round, available: np.ndarray, sqrt_beta: float) -> Offers:
        """Rate the available decisions (indices, ascending) by upper bounds `mean + sqrt_beta deviation`."""

    @abstractmethod
    def foresee(self, prior: int, decision: int, round: Round) -> tuple[np.ndarray, np.ndarray]:
        """Return posterior mean and standard deviation of a decision's payoff, shape (contexts of the round,)."""

    @abstractmethod
    def place(self, context: Context) -> int:
        """Return the place of a context in what `foresee` gives."""

    @abstractmethod
    def observe(self, decision: int, context: Context, value: float) -> None:
        """Condition all posteriors on a payoff."""

    @abstractmethod
    def recommend(self, weights: np.ndarray, round: Round | None, sqrt_beta: float) -> int:
        """Return the decision to deploy where priors are trusted by `weights`, shape (priors,)."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return all that the observations left behind."""

    @abstractmethod
    def restore(self, state: Mapping[str, Any]) -> None:
        """Put back what `state` gave, bit for bit."""


class TimeVaryingOffers(Offers):
    """Upper confidence bounds of payoffs, shape (priors, available decisions)."""

    def __init__(self, upper: np.ndarray) -> None:
        self._upper = upper

    def first_best(self, priors: Sequence[int] | np.ndarray) -> tuple[int, int]:
        return first_maximum(self._upper, priors)

    def best_on_average(self, weights: np.ndarray) -> int:
        return int(np.argmax(weights @ self._upper))


class TimeVaryingBeliefs(Beliefs):
    """Beliefs where the context is the time step itself; recommended is the decision of the highest mean now."""

    def __init__(self, priors: Sequence[TimeVaryingPrior], noise: float) -> None:
        self.posteriors = TimeVaryingPosteriors(priors, noise)
        self.points = self.posteriors.arms

    @property
    def log_evidence(self) -> np.ndarray:
        return self.posteriors.log_evidence

    def offers(self, round: Round, available: np.ndarray, sqrt_beta: float) -> Offers:
        mean, sd = self.posteriors.predict(round.t)
        return TimeVaryingOffers((mean + sqrt_beta * sd)[:, available])

    def foresee(self, prior: int, decision: int, round: Round) -> tuple[np.ndarray, np.ndarray]:
        mean, sd = self.posteriors.predict(round.t)
        return mean[prior, [decision]], sd[prior, [decision]]

    def place(self, context: Context) -> int:
        return 0

    def observe(self, decision: int, context: Context, value: float) -> None:
        self.posteriors.observe(decision, int(context), value)

    def recommend(self, weights: np.ndarray, round: Round | None, sqrt_beta: float) -> int:
        mean, _ = self.posteriors.predict(self.posteriors.time)
        return int(np.argmax(weights @ mean))

    def state(self) -> dict[str, Any]:
        return self.posteriors.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        self.posteriors.restore(state)


class GridOffers(Offers):
    """Ratings of a round's tables of upper confidence bounds, worked out for the priors that are asked after.

    Args:
        beliefs: the posteriors.
        round: what is announced.
        available: indices of the decisions; None: all of them.
        factor: by which standard deviations are multiplied before they are added to means.
    """

    def __init__(self, beliefs: "GridBeliefs", round: Round, available: np.ndarray | None, factor: float) -> None:
        if round.reference is None:
            raise BocuError(f"round {round.t}: reference: none is announced; one over the contexts is wanted")
        self._beliefs = beliefs
        self._rule = beliefs.rule_in(round)
        self._reference = round.reference
        self._available = available
        self._factor = factor

    def first_best(self, priors: Sequence[int] | np.ndarray) -> tuple[int, int]:
        best = [self._rule.argmax(self._bounds(int(prior)), self._reference) for prior in priors]
        first = int(np.argmax([offer.value for offer in best])) if len(best) > 1 else 0
        return int(priors[first]), best[first].index

    def best_on_average(self, weights: np.ndarray) -> int:
        trusted = np.flatnonzero(weights)  # a rating may be -inf, whose product with 0 is no number
        if len(trusted) == 1:
            return self.first_best(trusted)[1]
        ratings = [self._rule(self._bounds(int(prior)), self._reference) for prior in trusted]
        return int(np.argmax(sum(weights[prior] * rating for prior, rating in zip(trusted, ratings, strict=True))))

    def _bounds(self, prior: int) -> np.ndarray:
        posterior = self._beliefs.posteriors[prior]
        mean, deviation = posterior.mean(), posterior.deviation()
        if self._available is not None:
            mean, deviation = mean[self._available], deviation[self._available]
        return mean + self._factor * deviation


class GridBeliefs(Beliefs):
    """Beliefs over a grid of decisions and contexts; recommended is the best rated lower confidence bound.

    A posterior's fields over the grid are brought up to date when its prior is asked after, so that a rule that trusts
    one prior pays for one.

    Attributes:
        posteriors: one for each prior.
        rule: what rates a table of payoffs, at a radius that may change from round to round.
    """

    def __init__(self, priors: Sequence[GridPrior], rule: UncertaintyObjective) -> None:
        self.posteriors = [GridPosterior(prior) for prior in priors]
        self.rule = rule
        self.points = priors[0].size

    @property
    def log_evidence(self) -> np.ndarray:
        return np.array([posterior.log_evidence() for posterior in self.posteriors])

    def rule_in(self, round: Round) -> UncertaintyObjective:
        """Return the rule at what was announced for a round."""
        return self.rule if round.epsilon is None else self.rule.with_epsilon(round.epsilon)

    def offers(self, round: Round, available: np.ndarray, sqrt_beta: float) -> Offers:
        whole = len(available) == len(self.posteriors[0].prior.decisions)
        return GridOffers(self, round, None if whole else available, sqrt_beta)

    def foresee(self, prior: int, decision: int, round: Round) -> tuple[np.ndarray, np.ndarray]:
        posterior = self.posteriors[prior]
        return posterior.mean()[decision].copy(), posterior.deviation()[decision].copy()

    def place(self, context: Context) -> int:
        return int(context)

    def observe(self, decision: int, context: Context, value: float) -> None:
        for posterior in self.posteriors:
            posterior.add(decision, int(context), value)

    def recommend(self, weights: np.ndarray, round: Round | None, sqrt_beta: float) -> int:
        return 0 if round is None else GridOffers(self, round, None, -sqrt_beta).best_on_average(weights)

    def state(self) -> dict[str, Any]:
        return {"posteriors": [posterior.state() for posterior in self.posteriors]}

    def restore(self, state: Mapping[str, Any]) -> None:
        for posterior, stored in zip(self.posteriors, state["posteriors"], strict=True):
            posterior.restore(stored)


def refuse_other_arms(description: Description, priors: Sequence[Any]) -> None:
    """Refuse candidate priors that are not over the decisions, and contexts, of a problem.

    Raises:
        BocuError: one is not.
    """
    decisions = description.decisions
    assert isinstance(decisions, FiniteDomain)
    for prior in priors:
        if isinstance(prior, GridPrior):
            contexts = description.contexts
            wanted = decisions.size, contexts.size if isinstance(contexts, FiniteDomain) else 0
            if prior.shape != wanted:
                raise BocuError(f"prior '{prior.label}' is over a grid of {prior.shape}, the problem {wanted}")
        elif prior.arms != decisions.size:
            raise BocuError(f"prior '{prior.label}' has {prior.arms} arms, the problem {decisions.size}")


def first_maximum(ratings: np.ndarray, priors: Sequence[int] | np.ndarray) -> tuple[int, int]:
    """Find the largest among the rows `priors` of `ratings`; ties go to the first prior, then to the first decision."""
    row, position = divmod(int(np.argmax(ratings[priors])), ratings.shape[1])
    return int(priors[row]), position
