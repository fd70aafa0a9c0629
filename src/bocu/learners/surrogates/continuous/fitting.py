"""Maximum a posteriori hyper-parameters of an exact Gaussian process, by L-BFGS-B on analytic gradients.

The objective is the log marginal likelihood (Rasmussen and Williams, 2006, Eq. 5.8) of standardised outputs, plus the
log densities of Gamma priors on the natural parameters, without the Jacobian of the logarithm, as GPyTorch and BoTorch
have it. The constant mean has no prior: at its own optimum it is the generalised least squares estimate, which the
objective puts in. Priors are those of Huang et al. (2024), the noise prior and its lower bound the defaults of the
libraries of 2023.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bocu.core.errors import BocuError
from bocu.learners.surrogates.continuous.structure import Hyperparameters, Structure

LOG_TWO_PI = math.log(2.0 * math.pi)

#: Far from any optimum that the priors allow; they only keep a line search from overflowing.
SMALLEST, LARGEST = 1e-4, 1e4

#: Noise variances that fits start from, shares of the payoff's variance: nearly none, and all of it.
QUIET, NOISY = 1e-2, 1.0

#: Length-scales of a restless payoff, as a share of their prior mean.
SHORT = 0.2

#: Of differences that curvatures are made of, in logarithms.
_STEP = 1e-3

#: Of an ascent that is carried on: the gain, to second order, at which it ends; its longest step in any coordinate;
#: most evaluations; the least curvature along any direction.
_LITTLE = 1e-7
_LONGEST = 0.5
_PATIENCE = 15
_FLATTEST = 1e-3

#: Shares of a step's gain to first order, below which it is cut, and of its length that is then left.
_ARMIJO, _CUT = 1e-4, 0.3


@dataclass(frozen=True)
class Gamma:
    """A Gamma density with mean `shape / rate`."""

    shape: float
    rate: float

    @property
    def start(self) -> float:
        """The mode, or the mean where the mode is 0."""
        return (self.shape - 1.0) / self.rate if self.shape > 1.0 else self.shape / self.rate

    def log_density(self, log_value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the log density of `exp(log_value)` and its derivative in `log_value`."""
        scaled = self.rate * np.exp(log_value)
        constant = self.shape * math.log(self.rate) - math.lgamma(self.shape)
        return constant + (self.shape - 1.0) * log_value - scaled, self.shape - 1.0 - scaled


