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

import copy
import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bocu.advice.choices import Decisions, OneOfNames, Range
from bocu.advice.logs import Forecast, Log, in_parts, rows_of_a_fit, spread_evenly
from bocu.advice.posteriors import (
    AveragedPosterior,
    LargePosterior,
    Trended,
    averaged,
    laws_of,
    trend,
    trend_of_contexts,
    trend_of_decisions,
)
from bocu.advice.time import ESTIMATE, Clock, Forgetting, estimate_forgetting, read_half_life
from bocu.core.kernels import kernel_named
from bocu.learners.surrogates.continuous.fitting import (
    LARGEST,
    SMALLEST,
    LogPosterior,
    Priors,
    best_hyperparameters,
    curvature,
)
from bocu.learners.surrogates.continuous.model import Posterior, standardise
from bocu.learners.surrogates.continuous.structure import Factor, Hyperparameters, Structure, product

if TYPE_CHECKING:
    from bocu.advice.outcomes import Combined

#: How names to choose from are told apart: one input a name, or different or not.
CODES = ONE_HOT, HAMMING = "one-hot", "hamming"


def structure_of(decisions: Decisions, contexts: int, kernel: str, code: str) -> Structure:
    """Return the covariance over coded decisions and contexts (`contexts` of them).

    The last factor is that of the contexts; all before are of decisions.
    """
    columns = len(decisions.bounds)
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


#: Hyper-parameters are fitted to no more rows than this, spread over time and inputs of a longer log, whose posterior
#: has all rows and is kept as one matrix.
MOST_ROWS_OF_A_FIT = 2000

#: The fit of a longer log starts where a fit of so many of its rows ended, whose many steps are cheap.
ROWS_OF_A_FIRST_FIT = 250

#: Relative change of the objective at which the first ascents and the last one end.
_FIRST_TOLERANCE, _TOLERANCE = 1e-6, 1e-5

#: The least curvature that is trusted.
_FLATTEST = 0.5

#: Hyper-parameters beside the most probable: how many are proposed, by a Student's t of so many degrees, and taken.
_PROPOSED, _FREEDOM, _DRAWN = 64, 5, 8


def fitted(
    structure: Structure, inputs: np.ndarray, outputs: np.ndarray, groups: np.ndarray
) -> tuple[Hyperparameters, Callable[[], list[Hyperparameters]]]:
    """Return the most probable hyper-parameters of inputs (t, D) and outputs (t,), and what draws others.

    All rows count alike. `groups` (D,) says which length-scale each input has.
    """
    different = int(groups.max()) + 1

    def objective(rows: np.ndarray) -> LogPosterior:
        known = trend(structure, inputs[rows], inputs[rows])
        whole = LogPosterior(structure, inputs[rows], standardise(outputs[rows])[2], priors, known)
        return Shared(whole, groups) if different < structure.inputs else whole

    def spread(one: Hyperparameters) -> Hyperparameters:
        return replace(one, lengthscales=one.lengthscales[groups])

    priors = Priors()
    few = rows_of_a_fit(inputs, ROWS_OF_A_FIRST_FIT)
    first = objective(few)
    found = best_hyperparameters(first, priors.starts(different, None, len(outputs)), tolerance=_FIRST_TOLERANCE)
    steeper = 1.0
    if len(few) < len(outputs):
        many = rows_of_a_fit(inputs, MOST_ROWS_OF_A_FIT)
        steeper = len(many) / len(few)
        found = _ascended(objective(many), found, steeper * curvature(first, found))
    return spread(found), lambda: list(map(spread, _drawn(first, found, steeper)))


