"""What phi-divergences share, `d(q, p) = sum_i p_i phi(q_i / p_i)`: how worst cases move with the reference.

With `r = q / p` and l minus the slope, the multiplier of the radius, `dv/dp_i = l (phi(r_i) - r_i phi'(r_i))`. Contexts
without mass stay without: nothing depends on them.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from bocu.robust.ambiguity.base import AmbiguitySet, Rows, expectation, pick
from bocu.robust.ambiguity.checks import Floats


class Divergence(AmbiguitySet):
    """Sets in a phi-divergence that keep to the support of the reference."""

    leaves_support = False
    finite_slope_at_zero = False

    @abstractmethod
    def _dual(self, f: Floats, p: Floats, multiplier: Floats, value: Floats) -> Floats:
        """The dual function `(m,)` at multipliers `(m,)` above 0, other variables as they are at the value `(m,)`."""

    def _lower_bound(self, f: Floats, p: Floats, found: Rows) -> Floats:
        if self.epsilon == 0.0:
            return expectation(f, p)
        bound = np.zeros(len(f))
        rows = np.flatnonzero((found.slope < 0.0) & np.isfinite(found.slope))
        if len(rows):
            bound[rows] = self._dual(f[rows], pick(p, rows), -found.slope[rows], found.value[rows])
        return bound

    @abstractmethod
    def _intercept(self, ratio: Floats) -> Floats:
        """`phi(r) - r phi'(r)`, elementwise: where the tangent of phi at r meets the axis."""

    @abstractmethod
    def _bending(self, ratio: Floats) -> Floats:
        """`r phi''(r)`, elementwise, at r > 0."""

    def _in_reference(self, f: Floats, p: Floats, q: Floats, slope: Floats) -> Floats:
        inside = p > 0.0
        ratio = np.divide(q, p, out=np.ones_like(q), where=inside)
        finite = np.isfinite(slope)
        gradient = -np.where(finite, slope, 0.0)[:, None] * self._intercept(ratio)
        # At radius 0 the value is the expectation.
        return np.where(finite[:, None], gradient, f)

    def _slope_in_reference(
        self, f: Floats, p: Floats, q: Floats, slope: Floats, rate: Floats
    ) -> tuple[Floats, Floats]:
        kept = q > 0.0
        ratio = np.divide(q, p, out=np.ones_like(q), where=kept)
        growth = np.divide(rate, q, out=np.zeros_like(q), where=kept)
        steep = np.where(np.isfinite(slope), -slope, 0.0)
        turn = self._bending(ratio) * growth
        # d is epsilon along the path: the multiplier falls by the Hessian of d, applied to the rate on both sides.
        bend = steep * np.einsum("bn,bn->b", turn, rate)
        moved = -bend[:, None] * self._intercept(np.where(kept, ratio, 0.0))
        return moved - steep[:, None] * turn * np.where(kept, ratio, 0.0), bend
