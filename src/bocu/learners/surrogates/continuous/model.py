"""An exact Gaussian process on continuous inputs that learns its hyper-parameters while it is told observations.

Inputs are decisions and contexts in [0, 1]; outputs are standardised (standard deviation with ddof 1) before anything
else sees them, and predictions are in units of the payoff again. Source: Rasmussen and Williams (2006), Algorithm 2.1.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.plain import State
from bocu.learners.surrogates.continuous.fitting import (
    LogPosterior,
    Priors,
    best_hyperparameters,
    carried_on,
    cholesky_with_solution,
    curvature,
)
from bocu.learners.surrogates.continuous.structure import Hyperparameters, Structure
from bocu.learners.surrogates.fourier import SampledWaves


class Posterior:
    """A Gaussian process given observations, at fixed hyper-parameters.

    Args:
        structure: of the kernel.
        hyperparameters: for standardised outputs.
        inputs: shape (t, D), in [0, 1].
        outputs: in units of the payoff, shape (t,).
        inflation: by what the noise variance of each observation is multiplied, shape (t,); None: by 1.

    Attributes:
        shift, scale: of the standardisation; payoff = shift + scale * standardised.
        standardised: outputs, shape (t,).
        mean: constant prior mean of the standardised payoff.
        weights: (K + noise)^-1 (standardised outputs - mean), shape (t,).
        inverse: (K + noise)^-1 of the standardised payoff, shape (t, t).
    """

    def __init__(
        self,
        structure: Structure,
        hyperparameters: Hyperparameters,
        inputs: np.ndarray,
        outputs: np.ndarray,
        inflation: np.ndarray | None = None,
    ) -> None:
        self.structure = structure
        self.hyperparameters = hyperparameters
        self.inputs = inputs
        self.shift, self.scale, self.standardised = standardise(outputs)
        noise = hyperparameters.noise if inflation is None else hyperparameters.noise * inflation
        solved = self._factorised(noise, np.stack([self.standardised, np.ones(len(inputs))], axis=1))
        self.mean = float(solved[:, 0].sum() / solved[:, 1].sum())
        self.weights = solved[:, 0] - self.mean * solved[:, 1]

    def covariance(self, points: np.ndarray) -> np.ndarray:
        """Return the prior covariance of points (n, D) with the inputs, standardised, shape (n, t)."""
        here = self.hyperparameters
        return here.output_scale * self.structure.correlation(here.lengthscales, points, self.inputs)

    def prior_sample(self, features: int, generator: np.random.Generator) -> SampledWaves:
        """Draw the payoff's prior, standardised and less its mean, as a sum of so many waves."""
        here = self.hyperparameters
        return SampledWaves.draw(self.structure.kernels(here.lengthscales), here.output_scale, features, generator)

    def explained(self, cross: np.ndarray) -> np.ndarray:
        """Return by how much observations lessen the variances (n,) of what has covariances (n, t) with them."""
        return np.einsum("nt,nt->n", cross @ self.inverse, cross)

    def _factorised(self, noise: float | np.ndarray, right: np.ndarray) -> np.ndarray:
        """Factorise the covariance with noise, a number or (t,), and return what solves it for `right` (t, k)."""
        covariance = self.covariance(self.inputs)
        covariance.flat[:: len(covariance) + 1] += noise
        _, solved, self.inverse = cholesky_with_solution(covariance, right)
        return solved

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return (K + noise)^-1 right, shape (t,)."""
        return self.inverse @ right

    def moments(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and standard deviation of the noise-free payoff at points (n, D), each (n,)."""
        cross = self.covariance(points)
        variance = np.maximum(self.hyperparameters.output_scale - self.explained(cross), 0.0)
        return self.shift + self.scale * (self.mean + cross @ self.weights), self.scale * np.sqrt(variance)


#: Up to so many observations every fit is made afresh: further observations move optima far, and fits cost little.
FEW = 60


