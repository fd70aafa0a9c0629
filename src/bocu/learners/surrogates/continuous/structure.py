"""Covariances over decisions and contexts as products of kernels, and the hyper-parameters that a fit decides.

A covariance is `output_scale * prod_f kernel_f(s_f)`, where each factor f owns a group of inputs and s_f is the sum
over that group of the squared differences in length-scales. The groupings are the joint kernel of Huang et al. (2024)
and a product of one kernel over decisions and one over contexts.
"""

from dataclasses import dataclass

import numpy as np

from bocu.core.kernels import Kernel, kernel_named, squared_distance
from bocu.core.plain import State


@dataclass(frozen=True)
class Factor:
    """One factor of a covariance: a kernel over the inputs `columns`."""

    kernel: type[Kernel]
    columns: slice


@dataclass(frozen=True)
class Structure:
    """Which inputs share a factor; the inputs are the decision's coordinates, then the context's."""

    decisions: int  #: number of decision coordinates.
    contexts: int  #: number of context coordinates; 0: the context is no input.
    factors: tuple[Factor, ...]  #: over disjoint groups of inputs that together are all of them.

    @property
    def inputs(self) -> int:
        """Number of coordinates of decision and context together."""
        return self.decisions + self.contexts

    @property
    def separable(self) -> bool:
        """Whether the covariance is a product of one function of decisions and one of contexts."""
        return self.contexts == 0 or len(self.factors) == 2

    def kernels(self, lengthscales: np.ndarray) -> tuple[Kernel, ...]:
        """Return the kernel of each factor at length-scales (D,)."""
        return tuple(factor.kernel(tuple(lengthscales[factor.columns])) for factor in self.factors)

    def scaled_distance(self, factor: Factor, lengthscales: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the squared distance of points `a` (n, D) and `b` (m, D) in one factor, shape (n, m)."""
        scale = lengthscales[factor.columns]
        return squared_distance(a[:, factor.columns] / scale, b[:, factor.columns] / scale)

    def correlation(self, lengthscales: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the covariance at output scale 1 of points `a` (n, D) with points `b` (m, D), shape (n, m)."""
        first, *others = (
            factor.kernel.value(self.scaled_distance(factor, lengthscales, a, b)) for factor in self.factors
        )
        for other in others:
            first *= other
        return first


def product(decisions: int, contexts: int, decision_kernel: str, context_kernel: str) -> Structure:
    """Multiply a kernel over decisions by one over contexts.

    Raises:
        BocuError: a kernel is unknown.
    """
    return Structure(
        decisions,
        contexts,
        (
            Factor(kernel_named(decision_kernel), slice(0, decisions)),
            Factor(kernel_named(context_kernel), slice(decisions, decisions + contexts)),
        ),
    )


def joint(decisions: int, contexts: int, kernel: str) -> Structure:
    """Put one kernel over all inputs; `contexts` 0: over decisions alone.

    Raises:
        BocuError: the kernel is unknown.
    """
    return Structure(decisions, contexts, (Factor(kernel_named(kernel), slice(0, decisions + contexts)),))


@dataclass(frozen=True)
class Hyperparameters:
    """What a fit decides, for inputs in [0, 1] and outputs of mean 0 and variance 1."""

    lengthscales: np.ndarray  #: one for each input, shape (D,).
    output_scale: float  #: prior variance of the payoff.
    noise: float  #: variance of the observation noise.

    def to_vector(self) -> np.ndarray:
        """Return the logarithms of length-scales, output scale and noise, shape (D + 2,)."""
        return np.log(np.concatenate([self.lengthscales, [self.output_scale, self.noise]]))

    @classmethod
    def from_vector(cls, vector: np.ndarray) -> "Hyperparameters":
        """Build them from their logarithms in one vector."""
        natural = np.exp(vector)
        return cls(natural[:-2], float(natural[-2]), float(natural[-1]))

    def state(self) -> State:
        """Return plain data."""
        return {
            "lengthscales": self.lengthscales.copy(),
            "output_scale": self.output_scale,
            "noise": self.noise,
        }

    @classmethod
    def restored(cls, state: State) -> "Hyperparameters":
        """Build from what `state` gave, bit for bit."""
        lengthscales = np.array(state["lengthscales"], dtype=float)
        return cls(lengthscales, float(state["output_scale"]), float(state["noise"]))
