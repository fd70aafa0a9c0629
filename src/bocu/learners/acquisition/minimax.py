"""The minimax approximation of a worst case, with its supergradient (Tay et al., 2022).

With s the variable in which the ambiguity set grows like a set (epsilon, or its root for chi-squared sets), E the
expectation, m the floor, s_max the distance to it and S the sensitivity, the value lies between `max(E - S s, m)` and
the chord `max(E - (E - m) s / s_max, m)`; the approximation is the middle. Where s reaches s_max both are m, and the
sensitivity, by far the most expensive part, is not asked for.
"""

import copy
from typing import Protocol, Self

import numpy as np

from bocu.learners.acquisition.base import Functional
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.approximations import floor_distance, identity_sensitivity, power, sensitivity
from bocu.robust.ambiguity.base import AmbiguitySet, worst_case
from bocu.robust.ambiguity.mmd.departure import Departure
from bocu.robust.ambiguity.mmd.maximum_mean_discrepancy import MaximumMeanDiscrepancy

#: Worst directions that are kept; more than there are ascents, so that each finds what it left.
KEPT = 128


class MMDSensitivity:
    """How fast the worst expectation over an MMD set falls at the reference, with its gradient.

    Every direction in which a worst case leaves the reference, see `bocu.robust.ambiguity.mmd.departure`, bounds the
    sensitivity of all payoffs from below.

    Args:
        ambiguity_set: an MMD set.
        reference: probabilities, shape (M,).

    Raises:
        BocuError: the reference is no distribution over the set's contexts.
    """

    def __init__(self, ambiguity_set: MaximumMeanDiscrepancy, reference: np.ndarray) -> None:
        p = checks.distribution(reference, ambiguity_set.contexts)
        self._departure = Departure(p, ambiguity_set.gram)
        self._directions: np.ndarray | None = None
        self._found = 0

    def warm(self) -> Self:
        """Return the same sensitivity, for the calls of one search.

        The latest directions are kept: the steepest of them for new payoffs decides whether these need solving at all,
        and where to start. Answers depend on the calls before by rounding.
        """
        warm = copy.copy(self)
        warm._directions, warm._found = np.zeros((KEPT, len(self._departure.p))), 0
        return warm

    def __call__(self, payoffs: np.ndarray, enough: np.ndarray | float = np.inf) -> tuple[np.ndarray, np.ndarray]:
        # Constant payoffs are to be 0 to the last digit.
        payoffs = payoffs - payoffs.min(axis=1, keepdims=True)
        level, constant = self._departure.within(payoffs)
        value = np.sqrt((level**2).sum(axis=1))
        gradient = np.zeros_like(payoffs)
        enough = np.broadcast_to(enough, value.shape)
        for row in np.flatnonzero(value < enough):
            steepness, known = self._steepest(payoffs[row])
            if steepness >= enough[row]:
                value[row] = steepness
                continue
            one = slice(row, row + 1)
            direction = self._departure.directions(payoffs[one], level[one], constant[one], known[None], enough[one])[0]
            value[row] = np.sqrt(max(-direction @ payoffs[row], 0.0))
            if value[row] > 0.0:
                gradient[row] = -direction / value[row]
                if self._directions is not None:
                    self._directions[self._found % KEPT] = -gradient[row]
                    self._found += 1
        return value, gradient

    def _steepest(self, payoffs: np.ndarray) -> tuple[float, np.ndarray]:
        """Return what the kept directions say of payoffs (M,), 0 or more, and the steepest, scaled to match."""
        if self._directions is not None and self._found:
            steepness = -self._directions[: self._found] @ payoffs
            best = int(steepness.argmax())
            if steepness[best] > 0.0:
                return float(steepness[best]), steepness[best] * self._directions[best]
        return 0.0, np.zeros_like(payoffs)


class Sensitivity(Protocol):
    """How fast the worst case falls at the reference, with its gradient."""

    def __call__(self, payoffs: np.ndarray, enough: np.ndarray | float = np.inf) -> tuple[np.ndarray, np.ndarray]:
        """Return the sensitivity (B,) of payoffs (B, M), 0 or more, and its derivative in them, (B, M).

        Where it is `enough` (B,) or more, any lower bound that is enough will do, with any derivative.
        """


