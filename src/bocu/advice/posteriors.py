"""Posteriors of logs: with a trend, of rows that lack contexts, and of thousands of rows.

The payoff is a stationary process and a trend, linear in decisions, contexts and their products, whose coefficients are
not known: a stationary process alone goes back to its mean just where a worst distribution moves its mass. With wide
normal priors on the coefficients the trend is a covariance too, b (1 + x.x')(1 + c.c') of centred inputs.

A row whose contexts are not all known counts, averaged over what the contexts may have been. Its payoff is
y = f(x, C) + noise with a context C that is drawn, independently of all else, from whole rows of the log: from all of
them alike where the row tells no context, else from those nearest in what it tells. Mean and covariance of payoffs and
observations under that joint law are exact: between the row and any point it is the kernel's mean over C, between two
such rows the mean over both, and its own variance stays that of any point, which leaves the part that no average
explains as noise of its own. The posterior is the best linear one with these moments.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bocu.core.errors import BocuError
from bocu.learners.surrogates.continuous.model import Posterior
from bocu.learners.surrogates.continuous.structure import Hyperparameters, Structure

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Whole rows that stand for the contexts of a row that tells some of them.
_NEAREST = 16

_ROWS_AT_ONCE = 512

#: Standard deviation of the trend's coefficients over the unit cube, in those of the payoff.
_WIDE = 2.0


def trend_of_decisions(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the trend's covariance over coded decisions (n, d) and (m, d), (n, m)."""
    return _WIDE**2 * (1.0 + (a - 0.5) @ (b - 0.5).T)


def trend_of_contexts(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the trend's covariance over contexts (n, l) and (m, l), (n, m)."""
    return np.asarray(1.0 + (a - 0.5) @ (b - 0.5).T)


def trend(structure: Structure, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the trend's covariance of points (n, D) and (m, D), (n, m)."""
    d = structure.decisions
    return trend_of_decisions(a[:, :d], b[:, :d]) * trend_of_contexts(a[:, d:], b[:, d:])


class Trended(Posterior):
    """A Gaussian process with a trend, given observations."""

    def covariance(self, points: np.ndarray) -> np.ndarray:
        return super().covariance(points) + trend(self.structure, points, self.inputs)

    def moments(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        cross = self.covariance(points)
        own = np.array([trend(self.structure, one[None], one[None]).item() for one in points])
        variance = np.maximum(self.hyperparameters.output_scale + own - self.explained(cross), 0.0)
        return self.shift + self.scale * (self.mean + cross @ self.weights), self.scale * np.sqrt(variance)


@dataclass(frozen=True)
class Laws:
    """What the context of each row may have been."""

    points: np.ndarray  #: shape (p, l), in units of the model.
    shares: "csr_array"  #: probability of each point in each row, sparse, shape (p, t).


def laws_of(contexts: np.ndarray) -> Laws:
    """Return what contexts (t, l), not a number where they are missing, may have been.

    At least one row is whole.
    """
    from scipy.sparse import csr_array

    whole = contexts[~np.isnan(contexts).any(axis=1)]
    points, owners, shares = [], [], []
    for row, context in enumerate(contexts):
        known = ~np.isnan(context)
        if known.all():
            near = context[None]
        elif known.any():
            distances = ((whole[:, known] - context[known]) ** 2).sum(axis=1)
            near = whole[np.argsort(distances, kind="stable")[:_NEAREST]].copy()
            near[:, known] = context[known]
        else:
            near = whole
        points.append(near)
        owners += [row] * len(near)
        shares += [1.0 / len(near)] * len(near)
    different, places = np.unique(np.vstack(points), axis=0, return_inverse=True)
    table = csr_array((shares, (places.reshape(-1), owners)), shape=(len(different), len(contexts)))
    return Laws(different, table)


class AveragedPosterior(Trended):
    """A Gaussian process given rows of which some have contexts that are not known.

    Args:
        structure: of the kernel; its last factor is that of the contexts.
        hyperparameters: for standardised outputs.
        inputs: shape (t, D); contexts of rows that lack any are not used.
        outputs: in units of the payoff, shape (t,).
        laws: of the rows' contexts.
        inflation: by what the noise variance of each observation is multiplied, shape (t,); None: by 1.
    """

    def __init__(
        self,
        structure: Structure,
        hyperparameters: Hyperparameters,
        inputs: np.ndarray,
        outputs: np.ndarray,
        laws: Laws,
        inflation: np.ndarray | None = None,
    ) -> None:
        self._laws = laws
        super().__init__(structure, hyperparameters, inputs, outputs, inflation)

    def covariance(self, points: np.ndarray) -> np.ndarray:
        """Return the prior covariance of points (n, D) with the rows' payoffs, standardised, shape (n, t)."""
        *of_decisions, of_contexts = self.structure.kernels(self.hyperparameters.lengthscales)
        d = self.structure.decisions
        if points is not self.inputs:
            found = self.hyperparameters.output_scale * averaged(of_contexts, points[:, d:], self._laws)
        else:
            rows = [
                averaged(of_contexts, self._laws.points[start : start + _ROWS_AT_ONCE], self._laws)
                for start in range(0, len(self._laws.points), _ROWS_AT_ONCE)
            ]
            found = self.hyperparameters.output_scale * (self._laws.shares.T @ np.vstack(rows))
            found.flat[:: len(found) + 1] = self.hyperparameters.output_scale
        for factor, kernel in zip(self.structure.factors, of_decisions, strict=False):
            found *= kernel(points[:, factor.columns], self.inputs[:, factor.columns])
        return found + self._trend(points)

    def _trend(self, points: np.ndarray) -> np.ndarray:
        """Return the trend's covariance (n, t) of points (n, D) with the rows' payoffs, at means of the contexts."""
        d, laws = self.structure.decisions, self._laws
        means = laws.shares.T @ laws.points
        own = points is self.inputs
        of_contexts = trend_of_contexts(means if own else points[:, d:], means)
        if own:
            squares = laws.shares.T @ ((laws.points - 0.5) ** 2).sum(axis=1)
            of_contexts.flat[:: len(squares) + 1] = 1.0 + squares
        return trend_of_decisions(points[:, :d], self.inputs[:, :d]) * of_contexts


def averaged(kernel: Callable[[np.ndarray, np.ndarray], np.ndarray], points: np.ndarray, laws: Laws) -> np.ndarray:
    """Return the mean of a kernel between points (n, l) and the rows' contexts, (n, t)."""
    return np.asarray(kernel(points, laws.points) @ laws.shares)


class LargePosterior(Trended):
    """A Gaussian process given many observations: one matrix in memory, which becomes its own Cholesky factor.

    What needs the inverse is solved with the factor instead.
    """

    def explained(self, cross: np.ndarray) -> np.ndarray:
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
        stationary = here.output_scale * self.structure.correlation(here.lengthscales, first, second)
        return stationary + trend(self.structure, first, second)
