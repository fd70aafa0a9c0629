"""Posteriors that the tests of acquisition functions share."""

import numpy as np

from bocu.learners.surrogates.continuous.model import Posterior
from bocu.learners.surrogates.continuous.structure import Hyperparameters, Structure, joint, product

SE, MATERN = "squared-exponential", "matern-5/2"


def posterior(structure: Structure, count: int = 40, noise: float = 1e-2, seed: int = 0) -> Posterior:
    """A posterior of a smooth payoff with fixed hyper-parameters."""
    generator = np.random.default_rng(seed)
    inputs = generator.random((count, structure.inputs))
    outputs = -3.0 + 2.0 * np.sin(5.0 * inputs @ np.arange(1, structure.inputs + 1) + seed)
    lengthscales = np.linspace(0.25, 0.5, structure.inputs)
    return Posterior(structure, Hyperparameters(lengthscales, 1.3, noise), inputs, outputs)


STRUCTURES = {
    "squared-exponential 2+1": product(2, 1, SE, SE),
    "squared-exponential 1+2": product(1, 2, SE, SE),
    "matern 2+1": product(2, 1, MATERN, MATERN),
    "mixed 3+1": product(3, 1, MATERN, SE),
    "joint matern 2+1": joint(2, 1, MATERN),
    "joint squared-exponential 1+2": joint(1, 2, SE),
}


def differences(function, points, step=1e-5):
    """Central differences (B, D) of a function of points (B, D) with values (B,)."""
    answer = np.empty_like(points)
    for column in range(points.shape[1]):
        shift = np.zeros(points.shape[1])
        shift[column] = step
        answer[:, column] = (function(points + shift) - function(points - shift)) / (2.0 * step)
    return answer
