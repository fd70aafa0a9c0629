"""Matheron's rule: a sample of a prior, corrected by the data, is an exact sample of the posterior.

Source: Wilson et al. (2020), "Efficiently sampling functions from Gaussian process posteriors", equation 9:
``f = f0 + k(., Z) (K + R^2 I)^{-1} (y - f0(Z) - R xi)`` with f0 a sample of the prior and xi standard normal.
Tables on a grid, weights of features and surfaces over continuous inputs are sampled so; what differs is f0 and how
one solves.
"""

from collections.abc import Callable

import numpy as np


def correction_weights(
    solve: Callable[[np.ndarray], np.ndarray],
    values: np.ndarray,
    prior: np.ndarray,
    noise: float | np.ndarray,
    normal: np.ndarray,
) -> np.ndarray:
    """Return what multiplies ``k(., Z)`` in the correction.

    Args:
        solve: multiplies a vector (t,) with ``(K + R^2 I)^{-1}``.
        values: observed, less what is not part of the prior's sample, shape (t,).
        prior: the sample of the prior at the observations, shape (t,).
        noise: standard deviation R of the observations' noise, one number or shape (t,).
        normal: standard normal draws, shape (t,).

    Returns:
        Weights, shape (t,).
    """
    return solve(values - prior - noise * normal)
