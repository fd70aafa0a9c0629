"""Random Fourier features of a Gaussian-process prior, on grids and over continuous inputs.

Source: Rahimi and Recht (2007). With angular frequencies w_j of the kernel's spectral density, a function of the prior
of mean 0 is approximately ``phi(z)'theta``, theta standard normal, where the m features phi are
``sqrt(2 s^2 / m) cos(w_j'z + b_j)`` with random phases b_j, or ``sqrt(2 s^2 / m)`` times cosine and sine of m / 2
frequencies. A kernel that is a product over groups of inputs has one block of columns of the frequencies for each.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.kernels import Kernel


@dataclass(frozen=True)
class FourierFeatures:
    """One draw of m features.

    Attributes:
        frequencies: angular, in units of the inputs, shape (m, D), or (m / 2, D) in pairs.
        phases: shape (m,); None where features are cosine and sine in pairs.
        amplitude: of each feature.
    """

    frequencies: np.ndarray
    phases: np.ndarray | None
    amplitude: float

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

        Raises:
            BocuError: `count` is not positive, or odd although features come in pairs.
        """
        refuse_count(count, pairs)
        size = count // 2 if pairs else count
        frequencies = np.concatenate([kernel.spectral(generator, size) for kernel in kernels], axis=1)
        phases = None if pairs else 2.0 * np.pi * generator.random(size)
        return cls(frequencies, phases, float(np.sqrt(2.0 * variance / count)))


def refuse_count(count: int, pairs: bool) -> None:
    """Refuse a number of features that is not positive, or odd although they come in pairs, by a BocuError."""
    if count < 1 or (pairs and count % 2):
        raise BocuError(f"features: found {count}; allowed: positive{' even' if pairs else ''} numbers")


@dataclass(frozen=True)
class SampledWaves:
    """A sample of a prior of mean 0: a sum of m waves.

    Attributes:
        frequencies: angular, in units of the inputs, shape (m, D).
        phases: shape (m,).
        amplitudes: shape (m,).
    """

    frequencies: np.ndarray
    phases: np.ndarray
    amplitudes: np.ndarray

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