def _drawn(objective: LogPosterior, at: Hyperparameters, steeper: float) -> list[Hyperparameters]:
    """Return hyper-parameters that are as probable as an objective says, around its top.

    Proposed by Student's t around the top with the curvature there, and resampled by their densities; where the
    objective is that of some rows alone, which is less steep than that of all, they are as proposed.
    """
    world, top = np.random.default_rng(0), at.to_vector()
    steepness, directions = np.linalg.eigh(steeper * curvature(objective, at))
    steps = directions / np.sqrt(np.maximum(steepness, _FLATTEST))
    normal = world.normal(size=(_PROPOSED, len(top)))
    wide = normal / np.sqrt(world.chisquare(_FREEDOM, _PROPOSED) / _FREEDOM)[:, None]
    least = np.full(len(top), math.log(SMALLEST))
    least[-1] = math.log(objective.priors.least_noise)
    found = np.clip(top + wide @ steps.T, least, math.log(LARGEST))
    weights = np.ones(_PROPOSED)
    if steeper == 1.0:
        proposed = -0.5 * (_FREEDOM + len(top)) * np.log1p((wide**2).sum(axis=1) / _FREEDOM)
        ratio = np.array([objective(one)[0] for one in found]) - proposed
        weights = np.exp(ratio - ratio.max())
    heights = np.cumsum(weights) / weights.sum()
    rows = np.searchsorted(heights, (np.arange(_DRAWN) + 0.5) / _DRAWN)
    return [Hyperparameters.from_vector(found[row]) for row in rows]


def _ascended(objective: LogPosterior, start: Hyperparameters, curved: np.ndarray) -> Hyperparameters:
    """Maximise an objective from a start near its top, whose curvature `curved` (v, v) is about known.

    Where the ascent meets a bound it is done as if nothing were known: bounds do not lie along the steps it takes.
    """
    from scipy.optimize import minimize

    here = start.to_vector()
    steepness, directions = np.linalg.eigh(curved)
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

#: Rows up to which all residuals are worked out; of a longer log, so many of the largest.
_ALL_RESIDUALS, _LARGEST_RESIDUALS = 2000, 256


