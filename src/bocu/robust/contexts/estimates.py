"""Contexts: grids, reference distributions on them, kernel density estimates, and how far these are from the truth.

Sources: kernel density estimates with Silverman's rule and the radius of DRBO-KDE from Huang et al. (2024), with the
factor 1/2 in the Gaussian kernel; the sets of StableOpt as in Kirschner et al. (2020) and Huang et al. (2024). Context
points are `(n, l)`, probabilities `(n,)`; distances between densities are L1, between 0 and 2.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bocu.core.errors import BocuError
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.checks import Floats
from bocu.robust.contexts.laws import ContextLaw, Marginal

Density = Callable[[Floats], Floats]

#: Bandwidth of a coordinate in which all samples are equal, as a share of its width.
_SMALLEST_BANDWIDTH = 1e-6


def product_grid(lower: ArrayLike, upper: ArrayLike, per_dimension: int | ArrayLike) -> Floats:
    """Regular grid `(prod per_dimension, l)` that includes both ends; the last coordinate changes fastest.

    Args:
        lower: (l,) corners of the box.
        upper: likewise.
        per_dimension: number of points a dimension, one number or (l,).
    """
    low, high = _box(lower, upper)
    counts = np.broadcast_to(np.asarray(per_dimension, dtype=int), low.shape)
    if (counts < 1).any():
        raise BocuError(f"per_dimension is {counts.tolist()}: it must be 1 or more")
    axes = [np.linspace(a, b, count) for a, b, count in zip(low, high, counts, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(low))


def covering_grid(lower: ArrayLike, upper: ArrayLike, size: int) -> Floats:
    """Product grid of `ceil(size^(1/l))` points a dimension: at least `size` points (Huang et al., 2024)."""
    low, _ = _box(lower, upper)
    count = max(1, round(size ** (1.0 / len(low))))
    return product_grid(lower, upper, count if count ** len(low) >= size else count + 1)


def diagonal_grid(lower: ArrayLike, upper: ArrayLike, size: int) -> Floats:
    """`size` points on the diagonal of the box, `(size, l)`: as the published code of Huang et al. (2024)."""
    low, high = _box(lower, upper)
    return np.linspace(low, high, size)


def nearest_points(observations: ArrayLike, points: ArrayLike) -> NDArray[np.intp]:
    """Index `(t,)` of the point `(n, l)` nearest to each observation `(t, l)`, the lowest on ties."""
    seen, grid = checks.points("observations", observations), checks.points("points", points)
    if seen.shape[1] != grid.shape[1]:
        raise BocuError(f"observations has dimension {seen.shape[1]}, points has {grid.shape[1]}")
    squared = ((seen[:, None, :] - grid[None, :, :]) ** 2).sum(axis=-1)
    return squared.argmin(axis=1)


def empirical(observations: ArrayLike, points: ArrayLike) -> Floats:
    """Reference `(n,)`: the share of observations `(t, l)` nearest to each of the points `(n, l)`."""
    return shares(nearest_points(observations, points), len(checks.points("points", points)))


def shares(indices: NDArray[np.integer], size: int) -> Floats:
    """Reference `(size,)`: the share of each context among observed ones, given by their indices `(t,)`."""
    if not len(indices):
        raise BocuError("observations is empty: an empirical reference needs one or more")
    return np.bincount(indices, minlength=size) / len(indices)


def discretised(density: Density, points: ArrayLike) -> Floats:
    """Reference `(n,)` proportional to a density at the points `(n, l)`."""
    weights = checks.finite("density", np.asarray(density(checks.points("points", points)), dtype=np.float64))
    if weights.min() < 0.0 or not weights.sum() > 0.0:
        raise BocuError(f"density sums to {weights.sum()} on the points: it must be 0 or more, and positive somewhere")
    return weights / weights.sum()


def draw(reference: ArrayLike, uniforms: ArrayLike) -> NDArray[np.intp]:
    """Context indices, of the shape of `uniforms` in [0, 1), by inversion: one uniform number is one context."""
    cumulative = np.cumsum(checks.distribution(reference))
    # Contexts without mass are never drawn, and rounding of the last sum draws none beyond the support.
    index = np.searchsorted(cumulative, np.asarray(uniforms) * cumulative[-1], side="right")
    return np.minimum(index, np.flatnonzero(np.asarray(reference))[-1])


def effective_number(weights: Floats) -> float:
    """How many equal samples the mean by weights `(t,)` that sum to 1 is as sure as: `1 / sum_i w_i^2` (Kish, 1965)."""
    return float(1.0 / (weights @ weights))


def silverman_bandwidth(samples: ArrayLike, width: ArrayLike | None = None, weights: Floats | None = None) -> Floats:
    """Bandwidths `(l,)`: `(4 / (l + 2))^(1 / (l + 4)) t^(-1 / (l + 4))` standard deviations (ddof 0).

    Args:
        samples: (t, l) observed contexts.
        width: (l,) of the context space: a bandwidth is at least 1e-6 of it (of 1 without it).
        weights: (t,) of the samples, sum 1; standard deviations are by these, and t is their effective number.
    """
    seen = checks.points("samples", samples)
    dimension = seen.shape[1]
    if len(seen) == 0:
        raise BocuError("samples is empty: a bandwidth needs one or more")
    count, deviation = float(len(seen)), seen.std(axis=0)
    if weights is not None:
        count, deviation = effective_number(weights), np.sqrt(weights @ (seen - weights @ seen) ** 2)
    factor = (4.0 / (dimension + 2.0)) ** (1.0 / (dimension + 4.0)) * count ** (-1.0 / (dimension + 4.0))
    span = np.ones(dimension) if width is None else np.broadcast_to(checks.floats("width", width), (dimension,))
    return np.maximum(factor * deviation, _SMALLEST_BANDWIDTH * span)


def log_kernel_sums(samples: Floats, bandwidth: Floats, at: Floats, weights: Floats | float = 1.0) -> Floats:
    """Logarithm `(m,)` of the weighted sum of Gaussian kernels around samples `(t, l)`, each 1 there, at `(m, l)`."""
    answer = np.empty(len(at))
    # Blocks bound the table of differences to a few million numbers.
    block = max(1, 2_000_000 // max(1, samples.size))
    for start in range(0, len(at), block):
        z = (at[start : start + block, None, :] - samples[None, :, :]) / bandwidth
        exponent = -0.5 * (z**2).sum(axis=-1)
        largest = exponent.max(axis=1)
        kernels = weights * np.exp(exponent - largest[:, None])
        answer[start : start + block] = largest + np.log(kernels.sum(axis=1))
    return answer


def kernel_density(samples: Floats, bandwidth: Floats, at: Floats, weights: Floats | None = None) -> Floats:
    """Density `(m,)` of Gaussian kernels around samples `(t, l)`, at `(m, l)`, of equal weight or by those of sum 1."""
    norm = np.prod(bandwidth) * (2.0 * math.pi) ** (samples.shape[1] / 2.0)
    if weights is None:
        return np.exp(log_kernel_sums(samples, bandwidth, at)) / (norm * len(samples))
    return np.exp(log_kernel_sums(samples, bandwidth, at, weights)) / norm


@dataclass(frozen=True, slots=True)
class KernelDensity:
    """Gaussian kernel density estimate, of contexts that are clipped to a box where one is given."""

    samples: Floats  #: (t, l) observed contexts.
    bandwidth: Floats  #: (l,).
    lower: Floats | None = None  #: (l,) box to which draws are clipped, or `None`.
    upper: Floats | None = None  #: likewise.
    weights: Floats | None = None  #: (t,) of the samples, sum 1; `None`: all count alike.

    @classmethod
    def fit(
        cls,
        samples: ArrayLike,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        weights: Floats | None = None,
    ) -> KernelDensity:
        """Estimate with Silverman's rule from `(t, l)` samples, as they were observed (clipped)."""
        seen = checks.points("samples", samples)
        if lower is None or upper is None:
            return cls(seen, silverman_bandwidth(seen, weights=weights), weights=weights)
        low, high = _box(lower, upper)
        return cls(seen, silverman_bandwidth(seen, high - low, weights), low, high, weights)

    def density(self, query: ArrayLike) -> Floats:
        """Density `(m,)` at `(m, l)`, before clipping."""
        return kernel_density(self.samples, self.bandwidth, checks.points("query", query), self.weights)

    def sample(self, generator: np.random.Generator, size: int) -> Floats:
        """Draws `(size, l)`: a sample chosen by the weights plus Gaussian noise, clipped to the box."""
        if self.weights is None:
            chosen = generator.integers(len(self.samples), size=size)
        else:
            chosen = draw(self.weights, generator.random(size))
        centre = self.samples[chosen]
        drawn = centre + self.bandwidth * generator.standard_normal(centre.shape)
        return drawn if self.lower is None else np.clip(drawn, self.lower, self.upper)


