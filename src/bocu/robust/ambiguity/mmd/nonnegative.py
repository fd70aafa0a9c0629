"""Non-negative quadratic programmes, `max 2 b.x - x'Cx over x >= 0` with C positive definite, compiled.

The active-set method of Lawson and Hanson (1974), from any feasible point: at its end the members are the positive
entries of x. The upper Cholesky factor R of C on the members, `R'R = C`, and `z = R'^-1 b` gain or lose one member a
step, at O(members^2), and the value of the programme on the members alone is `|z|^2`. Started from the answer for other
payoffs, it takes about as many steps as the answers differ in members.
"""

from __future__ import annotations

import numpy as np

from bocu.robust.ambiguity.compiled import Array, Index, compiled

#: Of the products of C with x, relative to the sum of their terms.
_ROUNDING = 64 * np.finfo(float).eps


@compiled
def _begin(size: Index, factor: Array, members: Array, z: Array, C: Array, b: Array) -> None:
    """Factorise for the members."""
    block = np.empty((size, size))
    for i in range(size):
        for k in range(size):
            block[i, k] = C[members[i], members[k]]
    lower = np.linalg.cholesky(block)
    for i in range(size):
        z[i] = b[members[i]]
        for k in range(i, size):
            factor[i, k] = lower[k, i]
    for i in range(size):
        z[i] /= factor[i, i]
        for k in range(i + 1, size):
            z[k] -= z[i] * factor[i, k]


@compiled
def _add(j: Index, size: Index, factor: Array, members: Array, z: Array, C: Array, b: Array, column: Array) -> Index:
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
def _drop(k: Index, size: Index, factor: Array, members: Array, z: Array, x: Array) -> Index:
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
def _unconstrained(size: Index, factor: Array, z: Array, y: Array) -> None:
    """Write the solution on the members, whatever its signs: `R y = z`."""
    for i in range(size - 1, -1, -1):
        rest = z[i]
        for k in range(i + 1, size):
            rest -= factor[i, k] * y[k]
        y[i] = rest / factor[i, i]


@compiled
def _gradient(size: Index, members: Array, x: Array, C: Array, b: Array, out: Array) -> None:
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
def _maximise(b: Array, C: Array, x: Array, enough: float, tolerance: float, factor: Array) -> float:
    """Maximise for one row, see `maximise_nonnegative`; `factor` (n, n) is work space."""
    n = b.size
    members = np.empty(n, np.int64)
    inside = np.zeros(n, np.bool_)
    # By position among the members: the point, where it heads for, and the work of the factor.
    at, ahead, z, column = np.zeros(n), np.empty(n), np.empty(n), np.empty(n)
    gradient = np.empty(n)
    largest = 0.0
    for i in range(n):
        largest = max(largest, C[i, i])
    size: Index = np.int64(0)
    for i in range(n):
        if x[i] > 0.0:
            members[size], at[size], inside[i] = i, x[i], True
            size += 1
            x[i] = 0.0
    if size > 0:
        _begin(size, factor, members, z, C, b)
    for _ in range(40 * n + 400):
        while size > 0:
            _unconstrained(size, factor, z, ahead)
            # As far towards it as all entries stay positive; the first to vanish is no member any more.
            leave: Index = np.int64(-1)
            step = 1.0
            for k in range(size):
                if ahead[k] <= 0.0:
                    reached = at[k] / (at[k] - ahead[k]) if at[k] > 0.0 else 0.0
                    if leave < 0 or reached < step:
                        leave, step = k, reached
            for k in range(size):
                at[k] += step * (ahead[k] - at[k])
            if leave < 0:
                break
            # What has just come in vanishes by rounding only, and stays out from then on.
            inside[members[leave]] = leave == size - 1 and step == 0.0
            size = _drop(leave, size, factor, members, z, at)
        value, total = 0.0, 0.0
        for k in range(size):
            value += z[k] * z[k]
            total += at[k]
        enter: Index = np.int64(-1)
        if value < enough:
            _gradient(size, members, at, C, b, gradient)
            best = tolerance + _ROUNDING * largest * total
            for i in range(n):
                if not inside[i] and gradient[i] > best:
                    enter, best = i, gradient[i]
        if enter < 0:
            for k in range(size):
                x[members[k]] = at[k]
            return value
        at[size] = 0.0
        size = _add(enter, size, factor, members, z, C, b, column)
        inside[enter] = True
    return np.nan


@compiled
def maximise_nonnegative(b: Array, C: Array, x: Array, enough: Array, tolerance: Array) -> Array:
    """Maximise `2 b.x - x'Cx` over x >= 0 for every row of b, whatever the other rows.

    Args:
        b: (B, n).
        C: (n, n) symmetric positive definite.
        x: (B, n) points to start from, 0 or more; overwritten by the maximisers, or by points that are `enough`.
        enough: (B,) values at which to stop short of the maximum.
        tolerance: (B,) largest half of the objective's derivative in an entry that is left at 0.

    Returns:
        (B,) the values there, NaN where rounding kept the search from an end.
    """
    value = np.empty(b.shape[0])
    factor = np.empty(C.shape)
    for row in range(b.shape[0]):
        value[row] = _maximise(b[row], C, x[row], enough[row], tolerance[row], factor)
    return value
