"""The payoff of decisions in M contexts under one sample of a posterior.

A sample of the prior, by Fourier features, is corrected by the data exactly (`surrogates.matheron`). The kernel is
a product of a decision and a context part, so that all M contexts of a decision are one matrix product.
"""

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.kernels import squared_distance
from bocu.learners.acquisition.base import BLOCK_NUMBERS, Pullback, Surface
from bocu.learners.surrogates.continuous.model import Posterior
from bocu.learners.surrogates.features import SampledWaves
from bocu.learners.surrogates.matheron import correction_weights


class SampledSurface(Surface):
    """A sample of the noise-free payoff over decisions and M contexts.

    Args:
        posterior: of the payoff; its kernel is a product over decisions and contexts.
        points: contexts in [0, 1], shape (M, Dc).
        waves: a sample of the posterior's prior, standardised.
        noise: standard normal draws, one for each observation, shape (t,).

    Raises:
        BocuError: the kernel is no product, or shapes do not fit.
    """

    def __init__(self, posterior: Posterior, points: np.ndarray, waves: SampledWaves, noise: np.ndarray) -> None:
        structure, here = posterior.structure, posterior.hyperparameters
        if len(structure.factors) != 2:
            raise BocuError("kernel: found one factor over decisions and contexts; allowed: one factor for each")
        if points.ndim != 2 or points.shape[1] != structure.contexts or not len(points):
            raise BocuError(f"contexts: found shape {points.shape}; allowed: (M, {structure.contexts}) with M positive")
        self.posterior = posterior
        self.points = points
        self.waves = waves
        self.noise = noise
        inputs = posterior.inputs
        values = posterior.standardised - posterior.mean
        weights = correction_weights(posterior.solve, values, waves(inputs), float(np.sqrt(here.noise)), noise)
        of_decisions, of_contexts = structure.factors
        self._kernel = of_decisions.kernel
        self._lengthscales = here.lengthscales[of_decisions.columns]
        self._scaled = inputs[:, of_decisions.columns] / self._lengthscales
        padded = np.concatenate([np.zeros((len(points), structure.decisions)), points], axis=1)
        between = structure.scaled_distance(of_contexts, here.lengthscales, inputs, padded)
        self._correction = here.output_scale * weights[:, None] * of_contexts.kernel.value(between)  # (t, M)
        self._frequencies = waves.frequencies[:, : structure.decisions]
        angle = waves.frequencies[:, structure.decisions :] @ points.T + waves.phases[:, None]
        # cos(a + b) = cos a cos b - sin a sin b, a of the decision and b of the context.
        self._cosine = waves.amplitudes[:, None] * np.cos(angle)  # (m, M)
        self._sine = waves.amplitudes[:, None] * np.sin(angle)

    @property
    def dimension(self) -> int:
        return self.posterior.structure.decisions

    @property
    def contexts(self) -> int:
        return len(self.points)

    @property
    def block(self) -> int:
        return max(1, BLOCK_NUMBERS // max(len(self._cosine), self.contexts))

    def payoffs(self, decisions: np.ndarray) -> np.ndarray:
        return self.evaluate(decisions)[0]

    def evaluate(self, decisions: np.ndarray) -> tuple[np.ndarray, Pullback]:
        scaled = decisions / self._lengthscales
        value, slope = self._kernel.value_and_slope(squared_distance(scaled, self._scaled))
        angle = decisions @ self._frequencies.T
        cosine, sine = np.cos(angle), np.sin(angle)
        standardised = self.posterior.mean + value @ self._correction + cosine @ self._cosine - sine @ self._sine

        def pullback(weights: np.ndarray) -> np.ndarray:
            pulled = self.posterior.scale * weights
            along = slope * (pulled @ self._correction.T)
            by_data = 2.0 * (scaled * along.sum(axis=1)[:, None] - along @ self._scaled) / self._lengthscales
            by_angle = -sine * (pulled @ self._cosine.T) - cosine * (pulled @ self._sine.T)
            gradient: np.ndarray = by_data + by_angle @ self._frequencies
            return gradient

        return self.posterior.shift + self.posterior.scale * standardised, pullback

    def rough(self, indices: np.ndarray) -> "SampledSurface":
        return SampledSurface(self.posterior, self.points[indices], self.waves, self.noise)
