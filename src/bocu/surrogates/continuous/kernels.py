"""Kernels as profiles of a squared distance, with the slopes that gradients need.

A covariance is `output_scale * prod_f profile_f(s_f)`, where each factor f owns a group of inputs and s_f is the sum
over that group of the squared differences in length-scales. All derivatives, in inputs and in length-scales, follow
from the slope of the profile in s. Sources: Rasmussen and Williams (2006), section 4.2.1; the groupings are the joint
kernel of Huang et al. (2024) and a product of one kernel over decisions and one over contexts.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.parameters import nearest


class Profile(ABC):
    """A stationary kernel of unit variance as a function of the squared distance s in length-scales."""

    name: str

    @abstractmethod
    def value(self, s: np.ndarray) -> np.ndarray:
        """Return the kernel at `s`, of the same shape."""

    @abstractmethod
    def value_and_slope(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the kernel and its derivative in s at `s`, both of the same shape; the slope is finite at 0."""

    @abstractmethod
    def spectral(self, generator: np.random.Generator, size: int, dimension: int) -> np.ndarray:
        """Draw angular frequencies at unit length-scales from the normalised spectral density, (size, dimension)."""


class SquaredExponentialProfile(Profile):
    """The kernel exp(-s / 2)."""

    name = "squared-exponential"

    def value(self, s: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * s)

    def value_and_slope(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value = np.exp(-0.5 * s)
        return value, -0.5 * value

    def spectral(self, generator: np.random.Generator, size: int, dimension: int) -> np.ndarray:
        return generator.standard_normal((size, dimension))


class Matern52Profile(Profile):
    """The kernel (1 + r + r^2 / 3) exp(-r), r = sqrt(5 s), whose slope in s is -5/6 (1 + r) exp(-r)."""

    name = "matern-5/2"

    def value(self, s: np.ndarray) -> np.ndarray:
        r = np.sqrt(5.0 * s)
        return (1.0 + r * (1.0 + r / 3.0)) * np.exp(-r)

    def value_and_slope(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        r = np.sqrt(5.0 * s)
        decay = np.exp(-r)
        linear = (1.0 + r) * decay
        return linear + (5.0 / 3.0) * s * decay, (-5.0 / 6.0) * linear

    def spectral(self, generator: np.random.Generator, size: int, dimension: int) -> np.ndarray:
        # Student's t with 5 degrees of freedom.
        normal = generator.standard_normal((size, dimension))
        return normal / np.sqrt(generator.chisquare(5.0, size) / 5.0)[:, None]


SQUARED_EXPONENTIAL = SquaredExponentialProfile()
MATERN_52 = Matern52Profile()
PROFILES: Mapping[str, Profile] = {profile.name: profile for profile in (SQUARED_EXPONENTIAL, MATERN_52)}


def profile_named(name: str) -> Profile:
    """Look a profile up by its name.

    Raises:
        BocuError: there is no profile of that name.
    """
    try:
        return PROFILES[name]
    except KeyError:
        raise BocuError(f"kernel: found '{name}'; {nearest(name, PROFILES)}") from None


@dataclass(frozen=True)
class Factor:
    """One factor of a covariance: a profile over the inputs `columns`."""

    profile: Profile
    columns: slice


@dataclass(frozen=True)
class Structure:
    """Which inputs share a factor; the inputs are the decision's coordinates, then the context's.

    Attributes:
        decisions: number of decision coordinates.
        contexts: number of context coordinates; 0: the context is no input.
        factors: over disjoint groups of inputs that together are all of them.
    """

    decisions: int
    contexts: int
    factors: tuple[Factor, ...]

    @property
    def inputs(self) -> int:
        return self.decisions + self.contexts

    @property
    def separable(self) -> bool:
        """Whether the covariance is a product of one function of decisions and one of contexts."""
        return self.contexts == 0 or len(self.factors) == 2

    def scaled_distance(self, factor: Factor, lengthscales: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the squared distance of points `a` (n, D) and `b` (m, D) in one factor, shape (n, m)."""
        scale = lengthscales[factor.columns]
        return squared_distance(a[:, factor.columns] / scale, b[:, factor.columns] / scale)

    def correlation(self, lengthscales: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the covariance at output scale 1 of points `a` (n, D) with points `b` (m, D), shape (n, m)."""
        first, *others = (
            factor.profile.value(self.scaled_distance(factor, lengthscales, a, b)) for factor in self.factors
        )
        for other in others:
            first *= other
        return first


def product(decisions: int, contexts: int, decision_kernel: str, context_kernel: str) -> Structure:
    """Multiply a kernel over decisions by one over contexts.

    Raises:
        BocuError: a kernel is unknown or a number of coordinates is not positive.
    """
    _positive("decisions", decisions)
    _positive("contexts", contexts)
    return Structure(
        decisions,
        contexts,
        (
            Factor(profile_named(decision_kernel), slice(0, decisions)),
            Factor(profile_named(context_kernel), slice(decisions, decisions + contexts)),
        ),
    )


def joint(decisions: int, contexts: int, kernel: str) -> Structure:
    """Put one kernel over all inputs; `contexts` 0: over decisions alone.

    Raises:
        BocuError: the kernel is unknown or a number of coordinates is out of range.
    """
    _positive("decisions", decisions)
    if contexts < 0:
        raise BocuError(f"contexts: found {contexts}; allowed: 0 or more coordinates")
    return Structure(decisions, contexts, (Factor(profile_named(kernel), slice(0, decisions + contexts)),))


def squared_distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return squared distances of points (n, D) and (m, D), shape (n, m); differences keep close points exact."""
    total = np.square(np.subtract.outer(a[:, 0], b[:, 0]))
    for column in range(1, a.shape[1]):
        total += np.square(np.subtract.outer(a[:, column], b[:, column]))
    return total


@dataclass(frozen=True)
class Hyperparameters:
    """What a fit decides, for inputs in [0, 1] and outputs of mean 0 and variance 1.

    Attributes:
        lengthscales: one for each input, shape (D,).
        output_scale: prior variance of the payoff.
        noise: variance of the observation noise.
    """

    lengthscales: np.ndarray
    output_scale: float
    noise: float

    def to_vector(self) -> np.ndarray:
        """Return the logarithms of length-scales, output scale and noise, shape (D + 2,)."""
        return np.log(np.concatenate([self.lengthscales, [self.output_scale, self.noise]]))

    @classmethod
    def from_vector(cls, vector: np.ndarray) -> "Hyperparameters":
        natural = np.exp(vector)
        return cls(natural[:-2], float(natural[-2]), float(natural[-1]))

    def state(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "lengthscales": self.lengthscales.copy(),
            "output_scale": self.output_scale,
            "noise": self.noise,
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> "Hyperparameters":
        """Build from what `state` gave, bit for bit."""
        lengthscales = np.array(state["lengthscales"], dtype=float)
        return cls(lengthscales, float(state["output_scale"]), float(state["noise"]))


def _positive(name: str, value: int) -> None:
    if value < 1:
        raise BocuError(f"{name}: found {value}; allowed: 1 or more coordinates")
