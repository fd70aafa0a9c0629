"""Lines below the value of the MMD set as a function of its radius, for many rows of payoffs at once.

Weak duality: for any vector a, `v(epsilon) >= min_i (f - M a)_i + p.M a - epsilon |a|_M` at every epsilon (Kirschner et
al., 2020, in the RKHS of M). The vector is a ridge fit of `f - z` for a slack z >= 0, zero where the worst case has
mass. The slack is found by the alternating direction method (Boyd et al., 2011, Section 5.2) on the deviation
`r = q - p`: its quadratic part in the eigenvectors of M, where r of norm epsilon solves a quadratic equation, its sign
constraints `r >= -p` by clipping. A few steps are enough to exclude a decision, and all of it are products of matrices.
Any slack gives a line below v, so it is sought in single precision, where products take half the time; the line itself
is computed in double precision.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bocu.robust.ambiguity.checks import Floats
from bocu.robust.ambiguity.mmd.gram import Gram

Singles = NDArray[np.float32]

#: Ridges of the fits, in kernel units: of payoffs, and of payoffs less a slack.
_COARSE, _FINE = 1e-2, 1e-4

#: Steps of the alternating directions, their penalty in kernel units, and their over-relaxation.
_STEPS, _PENALTY, _RELAXATION = 32, 1.0, 1.6


def lines_below(f: Floats, p: Floats, gram: Gram, radius: float, *, careful: bool) -> tuple[Floats, Floats]:
    """Lines `level - steepness epsilon` below v, near to it at a radius.

    Args:
        f: (B, n) payoffs that span [0, 1], or are constant.
        p: (n,) reference.
        gram: the Gram matrix.
        radius: positive; where the lines are to be near.
        careful: look for a slack, too.

    Returns:
        level : (B,); steepness : (B,) not negative.
    """
    weights, vectors = gram.spectrum
    slack = _slack(f, p, gram, radius) if careful else np.zeros_like(f)
    ones, fitted = vectors.sum(axis=0), (f - slack) @ vectors
    ridge = _FINE if careful else _COARSE
    dual, even = fitted / (weights + ridge), ones / (weights + ridge)
    dual -= np.outer(dual @ ones / (even @ ones), even)
    image = (dual * weights) @ vectors.T
    squares = np.square(dual)
    # What the eigenvectors leave of M, and rounding of products with them.
    rounding = len(p) * np.finfo(float).eps * weights[-1]
    level = (f - image).min(axis=1) + image @ p - 4.0 * rounding * (1.0 + np.sqrt(squares.sum(axis=1)))
    return level, np.sqrt(squares @ (weights + rounding))


def _slack(f: Floats, p: Floats, gram: Gram, radius: float) -> Floats:
    """What payoffs exceed those of a smooth function by, about, where the worst case has no mass `(B, n)`."""
    payoffs, reference = f.astype(np.float32), p.astype(np.float32)
    weights, vectors = (array.astype(np.float32) for array in gram.spectrum)
    back, ones, shrink = np.ascontiguousarray(vectors.T), vectors.sum(axis=0), 1.0 / (weights + _PENALTY)
    even = ones * shrink
    even /= even @ ones
    least = max(radius, float(np.finfo(np.float32).eps))

    def without_sum(rows: Singles) -> Singles:
        return rows - np.outer(rows @ ones, even)

    direction = without_sum(-(payoffs @ vectors) * shrink)
    along = direction * weights
    A2 = np.maximum(np.einsum("bn,bn->b", direction, along), np.finfo(np.float32).tiny)
    clipped, multiplier, t = np.zeros_like(payoffs), np.zeros_like(payoffs), np.ones(len(f), np.float32)
    for _ in range(_STEPS):
        start = without_sum((clipped - multiplier) @ vectors * (_PENALTY * shrink))
        A1, A0 = np.einsum("bn,bn->b", start, along), np.square(start) @ weights - least**2
        t = np.maximum((np.sqrt(np.maximum(A1**2 - A2 * A0, 0.0)) - A1) / A2, least)
        stepped = (start + t[:, None] * direction) @ back
        stepped *= _RELAXATION
        stepped += (1.0 - _RELAXATION) * clipped + multiplier
        clipped = np.maximum(stepped, -reference)
        multiplier = stepped - clipped
    slack: Floats = np.divide(-_PENALTY * multiplier, t[:, None], dtype=np.float64)
    # A row that left the range of numbers goes without.
    slack[~np.isfinite(slack.sum(axis=1))] = 0.0
    return slack