def kde_radius(observations: float, dimension: int) -> float:
    """L1 radius of DRBO-KDE, `t^(-2 / (4 + l))` for t observations in l dimensions (Huang et al., 2024)."""
    if observations < 1 or dimension < 1:
        raise BocuError(f"observations is {observations} and dimension {dimension}: both must be 1 or more")
    return float(observations ** (-2.0 / (4.0 + dimension)))


def around_mean(points: Floats, reference: Floats, radius: float) -> NDArray[np.intp]:
    """StableOpt's set on a grid: the points within a radius of the reference's mean.

    Args:
        points: shape (n, l).
        reference: probabilities, shape (n,).
        radius: Euclidean, in units of the points.

    Returns:
        Indices, ascending; that of the nearest point, the lowest on ties, where none is within the radius.
    """
    distance = np.linalg.norm(points - reference @ points, axis=1)
    within = np.flatnonzero(distance <= radius)
    if len(within):
        return within
    # The mean of a symmetric reference lies between two points, but for rounding.
    return np.flatnonzero(distance <= distance.min() * (1.0 + 1e-9))[:1]


def box_around_mean(
    observations: ArrayLike, lower: ArrayLike | None = None, upper: ArrayLike | None = None, *, ddof: int = 1
) -> tuple[Floats, Floats]:
    """StableOpt's set in a box: mean plus and minus one standard deviation of the observations, within the box.

    Args:
        observations: (t, l) observed contexts.
        lower: (l,) corners of the context space; without them the set may reach beyond it.
        upper: likewise.
        ddof: 1 as in the published code of Huang et al. (2024); a single observation has standard deviation 0.
    """
    seen = checks.points("observations", observations)
    mean = seen.mean(axis=0)
    std = seen.std(axis=0, ddof=ddof) if len(seen) > ddof else np.zeros(seen.shape[1])
    if lower is None or upper is None:
        return mean - std, mean + std
    low, high = _box(lower, upper)
    return np.clip(mean - std, low, high), np.clip(mean + std, low, high)