class SlopeSensitivity:
    """Minus the slope at radius 0: total variation and Wasserstein sets."""

    def __init__(self, ambiguity_set: AmbiguitySet, reference: np.ndarray) -> None:
        self.reference = checks.distribution(reference, ambiguity_set.contexts)
        self.ambiguity_set = ambiguity_set.with_epsilon(0.0)

    def __call__(self, payoffs: np.ndarray, enough: np.ndarray | float = np.inf) -> tuple[np.ndarray, np.ndarray]:
        start = worst_case(payoffs, self.reference, self.ambiguity_set, rate=True)
        return -start.slope, -start.rate


class DeviationSensitivity:
    """A multiple of the standard deviation under the reference: the chi-squared sets."""

    def __init__(self, ambiguity_set: AmbiguitySet, reference: np.ndarray) -> None:
        self.reference = checks.distribution(reference, ambiguity_set.contexts)
        self.ambiguity_set = ambiguity_set

    def __call__(self, payoffs: np.ndarray, enough: np.ndarray | float = np.inf) -> tuple[np.ndarray, np.ndarray]:
        value = sensitivity(payoffs, self.reference, self.ambiguity_set)
        weighted = self.reference * (payoffs - (payoffs @ self.reference)[:, None])
        variance = np.einsum("bm,bm->b", weighted, payoffs)
        relative = np.divide(value, variance, out=np.zeros_like(value), where=variance > 0.0)
        return value, relative[:, None] * weighted


class IdentitySensitivity:
    """The MMD's with the identity in place of the Gram matrix, cheap and a bound in neither direction."""

    def __call__(self, payoffs: np.ndarray, enough: np.ndarray | float = np.inf) -> tuple[np.ndarray, np.ndarray]:
        value = identity_sensitivity(payoffs)[:, None]
        centred = payoffs - payoffs.mean(axis=1, keepdims=True)
        return value[:, 0], np.divide(centred, value, out=np.zeros_like(centred), where=value > 0.0)


def exact_sensitivity(ambiguity_set: AmbiguitySet, reference: np.ndarray) -> Sensitivity:
    """Return the sensitivity that belongs to a set.

    Raises:
        BocuError: the set has no minimax approximation, or the reference is no distribution over its contexts.
    """
    if isinstance(ambiguity_set, MaximumMeanDiscrepancy):
        return MMDSensitivity(ambiguity_set, reference)
    kind = SlopeSensitivity if power(ambiguity_set) == 1.0 else DeviationSensitivity
    return kind(ambiguity_set, reference)


