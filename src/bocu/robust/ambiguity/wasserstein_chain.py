"""Worst cases over Wasserstein sets of contexts on a line, compiled.

Along the line the cheapest target of a source at price l, `min_j f_j + l |x_i - x_j|`, is the source itself or that of
a neighbour: one pass from either end finds all of them (a distance transform; Felzenszwalb and Huttenlocher, 2012), in
O(n) where a matrix of costs takes O(n^2). The rest is as in `bocu.robust.ambiguity.wasserstein`.
"""

from __future__ import annotations

import numpy as np

from bocu.robust.ambiguity.compiled import Array, Index, compiled


@compiled
def find_targets(f: Array, p: Array, x: Array, price: float, targets: Array) -> tuple[float, float]:
    """Write the cheapest target of every source, the nearest where several are, into `targets` `(n,)`.

    Returns the value of the plan, payoffs and transport at this price, and the cost of its transport.
    """
    n = f.size
    best: Index = np.int64(0)
    for i in range(n):
        if f[i] <= f[best] + price * (x[i] - x[best]):
            best = np.int64(i)
        targets[i] = best
    best = np.int64(n - 1)
    value, spent = 0.0, 0.0
    for k in range(n):
        i = n - 1 - k
        if f[i] <= f[best] + price * (x[best] - x[i]):
            best = np.int64(i)
        left = targets[i]
        cost, far = x[i] - x[left], x[best] - x[i]
        total, other = f[left] + price * cost, f[best] + price * far
        if other < total or (other == total and far < cost):
            targets[i], total, cost = best, other, far
        value += p[i] * total
        spent += p[i] * cost
    return value, spent


@compiled
def find_ends(f: Array, p: Array, x: Array, dear: Array, cheap: Array) -> tuple[float, float]:
    """Write the dearest plan, all mass to the nearest minimiser, and the cheapest, none at a cost, into `(n,)` each.

    Returns the cost of the dearest and the value of the cheapest plan.
    """
    n = f.size
    last: Index = np.int64(-1)
    first: Index = np.int64(0)
    for i in range(n):
        if f[i] == 0.0:
            last = np.int64(i)
        dear[i] = last
        # Contexts at one place are one context.
        if x[i] > x[first]:
            first = np.int64(i)
        elif f[i] < f[first]:
            cheap[first] = np.int64(i)
            first = np.int64(i)
        cheap[i] = first
    last = np.int64(-1)
    dear_cost, cheap_value = 0.0, 0.0
    for k in range(n):
        i = n - 1 - k
        if f[i] == 0.0:
            last = np.int64(i)
        if dear[i] < 0 or (last >= 0 and x[last] - x[i] < x[i] - x[dear[i]]):
            dear[i] = last
        if i + 1 < n and x[i] == x[i + 1]:
            cheap[i] = cheap[i + 1]
        dear_cost += p[i] * abs(x[dear[i]] - x[i])
        cheap_value += p[i] * f[cheap[i]]
    return dear_cost, cheap_value


@compiled
def cut(F: Array, P: Array, x: Array, epsilon: float, keep: bool) -> tuple[Array, Array, Array, Array, Array]:
    """The supporting lines of H, one steeper than epsilon and one not, that meet at its maximiser, for every row.

    Args:
        F: (B, n) payoffs in the order of the line, smallest 0.
        P: (1, n) shared or (B, n) own references.
        x: (n,) increasing positions.
        epsilon: radius.
        keep: whether the plans are wanted.

    Returns:
        dear, cheap : (B, n) targets of both plans, (1, n) without meaning where they are not kept; lines : (4, B)
        height at multiplier 0 and cost of the dear line, height and cost of the cheap one; at : (B,) the multiplier
        where they meet, 0 where the floor is reached; value : (B,) of H there.
    """
    count, n = F.shape
    dear, cheap = np.empty((count if keep else 1, n), np.int64), np.empty((count if keep else 1, n), np.int64)
    lines, at, value = np.empty((4, count)), np.zeros(count), np.zeros(count)
    targets = np.empty(n, np.int64)
    rounding = 4e-15 + 0.25 * n * 2.2e-16
    for row in range(count):
        f, p = F[row], P[row if P.shape[0] > 1 else 0]
        here = row if keep else 0
        dear_height, low_cost = 0.0, 0.0
        high_cost, cheap_height = find_ends(f, p, x, dear[here], cheap[here])
        while high_cost > epsilon:
            crossing = (cheap_height - dear_height) / (high_cost - low_cost)
            best, spent = find_targets(f, p, x, crossing, targets)
            at[row], value[row] = crossing, best
            # Each new line is strictly between the two, hence there are finitely many.
            if best >= dear_height + crossing * high_cost - rounding or not low_cost < spent < high_cost:
                break
            if spent > epsilon:
                high_cost, dear_height = spent, best - crossing * spent
                dear[here, :] = targets
            else:
                low_cost, cheap_height = spent, best - crossing * spent
                cheap[here, :] = targets
        lines[0, row], lines[1, row], lines[2, row], lines[3, row] = dear_height, high_cost, cheap_height, low_cost
    return dear, cheap, lines, at, value


@compiled
def touch(F: Array, P: Array, x: Array, tau: Array) -> tuple[Array, Array, Array]:
    """Where H reaches aspirations `(B,)` above 0: multipliers, transport costs `(B,)` and targets `(B, n)` there.

    Payoffs, references and positions are as in `cut`. Newton's method from the left on a concave piecewise-linear H
    ends at the root after finitely many lines.
    """
    count, n = F.shape
    targets = np.empty((count, n), np.int64)
    cheap = np.empty(n, np.int64)
    root, radius = np.empty(count), np.empty(count)
    rounding = 4e-15 + 0.25 * n * 2.2e-16
    for row in range(count):
        f, p = F[row], P[row if P.shape[0] > 1 else 0]
        spent, _ = find_ends(f, p, x, targets[row], cheap)
        price = tau[row] / spent
        while True:
            value, spent = find_targets(f, p, x, price, targets[row])
            short = tau[row] - value
            if short <= rounding or spent <= 0.0:
                break
            price += short / spent
        root[row], radius[row] = price, spent
    return root, radius, targets