def _box(lower: ArrayLike, upper: ArrayLike) -> tuple[Floats, Floats]:
    low = checks.finite("lower", np.atleast_1d(checks.floats("lower", lower)))
    high = checks.finite("upper", np.atleast_1d(checks.floats("upper", upper)))
    if low.shape != high.shape or low.ndim != 1:
        raise BocuError(f"lower has shape {low.shape}, upper {high.shape}: both must be (dimension,)")
    if (low > high).any():
        index = checks.where(low > high)
        raise BocuError(f"lower[{index}] is {low[index]} above upper[{index}] = {high[index]}")
    return low, high


OBSERVATIONS = (10, 100, 200, 300)  #: Those of the table.


def cumulative(estimate: KernelDensity, at: np.ndarray) -> np.ndarray:
    """Return the distribution function (m,) of an estimate on the line at points (m,)."""
    from scipy.special import ndtr  # planning imports this module for its numbers, and no scipy

    return ndtr((at[:, None] - estimate.samples[:, 0]) / estimate.bandwidth[0]).mean(axis=1)


def distance_of_estimate(estimate: KernelDensity, law: ContextLaw, *, nodes: int = 2**11) -> float:
    """Return the L1 distance, between 0 and 2, of an estimate from a distribution on the line, both before clipping.

    The trapezoid rule, on nodes that follow both of them: `nodes` evenly spaced over the estimate's reach, as many
    over the unit interval, and as many quantiles of the distribution, half of them far into its tails.
    """
    (marginal,) = law.marginals
    reach = 9.0 * float(estimate.bandwidth[0])
    even = np.linspace(float(estimate.samples.min()) - reach, float(estimate.samples.max()) + reach, nodes)
    at = np.unique(np.concatenate([even, np.linspace(0.0, 1.0, nodes), _spread(marginal, nodes)]))
    gap = np.abs(estimate.density(at[:, None]) - marginal.density(at))
    ends = at[[0, -1]]
    beyond = np.abs(cumulative(estimate, ends) - marginal.cumulative(ends))
    return float(np.trapezoid(gap, at) + beyond.sum())


@functools.cache
def _spread(marginal: Marginal, nodes: int) -> np.ndarray:
    tails = 10.0 ** -np.linspace(1.0, 15.0, nodes // 4)
    return marginal.quantile(np.concatenate([tails, (np.arange(nodes // 2) + 0.5) / (nodes // 2), 1.0 - tails]))


def distances_of_estimates(
    law: ContextLaw, observations: Sequence[int], runs: int, generator: np.random.Generator, *, nodes: int = 2**11
) -> np.ndarray:
    """Return distances (len(observations), runs); every run draws afresh, with Silverman's bandwidth."""
    free = law.unclipped()

    def distances(count: int) -> list[float]:
        drawn = free.sample(generator, runs * count).reshape(runs, count, law.dimension)
        return [distance_of_estimate(KernelDensity.fit(one), law, nodes=nodes) for one in drawn]

    return np.array([distances(count) for count in observations])
