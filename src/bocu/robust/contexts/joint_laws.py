"""Distributions of contexts whose coordinates hang together: mixtures, samples, their kernel density, histograms.

A mixture is drawn from by one uniform number more than there are coordinates, which chooses the part; a sample and a
histogram by as many, coordinate after coordinate, each given those before it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from bocu.core.errors import BocuError
from bocu.robust.ambiguity.checks import Floats
from bocu.robust.contexts.estimates import log_kernel_sums, nearest_points
from bocu.robust.contexts.laws import JointLaw, chosen


@dataclass(frozen=True)
class MixedLaw(JointLaw):
    """Mixture of distributions of contexts.

    Attributes:
        parts: those that are mixed, all of one number of coordinates and one box.
        shares: (parts,) weights that sum to 1.
        lower: ends of the box.
        upper: likewise.
    """

    parts: tuple[JointLaw, ...]
    shares: tuple[float, ...]
    lower: float = 0.0
    upper: float = 1.0

    @property
    def dimension(self) -> int:
        return self.parts[0].dimension

    @property
    def uniforms(self) -> int:
        return self.dimension + 1

    @property
    def support(self) -> tuple[Floats, Floats] | None:
        found = [part.support for part in self.parts]
        known = [each for each in found if each is not None]
        if len(known) < len(found):
            return None
        weights = [share * mass for share, (_, mass) in zip(self.shares, known, strict=True)]
        return np.concatenate([points for points, _ in known]), np.concatenate(weights)

    def unclipped(self) -> MixedLaw:
        parts = tuple(part.unclipped() for part in self.parts)
        return replace(self, parts=parts, lower=-math.inf, upper=math.inf)

    def draw(self, uniforms: Floats) -> Floats:
        part, within = chosen(np.asarray(self.shares), uniforms[:, -1])
        drawn = np.empty((len(uniforms), self.dimension))
        for place, law in enumerate(self.parts):
            rows = part == place
            # A part that is a mixture itself is told how far into its share the number lies: that is uniform again.
            told = np.concatenate([uniforms[rows, :-1], within[rows, None]], axis=1)
            drawn[rows] = law.draw(told[:, : law.uniforms])
        return drawn

    def density(self, at: ArrayLike) -> Floats:
        return np.asarray(sum(s * part.density(at) for s, part in zip(self.shares, self.parts, strict=True)))

    def atoms(self) -> Floats:
        return np.asarray(sum(s * part.atoms() for s, part in zip(self.shares, self.parts, strict=True)))

    def breaks(self) -> list[tuple[float, ...]]:
        each = [part.breaks() for part in self.parts]
        return [tuple(sorted({b for breaks in each for b in breaks[axis]})) for axis in range(self.dimension)]

    def node_masses(self, inside: Sequence[Floats], widths: Sequence[Floats]) -> Floats:
        masses = (s * part.node_masses(inside, widths) for s, part in zip(self.shares, self.parts, strict=True))
        return np.asarray(sum(masses))

    def weights_on(self, points: Floats) -> Floats:
        """Probabilities `(n,)` of contexts `(n, Dc)`: those of the parts, each normalised, mixed."""
        weights = (s * part.weights_on(points) for s, part in zip(self.shares, self.parts, strict=True) if s > 0.0)
        return np.asarray(sum(weights))


@dataclass(frozen=True)
class SampleLaw(JointLaw):
    """Finitely many contexts: the empirical distribution of a sample, or a weighted one.

    Attributes:
        contexts: (m, Dc).
        shares: (m,), sum to 1.
        lower: ends of the box.
        upper: likewise.
    """

    contexts: Floats
    shares: Floats
    lower: float = 0.0
    upper: float = 1.0

    @property
    def dimension(self) -> int:
        return self.contexts.shape[1]

    @property
    def support(self) -> tuple[Floats, Floats]:
        return np.clip(self.contexts, self.lower, self.upper), self.shares

    def unclipped(self) -> SampleLaw:
        return replace(self, lower=-math.inf, upper=math.inf)

    def draw(self, uniforms: Floats) -> Floats:
        """Contexts by the first number, in the order of their first coordinates, ties in that of the next."""
        order = np.lexsort(self.contexts.T[::-1])
        place, _ = chosen(self.shares[order], uniforms[:, 0])
        return self.contexts[order][place]

    def density(self, at: ArrayLike) -> Floats:
        raise BocuError("a sample has no density; take a kernel density (`kde`) or a histogram")

    def atoms(self) -> Floats:
        outside = np.stack([self.contexts < self.lower, self.contexts > self.upper], axis=-1)
        return np.einsum("m,mde->de", self.shares, outside)

    def breaks(self) -> list[tuple[float, ...]]:
        return [()] * self.dimension

    def node_masses(self, inside: Sequence[Floats], widths: Sequence[Floats]) -> Floats:
        raise BocuError("quadrature: contexts of a sample are none of its nodes; take the rule `sobol`")

    def weights_on(self, points: Floats) -> Floats:
        """Probabilities `(n,)` of contexts `(n, Dc)`: the shares of those of the sample that are nearest to each."""
        nearest = nearest_points(np.clip(self.contexts, self.lower, self.upper), points)
        return np.asarray(np.bincount(nearest, weights=self.shares, minlength=len(points)), dtype=np.float64)


@dataclass(frozen=True)
class KernelLaw(JointLaw):
    """Gaussian kernels around the contexts of a sample, clipped to a box: what a kernel density estimate says.

    Attributes:
        contexts: (m, Dc).
        bandwidth: (Dc,) standard deviations of the kernels.
        lower: ends of the box.
        upper: likewise.
    """

    contexts: Floats
    bandwidth: Floats
    lower: float = 0.0
    upper: float = 1.0

    @property
    def dimension(self) -> int:
        return self.contexts.shape[1]

    @property
    def uniforms(self) -> int:
        return self.dimension + 1

    def unclipped(self) -> KernelLaw:
        return replace(self, lower=-math.inf, upper=math.inf)

    def draw(self, uniforms: Floats) -> Floats:
        from scipy.special import ndtri  # slow to import, and planning needs none of it

        order = np.lexsort(self.contexts.T[::-1])
        place, _ = chosen(np.full(len(order), 1.0 / len(order)), uniforms[:, -1])
        return self.contexts[order][place] + self.bandwidth * np.asarray(ndtri(uniforms[:, :-1]))

    def density(self, at: ArrayLike) -> Floats:
        logarithms = log_kernel_sums(self.contexts, self.bandwidth, np.asarray(at, dtype=np.float64))
        norm = np.prod(self.bandwidth) * (2.0 * math.pi) ** (self.dimension / 2.0) * len(self.contexts)
        return np.exp(logarithms) / norm

    def atoms(self) -> Floats:
        from scipy.special import ndtr

        ends = np.array([self.lower, self.upper])
        below = np.asarray(ndtr((ends - self.contexts[..., None]) / self.bandwidth[:, None])).mean(axis=0)
        return np.stack([below[:, 0], 1.0 - below[:, 1]], axis=-1)

    def breaks(self) -> list[tuple[float, ...]]:
        return [()] * self.dimension

    def node_masses(self, inside: Sequence[Floats], widths: Sequence[Floats]) -> Floats:
        shares = [self._axis(axis, at, width) for axis, (at, width) in enumerate(zip(inside, widths, strict=True))]
        weight = 1.0 / len(self.contexts)
        return weight * (shares[0].sum(axis=0) if len(shares) == 1 else shares[0].T @ shares[1])

    def _axis(self, axis: int, at: Floats, width: Floats) -> Floats:
        """Masses `(m, n + 2)` of every kernel in one coordinate: the lower end, nodes, the upper end."""
        from scipy.special import ndtr

        centre, scale = self.contexts[:, axis, None], self.bandwidth[axis]
        inside = np.exp(-0.5 * ((at - centre) / scale) ** 2) * width / (scale * math.sqrt(2.0 * math.pi))
        below, above = ndtr((self.lower - centre) / scale), ndtr((centre - self.upper) / scale)
        return np.concatenate([below, inside, above], axis=1)

    def weights_on(self, points: Floats) -> Floats:
        """Probabilities `(n,)` of contexts `(n, Dc)`: the density at them, normalised, however small it is."""
        logarithms = log_kernel_sums(self.contexts, self.bandwidth, points)
        weights = np.exp(logarithms - logarithms.max())
        return weights / weights.sum()


@dataclass(frozen=True)
class HistogramLaw(JointLaw):
    """Cells of a regular grid over the unit cube, each with its share, uniform within.

    Attributes:
        shares: one axis a coordinate, sum to 1.
        lower: ends of the box.
        upper: likewise.
    """

    shares: Floats
    lower: float = 0.0
    upper: float = 1.0

    @property
    def dimension(self) -> int:
        return self.shares.ndim

    def unclipped(self) -> HistogramLaw:
        return replace(self, lower=-math.inf, upper=math.inf)

    def draw(self, uniforms: Floats) -> Floats:
        """Contexts, coordinate after coordinate: each by its number, given the cells chosen before."""
        drawn = np.empty((len(uniforms), self.dimension))
        left = np.broadcast_to(self.shares, (len(uniforms), *self.shares.shape))
        for axis, count in enumerate(self.shares.shape):
            cumulative = np.cumsum(left.reshape(len(left), count, -1).sum(axis=2), axis=1)
            wanted = np.minimum(uniforms[:, axis] * cumulative[:, -1], np.nextafter(cumulative[:, -1], 0.0))
            cell = np.minimum((cumulative <= wanted[:, None]).sum(axis=1), count - 1)
            rows = np.arange(len(left))
            upto = cumulative[rows, cell]
            since = np.where(cell > 0, cumulative[rows, cell - 1], 0.0)
            drawn[:, axis] = (cell + np.clip((wanted - since) / (upto - since), 0.0, 1.0)) / count
            left = left[rows, cell]
        return drawn

    def density(self, at: ArrayLike) -> Floats:
        points = np.asarray(at, dtype=np.float64)
        counts = np.array(self.shares.shape)
        inside = np.asarray(((points >= 0.0) & (points <= 1.0)).all(axis=1))
        cells = np.clip((np.where(inside[:, None], points, 0.0) * counts).astype(int), 0, counts - 1)
        return np.where(inside, self.shares[tuple(cells.T)] * self.shares.size, 0.0)

    def atoms(self) -> Floats:
        return np.zeros((self.dimension, 2))

    def breaks(self) -> list[tuple[float, ...]]:
        return [tuple(np.linspace(0.0, 1.0, count + 1).tolist()) for count in self.shares.shape]

    def node_masses(self, inside: Sequence[Floats], widths: Sequence[Floats]) -> Floats:
        nodes = np.stack([axis.ravel() for axis in np.meshgrid(*inside, indexing="ij")], axis=-1)
        within = self.density(nodes).reshape([len(axis) for axis in inside]) * functools.reduce(
            np.multiply.outer, widths
        )
        return np.pad(within, 1)
