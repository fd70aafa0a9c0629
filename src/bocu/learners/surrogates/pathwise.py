"""Exact samples of a posterior on a grid, by correcting samples of the prior (Matheron's rule).

See `bocu.learners.surrogates.matheron`; the sample of the prior comes from roots of the kernels' Gram matrices.
"""

import numpy as np

from bocu.learners.surrogates.grid import GridPosterior, GridPrior
from bocu.learners.surrogates.matheron import correction_weights
from bocu.learners.surrogates.roots import gram_root


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
