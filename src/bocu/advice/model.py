"""What a log teaches: a Gaussian process of the payoff over decisions and contexts, asked for expectations.

Its covariance is a product of one kernel over decisions and one over contexts, so that payoff tables of many decisions
in many contexts are two small matrices away. Decisions and contexts are scaled to [0, 1]: decisions by their bounds,
contexts by the range of log and forecast together.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bocu.advice import fits
from bocu.advice.choices import Decisions, Range
from bocu.advice.forgetting import Forgetting, estimate_forgetting, read_forgetting
from bocu.advice.gaps import AveragedPosterior, Laws, averaged, laws_of
from bocu.advice.large import LargePosterior, in_parts
from bocu.advice.logs import Forecast, Log
from bocu.advice.names import ONE_HOT, shared_scales, structure_of
from bocu.advice.time import Clock
from bocu.learners.surrogates.continuous.model import Posterior

if TYPE_CHECKING:
    from bocu.advice.outcomes import Combined

KERNEL = "matern-5/2"

_PROFILE_ROWS, _PROFILE_POINTS = 64, 9


@dataclass(frozen=True)
class Influence:
    """How one column acts on the payoff.

    Attributes:
        name: the column; of a choice of names one entry stands for all of its names.
        role: "decision" or "context".
        lengthscale: in units of the column, over which the payoff changes; None of a choice of names.
        swing: by how much the expected payoff moves as this column alone goes through its range, the others as in
            the log, on average.
    """

    name: str
    role: str
    lengthscale: float | None
    swing: float


class Learnt:
    """The payoff as a log tells it, to be maximised.

    Rows that lack contexts stand behind the whole ones, and count averaged over what these may have been.

    Args:
        decisions: what is decided.
        log: what was decided, met and earned.
        forecast: contexts that will be asked about.
        sign: 1 to maximise the outcome, -1 to minimise it.
        recency: how much each row counts, whole ones first, shape (t,), at most 1; None: all alike.
        code: how names to choose from are told apart, of `bocu.advice.names`.

    Attributes:
        noise: standard deviation of a single outcome around its expectation.
        notes: what was done since there are many rows.
    """

    def __init__(
        self,
        decisions: Decisions,
        log: Log,
        forecast: Forecast,
        sign: float,
        recency: np.ndarray | None = None,
        code: str = ONE_HOT,
    ) -> None:
        self.decisions = decisions
        self.log = log
        self._low, self._span = _range(np.vstack([log.contexts, forecast.contexts]))
        gaps = log.gaps
        met = self.scaled(np.vstack([log.contexts, gaps.contexts]))
        coded = decisions.encode(np.vstack([log.decisions, gaps.decisions]))
        self.structure = structure_of(decisions, met.shape[1], KERNEL, code)
        inputs = np.hstack([coded, met])
        outputs = sign * np.concatenate([log.outcome, gaps.outcome])
        inflation = None if recency is None else 1.0 / recency
        whole = len(log.outcome)
        groups = shared_scales(decisions, met.shape[1], code)
        found = fits.fitted(self.structure, inputs[:whole], outputs[:whole], groups)
        self._laws: Laws | None = None
        self.posterior: Posterior
        if len(gaps.outcome):
            self._laws = laws_of(met)
            self.posterior = AveragedPosterior(self.structure, found, inputs, outputs, self._laws, inflation)
        else:
            family = Posterior if whole <= fits.MOST_ROWS_OF_A_FIT else LargePosterior
            self.posterior = family(self.structure, found, inputs, outputs, inflation)
        self.notes = []
        if whole > fits.MOST_ROWS_OF_A_FIT:
            self.notes.append(
                f"length-scales, scale and noise were fitted to {fits.MOST_ROWS_OF_A_FIT} of {whole} rows, spread "
                "over time, decisions and contexts; all rows were learnt from at these (of 3000 simulated rows, "
                "expected and guaranteed within 0.4% of the exact fit's)"
            )
        self.noise = float(self.posterior.scale * np.sqrt(found.noise))
        points = self.scaled(forecast.contexts)
        self._among_contexts = self._kernel_of_contexts(points, points)
        self._of_contexts = self._with_log(points)

    def scaled(self, contexts: np.ndarray) -> np.ndarray:
        """Return contexts (n, l) in the units of the model."""
        return (contexts - self._low) / self._span

    def means(self, values: np.ndarray) -> np.ndarray:
        """Return the expected payoff (n, C) of decisions (n, d) in the forecast's contexts."""
        here = self.posterior
        weights = here.hyperparameters.output_scale * here.weights

        def standard(some: np.ndarray) -> np.ndarray:
            return (self._of_decisions(some) * weights) @ self._of_contexts.T

        return here.shift + here.scale * (here.mean + in_parts(standard, values, len(here.weights)))

    def spreads(self, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return what is not known of expectations: standard deviations (n,).

        Args:
            values: decisions, shape (n, d).
            weights: the distribution of the forecast's contexts that each decision's expectation is over, shape
                (n, C) or (C,).
        """
        weight = np.broadcast_to(weights, (len(values), len(self._of_contexts)))
        prior = np.einsum("nc,nc->n", weight @ self._among_contexts, weight)
        return self._spreads(self._of_decisions(values) * (weight @ self._of_contexts), prior)

    def variances_after(self, value: np.ndarray, weights: np.ndarray, met: np.ndarray) -> np.ndarray:
        """Return what would not be known of an expectation if its decision were tried once: variances (n,).

        Args:
            value: the decision, shape (d,).
            weights: the distribution of the forecast's contexts that its expectation is over, shape (C,).
            met: positions of the contexts of the forecast that are met in trying it, one each time, shape (n,).
        """
        here = self.posterior
        scale = here.hyperparameters.output_scale
        with_log = scale * self._of_decisions(value[None]) * self._of_contexts
        mean = weights @ with_log
        solved = here.solve(mean)
        left = scale * float(weights @ self._among_contexts @ weights) - float(mean @ solved)
        joint = scale * (self._among_contexts[met] @ weights) - with_log[met] @ solved
        there = scale - here.explained(with_log[met]) + here.hyperparameters.noise
        return np.asarray(here.scale**2 * np.maximum(left - joint**2 / there, 0.0))

    def pairs(self, values: np.ndarray, contexts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the expected payoff (n,) of decisions (n, d), each in its own context (n, l), and what is not known.

        The second is the standard deviation (n,) of that expectation.
        """
        correlation = self._of_decisions(values) * self._with_log(self.scaled(contexts))
        return self._expected(correlation), self._spreads(correlation, np.ones(len(values)))

    def pair_means(self, values: np.ndarray, contexts: np.ndarray) -> np.ndarray:
        """Return the expected payoff (n,) of decisions (n, d), each in its own context (n, l)."""

        def some(rows: np.ndarray) -> np.ndarray:
            return self._expected(self._of_decisions(values[rows]) * self._with_log(self.scaled(contexts[rows])))

        return in_parts(some, np.arange(len(values)), len(self.posterior.weights))

    def _expected(self, correlation: np.ndarray) -> np.ndarray:
        """Return the expectation (n,) of what has correlations (n, t) with the log."""
        here = self.posterior
        standard = here.hyperparameters.output_scale * correlation @ here.weights
        return np.asarray(here.shift + here.scale * (here.mean + standard))

    def lengthscales(self) -> list[float | None]:
        """Return the length-scale of each decision and context in its own units; None of a choice of names."""
        scales = self.posterior.hyperparameters.lengthscales
        of_decisions = [
            float(scales[self.decisions.columns(i).start] * part.span) if isinstance(part, Range) else None
            for i, part in enumerate(self.decisions.parts)
        ]
        return [*of_decisions, *(scales[self.structure.decisions :] * self._span).tolist()]

    def _spreads(self, correlation: np.ndarray, prior: np.ndarray) -> np.ndarray:
        """Return standard deviations (n,) of what has correlations (n, t) with the log and a prior variance (n,)."""
        here = self.posterior
        cross = here.hyperparameters.output_scale * correlation
        explained = in_parts(here.explained, cross, len(here.weights))
        variance = here.hyperparameters.output_scale * prior - explained
        spreads: np.ndarray = here.scale * np.sqrt(np.maximum(variance, 0.0))
        return spreads

    def _of_decisions(self, values: np.ndarray) -> np.ndarray:
        """Return the kernel over decisions (n, t) with the log."""
        coded = self.decisions.encode(values)
        *kernels, _ = self.structure.kernels(self.posterior.hyperparameters.lengthscales)
        found = np.ones((len(values), len(self.posterior.inputs)))
        for factor, kernel in zip(self.structure.factors, kernels, strict=False):
            found *= kernel(coded[:, factor.columns], self.posterior.inputs[:, factor.columns])
        return found

    def _kernel_of_contexts(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        *_, kernel = self.structure.kernels(self.posterior.hyperparameters.lengthscales)
        return kernel(a, b)

    def _with_log(self, points: np.ndarray) -> np.ndarray:
        """Return the kernel over contexts (n, t) between scaled points (n, l) and the log."""
        if self._laws is None:
            return self._kernel_of_contexts(points, self.posterior.inputs[:, self.structure.decisions :])
        *_, kernel = self.structure.kernels(self.posterior.hyperparameters.lengthscales)
        return averaged(kernel, points, self._laws)


def influences(learnt: "Learnt | Combined", contexts: tuple[str, ...]) -> list[Influence]:
    """Return how each column acts on the payoff, decisions first."""
    log = learnt.log
    rows = _spread(len(log.outcome), _PROFILE_ROWS)
    scales = learnt.lengthscales()
    found = []
    for i, part in enumerate(learnt.decisions.parts):
        profile = []
        for value in part.spaced(_PROFILE_POINTS):
            changed = log.decisions[rows].copy()
            changed[:, i] = value
            profile.append(learnt.pair_means(changed, log.contexts[rows]))
        found.append(Influence(part.name, "decision", scales[i], _swing(profile)))
    for i, name in enumerate(contexts):
        profile = []
        seen = log.contexts[:, i]
        for share in np.linspace(0.0, 1.0, _PROFILE_POINTS):
            changed = log.contexts[rows].copy()
            changed[:, i] = seen.min() + share * np.ptp(seen)
            profile.append(learnt.pair_means(log.decisions[rows], changed))
        found.append(Influence(name, "context", scales[len(learnt.decisions.parts) + i], _swing(profile)))
    return found


def forgetting_of(forget: str | float | None, clock: Clock, decisions: Decisions, log: Log, sign: float) -> Forgetting:
    """Return how much rows of a log in the order of time count.

    Args:
        forget: a half-life, "estimate", or None: all count alike.
        clock: when rows were.
        decisions: what is decided.
        log: what was decided, met and earned.
        sign: 1 to maximise the outcome, -1 to minimise it.

    Raises:
        BocuError: it is no half-life, or the log is too short to estimate one.
    """
    found = read_forgetting(forget, clock)
    if found is not None:
        return found
    low, span = _range(log.contexts)
    coded, met = decisions.encode(log.decisions), (log.contexts - low) / span
    structure = structure_of(decisions, met.shape[1], KERNEL, ONE_HOT)
    return estimate_forgetting(clock, met, structure, np.hstack([coded, met]), sign * log.outcome)


def _range(contexts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the least of each context (l,) of (n, l), and the width of its range, 1 where it has none."""
    span = np.ptp(contexts, axis=0)
    return contexts.min(axis=0), np.where(span > 0.0, span, 1.0)


def _spread(rows: int, most: int) -> np.ndarray:
    """Return the positions of all rows, or of at most so many that are spread evenly over them."""
    return np.arange(rows) if rows <= most else np.linspace(0, rows - 1, most).round().astype(int)


def _swing(profile: list[np.ndarray]) -> float:
    """Return highest less lowest of a profile, averaged over rows."""
    return float(np.ptp(np.stack(profile), axis=0).mean())
