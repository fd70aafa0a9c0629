"""The MMD set by block pivoting, compiled: Newton's method on the radius and the set of contexts with mass at once.

The points are those of `ambiguity.mmd.critical_line`: `M r + t f - nu = z` with z 0 where q = p + r has mass and
not negative elsewhere. For a guess of the contexts with mass, r and z are affine in t, and t follows from the radius;
all contexts whose q or z is negative change sides, until there is none; where that turns in circles, the last of them
alone, for a while (Judice and Pires, 1994). Systems are factorised
on the smaller side: M on the contexts with mass, or its centred inverse N on those without.

Guesses come from the row before, for related decisions share most of their contexts; the first from the straight line
out of the reference. The answer is computed from the final
set alone, so that its digits do not depend on the guess. Where M is nearly singular, sets may turn in circles: a row
that does not settle is left to the critical line, and so is a radius that reaches the floor.
"""

from __future__ import annotations

import numpy as np

from bocu.robust.ambiguity.compiled import Array, Index, compiled
from bocu.robust.ambiguity.mmd.dense import factorise, solve_factorised

# Rows of the work array: z or q by context, at t = 0 and its rate, then right-hand sides.
_R0, _R1, _Z0, _Z1, _X, _Y, _W, _SUM = range(8)

#: Turns in which the number of contexts on the wrong side may fail to fall below its least.
_PATIENCE = 8

#: Turns that follow, in each of which only the last of them changes sides, until there are fewer.
_ALONE = 24

#: In payoff ranges, what a reduced cost may fall below 0 by where rounding keeps a set from settling.
_LOOSE = 1e-11

#: Rows before one among which the most similar is looked for.
_REMEMBERED = 64


@compiled
def _with_mass(inside: Array, f: Array, p: Array, M: Array, block: Array, at: Array, v: Array) -> float:
    """Write r and z at t = 0 and their rates, from M on the contexts with mass. Returns A0 of `|r|^2 = A2 t^2 + A0`."""
    n = f.size
    size: Index = np.int64(0)
    out = 0.0
    for i in range(n):
        v[_W, i] = 0.0
    for i in range(n):
        if inside[i]:
            at[size] = i
            size += 1
        elif p[i] != 0.0:
            out += p[i]
            row = M[i]
            for k in range(n):
                v[_W, k] += p[i] * row[k]
    for a in range(size):
        row = M[at[a]]
        for b in range(a, size):
            block[a, b] = row[at[b]]
        v[_SUM, a], v[_X, a], v[_Y, a] = 1.0, v[_W, at[a]], f[at[a]]
    factorise(block, size)
    solve_factorised(block, size, v[_SUM])
    solve_factorised(block, size, v[_X])
    solve_factorised(block, size, v[_Y])
    ones, passive, payoff = 0.0, 0.0, 0.0
    for a in range(size):
        ones += v[_SUM, a]
        passive += v[_X, a]
        payoff += v[_Y, a]
    k0, k1 = (out - passive) / ones, payoff / ones
    for i in range(n):
        v[_R0, i], v[_R1, i] = -p[i], 0.0
        v[_Z0, i] = -v[_W, i] - k0
        v[_Z1, i] = f[i] - k1
    for a in range(size):
        c, d = k0 * v[_SUM, a] + v[_X, a], k1 * v[_SUM, a] - v[_Y, a]
        v[_R0, at[a]], v[_R1, at[a]] = c, d
        row = M[at[a]]
        for i in range(n):
            v[_Z0, i] += c * row[i]
            v[_Z1, i] += d * row[i]
    A0 = 0.0
    for i in range(n):
        if not inside[i]:
            A0 -= p[i] * v[_Z0, i]
    return A0


