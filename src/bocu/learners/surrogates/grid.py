"""Exact Gaussian process regression on a fixed grid of decisions x contexts, grown observation by observation.

Source: Rasmussen and Williams (2006), equations 2.25 and 2.26, for the product kernel
``variance * k_x(x, x') * k_c(c, c')``.

With a product kernel a weighted sum of the kernel's columns, ``sum_i w_i k(., z_i)``, is ``Kx diag(w) Kc`` over the
whole grid: one matrix product, and no row of the grid's size is kept for an observation. The posterior covariance of
the grid with a new observation is such a sum, and moves mean and variance by a rank-one step. Weights of observations
of the same decision are added up first, so a product costs O(distinct decisions x decisions x contexts), however many
observations there are; where decisions fill a grid themselves, O(lengths of its axes x decisions x contexts). The
triangular solve beside it, O(observations^2), is small up to some thousand observations.
"""

import math

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.kernels import Kernel
from bocu.core.plain import State
from bocu.learners.surrogates.cholesky import HALF_LOG_TWO_PI, GrownCholesky
from bocu.learners.surrogates.grams import Combination, PointGram

SMALLEST_NOISE = 1e-7  # in prior standard deviations; below, rounding outweighs the noise of repeated observations


class GridPrior:
    """A Gaussian process prior on decisions x contexts: constant mean, product kernel, known noise.

    Args:
        decisions: coordinates of the decisions, shape (X, Dx); any set of points.
        contexts: coordinates of the contexts, shape (C, Dc).
        decision_kernel: kernel of unit variance over decisions.
        context_kernel: kernel of unit variance over contexts.
        variance: prior variance of the payoff, in its squared units.
        noise: standard deviation of the observation noise, in units of the payoff; at least 1e-7 of the prior's. One
            number, or shape (C,): one a context.
        mean: prior mean, in units of the payoff.
        label: its name among candidate priors.

    Attributes:
        over_decisions: unit-variance covariances of the decisions.
        context_gram: unit-variance covariances of the contexts, shape (C, C), read-only.

    Raises:
        BocuError: points are not a finite table, do not fit their kernel, or a number is out of range.
    """

    def __init__(
        self,
        decisions: np.ndarray,
        contexts: np.ndarray,
        decision_kernel: Kernel,
        context_kernel: Kernel,
        variance: float = 1.0,
        noise: float | np.ndarray = 0.01,
        mean: float = 0.0,
        label: str = "",
    ) -> None:
        check_scales(variance, noise)
        if not np.isfinite(mean):
            raise BocuError(f"mean: found {mean}; allowed: a finite number")
        self.decisions = _table("decisions", decisions, decision_kernel)
        self.contexts = _table("contexts", contexts, context_kernel)
        self.decision_kernel = decision_kernel
        self.context_kernel = context_kernel
        self.variance = float(variance)
        self.noise = float(noise) if np.ndim(noise) == 0 else _one_a_context(np.asarray(noise), len(self.contexts))
        self.mean = float(mean)
        self.label = label
        self.over_decisions = PointGram(decision_kernel, self.decisions)
        self.context_gram = context_kernel(self.contexts, self.contexts)
        self.context_gram.flags.writeable = False

    @property
    def decision_gram(self) -> np.ndarray:
        """Unit-variance covariances of the decisions, shape (X, X), read-only; slow and large for many decisions."""
        return self.over_decisions.matrix()

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of decisions and contexts (X, C)."""
        return len(self.decisions), len(self.contexts)

    @property
    def size(self) -> int:
        """Points of the grid, X * C."""
        return len(self.decisions) * len(self.contexts)

    def noise_at(self, contexts: np.ndarray | int) -> float | np.ndarray:
        """Return the standard deviation of the noise under contexts, by their indices; one number where all agree."""
        return self.noise if isinstance(self.noise, float) else self.noise[contexts]


class GridPosterior:
    """The posterior of a `GridPrior` given observations at points of its grid.

    `mean`, `variance` and `deviation` are kept for the whole grid and brought up to date when asked for, one product
    for each observation since. Who never asks, as in Thompson sampling, never pays; who asks once at the end pays for
    all observations then: `mean_of` gives a final mean in one product.

    Args:
        prior: the prior; may be shared among posteriors.

    Attributes:
        decisions: indices of the decisions that were told, shape (count,), read-only.
        contexts: indices of the contexts that were told, the same.
        values: payoffs that were told, the same.
    """

    def __init__(self, prior: GridPrior) -> None:
        self.prior = prior
        self._factor = GrownCholesky()  # of the observations' covariance, noise included
        self.decisions = _read_only(np.empty(0, dtype=np.int64))
        self.contexts = self.decisions
        self.values = _read_only(np.empty(0))
        self._positions = self.decisions  # among the distinct decisions
        self._position_of: dict[int, int] = {}
        self._combined = Combination(prior.over_decisions)  # of the distinct decisions
        self._in_fields = 0  # observations that mean and variance contain
        self._mean = np.full(prior.shape, prior.mean)
        self._variance = np.full(prior.shape, prior.variance)
        self._deviation: np.ndarray | None = None  # of the current variance, once asked for; read-only

    @property
    def count(self) -> int:
        """Observations so far."""
        return len(self.values)

    def add(self, decision: int, context: int, value: float) -> None:
        """Condition on the noisy payoff `value` of a decision under a context.

        Raises:
            BocuError: an index is outside the grid or `value` is not finite.
        """
        prior = self.prior
        for name, index, size in zip(("decision", "context"), (decision, context), prior.shape, strict=True):
            if not 0 <= index < size:
                raise BocuError(f"{name}: found {index}; allowed: 0 to {size - 1}")
        if not math.isfinite(value):
            raise BocuError(f"value of decision {decision}, context {context}: found {value}; allowed: finite numbers")
        covariances = prior.over_decisions.column(self.decisions, decision)
        cross = prior.variance * covariances * prior.context_gram[:, context].take(self.contexts)
        noise_variance = float(prior.noise_at(context)) ** 2
        self._factor.append(cross, prior.variance + noise_variance, noise_variance)
        self._positions = np.append(self._positions, self._position(int(decision)))
        self.decisions = _read_only(np.append(self.decisions, int(decision)))
        self.contexts = _read_only(np.append(self.contexts, int(context)))
        self.values = _read_only(np.append(self.values, float(value)))

    def mean(self) -> np.ndarray:
        """Posterior mean, shape (X, C); a read-only view that later observations change."""
        self._update_fields()
        return _read_only(self._mean)

    def variance(self) -> np.ndarray:
        """Posterior variance without noise, shape (X, C); a read-only view that later observations change."""
        self._update_fields()
        return _read_only(self._variance)

    def deviation(self) -> np.ndarray:
        """Posterior standard deviation without noise, shape (X, C); read-only."""
        self._update_fields()
        if self._deviation is None:
            self._deviation = np.sqrt(self._variance)
            self._deviation.flags.writeable = False
        return self._deviation

    def log_evidence(self) -> float:
        """Log density of the values that were told under the prior, in nats (Rasmussen and Williams 2006, Eq. 2.30).

        Costs O(count^2).
        """
        whitened = self._factor.forward(self.values - self.prior.mean)
        return float(-0.5 * whitened @ whitened - np.log(self._factor.diagonal()).sum() - self.count * HALF_LOG_TWO_PI)

    def log_determinant(self) -> float:
        """Log determinant of `I + K / noise^2`, K the Gram matrix of what was told: twice what it tells, in nats."""
        noise = np.broadcast_to(self.prior.noise_at(self.contexts), self.count)
        return float(2.0 * (np.log(self._factor.diagonal()) - np.log(noise)).sum())

    def mean_of(self, decisions: np.ndarray) -> np.ndarray:
        """Posterior mean of some decisions under all contexts, from the factor alone, shape (r, C)."""
        prior = self.prior
        weights = self._collapsed(self.solve(self.values - prior.mean))
        distinct = np.fromiter(self._position_of, dtype=np.int64, count=len(self._position_of))
        return prior.mean + prior.over_decisions.block(decisions, distinct) @ weights

    def variance_of(self, decisions: np.ndarray) -> np.ndarray:
        """Posterior variance of some decisions under all contexts, from the factor alone, shape (r, C).

        Costs O(count^2 * r * C).
        """
        prior, size = self.prior, len(self.prior.contexts)
        of_decisions = prior.over_decisions.block(self.decisions, np.repeat(decisions, size))
        of_contexts = prior.context_gram[self.contexts[:, None], np.tile(np.arange(size), len(decisions))[None, :]]
        explained = np.sum(self._factor.forward(prior.variance * of_decisions * of_contexts) ** 2, axis=0)
        variance = prior.variance - explained.reshape(len(decisions), size)
        return np.maximum(variance, 0.0, out=variance)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solve (K + noise^2 I) s = right, K the prior covariance of the observations; shapes (count,), (count, k)."""
        return self._factor.solve(right)

    def combination(self, weights: np.ndarray) -> np.ndarray:
        """Sum the prior covariances of the whole grid with the observations, ``sum_i weights_i k(., z_i)``.

        Args:
            weights: one for each observation, shape (count,).

        Returns:
            The weighted sum, shape (X, C).
        """
        return self._combined(self._collapsed(weights))

    def state(self) -> State:
        """Return all that the observations left behind, as arrays and numbers."""
        state = {
            "decisions": self.decisions,
            "contexts": self.contexts,
            "values": self.values,
            "factor": self._factor.packed().copy(),
            "in_fields": self._in_fields,
        }
        if self._in_fields:
            state |= {"mean": self._mean.copy(), "variance": self._variance.copy()}
        return state

    def restore(self, state: State) -> None:
        """Put back what `state` gave, bit for bit."""
        self.decisions = _read_only(np.array(state["decisions"], dtype=np.int64))
        self.contexts = _read_only(np.array(state["contexts"], dtype=np.int64))
        self.values = _read_only(np.array(state["values"], dtype=float))
        self._position_of = {}
        self._combined = Combination(self.prior.over_decisions)
        self._positions = np.array([self._position(int(decision)) for decision in self.decisions], dtype=np.int64)
        self._factor.restore(state["factor"])
        self._in_fields = int(state["in_fields"])
        self._mean[:] = state["mean"] if self._in_fields else self.prior.mean
        self._variance[:] = state["variance"] if self._in_fields else self.prior.variance
        self._deviation = None

    def _update_fields(self) -> None:
        """Bring mean and variance up to date; the numbers do not depend on how often this is done."""
        if self._in_fields == self.count:
            return
        for n in range(self._in_fields, self.count):
            row = self._factor.row(n)
            weights = np.ones(n + 1)
            weights[:n] = -self._factor.backward(row[:n], size=n)
            covariance = self.combination(weights)  # of the grid with observation n, given those before
            error = self.values[n] - self._mean[self.decisions[n], self.contexts[n]]
            gain = covariance / row[n] ** 2
            self._variance -= np.multiply(gain, covariance, out=covariance)
            np.maximum(self._variance, 0.0, out=self._variance)
            self._mean += np.multiply(gain, error, out=gain)
            self._in_fields = n + 1
            self._deviation = None

    def _collapsed(self, weights: np.ndarray) -> np.ndarray:
        """Add up the weights of equal decisions, each multiplied with its context's covariances.

        Returns:
            Prior covariances with all contexts, shape (distinct decisions among the first len(weights), C).
        """
        n, size = len(weights), len(self.prior.contexts)
        positions = self._positions[:n]
        # Not all of them: sums over more rows differ in the last bits.
        distinct = len(self._position_of) if n == self.count else int(positions.max(initial=-1)) + 1
        cells = np.bincount(positions * size + self.contexts[:n], weights, minlength=distinct * size)
        return (self.prior.variance * cells.reshape(distinct, size)) @ self.prior.context_gram

    def _position(self, decision: int) -> int:
        """Return the place of a decision among the distinct ones, where a new one is taken as the last."""
        if decision not in self._position_of:
            self._position_of[decision] = len(self._position_of)
            self._combined.add(decision)
        return self._position_of[decision]