@dataclass(frozen=True)
class FitSettings:
    """How hyper-parameters are found."""

    priors: Priors = field(default_factory=Priors)  #: of the hyper-parameters.
    every: int = 1  #: hyper-parameters are fitted again after this many observations.
    #: ascents from random draws of the priors, beside those from the last optimum and from a start at another noise
    #: level.
    restarts: int = 0
    #: beyond `FEW` observations, fits climb from all these starts only after so many more observations, and between are
    #: carried on from the last optimum; 1: they always do.
    afresh: int = 25


@dataclass(frozen=True)
class _Afresh:
    """The last fit from several starts."""

    count: int  #: observations then.
    found: Hyperparameters  #: its optimum.


class Observations:
    """What a model over decisions and contexts was told.

    Args:
        decisions: number of coordinates of a decision.
        contexts: number of coordinates of a context that are inputs; 0: the context is none.

    Attributes:
        inputs: decisions and contexts side by side, shape (t, D).
        outputs: payoffs, shape (t,).
    """

    def __init__(self, decisions: int, contexts: int) -> None:
        self._contexts = contexts
        self.inputs = np.empty((0, decisions + contexts))
        self.outputs = np.empty(0)

    @property
    def count(self) -> int:
        """Number of observations."""
        return len(self.outputs)

    def add(self, decision: np.ndarray, context: np.ndarray, value: float) -> None:
        """Record one observation.

        Args:
            decision: shape (Dx,), in [0, 1].
            context: shape (Dc,), in [0, 1]; left aside where the context is no input.
            value: payoff.

        Raises:
            BocuError: shapes do not fit or the value is not finite.
        """
        row = np.concatenate([np.atleast_1d(decision), np.atleast_1d(context)[: self._contexts]])
        if row.shape != self.inputs.shape[1:]:
            raise BocuError(f"inputs: found {row.size} coordinates; allowed: {self.inputs.shape[1]}")
        if not (np.isfinite(row).all() and np.isfinite(value)):
            raise BocuError(f"observation: found {row.tolist()} with value {value}; finite numbers are wanted")
        self.inputs = np.concatenate([self.inputs, row[None]])
        self.outputs = np.append(self.outputs, float(value))

    def state(self) -> State:
        """Return all that was told as plain data."""
        return {"inputs": self.inputs.copy(), "outputs": self.outputs.copy()}

    def restore(self, state: State) -> None:
        """Put back what `state` gave, bit for bit."""
        self.inputs = np.array(state["inputs"], dtype=float).reshape(-1, self.inputs.shape[1])
        self.outputs = np.array(state["outputs"], dtype=float)


