"""Gaussian processes over (arm, time) whose past fades, for several candidate priors at once.

Source: Ziomek et al. (2025), section 2; the kernel is that of Bogunovic et al. (2016). A prior has mean m(i) and kernel
``covariance[i, j] * (1 - forgetting) ** (abs(t - s) / 2)``. The posterior subtracts the prior mean at the data (the
paper prints it at the point of prediction).

In time the kernel is that of an autoregressive process: moving the prediction from time t to a later s multiplies every
covariance with the data by ``(1 - forgetting) ** ((s - t) / 2)``. So the rows of the triangular solve against all arms,
one for each observation, are grown once, at the observation's own time, and only rescaled afterwards. One observation
costs O(observations x arms) for each kernel; nothing is ever factorised again. Predictions are for the time of the
newest observation or later.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.plain import State
from bocu.learners.surrogates.cholesky import HALF_LOG_TWO_PI, INITIAL_CAPACITY

if TYPE_CHECKING:
    from bocu.learners.surrogates.box_time_varying import BoxPrior
    from bocu.learners.surrogates.grid import GridPrior


@dataclass(frozen=True, eq=False)
class TimeVaryingPrior:
    """A Gaussian process prior over (arm, time).

    Raises:
        BocuError: shapes do not fit, a number is not finite, the covariance is not symmetric, or forgetting is outside
            [0, 1].
    """

    label: str  #: name for figures and error lines.
    mean: np.ndarray  #: prior mean in units of the payoff, the same at all times but for `course`, shape (arms,).
    #: covariance of arms at one time in squared units of the payoff, shape (arms, arms); may be singular.
    covariance: np.ndarray
    forgetting: float = 0.0  #: the paper's epsilon, in [0, 1]; 0: nothing changes with time.
    #: what is added to the mean at times 1, 2, ..., shape (times,), or (times, arms); the last of them stays. None:
    #: nothing is.
    course: np.ndarray | None = None

    def __post_init__(self) -> None:
        mean = np.asarray(self.mean, dtype=float)
        covariance = np.asarray(self.covariance, dtype=float)
        where = f"prior '{self.label}'"
        if mean.ndim != 1 or mean.size == 0:
            raise BocuError(f"{where}: mean has shape {mean.shape}; allowed: (arms,)")
        if covariance.shape != (mean.size, mean.size):
            raise BocuError(f"{where}: covariance has shape {covariance.shape}; allowed: {(mean.size, mean.size)}")
        if not (np.isfinite(mean).all() and np.isfinite(covariance).all()):
            raise BocuError(f"{where}: mean or covariance holds a number that is not finite")
        if np.abs(covariance - covariance.T).max() > 1e-10 * np.abs(covariance).max():
            raise BocuError(f"{where}: covariance is not symmetric")
        if not 0.0 <= self.forgetting <= 1.0:
            raise BocuError(f"{where}: forgetting is {self.forgetting}; allowed: 0 to 1")
        if self.course is not None:
            course = np.asarray(self.course, dtype=float)
            fits = course.ndim in (1, 2) and len(course) and (course.ndim == 1 or course.shape[1] == mean.size)
            if not fits or not np.isfinite(course).all():
                allowed = f"(times,) or (times, {mean.size}), finite"
                raise BocuError(f"{where}: course has shape {course.shape}; allowed: {allowed}")
            object.__setattr__(self, "course", course)
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "covariance", covariance)
        object.__setattr__(self, "forgetting", float(self.forgetting))

    @property
    def arms(self) -> int:
        """Number of arms."""
        return self.mean.size

    def mean_at(self, t: int) -> np.ndarray:
        """Return the prior mean at time `t`, from 1 on, shape (arms,)."""
        return self.mean if self.course is None else self.mean + self.course[min(max(t, 1), len(self.course)) - 1]

    def shares_kernel(self, other: "TimeVaryingPrior") -> bool:
        """Say whether the two priors differ in their means at most."""
        return self.forgetting == other.forgetting and (
            self.covariance is other.covariance or np.array_equal(self.covariance, other.covariance)
        )


def drifting(prior: "GridPrior", forgetting: float, label: str) -> TimeVaryingPrior:
    """Let a prior on a grid forget: over the pairs of decision and context, those of one decision together.

    Args:
        prior: of the payoffs at any one time.
        forgetting: as `TimeVaryingPrior` has it.
        label: its name.
    """
    covariance = prior.variance * np.kron(prior.decision_gram, prior.context_gram)
    return TimeVaryingPrior(label, np.full(prior.size, prior.mean), covariance, forgetting)


Prior = TypeVar("Prior", "TimeVaryingPrior", "BoxPrior")


class PriorsTogether(Generic[Prior]):
    """The posteriors of several priors given the same observations at times that do not fall.

    Args:
        priors: the candidate priors.
        noise: standard deviation of the observation noise, in units of the payoff.
        size: attribute of the priors in which all agree.
        called: what it counts.

    Attributes:
        priors: the candidate priors.
        kernels: one prior for each distinct kernel.
        kernel_of: for each prior the index of its kernel.
        time: of the newest observation.
        log_evidence: log density of the observations under each prior, in nats, shape (priors,).

    Raises:
        BocuError: there is no prior, they differ in their size, or `noise` is not positive.
    """

    def __init__(self, priors: Sequence[Prior], noise: float, size: str, called: str) -> None:
        if not priors:
            raise BocuError("priors: found none; at least one is wanted")
        first, *others = (getattr(prior, size) for prior in priors)
        if different := [other for other in others if other != first]:
            raise BocuError(f"priors: found {first} and {min(different)} {called}; all need the same")
        if not noise > 0.0 or not np.isfinite(noise):
            raise BocuError(f"noise: found {noise}; allowed: a positive number")
        self.priors: tuple[Prior, ...] = tuple(priors)
        self.noise = float(noise)
        self.kernels: list[Prior] = []
        self.kernel_of = np.array([self._kernel(prior) for prior in priors])
        self.time = 0
        self.log_evidence = np.zeros(len(priors))

    def _kernel(self, prior: Prior) -> int:
        """Return the place of a prior's kernel among the distinct ones, where a new one is taken as the last."""
        for place, kernel in enumerate(self.kernels):
            if prior.shares_kernel(kernel):
                return place
        self.kernels.append(prior)
        return len(self.kernels) - 1

    def refuse_past(self, t: int) -> None:
        """Refuse a time before that of the newest observation, by a BocuError."""
        if t < self.time:
            raise BocuError(f"time: found {t}; allowed: {self.time}, the time of the newest observation, or later")


