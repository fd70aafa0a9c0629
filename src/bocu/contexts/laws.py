"""Distributions that continuous contexts are drawn from, clipped to a box, and how far an estimate is from them.

Source: Huang et al. (2024), appendix B.2 and, for the distance of kernel density estimates, appendix E. Coordinates of
a context are independent. Draws and quasi-random points are made by inversion: one uniform number is one coordinate.
Clipping leaves an atom at either end of the box; densities and quantiles of a `Marginal` are those before clipping.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from bocu.ambiguity import checks
from bocu.ambiguity.checks import Floats
from bocu.core.errors import BocuError

# Uniform numbers are kept this far from 0 and 1, where quantiles of unbounded distributions are infinite.
_SMALLEST = 2.0**-53


class Marginal(ABC):
    """The distribution of one coordinate on the line; all methods work elementwise on arrays."""

    @abstractmethod
    def density(self, at: Floats) -> Floats:
        """Density."""

    @abstractmethod
    def cumulative(self, at: Floats) -> Floats:
        """Distribution function."""

    @abstractmethod
    def quantile(self, uniforms: Floats) -> Floats:
        """Inverse of the distribution function, at numbers in (0, 1)."""


@dataclass(frozen=True)
class Gaussian(Marginal):
    """Normal distribution."""

    mean: float
    std: float

    def density(self, at: Floats) -> Floats:
        return np.exp(-0.5 * ((at - self.mean) / self.std) ** 2) / (self.std * math.sqrt(2 * math.pi))

    def cumulative(self, at: Floats) -> Floats:
        from scipy.special import ndtr  # slow to import, and planning needs none of it

        return np.asarray(ndtr((at - self.mean) / self.std))

    def quantile(self, uniforms: Floats) -> Floats:
        from scipy.special import ndtri

        return self.mean + self.std * np.asarray(ndtri(uniforms))


@dataclass(frozen=True)
class Cauchy(Marginal):
    """Cauchy distribution, by location and half-width at half-maximum."""

    location: float
    scale: float

    def density(self, at: Floats) -> Floats:
        return 1.0 / (math.pi * self.scale * (1.0 + ((at - self.location) / self.scale) ** 2))

    def cumulative(self, at: Floats) -> Floats:
        return np.arctan2(self.scale, self.location - at) / math.pi

    def quantile(self, uniforms: Floats) -> Floats:
        # Written with the nearer end, so that the far tails keep their digits.
        tail = np.minimum(uniforms, 1.0 - uniforms)
        return self.location + np.sign(uniforms - 0.5) * self.scale / np.tan(math.pi * tail)


@dataclass(frozen=True)
class BurrXII(Marginal):
    """Burr XII distribution with density `a b c^(a-1) / (1 + c^a)^(b+1)` on c > 0."""

    a: float
    b: float

    def density(self, at: Floats) -> Floats:
        c = np.maximum(at, 0.0)
        return np.where(at > 0.0, self.a * self.b * c ** (self.a - 1.0) / (1.0 + c**self.a) ** (self.b + 1.0), 0.0)

    def cumulative(self, at: Floats) -> Floats:
        return -np.expm1(-self.b * np.log1p(np.maximum(at, 0.0) ** self.a))

    def quantile(self, uniforms: Floats) -> Floats:
        return np.expm1(-np.log1p(-uniforms) / self.b) ** (1.0 / self.a)


@dataclass(frozen=True)
class Uniform(Marginal):
    """Uniform distribution between `low` and `high`."""

    low: float = 0.0
    high: float = 1.0

    def density(self, at: Floats) -> Floats:
        return np.where((at >= self.low) & (at <= self.high), 1.0 / (self.high - self.low), 0.0)

    def cumulative(self, at: Floats) -> Floats:
        return np.clip((at - self.low) / (self.high - self.low), 0.0, 1.0)

    def quantile(self, uniforms: Floats) -> Floats:
        return self.low + (self.high - self.low) * uniforms


@dataclass(frozen=True)
class Mixture(Marginal):
    """Mixture of distributions, with equal weights."""

    parts: tuple[Marginal, ...]

    def density(self, at: Floats) -> Floats:
        return np.asarray(sum(part.density(at) for part in self.parts) / len(self.parts))

    def cumulative(self, at: Floats) -> Floats:
        return np.asarray(sum(part.cumulative(at) for part in self.parts) / len(self.parts))

    def quantile(self, uniforms: Floats) -> Floats:
        """Newton's method on the distribution function, bisecting wherever it leaves the bracket."""
        u = np.asarray(uniforms, dtype=np.float64)
        each = [part.quantile(u).ravel() for part in self.parts]
        wanted = u.ravel()
        low, high = np.minimum.reduce(each), np.maximum.reduce(each)  # a mixture's quantile lies among its parts'
        found = 0.5 * (low + high)
        left = np.arange(len(wanted))
        for _ in range(_ITERATIONS):
            at = found[left]
            excess = self.cumulative(at) - wanted[left]
            high[left] = np.where(excess >= 0.0, at, high[left])
            low[left] = np.where(excess <= 0.0, at, low[left])
            with np.errstate(divide="ignore", invalid="ignore"):
                step = at - excess / self.density(at)
            inside = (step > low[left]) & (step < high[left])
            found[left] = np.where(inside, step, 0.5 * (low[left] + high[left]))
            left = left[np.abs(found[left] - at) > _TOLERANCE * (1.0 + np.abs(at))]
            if not len(left):
                break
        return found.reshape(u.shape)


