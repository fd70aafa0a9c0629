"""Exact samples of a posterior on a grid, by correcting samples of the prior (Matheron's rule).

See `bocu.surrogates.matheron`; the sample of the prior comes from roots of the kernels' Gram matrices.
"""

from typing import Protocol

import numpy as np

from bocu.core.kernels import Kernel
from bocu.surrogates.axes import Axes
from bocu.surrogates.grid import GridPosterior, GridPrior
from bocu.surrogates.matheron import correction_weights


class PathwiseSampler:
    """Draws whole payoff tables from the posterior; exact for any kernel.

    Args:
        prior: the prior of the posteriors that will be drawn from.
    """

    def __init__(self, prior: GridPrior) -> None:
        self.prior = prior
        self._decision_root = gram_root(prior.decision_kernel, prior.decisions, prior.decision_gram)
        self._context_root = gram_root(prior.context_kernel, prior.contexts, prior.context_gram)

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


class Root(Protocol):
    """A matrix A with A A' = K."""

    rank: int

    def times(self, right: np.ndarray) -> np.ndarray:
        """Multiply A with `right` (rank, k); shape (points, k)."""


def gram_root(kernel: Kernel, points: np.ndarray, gram: np.ndarray) -> Root:
    """Return a root of the covariances of points, through the axes where the points fill most of the grid they span.

    Args:
        kernel: the kernel.
        points: where it is taken, shape (n, D).
        gram: its values ``kernel(points, points)``, shape (n, n).
    """
    kernels, axes = kernel.axes(), Axes.of(points)
    if kernels is not None and len(kernels) > 1 and axes.hull_size <= 2 * len(points):
        return _AxisRoot(kernels, axes)
    return _SpectralRoot(gram)


class _SpectralRoot:
    """Root by eigenvectors; eigenvalues that rounding alone could have made are left out, nothing is added."""

    def __init__(self, gram: np.ndarray) -> None:
        values, vectors = np.linalg.eigh(gram)
        kept = values > values[-1] * len(values) * np.finfo(float).eps
        self.matrix = vectors[:, kept] * np.sqrt(values[kept])
        self.rank = self.matrix.shape[1]

    def times(self, right: np.ndarray) -> np.ndarray:
        return self.matrix @ right


class _AxisRoot:
    """Root for a kernel that is a product over dimensions: the Kronecker product of the roots of the axes."""

    def __init__(self, kernels: tuple[Kernel, ...], axes: Axes) -> None:
        grids = [levels[:, None] for levels in axes.levels]
        self.roots = [_SpectralRoot(kernel(grid, grid)) for kernel, grid in zip(kernels, grids, strict=True)]
        self.rank = int(np.prod([root.rank for root in self.roots]))
        self.index = np.ravel_multi_index(axes.index, tuple(len(grid) for grid in grids))

    def times(self, right: np.ndarray) -> np.ndarray:
        table = right.reshape(*(root.rank for root in self.roots), right.shape[1])
        for axis, root in enumerate(self.roots):
            table = np.moveaxis(np.tensordot(root.matrix, table, axes=(1, axis)), 0, axis)
        return table.reshape(-1, right.shape[1])[self.index]