class TimeVaryingPosteriors(PriorsTogether[TimeVaryingPrior]):
    """The posteriors of several priors given the same observations.

    Priors that share a kernel share one factor. Everything that depends on the observations is in `state`, as it was
    grown, so that a restored object goes on bit for bit.

    Args:
        priors: the candidate priors, over the same arms.
        noise: standard deviation of the observation noise, in units of the payoff.

    Raises:
        BocuError: there is no prior, they differ in their number of arms, or `noise` is not positive.
    """

    def __init__(self, priors: Sequence[TimeVaryingPrior], noise: float) -> None:
        super().__init__(priors, noise, "arms", "arms")
        self._covariance = np.stack([kernel.covariance for kernel in self.kernels])  # (kernels, arms, arms)
        self._variance = np.stack([np.diag(kernel.covariance) for kernel in self.kernels])  # (kernels, arms)
        self._correlation = np.sqrt([[1.0 - kernel.forgetting] for kernel in self.kernels])  # (kernels, 1), of one step
        self._prior_mean = np.stack([prior.mean for prior in self.priors])  # (priors, arms)
        self.count = 0
        self._times = np.empty(INITIAL_CAPACITY)
        self._rows = np.empty((len(self.kernels), INITIAL_CAPACITY, self.arms))
        self._shift = np.zeros_like(self._prior_mean)  # posterior minus prior mean, at `time`
        self._explained = np.zeros_like(self._variance)  # prior minus posterior variance, at `time`
        self._predicted: tuple[int, np.ndarray, np.ndarray] | None = None  # asked for since the newest observation
        self._stands = all(prior.course is None for prior in self.priors)

    @property
    def arms(self) -> int:
        """Number of arms."""
        return self.priors[0].arms

    def predict(self, t: int) -> tuple[np.ndarray, np.ndarray]:
        """Predict the noise-free payoff of all arms at time `t`, not before the newest observation.

        Returns:
            Mean and standard deviation, each of shape (priors, arms), read-only.

        Raises:
            BocuError: `t` lies before the newest observation.
        """
        if self._predicted is None or self._predicted[0] != t:
            correlation = self._correlation_at(t)
            mean = self._mean_at(t) + correlation[self.kernel_of] * self._shift
            deviation = np.sqrt(self._variance_at(correlation))[self.kernel_of]
            mean.flags.writeable = deviation.flags.writeable = False
            self._predicted = t, mean, deviation
        return self._predicted[1:]

    def observe(self, arm: int, t: int, value: float) -> None:
        """Condition on the payoff `value` of `arm` at time `t`, not before the newest observation.

        Raises:
            BocuError: `arm` or `t` is out of range, `value` is not finite, or a prior's covariance turns out not to be
                positive semi-definite.
        """
        self._refuse(arm, t, value)
        self._predicted = None
        correlation = self._correlation_at(t)
        pivot = np.sqrt(self._variance_at(correlation)[:, arm] + self.noise**2)[:, None]  # (kernels, 1)
        self._shift *= correlation[self.kernel_of]
        self._explained *= correlation**2

        n = self.count
        decay = self._correlation ** (t - self._times[:n])  # (kernels, n)
        factor = decay * self._rows[:, :n, arm]  # the new row of the Cholesky factor
        known = (decay * factor)[:, None, :] @ self._rows[:, :n]
        row = (self._covariance[:, arm] - known[:, 0]) / pivot
        error = (value - self._mean_at(t)[:, arm] - self._shift[:, arm]) / pivot[self.kernel_of, 0]

        self._shift += row[self.kernel_of] * error[:, None]
        self._explained += row**2
        self.log_evidence = self.log_evidence - 0.5 * error**2 - np.log(pivot[self.kernel_of, 0]) - HALF_LOG_TWO_PI
        self._append(row, t)

    def state(self) -> State:
        """Return all that the observations left behind, as arrays and numbers."""
        return {
            "time": self.time,
            "times": self._times[: self.count].copy(),
            "rows": self._rows[:, : self.count].copy(),
            "shift": self._shift.copy(),
            "explained": self._explained.copy(),
            "log_evidence": self.log_evidence.copy(),
        }

    def restore(self, state: State) -> None:
        """Put back what `state` gave, bit for bit."""
        self.time = int(state["time"])
        self.count = len(state["times"])
        capacity = max(self.count, INITIAL_CAPACITY)
        self._times = np.empty(capacity)
        self._times[: self.count] = state["times"]
        self._rows = np.empty((len(self._variance), capacity, self.arms))
        self._rows[:, : self.count] = state["rows"]
        self._predicted = None
        self._shift = np.array(state["shift"], dtype=float)
        self._explained = np.array(state["explained"], dtype=float)
        self.log_evidence = np.array(state["log_evidence"], dtype=float)

    def _refuse(self, arm: int, t: int, value: float) -> None:
        if not 0 <= arm < self.arms:
            raise BocuError(f"arm: found {arm}; allowed: 0 to {self.arms - 1}")
        if not np.isfinite(value):
            raise BocuError(f"value of arm {arm} at time {t}: found {value}; a finite number is wanted")
        self.refuse_past(t)

    def _mean_at(self, t: int) -> np.ndarray:
        """Return the prior means at time `t`, shape (priors, arms)."""
        if self._stands:
            return self._prior_mean
        return np.stack([prior.mean_at(t) for prior in self.priors])

    def _correlation_at(self, t: int) -> np.ndarray:
        """Return the correlation of time `t` with the time of the newest observation, shape (kernels, 1)."""
        self.refuse_past(t)
        return self._correlation ** (t - self.time)

    def _variance_at(self, correlation: np.ndarray) -> np.ndarray:
        variance = self._variance - correlation**2 * self._explained
        # Rounding leaves tiny negative numbers where noise is small; anything larger is the prior's fault.
        if variance.min() < -1e-8 * self._variance.max():
            kernel = int(np.argmin(variance.min(axis=1)))
            label = self.priors[int(np.argmax(self.kernel_of == kernel))].label
            raise BocuError(f"prior '{label}': covariance is not positive semi-definite")
        return np.maximum(variance, 0.0)

    def _append(self, row: np.ndarray, t: int) -> None:
        if self.count == len(self._times):
            self._times = np.concatenate([self._times, np.empty_like(self._times)])
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)], axis=1)
        self._times[self.count] = t
        self._rows[:, self.count] = row
        self.count += 1
        self.time = t