class ContinuousGP(Observations):
    """A Gaussian process that is told observations and gives posteriors.

    Args:
        structure: of the kernel.
        settings: of the fit.
    """

    def __init__(self, structure: Structure, settings: FitSettings | None = None) -> None:
        super().__init__(structure.decisions, structure.contexts)
        self.structure = structure
        self.settings = settings or FitSettings()
        self._hyperparameters: Hyperparameters | None = None
        self._fitted = 0  # observations at the last fit
        self._afresh: _Afresh | None = None
        self._curvature: tuple[_Afresh, np.ndarray] | None = None  # there, once it was needed

    @property
    def hyperparameters(self) -> Hyperparameters | None:
        """Those of the last fit; None before it."""
        return self._hyperparameters

    def posterior(self, generator: np.random.Generator) -> Posterior:
        """Return the posterior of all observations, after a new fit if one is due.

        Args:
            generator: for random starts of the fit; drawn from only when `restarts` is positive and a fit is due.

        Raises:
            BocuError: there is no observation yet.
        """
        self._refuse_nothing()
        if self._due:
            self._take(self._fit(generator))
        assert self._hyperparameters is not None
        return Posterior(self.structure, self._hyperparameters, self.inputs, self.outputs)

    def glance(self, generator: np.random.Generator) -> Posterior:
        """Return the posterior at the last fit's hyper-parameters and change nothing; fit only if there was none.

        Args:
            generator: as for `posterior`.

        Raises:
            BocuError: there is no observation yet.
        """
        self._refuse_nothing()
        here = self._hyperparameters or self._fit(generator)
        return Posterior(self.structure, here, self.inputs, self.outputs)

    @property
    def quantities(self) -> tuple[tuple[str, str], ...]:
        """Names of what a fit finds, each with what it is, by which a recorded run is told again without fitting."""
        inputs = range(1, self.structure.inputs + 1)
        return (
            *((f"lengthscale_{i}", f"fitted length-scale of input {i} in the unit cube") for i in inputs),
            ("output_scale", "fitted prior variance of the standardised payoff"),
            ("noise_variance", "fitted noise variance of the standardised payoff"),
        )

    def found(self) -> list[float]:
        """Return what the last fit found, in the order of `quantities`; not a number before any."""
        here = self._hyperparameters
        if here is None:
            return [math.nan] * (self.structure.inputs + 2)
        return [*here.lengthscales, here.output_scale, here.noise]

    def reinstate_found(self, values: np.ndarray) -> None:
        """Put back what `found` gave after a `posterior` that were called now; nothing where no fit was due."""
        if self._due and not np.isnan(values).any():
            self._take(Hyperparameters(values[:-2].copy(), float(values[-2]), float(values[-1])))

    def state(self) -> State:
        """Return observations and hyper-parameters as plain data."""
        return {
            **super().state(),
            "fitted": self._fitted,
            "hyperparameters": self._hyperparameters.state() if self._hyperparameters else {},
            "afresh": {"count": self._afresh.count, "found": self._afresh.found.state()} if self._afresh else {},
        }

    def restore(self, state: State) -> None:
        super().restore(state)
        self._fitted = int(state["fitted"])
        stored = state["hyperparameters"]
        self._hyperparameters = Hyperparameters.restored(stored) if stored else None
        last = state["afresh"]
        self._afresh = _Afresh(int(last["count"]), Hyperparameters.restored(last["found"])) if last else None

    @property
    def _due(self) -> bool:
        return self._hyperparameters is None or self.count - self._fitted >= self.settings.every

    @property
    def _again(self) -> bool:
        """Whether a fit now climbs from several starts."""
        last = self._afresh
        return last is None or self.count <= FEW or self.count - last.count >= self.settings.afresh

    def _take(self, hyperparameters: Hyperparameters) -> None:
        if self._again:
            self._afresh = _Afresh(self.count, hyperparameters)
        self._hyperparameters = hyperparameters
        self._fitted = self.count

    def _refuse_nothing(self) -> None:
        if not self.count:
            raise BocuError("observations: found none; at least one is wanted")

    def _fit(self, generator: np.random.Generator) -> Hyperparameters:
        objective = self._objective(self.count)
        if not self._again:
            assert self._afresh is not None
            assert self._hyperparameters is not None
            curved = self.count / self._afresh.count * self._curved(self._afresh)
            if (found := carried_on(objective, self._hyperparameters, curved)) is not None:
                return found
        priors = self.settings.priors
        starts = priors.starts(self.structure.inputs, self._hyperparameters, self.count)
        starts += [priors.draw(self.structure.inputs, generator) for _ in range(self.settings.restarts)]
        return best_hyperparameters(objective, starts)

    def _curved(self, last: _Afresh) -> np.ndarray:
        """Return the curvature at the last fit from several starts, a function of what was observed until then."""
        if self._curvature is None or self._curvature[0] is not last:
            self._curvature = last, curvature(self._objective(last.count), last.found)
        return self._curvature[1]

    def _objective(self, count: int) -> LogPosterior:
        """Return the log posterior of the first so many observations."""
        _, _, standardised = standardise(self.outputs[:count])
        return LogPosterior(self.structure, self.inputs[:count], standardised, self.settings.priors)


def standardise(outputs: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Return mean, standard deviation (ddof 1; 1 where all are equal) and standardised outputs (t,)."""
    shift = float(outputs.mean())
    spread = float(outputs.std(ddof=1)) if len(outputs) > 1 else 0.0
    scale = spread if spread > 0.0 else 1.0
    return shift, scale, (outputs - shift) / scale
