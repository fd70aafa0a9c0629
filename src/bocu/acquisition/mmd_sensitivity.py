"""The sensitivity of the worst expectation over an MMD ball at radius 0, exactly, for many payoffs that are alike."""

from functools import cached_property

import numpy as np

from bocu.ambiguity import checks
from bocu.ambiguity.maximum_mean_discrepancy import MaximumMeanDiscrepancy

#: Worst directions that are kept; more than there are ascents, so that each finds what it left.
KEPT = 128

#: Largest violation of optimality at a context, relative to the spread of the payoffs.
TOLERANCE = 1e-10


class MMDSensitivity:
    """How fast the worst expectation over an MMD ball falls at the reference, with its gradient.

    The sensitivity is the maximum of `-f.d` over directions d of sum 0 and MMD norm 1 that are not negative at contexts
    without mass. Its square is `max -2 f.d - d'Md` without the norm; contexts with mass and the sum are eliminated, the
    others leave a non-negative quadratic programme.

    Every direction bounds the sensitivity of all payoffs from below. The latest are kept: the steepest of them for new
    payoffs decides whether these need solving at all, and where to start. Answers depend on earlier calls by rounding
    only.

    Args:
        ball: an MMD set.
        reference: probabilities, shape (M,).

    Raises:
        BocuError: the reference is no distribution over the ball's contexts.
    """

    def __init__(self, ball: MaximumMeanDiscrepancy, reference: np.ndarray) -> None:
        from scipy.linalg import cholesky

        mass = checks.distribution(reference, ball.contexts) > 0.0
        self._gram = ball.gram
        self._support, self._empty = np.flatnonzero(mass), np.flatnonzero(~mass)
        self._factor = cholesky(self._gram[np.ix_(self._support, self._support)], lower=True)
        self._ones = self._forward(np.ones(len(self._support)))
        self._directions = np.zeros((KEPT, len(mass)))
        self._found = 0

    def __call__(self, payoffs: np.ndarray, enough: np.ndarray | float = np.inf) -> tuple[np.ndarray, np.ndarray]:
        # Constant payoffs are to be 0 to the last digit.
        payoffs = payoffs - payoffs.min(axis=1, keepdims=True)
        # L^-1 (f - c), L L' the Gram matrix on the support, for the c with which directions on the support sum to 0.
        level = self._forward(payoffs[:, self._support].T).T
        constant = level @ self._ones / (self._ones @ self._ones)
        level -= constant[:, None] * self._ones
        value = np.sqrt((level**2).sum(axis=1))
        gradient = np.zeros_like(payoffs)
        enough = np.broadcast_to(enough, value.shape)
        for row in np.flatnonzero(value < enough):
            steepness, known = self._steepest(payoffs[row])
            if steepness >= enough[row]:
                value[row] = steepness
                continue
            direction = self._solve(payoffs[row], level[row], constant[row], known, enough[row])
            value[row] = np.sqrt(max(-direction @ payoffs[row], 0.0))
            if value[row] > 0.0:
                gradient[row] = -direction / value[row]
                self._directions[self._found % KEPT] = -gradient[row]
                self._found += 1
        return value, gradient

    def _steepest(self, payoffs: np.ndarray) -> tuple[float, np.ndarray]:
        """Give what the kept directions say of payoffs (M,), 0 or more, and the steepest, scaled to match."""
        steepness = -self._directions[: self._found] @ payoffs
        if not len(steepness) or steepness.max() <= 0.0:
            return 0.0, np.zeros_like(payoffs)
        best = int(steepness.argmax())
        return float(steepness[best]), steepness[best] * self._directions[best]

    def _solve(
        self, payoffs: np.ndarray, level: np.ndarray, constant: float, known: np.ndarray, enough: float
    ) -> np.ndarray:
        """Give the best direction of payoffs (M,), its squared norm its steepness, or one that is steep enough."""
        received = np.zeros(len(self._empty))
        if len(self._empty):
            from bocu.ambiguity.nonnegative import maximise_nonnegative

            across, uneven, reduced, work = self._reduced
            # What mass at an empty context gains beyond what the support does already.
            offers = level @ across + constant - payoffs[self._empty]
            start = np.flatnonzero(known[self._empty])
            left = max(enough**2 - level @ level, 0.0)
            tolerance = TOLERANCE * float(np.ptp(payoffs))
            maximise_nonnegative(offers, reduced, start, known[self._empty[start]], left, tolerance, work, received)
            level = level + across @ received + self._ones * (uneven @ received / (self._ones @ self._ones))
        direction = np.empty_like(payoffs)
        direction[self._empty] = received
        direction[self._support] = -self._forward(level, transposed=True)
        return direction

    @cached_property
    def _reduced(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The Gram matrix across (s, n) and what it leaves of the sum (n,), their complement (n, n), and work space."""
        # The factor, not an inverse: the complement's small eigenvalues, the jitter, are to keep their digits.
        across = self._forward(self._gram[np.ix_(self._support, self._empty)])
        uneven = 1.0 - self._ones @ across
        reduced = self._gram[np.ix_(self._empty, self._empty)] - across.T @ across
        reduced += np.outer(uneven, uneven) / (self._ones @ self._ones)
        return across, uneven, reduced, np.empty_like(reduced)

    def _forward(self, values: np.ndarray, transposed: bool = False) -> np.ndarray:
        from scipy.linalg import solve_triangular

        solved: np.ndarray = solve_triangular(
            self._factor, values, lower=True, trans=int(transposed), check_finite=False
        )
        return solved
