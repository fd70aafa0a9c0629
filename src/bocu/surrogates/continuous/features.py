"""Samples of a prior over continuous decisions and contexts, by random Fourier features.

Source: Rahimi and Recht (2007). With angular frequencies w_j of the kernel's spectral density and random phases b_j, a
function of the prior is approximately ``sqrt(2 s^2 / m) sum_j theta_j cos(w_j'z + b_j)``, theta standard normal.
"""

from dataclasses import dataclass

import numpy as np

from bocu.surrogates.continuous.structure import Hyperparameters, Structure


@dataclass(frozen=True)
class SampledWaves:
    """A sample of the prior: a sum of m waves.

    Attributes:
        frequencies: angular, of the unscaled inputs, shape (m, D).
        phases: shape (m,).
        amplitudes: shape (m,).
    """

    frequencies: np.ndarray
    phases: np.ndarray
    amplitudes: np.ndarray

    @classmethod
    def draw(
        cls, structure: Structure, hyperparameters: Hyperparameters, size: int, generator: np.random.Generator
    ) -> "SampledWaves":
        """Draw `size` waves of the prior with the kernel of `structure`, of mean 0."""
        frequencies = np.empty((size, structure.inputs))
        for factor in structure.factors:
            scale = hyperparameters.lengthscales[factor.columns]
            frequencies[:, factor.columns] = factor.kernel.unit_spectral(generator, size, len(scale)) / scale
        phases = 2.0 * np.pi * generator.random(size)
        spread = np.sqrt(2.0 * hyperparameters.output_scale / size)
        return cls(frequencies, phases, spread * generator.standard_normal(size))

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Return the sample at points (n, D), shape (n,)."""
        return np.cos(points @ self.frequencies.T + self.phases) @ self.amplitudes
