"""Ten hills and eleven opinions on which of them is tall: the toy problem of Ziomek et al. (2025), section 7.

The payoff is one draw a seed from prior 2 and does not change with time; what changes is where one may look: in even
rounds the tall hill of the true prior is closed. The paper gives no numbers; the defaults are ours. What is seen
depends on the length-scale most: at 0.1 maximum likelihood finds the true prior within rounds and never gets stuck,
against what the paper shows; at 0.3, the default, it gets stuck as there (docs/regions.md).
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated

import numpy as np
from pydantic import Field

from bocu.core.about import About, Size, planning_only
from bocu.core.errors import BocuError
from bocu.core.kernels import SquaredExponential
from bocu.core.parameters import Integer, Number, Positive
from bocu.core.randomness import Streams
from bocu.core.rounds import TIME_VARYING, Context, Decision, Description, FiniteDomain, Outline, time_steps
from bocu.learners.surrogates.grams import SpectralRoot
from bocu.learners.surrogates.time_varying import TimeVaryingPrior
from bocu.problems.base import Problem, ProblemParameters, Realisation

HILLS = 10
CENTRES = np.arange(HILLS) / (HILLS - 1)
LABELS = tuple(str(n) for n in range(HILLS + 1))
"""Of the priors."""


class HillShapeParameters(ProblemParameters):
    """What hills are like. Positions are in [0, 1]; the payoff has no unit."""

    low: Number = Field(0.5, description="height of an ordinary hill in the prior mean")
    high: Number = Field(1.5, description="height of the tall hill in the prior mean")
    hill_width: Positive = Field(0.02, description="standard deviation of a hill's Gaussian bump, in position")
    kernel_variance: Positive = Field(0.01, description="variance of the squared-exponential kernel")
    kernel_lengthscale: Positive = Field(0.3, description="length-scale of the squared-exponential kernel, in position")
    noise: Positive = Field(0.05, description="standard deviation of the observation noise")
    true_prior: Annotated[Integer, Field(ge=0, le=HILLS)] = Field(
        2, description="the prior that the payoff is drawn from; n > 0: hill n is tall; 0: none is"
    )
    closed: Annotated[Number, Field(ge=0.0)] = Field(
        0.05, description="half-width of the zone around the true prior's tall hill that even rounds exclude"
    )

    @property
    def heights(self) -> np.ndarray:
        """Heights of the hills in each prior's mean, shape (priors, hills)."""
        heights = np.full((HILLS + 1, HILLS), self.low)
        heights[1:][np.diag_indices(HILLS)] = self.high
        return heights


class HillsParameters(HillShapeParameters):
    """Parameters of the hills over evenly spaced arms."""

    grid: Annotated[Integer, Field(ge=2, le=10_000)] = Field(500, description="arms, evenly spaced over [0, 1]")


class Hills(Problem[HillsParameters]):
    """The family of draws from the true prior.

    Raises:
        BocuError: the closed zone leaves no arm.
    """

    about = About(
        title="Ten hills",
        summary="ten hills, eleven candidate priors; one draw from prior 2 a seed",
        paper="Ziomek et al. 2025",
    )
    protocols = TIME_VARYING
    Parameters = HillsParameters
    units = "1"
    prior_labels = LABELS
    best_prior: TimeVaryingPrior

    def __init__(self, parameters: HillsParameters, inputs: Mapping[str, object]) -> None:
        super().__init__(parameters, inputs)
        self.positions = np.linspace(0.0, 1.0, self.parameters.grid)
        self.priors = self._priors()
        self.best_prior = self.priors[self.parameters.true_prior]
        self.open_arms = self._open_arms()

    @classmethod
    def outline(cls, parameters: HillsParameters) -> Outline:
        bare = cls.__new__(cls)
        Problem.__init__(bare, parameters, {})
        bare.positions = np.linspace(0.0, 1.0, parameters.grid)
        return Outline(_arms(bare.positions), bare._open_arms(), cls.prior_labels)

    @classmethod
    @planning_only
    def size(cls, parameters: HillsParameters) -> Size:
        return Size(arms=parameters.grid, priors=len(cls.prior_labels))

    def realise(self, streams: Streams) -> "HillsRealisation":
        """Draw the payoff of every arm from the true prior, with the stream "problem"."""
        normal = streams["problem"].standard_normal(len(self.positions))
        return HillsRealisation(self, self.best_prior.mean + self._root.times(normal[: self._root.rank]))

    def _priors(self) -> tuple[TimeVaryingPrior, ...]:
        settings = self.parameters
        arms = self.positions[:, None]
        covariance = settings.kernel_variance * SquaredExponential((settings.kernel_lengthscale,))(arms, arms)
        bumps = np.exp(-0.5 * ((self.positions - CENTRES[:, None]) / settings.hill_width) ** 2)  # (hills, arms)
        return tuple(
            TimeVaryingPrior(label, mean, covariance)
            for label, mean in zip(self.prior_labels, settings.heights @ bumps, strict=True)
        )

    def _open_arms(self) -> np.ndarray | None:
        """Return the arms that even rounds leave open; None: all."""
        if self.parameters.true_prior == 0:
            return None
        distance = np.abs(self.positions - CENTRES[self.parameters.true_prior - 1])
        arms = np.flatnonzero(distance > self.parameters.closed)
        if arms.size == 0:
            raise BocuError(f"hills: closed: found {self.parameters.closed}; no arm is left in even rounds")
        return arms

    @cached_property
    def _root(self) -> SpectralRoot:
        # The kernel is singular to rounding: a spectral root needs no jitter.
        return SpectralRoot(self.best_prior.covariance)


def _arms(positions: np.ndarray) -> FiniteDomain:
    return FiniteDomain(positions[:, None], ("position",), ("1",))


class HillsRealisation(Realisation):
    """One draw.

    Args:
        problem: the family.
        draw: the payoff of every arm, shape (arms,).
    """

    def __init__(self, problem: Hills, draw: np.ndarray) -> None:
        self.draw = draw
        self._open_arms = problem.open_arms
        self._payoffs = draw[:, None]
        self._reference = np.ones(1)
        self.description = Description(
            decisions=_arms(problem.positions),
            contexts=time_steps(),
            noise=problem.parameters.noise,
            protocol=problem.protocol,
            priors=problem.priors,
            best_prior=problem.best_prior,
        )

    def available(self, t: int) -> np.ndarray | None:
        return self._open_arms if t % 2 == 0 else None

    def payoff(self, decision: Decision, context: Context) -> float:
        return float(self.draw[decision])

    def payoffs(self, t: int) -> np.ndarray:
        return self._payoffs

    def reference(self, t: int) -> np.ndarray:
        return self._reference
