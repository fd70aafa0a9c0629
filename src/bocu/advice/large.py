"""Logs of thousands of rows: what stands for all of them, and a posterior that fits into memory."""

from collections.abc import Callable

import numpy as np

from bocu.advice.cells import gathered, representatives
from bocu.advice.logs import Forecast
from bocu.core.errors import BocuError
from bocu.learners.surrogates.continuous.model import Posterior
from bocu.robust.ambiguity.base import AmbiguitySet

#: The most different contexts that expectations are taken over, and to how many more are gathered.
MOST_CONTEXTS, GATHERED = 2000, 1000

#: Numbers of an intermediate table that is made at once, 128 MiB.
_AT_ONCE = 2**24

_ROWS_AT_ONCE = 256


class LargePosterior(Posterior):
    """A Gaussian process given many observations: one matrix in memory, which becomes its own Cholesky factor.

    What needs the inverse is solved with the factor instead.
    """

    def explained(self, cross: np.ndarray) -> np.ndarray:
        """Return by how much observations lessen the variances (n,) of what has covariances (n, t) with them."""
        from scipy.linalg import solve_triangular

        return np.asarray((solve_triangular(self._factor, cross.T, lower=True, check_finite=False) ** 2).sum(axis=0))

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return (K + noise)^-1 right, shape (t,) or (t, k)."""
        from scipy.linalg import cho_solve

        return np.asarray(cho_solve((self._factor, True), right, check_finite=False))

    def _factorised(self, noise: float | np.ndarray, right: np.ndarray) -> np.ndarray:
        from scipy.linalg import lapack

        rows = len(self.inputs)
        # Columns first, as LAPACK has it, or it would copy.
        matrix = np.empty((rows, rows), order="F")
        for start in range(0, rows, _ROWS_AT_ONCE):
            some = slice(start, start + _ROWS_AT_ONCE)
            matrix[start:, some] = self._between(self.inputs[start:], self.inputs[some])
        matrix[np.diag_indices(rows)] += noise
        self._factor, failed = lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
        if failed:
            raise BocuError("covariance of the observations: found a matrix that is not positive definite")
        return self.solve(right)

    def _between(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        here = self.hyperparameters
        return here.output_scale * self.structure.correlation(here.lengthscales, first, second)


def fewer_contexts(forecast: Forecast, family: type[AmbiguitySet] | None) -> Forecast:
    """Gather the contexts of a forecast that has more of them than a set takes, or than tables have room for."""
    most = family.most_cells if family is not None else None
    count = len(forecast.weights)
    if count <= (most or MOST_CONTEXTS):
        return forecast
    kept = most or GATHERED
    span = np.ptp(forecast.contexts, axis=0)
    span[span == 0.0] = 1.0
    points, weights = gathered(forecast.contexts / span, forecast.weights, kept)
    note = f"{count} different contexts were gathered into {len(weights)}, the means of cells of like weight"
    return Forecast(points * span, weights / weights.sum(), (*forecast.notes, note))


def rows_of_a_fit(inputs: np.ndarray, most: int) -> np.ndarray:
    """Return the positions of at most so many rows of inputs (t, D), spread over their order and over the inputs."""
    if len(inputs) <= most:
        return np.arange(len(inputs))
    return representatives(np.column_stack([np.linspace(0.0, 1.0, len(inputs)), inputs]), most)


def in_parts(measure: Callable[[np.ndarray], np.ndarray], values: np.ndarray, width: int) -> np.ndarray:
    """Return a measure of values (n, d), whose tables are so wide, by no more rows at once than memory has room for."""
    step = max(1, _AT_ONCE // max(width, 1))
    if len(values) <= step:
        return measure(values)
    return np.concatenate([measure(values[start : start + step]) for start in range(0, len(values), step)])
