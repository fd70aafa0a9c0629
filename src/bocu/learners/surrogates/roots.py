"""Roots of Gram matrices, for samples and products; through the axes where kernel and points are products over them."""

from typing import Protocol

import numpy as np

from bocu.core.kernels import Kernel
from bocu.learners.surrogates.axes import Axes

#: Share of the largest eigenvalue below which one counts as 0: rounding alone could have made much of it.
SMALLEST = 1e-12


class Root(Protocol):
    """A matrix A with A A' = K."""

    rank: int

    def times(self, right: np.ndarray) -> np.ndarray:
        """Multiply A with `right` (rank, k); shape (points, k)."""


def gram_root(kernel: Kernel, points: np.ndarray) -> Root:
    """Return a root of the covariances of points, through the axes where the points fill most of the grid they span.

    Args:
        kernel: the kernel.
        points: where it is taken, shape (n, D).
    """
    return axis_root(kernel, points) or SpectralRoot(kernel(points, points))


def axis_root(kernel: Kernel, points: np.ndarray) -> "AxisRoot | None":
    """Return the root through the axes; None where the kernel is no product over them, or points are scattered."""
    kernels, axes = kernel.axes(), Axes.of(points)
    if kernels is not None and len(kernels) > 1 and axes.hull_size <= 2 * len(points):
        return AxisRoot(kernels, axes)
    return None


class SpectralRoot(Root):
    """Root by eigenvectors, those of the largest eigenvalues first; the smallest are left out, nothing is added.

    Eigenvectors are determined up to their signs. The first component that is half as large as the largest or more is
    positive: by the largest itself rounding would decide where two are equal, as on symmetric grids.
    """

    def __init__(self, gram: np.ndarray) -> None:
        values, vectors = np.linalg.eigh(gram)
        kept = np.flatnonzero(values > SMALLEST * values[-1])[::-1]
        vectors = vectors[:, kept]
        size = np.abs(vectors)
        first = (size >= 0.5 * size.max(axis=0)).argmax(axis=0)
        self.matrix = vectors * (np.sign(vectors[first, np.arange(len(kept))]) * np.sqrt(values[kept]))
        self.rank = len(kept)

    def times(self, right: np.ndarray) -> np.ndarray:
        return self.matrix @ right


class AxisRoot(Root):
    """Root for a kernel that is a product over dimensions: the Kronecker product of the roots of the axes.

    Attributes:
        roots: one for each axis.
        index: place of each point in the grid that the axes span, shape (points,).
    """

    def __init__(self, kernels: tuple[Kernel, ...], axes: Axes) -> None:
        grids = [levels[:, None] for levels in axes.levels]
        self.roots = [SpectralRoot(kernel(grid, grid)) for kernel, grid in zip(kernels, grids, strict=True)]
        self.rank = int(np.prod([root.rank for root in self.roots]))
        self.index = np.ravel_multi_index(axes.index, tuple(len(grid) for grid in grids))
        self._in_order = axes.hull_size == len(self.index) and bool((np.diff(self.index) == 1).all())

    def times(self, right: np.ndarray) -> np.ndarray:
        table = right.reshape(*(root.rank for root in self.roots), right.shape[1])
        for axis, root in enumerate(self.roots):
            table = np.moveaxis(np.tensordot(root.matrix, table, axes=(1, axis)), 0, axis)
        whole = table.reshape(-1, right.shape[1])
        return whole if self._in_order else whole[self.index]

    def transposed_times(self, points: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Multiply rows of A, transposed, with `right`: points (n,), none twice, right (n, k); shape (rank, k)."""
        table = np.zeros((*(len(root.matrix) for root in self.roots), right.shape[1]))
        table.reshape(-1, right.shape[1])[self.index[points]] = right
        for root in self.roots:
            # The first axis goes, its rank comes before the columns: after all axes they are in order again.
            left = root.matrix.T @ table.reshape(len(table), -1)
            table = np.moveaxis(left.reshape(root.rank, *table.shape[1:]), 0, -2)
        return table.reshape(-1, right.shape[1])
