"""Inverses of growing and shrinking blocks of a symmetric matrix, compiled.

The block belongs to an active set of indices: `members[k]` is the index at position k, `place[i]` the position of index
i or -1. Only the leading `size` rows and columns of `inverse` are in use.
"""

from __future__ import annotations

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
