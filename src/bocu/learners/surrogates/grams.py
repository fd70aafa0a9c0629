"""Covariances of the points of a grid with each other, stored, or worked out of less where the points are many.

The matrix of X points takes X^2 numbers: 2 GiB at 16,384. Where the kernel is a product over dimensions and the points
fill a grid, matrices of the axes take its place (a Kronecker product; Saatci, 2011, chapter 5); otherwise a row is kept
for each point that is combined.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from bocu.core.kernels import Kernel
from bocu.learners.surrogates.constants import INITIAL_CAPACITY
from bocu.learners.surrogates.roots import AxisRoot, axis_root

LARGEST_MATRIX = 2**24  # numbers that are stored, 128 MiB: 4,096 points


class Combination(Protocol):
    """Weighted sums of the columns of a Gram matrix that belong to points which grow in number."""

    def add(self, point: int) -> None:
        """Take the column of one more point, of which there was none yet."""

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """Return K[:, points] @ weights, weights (n, k) of the first n points; shape (X, k)."""


class PointGram(Protocol):
    """The covariances of X points with each other, at unit variance."""

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the covariances of points `rows` (r,) with points `columns` (c,), shape (r, c)."""

    def column(self, rows: np.ndarray, point: int) -> np.ndarray:
        """Return the covariances of points `rows` (r,) with one point, shape (r,)."""

    def matrix(self) -> np.ndarray:
        """Return all of them, shape (X, X), read-only; where they are not stored, worked out anew."""

    def combination(self) -> Combination:
        """Return sums of columns, of no point yet."""


def gram_of(kernel: Kernel, points: np.ndarray) -> PointGram:
    """Return the covariances of points (X, D) in the form that suits their number."""
    if len(points) ** 2 <= LARGEST_MATRIX:
        return StoredGram(kernel(points, points))
    root = axis_root(kernel, points)
    return EvaluatedGram(kernel, points) if root is None else ProductGram(kernel, points, root)


class StoredGram(PointGram):
    """The matrix itself."""

    def __init__(self, matrix: np.ndarray) -> None:
        self._matrix = matrix
        self._matrix.flags.writeable = False

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return self._matrix[rows[:, None], columns[None, :]]

    def column(self, rows: np.ndarray, point: int) -> np.ndarray:
        return self._matrix[:, point].take(rows)

    def matrix(self) -> np.ndarray:
        return self._matrix

    def combination(self) -> Combination:
        return GrownRows(lambda point: self._matrix[point], len(self._matrix))


class EvaluatedGram(PointGram):
    """The kernel, evaluated where it is asked for."""

    def __init__(self, kernel: Kernel, points: np.ndarray) -> None:
        self._kernel = kernel
        self._points = points

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return self._kernel(self._points[rows], self._points[columns])

    def column(self, rows: np.ndarray, point: int) -> np.ndarray:
        return self.block(rows, np.array([point]))[:, 0]

    def matrix(self) -> np.ndarray:
        matrix = self._kernel(self._points, self._points)
        matrix.flags.writeable = False
        return matrix

    def combination(self) -> Combination:
        return GrownRows(lambda point: self._kernel(self._points[[point]], self._points)[0], len(self._points))


class ProductGram(EvaluatedGram):
    """A Kronecker product over axes: sums of columns cost the same however many there are."""

    def __init__(self, kernel: Kernel, points: np.ndarray, root: AxisRoot) -> None:
        super().__init__(kernel, points)
        self._root = root

    def combination(self) -> Combination:
        return ProductCombination(self._root)


class GrownRows(Combination):
    """Sums of rows that are kept, one for each point."""

    def __init__(self, row: Callable[[int], np.ndarray], size: int) -> None:
        self._row = row
        self._rows = np.empty((INITIAL_CAPACITY, size))
        self._count = 0

    def add(self, point: int) -> None:
        if self._count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[self._count] = self._row(point)
        self._count += 1

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        combined: np.ndarray = self._rows[: len(weights)].T @ weights
        return combined


class ProductCombination(Combination):
    """Sums through the root of a Kronecker product."""

    def __init__(self, root: AxisRoot) -> None:
        self._root = root
        self._points: list[int] = []

    def add(self, point: int) -> None:
        self._points.append(point)

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        return self._root.times(self._root.transposed_times(np.array(self._points[: len(weights)], int), weights))
