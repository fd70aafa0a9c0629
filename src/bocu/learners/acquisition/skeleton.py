"""Interpolation in the context: a few skeleton contexts that determine every posterior moment at all M of them.

With a kernel that is a product of a decision and a context part, the posterior mean of any decision is a combination of
the t functions k(c_i, .) of the context, and the explained variance one of their products k(c_i, .) k(c_j, .). Both
spaces are numerically of low rank on M contexts. An interpolative decomposition (Cheng et al., 2005) picks contexts,
the skeleton, and a matrix that carries values there to values everywhere.

The products are too many to be written down; random products of random combinations span the same space (a sketch in
Khatri-Rao form). The sketch is drawn from a fixed generator: it decides digits beyond the tolerance only.

With one kernel over decisions and contexts together the functions of the context change with the decision. Sketched at
many decisions they still are numerically of low rank where contexts lie on a line or in a plane, but the tolerance then
holds for decisions like those only.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Sketch = Callable[[int, np.random.Generator], np.ndarray]
"""Draws so many functions of a space at random, at all contexts: shape (size, M)."""

#: Functions of the sketch beyond the rank that it is found to have.
OVERSAMPLING = 8

#: A skeleton of more than this share of the contexts saves nothing.
WORTHWHILE = 0.4


@dataclass(frozen=True)
class Skeleton:
    """Contexts that determine the others.

    Attributes:
        indices: of the skeleton contexts among all M, shape (r,).
        interpolation: values at all contexts = values at the skeleton @ interpolation, shape (r, M); None: the skeleton
            is all contexts, in their order.
    """

    indices: np.ndarray
    interpolation: np.ndarray | None

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Carry values (B, r) at the skeleton to all contexts, (B, M)."""
        return values if self.interpolation is None else values @ self.interpolation

    def gather(self, weights: np.ndarray) -> np.ndarray:
        """Carry derivatives in the values at all contexts (B, M) back to the skeleton, (B, r)."""
        return weights if self.interpolation is None else weights @ self.interpolation.T


def full_skeleton(contexts: int) -> Skeleton:
    """Return the skeleton of all contexts."""
    return Skeleton(np.arange(contexts), None)


def skeleton(correlations: np.ndarray, tolerance: float) -> Skeleton:
    """Find a skeleton for the span of t functions, their pairwise products and the constants.

    Args:
        correlations: the functions at all contexts, in [0, 1], shape (t, M).
        tolerance: of the interpolation, relative to functions of size 1.
    """
    t, contexts = correlations.shape

    def sketch(size: int, generator: np.random.Generator) -> np.ndarray:
        return random_products(correlations, size, generator)

    return sketched_skeleton(sketch, contexts, tolerance, functions=1 + t + t * (t + 1) // 2)


def sketched_skeleton(sketch: Sketch, contexts: int, tolerance: float, functions: float = math.inf) -> Skeleton:
    """Find a skeleton for a space of functions that is known by sketches of it.

    Args:
        sketch: draws functions of the space.
        contexts: their number M.
        tolerance: of the interpolation, relative to functions of size 1.
        functions: dimension of the space, where it has one.
    """
    from scipy.linalg import qr, solve_triangular  # slow to import, and planning needs none of it

    generator = np.random.default_rng(0)
    limit = int(WORTHWHILE * contexts)
    size = 0
    while True:
        size = int(min(2 * size or 48, functions, limit + OVERSAMPLING))
        triangle, pivots = qr(sketch(size, generator), mode="r", pivoting=True, check_finite=False)
        diagonal = np.abs(np.diagonal(triangle))
        rank = int((diagonal > tolerance * diagonal[0]).sum())
        if rank > limit:
            return full_skeleton(contexts)
        if rank + OVERSAMPLING <= size or size == functions:
            break
    interpolation = np.empty((rank, contexts))
    interpolation[:, pivots[:rank]] = np.eye(rank)
    interpolation[:, pivots[rank:]] = solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])
    return Skeleton(pivots[:rank], interpolation)


def random_products(functions: np.ndarray, size: int, generator: np.random.Generator) -> np.ndarray:
    """Return random products of two random combinations of t functions (t, M) and the constant 1, shape (size, M)."""
    t = len(functions)
    left, right = generator.standard_normal((2, size, t + 1)) / np.sqrt(t + 1)
    return (left[:, :1] + left[:, 1:] @ functions) * (right[:, :1] + right[:, 1:] @ functions)
