"""Worst cases of total variation as machine code: what numpy does in some thirty calls, to its last digit, in one.

Written for numba, which compiles it in a process of its own (`bocu.ambiguity.object_code`); arrays are plain memory,
row after row. Sums of a row are added up as `numpy.add.reduce` does, products as `numpy.einsum` does on x86. The caller
sorts and takes the expectation: the order of equal payoffs is numpy's own, that of the expectation's sum BLAS's.
"""

from __future__ import annotations

from bocu.ambiguity.object_code import Indices, Reals

#: What is wanted of the rows: each number stands for those below it, too.
VALUE, DISTRIBUTION, RATE = range(3)


def moved_mass(
    f: Reals,
    order: Indices,
    p: Reals,
    p_step: int,
    mean: Reals,
    half: Reals,
    radii: int,
    rows: int,
    n: int,
    scratch: Reals,
    value: Reals,
    slope: Reals,
    distribution: Reals,
    rate: Reals,
    wanted: int,
) -> None:
    """Solve rows that span [0, 1], as `TotalVariation.solve` does.

    Args:
        f: (rows, n) payoffs.
        order: (rows, n) contexts of each row, largest payoffs first, those of equal ones as numpy sorts them.
        p: (1, n) or (rows, n) references.
        p_step: from one row's reference to the next, 0 or n.
        mean: (rows,) expectations.
        half: (radii,) halves of the radii.
        radii: number of them; 1 unless values alone are wanted.
        rows: number of rows.
        n: number of contexts.
        scratch: (4, n) to work in.
        value: (rows, radii) written.
        slope: (rows,) written.
        distribution: (rows, n) written from `DISTRIBUTION` on.
        rate: (rows, n) written under `RATE`.
        wanted: `VALUE`, `DISTRIBUTION` or `RATE`.
    """
    mass, payoff, before, removed = 0, n, 2 * n, 3 * n
    for b in range(rows):
        at, own = b * n, b * p_step
        total, kink = 0.0, 0
        for j in range(n):
            context = order[at + j]
            scratch[mass + j] = p[own + context]
            scratch[payoff + j] = f[at + context]
            total = total + scratch[mass + j] if j > 0 else scratch[mass]
            if total <= half[0]:
                kink += 1
            scratch[before + j] = total - scratch[mass + j]
            scratch[removed + j] = scratch[mass + j] if scratch[payoff + j] > 0.0 else 0.0
        above = sum_of(scratch, removed, n)
        for radius in range(radii):
            reach = min(half[radius], above)
            for j in range(n):
                left = reach - scratch[before + j]
                left = left if left > 0.0 else 0.0
                scratch[removed + j] = left if left < scratch[mass + j] else scratch[mass + j]
            worst = mean[b] - sum_of_products(scratch, removed, payoff, n)
            value[b * radii + radius] = worst if worst > 0.0 and half[radius] < above else 0.0
        level = scratch[payoff + kink] if kink < n else 0.0
        slope[b] = -0.5 * level
        if wanted >= DISTRIBUTION:
            receiver, most = 0, -1.0
            for j in range(n):
                distribution[at + order[at + j]] = scratch[mass + j] - scratch[removed + j]
                if f[at + j] == 0.0 and p[own + j] > most:
                    receiver, most = j, p[own + j]
            distribution[at + receiver] += sum_of(scratch, removed, n)
            if wanted >= RATE:
                for j in range(n):
                    rate[at + j] = 0.0
                if level > 0.0:
                    rate[at + order[at + kink]] -= 0.5
                    rate[at + receiver] += 0.5


def sum_of(x: Reals, start: int, n: int) -> float:
    """Add up as numpy does: eight sums side by side, of halves from 129 numbers on."""
    if n < 8:
        total = -0.0
        for i in range(start, start + n):
            total += x[i]
        return total
    if n > 128:
        half = n // 2
        half -= half % 8
        return sum_of(x, start, half) + sum_of(x, start + half, n - half)
    a, b, c, d = x[start], x[start + 1], x[start + 2], x[start + 3]
    e, f, g, h = x[start + 4], x[start + 5], x[start + 6], x[start + 7]
    full = start + n - n % 8
    for i in range(start + 8, full, 8):
        a, b, c, d = a + x[i], b + x[i + 1], c + x[i + 2], d + x[i + 3]
        e, f, g, h = e + x[i + 4], f + x[i + 5], g + x[i + 6], h + x[i + 7]
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for i in range(full, start + n):
        total += x[i]
    return total


def sum_of_products(x: Reals, first: int, second: int, n: int) -> float:
    """Add up products as numpy's einsum does: even and odd places apart, eight at a time from the last to the first."""
    even, odd, full = 0.0, 0.0, n - n % 8
    for i in range(0, full, 8):
        for k in range(6, -1, -2):
            even += x[first + i + k] * x[second + i + k]
            odd += x[first + i + k + 1] * x[second + i + k + 1]
    for i in range(full, n, 2):
        even += x[first + i] * x[second + i]
        if i + 1 < n:
            odd += x[first + i + 1] * x[second + i + 1]
    return even + odd
