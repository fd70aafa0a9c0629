"""A Cholesky factor that grows by a row for each observation.

The rows of the lower factor lie one behind the other (packed), so that growing moves nothing, a leading block is a
prefix, and BLAS solves with it in place. A row costs one triangular solve, O(size^2).
"""

import math
from typing import Any

import numpy as np

HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)  # of the density of a normal variable
INITIAL_CAPACITY = 32  # rows; storage doubles when full


class GrownCholesky:
    """The lower Cholesky factor L of a positive definite matrix A = L L', grown row by row.

    Attributes:
        size: rows so far.
    """

    def __init__(self) -> None:
        self.size = 0
        self._packed = np.empty(_packed_length(INITIAL_CAPACITY))

    def append(self, cross: np.ndarray, diagonal: float, smallest: float) -> None:
        """Add a row and a column to A.

        Args:
            cross: the new column above the diagonal, shape (size,).
            diagonal: the new diagonal element.
            smallest: lower bound on the conditional variance, that is on the squared diagonal element of L, known
                from theory and not to be undercut by rounding; positive.
        """
        n = self.size
        row = self.forward(cross)
        start, end = _packed_length(n), _packed_length(n + 1)
        if end > len(self._packed):
            grown = np.empty(_packed_length(2 * n))
            grown[:start] = self._packed[:start]
            self._packed = grown
        self._packed[start : end - 1] = row
        self._packed[end - 1] = math.sqrt(max(diagonal - row @ row, smallest))
        self.size = n + 1

    def row(self, index: int) -> np.ndarray:
        """Return row `index` of L up to its diagonal, shape (index + 1,); a view."""
        return self._packed[_packed_length(index) : _packed_length(index + 1)]

    def diagonal(self) -> np.ndarray:
        """Return the diagonal of L, shape (size,)."""
        return self._packed[_packed_length(np.arange(1, self.size + 1)) - 1]

    def forward(self, right: np.ndarray) -> np.ndarray:
        """Solve L s = right; shapes (size,) or (size, k)."""
        return self._triangular(right, transposed=False)

    def backward(self, right: np.ndarray, size: int | None = None) -> np.ndarray:
        """Solve L' s = right; shapes (size,) or (size, k). `size` picks a leading block of L."""
        return self._triangular(right, transposed=True, size=size)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solve A s = right; shapes (size,) or (size, k)."""
        return self.backward(self.forward(right))

    def packed(self) -> np.ndarray:
        """Return the rows of L one behind the other, shape (size * (size + 1) / 2,); a view."""
        return self._packed[: _packed_length(self.size)]

    def restore(self, packed: np.ndarray) -> None:
        """Put back what `packed` gave, bit for bit."""
        self.size = (int(np.sqrt(8 * len(packed) + 1)) - 1) // 2
        self._packed = np.empty(_packed_length(max(self.size, INITIAL_CAPACITY)))
        self._packed[: len(packed)] = packed

    def _triangular(self, right: np.ndarray, transposed: bool, size: int | None = None) -> np.ndarray:
        n = self.size if size is None else size
        if n == 0:
            return np.array(right, dtype=float)
        from scipy.linalg.blas import dtpsv  # slow to import, and planning needs none of it

        if right.ndim == 2:
            from scipy.linalg import solve_triangular
            from scipy.linalg.lapack import dtpttr

            # Rows of a lower triangle, one behind the other, are columns of the upper triangle that LAPACK sees.
            upper = dtpttr(n, self._packed[: _packed_length(n)], uplo="U")[0]
            return solve_triangular(upper, right, trans=int(not transposed), check_finite=False)
        return dtpsv(n, self._packed[: _packed_length(n)], right, lower=0, trans=int(not transposed))


def _packed_length(rows: Any) -> Any:
    """Return the numbers in so many rows; an integer, or an array of them."""
    return rows * (rows + 1) // 2
