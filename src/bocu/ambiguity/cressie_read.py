"""Cressie-Read divergences of order k > 1, `phi_k(t) = (t^k - k t + k - 1) / (k (k - 1))`; mass stays in the support.

The worst case is `q_i ~ p_i (w - f_i)_+^{1/(k-1)}` for one scalar w (the dual of Duchi and Namkoong, 2021, with phi as
above). `k = 2` is the modified chi-squared divergence, `k -> 1` is Kullback-Leibler.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bocu.ambiguity import checks
from bocu.ambiguity.ball import pair, relative
from bocu.ambiguity.checks import Floats
from bocu.ambiguity.divergence import CurveDivergence, Point
from bocu.errors import BocuError

#: Orders that double precision carries; nearer to 1 use Kullback-Leibler.
SMALLEST_ORDER, LARGEST_ORDER = 1.05, 20.0


class CressieRead(CurveDivergence):
    """Ball of radius `epsilon` in the Cressie-Read divergence of order `k`, 1.05 to 20.

    The slope at `epsilon = 0` is `-inf` unless the payoffs are constant on the support.
    """

    def __init__(self, epsilon: float, k: float) -> None:
        super().__init__(epsilon)
        self.k = checks.real("k", k)
        if math.isnan(self.k) or not SMALLEST_ORDER <= self.k <= LARGEST_ORDER:
            raise BocuError(f"k is {self.k}: it must lie in [{SMALLEST_ORDER}, {LARGEST_ORDER:g}], above 1")

    def __repr__(self) -> str:
        return f"CressieRead(epsilon={self.epsilon:g}, k={self.k:g})"

    def distance(self, q: ArrayLike, p: ArrayLike) -> Any:
        """Divergence `(...)` of distributions `(..., n)`; infinite where q leaves the support of p."""
        first, second = pair(q, p)
        ratio, outside = relative(first, second)
        with np.errstate(divide="ignore"):
            terms = second * _phi(np.log(ratio), self.k)
        return np.where(outside, np.inf, terms.sum(axis=-1))

    def _point(self, u: Floats, f: Floats, p: Floats, *, small: bool) -> Point:
        k = self.k
        w = np.exp(u)
        above = np.maximum(w[:, None] - f, 0.0)
        q = p * (above if k == 2.0 else above ** (1.0 / (k - 1.0)))
        total = q.sum(axis=1)
        q /= total[:, None]
        normal = total ** (k - 1.0)
        value = np.einsum("bn,bn->b", q, f)
        if small:
            divergence = np.einsum("bn,bn->b", np.broadcast_to(p, f.shape), _phi(_log_ratio(w, f, p, k), k))
        else:
            divergence = ((w - value) / normal - 1.0) / (k * (k - 1.0))
        # dq/dw = q (g - mean g) with g = 1 / ((k - 1)(w - f)); the divergence moves by -f.dq/dw over the multiplier.
        tilt = np.divide(-1.0, above, out=np.zeros_like(above), where=above > 0.0)
        weighted = q * tilt
        moved = np.einsum("bn,bn->b", weighted, f) - value * weighted.sum(axis=1)
        multiplier = (k - 1.0) * normal
        return Point(q, value, divergence, multiplier, w * moved / ((k - 1.0) * multiplier), tilt)

    def _start(self, variance: Floats) -> Floats:
        # For a large w the ratios are 1 - (f - E) / ((k - 1) w).
        return np.log(np.sqrt(variance / (2.0 * self.epsilon)) / (self.k - 1.0) + 0.5)

    def _floor_radius(self, mass: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return (mass ** (1.0 - self.k) - 1.0) / (self.k * (self.k - 1.0))


def _log_ratio(w: Floats, f: Floats, p: Floats, k: float) -> Floats:
    """`log(q / p)` from logarithms of w - f relative to w, which keep their digits when w is large."""
    with np.errstate(divide="ignore"):
        power = np.log1p(-np.minimum(f / w[:, None], 1.0)) / (k - 1.0)
    return power - np.log1p(np.einsum("bn,bn->b", np.broadcast_to(p, f.shape), np.expm1(power)))[:, None]


def _phi(a: Floats, k: float) -> Floats:
    """`phi_k(t)` with `a = log t` (minus infinity for t = 0), by its series where a is small."""
    with np.errstate(over="ignore", invalid="ignore"):
        series = a**2 * (0.5 + a * ((k + 1) / 6 + a * ((k**2 + k + 1) / 24 + a * (k**3 + k**2 + k + 1) / 120)))
        return np.where(np.abs(a) < 3e-3, series, (np.expm1(k * a) - k * np.expm1(a)) / (k * (k - 1.0)))
