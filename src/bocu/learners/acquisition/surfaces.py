"""Payoffs of decisions in M contexts, from posteriors of Gaussian processes: `mu + sqrt_beta sigma`, or one sample.

Posterior moments are those of the noise-free payoff (Rasmussen and Williams, 2006, Eqs. 2.25 and 2.26), in units of the
payoff. Gradients are analytic. With a kernel that separates decisions from contexts the work is done on a skeleton of
the contexts only: a few that determine every posterior moment at all M of them.

With such a kernel the posterior mean of any decision is a combination of the t functions k(c_i, .) of the context, and
the explained variance one of their products k(c_i, .) k(c_j, .). Both spaces are numerically of low rank on M contexts.
An interpolative decomposition (Cheng et al., 2005) picks contexts, the skeleton, and a matrix that carries values there
to values everywhere. The products are too many to be written down; random products of random combinations span the same
space (a sketch in Khatri-Rao form). The sketch is drawn from a fixed generator: it decides digits beyond the tolerance
only. With one kernel over decisions and contexts together the functions of the context change with the decision.
Sketched at many decisions they still are numerically of low rank where contexts lie on a line or in a plane, but the
tolerance then holds for decisions like those only.

A sample of the prior, by Fourier features, is corrected by the data exactly (Matheron's rule).
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bocu.core.kernels import LEAST_VARIANCE, squared_distance
from bocu.learners.acquisition.base import BLOCK_NUMBERS, Pullback, Surface
from bocu.learners.surrogates.continuous.model import Posterior
from bocu.learners.surrogates.fourier import SampledWaves
from bocu.learners.surrogates.pathwise import correction_weights

Sketch = Callable[[int, np.random.Generator], np.ndarray]
"""Draws so many functions of a space at random, at all contexts: shape (size, M)."""

#: Functions of the sketch beyond the rank that it is found to have.
OVERSAMPLING = 8

#: A skeleton of more than this share of the contexts saves nothing.
WORTHWHILE = 0.4


@dataclass(frozen=True)
class Skeleton:
    """Contexts that determine the others."""

    indices: np.ndarray  #: of the skeleton contexts among all M, shape (r,).
    #: values at all contexts = values at the skeleton @ interpolation, shape (r, M); None: the skeleton is all
    #: contexts, in their order.
    interpolation: np.ndarray | None

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Carry values (B, r) at the skeleton to all contexts, (B, M)."""
        return values if self.interpolation is None else values @ self.interpolation

    def gather(self, weights: np.ndarray) -> np.ndarray:
        """Carry derivatives in the values at all contexts (B, M) back to the skeleton, (B, r)."""
        return weights if self.interpolation is None else weights @ self.interpolation.T


def full_skeleton(contexts: int) -> Skeleton:
    """Return the skeleton of all contexts."""
    return Skeleton(np.arange(contexts), None)


def skeleton(correlations: np.ndarray, tolerance: float) -> Skeleton:
    """Find a skeleton for the span of t functions, their pairwise products and the constants.

    Args:
        correlations: the functions at all contexts, in [0, 1], shape (t, M).
        tolerance: of the interpolation, relative to functions of size 1.
    """
    t, contexts = correlations.shape

    def sketch(size: int, generator: np.random.Generator) -> np.ndarray:
        return random_products(correlations, size, generator)

    return sketched_skeleton(sketch, contexts, tolerance, functions=1 + t + t * (t + 1) // 2)


def sketched_skeleton(sketch: Sketch, contexts: int, tolerance: float, functions: float = math.inf) -> Skeleton:
    """Find a skeleton for a space of functions that is known by sketches of it.

    Args:
        sketch: draws functions of the space.
        contexts: their number M.
        tolerance: of the interpolation, relative to functions of size 1.
        functions: dimension of the space, where it has one.
    """
    from scipy.linalg import qr, solve_triangular  # slow to import, and planning needs none of it

    generator = np.random.default_rng(0)
    limit = int(WORTHWHILE * contexts)
    size = 0
    while True:
        size = int(min(2 * size or 48, functions, limit + OVERSAMPLING))
        triangle, pivots = qr(sketch(size, generator), mode="r", pivoting=True, check_finite=False)
        diagonal = np.abs(np.diagonal(triangle))
        rank = int((diagonal > tolerance * diagonal[0]).sum())
        if rank > limit:
            return full_skeleton(contexts)
        if rank + OVERSAMPLING <= size or size == functions:
            break
    interpolation = np.empty((rank, contexts))
    interpolation[:, pivots[:rank]] = np.eye(rank)
    interpolation[:, pivots[rank:]] = solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])
    return Skeleton(pivots[:rank], interpolation)


