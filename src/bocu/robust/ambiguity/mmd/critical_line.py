"""The critical line of the MMD set, compiled: the inner loop of `bocu.robust.ambiguity.mmd.maximum_mean_discrepancy`.

It follows `q(t) = argmin_{q in simplex} t f.q + |q - p|_M^2 / 2` (the portfolio path of Markowitz, 1956) until the norm
reaches a radius. On an active set S = {i : q_i > 0} everything is affine in t: with `a = M_SS^-1 1`, `b = M_SS^-1 f_S`,
`c = M_SS^-1 w_S`, `w = M_{.Z} p_Z` (Z the rest) the deviation r = q - p is `-p` on Z and
`(k0 a + c) + t (k1 a - b)` on S, and the reduced costs on Z are `z = t f + M r - nu`, `nu = k0 + t k1`. Along a piece
`|r|_M^2 = A2 t^2 + A0`, since its derivative is `-2 t f.r'`. The deviation r is carried, not q, so that small radii
keep their digits.

The path is walked from the floor (t = infinity, one context active) towards the reference: few contexts are active at
all but the smallest radii, so this end is near, and contexts without mass need no special start. The inverse of M_SS is
kept explicitly and bordered or swept by one index an event, at O(|S|^2).
"""

from __future__ import annotations

import numpy as np

from bocu.robust.ambiguity.compiled import Array, Index, compiled
from bocu.robust.ambiguity.mmd.active_set import (
    EVENT,
    LOWER,
    NEW,
    OLD,
    PASSIVE,
    R0,
    R1,
    STEP,
    Z0,
    Z1,
    A,
    B,
    C,
    U,
    W,
    drifted,
    insert,
    piece,
    refresh,
    remove,
    settle,
    sum_passive,
)
from bocu.robust.ambiguity.mmd.dense import multiply


@compiled
def _next_event(
    t: float, flipped: Index, size: Index, members: Array, x: Array, y: Array, p: Array
) -> tuple[float, Index]:
    """The largest t' <= t where an active q or a passive z reaches 0, and its context; (0, -1) if there is none.

    Overwrites z0 and z1 of members by q = p + r.
    """
    n = p.size
    for k in range(size):
        y[Z0, members[k]] = p[members[k]] + x[R0, k]
        y[Z1, members[k]] = x[R1, k]
    who: Index = np.int64(-1)
    best = 0.0
    if flipped >= 0 and -y[Z0, flipped] >= y[Z1, flipped] * t * (1.0 - 1e-9):
        # What has just changed sides sits at 0 and must not change back on the spot.
        y[Z1, flipped] = 0.0
    for i in range(n):
        y[EVENT, i] = -y[Z0, i] / y[Z1, i] if y[Z1, i] > 0.0 else 0.0
    for i in range(n):
        best = max(best, y[EVENT, i])
    if best > 0.0:
        for i in range(n):
            if y[EVENT, i] == best:
                who = i
                break
    return min(best, t), who


@compiled
def _deviation(
    t: float, size: Index, inverse: Array, members: Array, x: Array, y: Array, f: Array, p: Array, M: Array, r: Array
) -> float:
    """Write r at t and return its squared norm.

    It is solved from the right-hand side and refined, so that the path's own rounding does not enter.
    """
    n = f.size
    out, sum_a, nu = 0.0, 0.0, 0.0
    for i in range(n):
        out += y[PASSIVE, i]
        r[i] = -y[PASSIVE, i]
    for k in range(size):
        sum_a += x[A, k]
        nu += t * x[B, k] - x[C, k]
        x[OLD, k] = y[W, members[k]] - t * f[members[k]]
        x[NEW, k] = x[R0, k] + t * x[R1, k]
    nu = (out + nu) / sum_a
    for _ in range(2):
        left, shift = out, 0.0
        for k in range(size):
            row = M[members[k]]
            residual = x[OLD, k] + nu
            for m in range(size):
                residual -= row[members[m]] * x[NEW, m]
            x[U, k] = residual
            left -= x[NEW, k]
        multiply(inverse, size, x[U], x[STEP])
        for k in range(size):
            shift += x[STEP, k]
        shift = (left - shift) / sum_a
        nu += shift
        for k in range(size):
            x[NEW, k] += x[STEP, k] + shift * x[A, k]
    for i in range(n):
        y[EVENT, i] = -y[W, i]
    for k in range(size):
        # A member falls below -p by rounding only.
        r[members[k]] = max(x[NEW, k], -p[members[k]])
        row = M[members[k]]
        for i in range(n):
            y[EVENT, i] += row[i] * r[members[k]]
    norm = 0.0
    for i in range(n):
        norm += r[i] * y[EVENT, i]
    return norm


