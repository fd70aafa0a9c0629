"""Exact likelihood of a day's readings under a separable time-varying prior, and the forgetting rate of its maximum.

The kernel (Ziomek et al. 2025, section 7) is ``Cov(i, j) (1 - forgetting) ** (abs(t - s) / 2)`` and every sensor is
read at every step, so the covariance of all readings is a Kronecker product plus noise: two small eigenproblems replace
one over sensors x steps. A singular `Cov` needs no jitter, as the noise keeps every eigenvalue positive.
"""

from dataclasses import dataclass

import numpy as np

GRID = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 81)])
"""Forgetting rates that are tried before the best one is refined."""


class SeparableLikelihood:
    """Log likelihood of complete readings as a function of the forgetting rate.

    Args:
        values: readings minus prior mean, shape (sensors, steps), in units of the payoff.
        covariance: of the sensors at one time, shape (sensors, sensors), in squared units; may be singular.
        noise: standard deviation of the noise of a reading, in units of the payoff; positive.
    """

    def __init__(self, values: np.ndarray, covariance: np.ndarray, noise: float) -> None:
        eigenvalues, eigenvectors = np.linalg.eigh(covariance)
        self._scales = np.maximum(eigenvalues, 0.0)[:, None]
        self._rotated = eigenvectors.T @ values
        self._lags = np.abs(np.subtract.outer(np.arange(values.shape[1]), np.arange(values.shape[1])))
        self._noise = noise

    def __call__(self, forgetting: float) -> float:
        eigenvalues, eigenvectors = np.linalg.eigh(np.sqrt(1.0 - forgetting) ** self._lags)
        variance = self._scales * np.maximum(eigenvalues, 0.0) + self._noise**2
        whitened = (self._rotated @ eigenvectors) ** 2 / variance
        return float(-0.5 * np.sum(whitened + np.log(2.0 * np.pi * variance)))


@dataclass(frozen=True)
class FittedForgetting:
    """A maximum of the likelihood over the forgetting rate.

    Attributes:
        forgetting: where it is.
        log_likelihood: its height, in nats.
        at_bound: whether it is at 0 or 1.
        curve: log likelihood at the rates of `GRID`, in nats.
    """

    forgetting: float
    log_likelihood: float
    at_bound: bool
    curve: np.ndarray


def fit_forgetting(likelihood: SeparableLikelihood) -> FittedForgetting:
    """Find the most likely forgetting rate in [0, 1]: the best of a grid, refined between its neighbours."""
    from scipy.optimize import minimize_scalar

    curve = np.array([likelihood(forgetting) for forgetting in GRID])
    best = int(np.argmax(curve))
    lower, upper = GRID[max(best - 1, 0)], GRID[min(best + 1, len(GRID) - 1)]
    refined = minimize_scalar(
        lambda forgetting: -likelihood(forgetting),
        bounds=(lower, upper),
        method="bounded",
        options={"xatol": 1e-6 * upper},
    )
    forgetting, height = float(GRID[best]), float(curve[best])
    if -refined.fun > height:
        forgetting, height = float(refined.x), float(-refined.fun)
    return FittedForgetting(forgetting, height, forgetting in (0.0, 1.0), curve)
