"""What comes before and after the MMD path, compiled: element by element in the order in which it is written.

Products of matrices and sums over contexts are left to those who call, so that all digits are those of whole arrays.
"""

from __future__ import annotations

import numpy as np

from bocu.robust.ambiguity.compiled import Array, compiled_as_written


@compiled_as_written
def spanning(f: Array) -> tuple[Array, Array, Array]:
    """Payoffs `(B, n)` made to span [0, 1], and the shifts and scales `(B,)` taken off; see `AmbiguitySet.spanning`."""
    count, n = f.shape
    rows, low, scale = np.empty((count, n)), np.empty(count), np.empty(count)
    for b in range(count):
        least, most = f[b, 0], f[b, 0]
        for i in range(1, n):
            least, most = min(least, f[b, i]), max(most, f[b, i])
        low[b], scale[b] = least, 1.0 if most == least else most - least
        for i in range(n):
            rows[b, i] = (f[b, i] - least) / scale[b]
    return rows, low, scale


@compiled_as_written
def pull_in(f: Array, r: Array, image: Array, squares: Array, t: Array, radius: float) -> tuple[Array, Array]:
    """Pull deviations that rounding left outside the set onto it.

    Args:
        f: (B, n) payoffs.
        r: (B, n) deviations, overwritten by those within the radius.
        image: (B, n) their products with the Gram matrix, overwritten by the dual vectors' `M r / t`.
        squares: (B,) their squared norms.
        t: (B,) path parameters.
        radius: positive.

    Returns:
        norm : (B,) of what r is then; lowest : (B,) least of `f + M r / t`.
    """
    count, n = r.shape
    norms, lowest = np.empty(count), np.empty(count)
    for b in range(count):
        # Comparisons leave what is not a number as it is.
        norm = np.sqrt(0.0 if squares[b] < 0.0 else squares[b])
        beyond = norm / radius
        shrink = 1.0 / (1.0 if beyond < 1.0 else beyond)
        least = np.inf
        for i in range(n):
            r[b, i] *= shrink
            scaled = image[b, i] * shrink / t[b]
            image[b, i] = scaled
            least = min(least, f[b, i] + scaled)
        norms[b], lowest[b] = norm * shrink, least
    return norms, lowest


@compiled_as_written
def gaps(mean: Array, gain: Array, lowest: Array, moved: Array, norm: Array, t: Array) -> Array:
    """Differences `(B,)` between values and lower bounds.

    Args:
        mean: (B,) expectations under the reference.
        gain: (B,) what the deviations add to them.
        lowest: (B,) as of `pull_in`.
        moved: (B,) expectations of `M r / t` under the reference.
        norm: (B,) of the deviations.
        t: (B,) path parameters; infinite on the floor, where the value is 0.
    """
    found = np.empty(mean.size)
    for b in range(mean.size):
        value = 0.0 if np.isinf(t[b]) else mean[b] + gain[b]
        found[b] = abs(value - (lowest[b] - moved[b] - norm[b] * norm[b] / t[b]))
    return found


@compiled_as_written
def value_and_slope(mean: Array, gain: Array, norm: Array, t: Array) -> tuple[Array, Array]:
    """`v = E + f.r` and `-|r| / t`, both `(B,)`: 0 on the floor; slopes at the reference are 0 as well.

    Arguments as of `gaps`.
    """
    value, slope = np.empty(mean.size), np.empty(mean.size)
    for b in range(mean.size):
        value[b] = 0.0 if np.isinf(t[b]) else mean[b] + gain[b]
        slope[b] = -(norm[b] / t[b]) if t[b] > 0.0 and np.isfinite(t[b]) else -0.0
    return value, slope
