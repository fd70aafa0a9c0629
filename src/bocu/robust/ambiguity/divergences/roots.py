"""Scalar roots of many rows at once: a guarded Newton method and a bracketing one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bocu.robust.ambiguity.checks import Floats

RowIndices = NDArray[np.intp]


def newton_decreasing(
    function: Callable[[Floats, RowIndices], tuple[Floats, Floats]],
    start: Floats,
    lower: float,
    upper: float,
    tolerance: float = 4e-15,
    iterations: int = 120,
) -> Floats:
    """Roots `(B,)` of decreasing functions between `lower` and `upper`, by Newton steps kept inside the bracket.

    Args:
        function: takes points `(m,)` and the rows `(m,)` they belong to; gives values and derivatives `(m,)`.
        start: (B,) first points.
        lower: ends of the bracket, the same for all rows.
        upper: likewise.
        tolerance: a row is done when its step is below `tolerance * max(1, |root|)`.
        iterations: most steps to take.
    """
    root = np.clip(start, lower, upper)
    low = np.full(len(root), lower)
    high = np.full(len(root), upper)
    active = np.arange(len(root))
    last = np.full(len(root), np.inf)
    for _ in range(iterations):
        point = root[active]
        value, derivative = function(point, active)
        positive = value > 0.0
        low[active] = np.where(positive, point, low[active])
        high[active] = np.where(positive, high[active], point)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = -value / derivative
        target = point + step
        left, right = low[active], high[active]
        # A Newton step that leaves the bracket, or that shrinks too slowly, becomes a bisection.
        bad = ~((target > left) & (target < right)) & (value != 0.0) | (np.abs(step) > 0.75 * last[active])
        target = np.where(bad, 0.5 * (left + right), target)
        moved = np.abs(target - point)
        last[active] = moved
        root[active] = target
        active = active[moved > tolerance * np.maximum(1.0, np.abs(target))]
        if not len(active):
            break
    return root


def bracketed(
    function: Callable[[Floats, RowIndices], Floats],
    lower: Floats,
    upper: Floats,
    tolerance: float = 1e-14,
    iterations: int = 120,
) -> tuple[Floats, Floats]:
    """Brackets `(B,)`, `(B,)` of the sign changes of monotone functions, by the method of Chandrupatla (1997).

    Args:
        function: takes points `(m,)` and rows `(m,)`, gives values `(m,)`; its sign differs at `lower` and `upper`.
        lower: (B,) ends of the brackets.
        upper: likewise.
        tolerance: a bracket is narrow enough below `tolerance * max(1, |point|)`, or where the value is 0.
        iterations: most steps to take.

    Returns:
        Two points a row: the better end first, then the other end, where the sign is different (or the value 0).
    """
    everything = np.arange(len(lower))
    a, b = upper.astype(float), lower.astype(float)
    value_a, value_b = function(a, everything), function(b, everything)
    c, value_c = a.copy(), value_a.copy()
    fraction = np.full(len(a), 0.5)
    active = everything[(value_a != 0.0) & (value_b != 0.0)]
    for _ in range(iterations):
        if not len(active):
            break
        x = a[active] + fraction[active] * (b[active] - a[active])
        value = function(x, active)
        same = np.sign(value) == np.sign(value_a[active])
        c[active] = np.where(same, a[active], b[active])
        value_c[active] = np.where(same, value_a[active], value_b[active])
        b[active] = np.where(same, b[active], a[active])
        value_b[active] = np.where(same, value_b[active], value_a[active])
        a[active], value_a[active] = x, value
        width = np.abs(b[active] - a[active])
        limit = tolerance * np.maximum(1.0, np.abs(a[active]))
        active = active[(width > 2.0 * limit) & (value != 0.0)]
        fraction[active] = _fraction(a, b, c, value_a, value_b, value_c, active, tolerance)
    swap = np.abs(value_b) < np.abs(value_a)
    return np.where(swap, b, a), np.where(swap, a, b)


def _fraction(
    a: Floats,
    b: Floats,
    c: Floats,
    value_a: Floats,
    value_b: Floats,
    value_c: Floats,
    rows: RowIndices,
    tolerance: float,
) -> Floats:
    """Where to look next between a and b: inverse quadratic interpolation where it is safe, else the middle."""
    fa, fb, fc = value_a[rows], value_b[rows], value_c[rows]
    width = b[rows] - a[rows]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        xi = (a[rows] - b[rows]) / (c[rows] - b[rows])
        phi = (fa - fb) / (fc - fb)
        quadratic = fa / (fb - fa) * fc / (fb - fc) + (c[rows] - a[rows]) / width * fa / (fc - fa) * fb / (fc - fb)
        safe = (phi**2 < xi) & ((1.0 - phi) ** 2 < 1.0 - xi) & np.isfinite(quadratic)
        edge = np.minimum(0.5, tolerance * np.maximum(1.0, np.abs(a[rows])) / np.abs(width))
    return np.clip(np.where(safe, quadratic, 0.5), edge, 1.0 - edge)