@compiled
def _without_mass(inside: Array, d: Array, p: Array, N: Array, block: Array, at: Array, v: Array) -> float:
    """The same from the centred inverse N on the contexts without mass: `r = t d + N z`, `d = -N f`."""
    n = d.size
    size: Index = np.int64(0)
    for i in range(n):
        v[_R0, i], v[_R1, i], v[_Z0, i], v[_Z1, i] = 0.0, d[i], 0.0, 0.0
        if not inside[i]:
            v[_X, size], v[_Y, size] = p[i], d[i]
            at[size] = i
            size += 1
    for a in range(size):
        row = N[at[a]]
        for b in range(a, size):
            block[a, b] = row[at[b]]
    factorise(block, size)
    solve_factorised(block, size, v[_X])
    solve_factorised(block, size, v[_Y])
    A0 = 0.0
    for a in range(size):
        x, y = v[_X, a], v[_Y, a]
        A0 += x * p[at[a]]
        row = N[at[a]]
        for i in range(n):
            v[_R0, i] -= x * row[i]
            v[_R1, i] -= y * row[i]
    for a in range(size):
        i = at[a]
        v[_R0, i], v[_R1, i], v[_Z0, i], v[_Z1, i] = -p[i], 0.0, -v[_X, a], -v[_Y, a]
    return A0


@compiled
def _settle(
    radius: float,
    inside: Array,
    f: Array,
    d: Array,
    p: Array,
    M: Array,
    N: Array,
    block: Array,
    at: Array,
    v: Array,
) -> float:
    """Pivot until the set is right. Returns t, or -1 where it did not settle."""
    n = f.size
    best, patience = n + 1, 0
    while True:
        size = 0
        for i in range(n):
            size += inside[i]
        if size == 0:
            return -1.0
        if 2 * size <= n:
            A0 = _with_mass(inside, f, p, M, block, at, v)
        else:
            A0 = _without_mass(inside, d, p, N, block, at, v)
        A2, largest = 0.0, 0.0
        for i in range(n):
            A2 -= f[i] * v[_R1, i]
        room = radius * radius - A0
        t = np.sqrt(room / A2) if room > 0.0 and A2 > 0.0 else 0.0
        for i in range(n):
            v[_X, i] = v[_R0, i] + t * v[_R1, i]
            largest = max(largest, abs(v[_X, i]))
        # Late, rounding alone is no reason to go on.
        loose = patience > _PATIENCE // 2
        least_q = -1e-13 * largest if loose else 0.0
        least_z = -_LOOSE * t if loose else 0.0
        wrong, last = 0, -1
        all_sides = patience <= _PATIENCE
        for i in range(n):
            if (inside[i] and p[i] + v[_X, i] < least_q) or (not inside[i] and v[_Z0, i] + t * v[_Z1, i] < least_z):
                wrong, last = wrong + 1, i
                if all_sides:
                    inside[i] = not inside[i]
        if wrong == 0:
            return t if t > 0.0 else -1.0
        if not all_sides:
            inside[last] = not inside[last]
        patience += 1
        if wrong < best:
            best, patience = wrong, 0
        elif patience > _PATIENCE + _ALONE:
            return -1.0


@compiled
def _correct(size: Index, inside: Array, residual: Array, N: Array, block: Array, at: Array, v: Array) -> None:
    """Write to `v[_Y]` the step on the contexts with mass that takes a residual away, with a sum of 0.

    `block` and `at` are those of the last system that was factorised.
    """
    n = inside.size
    for i in range(n):
        v[_Y, i] = 0.0
    if 2 * size <= n:
        steps, ones = 0.0, 0.0
        for a in range(size):
            v[_Z0, a], v[_Z1, a] = residual[at[a]], 1.0
        solve_factorised(block, size, v[_Z0])
        solve_factorised(block, size, v[_Z1])
        for a in range(size):
            steps += v[_Z0, a]
            ones += v[_Z1, a]
        for a in range(size):
            v[_Y, at[a]] = v[_Z1, a] * (steps / ones) - v[_Z0, a]
        return
    for j in range(n):
        if inside[j]:
            for i in range(n):
                v[_Y, i] -= residual[j] * N[j, i]
    empty: Index = n - size
    for a in range(empty):
        v[_Z0, a] = v[_Y, at[a]]
    solve_factorised(block, empty, v[_Z0])
    for a in range(empty):
        row = N[at[a]]
        for i in range(n):
            v[_Y, i] -= v[_Z0, a] * row[i]
    for a in range(empty):
        v[_Y, at[a]] = 0.0


