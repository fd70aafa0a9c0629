"""Posteriors of BoTorch's default model worked out by NumPy alone, from its hyper-parameters and the data."""

from typing import Any

import numpy as np

Array = np.ndarray


class HandMade:
    """The posterior of a fitted `SingleTaskGP` with defaults, of one output.

    Args:
        model: fitted; only its hyper-parameters are looked at.
        inputs: data, shape (t, D).
        payoffs: shape (t,).
        output: which of the model's.
    """

    def __init__(self, model: Any, inputs: Array, payoffs: Array, output: int = 0) -> None:
        def of(parameter: Any) -> Array:
            found: Array = parameter.detach().numpy()
            return found[output] if model.num_outputs > 1 else found

        self.lengthscales = of(model.covar_module.lengthscale).reshape(-1)
        self.constant = float(of(model.mean_module.constant))
        self.noise = float(of(model.likelihood.noise).reshape(-1)[0])
        self.shift, self.scale = payoffs.mean(), payoffs.std(ddof=1)
        self.inputs = inputs
        self.values = (payoffs - self.shift) / self.scale

    def kernel(self, a: Array, b: Array) -> Array:
        gaps = (a[:, None, :] - b[None, :, :]) / self.lengthscales
        return np.exp(-0.5 * (gaps**2).sum(axis=-1))

    def moments(self, points: Array) -> tuple[Array, Array]:
        """Mean (n,) and covariance (n, n) of the noise-free payoff at points (n, D)."""
        gram = self.kernel(self.inputs, self.inputs) + self.noise * np.eye(len(self.inputs))
        cross = self.kernel(points, self.inputs)
        mean = self.constant + cross @ np.linalg.solve(gram, self.values - self.constant)
        covariance = self.kernel(points, points) - cross @ np.linalg.solve(gram, cross.T)
        return self.shift + self.scale * mean, self.scale**2 * covariance

    def told(self, point: Array, standard_normal: float) -> "HandMade":
        """The posterior after one more observation, so many deviations off its prediction."""
        mean, covariance = self.moments(point[None])
        deviation = np.sqrt(covariance[0, 0] + self.scale**2 * self.noise)
        other = HandMade.__new__(HandMade)
        other.__dict__.update(self.__dict__)
        other.inputs = np.concatenate([self.inputs, point[None]])
        value = mean[0] + standard_normal * deviation
        other.values = np.append(self.values, (value - self.shift) / self.scale)
        return other

    def sample(self, points: Array, size: int, generator: np.random.Generator) -> Array:
        """Joint draws (size, n)."""
        mean, covariance = self.moments(points)
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        return mean + generator.standard_normal((size, len(points))) @ root.T


def everywhere(decisions: Array, contexts: Array) -> Array:
    """Every decision (n, Dx) in every context (n_w, Dc), decision by decision: (n n_w, D)."""
    return np.concatenate([np.repeat(decisions, len(contexts), axis=0), np.tile(contexts, (len(decisions), 1))], axis=1)


def measured(risk: str, alpha: float, payoffs: Array) -> Array:
    """A measure (...) over the last axis of payoffs (..., n_w), as BoTorch counts worst outcomes."""
    ascending, count = np.sort(payoffs, axis=-1), payoffs.shape[-1]
    worst = count - int(np.ceil(count * (1.0 - alpha))) + 1
    return {
        "expectation": payoffs.mean(axis=-1),
        "worst-case": ascending[..., 0],
        "var": ascending[..., worst - 1],
        "cvar": ascending[..., :worst].mean(axis=-1),
    }[risk]