@compiled
def _start_at_floor(
    drift: float,
    inverse: Array,
    members: Array,
    place: Array,
    x: Array,
    y: Array,
    f: Array,
    p: Array,
    Mp: Array,
    M: Array,
) -> Index:
    """Activate the point of the face of minimisers (f = 0) that is nearest to p. Returns the size, -1 for failure."""
    first: Index = np.int64(-1)
    for i in range(f.size):
        place[i] = -1
        y[W, i], y[PASSIVE, i], y[LOWER, i] = Mp[i], p[i], np.nan
        if f[i] == 0.0:
            y[LOWER, i] = -p[i]
            if first < 0 or p[i] > p[first]:
                first = i
    size = insert(first, np.int64(0), inverse, members, place, x, y, f, p, M)
    return settle(drift, size, inverse, members, place, x, y, f, p, M)


@compiled
def _radius_on_piece(squared: float, A0: float, A2: float, t: float, following: float, last: bool | np.bool_) -> float:
    """Where `|r|^2 = A2 t^2 + A0` meets a squared radius: infinite on the floor, -1 beyond the piece."""
    if np.isinf(t) and squared >= A0:
        return np.inf
    if A2 * following**2 + A0 > squared and not last:
        return -1.0
    return np.sqrt(max(squared - A0, 0.0) / A2)


@compiled
def _tangent_on_piece(tau: float, level: float, A0: float, following: float) -> float:
    """Where `v + |r|^2 / t = level + A0 / t` meets tau, -1 beyond the piece."""
    if following > 0.0 and level + A0 / following < tau:
        return -1.0
    return A0 / (tau - level)


@compiled
def follow(
    F: Array, p: Array, Mp: Array, M: Array, radii: Array, tau: Array, drift: float
) -> tuple[Array, Array, Array, Array]:
    """Walk the path of every row of payoffs from the floor towards the reference.

    Args:
        F: (B, n) payoffs with minimum 0; none constant.
        p: (n,) reference.
        Mp: its product with M.
        M: (n, n) Gram matrix.
        radii: (R,) increasing positive radii to stop at.
        tau: (B,) empty, or where to stop (once) in place of the radii: `v + |r|^2 / t = tau`.
        drift: largest residual of the updated solutions before they are computed anew; 0 does so after every pivot.

    Returns:
        r : (B, R, n) deviations q - p; t : (B, R) path parameters, infinite on the floor; rate : (B, R, n) dr/dt;
        events : (B,) pivots made, -1 where the walk did not end.
    """
    count, n = F.shape
    stops = radii.size
    r, rate = np.zeros((count, stops, n)), np.zeros((count, stops, n))
    t_at, events = np.zeros((count, stops)), np.zeros(count, np.int64)
    inverse = np.empty((n, n))
    members, place = np.empty(n, np.int64), np.empty(n, np.int64)
    x, y = np.empty((9, n)), np.empty((6, n))
    for b in range(count):
        f = F[b]
        size = _start_at_floor(drift, inverse, members, place, x, y, f, p, Mp, M)
        flipped: Index = np.int64(-1)
        t, stop = np.inf, stops - 1
        while stop >= 0 and size > 0 and events[b] < 40 * n + 400:
            piece(size, members, x, y, f, M)
            # On this piece |r|^2 = A2 t^2 + A0 and v = level - A2 t.
            A0, A2, level = 0.0, 0.0, 0.0
            for i in range(n):
                A0 -= y[PASSIVE, i] * y[Z0, i]
            for k in range(size):
                A2 -= f[members[k]] * x[R1, k]
                level += f[members[k]] * (p[members[k]] + x[R0, k])
            following, who = _next_event(t, flipped, size, members, x, y, p)
            while stop >= 0:
                if tau.size > 0:
                    at = _tangent_on_piece(tau[b], level, A0, following)
                else:
                    at = _radius_on_piece(radii[stop] ** 2, A0, A2, t, following, who < 0)
                if at < 0.0:
                    break
                at = at if np.isinf(at) else min(max(at, following), t)
                if 2 * size > n:
                    sum_passive(y, M)
                finite = 0.0 if np.isinf(at) else at
                norm = _deviation(finite, size, inverse, members, x, y, f, p, M, r[b, stop])
                if tau.size == 0 and finite > 0.0:
                    # A2 and A0 are differences; Newton steps on the norm itself restore what they have lost.
                    for _ in range(2):
                        miss = radii[stop] ** 2 - norm
                        if abs(miss) <= 1e-13 * norm:
                            break
                        at += miss / (2.0 * A2 * at)
                        norm = _deviation(at, size, inverse, members, x, y, f, p, M, r[b, stop])
                t_at[b, stop] = at
                if not np.isinf(at):
                    for k in range(size):
                        rate[b, stop, members[k]] = x[R1, k]
                stop -= 1
            if stop < 0:
                break
            if place[who] >= 0:
                size = remove(who, size, inverse, members, place, x, y, p, M)
            else:
                size = insert(who, size, inverse, members, place, x, y, f, p, M)
            events[b] += 1
            flipped, t = who, following
            if drifted(drift, events[b] % size, size, members, x, f, M):
                refresh(size, inverse, members, x, y, f, M)
        if stop >= 0:
            events[b] = -1
    return r, t_at, rate, events