@compiled
def _polish(
    t: float, radius: float, inside: Array, f: Array, p: Array, M: Array, N: Array, block: Array, at: Array, v: Array
) -> float:
    """Refine r, in `v[_X]`, and t with it: nearly singular systems lose digits that M restores. Returns t."""
    n = f.size
    size: Index = np.int64(0)
    residual, image = v[_W], v[_SUM]
    nu, left, mass = 0.0, 0.0, 0.0
    for i in range(n):
        image[i] = 0.0
    for j in range(n):
        row = M[j]
        for i in range(n):
            image[i] += v[_X, j] * row[i]
    for i in range(n):
        left -= v[_X, i]
        if inside[i]:
            size += 1
            nu += image[i] + t * f[i]
            mass += p[i] + v[_X, i]
    for i in range(n):
        residual[i] = image[i] + t * f[i] - nu / size
    _correct(size, inside, residual, N, block, at, v)
    for j in range(n):
        if inside[j]:
            step, row = v[_Y, j] + left / mass * (p[j] + v[_X, j]), M[j]
            v[_X, j] += step
            for i in range(n):
                image[i] += step * row[i]
    norm, A2 = 0.0, 0.0
    for i in range(n):
        norm += v[_X, i] * image[i]
        A2 -= f[i] * v[_R1, i]
    change = (radius * radius - norm) / (2.0 * A2 * t)
    for i in range(n):
        v[_X, i] += change * v[_R1, i]
    return t + change


@compiled
def _nearest(b: Index, F: Array, known: Array) -> Index:
    """The settled one of the rows before b whose payoffs are nearest to it, -1 where there is none."""
    best, nearest = np.inf, np.int64(-1)
    for k in range(max(0, b - _REMEMBERED), b):
        if known[k].all():
            apart = 0.0
            for i in range(F.shape[1]):
                apart += (F[k, i] - F[b, i]) ** 2
            if apart < best:
                best, nearest = apart, np.int64(k)
    return nearest


@compiled
def pivot(F: Array, D: Array, p: Array, M: Array, N: Array, radii: Array) -> tuple[Array, Array, Array, Array]:
    """Points of every row of payoffs at the radii.

    Args:
        F: (B, n) payoffs with minimum 0; none constant.
        D: (B, n) the directions `-N f` in which they leave a reference with mass everywhere.
        p: (n,) reference.
        M: (n, n) Gram matrix.
        N: (n, n) its centred inverse.
        radii: (R,) positive radii.

    Returns:
        r : (B, R, n) deviations q - p; t : (B, R) path parameters; rate : (B, R, n) dr/dt; solved : (B,) whether the
        row settled at all radii.
    """
    count, n = F.shape
    stops = radii.size
    r, rate = np.zeros((count, stops, n)), np.zeros((count, stops, n))
    t_at, solved = np.zeros((count, stops)), np.zeros(count, np.bool_)
    block, at, v = np.empty((n, n)), np.empty(n, np.int64), np.empty((8, n))
    inside = np.empty(n, np.bool_)
    kept, known = np.empty((count, stops, n), np.bool_), np.zeros((count, stops), np.bool_)
    for b in range(count):
        f, d = F[b], D[b]
        A2 = 0.0
        for i in range(n):
            A2 -= f[i] * d[i]
        settled = 0
        near = _nearest(b, F, known)
        for stop in range(stops):
            t = -1.0
            if near >= 0:
                for i in range(n):
                    inside[i] = kept[near, stop, i]
                t = _settle(radii[stop], inside, f, d, p, M, N, block, at, v)
            if t < 0.0:
                for i in range(n):
                    inside[i] = p[i] + radii[stop] / np.sqrt(A2) * d[i] > 0.0
                t = _settle(radii[stop], inside, f, d, p, M, N, block, at, v)
            if t < 0.0:
                break
            kept[b, stop], known[b, stop] = inside, True
            t_at[b, stop] = _polish(t, radii[stop], inside, f, p, M, N, block, at, v)
            for i in range(n):
                r[b, stop, i] = max(v[_X, i], -p[i]) if inside[i] else -p[i]
                rate[b, stop, i] = v[_R1, i]
            settled += 1
        solved[b] = settled == stops
    return r, t_at, rate, solved
