"""Do samples come from a given normal distribution? Each moment in units of its own standard error."""

import numpy as np

from bocu.learners.surrogates.grid import GridPosterior, GridPrior


def joint_gram(prior: GridPrior) -> np.ndarray:
    """Return the prior covariance of all points of the grid, decision by decision."""
    return prior.variance * np.kron(prior.decision_gram, prior.context_gram)


def covariance_of(posterior: GridPosterior) -> np.ndarray:
    """Return the posterior covariance of all points of the grid, by a dense solve."""
    prior = posterior.prior
    gram, told = joint_gram(prior), posterior.decisions * prior.shape[1] + posterior.contexts
    noise = np.broadcast_to(prior.noise_at(posterior.contexts), told.shape) ** 2
    return gram - gram[:, told] @ np.linalg.solve(gram[np.ix_(told, told)] + np.diag(noise), gram[told])


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