_ITERATIONS = 200
_TOLERANCE = 4e-16


@dataclass(frozen=True)
class ContextLaw:
    """Distribution of a context: independent coordinates, clipped to a box.

    Attributes:
        marginals: one a coordinate, Dc in all.
        lower: ends of the box, the same in every coordinate; infinite ones do not clip.
        upper: likewise.
    """

    marginals: tuple[Marginal, ...]
    lower: float = 0.0
    upper: float = 1.0

    @property
    def dimension(self) -> int:
        """Number of coordinates, Dc."""
        return len(self.marginals)

    def unclipped(self) -> ContextLaw:
        """The same distribution on the whole space."""
        return replace(self, lower=-math.inf, upper=math.inf)

    def transform(self, uniforms: ArrayLike) -> Floats:
        """Contexts `(..., Dc)` for numbers `(..., Dc)` in [0, 1], by inversion.

        Raises:
            BocuError: where the last axis has another length than Dc.
        """
        u = checks.floats("uniforms", uniforms)
        if u.shape[-1:] != (self.dimension,):
            raise BocuError(f"uniforms has shape {u.shape}: its last axis must have length {self.dimension}")
        u = np.clip(u, _SMALLEST, 1.0 - _SMALLEST)
        drawn = np.stack([one.quantile(u[..., j]) for j, one in enumerate(self.marginals)], axis=-1)
        return np.clip(drawn, self.lower, self.upper)

    def sample(self, generator: np.random.Generator, size: int) -> Floats:
        """Independent draws `(size, Dc)`."""
        return self.transform(generator.random((size, self.dimension)))

    def points(self, size: int, generator: np.random.Generator) -> Floats:
        """Quasi-random contexts `(size, Dc)` of equal weight: a Sobol sequence that the generator scrambles.

        Raises:
            BocuError: `size` is no power of 2.
        """
        from scipy.stats import qmc  # slow to import, and planning needs none of it

        exponent = size.bit_length() - 1
        if size < 1 or size != 2**exponent:
            raise BocuError(f"points: found {size}; allowed: a power of 2, for which a Sobol sequence is balanced")
        # Handed a generator, SciPy would take a child of it, which the generator's state does not tell.
        sequence = qmc.Sobol(self.dimension, scramble=True, seed=int(generator.integers(2**32)))
        return self.transform(sequence.random_base2(exponent))

    def density(self, at: ArrayLike) -> Floats:
        """Density `(n,)` at contexts `(n, Dc)`, before clipping."""
        points = np.asarray(at, dtype=np.float64)
        return np.prod([one.density(points[:, j]) for j, one in enumerate(self.marginals)], axis=0)

    def atoms(self) -> Floats:
        """Probability `(Dc, 2)` of being clipped to the lower and to the upper end, coordinate by coordinate."""
        ends = np.array([self.lower, self.upper])
        mass = np.array([one.cumulative(ends) for one in self.marginals])
        return np.stack([mass[:, 0], 1.0 - mass[:, 1]], axis=-1)


def _independent(marginal: Marginal, dimension: int) -> ContextLaw:
    return ContextLaw((marginal,) * dimension)


def clipped_normal(dimension: int = 1, *, mean: float = 0.5, std: float = 0.1) -> ContextLaw:
    """Normal in every coordinate, clipped to [0, 1]."""
    return _independent(Gaussian(mean, std), dimension)


def uniform(dimension: int = 1) -> ContextLaw:
    """Uniform on the unit cube."""
    return _independent(Uniform(), dimension)


def burr_xii(a: float = 2.0, b: float = 20.0) -> ContextLaw:
    """Burr XII, clipped to [0, 1]: the newsvendor's demand."""
    return _independent(BurrXII(a, b), 1)


def complicated() -> ContextLaw:
    """The context of complicated Hartmann: six normal and two Cauchy distributions, equally weighted, clipped."""
    normals = ((0.1, 0.02), (0.3, 0.075), (0.4, 0.1), (0.5, 0.1), (0.7, 0.075), (0.8, 0.03))
    parts = (*(Gaussian(mean, std) for mean, std in normals), Cauchy(0.2, 0.02), Cauchy(0.8, 0.02))
    return _independent(Mixture(parts), 1)
