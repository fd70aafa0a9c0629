"""What a log teaches: a Gaussian process of the payoff over decisions and contexts, asked for expectations.

Its covariance is a product of one kernel over decisions and one over contexts, so that payoff tables of many decisions
in many contexts are two small matrices away. Decisions and contexts are scaled to [0, 1]: decisions by their bounds,
contexts by the range of log and forecast together.

Names to choose from are told apart one-hot or by whether they differ at all (Hamming). One-hot: each name is an input
with a length-scale of its own under the kernel of the numbers, so that two names may be more alike than two others.
Hamming: two different names of a choice are equally unlike, exp(-1 / l^2), one length-scale l for the whole choice,
times the kernel of the numbers (the transformed overlap kernel of Wan et al., 2021). It has fewer hyper-parameters, for
logs with few rows for each name.

Hyper-parameters are fitted to some rows from far away, to the rest from where those ended. The log posterior of some
rows has, near its top, the shape of that of all of them, which is only steeper by as much as there are more rows. An
ascent that is told this shape needs half the steps of one that has to find it.
"""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bocu.advice.cells import in_parts, rows_of_a_fit
from bocu.advice.choices import Decisions, OneOfNames, Range
from bocu.advice.logs import Forecast, Log
from bocu.advice.posteriors import AveragedPosterior, LargePosterior, Laws, averaged, laws_of
from bocu.advice.time import Clock, Forgetting, estimate_forgetting, read_forgetting
from bocu.core.errors import BocuError, shown
from bocu.core.kernels import kernel_named
from bocu.core.parameters import nearest
from bocu.learners.surrogates.continuous.fitting import LARGEST, SMALLEST, LogPosterior, Priors, best_hyperparameters
from bocu.learners.surrogates.continuous.model import Posterior, standardise
from bocu.learners.surrogates.continuous.structure import Factor, Hyperparameters, Structure, product

if TYPE_CHECKING:
    from bocu.advice.outcomes import Combined

ONE_HOT, HAMMING = "one-hot", "hamming"
CODES = {
    ONE_HOT: "one input a name, each with a length-scale",
    HAMMING: "different or not, one length-scale a choice",
}


def checked_code(code: str) -> str:
    """Return the code.

    Raises:
        BocuError: there is none of that name.
    """
    if code not in CODES:
        raise BocuError(f"--names: found {shown(code)}; {nearest(code, CODES)}")
    return code


def structure_of(decisions: Decisions, contexts: int, kernel: str, code: str) -> Structure:
    """Return the covariance over coded decisions and contexts (`contexts` of them).

    The last factor is that of the contexts; all before are of decisions.
    """
    columns = len(decisions.encode(np.zeros((1, len(decisions.parts))))[0])
    choices = [i for i, part in enumerate(decisions.parts) if isinstance(part, OneOfNames)]
    if code == ONE_HOT or not choices:
        return product(columns, contexts, kernel, kernel)
    numbers = sum(isinstance(part, Range) for part in decisions.parts)
    factors = [Factor(kernel_named(kernel), slice(0, numbers))] if numbers else []
    factors += [Factor(kernel_named("squared-exponential"), decisions.columns(i)) for i in choices]
    factors.append(Factor(kernel_named(kernel), slice(columns, columns + contexts)))
    return Structure(columns, contexts, tuple(factors))


def shared_scales(decisions: Decisions, contexts: int, code: str) -> np.ndarray:
    """Return for each input (D,) which of the length-scales that a fit decides is its own."""
    groups: list[int] = []
    for i in sorted(range(len(decisions.parts)), key=lambda i: decisions.columns(i).start):
        width = decisions.columns(i).stop - decisions.columns(i).start
        first = groups[-1] + 1 if groups else 0
        groups += [first] * width if code == HAMMING else list(range(first, first + width))
    return np.array([*groups, *range(groups[-1] + 1, groups[-1] + 1 + contexts)])


