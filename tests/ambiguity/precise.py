"""Cressie-Read sets with fifty digits: bisections from the definitions, each answer certified by its dual value."""

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

DIGITS = 50


def worst_case(f: np.ndarray, p: np.ndarray, epsilon: float, k: float) -> tuple[float, np.ndarray, float]:
    """Value, distribution `(n,)` and slope at a radius above 0."""
    with mpmath.workdps(DIGITS):
        curve = _Curve(f, p, k)
        if curve.at_floor(epsilon):
            return float(curve.low), curve.floats(curve.floor()), 0.0
        q, slope, radius = curve.where(lambda point: point[2] <= epsilon)
        value = curve.mean(q)
        assert abs(radius - epsilon) < mpf(10) ** (10 - DIGITS) * (1 + radius)
        assert abs(value - curve.dual(q, epsilon)) < mpf(10) ** (15 - DIGITS) * (1 + abs(value))
        return float(value), curve.floats(q), float(slope)


def satisficing(f: np.ndarray, p: np.ndarray, tau: float, k: float) -> float:
    """Slope of the tangent of v through (0, tau), tau between the floor and the expectation."""
    with mpmath.workdps(DIGITS):
        curve = _Curve(f, p, k)
        return float(curve.where(lambda point: curve.mean(point[0]) - point[1] * point[2] >= tau)[1])


class _Curve:
    """The worst cases `q_i ~ p_i (w - f_i)_+^{1/(k-1)}` on the support, by rising w."""

    def __init__(self, f: np.ndarray, p: np.ndarray, k: float) -> None:
        self.inside = np.flatnonzero(p > 0)
        self.f, self.p, self.k, self.n = [mpf(float(f[i])) for i in self.inside], [], mpf(k), len(f)
        total = mpmath.fsum(float(p[i]) for i in self.inside)
        self.p = [mpf(float(p[i])) / total for i in self.inside]
        self.low = min(self.f)

    def floor(self) -> list[Any]:
        mass = mpmath.fsum(p for f, p in zip(self.f, self.p, strict=True) if f == self.low)
        return [p / mass if f == self.low else mpf(0) for f, p in zip(self.f, self.p, strict=True)]

    def at_floor(self, epsilon: float) -> bool:
        return bool(self.divergence(self.floor()) <= epsilon)

    def floats(self, q: list[Any]) -> np.ndarray:
        found = np.zeros(self.n)
        found[self.inside] = [float(x) for x in q]
        return found

    def mean(self, q: list[Any]) -> Any:
        return mpmath.fdot(q, self.f)

    def divergence(self, q: list[Any]) -> Any:
        k = self.k
        moment = mpmath.fsum(p * (x / p) ** k for x, p in zip(q, self.p, strict=True))
        return (moment - 1) / (k * (k - 1))

    def point(self, last: Any, s: Any) -> tuple[list[Any], Any, Any]:
        """q, slope and divergence at `w = last + exp(s)`."""
        power = 1 / (self.k - 1)
        above = [mpmath.exp(s) + (last - f) if f <= last else mpf(0) for f in self.f]
        raw = [p * a**power for p, a in zip(self.p, above, strict=True)]
        total = mpmath.fsum(raw)
        q = [x / total for x in raw]
        return q, -(self.k - 1) * total ** (self.k - 1), self.divergence(q)

    def where(self, reached: Callable[[tuple[list[Any], Any, Any]], bool]) -> tuple[list[Any], Any, Any]:
        """The first point that satisfies a condition which holds from some w on."""
        knots = sorted(set(self.f))
        # Just beyond a knot nothing is left of it; a condition met there was met before.
        deep = -(self.k - 1) * 100 - 100
        last = [knot for knot in knots if not reached(self.point(knot, deep))][-1]
        low, high = deep, mpf(50)
        for _ in range(4 * DIGITS):
            middle = (low + high) / 2
            low, high = (low, middle) if reached(self.point(last, middle)) else (middle, high)
        return self.point(last, high)

    def dual(self, q: list[Any], epsilon: float) -> Any:
        """The dual value `w - C (sum p (w - f)_+^k*)^(1/k*)` at the w of q: below the value for every w."""
        k, star = self.k, self.k / (self.k - 1)
        order = sorted((x / p, -f) for x, p, f in zip(q, self.p, self.f, strict=True))
        # (q/p)^(k-1) is affine in f on the support: w is where that line meets 0.
        (top, low), (other, high) = order[-1], next(entry for entry in order if entry[0] > 0)
        low, high, top, other = -low, -high, top ** (k - 1), other ** (k - 1)
        w = high + (high - low) * other / (top - other)
        norm = mpmath.fsum(p * (w - f) ** star for f, p in zip(self.f, self.p, strict=True) if f < w) ** (1 / star)
        return w - (1 + k * (k - 1) * epsilon) ** (1 / k) * norm
