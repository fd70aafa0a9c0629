"""Covariances of points with each other and their roots; of less than all pairs where points are many and on a grid.

The matrix of X points takes X^2 numbers, 2 GiB at 16,384: there a row is kept for each point that is combined. Where
the kernel is a product over dimensions and the points fill a grid, sums of columns and the root go by the axes (a
Kronecker product; Saatci, 2011, chapter 5).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Protocol

import numpy as np

from bocu.core.kernels import Kernel
from bocu.learners.surrogates.cholesky import INITIAL_CAPACITY


@dataclass(frozen=True, eq=False)
class Axes:
    """The distinct coordinates of a set of points, dimension by dimension."""

    levels: tuple[np.ndarray, ...]  #: distinct coordinates of each dimension, ascending.
    #: for each dimension the level of every point, shape (points,); ``levels[d][index[d]]`` are its coordinates,
    #: exactly.
    index: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, points: np.ndarray) -> "Axes":
        """Find the axes of points, shape (points, D)."""
        found = [np.unique(column, return_inverse=True) for column in points.T]
        return cls(tuple(levels for levels, _ in found), tuple(index for _, index in found))

    @property
    def hull_size(self) -> int:
        """Points of the smallest full grid that holds all points."""
        return prod(len(levels) for levels in self.levels)


#: Share of the largest eigenvalue below which one counts as 0: rounding alone could have made much of it.
SMALLEST = 1e-12


class Root(Protocol):
    """A matrix A with A A' = K."""

    rank: int

    def times(self, right: np.ndarray) -> np.ndarray:
        """Multiply A with `right` (rank, k); shape (points, k)."""


def gram_root(kernel: Kernel, points: np.ndarray) -> Root:
    """Return a root of the covariances of points (n, D).

    It goes through the axes where the kernel is a product over them and the points fill most of the grid they span.
    """
    apart = _by_axes(kernel, points)
    return SpectralRoot(kernel(points, points)) if apart is None else AxisRoot(*apart)


def _by_axes(kernel: Kernel, points: np.ndarray) -> tuple[tuple[Kernel, ...], Axes] | None:
    """Return kernels and axes of points (n, D) that fill most of a grid, of a kernel that is a product over them."""
    kernels, axes = kernel.axes(), Axes.of(points)
    if kernels is None or len(kernels) < 2 or axes.hull_size > 2 * len(points):
        return None
    return kernels, axes


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


class AxisProduct:
    """The Kronecker product of matrices, one an axis, in the rows of points.

    Args:
        matrices: those of the axes, shapes (levels, k).
        axes: where the points are.
    """

    def __init__(self, matrices: Sequence[np.ndarray], axes: Axes) -> None:
        self.matrices = list(matrices)
        self.index = np.ravel_multi_index(axes.index, tuple(len(matrix) for matrix in self.matrices))
        self._in_order = axes.hull_size == len(self.index) and bool((np.diff(self.index) == 1).all())

    def times(self, right: np.ndarray) -> np.ndarray:
        """Multiply with `right`, shape (product of all k, n); shape (points, n)."""
        table, before = right, 1
        for matrix in self.matrices:
            table = matrix @ table.reshape(before, matrix.shape[1], -1)
            before *= len(matrix)
        whole = table.reshape(-1, right.shape[1])
        return whole if self._in_order else whole[self.index]


class AxisRoot(AxisProduct, Root):
    """Root for a kernel that is a product over dimensions: the Kronecker product of the roots of the axes."""

    def __init__(self, kernels: tuple[Kernel, ...], axes: Axes) -> None:
        grids = [levels[:, None] for levels in axes.levels]
        roots = [SpectralRoot(kernel(grid, grid)) for kernel, grid in zip(kernels, grids, strict=True)]
        super().__init__([root.matrix for root in roots], axes)
        self.rank = prod(root.rank for root in roots)


LARGEST_MATRIX = 2**24  # numbers that are stored, 128 MiB: 4,096 points


class PointGram:
    """The covariances of X points with each other, at unit variance; of many points worked out where asked for.

    Args:
        kernel: the kernel.
        points: shape (X, D).

    Attributes:
        size: number X of points.
        by_axes: the same at the points of a grid, as a product over its axes; None where there is none.
    """

    def __init__(self, kernel: Kernel, points: np.ndarray) -> None:
        self._kernel = kernel
        self._points = points
        self.size = len(points)
        self._matrix = kernel(points, points) if self.size**2 <= LARGEST_MATRIX else None
        self.by_axes: AxisProduct | None = None
        if apart := _by_axes(kernel, points):
            grids = [levels[:, None] for levels in apart[1].levels]
            grams = [one(grid, grid) for one, grid in zip(apart[0], grids, strict=True)]
            self.by_axes = AxisProduct(grams, apart[1])

    def matrix(self) -> np.ndarray:
        """Return all of them, shape (X, X), read-only; where they are not stored, worked out anew."""
        matrix = self._kernel(self._points, self._points) if self._matrix is None else self._matrix
        matrix.flags.writeable = False
        return matrix

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the covariances of points `rows` (r,) with points `columns` (c,), shape (r, c)."""
        if self._matrix is None:
            return self._kernel(self._points[rows], self._points[columns])
        return self._matrix[rows[:, None], columns[None, :]]

    def column(self, rows: np.ndarray, point: int) -> np.ndarray:
        """Return the covariances of points `rows` (r,) with one point, shape (r,)."""
        if self._matrix is None:
            return self.block(rows, np.array([point]))[:, 0]
        return self._matrix[:, point].take(rows)

    def row(self, point: int) -> np.ndarray:
        """Return the covariances of one point with all, shape (X,)."""
        if self._matrix is None:
            return self._kernel(self._points[[point]], self._points)[0]
        return self._matrix[point]


class Combination:
    """Weighted sums of the columns of a Gram matrix that belong to points which grow in number.

    On a grid they are products with the axes, which cost the same however many points there are.

    Args:
        gram: of X points.
    """

    def __init__(self, gram: PointGram) -> None:
        self._gram = gram
        self._rows = np.empty((0 if gram.by_axes else INITIAL_CAPACITY, gram.size))
        self._points: list[int] = []

    def add(self, point: int) -> None:
        """Take the column of one more point, of which there was none yet."""
        if self._gram.by_axes is None:
            if len(self._points) == len(self._rows):
                self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
            self._rows[len(self._points)] = self._gram.row(point)
        self._points.append(point)

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """Return K[:, points] @ weights, weights (n, k) of the first n points; shape (X, k)."""
        product = self._gram.by_axes
        if product is None:
            return self._rows[: len(weights)].T @ weights
        table = np.zeros((prod(len(matrix) for matrix in product.matrices), weights.shape[1]))
        table[product.index[self._points[: len(weights)]]] = weights
        return product.times(table)
