"""Gram matrices of the maximum mean discrepancy: made, checked and factorised here and nowhere else."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from bocu.core.errors import BocuError
from bocu.core.kernels import SquaredExponential, squared_distance
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.checks import Floats

#: Added to the diagonal by `with_jitter`: small beside a kernel of unit variance, enough for a Cholesky factor.
JITTER = 1e-6

#: What to say where a Gram matrix has a factor, but too few digits to solve with.
SINGULAR = "the Gram matrix is too close to singular, add jitter"


def with_jitter(gram: ArrayLike, jitter: float = JITTER) -> Floats:
    """`gram + jitter I` `(n, n)`: the one place where jitter is added. Set, radius and slope then share it."""
    matrix = checks.square("gram", gram)
    return matrix + checks.radius(jitter, "jitter") * np.eye(len(matrix))


def squared_exponential_gram(contexts: ArrayLike, lengthscale: ArrayLike, jitter: float = JITTER) -> Floats:
    """Gram matrix `exp(-|c_i - c_j|^2 / (2 lengthscale^2))` plus jitter.

    Args:
        contexts: (n, l) or (n,) context points.
        lengthscale: positive number, or (l,) one a dimension, in units of the contexts.
        jitter: added to the diagonal.

    Returns:
        (n, n), unitless.
    """
    points = checks.points("contexts", contexts)
    scale = checks.finite("lengthscale", checks.floats("lengthscale", lengthscale))
    if (scale <= 0).any() or scale.size not in (1, points.shape[1]):
        raise BocuError(f"lengthscale is {scale.tolist()}: it must be positive, one number or one a context dimension")
    scaled = points / scale
    return with_jitter(SquaredExponential.value(squared_distance(scaled, scaled)), jitter)


def mmd_radius(observations: int, gamma: float, *, largest_kernel_value: float = 1.0) -> float:
    """Radius within which the empirical distribution lies of the true one with probability `1 - gamma`.

    `(2 + sqrt(2 log(1/gamma))) / sqrt(N)` (Kirschner et al., 2020, Lemma 3), in the square root of kernel units.

    Args:
        observations: number N of contexts seen; 0 gives infinity.
        gamma: probability of failure, in (0, 1).
        largest_kernel_value: supremum of `k(c, c)`.
    """
    if not 0.0 < gamma < 1.0:
        raise BocuError(f"gamma is {gamma}: it must lie in (0, 1)")
    if observations < 0:
        raise BocuError(f"observations is {observations}: it must be 0 or more")
    if observations == 0:
        return math.inf
    return math.sqrt(largest_kernel_value) * (2.0 + math.sqrt(2.0 * math.log(1.0 / gamma))) / math.sqrt(observations)


class Gram:
    """A positive definite Gram matrix and its factors, each computed once on first use."""

    def __init__(self, matrix: ArrayLike) -> None:
        self.matrix = np.ascontiguousarray(checks.square("gram", matrix))
        try:
            self.factor = np.linalg.cholesky(self.matrix)
        except np.linalg.LinAlgError:
            smallest = float(np.linalg.eigvalsh(self.matrix)[0])
            raise BocuError(
                f"gram is not positive definite: its smallest eigenvalue is {smallest:.3g}; "
                f"bocu.robust.ambiguity.with_jitter adds {JITTER:g} to the diagonal"
            ) from None

    @cached_property
    def inverse(self) -> Floats:
        """(n, n) inverse, symmetric to the last bit."""
        half = np.linalg.solve(self.factor, np.eye(len(self.matrix)))
        return half.T @ half

    @cached_property
    def row_sums(self) -> Floats:
        """(n,) the inverse times the vector of ones."""
        return self.inverse.sum(axis=1)

    @cached_property
    def centred_inverse(self) -> Floats:
        """(n, n) inverse made to have rows that sum to 0: what is left of it on changes of a distribution."""
        return self.inverse - np.outer(self.row_sums, self.row_sums) / self.row_sums.sum()

    def steepest(self, f: Floats) -> Floats:
        """`M^-1 (f - c 1)` `(B, n)`, with c such that it sums to 0: how q leaves an interior reference, with a minus.

        One step of refinement restores the digits that the explicit inverse of a nearly singular matrix loses.
        """
        once = self.centred(f @ self.inverse)
        return once + self.centred((f - once @ self.matrix) @ self.inverse)

    def centred(self, solved: Floats) -> Floats:
        """`M^-1 f` made `M^-1 (f - c 1)`, with a sum of 0 by row."""
        return solved - np.outer(solved.sum(axis=1) / self.row_sums.sum(), self.row_sums)