class Chord(Functional):
    """The upper bound, a line from the expectation to the floor.

    Args:
        ambiguity_set: a total variation, MMD, Wasserstein or chi-squared set.
        reference: probabilities, shape (M,).
        mean: probabilities of the expectation, shape (M,), in place of the reference, from which distances still are.

    Raises:
        BocuError: the set has no chord, or a distribution is none over its contexts.
    """

    def __init__(self, ambiguity_set: AmbiguitySet, reference: np.ndarray, mean: np.ndarray | None = None) -> None:
        self.reference = checks.distribution(reference, ambiguity_set.contexts)
        self.mean = self.reference if mean is None else checks.distribution(mean, ambiguity_set.contexts)
        self.ambiguity_set = ambiguity_set
        self._power = power(ambiguity_set)
        self._reachable = np.flatnonzero(self.reference > 0.0) if not ambiguity_set.leaves_support else None

    def __call__(self, payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.drawn(payoffs, self.share(payoffs), *self.floor(payoffs))

    def drawn(
        self, payoffs: np.ndarray, share: np.ndarray, floor: np.ndarray, worst: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return what a call gives, from what `share` and `floor` gave."""
        mean = payoffs @ self.mean
        weights = (1.0 - share)[:, None] * self.mean
        weights[np.arange(len(payoffs)), worst] += share
        return mean + share * (floor - mean), weights

    def share(self, payoffs: np.ndarray) -> np.ndarray:
        """Return s / s_max, at most 1, of payoffs (B, M), shape (B,)."""
        end = floor_distance(payoffs, self.reference, self.ambiguity_set)
        share = np.full_like(end, 1.0)
        near = end > self.ambiguity_set.epsilon
        share[near] = (self.ambiguity_set.epsilon / end[near]) ** self._power
        return share

    def floor(self, payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest payoff that the set can reach and its context, each (B,)."""
        if self._reachable is None:
            worst = payoffs.argmin(axis=1)
        else:
            worst = self._reachable[payoffs[:, self._reachable].argmin(axis=1)]
        return payoffs[np.arange(len(payoffs)), worst], worst


class PublishedMinimax(Functional):
    """What the approximation comes to in the published code of Huang et al. (2024).

    The sign in its first case is such that none comes to it: the floor takes the linearisation's place. Where the set
    reaches the floor, an `else` of the case before sets it: among decisions of both kinds, evaluated together, it is 0.

    Args:
        chord: the upper bound.
        zero: the payoff that is 0 in the model's units.
    """

    def __init__(self, chord: Chord, zero: float) -> None:
        self.chord = chord
        self.zero = zero

    def __call__(self, payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        share = self.chord.share(payoffs)
        floor, worst = self.chord.floor(payoffs)
        upper, weights = self.chord.drawn(payoffs, share, floor, worst)
        values, weights = 0.5 * (upper + floor), 0.5 * weights
        weights[np.arange(len(payoffs)), worst] += 0.5
        reached = share == 1.0
        if not reached.all():
            values[reached], weights[reached] = self.zero, 0.0
        return values, weights


class MinimaxFunctional(Functional):
    """The middle between the linearisation and the chord, as `bocu.robust.ambiguity.approximations` has it.

    Args:
        ambiguity_set: a total variation, MMD, Wasserstein or chi-squared set.
        reference: probabilities, shape (M,).
        sensitivity: in place of the exact one.
        mean: as the `Chord` takes it.

    Raises:
        BocuError: the set has no such approximation, or a distribution is none over its contexts.
    """

    def __init__(
        self,
        ambiguity_set: AmbiguitySet,
        reference: np.ndarray,
        sensitivity: Sensitivity | None = None,
        mean: np.ndarray | None = None,
    ) -> None:
        self.chord = Chord(ambiguity_set, reference, mean)
        self.sensitivity = sensitivity or exact_sensitivity(ambiguity_set, self.chord.reference)
        self._scale = ambiguity_set.epsilon ** power(ambiguity_set)

    def __call__(self, payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        start = self.chord.mean
        share = self.chord.share(payoffs)
        floor, worst = self.chord.floor(payoffs)
        upper, upper_weights = self.chord.drawn(payoffs, share, floor, worst)
        lower, lower_weights = floor.copy(), np.zeros_like(payoffs)
        lower_weights[np.arange(len(payoffs)), worst] = 1.0
        open_rows = np.flatnonzero(share < 1.0)
        if len(open_rows):
            mean = payoffs[open_rows] @ start
            # From this sensitivity on the linearisation is below the floor.
            depth = mean - floor[open_rows]
            enough = np.divide(depth, self._scale, out=np.full_like(depth, np.inf), where=self._scale > 0.0)
            steep, gradient = self.sensitivity(payoffs[open_rows], enough)
            above = steep < enough
            rows = open_rows[above]
            lower[rows] = (mean - self._scale * steep)[above]
            lower_weights[rows] = start - self._scale * gradient[above]
        return 0.5 * (lower + upper), 0.5 * (lower_weights + upper_weights)

    def warm(self) -> Self:
        warm = copy.copy(self)
        if isinstance(self.sensitivity, MMDSensitivity):
            warm.sensitivity = self.sensitivity.warm()
        return warm

    def screening(self, contexts: int) -> tuple[np.ndarray, Functional]:
        return np.arange(contexts), self.chord  # which is cheaper