class Shared(LogPosterior):
    """The objective of a fit in which inputs share length-scales, which the prior counts once.

    Args:
        whole: the objective of a fit where each input has its own.
        groups: which length-scale each input takes, shape (D,), of 0 to G - 1.
    """

    def __init__(self, whole: LogPosterior, groups: np.ndarray) -> None:
        self._whole = whole
        self._groups = groups
        self.priors = whole.priors
        contexts = whole.structure.contexts
        self.structure = replace(whole.structure, decisions=int(groups.max()) + 1 - contexts)

    def __call__(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log posterior density and its gradient at logarithms (G + 2,)."""
        spread = np.concatenate([vector[:-2][self._groups], vector[-2:]])
        value, gradient = self._whole(spread)
        prior, by_prior = self.priors.density(spread)
        once, by_once = self.priors.density(vector)
        gradient -= by_prior
        summed = np.bincount(self._groups, weights=gradient[:-2])
        return value - prior + once, np.concatenate([summed, gradient[-2:]]) + by_once


def spread_scales(found: Hyperparameters, groups: np.ndarray) -> Hyperparameters:
    """Return hyper-parameters with a length-scale for each input (D,)."""
    return replace(found, lengthscales=found.lengthscales[groups])


#: Hyper-parameters are fitted to no more rows than this, spread over time and inputs of a longer log, whose posterior
#: has all rows and is kept as one matrix.
MOST_ROWS_OF_A_FIT = 2000

#: The fit of a longer log starts where a fit of so many of its rows ended, whose many steps are cheap.
ROWS_OF_A_FIRST_FIT = 250

#: Relative change of the objective at which the first ascents and the last one end.
_FIRST_TOLERANCE, _TOLERANCE = 1e-6, 1e-5

#: Step of the differences that a curvature is found by, and the least curvature that is trusted.
_STEP, _FLATTEST = 1e-3, 0.5


def fitted(structure: Structure, inputs: np.ndarray, outputs: np.ndarray, groups: np.ndarray) -> Hyperparameters:
    """Return the most probable hyper-parameters of inputs (t, D) and outputs (t,), all rows alike.

    `groups` (D,) says which length-scale each input has.
    """
    different = int(groups.max()) + 1

    def objective(rows: np.ndarray) -> LogPosterior:
        whole = LogPosterior(structure, inputs[rows], standardise(outputs[rows])[2], priors)
        return Shared(whole, groups) if different < structure.inputs else whole

    priors = Priors()
    few = rows_of_a_fit(inputs, ROWS_OF_A_FIRST_FIT)
    first = objective(few)
    found = best_hyperparameters(first, priors.starts(different, None, len(outputs)), tolerance=_FIRST_TOLERANCE)
    if len(few) < len(outputs):
        many = rows_of_a_fit(inputs, MOST_ROWS_OF_A_FIT)
        steeper = len(many) / len(few)
        found = _ascended(objective(many), found, steeper * _curvature(first, found))
    return spread_scales(found, groups)


def _curvature(objective: LogPosterior, at: Hyperparameters) -> np.ndarray:
    """Return minus the second derivatives (v, v) of an objective at `Hyperparameters.to_vector` (v,)."""
    here = at.to_vector()
    steps = _STEP * np.eye(len(here))
    found = np.array([objective(here - step)[1] - objective(here + step)[1] for step in steps]) / (2.0 * _STEP)
    return np.asarray((found + found.T) / 2.0)


def _ascended(objective: LogPosterior, start: Hyperparameters, curvature: np.ndarray) -> Hyperparameters:
    """Maximise an objective from a start near its top, whose curvature (v, v) is about known.

    Where the ascent meets a bound it is done as if nothing were known: bounds do not lie along the steps it takes.
    """
    from scipy.optimize import minimize

    here = start.to_vector()
    steepness, directions = np.linalg.eigh(curvature)
    steps = directions / np.sqrt(np.maximum(steepness, _FLATTEST))
    least, most = np.full(len(here), math.log(SMALLEST)), np.full(len(here), math.log(LARGEST))
    least[-1] = math.log(objective.priors.least_noise)

    def loss(moved: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = objective(np.clip(here + steps @ moved, least, most))
        return -value, -gradient @ steps

    end = minimize(loss, np.zeros(len(here)), jac=True, method="L-BFGS-B", options={"ftol": _TOLERANCE, "gtol": 1e-5})
    reached = here + steps @ end.x
    if ((reached > least) & (reached < most)).all():
        return Hyperparameters.from_vector(reached)
    return best_hyperparameters(objective, [start], tolerance=_TOLERANCE)


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
        found = fitted(self.structure, inputs[:whole], outputs[:whole], groups)
        self._laws: Laws | None = None
        self.posterior: Posterior
        if len(gaps.outcome):
            self._laws = laws_of(met)
            self.posterior = AveragedPosterior(self.structure, found, inputs, outputs, self._laws, inflation)
        else:
            family = Posterior if whole <= MOST_ROWS_OF_A_FIT else LargePosterior
            self.posterior = family(self.structure, found, inputs, outputs, inflation)
        self.notes = []
        if whole > MOST_ROWS_OF_A_FIT:
            self.notes.append(
                f"length-scales, scale and noise were fitted to {MOST_ROWS_OF_A_FIT} of {whole} rows, spread "
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