@dataclass(frozen=True)
class Priors:
    """Priors of the hyper-parameters, and the least noise variance."""

    lengthscale: Gamma = Gamma(3.0, 6.0)
    output_scale: Gamma = Gamma(2.0, 0.15)
    noise: Gamma = Gamma(1.1, 0.05)
    least_noise: float = 1e-4

    def density(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log prior density at `Hyperparameters.to_vector` and its gradient."""
        lengthscale, by_lengthscale = self.lengthscale.log_density(vector[:-2])
        output_scale, by_output_scale = self.output_scale.log_density(vector[-2:-1])
        noise, by_noise = self.noise.log_density(vector[-1:])
        total = float(lengthscale.sum() + output_scale[0] + noise[0])
        return total, np.concatenate([by_lengthscale, by_output_scale, by_noise])

    def start(self, inputs: int, noise: float = QUIET) -> Hyperparameters:
        """Return a start at the priors' centre, but for the noise; its prior is too broad for its mode to say much."""
        return Hyperparameters(np.full(inputs, self.lengthscale.start), 1.0, max(noise, 2.0 * self.least_noise))

    def wavy(self, inputs: int) -> Hyperparameters:
        """Return a start at length-scales far below the priors' and next to no noise: the payoff itself is restless."""
        short = SHORT * self.lengthscale.shape / self.lengthscale.rate
        return Hyperparameters(np.full(inputs, short), 1.0, 2.0 * self.least_noise)

    def starts(self, inputs: int, last: Hyperparameters | None, observations: int) -> list[Hyperparameters]:
        """Return two starts at different noise levels: the last optimum, where there is one, and another.

        Posteriors have optima that explain payoffs by short length-scales and others that explain them by noise; an
        ascent ends in one on its own side. While the last optimum has little noise, the other start is noisy or wavy by
        turns.
        """
        noisy, wavy = self.start(inputs, NOISY), self.wavy(inputs)
        if last is None:
            return [wavy, noisy]
        return [last, wavy if observations % 2 or last.noise > math.sqrt(QUIET * NOISY) else noisy]

    def draw(self, inputs: int, generator: np.random.Generator) -> Hyperparameters:
        """Draw length-scales and output scale from their priors and the noise log-uniformly from least to 1."""
        return Hyperparameters(
            np.clip(generator.gamma(self.lengthscale.shape, 1.0 / self.lengthscale.rate, inputs), SMALLEST, LARGEST),
            float(np.clip(generator.gamma(self.output_scale.shape, 1.0 / self.output_scale.rate), SMALLEST, LARGEST)),
            float(self.least_noise ** generator.random()),
        )


class PublishedStart(Priors):
    """Priors whose fits all climb once, from where BoTorch's did in 2023 (Huang et al., 2024, whose code it is)."""

    def starts(self, inputs: int, last: Hyperparameters | None, observations: int) -> list[Hyperparameters]:
        """Return the start: softplus of GPyTorch's zeros, and the mode of the noise's prior."""
        return [Hyperparameters(np.full(inputs, math.log(2.0)), math.log(2.0), self.noise.start)]


class LogPosterior:
    """The objective of the fit for fixed data.

    Args:
        structure: of the kernel.
        inputs: shape (t, D), in [0, 1].
        outputs: shape (t,), standardised.
        priors: of the hyper-parameters.
        known: what the covariance of the payoffs has beside what is fitted, (t, t); None: nothing.
    """

    def __init__(
        self,
        structure: Structure,
        inputs: np.ndarray,
        outputs: np.ndarray,
        priors: Priors,
        known: np.ndarray | None = None,
    ) -> None:
        self.structure = structure
        self.priors = priors
        self._inputs = inputs
        self._outputs = outputs
        self._known = known
        # Centred columns keep the moments of `_moment` free of cancellation.
        self._centred = inputs - inputs.mean(axis=0)
        self._right = np.stack([outputs, np.ones_like(outputs)], axis=1)

    def __call__(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log posterior density and its gradient at a `Hyperparameters.to_vector` (D + 2,)."""
        here = Hyperparameters.from_vector(vector)
        values, slopes = self._factors(here.lengthscales)
        covariance = here.output_scale * math.prod(values[1:], start=values[0])
        t = len(covariance)
        covariance.flat[:: t + 1] += here.noise
        if self._known is not None:
            covariance += self._known
        factor, solved, inverse = cholesky_with_solution(covariance, self._right)
        mean = solved[:, 0].sum() / solved[:, 1].sum()
        weights = solved[:, 0] - mean * solved[:, 1]
        fit = float((self._outputs - mean) @ weights)
        log_determinant = 2.0 * float(np.log(np.diagonal(factor)).sum())
        prior, gradient = self.priors.density(vector)

        trace = float(weights @ weights) - float(np.trace(inverse))
        gradient[-1] += 0.5 * here.noise * trace
        gradient[-2] += 0.5 * (fit - t - here.noise * trace)
        inner = np.multiply.outer(weights, weights)
        inner -= inverse
        if self._known is not None:
            gradient[-2] -= 0.5 * float((inner * self._known).sum())
        inner *= here.output_scale
        for index, group in enumerate(self.structure.factors):
            others = math.prod(values[:index] + values[index + 1 :], start=slopes[index])
            gradient[group.columns] -= (
                self._moment(inner * others, group.columns) / here.lengthscales[group.columns] ** 2
            )
        return prior - 0.5 * (fit + log_determinant + t * LOG_TWO_PI), gradient

    def _factors(self, lengthscales: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return value and slope of each factor between the inputs, both (t, t)."""
        pairs = [
            group.kernel.value_and_slope(
                self.structure.scaled_distance(group, lengthscales, self._inputs, self._inputs)
            )
            for group in self.structure.factors
        ]
        return [value for value, _ in pairs], [slope for _, slope in pairs]

    def _moment(self, inner: np.ndarray, columns: slice) -> np.ndarray:
        """Sum a symmetric matrix (t, t) times the squared differences of the inputs in each of some columns."""
        z = self._centred[:, columns]
        return 2.0 * (inner.sum(axis=1) @ z**2 - np.einsum("id,id->d", z, inner @ z))


def cholesky_with_solution(covariance: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Factorise a positive definite matrix (t, t), which is overwritten.

    Returns:
        The lower Cholesky factor (upper triangle undefined), the solution (t, k) for the right-hand sides `right`
        (t, k), and the inverse (t, t), exactly symmetric.

    Raises:
        BocuError: the matrix is not positive definite.
    """
    from scipy.linalg import lapack  # slow to import, and planning needs none of it

    # LAPACK counts columns first: it sees the transpose of our array, which is the same symmetric matrix.
    factor, failed = lapack.dpotrf(covariance.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        raise BocuError("covariance of the observations: found a matrix that is not positive definite")
    solved, _ = lapack.dpotrs(factor, right, lower=1)
    inverse, _ = lapack.dpotri(factor, lower=1)
    inverse = np.tril(inverse)
    diagonal = np.diagonal(inverse).copy()
    inverse += inverse.T
    inverse.flat[:: len(inverse) + 1] = diagonal
    return factor, solved, inverse


def best_hyperparameters(
    objective: LogPosterior, starts: Sequence[Hyperparameters], *, tolerance: float = 1e-6, iterations: int = 200
) -> Hyperparameters:
    """Maximise the log posterior from each start and keep the best end, the first on ties.

    Args:
        objective: the log posterior of the data.
        starts: at least one.
        tolerance: relative change of the objective at which an ascent ends.
        iterations: most iterations of one ascent.

    Raises:
        BocuError: there is no start.
    """
    from scipy.optimize import minimize

    if not starts:
        raise BocuError("starts: found none; at least one is wanted")
    bounds = _bounds(objective)

    def loss(vector: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = objective(vector)
        return -value, -gradient

    best, least = starts[0], math.inf
    for start in starts:
        end = minimize(
            loss,
            np.clip(start.to_vector(), *bounds),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds.T,
            options={"ftol": tolerance, "gtol": 1e-5, "maxiter": iterations},
        )
        if end.fun < least:
            best, least = Hyperparameters.from_vector(end.x), float(end.fun)
    return best


def curvature(objective: LogPosterior, at: Hyperparameters) -> np.ndarray:
    """Return minus the second derivatives (v, v) of an objective in `Hyperparameters.to_vector` (v,)."""
    here = at.to_vector()
    steps = _STEP * np.eye(len(here))
    found = np.array([objective(here - step)[1] - objective(here + step)[1] for step in steps]) / (2.0 * _STEP)
    return np.asarray((found + found.T) / 2.0)


def carried_on(objective: LogPosterior, last: Hyperparameters, curved: np.ndarray) -> Hyperparameters | None:
    """Maximise the log posterior from the optimum of a few observations less, to more digits than decisions hang on.

    Projected BFGS (Bertsekas, 1982), as in `acquisition.multistart`, begun with a curvature that is known.

    Args:
        objective: the log posterior of the data.
        last: where to start.
        curved: about the `curvature` at the top, shape (v, v).

    Returns:
        The optimum; None if it is not near.
    """
    lower, upper = _bounds(objective)
    here = np.clip(last.to_vector(), lower, upper)
    value, gradient = objective(here)
    for _ in range(_PATIENCE):
        # The logarithm of what was a bound may lie beside it by a rounding.
        held = (here <= lower + 1e-12) & (gradient < 0.0) | (here >= upper - 1e-12) & (gradient > 0.0)
        step = _newton(curved, np.where(held, 0.0, gradient), ~held)
        if 0.5 * step @ gradient <= _LITTLE:
            return Hyperparameters.from_vector(here)
        step *= min(1.0, _LONGEST / np.abs(step).max())
        moved = np.clip(here + step, lower, upper) - here
        there, slope = objective(here + moved)
        if there - value < _ARMIJO * (gradient @ moved):
            # The curvature is not that of this place.
            moved *= _CUT
            there, slope = objective(here + moved)
            if there <= value:
                return None
        curved = _learned(curved, moved, gradient - slope)
        here, value, gradient = here + moved, there, slope
    return None


def _newton(curved: np.ndarray, gradient: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return the step (v,) to the top of the parabola along coordinates that are free."""
    step = np.zeros_like(gradient)
    steepness, directions = np.linalg.eigh(curved[np.ix_(free, free)])
    step[free] = directions @ (directions.T @ gradient[free] / np.maximum(steepness, _FLATTEST))
    return step


def _learned(curved: np.ndarray, moved: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Return the BFGS update of a curvature (v, v) by a step (v,) and the fall of the gradient along it."""
    change = np.where(moved == 0.0, 0.0, change)
    before = curved @ moved
    known, found = moved @ before, moved @ change
    if found <= 1e-10 * math.sqrt((moved @ moved) * (change @ change)) or known <= 0.0:
        return curved
    return curved - np.outer(before, before) / known + np.outer(change, change) / found


def _bounds(objective: LogPosterior) -> np.ndarray:
    """Return least and largest logarithms of hyper-parameters, shape (2, v)."""
    lower = np.full(objective.structure.inputs + 2, math.log(SMALLEST))
    lower[-1] = math.log(objective.priors.least_noise)
    return np.stack([lower, np.full_like(lower, math.log(LARGEST))])
