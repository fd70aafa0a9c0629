"""Chi-squared divergences; mass stays in the reference's support.

`ChiSquared`: `d(q, p) = sum_i p_i (q_i / p_i - 1)^2`. `ModifiedChiSquared`: half of that, the Cressie-Read divergence
of order 2. Exact from prefix sums over sorted payoffs: on the support of the worst distribution the ratios q / p are
affine in f, and that support is the longest prefix on which they are not negative (Tay et al., 2022; 2024).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bocu.ambiguity.base import Rows, Tangent, Wanted, expectation, pair, pick, relative
from bocu.ambiguity.checks import Floats
from bocu.ambiguity.divergences.base import Divergence
from bocu.ambiguity.divergences.cressie_read import CressieRead
from bocu.ambiguity.sorting import sorted_rows
from bocu.core.about import About

#: Stands for an infinite radius, whose products with 0 would not be numbers.
_LARGEST = 1e100


class _ChiSquaredFamily(Divergence):
    """Sets `sum_i q_i^2 / p_i <= 1 + factor * epsilon`."""

    sensitivity_power = 0.5
    factor: ClassVar[float]

    def distance(self, q: ArrayLike, p: ArrayLike) -> Floats:
        """Divergence `(...)` of distributions `(..., n)`; infinite where q leaves the support of p."""
        first, second = pair(q, p)
        ratio, outside = relative(first, second)
        return np.where(outside, np.inf, (second * (ratio - 1.0) ** 2).sum(axis=-1) / self.factor)

    def solve(self, f: Floats, p: Floats, wanted: Wanted) -> Rows:
        rho = min(self.factor * self.epsilon, _LARGEST)
        weights, mass, last = p, np.ones(len(f)), np.full(len(f), np.inf)
        centred = f - expectation(f, p)[:, None]
        # The ratios of the whole support are 1 - t (f - E), t^2 = rho / Var: most small radii end here.
        shrunk = rho * centred.max(axis=1) ** 2 > expectation(centred**2, p)
        if shrunk.any():
            last[shrunk], mass[shrunk] = _last_of_support(f[shrunk], pick(p, shrunk), rho)
            weights = np.where(f <= last[:, None], p, 0.0)
            # Moments on the chosen support, centred: prefix sums would lose digits to cancellation.
            centred = f - (np.einsum("bn,bn->b", weights, f) / weights.sum(axis=1))[:, None]
        weighted = weights * centred
        mean = f[:, 0] - centred[:, 0]
        spread = np.einsum("bn,bn->b", weighted, centred)
        slack = np.maximum(rho - (1.0 - mass) / mass, 0.0)
        at_floor = last <= 0.0
        spread[at_floor] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(spread > 0.0, -0.5 * self.factor * np.sqrt(spread / slack), 0.0)
            tilt = np.where(spread > 0.0, np.sqrt(slack / spread), 0.0)
        rows = Rows(value=np.maximum(mean - np.sqrt(slack * spread), 0.0), slope=slope)
        if wanted.distribution:
            rows.distribution = np.maximum(weights / mass[:, None] - tilt[:, None] * weighted, 0.0)
            rows.distribution /= rows.distribution.sum(axis=1, keepdims=True)
        if wanted.rate:
            moving = tilt * spread > 0.0
            speed = np.divide(0.5 * self.factor, tilt * spread, out=np.zeros_like(tilt), where=moving)
            rows.rate = -speed[:, None] * weighted
        return rows

    def tangent(self, f: Floats, p: Floats, tau: Floats) -> Tangent:
        half = CressieRead(self.epsilon, 2.0).tangent(f, p, tau)
        scale = 0.5 * self.factor
        return Tangent(scale * half.slope, half.radius / scale, half.distribution)

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


def _last_of_support(f: Floats, p: Floats, rho: float) -> tuple[Floats, Floats]:
    """Largest payoff on the support of the worst distribution and the support's mass, both `(B,)`.

    The payoff is 0 where the support is the set of minimisers.
    """
    _, payoff, mass = sorted_rows(f, p)
    first = np.cumsum(mass, axis=1)
    first /= first[:, -1:]
    weighted = mass * payoff
    second = np.cumsum(weighted, axis=1)
    weighted *= payoff
    third = np.cumsum(weighted, axis=1)
    # With P, mu and V of a prefix, the ratio at its largest payoff is 1/P - t (f - mu), t^2 = (1 + rho - 1/P) / V: not
    # negative iff ((1 + rho) P - 1) (P f - P mu)^2 <= P V, both sides polynomials of the prefix sums.
    distance = payoff * first
    distance -= second
    third *= first
    third -= second * second
    slack = (1.0 + rho) * first
    slack -= 1.0
    distance *= distance
    distance *= slack
    valid = (distance <= third) & (slack >= 0.0)
    valid &= mass > 0.0
    longest = f.shape[1] - 1 - valid[:, ::-1].argmax(axis=1)
    row = np.arange(len(f))
    return np.where(valid.any(axis=1), payoff[row, longest], 0.0), first[row, longest]
