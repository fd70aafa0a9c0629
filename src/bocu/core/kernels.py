"""Stationary kernels of unit variance, the only place where they are written.

A kernel is a function of the squared distance s of two points in length-scales: its value, its slope in s, from which
all derivatives in inputs and length-scales follow, and draws from its spectral density are all that anything needs.
They stand below the ambiguity sets, whose maximum mean discrepancy needs a Gram matrix, and need numpy alone.

Source: Rasmussen and Williams (2006), section 4.2.1 (kernels and their spectral densities); spectral sampling: Rahimi
and Recht (2007).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from bocu.core.errors import BocuError

KernelName = Literal["squared-exponential", "matern-5/2"]  #: Kernels that experiment files name.

LEAST_VARIANCE = 1e-12  #: Of a posterior, as a share of the prior variance: less is rounding.


@dataclass(frozen=True)
class Kernel(ABC):
    """A kernel with k(z, z) = 1 on points of as many dimensions as it has length-scales.

    The class alone is the kernel at unit length-scales, as a function of the squared distance.

    Args:
        lengthscale: one positive length-scale for each dimension, in the units of that dimension.

    Raises:
        BocuError: a length-scale is not a positive number.
    """

    lengthscale: tuple[float, ...]

    def __post_init__(self) -> None:
        lengthscale = tuple(float(value) for value in np.atleast_1d(self.lengthscale))
        if not lengthscale or not all(np.isfinite(value) and value > 0.0 for value in lengthscale):
            raise BocuError(f"lengthscale: found {lengthscale}; allowed: positive numbers, one for each dimension")
        object.__setattr__(self, "lengthscale", lengthscale)

    @staticmethod
    @abstractmethod
    def value(s: np.ndarray) -> np.ndarray:
        """Return the kernel at squared distances `s`, of the same shape."""

    @staticmethod
    @abstractmethod
    def value_and_slope(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the kernel and its derivative in s at `s`, both of the same shape; the slope is finite at 0."""

    @staticmethod
    @abstractmethod
    def unit_spectral(generator: np.random.Generator, size: int, dimension: int) -> np.ndarray:
        """Draw angular frequencies w with k(a, b) = E cos(w.(a - b)) at unit length-scales, (size, dimension)."""

    @abstractmethod
    def axes(self) -> tuple[Self, ...] | None:
        """Return one kernel for each dimension whose product this one is; None where it is no such product."""

    def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the covariances of points `a` (n, D) with points `b` (m, D), shape (n, m)."""
        for points in (a, b):
            if points.ndim != 2 or points.shape[1] != len(self.lengthscale):
                raise BocuError(f"points: found shape {points.shape}; allowed: (points, {len(self.lengthscale)})")
        return self.value(squared_distance(a, b, self.lengthscale))

    def spectral(self, generator: np.random.Generator, size: int) -> np.ndarray:
        """Draw angular frequencies w with k(a, b) = E cos(w.(a - b)), shape (size, D)."""
        return self.unit_spectral(generator, size, len(self.lengthscale)) / self.lengthscale


class SquaredExponential(Kernel):
    """The kernel exp(-s / 2)."""

    @staticmethod
    def value(s: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * s)

    @staticmethod
    def value_and_slope(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value = np.exp(-0.5 * s)
        return value, -0.5 * value

    @staticmethod
    def unit_spectral(generator: np.random.Generator, size: int, dimension: int) -> np.ndarray:
        return generator.standard_normal((size, dimension))

    def axes(self) -> tuple[Self, ...]:
        return tuple(type(self)((lengthscale,)) for lengthscale in self.lengthscale)


class Matern52(Kernel):
    """The kernel (1 + r + r^2 / 3) exp(-r), r = sqrt(5 s), whose slope in s is -5/6 (1 + r) exp(-r)."""

    @staticmethod
    def value(s: np.ndarray) -> np.ndarray:
        r = np.sqrt(5.0 * s)
        return (1.0 + r * (1.0 + r / 3.0)) * np.exp(-r)

    @staticmethod
    def value_and_slope(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        r = np.sqrt(5.0 * s)
        decay = np.exp(-r)
        line = (1.0 + r) * decay
        return 5.0 / 3.0 * s * decay + line, -5.0 / 6.0 * line

    @staticmethod
    def unit_spectral(generator: np.random.Generator, size: int, dimension: int) -> np.ndarray:
        # Student's t with 5 degrees of freedom.
        normal = generator.standard_normal((size, dimension))
        return normal / np.sqrt(generator.chisquare(5.0, size) / 5.0)[:, None]

    def axes(self) -> tuple[Self, ...] | None:
        return (self,) if len(self.lengthscale) == 1 else None


#: By the names that experiment files and prepared data use.
KERNELS: Mapping[str, type[Kernel]] = {"squared-exponential": SquaredExponential, "matern-5/2": Matern52}


def kernel_named(name: str) -> type[Kernel]:
    """Look a kernel up by its name.

    Raises:
        BocuError: there is no kernel of that name.
    """
    try:
        return KERNELS[name]
    except KeyError:
        from bocu.core.parameters import nearest  # brings pydantic, which an ambiguity set does not need

        raise BocuError(f"kernel: found '{name}'; {nearest(name, KERNELS)}") from None


def squared_distance(a: np.ndarray, b: np.ndarray, lengthscale: tuple[float, ...] | None = None) -> np.ndarray:
    """Sum squared differences over dimensions; differences, not products, keep close points exact.

    Args:
        a: points, shape (n, D).
        b: points, shape (m, D).
        lengthscale: what differences are divided by, one number for each dimension; None: points are scaled already.

    Returns:
        Squared distances, shape (n, m).
    """
    total = np.zeros((len(a), len(b)))
    for column in range(a.shape[1]):
        difference = np.subtract.outer(a[:, column], b[:, column])
        if lengthscale is not None:
            difference /= lengthscale[column]
        total += np.square(difference, out=difference)
    return total
