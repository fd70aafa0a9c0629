"""Gaussian processes over (point of a box, time) whose past fades, for several candidate priors at once.

Source: Ziomek et al. (2025), section 2, for continuous arms. They are those of `surrogates.time_varying` with a
mean and a kernel that are functions: ``k(x, z) (1 - forgetting) ** (abs(t - s) / 2)``. Each distinct kernel has one
factor of the covariances of what was observed, which grows by a row an observation. Gradients are analytic. Predictions
are for the time of the newest observation or later.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.kernels import LEAST_VARIANCE, Kernel, Matern52, SquaredExponential, squared_distance
from bocu.core.plain import State
from bocu.learners.surrogates.cholesky import HALF_LOG_TWO_PI, GrownCholesky
from bocu.learners.surrogates.time_varying import PriorsTogether


class MeanFunction(ABC):
    """The mean of a prior."""

    @abstractmethod
    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Return the mean at points (n, D), shape (n,)."""

    @abstractmethod
    def gradient(self, points: np.ndarray) -> np.ndarray:
        """Return its gradient at points (n, D), shape (n, D)."""


@dataclass(frozen=True)
class ConstantMean(MeanFunction):
    """The same everywhere: `level`, in units of the payoff."""

    level: float = 0.0

    def __call__(self, points: np.ndarray) -> np.ndarray:
        return np.full(len(points), self.level)

    def gradient(self, points: np.ndarray) -> np.ndarray:
        return np.zeros(points.shape)


@dataclass(frozen=True)
class SlopeTail:
    """How steep payoffs are: P(sup over the box of abs(df / dx_j) > L) <= a exp(-(L / b)^2) for every coordinate j.

    Source: Ziomek et al. (2025), Assumption 3.2, with b as their Theorem 3.3 uses it.

    Raises:
        BocuError: one of them is not positive.
    """

    a: float  #: a pure number.
    b: float  #: in units of the payoff a unit of the coordinate.

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            if not getattr(self, name) > 0.0:
                raise BocuError(f"slope tail: {name}: found {getattr(self, name)}; allowed: a positive number")


_SPECTRAL_MOMENTS = {SquaredExponential: (1.0, 3.0), Matern52: (5.0 / 3.0, 25.0)}
"""Variances of the slope and of its slope, of draws at unit variance and length-scale."""


def slope_tail_on_a_line(kernel: Kernel, variance: float, side: float, steepest_mean: float = 0.0) -> SlopeTail:
    """Return the constants of a kernel over an interval.

    The slope of a draw less its mean is a stationary process of variance v, and its slope one of variance w. It leaves
    [-u, u] with a probability of at most ``c exp(-u^2 / (2 v))``, ``c = 1 + sqrt(w / v) side / pi``: both tails at the
    start, and Rice's expected number of crossings. The mean's slope adds up to m. With b^2 = 2 v + m^2 the bound
    ``c e exp(-(L / b)^2)`` is never below ``c exp(-max(L - m, 0)^2 / (2 v))``.

    Args:
        kernel: with one length-scale.
        variance: in squared units of the payoff.
        side: length of the interval, in units of the length-scale's coordinate.
        steepest_mean: bound m on the absolute slope of the prior mean.
    """
    second, fourth = _SPECTRAL_MOMENTS[type(kernel)]
    (lengthscale,) = kernel.lengthscale
    crossings = 1.0 + math.sqrt(fourth / second) * side / (math.pi * lengthscale)
    spread = 2.0 * variance * second / lengthscale**2
    return SlopeTail(crossings * (math.e if steepest_mean else 1.0), math.sqrt(spread + steepest_mean**2))


