"""Exact samples of a posterior, by correcting samples of the prior: Matheron's rule.

Source: Wilson et al. (2020), "Efficiently sampling functions from Gaussian process posteriors", equation 9:
``f = f0 + k(., Z) (K + R^2 I)^{-1} (y - f0(Z) - R xi)`` with f0 a sample of the prior and xi standard normal.
Tables on a grid, weights of features and surfaces over continuous inputs are sampled so; what differs is f0 and how
one solves. On a grid f0 comes from roots of the kernels' Gram matrices.
"""

from collections.abc import Callable

import numpy as np

from bocu.learners.surrogates.grams import gram_root
from bocu.learners.surrogates.grid import GridPosterior, GridPrior


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


class PathwiseSampler:
    """Draws whole payoff tables from the posterior; exact for any kernel.

    Args:
        prior: the prior of the posteriors that will be drawn from.
    """

    def __init__(self, prior: GridPrior) -> None:
        self.prior = prior
        self._decision_root = gram_root(prior.decision_kernel, prior.decisions)
        self._context_root = gram_root(prior.context_kernel, prior.contexts)

    def draw(self, posterior: GridPosterior, generator: np.random.Generator) -> np.ndarray:
        """Draw one noise-free payoff table.

        Args:
            posterior: what was observed, under the prior of this sampler.
            generator: where randomness comes from.

        Returns:
            A sample of the posterior, shape (X, C).
        """
        sample = self.draw_prior(generator)
        if posterior.count == 0:
            return sample
        known = sample[posterior.decisions, posterior.contexts]
        normal = generator.standard_normal(posterior.count)
        noise = self.prior.noise_at(posterior.contexts)
        weights = correction_weights(posterior.solve, posterior.values, known, noise, normal)
        return sample + posterior.combination(weights)

    def draw_prior(self, generator: np.random.Generator) -> np.ndarray:
        """Draw one noise-free payoff table from the prior, shape (X, C)."""
        normal = generator.standard_normal((self._decision_root.rank, self._context_root.rank))
        half = self._context_root.times(normal.T).T
        return self.prior.mean + np.sqrt(self.prior.variance) * self._decision_root.times(half)
