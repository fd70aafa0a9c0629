"""Ten hills and eleven opinions on which of them is tall: the toy problem of Ziomek et al. (2025), section 7.

The payoff is one draw a seed from prior 2 and does not change with time; what changes is where one may look: in even
rounds the tall hill of the true prior is closed. The paper gives no numbers; the defaults are ours. What is seen
depends on the length-scale most: at 0.1 maximum likelihood finds the true prior within rounds and never gets stuck,
against what the paper shows; at 0.3, the default, it gets stuck as there (docs/regions.md).

With every position of [0, 1] as an arm, for their Theorem 4.1(B), all is the same but for the grid. A draw is exact to
rounding: the kernel is smooth, so that its values at a few hundred anchors determine it everywhere, and its matrix
there has a small root.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field

from bocu.core.about import About, Size, planning_only
from bocu.core.errors import BocuError
from bocu.core.kernels import SquaredExponential
from bocu.core.parameters import Integer, Number, Positive
from bocu.core.randomness import Streams
from bocu.core.rounds import TIME_VARYING, BoxDomain, Context, Decision, Description, FiniteDomain, Outline, time_steps
from bocu.learners.surrogates.box_time_varying import BoxPrior, MeanFunction, slope_tail_on_a_line
from bocu.learners.surrogates.grams import SpectralRoot
from bocu.learners.surrogates.time_varying import TimeVaryingPrior
from bocu.problems.base import Problem, ProblemParameters, Realisation
from bocu.problems.priors.grids import box_prior, lengthscales
from bocu.problems.priors.statements import Candidate, StatedPrior

HILLS = 10
CENTRES = np.arange(HILLS) / (HILLS - 1)
LABELS = tuple(str(n) for n in range(HILLS + 1))  #: Of the priors.


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
        bare = cls.bare(parameters)
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


_LINE = BoxDomain(np.zeros(1), np.ones(1), ("position",), ("1",))
_FEWEST_ANCHORS, _ANCHORS_A_LENGTHSCALE, _MOST_ANCHORS = 129, 8, 2_049
_TRIED = 4_001  #: Positions among which the best one is first looked for.


class ContinuousHillsParameters(HillShapeParameters):
    """Parameters of the hills over all positions."""

    candidates: tuple[StatedPrior, ...] = Field(
        (), description="candidate priors beside those of the hills; set by the plan from `priors` of the experiment"
    )

    def takes(self, candidate: Candidate) -> str:
        return "" if isinstance(candidate, StatedPrior) else "no data stand behind it that a prior could be fitted to"

    def with_candidates(self, candidates: Sequence[Candidate]) -> Self:
        stated = [candidate for candidate in candidates if isinstance(candidate, StatedPrior)]
        labels = [*LABELS, *(candidate.label for candidate in stated)]
        if double := next((label for place, label in enumerate(labels) if label in labels[:place]), None):
            raise BocuError(f"candidates: two have the name '{double}'; give an entry of `priors` another label")
        for candidate in stated:
            lengthscales(candidate, 1)
        return self.model_copy(update={"candidates": tuple(stated)})


@dataclass(frozen=True, eq=False)
class HillsMean(MeanFunction):
    """Ten bumps of the given heights, shape (hills,), and standard deviation."""

    heights: np.ndarray
    width: float

    def __call__(self, points: np.ndarray) -> np.ndarray:
        return self._bumps(points) @ self.heights

    def gradient(self, points: np.ndarray) -> np.ndarray:
        steepness = -(points - CENTRES) / self.width**2
        return ((steepness * self._bumps(points)) @ self.heights)[:, None]

    def steepest(self) -> float:
        """Return a bound on the absolute slope: the largest, over short intervals, of the bumps' largest slopes."""
        ends = np.linspace(0.0, 1.0, _TRIED)
        half = 0.5 * (ends[1] - ends[0])
        distance = np.abs(0.5 * (ends[1:] + ends[:-1])[:, None] - CENTRES)
        # A bump is steepest at its standard deviation; nearer to that than an interval's points none is steeper.
        at = np.clip(self.width, np.maximum(distance - half, 0.0), distance + half) / self.width
        slopes = at * np.exp(-0.5 * at**2) / self.width
        return float((slopes @ np.abs(self.heights)).max())

    def _bumps(self, points: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * ((points - CENTRES) / self.width) ** 2)


