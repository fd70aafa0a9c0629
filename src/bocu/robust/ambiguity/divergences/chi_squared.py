"""Chi-squared divergences; mass stays in the reference's support.

`ChiSquared`: `d(q, p) = sum_i p_i (q_i / p_i - 1)^2`. `ModifiedChiSquared`: half of that, the Cressie-Read divergence
of order 2. Exact from sums over sorted payoffs: on the support of the worst distribution the ratios q / p are affine in
f, and that support is the longest prefix on which they are not negative (Tay et al., 2022; 2024).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bocu.core.about import About
from bocu.robust.ambiguity.base import ROUNDING, Rows, Tangent, Wanted, expectation, pair, pick, relative
from bocu.robust.ambiguity.checks import Floats
from bocu.robust.ambiguity.divergences.base import Divergence
from bocu.robust.ambiguity.divergences.cressie_read import CressieRead
from bocu.robust.ambiguity.rows import sorted_rows

#: Stands for an infinite radius, whose products with 0 would not be numbers, and for masses next to nothing.
_LARGEST, _SMALLEST = 1e300, 1e-300


class _ChiSquaredFamily(Divergence):
    """Sets `sum_i q_i^2 / p_i <= 1 + factor * epsilon`."""

    sensitivity_power = 0.5
    factor: ClassVar[float]

    def distance(self, q: ArrayLike, p: ArrayLike) -> Floats:
        """Divergence `(...)` of distributions `(..., n)`; infinite where q leaves the support of p."""
        first, second = pair(q, p)
        ratio, outside = relative(first, second)
        return np.where(outside, np.inf, ((first - second) * (ratio - 1.0)).sum(axis=-1) / self.factor)

    def solve(self, f: Floats, p: Floats, wanted: Wanted) -> Rows:
        rho = min(self.factor * self.epsilon, _LARGEST)
        weights, mass, slack = p, 1.0, rho
        centred = f - expectation(f, p)[:, None]
        # The ratios of the whole support are 1 - t (f - E), t^2 = rho / Var: most small radii end here. Where rounding
        # in E might decide, sums that have none do.
        shrunk = rho * (centred.max(axis=1) + ROUNDING) ** 2 > expectation(centred**2, p)
        if shrunk.any():
            last = np.full(len(f), np.inf)
            last[shrunk] = _last_of_support(f[shrunk], pick(p, shrunk), rho)
            weights = np.where(f > last[:, None], 0.0, p)
            held, lost = weights.sum(axis=1), (p - weights).sum(axis=1)
            mass, slack = held / (held + lost), np.maximum((rho * held - lost) / (held + lost), 0.0)
            weights /= held[:, None]
            # Moments on the chosen support, centred twice: a large radius makes much of a small spread.
            centred = f - np.einsum("bn,bn->b", weights, f)[:, None]
            centred -= np.einsum("bn,bn->b", weights, centred)[:, None]
        mean = f[:, 0] - centred[:, 0]
        weighted = weights * centred
        spread = np.einsum("bn,bn->b", weighted, centred)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(spread > 0.0, -0.5 * self.factor * mass * np.sqrt(spread / slack), 0.0)
            if wanted.distribution or wanted.rate:
                tilt = np.where(spread > 0.0, np.sqrt(slack) / np.sqrt(spread), 0.0)
        rows = Rows(value=np.maximum(mean - np.sqrt(slack * spread), 0.0), slope=slope)
        if wanted.distribution:
            # What rounding leaves of the mean would, beside a small spread, move the sum of the ratios.
            weighted -= weights * weighted.sum(axis=1, keepdims=True)
            rows.distribution = np.maximum(weights - tilt[:, None] * weighted, 0.0)
            rows.distribution /= rows.distribution.sum(axis=1, keepdims=True)
        if wanted.rate:
            moving = tilt * spread > 0.0
            speed = np.divide(0.5 * self.factor * mass, tilt * spread, out=np.zeros_like(tilt), where=moving)
            rows.rate = -speed[:, None] * weighted
        return rows

    def tangent(self, f: Floats, p: Floats, tau: Floats) -> Tangent:
        half = CressieRead(self.epsilon, 2.0).tangent(f, p, tau)
        scale = 0.5 * self.factor
        return Tangent(scale * half.slope, half.radius / scale, half.distribution)

    def _dual(self, f: Floats, p: Floats, multiplier: Floats, value: Floats) -> Floats:
        scale = 0.5 * self.factor
        return CressieRead(scale * self.epsilon, 2.0)._dual(f, p, multiplier / scale, value)

    def _intercept(self, ratio: Floats) -> Floats:
        return (1.0 - ratio**2) / self.factor

    def _bending(self, ratio: Floats) -> Floats:
        return 2.0 / self.factor * ratio

    def _sensitivity(self, f: Floats, p: Floats) -> Floats:
        mean = expectation(f, p)
        return np.sqrt(self.factor * expectation((f - mean[:, None]) ** 2, p))

    def _floor_distance(self, f: Floats, p: Floats) -> Floats:
        return np.sqrt((1.0 / np.where(f == 0.0, p, 0.0).max(axis=1) - 1.0) / self.factor)


class ChiSquared(_ChiSquaredFamily):
    """Set of radius `epsilon` in `sum_i p_i (q_i / p_i - 1)^2`; its slope at 0 is `-inf` for payoffs that vary."""

    about = About(
        title="chi-squared",
        summary="every distribution whose chi-squared divergence from the reference is the radius or less",
    )
    factor = 1.0


class ModifiedChiSquared(_ChiSquaredFamily):
    """Set of radius `epsilon` in `(1/2) sum_i p_i (q_i / p_i - 1)^2`; its slope at 0 is `-inf` for payoffs that vary.

    Radii of `ChiSquared` are twice these.
    """

    about = About(
        title="modified chi-squared",
        summary="as chi-squared, with half the divergence",
        paper="Tay et al. 2022",
    )
    factor = 2.0


def _last_of_support(f: Floats, p: Floats, rho: float) -> Floats:
    """Largest payoff `(B,)` on the support of the worst distribution; 0 where that is the set of minimisers."""
    _, payoff, mass = sorted_rows(f, p)
    held = np.cumsum(mass, axis=1)
    # With A_k(w) = sum_i p_i (w - f_i)_+^k the worst case is p (w - f)_+ / A_1, at distance A_2 / A_1^2 - 1, which
    # falls as w grows: the support reaches beyond a payoff iff the distance with w there exceeds rho. Sums of what is
    # not negative, the smallest payoffs first, keep the digits of masses however small; the unit those of products.
    unit = np.maximum(held[:, :1], _SMALLEST)
    step = payoff[:, 1:] - payoff[:, :-1]
    below = held[:, :-1] * step
    below /= unit
    first = np.cumsum(below, axis=1)
    second = np.cumsum((2.0 * first - below) * step, axis=1)
    bound = (1.0 + rho) * unit / held[:, -1:] if rho < _LARGEST else np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        second /= first
        inside = second > bound * first
    inside &= payoff[:, 1:] > 0.0
    longest = f.shape[1] - 1 - inside[:, ::-1].argmax(axis=1)
    row = np.arange(len(f))
    return np.where(inside.any(axis=1), payoff[row, longest], 0.0)
