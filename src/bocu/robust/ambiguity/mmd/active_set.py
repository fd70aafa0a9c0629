"""The active set of a quadratic programme over the simplex, compiled: what the critical line is solved on.

On the active set everything is affine in the path's parameter t, as `ambiguity.mmd.critical_line` says in the
symbols that are used here. A context enters or leaves by one bordering or sweep of the inverse, at O(|S|^2); what has
lost its digits is computed anew.
"""

from __future__ import annotations

import numpy as np

from bocu.robust.ambiguity.compiled import Array, Index, compiled
from bocu.robust.ambiguity.mmd.dense import border, multiply, sweep

# Literal integers as arguments would make numba compile each callee once more for them, hence np.int64 below.

# Rows of the work arrays: vectors by position in the active set, and vectors by context.
A, B, C, R0, R1, U, OLD, NEW, STEP = range(9)
W, Z0, Z1, LOWER, PASSIVE, EVENT = range(6)


@compiled
def insert(
    j: Index,
    size: Index,
    inverse: Array,
    members: Array,
    place: Array,
    x: Array,
    y: Array,
    f: Array,
    p: Array,
    M: Array,
) -> Index:
    """Make context j active: border the inverse, update a, b, c and w. Returns the new size."""
    row = M[j]
    for i in range(size):
        x[OLD, i] = row[members[i]]
    border(j, size, inverse, members, place, x[OLD], x[U], row[j])
    dot_a, dot_b, dot_c = 1.0, f[j], y[W, j] - row[j] * p[j]
    for i in range(size):
        x[C, i] -= x[U, i] * p[j]
        dot_a -= x[OLD, i] * x[A, i]
        dot_b -= x[OLD, i] * x[B, i]
        dot_c -= x[OLD, i] * x[C, i]
    scale = inverse[size, size]
    a, b, c = scale * dot_a, scale * dot_b, scale * dot_c
    for i in range(size):
        x[A, i] -= x[U, i] * a
        x[B, i] -= x[U, i] * b
        x[C, i] -= x[U, i] * c
    x[A, size], x[B, size], x[C, size] = a, b, c
    if p[j] != 0.0:
        y[PASSIVE, j] = 0.0
        for i in range(row.size):
            y[W, i] -= row[i] * p[j]
    return size + 1


@compiled
def remove(
    j: Index, size: Index, inverse: Array, members: Array, place: Array, x: Array, y: Array, p: Array, M: Array
) -> Index:
    """Make context j passive: sweep it out of the inverse and move the last member to its place."""
    k = place[j]
    scale = 1.0 / inverse[k, k]
    a, b, c = x[A, k] * scale, x[B, k] * scale, (x[C, k] + p[j]) * scale
    for i in range(size):
        x[A, i] -= inverse[k, i] * a
        x[B, i] -= inverse[k, i] * b
        x[C, i] -= inverse[k, i] * c
    last = sweep(k, size, inverse, members, place)
    for v in range(3):
        x[v, k] = x[v, last]
    if p[j] != 0.0:
        row = M[j]
        y[PASSIVE, j] = p[j]
        for i in range(row.size):
            y[W, i] += row[i] * p[j]
    return last


@compiled
def drifted(drift: float, check: Index, size: Index, members: Array, x: Array, f: Array, M: Array) -> bool:
    """Whether the updated a and b have stopped solving their systems, looked at in one row."""
    row = M[members[check]]
    a, b = -1.0, -f[members[check]]
    for k in range(size):
        a += row[members[k]] * x[A, k]
        b += row[members[k]] * x[B, k]
    return not (abs(a) < drift and abs(b) < drift)


@compiled
def sum_passive(y: Array, M: Array) -> None:
    """Compute w anew: the running one has lost its digits where hardly any mass is passive."""
    n = M.shape[0]
    for i in range(n):
        y[W, i] = 0.0
    for j in range(n):
        mass = y[PASSIVE, j]
        if mass != 0.0:
            for i in range(n):
                y[W, i] += M[j, i] * mass