def random_products(functions: np.ndarray, size: int, generator: np.random.Generator) -> np.ndarray:
    """Return random products of two random combinations of t functions (t, M) and the constant 1, shape (size, M)."""
    t = len(functions)
    left, right = generator.standard_normal((2, size, t + 1)) / np.sqrt(t + 1)
    return (left[:, :1] + left[:, 1:] @ functions) * (right[:, :1] + right[:, 1:] @ functions)


#: Of the interpolation in the context, relative to the prior variance.
_TOLERANCE = 1e-13

#: The same for surfaces that only choose starts.
ROUGH_TOLERANCE = 1e-4

#: Tolerances of skeletons of joint kernels, for drafts and for surfaces that only choose starts: a few times 1e-7 and
#: 1e-4 in the values of acquisition functions.
DRAFT_TOLERANCE = 1e-10
ROUGH_JOINT_TOLERANCE = 1e-6

#: Kernel evaluations of one decision, M * t, below which no skeleton of a joint kernel pays.
WORTH_A_SKELETON = 2**15

#: Few of the contexts on a line or in a plane determine all, as good as, under a joint kernel; in space they do not.
FLAT = 2

#: Of a sketch of a joint kernel: rows from one decision, and observations that they are combined of.
ROWS_A_DECISION = 16
OBSERVATIONS_A_DECISION = 64


class PosteriorSurface(Surface):
    """A surface of one posterior over contexts (M, Dc) in [0, 1]."""

    posterior: Posterior
    points: np.ndarray

    @property
    def dimension(self) -> int:
        return self.posterior.structure.decisions

    @property
    def contexts(self) -> int:
        return len(self.points)


