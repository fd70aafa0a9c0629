"""How the worst case leaves the reference of an MMD set, exactly: a non-negative quadratic programme.

The slope at radius 0 is minus the maximum of `-f.d` over directions d of sum 0 and MMD norm 1 that are not negative at
contexts without mass. The maximum of `-2 f.d - d'Md` without the norm is its square, and its d that direction times the
maximum. Contexts with mass and the sum are eliminated by the Cholesky factor of M on the support, `LL'`; the contexts
without mass are left.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from bocu.core.errors import BocuError
from bocu.robust.ambiguity.checks import Floats
from bocu.robust.ambiguity.mmd.gram import SINGULAR

#: Largest violation of optimality at a context without mass, relative to the spread of the payoffs.
_TOLERANCE = 1e-10


class Departure:
    """Directions in which worst cases leave one reference.

    Args:
        p: (n,) reference.
        gram: (n, n) Gram matrix.

    Raises:
        BocuError: if the Gram matrix is too close to singular.
    """

    def __init__(self, p: Floats, gram: Floats) -> None:
        from scipy.linalg import cholesky

        self.p = p
        self._gram = gram
        self._support, self._empty = np.flatnonzero(p), np.flatnonzero(p == 0.0)
        try:
            self._factor = cholesky(gram[np.ix_(self._support, self._support)], lower=True)
        except np.linalg.LinAlgError:
            raise BocuError(f"MMD on the support of the reference: {SINGULAR}") from None
        self._ones = self._forward(np.ones(len(self._support)))

    def within(self, f: Floats) -> tuple[Floats, Floats]:
        """The directions that stay on the support: `L^-1 (f - c)` `(B, s)`, as long as they are steep, and c `(B,)`."""
        level = self._forward(f[:, self._support].T).T
        constant = level @ self._ones / (self._ones @ self._ones)
        return level - constant[:, None] * self._ones, constant

    def directions(
        self,
        f: Floats,
        level: Floats,
        constant: Floats,
        known: Floats | None = None,
        enough: Floats | float = np.inf,
    ) -> Floats:
        """The direction of every row, its squared norm `-f.d`.

        Args:
            f: (B, n) payoffs.
            level: what `within` gives for them.
            constant: likewise.
            known: (B, n) directions to start from.
            enough: (B,) steepness at which to stop short of the steepest.

        Returns:
            (B, n); 0 for constant payoffs.

        Raises:
            BocuError: if the Gram matrix is too close to singular.
        """
        received = np.zeros((len(f), len(self._empty)))
        if len(self._empty):
            from bocu.robust.ambiguity.mmd.nonnegative import maximise_nonnegative

            across, uneven, reduced = self._reduced
            # What mass at a context without any gains beyond what the support does already.
            offers = np.ascontiguousarray(level @ across + constant[:, None] - f[:, self._empty])
            if known is not None:
                received[:] = known[:, self._empty]
            left = np.maximum(np.square(enough) - np.einsum("bs,bs->b", level, level), 0.0)
            values = maximise_nonnegative(offers, reduced, received, left, _TOLERANCE * np.ptp(f, axis=1))
            if np.isnan(values).any():
                raise BocuError(f"MMD at epsilon = 0 was not solved: {SINGULAR}")
            level = level + received @ across.T + np.outer(received @ uneven / (self._ones @ self._ones), self._ones)
        directions = np.empty_like(f)
        directions[:, self._empty] = received
        directions[:, self._support] = -self._forward(level.T, transposed=True).T
        return directions

    @cached_property
    def _reduced(self) -> tuple[Floats, Floats, Floats]:
        """The Gram matrix across (s, e), what it leaves of the sum (e,), and the complement of the support (e, e)."""
        # The factor, not an inverse: the complement's small eigenvalues, the jitter, are to keep their digits.
        across = self._forward(self._gram[np.ix_(self._support, self._empty)])
        uneven = 1.0 - self._ones @ across
        reduced = self._gram[np.ix_(self._empty, self._empty)] - across.T @ across
        reduced += np.outer(uneven, uneven) / (self._ones @ self._ones)
        return across, uneven, reduced

    def _forward(self, values: Floats, transposed: bool = False) -> Floats:
        from scipy.linalg import solve_triangular

        return solve_triangular(self._factor, values, lower=True, trans=int(transposed), check_finite=False)
