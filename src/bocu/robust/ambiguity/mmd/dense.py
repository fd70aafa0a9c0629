"""Inverses of growing and shrinking blocks of a symmetric matrix, compiled.

The block belongs to an active set of indices: `members[k]` is the index at position k, `place[i]` the position of index
i or -1. Only the leading `size` rows and columns of `inverse` are in use.
"""

from __future__ import annotations

import numpy as np

from bocu.robust.ambiguity.compiled import Array, Index, compiled


@compiled
def multiply(inverse: Array, size: Index, vector: Array, out: Array) -> None:
    """`out = inverse @ vector`, row by row of the symmetric inverse: no sums across vector registers."""
    for i in range(size):
        out[i] = 0.0
    for j in range(size):
        factor = vector[j]
        for i in range(size):
            out[i] += inverse[j, i] * factor


@compiled
def border(
    j: Index, size: Index, inverse: Array, members: Array, place: Array, column: Array, u: Array, diagonal: float
) -> Index:
    """Add index j, whose entries beside the members are `column` and on the diagonal `diagonal`. Returns the new size.

    Leaves `inverse @ column` of the old inverse in `u`.
    """
    multiply(inverse, size, column, u)
    pivot = diagonal
    for i in range(size):
        pivot -= column[i] * u[i]
    scale = 1.0 / pivot
    for i in range(size):
        factor = u[i] * scale
        for k in range(size):
            inverse[i, k] += factor * u[k]
        inverse[i, size] = -factor
        inverse[size, i] = -factor
    inverse[size, size] = scale
    members[size] = j
    place[j] = size
    return size + 1


@compiled
def sweep(k: Index, size: Index, inverse: Array, members: Array, place: Array) -> Index:
    """Take out the member at position k and move the last member to its position. Returns the new size."""
    last = size - 1
    scale = 1.0 / inverse[k, k]
    for i in range(size):
        if i != k:
            factor = inverse[i, k] * scale
            for m in range(size):
                inverse[i, m] -= factor * inverse[k, m]
    place[members[k]] = -1
    if k != last:
        for i in range(size):
            inverse[k, i] = inverse[last, i]
        for i in range(size):
            inverse[i, k] = inverse[i, last]
        inverse[k, k] = inverse[last, last]
        members[k] = members[last]
        place[members[k]] = k
    return last


@compiled
def factorise(matrix: Array, size: Index) -> None:
    """Overwrite the upper triangle of a positive definite block by its factor R, `R'R`, the diagonal inverted.

    Four rows at a time, so that each entry below is loaded and stored once for all four.
    """
    done: Index = np.int64(0)
    while done < size:
        panel = min(4, size - done)
        for i in range(done, done + panel):
            for j in range(done, i):
                factor = matrix[j, i]
                for k in range(i, size):
                    matrix[i, k] -= factor * matrix[j, k]
            matrix[i, i] = 1.0 / np.sqrt(matrix[i, i])
            for k in range(i + 1, size):
                matrix[i, k] *= matrix[i, i]
        if panel == 4:
            a, b, c, d = matrix[done], matrix[done + 1], matrix[done + 2], matrix[done + 3]
            for i in range(done + 4, size):
                row = matrix[i]
                p, q, r, s = a[i], b[i], c[i], d[i]
                for k in range(i, size):
                    row[k] -= p * a[k] + q * b[k] + r * c[k] + s * d[k]
        done += panel


@compiled
def solve_factorised(factor: Array, size: Index, x: Array) -> None:
    """Overwrite x by the solution of the system that `factorise` has factorised."""
    for j in range(size):
        x[j] *= factor[j, j]
        for k in range(j + 1, size):
            x[k] -= factor[j, k] * x[j]
    for j in range(size - 1, -1, -1):
        rest = x[j]
        for k in range(j + 1, size):
            rest -= factor[j, k] * x[k]
        x[j] = rest * factor[j, j]
