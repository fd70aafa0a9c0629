"""Random Fourier features of a Gaussian-process prior, and samples of posteriors by them.

Source: Rahimi and Recht (2007). With angular frequencies w_j of the kernel's spectral density, a function of the prior
of mean 0 is approximately ``phi(z)'theta``, theta standard normal, where the m features phi are
``sqrt(2 s^2 / m) cos(w_j'z + b_j)`` with random phases b_j, or ``sqrt(2 s^2 / m)`` times cosine and sine of m / 2
frequencies. A kernel that is a product over groups of inputs has one block of columns of the frequencies for each.

For Thompson sampling on a grid (Tay et al. 2024) features are redrawn for every sample. Their weights theta given data
are sampled exactly, so all error is that of the features; when observations are nearly as many as features the variance
away from the data comes out too small ("variance starvation"). ``cos(w'z + b)`` is the real part of a product over the
coordinates of z, of decision and context: exponentials are computed once for each level of each axis, and the table of
a sample is one matrix product, (X, 2 m) x (2 m, C) for m frequencies.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from bocu.core.kernels import Kernel
from bocu.learners.surrogates.grams import Axes
from bocu.learners.surrogates.grid import GridPosterior, GridPrior
from bocu.learners.surrogates.pathwise import correction_weights


@dataclass(frozen=True)
class FourierFeatures:
    """One draw of m features."""

    frequencies: np.ndarray  #: angular, in units of the inputs, shape (m, D), or (m / 2, D) in pairs.
    phases: np.ndarray | None  #: shape (m,); None where features are cosine and sine in pairs.
    amplitude: float  #: of each feature.

    @classmethod
    def draw(
        cls,
        kernels: Sequence[Kernel],
        variance: float,
        count: int,
        generator: np.random.Generator,
        *,
        pairs: bool = False,
    ) -> "FourierFeatures":
        """Draw features of the product of `kernels`, each over its own inputs: frequencies by kernel, then phases.

        Args:
            kernels: over consecutive groups of inputs.
            variance: of the prior.
            count: number m of features, each counted.
            generator: where randomness comes from.
            pairs: cosine and sine of m / 2 frequencies instead of m cosines with random phases.
        """
        size = count // 2 if pairs else count
        frequencies = np.concatenate([kernel.spectral(generator, size) for kernel in kernels], axis=1)
        phases = None if pairs else 2.0 * np.pi * generator.random(size)
        return cls(frequencies, phases, float(np.sqrt(2.0 * variance / count)))


@dataclass(frozen=True)
class SampledWaves:
    """A sample of a prior of mean 0: a sum of m waves."""

    frequencies: np.ndarray  #: angular, in units of the inputs, shape (m, D).
    phases: np.ndarray  #: shape (m,).
    amplitudes: np.ndarray  #: shape (m,).

    @classmethod
    def draw(
        cls, kernels: Sequence[Kernel], variance: float, size: int, generator: np.random.Generator
    ) -> "SampledWaves":
        """Draw `size` waves: features with phases, as `FourierFeatures.draw` does, and their weights."""
        features = FourierFeatures.draw(kernels, variance, size, generator)
        assert features.phases is not None
        return cls(features.frequencies, features.phases, features.amplitude * generator.standard_normal(size))

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Return the sample at points (n, D), shape (n,)."""
        return np.cos(points @ self.frequencies.T + self.phases) @ self.amplitudes


NUMBERS_IN_CACHE = 2**16  # complex, 1 MiB


class FourierSampler:
    """Draws whole payoff tables from the posterior of a Bayesian linear model in random Fourier features.

    Args:
        prior: the prior of the posteriors that will be drawn from.
        features: number m of features, each counted; gpytorch's ``num_samples=1024`` are 2,048 features in pairs.
        pairs: cosine and sine of m / 2 frequencies instead of m cosines with random phases.
    """

    def __init__(self, prior: GridPrior, features: int, pairs: bool) -> None:
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
            self.prior.noise_at(posterior.contexts),
            generator,
        )
        return self.prior.mean + waves.table(theta)

    def draw_waves(self, generator: np.random.Generator) -> "Waves":
        """Draw the features alone."""
        kernels = self.prior.decision_kernel, self.prior.context_kernel
        features = FourierFeatures.draw(kernels, self.prior.variance, self.features, generator, pairs=self.pairs)
        by_decision, by_context = np.hsplit(features.frequencies, [self.prior.decisions.shape[1]])
        of_contexts = features.amplitude * _Exponentials(self._context_axes, by_context).at(
            np.arange(self.prior.shape[1])
        )
        if features.phases is not None:
            of_contexts *= _unit_circle(features.phases)
        return Waves(_Exponentials(self._decision_axes, by_decision), of_contexts, self.pairs)