@dataclass(frozen=True, eq=False)
class BoxPrior:
    """A Gaussian process prior over (point of a box, time).

    Raises:
        BocuError: the variance is not positive, or forgetting is outside [0, 1].
    """

    label: str  #: name for figures and error lines.
    mean: MeanFunction  #: prior mean, the same at all times.
    kernel: Kernel  #: of unit variance, with length-scales in units of the box's coordinates.
    variance: float  #: prior variance, in squared units of the payoff.
    forgetting: float = 0.0  #: the paper's epsilon, in [0, 1]; 0: nothing changes with time.
    #: how steep draws are, which confidence bounds by the theorem need; None: it is not known.
    slope: SlopeTail | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.variance) and self.variance > 0.0):
            raise BocuError(f"prior '{self.label}': variance is {self.variance}; allowed: a positive number")
        if not 0.0 <= self.forgetting <= 1.0:
            raise BocuError(f"prior '{self.label}': forgetting is {self.forgetting}; allowed: 0 to 1")

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.kernel.lengthscale)

    def shares_kernel(self, other: "BoxPrior") -> bool:
        """Say whether the two priors differ in their means at most."""
        return all(getattr(self, name) == getattr(other, name) for name in ("kernel", "variance", "forgetting"))


class _Kernel:
    """The observations under one kernel: their factor, and solves with it."""

    def __init__(self, prior: BoxPrior, noise: float) -> None:
        self.prior = prior
        self.noise = noise
        self.correlation = math.sqrt(1.0 - prior.forgetting)  # of one step
        self.factor = GrownCholesky()

    def cross(self, points: np.ndarray, times: np.ndarray, new: np.ndarray, t: int) -> np.ndarray:
        """Return the covariances of what was observed with points (B, D) at time t, shape (n, B)."""
        decay = self.correlation ** (t - times)
        return self.prior.variance * decay[:, None] * self.prior.kernel(points, new)

    def slopes(self, points: np.ndarray, times: np.ndarray, new: np.ndarray, t: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the same, and the derivatives in the coordinates of the new points, shape (n, B, D)."""
        kernel = self.prior.kernel
        scales = np.array(kernel.lengthscale)
        value, slope = kernel.value_and_slope(squared_distance(points, new, kernel.lengthscale))
        decay = self.prior.variance * (self.correlation ** (t - times))[:, None]
        difference = (new[None] - points[:, None]) / scales**2
        return decay * value, 2.0 * (decay * slope)[:, :, None] * difference

    def observe(self, points: np.ndarray, times: np.ndarray, point: np.ndarray, t: int) -> np.ndarray:
        """Grow the factor by an observation of a point (D,); return its new row, shape (n + 1,)."""
        cross = self.cross(points, times, point[None], t)[:, 0]
        self.factor.append(cross, self.prior.variance + self.noise**2, self.noise**2)
        return self.factor.row(self.factor.size - 1)

    def deviation(self, explained: np.ndarray) -> np.ndarray:
        """Return the posterior standard deviation where so much of the variance is explained."""
        variance = self.prior.variance
        return np.sqrt(np.maximum(variance - explained, LEAST_VARIANCE * variance))


class BoxPosteriors(PriorsTogether[BoxPrior]):
    """The posteriors of several priors over a box, given the same observations.

    Args:
        priors: the candidate priors, over the same coordinates.
        noise: standard deviation of the observation noise, in units of the payoff.

    Raises:
        BocuError: there is no prior, they differ in their number of coordinates, or `noise` is not positive.
    """

    def __init__(self, priors: Sequence[BoxPrior], noise: float) -> None:
        super().__init__(priors, noise, "dimension", "coordinates")
        self._kernels = [_Kernel(prior, self.noise) for prior in self.kernels]
        self._points = np.empty((0, priors[0].dimension))
        self._times = np.empty(0)
        self._whitened = np.empty((len(self.priors), 0))  # the factor's solve of observations less prior means

    def predict(self, rows: Sequence[int] | np.ndarray, points: np.ndarray, t: int) -> tuple[np.ndarray, np.ndarray]:
        """Predict the noise-free payoff of points at time `t`, under some of the priors.

        Args:
            rows: indices of the priors.
            points: shape (B, D).
            t: not before the newest observation.

        Returns:
            Mean and standard deviation, each of shape (rows, B).

        Raises:
            BocuError: `t` lies before the newest observation.
        """
        self.refuse_past(t)
        mean, deviation = np.empty((len(rows), len(points))), np.empty((len(rows), len(points)))
        for place, members in self._gathered(rows):
            kernel = self._kernels[place]
            solved = kernel.factor.forward(kernel.cross(self._points, self._times, points, t))
            deviation[members] = kernel.deviation((solved**2).sum(axis=0))
            for member in members:
                mean[member] = self.priors[rows[member]].mean(points) + self._whitened[rows[member]] @ solved
        return mean, deviation

    def predict_with_gradients(
        self, rows: Sequence[int] | np.ndarray, points: np.ndarray, t: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Predict as `predict` does, with the gradients of both.

        Returns:
            Mean and standard deviation, shape (rows, B), then their gradients, shape (rows, B, D).

        Raises:
            BocuError: `t` lies before the newest observation.
        """
        self.refuse_past(t)
        shape = len(rows), *points.shape
        mean, deviation = np.empty(shape[:2]), np.empty(shape[:2])
        mean_slope, deviation_slope = np.empty(shape), np.empty(shape)
        for place, members in self._gathered(rows):
            kernel = self._kernels[place]
            cross, slopes = kernel.slopes(self._points, self._times, points, t)
            solved = kernel.factor.forward(cross)
            deviation[members] = one = kernel.deviation((solved**2).sum(axis=0))
            deviation_slope[members] = -np.einsum("nb,nbd->bd", kernel.factor.backward(solved), slopes) / one[:, None]
            for member in members:
                prior, whitened = self.priors[rows[member]], self._whitened[rows[member]]
                mean[member] = prior.mean(points) + whitened @ solved
                weights = kernel.factor.backward(whitened)
                mean_slope[member] = prior.mean.gradient(points) + np.einsum("n,nbd->bd", weights, slopes)
        return mean, deviation, mean_slope, deviation_slope

    def observe(self, point: np.ndarray, t: int, value: float) -> None:
        """Condition on the payoff `value` of a point (D,) at time `t`, not before the newest observation.

        Raises:
            BocuError: `t` is out of range, or `value` is not finite.
        """
        if not np.isfinite(value):
            raise BocuError(f"value of {point} at time {t}: found {value}; a finite number is wanted")
        self.refuse_past(t)
        rows = [kernel.observe(self._points, self._times, point, t) for kernel in self._kernels]
        whitened = np.empty(len(self.priors))
        for index, prior in enumerate(self.priors):
            row = rows[self.kernel_of[index]]
            error = (value - prior.mean(point[None])[0] - row[:-1] @ self._whitened[index]) / row[-1]
            self.log_evidence[index] -= 0.5 * error**2 + math.log(row[-1]) + HALF_LOG_TWO_PI
            whitened[index] = error
        self._whitened = np.column_stack([self._whitened, whitened])
        self._points = np.concatenate([self._points, point[None]])
        self._times = np.append(self._times, float(t))
        self.time = t

    @property
    def observed(self) -> np.ndarray:
        """The points that were observed, shape (n, D)."""
        return self._points

    def state(self) -> State:
        """Return all that the observations left behind, as arrays and numbers."""
        return {
            "time": self.time,
            "times": self._times.copy(),
            "points": self._points.copy(),
            "whitened": self._whitened.copy(),
            "factors": [kernel.factor.packed().copy() for kernel in self._kernels],
            "log_evidence": self.log_evidence.copy(),
        }

    def restore(self, state: State) -> None:
        """Put back what `state` gave, bit for bit."""
        self.time = int(state["time"])
        self._times = np.array(state["times"], dtype=float)
        self._points = np.array(state["points"], dtype=float).reshape(len(self._times), self.priors[0].dimension)
        self._whitened = np.array(state["whitened"], dtype=float).reshape(len(self.priors), len(self._times))
        for kernel, packed in zip(self._kernels, state["factors"], strict=True):
            kernel.factor.restore(np.array(packed, dtype=float))
        self.log_evidence = np.array(state["log_evidence"], dtype=float)

    def _gathered(self, rows: Sequence[int] | np.ndarray) -> list[tuple[int, list[int]]]:
        """Return each kernel that some of the priors have, with their places in `rows`."""
        kernels = [self.kernel_of[int(row)] for row in rows]
        return [
            (place, [member for member, of in enumerate(kernels) if of == place]) for place in dict.fromkeys(kernels)
        ]
