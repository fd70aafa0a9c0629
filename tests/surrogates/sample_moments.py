"""Do samples come from a given normal distribution? Each moment in units of its own standard error."""

import numpy as np


def largest_z_score(samples: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> float:
    """Compare the first two moments of samples (n, points) with the true ones.

    Returns:
        The largest standardised error over all means and covariances; for a few thousand of them and true moments,
        more than 6 comes up with a probability below 1e-5.
    """
    n = len(samples)
    variance = np.diag(covariance)
    of_mean = (samples.mean(axis=0) - mean) / np.sqrt(variance / n)
    centred = samples - mean
    spread = np.sqrt((np.outer(variance, variance) + covariance**2) / n)
    of_covariance = (centred.T @ centred / n - covariance) / spread
    return float(max(np.abs(of_mean).max(), np.abs(of_covariance).max()))