class Waves:
    """One draw of random Fourier features on a grid.

    Args:
        of_decisions: exp(i w_x'x).
        of_contexts: exp(i (w_c'c + b)) times the amplitude of a feature, shape (C, frequencies), complex.
        pairs: real and imaginary parts are features, interleaved; otherwise the real parts alone.
    """

    def __init__(self, of_decisions: "_Exponentials", of_contexts: np.ndarray, pairs: bool) -> None:
        self._of_decisions = of_decisions
        self._of_contexts = of_contexts
        self._pairs = pairs

    def features(self, decisions: np.ndarray, contexts: np.ndarray) -> np.ndarray:
        """Evaluate the features at points of the grid.

        Args:
            decisions: indices, shape (t,).
            contexts: indices, shape (t,).

        Returns:
            Features, shape (t, m).
        """
        frequencies = self._of_contexts.shape[1]
        features = np.empty((len(decisions), 2 * frequencies if self._pairs else frequencies))
        for rows in self._blocks(len(decisions)):
            waves = self._of_decisions.at(decisions[rows])
            waves *= self._of_contexts[contexts[rows]]
            features[rows] = waves.view(float) if self._pairs else waves.real
        return features

    def table(self, theta: np.ndarray) -> np.ndarray:
        """Evaluate ``phi(z)'theta`` on the whole grid.

        Args:
            theta: weights of the features, shape (m,).

        Returns:
            Values, shape (X, C).
        """
        # Re(u v) is the inner product of u and the conjugate of v, both read as pairs of real numbers.
        conjugate = theta.view(complex) if self._pairs else theta
        weighted = (conjugate * self._of_contexts.conj()).view(float).T
        table = np.empty((self._of_decisions.points, len(self._of_contexts)))
        for rows in self._blocks(len(table)):
            waves = self._of_decisions.at(np.arange(rows.start, rows.stop))
            np.matmul(waves.view(float), weighted, out=table[rows])
        return table

    def _blocks(self, points: int) -> Iterator[slice]:
        """Split points so that the exponentials of a block stay in the processor's cache."""
        size = max(1, NUMBERS_IN_CACHE // self._of_contexts.shape[1])
        for start in range(0, points, size):
            yield slice(start, min(start + size, points))


class _Exponentials:
    """exp(i w'z) for points z with given axes and frequencies w, shape (m, D), worked out once a level."""

    def __init__(self, axes: Axes, frequencies: np.ndarray) -> None:
        self.points = len(axes.index[0])
        self._index = axes.index
        self._levels = [
            _unit_circle(np.multiply.outer(levels, frequency))
            for levels, frequency in zip(axes.levels, frequencies.T, strict=True)
        ]

    def at(self, points: np.ndarray) -> np.ndarray:
        """Multiply the axes at points, given by index (n,); shape (n, m)."""
        product: np.ndarray = self._levels[0][self._index[0][points]]
        for levels, index in zip(self._levels[1:], self._index[1:], strict=True):
            product *= levels[index[points]]
        return product


def _unit_circle(angle: np.ndarray) -> np.ndarray:
    """Return exp(i angle), several times faster than `numpy.exp` of complex numbers."""
    point = np.empty(angle.shape, dtype=complex)
    np.cos(angle, out=point.real)
    np.sin(angle, out=point.imag)
    return point


def sample_weights(
    features: np.ndarray, values: np.ndarray, noise: float | np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """Sample the weights of a Bayesian linear model with standard normal prior, given data.

    Args:
        features: at the observations, shape (t, m).
        values: observed, shape (t,).
        noise: standard deviation of the observations' noise, one number or shape (t,).
        generator: where randomness comes from.

    Returns:
        A sample of N(A^-1 features' values, noise^2 A^-1), A = features' features + noise^2 I, shape (m,); by
        the smaller of the two systems, of size t or m.
    """
    from scipy.linalg import cho_solve, solve_triangular  # slow to import, and planning needs none of it

    t, m = features.shape
    prior: np.ndarray = generator.standard_normal((m,))
    if t == 0:
        return prior
    if isinstance(noise, np.ndarray):
        # Observations in units of their own noise.
        features, values, noise = features / noise[:, None], values / noise, 1.0
    if t < m:
        gram = features @ features.T
        gram[np.diag_indices(t)] += noise**2
        solve = partial(cho_solve, _factorised(gram), check_finite=False)
        return prior + features.T @ correction_weights(
            solve, values, features @ prior, noise, generator.standard_normal((t,))
        )
    precision = features.T @ features
    precision[np.diag_indices(m)] += noise**2
    factor = _factorised(precision)
    mean = cho_solve(factor, features.T @ values, check_finite=False)
    return mean + noise * solve_triangular(factor[0], prior, lower=True, trans=1, check_finite=False)


def _factorised(matrix: np.ndarray) -> tuple[np.ndarray, bool]:
    """Factorise a symmetric positive definite matrix in its own memory (its transpose is what LAPACK works on)."""
    from scipy.linalg import cho_factor

    return cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)