@compiled
def refresh(size: Index, inverse: Array, members: Array, x: Array, y: Array, f: Array, M: Array) -> None:
    """Compute the inverse, a, b, c and w anew for the present active set."""
    block = np.empty((size, size))
    for k in range(size):
        for m in range(size):
            block[k, m] = M[members[k], members[m]]
    fresh = np.linalg.inv(block)
    sum_passive(y, M)
    for k in range(size):
        for m in range(size):
            inverse[k, m] = 0.5 * (fresh[k, m] + fresh[m, k])
    for v in range(3):
        for k in range(size):
            x[v, k] = 0.0
    for _ in range(2):
        for v in range(3):
            for k in range(size):
                residual = 1.0 if v == A else f[members[k]] if v == B else y[W, members[k]]
                for m in range(size):
                    residual -= block[k, m] * x[v, m]
                x[OLD, k] = residual
            multiply(inverse, size, x[OLD], x[U])
            for k in range(size):
                x[v, k] += x[U, k]


@compiled
def piece(size: Index, members: Array, x: Array, y: Array, f: Array, M: Array) -> None:
    """Affine forms on the present active set: r0, r1 on its members; z0, z1, meaningful elsewhere."""
    n = f.size
    out, sum_a, sum_b, sum_c = 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        out += y[PASSIVE, i]
    for k in range(size):
        sum_a += x[A, k]
        sum_b += x[B, k]
        sum_c += x[C, k]
    k0, k1 = (out - sum_c) / sum_a, sum_b / sum_a
    for k in range(size):
        x[R0, k] = k0 * x[A, k] + x[C, k]
        x[R1, k] = k1 * x[A, k] - x[B, k]
    for i in range(n):
        y[Z0, i] = -y[W, i] - k0
        y[Z1, i] = f[i] - k1
    # Two members at a time: half the traffic on z0 and z1.
    for k in range(0, size - 1, 2):
        row, next_row = M[members[k]], M[members[k + 1]]
        a, b, c, d = x[R0, k], x[R1, k], x[R0, k + 1], x[R1, k + 1]
        for i in range(n):
            y[Z0, i] += row[i] * a + next_row[i] * c
            y[Z1, i] += row[i] * b + next_row[i] * d
    if size % 2 == 1:
        row = M[members[size - 1]]
        a, b = x[R0, size - 1], x[R1, size - 1]
        for i in range(n):
            y[Z0, i] += row[i] * a
            y[Z1, i] += row[i] * b


@compiled
def settle(
    drift: float,
    size: Index,
    inverse: Array,
    members: Array,
    place: Array,
    x: Array,
    y: Array,
    f: Array,
    p: Array,
    M: Array,
) -> Index:
    """The point of the face of minimisers nearest to p, by an active-set method for a convex quadratic programme.

    Lower bounds are in `y[LOWER]`, NaN for contexts that stay out. Returns the size of the active set, or -1 if it was
    not found.
    """
    n = f.size
    piece(size, members, x, y, f, M)
    for k in range(size):
        x[NEW, k] = x[R0, k]
    for _ in range(40 * n + 400):
        enter: Index = np.int64(-1)
        best = -1e-13
        for i in range(n):
            if place[i] < 0 and y[Z0, i] < best and not np.isnan(y[LOWER, i]):
                enter, best = i, y[Z0, i]
        if enter < 0:
            return size
        size = insert(enter, size, inverse, members, place, x, y, f, p, M)
        x[NEW, size - 1] = y[LOWER, enter]
        while True:
            if drifted(drift, size - 1, size, members, x, f, M):
                refresh(size, inverse, members, x, y, f, M)
            piece(size, members, x, y, f, M)
            leave: Index = np.int64(-1)
            step = 1.0
            for i in range(size):
                bound = y[LOWER, members[i]]
                if x[R0, i] < bound:
                    now = (x[NEW, i] - bound) / (x[NEW, i] - x[R0, i])
                    if now < step:
                        leave, step = i, now
            for i in range(size):
                x[NEW, i] += step * (x[R0, i] - x[NEW, i])
            if leave < 0:
                break
            x[NEW, leave] = x[NEW, size - 1]
            size = remove(members[leave], size, inverse, members, place, x, y, p, M)
    return -1
