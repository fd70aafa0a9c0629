"""Stationary kernels of unit variance, with one length-scale for each dimension.

Source: Rasmussen and Williams (2006), sections 4.2.1 (kernels and their spectral densities); spectral sampling:
Rahimi and Recht (2007).
"""

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from bocu.core.errors import BocuError

SQRT_5 = float(np.sqrt(5.0))


class Kernel(Protocol):
    """A stationary kernel with k(z, z) = 1 on points of as many dimensions as it has length-scales."""

    @property
    def lengthscale(self) -> tuple[float, ...]:
        """Length-scales, one for each dimension, in the units of that dimension."""

    def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the covariances of points `a` (n, D) with points `b` (m, D), shape (n, m)."""

    def spectral(self, generator: np.random.Generator, size: int) -> np.ndarray:
        """Draw angular frequencies w with k(a, b) = E cos(w.(a - b)), shape (size, D)."""

    def axes(self) -> "tuple[Kernel, ...] | None":
        """Return one kernel for each dimension whose product this one is; None where it is no such product."""


@dataclass(frozen=True)
class _Stationary:
    """What the kernels share: checked length-scales and scaled distances."""

    lengthscale: tuple[float, ...]

    def __post_init__(self) -> None:
        lengthscale = tuple(float(value) for value in np.atleast_1d(self.lengthscale))
        if not lengthscale or not all(np.isfinite(value) and value > 0.0 for value in lengthscale):
            raise BocuError(f"lengthscale: found {lengthscale}; allowed: positive numbers, one for each dimension")
        object.__setattr__(self, "lengthscale", lengthscale)

    def _squared_distance(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Sum the squared differences in length-scales; differences, not products, keep close points exact."""
        for points in (a, b):
            if points.ndim != 2 or points.shape[1] != len(self.lengthscale):
                raise BocuError(f"points: found shape {points.shape}; allowed: (points, {len(self.lengthscale)})")
        total = np.zeros((len(a), len(b)))
        for dimension, lengthscale in enumerate(self.lengthscale):
            total += (np.subtract.outer(a[:, dimension], b[:, dimension]) / lengthscale) ** 2
        return total


@dataclass(frozen=True)
class SquaredExponential(_Stationary):
    """The kernel exp(-r^2 / 2), r the distance in length-scales.

    Args:
        lengthscale: one positive length-scale for each dimension.

    Raises:
        BocuError: a length-scale is not a positive number.
    """

    def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the covariances of points `a` (n, D) with points `b` (m, D), shape (n, m)."""
        return np.exp(-0.5 * self._squared_distance(a, b))

    def spectral(self, generator: np.random.Generator, size: int) -> np.ndarray:
        """Draw angular frequencies from N(0, diag(lengthscale^-2)), shape (size, D)."""
        return generator.standard_normal((size, len(self.lengthscale))) / self.lengthscale

    def axes(self) -> tuple[Self, ...]:
        """Return the kernel of each dimension; their product is this kernel."""
        return tuple(type(self)((lengthscale,)) for lengthscale in self.lengthscale)


@dataclass(frozen=True)
class Matern52(_Stationary):
    """The kernel (1 + s + s^2 / 3) exp(-s), s = sqrt(5) r, r the distance in length-scales.

    Args:
        lengthscale: one positive length-scale for each dimension.

    Raises:
        BocuError: a length-scale is not a positive number.
    """

    def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the covariances of points `a` (n, D) with points `b` (m, D), shape (n, m)."""
        s = SQRT_5 * np.sqrt(self._squared_distance(a, b))
        return (1.0 + s + s**2 / 3.0) * np.exp(-s)

    def spectral(self, generator: np.random.Generator, size: int) -> np.ndarray:
        """Draw angular frequencies from Student's t with five degrees of freedom, shape (size, D)."""
        normal = generator.standard_normal((size, len(self.lengthscale))) / self.lengthscale
        return normal * np.sqrt(5.0 / generator.chisquare(5.0, (size, 1)))

    def axes(self) -> tuple[Self, ...] | None:
        """Return the kernel itself in one dimension, None in more: it is no product over dimensions."""
        return (self,) if len(self.lengthscale) == 1 else None