class ContinuousHills(Problem[ContinuousHillsParameters]):
    """The family of draws from the true prior.

    Raises:
        BocuError: the closed zone leaves no arm.
    """

    about = About(
        title="Ten hills, every position an arm",
        summary="ten hills over the whole of [0, 1]; eleven candidate priors, one draw from prior 2 a seed",
        paper="Ziomek et al. 2025",
    )
    protocols = TIME_VARYING
    Parameters = ContinuousHillsParameters
    units = "1"
    best_prior: BoxPrior

    def __init__(self, parameters: ContinuousHillsParameters, inputs: Mapping[str, Any]) -> None:
        super().__init__(parameters, inputs)
        self.prior_labels = _labels(parameters)
        stated = (box_prior(candidate, _LINE) for candidate in parameters.candidates)
        self.priors = (*map(self._hills_prior, LABELS, parameters.heights), *stated)
        self.best_prior = self.priors[parameters.true_prior]
        self.open_boxes = _open_boxes(parameters)

    @classmethod
    def outline(cls, parameters: ContinuousHillsParameters) -> Outline:
        _open_boxes(parameters)
        return Outline(_LINE, priors=_labels(parameters))

    @classmethod
    @planning_only
    def size(cls, parameters: ContinuousHillsParameters) -> Size:
        return Size(priors=len(_labels(parameters)))

    def realise(self, streams: Streams) -> "ContinuousHillsRealisation":
        """Draw the payoff from the true prior, with the stream "problem"."""
        _, root = self._anchored
        return ContinuousHillsRealisation(self, streams["problem"].standard_normal((root.shape[1],)))

    def payoffs_of(self, points: np.ndarray, normal: np.ndarray) -> np.ndarray:
        """Return the payoffs (n,) of points (n, 1) in the draw that standard normal numbers (rank,) make."""
        anchors, root = self._anchored
        # Columns of a spectral root are orthogonal: its pseudo-inverse is its transpose, each row over its own square.
        weights = root @ (normal / (root**2).sum(axis=0))
        cross = self.parameters.kernel_variance * self.best_prior.kernel(points, anchors)
        return self.best_prior.mean(points) + cross @ weights

    def _hills_prior(self, label: str, heights: np.ndarray) -> BoxPrior:
        settings = self.parameters
        kernel = SquaredExponential((settings.kernel_lengthscale,))
        mean = HillsMean(heights, settings.hill_width)
        slope = slope_tail_on_a_line(kernel, settings.kernel_variance, 1.0, mean.steepest())
        return BoxPrior(label, mean, kernel, settings.kernel_variance, slope=slope)

    @cached_property
    def _anchored(self) -> tuple[np.ndarray, np.ndarray]:
        """Anchors, shape (n, 1), and a root of the kernel's matrix there, shape (n, rank)."""
        wanted = math.ceil(_ANCHORS_A_LENGTHSCALE / self.parameters.kernel_lengthscale)
        anchors = np.linspace(0.0, 1.0, min(max(wanted, _FEWEST_ANCHORS), _MOST_ANCHORS))[:, None]
        gram = self.parameters.kernel_variance * self.best_prior.kernel(anchors, anchors)
        return anchors, SpectralRoot(gram).matrix


def _labels(parameters: ContinuousHillsParameters) -> tuple[str, ...]:
    return (*LABELS, *(candidate.label for candidate in parameters.candidates))


def _open_boxes(parameters: ContinuousHillsParameters) -> np.ndarray | None:
    """Return the boxes that even rounds leave open, shape (boxes, 2, 1); None: all is open."""
    if parameters.true_prior == 0 or parameters.closed == 0.0:
        return None
    centre = CENTRES[parameters.true_prior - 1]
    ends = [(0.0, centre - parameters.closed), (centre + parameters.closed, 1.0)]
    left = [[[low], [high]] for low, high in ends if low < high]
    if not left:
        raise BocuError(f"hills-continuous: closed: found {parameters.closed}; no arm is left in even rounds")
    return np.array(left)


class ContinuousHillsRealisation(Realisation):
    """One draw.

    Args:
        problem: the family.
        normal: standard normal numbers that make the draw.
    """

    def __init__(self, problem: ContinuousHills, normal: np.ndarray) -> None:
        self._problem = problem
        self._normal = normal
        self._reference = np.ones(1)
        self.description = Description(
            decisions=_LINE,
            contexts=time_steps(),
            noise=problem.parameters.noise,
            protocol=problem.protocol,
            priors=problem.priors,
            best_prior=problem.best_prior,
        )

    def available(self, t: int) -> np.ndarray | None:
        return self._problem.open_boxes if t % 2 == 0 else None

    def payoff(self, decision: Decision, context: Context) -> float:
        return float(self._values(np.asarray(decision, dtype=float)[None])[0])

    def payoffs(self, t: int) -> np.ndarray:
        raise NotImplementedError("a box of arms has no table of payoffs")

    def reference(self, t: int) -> np.ndarray:
        return self._reference

    def expected_payoffs(self, decisions: np.ndarray) -> tuple[np.ndarray, float]:
        return self._values(decisions), self._best[0]

    def expected_in_rounds(self, decisions: np.ndarray, rounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values = self._values(decisions)
        return values, np.maximum(np.where(rounds % 2 == 0, self._best[1], self._best[0]), values)

    def _values(self, points: np.ndarray) -> np.ndarray:
        return self._problem.payoffs_of(points, self._normal)

    @cached_property
    def _best(self) -> tuple[float, float]:
        """The largest payoff in odd and in even rounds."""
        whole = self._highest(0.0, 1.0)
        boxes = self._problem.open_boxes
        return whole, whole if boxes is None else max(self._highest(*box[:, 0]) for box in boxes)

    def _highest(self, lower: float, upper: float) -> float:
        from scipy.optimize import minimize_scalar  # slow to import, and planning needs none of it

        tried = np.linspace(lower, upper, _TRIED)
        values = self._values(tried[:, None])
        best = int(values.argmax())
        around = tried[max(best - 1, 0)], tried[min(best + 1, _TRIED - 1)]
        finer = minimize_scalar(lambda x: -self._values(np.array([[x]]))[0], bounds=around, method="bounded")
        return max(float(values[best]), -float(finer.fun))
