"""Non-negative quadratic programmes, `max 2 b.x - x'Cx over x >= 0` with C positive definite, compiled.

The active-set method of Lawson and Hanson (1974), from any feasible point: at its end the members are the positive
entries of x. The upper Cholesky factor R of C on the members, `R'R = C`, and `z = R'^-1 b` gain or lose one member a
step, at O(members^2), and the value of the programme on the members alone is `|z|^2`. Started from the answer for other
payoffs, it takes about as many steps as the answers differ in members.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bocu.ambiguity.compiled import compiled

#: Of the products of C with x, relative to the sum of their terms.
_ROUNDING = 64 * np.finfo(float).eps


@compiled
def _begin(start: Any, factor: Any, members: Any, z: Any, C: Any, b: Any) -> int:
    """Factorise for the members `start`. Returns their number."""
    size = start.size
    block = np.empty((size, size))
    for i in range(size):
        members[i] = start[i]
        for k in range(size):
            block[i, k] = C[start[i], start[k]]
    lower = np.linalg.cholesky(block)
    for i in range(size):
        z[i] = b[start[i]]
        for k in range(i, size):
            factor[i, k] = lower[k, i]
    for i in range(size):
        z[i] /= factor[i, i]
        for k in range(i + 1, size):
            z[k] -= z[i] * factor[i, k]
    return size


@compiled
def _add(j: int, size: int, factor: Any, members: Any, z: Any, C: Any, b: Any, column: Any) -> int:
    """Make j the last member, unless C is singular with it by rounding. Returns the number of members."""
    for i in range(size):
        column[i] = C[j, members[i]]
    squared, rest = C[j, j], b[j]
    for i in range(size):
        entry = column[i] / factor[i, i]
        for k in range(i + 1, size):
            column[k] -= entry * factor[i, k]
        factor[i, size] = entry
        squared -= entry * entry
        rest -= entry * z[i]
    if not squared > 0.0:
        return size
    factor[size, size] = np.sqrt(squared)
    z[size] = rest / factor[size, size]
    members[size] = j
    return size + 1


@compiled
def _drop(k: int, size: int, factor: Any, members: Any, z: Any, x: Any) -> int:
    """Take out the member at position k; rotations make the factor triangular again. Returns the number of members."""
    for i in range(k, size - 1):
        members[i], x[i] = members[i + 1], x[i + 1]
    for i in range(size):
        for m in range(max(k, i - 1), size - 1):
            factor[i, m] = factor[i, m + 1]
    for i in range(k, size - 1):
        length = np.hypot(factor[i, i], factor[i + 1, i])
        cosine, sine = factor[i, i] / length, factor[i + 1, i] / length
        factor[i, i] = length
        for m in range(i + 1, size - 1):
            turned = cosine * factor[i, m] + sine * factor[i + 1, m]
            factor[i + 1, m] = cosine * factor[i + 1, m] - sine * factor[i, m]
            factor[i, m] = turned
        turned = cosine * z[i] + sine * z[i + 1]
        z[i + 1] = cosine * z[i + 1] - sine * z[i]
        z[i] = turned
    return size - 1


@compiled
def _unconstrained(size: int, factor: Any, z: Any, y: Any) -> None:
    """Write the solution on the members, whatever its signs: `R y = z`."""
    for i in range(size - 1, -1, -1):
        rest = z[i]
        for k in range(i + 1, size):
            rest -= factor[i, k] * y[k]
        y[i] = rest / factor[i, i]


@compiled
def _gradient(size: int, members: Any, x: Any, C: Any, b: Any, out: Any) -> None:
    """Write `b - C x`, two members at a time: half the traffic on `out`."""
    for i in range(b.size):
        out[i] = b[i]
    for k in range(0, size - 1, 2):
        row, next_row = C[members[k]], C[members[k + 1]]
        first, second = x[k], x[k + 1]
        for i in range(b.size):
            out[i] -= row[i] * first + next_row[i] * second
    if size % 2 == 1:
        row, first = C[members[size - 1]], x[size - 1]
        for i in range(b.size):
            out[i] -= row[i] * first


@compiled
def maximise_nonnegative(
    b: Any, C: Any, start: Any, at_start: Any, enough: float, tolerance: float, factor: Any, out: Any
) -> float:
    """Maximise `2 b.x - x'Cx` over x >= 0.

    Parameters
    ----------
    b, C
        (n,) and (n, n) symmetric positive definite.
    start, at_start
        (k,) indices and the positive values there of a point to start from.
    enough
        value at which to stop short of the maximum.
    tolerance
        largest half of the objective's derivative in an entry that is left at 0.
    factor
        (n, n) work space.
    out
        (n,) zeros, in which the maximiser is written, or a point that reaches `enough`.

    Returns
    -------
    The value there.
    """
    n = b.size
    members = np.empty(n, np.int64)
    inside = np.zeros(n, np.bool_)
    x, y, z, column, gradient = np.zeros(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    largest = 0.0
    for i in range(n):
        largest = max(largest, C[i, i])
    size: Any = np.int64(0)
    if start.size > 0:
        size = _begin(start, factor, members, z, C, b)
    for k in range(size):
        x[k] = at_start[k]
        inside[members[k]] = True
    while True:
        while size > 0:
            _unconstrained(size, factor, z, y)
            # As far towards it as all entries stay positive; the first to vanish is no member any more.
            leave: Any = np.int64(-1)
            step = 1.0
            for k in range(size):
                if y[k] <= 0.0:
                    reached = x[k] / (x[k] - y[k]) if x[k] > 0.0 else 0.0
                    if leave < 0 or reached < step:
                        leave, step = k, reached
            for k in range(size):
                x[k] += step * (y[k] - x[k])
            if leave < 0:
                break
            # What has just come in vanishes by rounding only, and stays out from then on.
            inside[members[leave]] = leave == size - 1 and step == 0.0
            size = _drop(leave, size, factor, members, z, x)
        value, total = 0.0, 0.0
        for k in range(size):
            value += z[k] * z[k]
            total += x[k]
        enter: Any = np.int64(-1)
        if value < enough:
            _gradient(size, members, x, C, b, gradient)
            best = tolerance + _ROUNDING * largest * total
            for i in range(n):
                if not inside[i] and gradient[i] > best:
                    enter, best = i, gradient[i]
        if enter < 0:
            for k in range(size):
                out[members[k]] = x[k]
            return value
        x[size] = 0.0
        size = _add(enter, size, factor, members, z, C, b, column)
        inside[enter] = True
