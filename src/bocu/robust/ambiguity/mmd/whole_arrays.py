"""What `bocu.robust.ambiguity.mmd.certificates` does, to the same digits, without a compiler: arguments as there."""

from __future__ import annotations

import numpy as np

from bocu.robust.ambiguity.checks import Floats


def pull_in(f: Floats, r: Floats, image: Floats, squares: Floats, t: Floats, radius: float) -> tuple[Floats, Floats]:
    """Pull deviations that rounding left outside the set onto it."""
    norm = np.sqrt(np.maximum(squares, 0.0))
    shrink = 1.0 / np.maximum(norm / radius, 1.0)
    r *= shrink[:, None]
    image *= shrink[:, None]
    image /= t[:, None]
    return norm * shrink, (f + image).min(axis=1)


def gaps(mean: Floats, gain: Floats, lowest: Floats, moved: Floats, norm: Floats, t: Floats) -> Floats:
    """Differences between values and lower bounds."""
    return np.abs(np.where(np.isinf(t), 0.0, mean + gain) - (lowest - moved - norm**2 / t))


def value_and_slope(mean: Floats, gain: Floats, norm: Floats, t: Floats) -> tuple[Floats, Floats]:
    """`v = E + f.r` and `-|r| / t`."""
    moving = (t > 0.0) & np.isfinite(t)
    slope = -np.divide(norm, t, out=np.zeros_like(t), where=moving)
    return np.where(np.isinf(t), 0.0, mean + gain), slope
