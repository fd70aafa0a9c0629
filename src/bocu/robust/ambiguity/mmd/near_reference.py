"""The beginning of the MMD path, compiled: few contexts of a positive reference have lost all their mass.

The same path as in `ambiguity.mmd.critical_line`, from the other end and in the complementary variables. With N
the inverse of the Gram matrix M, centred so that its rows sum to 0, and `d = -N f`, stationarity `M r + t f - nu = z`
reads `r = t d + N z`. On the set Z of empty contexts `r = -p`, hence `z_Z = -(a + t b)`, `a = N_ZZ^-1 p_Z`,
`b = N_ZZ^-1 d_Z`. An event costs O(n |Z|).
"""

from __future__ import annotations

import numpy as np

from bocu.robust.ambiguity.compiled import Array, Index, compiled
from bocu.robust.ambiguity.mmd.dense import border, multiply, sweep


@compiled
def follow_from_reference(
    F: Array, D: Array, p: Array, N: Array, radii: Array, most: Index
) -> tuple[Array, Array, Array, Array]:
    """Walk the path of every row of payoffs from the reference, giving up where more than `most` contexts are empty.

    Args:
        F: (B, n) payoffs, none constant,.
        D: the directions `d = -N f` in which they leave the reference.
        p: (n,) positive reference.
        N: (n, n) centred inverse of the Gram matrix.
        radii: (R,) increasing positive radii to stop at.
        most: largest number of empty contexts to follow.

    Returns:
        r : (B, R, n) deviations q - p; t : (B, R) path parameters; rate : (B, R, n) dr/dt; done : (B,) whether all
        radii were reached.
    """
    count, n = F.shape
    stops = radii.size
    r, rate = np.empty((count, stops, n)), np.empty((count, stops, n))
    t_at, done = np.zeros((count, stops)), np.zeros(count, np.bool_)
    inverse = np.empty((most + 1, most + 1))
    members, place = np.empty(n, np.int64), np.empty(n, np.int64)
    vectors = np.empty((5, n))
    a, b, column, u, at = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4]
    level, slope = np.empty(n), np.empty(n)
    for row in range(count):
        f, d = F[row], D[row]
        for i in range(n):
            place[i] = -1
        size: Index = np.int64(0)
        flipped: Index = np.int64(-1)
        stop, t = 0, 0.0
        for _ in range(4 * most + 4):
            # Forms level + t slope: of q = p + r on contexts with mass, of z on empty ones.
            for i in range(n):
                level[i], slope[i] = p[i], d[i]
            for k in range(size):
                column[k], u[k] = p[members[k]], d[members[k]]
            multiply(inverse, size, column, a)
            multiply(inverse, size, u, b)
            A0, A2 = 0.0, 0.0
            for k in range(size):
                entries = N[members[k]]
                A0 += column[k] * a[k]
                for i in range(n):
                    level[i] -= a[k] * entries[i]
                    slope[i] -= b[k] * entries[i]
            for k in range(size):
                slope[members[k]] = 0.0
            for i in range(n):
                A2 -= f[i] * slope[i]
            who: Index = np.int64(-1)
            following = np.inf
            for i in range(n):
                at[i] = -level[i] / slope[i] if slope[i] < 0.0 else np.inf
            for k in range(size):
                at[members[k]] = -a[k] / b[k] if b[k] > 0.0 else np.inf
            if flipped >= 0 and at[flipped] <= t * (1.0 + 1e-9):
                at[flipped] = np.inf
            for i in range(n):
                if at[i] < following:
                    following, who = at[i], i
            following = max(following, t)
            while stop < stops and (who < 0 or A2 * following**2 + A0 >= radii[stop] ** 2):
                here = np.sqrt(max(radii[stop] ** 2 - A0, 0.0) / A2)
                here = min(max(here, t), following)
                t_at[row, stop] = here
                for i in range(n):
                    # Rounding may leave an empty or an almost empty context beside 0.
                    r[row, stop, i] = max(level[i] - p[i] + here * slope[i], -p[i])
                    rate[row, stop, i] = slope[i]
                for k in range(size):
                    r[row, stop, members[k]] = -p[members[k]]
                stop += 1
            if stop == stops:
                done[row] = True
                break
            if place[who] >= 0:
                size = sweep(place[who], size, inverse, members, place)
            elif size == most:
                break
            else:
                for k in range(size):
                    column[k] = N[who, members[k]]
                size = border(who, size, inverse, members, place, column, u, N[who, who])
            flipped, t = who, following
    return r, t_at, rate, done