@dataclass(frozen=True)
class Influence:
    """How one column acts on the payoff."""

    name: str  #: the column; of a choice of names one entry stands for all of its names.
    role: str  #: "decision" or "context".
    lengthscale: float | None  #: in units of the column, over which the payoff changes; None of a choice of names.
    #: by how much the expected payoff moves as this column alone goes through its range, the others as in the log, on
    #: average.
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
        code: how names to choose from are told apart, of `CODES`.
        kept: which whole rows are learnt from, shape (t,); None: all.
        outcome: what whole rows are taken to have brought, shape (t,); None: what the log has.

    Attributes:
        kept: as given.
        earned: what whole rows brought by the log, to be maximised, shape (t,).
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
        kept: np.ndarray | None = None,
        outcome: np.ndarray | None = None,
    ) -> None:
        self.decisions = decisions
        self.log = log
        self._made = forecast, recency, code
        self.earned = sign * log.outcome
        self.kept = np.ones(len(log.outcome), dtype=bool) if kept is None else kept
        self._low, self._span = _range(np.vstack([log.contexts, forecast.contexts]))
        gaps = log.gaps
        used = np.concatenate([self.kept, np.ones(len(gaps.outcome), dtype=bool)])
        met = self.scaled(np.vstack([log.contexts, gaps.contexts]))[used]
        coded = decisions.encode(np.vstack([log.decisions, gaps.decisions]))[used]
        self.structure = structure_of(decisions, met.shape[1], KERNEL, code)
        self._inputs = np.hstack([coded, met])
        taken = self.earned if outcome is None else sign * outcome
        self._outputs = np.concatenate([taken, sign * gaps.outcome])[used]
        self._inflation = None if recency is None else 1.0 / recency[used]
        self._whole = whole = int(self.kept.sum())
        groups = shared_scales(decisions, met.shape[1], code)
        found, self._others = fitted(self.structure, self._inputs[:whole], self._outputs[:whole], groups)
        self._laws = laws_of(met) if len(gaps.outcome) else None
        self.notes = []
        if whole > MOST_ROWS_OF_A_FIT:
            self.notes.append(
                f"length-scales, scale and noise were fitted to {MOST_ROWS_OF_A_FIT} of {whole} rows, spread "
                "over time, decisions and contexts; all rows were learnt from at these (of 3000 simulated rows, "
                "expected and guaranteed within 0.4% of the exact fit's)"
            )
        self._points = self.scaled(forecast.contexts)
        self._take(found)

    def _take(self, found: Hyperparameters) -> None:
        """Condition on the rows at some hyper-parameters."""
        about = (self.structure, found, self._inputs, self._outputs)
        self.posterior: Posterior
        if self._laws is not None:
            self.posterior = AveragedPosterior(*about, self._laws, self._inflation)
        else:
            family = Trended if self._whole <= MOST_ROWS_OF_A_FIT else LargePosterior
            self.posterior = family(*about, self._inflation)
        self.noise = float(self.posterior.scale * np.sqrt(found.noise))
        self._among_contexts = self._kernels_of_contexts(self._points, self._points)
        self._of_contexts = self._with_log(self._points)

    def draws(self) -> list["Learnt"]:
        """Return the model at other hyper-parameters, as probable as the log has them."""
        found = []
        for one in self._others():
            other = copy.copy(self)
            other._take(one)
            found.append(other)
        return found

    def asked_of(self, contexts: np.ndarray) -> "Learnt":
        """Return the model, asked about other contexts (C, l)."""
        other = copy.copy(self)
        other._points = self.scaled(contexts)
        other._among_contexts = other._kernels_of_contexts(other._points, other._points)
        other._of_contexts = other._with_log(other._points)
        return other

    def again(self, log: Log) -> "Learnt":
        """Return the model of another log of the rows that are learnt from, to be maximised, asked about the same."""
        forecast, recency, code = self._made
        left = None if recency is None else recency[: len(self.kept)][self.kept]
        found = believed(log, functools.partial(Learnt, self.decisions, log, forecast, 1.0, left, code))
        return found.asked_of(self._low + self._span * self._points)

    def priors(self, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return prior covariances of a decision (d,) in the contexts asked about, with the log (C, t) and (C, C)."""
        row = value[None]
        cross = sum(decided * met for decided, met in zip(self._of_decisions(row), self._of_contexts, strict=True))
        own = sum(of[0] * kernel for of, kernel in zip(self._own(row), self._among_contexts, strict=True))
        return np.asarray(cross), np.asarray(own)

    def scaled(self, contexts: np.ndarray) -> np.ndarray:
        """Return contexts (n, l) in the units of the model."""
        return (contexts - self._low) / self._span

    def means(self, values: np.ndarray) -> np.ndarray:
        """Return the expected payoff (n, C) of decisions (n, d) in the forecast's contexts."""
        here = self.posterior

        def standard(some: np.ndarray) -> np.ndarray:
            parts = zip(self._of_decisions(some), self._of_contexts, strict=True)
            return np.asarray(sum((decided * here.weights) @ met.T for decided, met in parts))

        return here.shift + here.scale * (here.mean + in_parts(standard, values, len(here.weights)))

    def spreads(self, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return what is not known, standard deviations (n,), of what decisions (n, d) are expected to earn.

        `weights` are of the contexts that each expectation is over, shape (n, C), or (C,) for all alike.
        """
        weight = np.broadcast_to(weights, (len(values), len(self._points)))
        own = self._own(values)
        prior = sum(
            of * np.einsum("nc,nc->n", weight @ among, weight)
            for of, among in zip(own, self._among_contexts, strict=True)
        )
        parts = zip(self._of_decisions(values), self._of_contexts, strict=True)
        return self._spreads(sum(decided * (weight @ met) for decided, met in parts), prior)

    def unevenness(self, value: np.ndarray, weights: np.ndarray) -> float:
        """Return by how much noise that differs from row to row widens the variance of an expectation, 0 at least.

        The expectation of a decision (d,) over contexts weighted (C,) is a sum of outcomes, with weights a. One noise
        for all gives it the variance sum a^2 noise^2; the residuals r of rows, each foretold without the row, give sum
        a^2 r^2 (MacKinnon and White, 1985, HC3). Of more than 2,000 rows residuals are those of the fit.
        """
        here = self.posterior
        parts = zip(self._of_decisions(value[None]), self._of_contexts, strict=True)
        cross = np.asarray(sum(decided[0] * (weights @ met) for decided, met in parts))
        noise = here.hyperparameters.noise * (1.0 if self._inflation is None else self._inflation)
        large = isinstance(here, LargePosterior)
        residuals = here.weights * noise if large else here.weights / np.diagonal(here.inverse)
        return max(float(here.scale**2 * (here.solve(cross) ** 2 @ (residuals**2 - noise))), 0.0)

    def joint(self, values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean (n,) and covariance (n, n) of expectations of decisions (n, d) over contexts weighted (C,)."""
        here, parts = self.posterior, list(zip(self._of_decisions(values), self._of_contexts, strict=True))
        cross = sum(decided * (weights @ met) for decided, met in parts)
        coded = self.decisions.encode(values)
        among = zip(self._of_decisions(values, coded), self._among_contexts, strict=True)
        prior = sum(decided * (weights @ kernel @ weights) for decided, kernel in among)
        return self.means(values) @ weights, here.scale**2 * (prior - cross @ here.solve(np.asarray(cross).T))

    def variances_after(self, value: np.ndarray, weights: np.ndarray, met: np.ndarray) -> np.ndarray:
        """Return what would not be known of an expectation if its decision (d,) were tried once: variances (n,).

        It is over contexts weighted (C,); `met` are positions (n,) of those met in trying it, one each time.
        """
        here = self.posterior
        with_log, among = self.priors(value)
        mean = weights @ with_log
        solved = here.solve(mean)
        left = float(weights @ among @ weights) - float(mean @ solved)
        joint = among[met] @ weights - with_log[met] @ solved
        there = np.diagonal(among)[met] - here.explained(with_log[met]) + here.hyperparameters.noise
        return np.asarray(here.scale**2 * np.maximum(left - joint**2 / there, 0.0))

    def pairs(self, values: np.ndarray, contexts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the expected payoff (n,) of decisions (n, d), each in its own context (n, l), and what is not known.

        The second is the standard deviation (n,) of that expectation.
        """
        cross = self._crossed(values, contexts)
        met = self.scaled(contexts)
        prior = self._own(values)[0] + self._own(values)[1] * (1.0 + ((met - 0.5) ** 2).sum(axis=1))
        return self._expected(cross), self._spreads(cross, prior)

    def pair_means(self, values: np.ndarray, contexts: np.ndarray) -> np.ndarray:
        """Return the expected payoff (n,) of decisions (n, d), each in its own context (n, l)."""

        def some(rows: np.ndarray) -> np.ndarray:
            return self._expected(self._crossed(values[rows], contexts[rows]))

        return in_parts(some, np.arange(len(values)), len(self.posterior.weights))

    def _crossed(self, values: np.ndarray, contexts: np.ndarray) -> np.ndarray:
        """Return covariances (n, t) of decisions (n, d), each in its own context (n, l), with the log."""
        parts = zip(self._of_decisions(values), self._with_log(self.scaled(contexts)), strict=True)
        return np.asarray(sum(decided * met for decided, met in parts))

    def _expected(self, cross: np.ndarray) -> np.ndarray:
        """Return the expectation (n,) of what has covariances (n, t) with the log."""
        here = self.posterior
        return np.asarray(here.shift + here.scale * (here.mean + cross @ here.weights))

    def lengthscales(self) -> list[float | None]:
        """Return the length-scale of each decision and context in its own units; None of a choice of names."""
        scales = self.posterior.hyperparameters.lengthscales
        of_decisions = [
            float(scales[self.decisions.columns(i).start] * part.span) if isinstance(part, Range) else None
            for i, part in enumerate(self.decisions.parts)
        ]
        return [*of_decisions, *(scales[self.structure.decisions :] * self._span).tolist()]

    def _spreads(self, cross: np.ndarray, prior: np.ndarray) -> np.ndarray:
        """Return standard deviations (n,) of what has covariances (n, t) with the log and a prior variance (n,)."""
        here = self.posterior
        explained = in_parts(here.explained, cross, len(here.weights))
        return np.asarray(here.scale * np.sqrt(np.maximum(prior - explained, 0.0)))

    def _of_decisions(self, values: np.ndarray, others: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return covariances over decisions (n, m) with others, coded (m, D); None: the log's.

        The first are of the stationary part, the second of the trend.
        """
        here = self.posterior
        coded = self.decisions.encode(values)
        others = here.inputs if others is None else others
        *kernels, _ = self.structure.kernels(here.hyperparameters.lengthscales)
        found = np.full((len(values), len(others)), here.hyperparameters.output_scale)
        for factor, kernel in zip(self.structure.factors, kernels, strict=False):
            found *= kernel(coded[:, factor.columns], others[:, factor.columns])
        return found, trend_of_decisions(coded, others[:, : self.structure.decisions])

    def _own(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return covariances over decisions of each of some (n, d) with itself, of both parts, (n,)."""
        squares = ((self.decisions.encode(values) - 0.5) ** 2).sum(axis=1)
        nothing = np.full((1, self.structure.decisions), 0.5)
        here = self.posterior.hyperparameters
        return np.full(len(values), here.output_scale), trend_of_decisions(nothing, nothing)[0] * (1.0 + squares)

    def _kernels_of_contexts(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        *_, kernel = self.structure.kernels(self.posterior.hyperparameters.lengthscales)
        return kernel(a, b), trend_of_contexts(a, b)

    def _with_log(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return covariances over contexts (n, t) between scaled points (n, l) and the log, of both parts."""
        if self._laws is None:
            return self._kernels_of_contexts(points, self.posterior.inputs[:, self.structure.decisions :])
        *_, kernel = self.structure.kernels(self.posterior.hyperparameters.lengthscales)
        return averaged(kernel, points, self._laws), averaged(trend_of_contexts, points, self._laws)


#: An outcome is taken to be no further from the median than so many (scaled) median deviations when rows are judged.
_CLIPPED = 4.0
#: A row is not believed from so many standard deviations on, if it lies so many times as far as any that is believed:
#: tails of skewed outcomes thin out, errors stand apart. At most this share is not, found in so many rounds.
DOUBTED, _APART, _MOST_DOUBTED, _ROUNDS = 4.0, 1.5, 0.1, 4
#: A median of absolute deviations from a normal mean is the standard deviation divided by this.
_MAD = 1.4826


def believed(log: Log, learn: Callable[[np.ndarray | None, np.ndarray | None], Learnt]) -> Learnt:
    """Return the model of the rows of a log that can be believed.

    A first model of outcomes clipped to their bulk finds rows that lie far from what all others tell; they go, a model
    of the rest judges all anew, and so on until they stay the same. Only such stay out as lie apart from all that are
    believed. A typing error and a rare real win look alike. `learn` makes a model of some rows (t,) and of what they
    are taken to have brought (t,).
    """
    middle = float(np.median(log.outcome))
    reach = _CLIPPED * _MAD * float(np.median(np.abs(log.outcome - middle)))
    clipped = np.clip(log.outcome, middle - reach, middle + reach) if reach else log.outcome
    untouched = bool((clipped == log.outcome).all())
    kept = np.ones(len(log.outcome), dtype=bool)
    learnt = learn(None, None if untouched else clipped)
    for _ in range(_ROUNDS):
        apart = _apart(learnt)
        order = np.argsort(-apart, kind="stable")[: int(_MOST_DOUBTED * len(apart))]
        now = np.ones(len(kept), dtype=bool)
        now[order[apart[order] >= DOUBTED]] = False
        if (now == kept).all():
            break
        kept, untouched = now, True
        learnt = learn(kept, None)
    if kept.all():
        return learnt if untouched else learn(None, None)
    alone = _apart(learnt)
    out = np.flatnonzero(~kept)
    out = out[np.argsort(-alone[out], kind="stable")]
    next_to = np.append(alone[out[1:]], alone[kept].max())
    gaps = np.flatnonzero(alone[out] >= _APART * next_to)
    tail = out[gaps[-1] + 1 if len(gaps) else 0 :]
    if not len(tail):
        return learnt
    kept[tail] = True
    return learn(None if kept.all() else kept, None)


def _apart(learnt: Learnt) -> np.ndarray:
    """Return how far rows (t,) lie from what all others tell, in units that grow where many rows lie far."""
    apart = np.abs(standardised_residuals(learnt))
    return np.nan_to_num(apart / max(1.0, _MAD * float(np.nanmedian(apart))))


def standardised_residuals(learnt: Learnt) -> np.ndarray:
    """Return by how many standard deviations each whole row (t,) lies above what all other rows tell of it.

    Of rows that were learnt from it is leave-one-out at the hyper-parameters of the whole log, the constant mean
    estimated anew without the row: with Q = K^-1 - K^-1 1 1' K^-1 / (1' K^-1 1), K the covariance of the observations,
    it is (Q y)_i / sqrt(Q_ii) (Rasmussen and Williams, 2006, Eqs. 5.10-5.12, with the mean of Sec. 2.7). Of more than
    2,000 rows the 256 of largest |Q y|, which are those that stand out; of others it is not a number.
    """
    here = learnt.posterior
    count = len(here.weights)
    rows = np.argsort(-np.abs(here.weights), kind="stable")[: count if count <= _ALL_RESIDUALS else _LARGEST_RESIDUALS]
    ones = here.solve(np.ones(count))
    inside = np.full(count, np.nan)
    mine = np.flatnonzero(learnt.kept)
    more = np.zeros(count)  # than was taken
    more[: len(mine)] = (learnt.earned[mine] - here.shift) / here.scale - here.standardised[: len(mine)]
    for some in np.array_split(rows, math.ceil(len(rows) / _LARGEST_RESIDUALS)):
        one_each = np.zeros((len(some), count))
        one_each[np.arange(len(some)), some] = 1.0
        precision = np.sqrt(np.maximum(here.explained(one_each) - ones[some] ** 2 / ones.sum(), 1e-300))
        inside[some] = here.weights[some] / precision + more[some] * precision
    found = np.full(len(learnt.kept), np.nan)
    found[mine] = inside[: len(mine)]
    if len(out := np.flatnonzero(~learnt.kept)):
        means, spreads = learnt.pairs(learnt.log.decisions[out], learnt.log.contexts[out])
        found[out] = (learnt.earned[out] - means) / np.hypot(spreads, learnt.noise)
    return found


def influences(learnt: "Combined", contexts: tuple[str, ...]) -> list[Influence]:
    """Return how each column acts on the payoff, decisions first."""
    log = learnt.log
    rows = spread_evenly(len(log.outcome), _PROFILE_ROWS)
    scales = learnt.lengthscales()
    d, names = len(learnt.decisions.parts), [*learnt.decisions.names, *contexts]
    at = [part.spaced(_PROFILE_POINTS) for part in learnt.decisions.parts]
    at += [seen.min() + np.linspace(0.0, 1.0, _PROFILE_POINTS) * np.ptp(seen) for seen in log.contexts.T]
    found = []
    for i, (name, values) in enumerate(zip(names, at, strict=True)):
        profile = []
        for value in values:
            both = np.hstack([log.decisions[rows], log.contexts[rows]])
            both[:, i] = value
            profile.append(learnt.pair_means(both[:, :d], both[:, d:]))
        swing = float(np.ptp(np.stack(profile), axis=0).mean())
        found.append(Influence(name, "decision" if i < d else "context", scales[i], swing))
    return found


def forgetting_of(forget: str | float | None, clock: Clock, decisions: Decisions, log: Log) -> Forgetting:
    """Return how much rows of a log, in the order of time and to be maximised, count; all alike without `forget`.

    Raises:
        BocuError: it is no half-life, or the log is too short to estimate one.
    """
    if forget is None:
        return Forgetting(clock)
    if forget != ESTIMATE:
        half_life = read_half_life(forget, clock.unit)
        return Forgetting(clock, half_life, half_life)
    low, span = _range(log.contexts)
    coded, met = decisions.encode(log.decisions), (log.contexts - low) / span
    structure = structure_of(decisions, met.shape[1], KERNEL, ONE_HOT)
    return estimate_forgetting(clock, structure, np.hstack([coded, met]), log.outcome)


def _range(contexts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the least of each context (l,) of (n, l), and the width of its range, 1 where it has none."""
    span = np.ptp(contexts, axis=0)
    return contexts.min(axis=0), np.where(span > 0.0, span, 1.0)