class GaussianSurface(PosteriorSurface):
    """The payoff `mu + sqrt_beta sigma` of one posterior; subclasses say how the kernel is evaluated.

    Args:
        posterior: of the payoff.
        points: contexts in [0, 1], shape (M, Dc).
        sqrt_beta: multiplies the standard deviation; negative: a pessimistic payoff.
    """

    def __init__(self, posterior: Posterior, points: np.ndarray, sqrt_beta: float) -> None:
        decisions = posterior.structure.decisions
        self.posterior = posterior
        self.points = points
        self.sqrt_beta = float(sqrt_beta)
        self.skeleton = full_skeleton(len(points))
        self._lengthscales = posterior.hyperparameters.lengthscales[:decisions]
        self._scaled = posterior.inputs[:, :decisions] / self._lengthscales
        self._prior_variance = posterior.hyperparameters.output_scale
        self._least_variance = LEAST_VARIANCE * self._prior_variance

    @property
    def compressed(self) -> bool:
        return self.skeleton.interpolation is not None

    @property
    def block(self) -> int:
        return max(1, BLOCK_NUMBERS // max(len(self.skeleton.indices) * len(self._scaled), self.contexts))

    def payoffs(self, decisions: np.ndarray) -> np.ndarray:
        mean, variance = self._moments(self._cross(decisions / self._lengthscales)[0])[:2]
        return self._payoff(mean, np.sqrt(variance))

    def evaluate(self, decisions: np.ndarray) -> tuple[np.ndarray, Pullback]:
        scaled = decisions / self._lengthscales
        cross, slope = self._cross(scaled)
        mean, variance, solved = self._moments(cross)
        deviation = np.sqrt(variance)
        # Where the variance was lifted to its least, it no longer moves with the decision.
        inverse = np.where(variance > self._least_variance, 0.5 / deviation, 0.0)

        def pullback(weights: np.ndarray) -> np.ndarray:
            by_mean = self.posterior.scale * weights
            by_explained = -self.sqrt_beta * by_mean * inverse
            pulled = self.skeleton.gather(np.concatenate([by_mean, by_explained]))
            along = self._pull(pulled[: len(weights)], pulled[len(weights) :], slope, solved)
            return 2.0 * (scaled * along.sum(axis=1)[:, None] - along @ self._scaled) / self._lengthscales

        return self._payoff(mean, deviation), pullback

    def _moments(self, cross: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return standardised mean and variance (B, M) and the solved covariances (B, r, t) of the skeleton.

        Args:
            cross: covariances of the decisions at the skeleton with the data, shape (B, r, t).
        """
        rows, r, t = cross.shape
        solved = (cross.reshape(rows * r, t) @ self.posterior.inverse).reshape(rows, r, t)
        explained = np.einsum("brt,brt->br", cross, solved)
        mean = cross.reshape(rows * r, t) @ self.posterior.weights
        spread = self.skeleton.spread(np.concatenate([mean.reshape(rows, r), explained]))
        variance = np.maximum(self._prior_variance - spread[rows:], self._least_variance)
        return self.posterior.mean + spread[:rows], variance, solved

    def _payoff(self, mean: np.ndarray, deviation: np.ndarray) -> np.ndarray:
        return self.posterior.shift + self.posterior.scale * (mean + self.sqrt_beta * deviation)

    @abstractmethod
    def _cross(self, scaled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate the kernel at decisions in length-scales (B, Dx).

        Returns:
            The covariances of decisions at the skeleton with the data, (B, r, t), and what `_pull` needs for slopes.
        """

    @abstractmethod
    def _pull(self, by_mean: np.ndarray, by_explained: np.ndarray, slope: np.ndarray, solved: np.ndarray) -> np.ndarray:
        """Return derivatives (B, t) in squared distances of decisions and data, from those at the skeleton (B, r)."""


class SeparableSurface(GaussianSurface):
    """The payoff under a kernel that is a product of a decision and a context part, or has no context part.

    Args:
        posterior: of the payoff.
        points: contexts in [0, 1], shape (M, Dc).
        sqrt_beta: multiplies the standard deviation.
        tolerance: of the interpolation in the context, relative to the prior variance.
    """

    def __init__(
        self, posterior: Posterior, points: np.ndarray, sqrt_beta: float, *, tolerance: float = _TOLERANCE
    ) -> None:
        super().__init__(posterior, points, sqrt_beta)
        structure = posterior.structure
        self._kernel = structure.factors[0].kernel
        if structure.contexts:
            group = structure.factors[1]
            padded = np.concatenate([np.zeros((len(points), structure.decisions)), points], axis=1)
            lengthscales = posterior.hyperparameters.lengthscales
            correlations = group.kernel.value(structure.scaled_distance(group, lengthscales, posterior.inputs, padded))
            self.skeleton: Skeleton = skeleton(correlations, tolerance)
        else:
            correlations = np.ones((len(posterior.inputs), len(points)))
        self._block = self._prior_variance * correlations[:, self.skeleton.indices].T.copy()  # (r, t)
        self._weighted = self._block * posterior.weights

    def rough(self, indices: np.ndarray) -> "SeparableSurface":
        return SeparableSurface(self.posterior, self.points[indices], self.sqrt_beta, tolerance=ROUGH_TOLERANCE)

    def _cross(self, scaled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, slope = self._kernel.value_and_slope(squared_distance(scaled, self._scaled))
        return value[:, None, :] * self._block, slope

    def _pull(self, by_mean: np.ndarray, by_explained: np.ndarray, slope: np.ndarray, solved: np.ndarray) -> np.ndarray:
        solved *= self._block
        along = 2.0 * (by_explained[:, None, :] @ solved)[:, 0, :]
        along += by_mean @ self._weighted
        return slope * along


class JointSurface(GaussianSurface):
    """The payoff under one kernel over decisions and contexts together.

    Every context is evaluated, but for an approximation: then a skeleton of them is, which is found from the functions
    of the context at random decisions and at observed ones.

    Args:
        posterior: of the payoff.
        points: contexts in [0, 1], shape (M, Dc).
        sqrt_beta: multiplies the standard deviation.
        tolerance: of the skeleton, in the functions that it is found from; None: exact.
    """

    def __init__(
        self, posterior: Posterior, points: np.ndarray, sqrt_beta: float, *, tolerance: float | None = None
    ) -> None:
        super().__init__(posterior, points, sqrt_beta)
        structure = posterior.structure
        self._kernel = structure.factors[0].kernel
        lengthscales = posterior.hyperparameters.lengthscales[structure.decisions :]
        observed = posterior.inputs[:, structure.decisions :]
        self._between = squared_distance(points / lengthscales, observed / lengthscales)  # (M, t)
        if tolerance is not None:
            self.skeleton = sketched_skeleton(self._sketch, len(points), tolerance)
            self._between = self._between[self.skeleton.indices]

    def rough(self, indices: np.ndarray) -> "JointSurface":
        return self._approximate(indices, ROUGH_JOINT_TOLERANCE)

    def draft(self) -> "JointSurface | None":
        draft = self._approximate(np.arange(self.contexts), DRAFT_TOLERANCE)
        return None if draft.skeleton.interpolation is None else draft

    def _approximate(self, indices: np.ndarray, tolerance: float) -> "JointSurface":
        worth = self.contexts * len(self._scaled) >= WORTH_A_SKELETON and self._flat
        return JointSurface(
            self.posterior, self.points[indices], self.sqrt_beta, tolerance=tolerance if worth else None
        )

    @property
    def _flat(self) -> bool:
        return int(np.linalg.matrix_rank(self.points - self.points.mean(axis=0))) <= FLAT

    def _sketch(self, size: int, generator: np.random.Generator) -> np.ndarray:
        """Draw functions whose span holds those of which moments are made, shape (size, M)."""
        t = len(self._scaled)
        decisions = -(-size // ROWS_A_DECISION)
        scaled = np.concatenate(
            [
                generator.random((decisions // 2, self.dimension)) / self._lengthscales,
                self._scaled[generator.integers(t, size=decisions - decisions // 2)],
            ]
        )
        rows = []
        for one in scaled:
            some = generator.choice(t, min(t, OBSERVATIONS_A_DECISION), replace=False)
            distance = squared_distance(self._scaled[some], one[None]) + self._between[:, some].T
            rows.append(random_products(self._kernel.value(distance), ROWS_A_DECISION, generator))
        return np.concatenate(rows)[:size]

    def _cross(self, scaled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        distance = squared_distance(scaled, self._scaled)[:, None, :] + self._between
        value, slope = self._kernel.value_and_slope(distance)
        value *= self._prior_variance
        return value, slope

    def _pull(self, by_mean: np.ndarray, by_explained: np.ndarray, slope: np.ndarray, solved: np.ndarray) -> np.ndarray:
        # The solved covariances already hold the output scale once, as the mean's weights do not.
        solved *= slope
        along = 2.0 * (by_explained[:, None, :] @ solved)[:, 0, :]
        along += (by_mean[:, None, :] @ slope)[:, 0, :] * self.posterior.weights
        return self._prior_variance * along


class WeightedSurface(Surface):
    """A weighted sum of the payoffs of several outputs: `s'mu + sqrt_beta s'sigma` (DRMOBO).

    Args:
        surfaces: one for each output, over the same decisions and contexts.
        weights: not negative, shape (K,).
    """

    def __init__(self, surfaces: Sequence[Surface], weights: np.ndarray) -> None:
        self.surfaces = tuple(surfaces)
        self.weights = np.asarray(weights, dtype=float)

    @property
    def dimension(self) -> int:
        return self.surfaces[0].dimension

    @property
    def contexts(self) -> int:
        return self.surfaces[0].contexts

    @property
    def block(self) -> int:
        return min(surface.block for surface in self.surfaces)

    def payoffs(self, decisions: np.ndarray) -> np.ndarray:
        terms = zip(self.weights, self.surfaces, strict=True)
        return np.sum([weight * surface.payoffs(decisions) for weight, surface in terms], axis=0)

    def evaluate(self, decisions: np.ndarray) -> tuple[np.ndarray, Pullback]:
        parts = [surface.evaluate(decisions) for surface in self.surfaces]
        total = np.sum([weight * payoff for weight, (payoff, _) in zip(self.weights, parts, strict=True)], axis=0)

        def pullback(weights: np.ndarray) -> np.ndarray:
            terms = zip(self.weights, parts, strict=True)
            return np.sum([weight * pull(weights) for weight, (_, pull) in terms], axis=0)

        return total, pullback

    def rough(self, indices: np.ndarray) -> "WeightedSurface":
        return WeightedSurface([surface.rough(indices) for surface in self.surfaces], self.weights)

    def draft(self) -> "WeightedSurface | None":
        drafts = [surface.draft() for surface in self.surfaces]
        if not any(drafts):
            return None
        return WeightedSurface([one or own for one, own in zip(drafts, self.surfaces, strict=True)], self.weights)


class ForeignPosterior(Protocol):
    """A posterior of another package's model."""

    def surface(self, points: np.ndarray, sqrt_beta: float) -> Surface:
        """Return the payoff `mu + sqrt_beta sigma` over contexts (M, Dc)."""


def surface(posterior: Posterior | ForeignPosterior, points: np.ndarray, sqrt_beta: float) -> Surface:
    """Return the payoff `mu + sqrt_beta sigma` over contexts (M, Dc), in the way that suits the posterior's kernel."""
    if not isinstance(posterior, Posterior):
        return posterior.surface(points, sqrt_beta)
    kind = SeparableSurface if posterior.structure.separable else JointSurface
    return kind(posterior, points, sqrt_beta)


class SampledSurface(PosteriorSurface):
    """A sample of the noise-free payoff over decisions and M contexts.

    Args:
        posterior: of the payoff; its kernel is a product over decisions and contexts.
        points: contexts in [0, 1], shape (M, Dc).
        waves: a sample of the posterior's prior, standardised.
        noise: standard normal draws, one for each observation, shape (t,).
    """

    def __init__(self, posterior: Posterior, points: np.ndarray, waves: SampledWaves, noise: np.ndarray) -> None:
        structure, here = posterior.structure, posterior.hyperparameters
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
            return by_data + by_angle @ self._frequencies

        return self.posterior.shift + self.posterior.scale * standardised, pullback

    def rough(self, indices: np.ndarray) -> "SampledSurface":
        return SampledSurface(self.posterior, self.points[indices], self.waves, self.noise)
