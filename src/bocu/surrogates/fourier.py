"""Approximate samples of a posterior on a grid, by random Fourier features that are redrawn for every sample.

Source: Rahimi and Recht (2007) for the features, Tay et al. (2024) for their use in Thompson sampling. With angular
frequencies w_j of the kernel's spectral density, a function of the prior is approximately ``phi(z)'theta``, theta
standard normal, where the m features phi are ``sqrt(2 s^2 / m) cos(w_j'z + b_j)`` with random phases b_j, or
``sqrt(2 s^2 / m)`` times cosine and sine of m / 2 frequencies. Theta given data is sampled exactly, so all error is
that of the features; when observations are nearly as many as features the variance away from the data comes out too
small ("variance starvation").

``cos(w'z + b)`` is the real part of a product over the coordinates of z, of decision and context: exponentials are
computed once for each level of each axis, and the table of a sample is one matrix product, (X, 2 m) x (2 m, C) for
m frequencies.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from bocu.errors import BocuError
from bocu.surrogates.axes import Axes
from bocu.surrogates.grid import GridPosterior, GridPrior


class FourierSampler:
    """Draws whole payoff tables from the posterior of a Bayesian linear model in random Fourier features.

    Args:
        prior: the prior of the posteriors that will be drawn from.
        features: number m of features, each counted; gpytorch's ``num_samples=1024`` are 2,048 features in pairs.
        pairs: cosine and sine of m / 2 frequencies instead of m cosines with random phases.

    Raises:
        BocuError: `features` is not positive, or odd although they come in pairs.
    """

    def __init__(self, prior: GridPrior, features: int, pairs: bool) -> None:
        if features < 1 or (pairs and features % 2):
            raise BocuError(f"features: found {features}; allowed: positive{' even' if pairs else ''} numbers")
        self.prior = prior
        self.features = features
        self.pairs = pairs
        self._decision_axes = Axes.of(prior.decisions)
        self._context_axes = Axes.of(prior.contexts)

    def draw(self, posterior: GridPosterior, generator: np.random.Generator) -> np.ndarray:
        """Draw one noise-free payoff table with new features.

        Args:
            posterior: what was observed, under the prior of this sampler; only the observations are used.
            generator: where randomness comes from.

        Returns:
            An approximate sample of the posterior, shape (X, C).
        """
        waves = self.draw_waves(generator)
        theta = sample_weights(
            waves.features(posterior.decisions, posterior.contexts),
            posterior.values - self.prior.mean,
            self.prior.noise,
            generator,
        )
        return self.prior.mean + waves.table(theta)

    def draw_waves(self, generator: np.random.Generator) -> "Waves":
        """Draw the features alone."""
        size = self.features // 2 if self.pairs else self.features
        of_decisions = _exponentials(self._decision_axes, self.prior.decision_kernel.spectral(generator, size))
        of_contexts = _exponentials(self._context_axes, self.prior.context_kernel.spectral(generator, size))
        if not self.pairs:
            of_contexts *= np.exp(2j * np.pi * generator.random(size))
        return Waves(of_decisions, of_contexts, float(np.sqrt(2.0 * self.prior.variance / self.features)), self.pairs)


class Waves:
    """One draw of random Fourier features on a grid.

    Args:
        of_decisions: exp(i w_x'x), shape (X, frequencies), complex.
        of_contexts: exp(i (w_c'c + b)), shape (C, frequencies), complex.
        amplitude: of each feature.
        pairs: real and imaginary parts are features, interleaved; otherwise the real parts alone.
    """

    def __init__(self, of_decisions: np.ndarray, of_contexts: np.ndarray, amplitude: float, pairs: bool) -> None:
        self.of_decisions = of_decisions
        self.of_contexts = of_contexts
        self.amplitude = amplitude
        self.pairs = pairs

    def features(self, decisions: np.ndarray, contexts: np.ndarray) -> np.ndarray:
        """Evaluate the features at points of the grid.

        Args:
            decisions: indices, shape (t,).
            contexts: indices, shape (t,).

        Returns:
            Features, shape (t, m).
        """
        waves = self.of_decisions[decisions] * self.of_contexts[contexts]
        return self.amplitude * (waves.view(float) if self.pairs else waves.real)

    def table(self, theta: np.ndarray) -> np.ndarray:
        """Evaluate ``phi(z)'theta`` on the whole grid.

        Args:
            theta: weights of the features, shape (m,).

        Returns:
            Values, shape (X, C).
        """
        # Re(u v) is the inner product of u and the conjugate of v, both read as pairs of real numbers.
        conjugate = theta.view(complex) if self.pairs else theta
        weighted = self.amplitude * conjugate * self.of_contexts.conj()
        return self.of_decisions.view(float) @ weighted.view(float).T


def sample_weights(
    features: np.ndarray, values: np.ndarray, noise: float, generator: np.random.Generator
) -> np.ndarray:
    """Sample the weights of a Bayesian linear model with standard normal prior, given data.

    Args:
        features: at the observations, shape (t, m).
        values: observed, shape (t,).
        noise: standard deviation of the observations' noise.
        generator: where randomness comes from.

    Returns:
        A sample of N(A^-1 features' values, noise^2 A^-1), A = features' features + noise^2 I, shape (m,); by
        the smaller of the two systems, of size t or m.
    """
    t, m = features.shape
    prior = generator.standard_normal(m)
    if t == 0:
        return prior
    if t < m:
        gram = features @ features.T
        gram[np.diag_indices(t)] += noise**2
        error = values - features @ prior - noise * generator.standard_normal(t)
        return prior + features.T @ cho_solve(_factorised(gram), error, check_finite=False)
    precision = features.T @ features
    precision[np.diag_indices(m)] += noise**2
    factor = _factorised(precision)
    mean = cho_solve(factor, features.T @ values, check_finite=False)
    return mean + noise * solve_triangular(factor[0], prior, lower=True, trans=1, check_finite=False)


def _factorised(matrix: np.ndarray) -> tuple[np.ndarray, bool]:
    """Factorise a symmetric positive definite matrix in its own memory (its transpose is what LAPACK works on)."""
    factor, lower = cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)
    return factor, lower


def _exponentials(axes: Axes, frequencies: np.ndarray) -> np.ndarray:
    """Give exp(i w'z) for points z with these axes and frequencies (m, D), shape (points, m)."""
    product: np.ndarray | None = None
    for levels, index, frequency in zip(axes.levels, axes.index, frequencies.T, strict=True):
        factor = np.exp(1j * np.multiply.outer(levels, frequency))[index]
        product = factor if product is None else np.multiply(product, factor, out=product)
    assert product is not None  # a kernel has one dimension at least
    return product
