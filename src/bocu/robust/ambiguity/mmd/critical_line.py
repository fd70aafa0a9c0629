"""The critical line of the MMD set, compiled: the inner loop of `bocu.robust.ambiguity.mmd.maximum_mean_discrepancy`.

It follows `q(t) = argmin_{q in simplex} t f.q + |q - p|_M^2 / 2` (the portfolio path of Markowitz, 1956) until the norm
reaches a radius. On an active set S = {i : q_i > 0} everything is affine in t: with `a = M_SS^-1 1`, `b = M_SS^-1 f_S`,
`c = M_SS^-1 w_S`, `w = M_{.Z} p_Z` (Z the rest) the deviation r = q - p is `-p` on Z and
`(k0 a + c) + t (k1 a - b)` on S, and the reduced costs on Z are `z = t f + M r - nu`, `nu = k0 + t k1`. Along a piece
`|r|_M^2 = A2 t^2 + A0`, since its derivative is `-2 t f.r'`. The deviation r is carried, not q, so that small radii
keep their digits.

`follow` walks the path from the floor (t = infinity, one context active) towards the reference: few contexts are
active at all but the smallest radii, so this end is near, and contexts without mass need no special start. The inverse
of M_SS is kept explicitly; a context enters or leaves by one bordering or sweep of it, at O(|S|^2), and what has lost
its digits is computed anew. `follow_from_reference` walks from the other end as long as few contexts of a positive
reference have lost all their mass.

A block of a matrix belongs to an active set of indices: `members[k]` is the index at position k, `place[i]` the
position of index i or -1. Only the leading `size` rows and columns of `inverse` are in use.
"""

from __future__ import annotations

import numpy as np

from bocu.robust.ambiguity.compiled import Array, Index, compiled

# Literal integers as arguments would make numba compile each callee once more for them, hence np.int64 below.

# Rows of the work arrays: vectors by position in the active set, and vectors by context.
A, B, C, R0, R1, U, OLD, NEW, STEP = range(9)
W, Z0, Z1, LOWER, PASSIVE, EVENT = range(6)


@compiled
def _multiply(inverse: Array, size: Index, vector: Array, out: Array) -> None:
    """`out = inverse @ vector`, row by row of the symmetric inverse: no sums across vector registers."""
    for i in range(size):
        out[i] = 0.0
    for j in range(size):
        factor = vector[j]
        for i in range(size):
            out[i] += inverse[j, i] * factor


@compiled
def _border(
    j: Index, size: Index, inverse: Array, members: Array, place: Array, column: Array, u: Array, diagonal: float
) -> Index:
    """Add index j, whose entries beside the members are `column` and on the diagonal `diagonal`. Returns the new size.

    Leaves `inverse @ column` of the old inverse in `u`.
    """
    _multiply(inverse, size, column, u)
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
def _sweep(k: Index, size: Index, inverse: Array, members: Array, place: Array) -> Index:
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
def _insert(
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
    _border(j, size, inverse, members, place, x[OLD], x[U], row[j])
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
def _remove(
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
    last = _sweep(k, size, inverse, members, place)
    for v in range(3):
        x[v, k] = x[v, last]
    if p[j] != 0.0:
        row = M[j]
        y[PASSIVE, j] = p[j]
        for i in range(row.size):
            y[W, i] += row[i] * p[j]
    return last


@compiled
def _drifted(drift: float, check: Index, size: Index, members: Array, x: Array, f: Array, M: Array) -> bool:
    """Whether the updated a and b have stopped solving their systems, looked at in one row."""
    row = M[members[check]]
    a, b = -1.0, -f[members[check]]
    for k in range(size):
        a += row[members[k]] * x[A, k]
        b += row[members[k]] * x[B, k]
    return not (abs(a) < drift and abs(b) < drift)


@compiled
def _sum_passive(y: Array, M: Array) -> None:
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
def _refresh(size: Index, inverse: Array, members: Array, x: Array, y: Array, f: Array, M: Array) -> None:
    """Compute the inverse, a, b, c and w anew for the present active set."""
    block = np.empty((size, size))
    for k in range(size):
        for m in range(size):
            block[k, m] = M[members[k], members[m]]
    fresh = np.linalg.inv(block)
    _sum_passive(y, M)
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
            _multiply(inverse, size, x[OLD], x[U])
            for k in range(size):
                x[v, k] += x[U, k]


@compiled
def _piece(size: Index, members: Array, x: Array, y: Array, f: Array, M: Array) -> None:
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
def _settle(
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
    _piece(size, members, x, y, f, M)
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
        size = _insert(enter, size, inverse, members, place, x, y, f, p, M)
        x[NEW, size - 1] = y[LOWER, enter]
        while True:
            if _drifted(drift, size - 1, size, members, x, f, M):
                _refresh(size, inverse, members, x, y, f, M)
            _piece(size, members, x, y, f, M)
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
            size = _remove(members[leave], size, inverse, members, place, x, y, p, M)
    return -1


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
        _multiply(inverse, size, x[U], x[STEP])
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
    size = _insert(first, np.int64(0), inverse, members, place, x, y, f, p, M)
    return _settle(drift, size, inverse, members, place, x, y, f, p, M)


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
            _piece(size, members, x, y, f, M)
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
                    _sum_passive(y, M)
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
                size = _remove(who, size, inverse, members, place, x, y, p, M)
            else:
                size = _insert(who, size, inverse, members, place, x, y, f, p, M)
            events[b] += 1
            flipped, t = who, following
            if _drifted(drift, events[b] % size, size, members, x, f, M):
                _refresh(size, inverse, members, x, y, f, M)
        if stop >= 0:
            events[b] = -1
    return r, t_at, rate, events


@compiled
def follow_from_reference(
    F: Array, D: Array, p: Array, N: Array, radii: Array, most: Index
) -> tuple[Array, Array, Array, Array]:
    """Walk the path of every row of payoffs from the reference, giving up where more than `most` contexts are empty.

    In the complementary variables: with N the inverse of the Gram matrix M, centred so that its rows sum to 0, and
    `d = -N f`, stationarity `M r + t f - nu = z` reads `r = t d + N z`. On the set Z of empty contexts `r = -p`, hence
    `z_Z = -(a + t b)`, `a = N_ZZ^-1 p_Z`, `b = N_ZZ^-1 d_Z`. An event costs O(n |Z|).

    Args:
        F: (B, n) payoffs, none constant.
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
            _multiply(inverse, size, column, a)
            _multiply(inverse, size, u, b)
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
                size = _sweep(place[who], size, inverse, members, place)
            elif size == most:
                break
            else:
                for k in range(size):
                    column[k] = N[who, members[k]]
                size = _border(who, size, inverse, members, place, column, u, N[who, who])
            flipped, t = who, following
    return r, t_at, rate, done
