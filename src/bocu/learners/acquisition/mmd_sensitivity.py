"""The sensitivity of the worst expectation over an MMD set at radius 0, exactly, for many payoffs that are alike."""

import copy
from typing import Self

import numpy as np

from bocu.robust.ambiguity import checks
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