def check_scales(variance: float, noise: float | np.ndarray) -> None:
    """Refuse a prior variance and standard deviations of the noise that no posterior can be reckoned with.

    Raises:
        BocuError: one is not positive, or the noise is too small beside the prior.
    """
    for name, numbers in (("variance", variance), ("noise", noise)):
        for number in np.ravel(numbers):
            if not (np.isfinite(number) and number > 0.0):
                raise BocuError(f"{name}: found {number}; allowed: a positive number")
    smallest = np.min(noise)
    if smallest < SMALLEST_NOISE * np.sqrt(variance):
        raise BocuError(f"noise: found {smallest}; allowed: {SMALLEST_NOISE} prior standard deviations or more")


def _one_a_context(noise: np.ndarray, contexts: int) -> np.ndarray:
    if noise.shape != (contexts,):
        raise BocuError(f"noise: found shape {noise.shape}; allowed: one number, or ({contexts},), one a context")
    return _read_only(noise.astype(float))


def _table(name: str, points: np.ndarray, kernel: Kernel) -> np.ndarray:
    table = np.array(points, dtype=float)
    if table.ndim != 2 or len(table) == 0 or table.shape[1] != len(kernel.lengthscale):
        raise BocuError(f"{name}: found shape {table.shape}; allowed: (points, {len(kernel.lengthscale)})")
    if not np.isfinite(table).all():
        raise BocuError(f"{name}: found a coordinate that is not finite")
    return _read_only(table)


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.setflags(write=False)
    return view
