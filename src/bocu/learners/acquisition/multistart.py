"""The maximum of an acquisition function over the decisions, by ascents from many starts.

As in BoTorch (Balandat et al., 2020): raw scrambled Sobol points are valued, starts are drawn from them with
probabilities that grow with the value, the best one always among them, and every start climbs. Where a function costs
much and has a draft, the draft is climbed; the highest tops of the function itself are found from there. Where few of
its samples tell about where it is large, they are climbed first.

Ascents are quasi-Newton, in lockstep: each step evaluates all of them in one call. Projected BFGS (Bertsekas, 1982):
coordinates at a bound that the gradient pushes out of the box are held, the others move along the inverse Hessian's
direction, and the step is cut back along the projection until the Armijo condition holds. Dimensions are few, so that
the whole inverse Hessian is kept in place of a limited memory. On functions with kinks an ascent ends when no step
improves; the best point seen counts.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
import pydantic
from pydantic import Field

from bocu.core.errors import BocuError
from bocu.core.parameters import Integer, Parameters
from bocu.core.randomness import scrambled_sobol
from bocu.learners.acquisition.base import Acquisition


class SearchParameters(Parameters):
    """How the acquisition function is maximised."""

    raw: Annotated[Integer, Field(ge=1, le=1_000_000)] = Field(
        1024, description="scrambled Sobol points that starts are drawn from"
    )
    restarts: Annotated[Integer, Field(ge=1)] = Field(50, description="starts that climb")

    merge: bool = Field(
        False, description="whether of starts that meet while they climb only one goes on; never where BoTorch climbs"
    )

    @pydantic.model_validator(mode="after")
    def _starts_are_drawn_from_raw(self) -> Self:
        if self.restarts > self.raw:
            raise ValueError(f"restarts: allowed up to the {self.raw} raw points that they are drawn from")
        return self


#: For acquisition functions whose decisions more ascents leave as they are: `tests/benchmarks/one_step_ahead.py`.
FEW_ASCENTS = SearchParameters(raw=256, restarts=12)


#: Tolerance of all ascents, and how many of them go on to the caller's tolerance.
LOOSE = 1e-5
POLISHED = 3

#: Ascents on a draft that go on to the caller's tolerance: they cost little.
DRAFTED = 12

#: Ends on a draft that are as near in every coordinate are on one top.
SAME_TOP = 1e-2

#: In units of the spread of the raw values: how far below the highest end on a draft the highest top of the function
#: itself may lie, and the error at an end from which a draft is left aside.
LOWER = 1e-3
MISLEADING = 1e-4


@dataclass(frozen=True)
class BestPoint:
    """Where an acquisition function is largest, as far as was seen."""

    decision: np.ndarray  #: shape (Dx,).
    value: float  #: there.


def maximise(
    acquisition: Acquisition,
    generator: np.random.Generator,
    *,
    raw: int = 1024,
    restarts: int = 50,
    tolerance: float = 1e-8,
    merge: bool = False,
) -> BestPoint:
    """Maximise an acquisition function over [0, 1]^Dx.

    Args:
        acquisition: what to maximise.
        generator: scrambles the raw points and draws starts; the same state gives the same answer bit for bit.
        raw: number of raw points.
        restarts: number of ascents.
        tolerance: ends an ascent, relative to the spread of the raw values.
        merge: whether of ascents that meet one goes on.

    Raises:
        BocuError: `raw` or `restarts` is out of range.
    """
    if not 1 <= restarts <= raw:
        raise BocuError(f"restarts: found {restarts}; allowed: 1 to {raw}, the number of raw samples")
    acquisition = acquisition.warm()
    dimension = acquisition.dimension
    points = scrambled_sobol(np.zeros(dimension), np.ones(dimension), raw, generator)
    values = acquisition.screen(points)
    spread = float(values.std())
    chosen = points[_starts(values, spread, restarts, generator)]
    unit = spread if spread > 0.0 else 1.0
    ends, reached, top = _climbed(acquisition, chosen, unit, tolerance, merge)
    top.sort()  # ties go to the first
    best = int(top[reached[top].argmax()])
    return BestPoint(ends[best], float(reached[best]))


def _climbed(
    acquisition: Acquisition, starts: np.ndarray, unit: float, tolerance: float, merge: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ends of all ascents (B, Dx), their values (B,), and the indices of those with the last digits."""
    loose = max(tolerance, LOOSE)
    if (draft := acquisition.draft()) is not None:
        ends, reached = ascend(draft, starts, scale=unit, tolerance=loose, merge=merge)
        high = np.argsort(-reached, kind="stable")[:DRAFTED]
        polished, reached[high] = ascend(draft, ends[high], scale=unit, tolerance=tolerance)
        top = high[_different_tops(polished, reached[high], LOWER * unit, POLISHED)]
        drafted = reached[top]
        ends[top], reached[top] = ascend(acquisition, ends[top], scale=unit, tolerance=tolerance, draft=draft)
        if np.abs(reached[top] - drafted).max() <= MISLEADING * unit:
            return ends, reached, top
    elif (few := acquisition.few()) is not None:
        ends, reached = ascend(few, starts, scale=unit, tolerance=loose, merge=merge)
        # A sample's tops lie beside those of the whole, and need not be in their order.
        top = _different_tops(ends, reached, math.inf, DRAFTED)
        starts = ends[top]
        ends[top], reached[top] = ascend(acquisition, starts, scale=unit, tolerance=loose, draft=few, merge=merge)
        high = top[np.argsort(-reached[top], kind="stable")[:POLISHED]]
        ends[high], reached[high] = ascend(acquisition, ends[high], scale=unit, tolerance=tolerance)
        return ends, reached, high
    ends, reached = ascend(acquisition, starts, scale=unit, tolerance=loose, merge=merge)
    # Most ascents end on the same few tops, or below: only the highest are worth the last digits.
    top = np.argsort(-reached, kind="stable")[:POLISHED]
    ends[top], reached[top] = ascend(acquisition, ends[top], scale=unit, tolerance=tolerance)
    return ends, reached, top


def _different_tops(ends: np.ndarray, reached: np.ndarray, lower: float, most: int) -> np.ndarray:
    """Return indices of the highest ends, no more than so much lower, the first on each top, highest first."""
    chosen: list[int] = []
    for index in np.argsort(-reached, kind="stable"):
        if reached[index] < reached.max() - lower or len(chosen) == most:
            break
        if all(np.abs(ends[index] - ends[other]).max() > SAME_TOP for other in chosen):
            chosen.append(int(index))
    return np.array(chosen)


def _starts(values: np.ndarray, spread: float, restarts: int, generator: np.random.Generator) -> np.ndarray:
    """Draw indices of starts without replacement, by the softmax of standardised values; the best one is the first."""
    best = int(values.argmax())
    height = (values - values.max()) / spread if spread > 0.0 else np.zeros_like(values)
    # Adding Gumbel noise and sorting draws from a softmax without replacement.
    keys = height + generator.gumbel(size=len(values))
    keys[best] = np.inf
    return np.argsort(-keys, kind="stable")[:restarts]


ValueAndGradient = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]

ARMIJO = 1e-4
SMALLEST_STEP = 1e-7  # in the largest coordinate
PATIENCE = 10  # evaluations in which an ascent must gain
FIRST_STEP = 0.1  # the same, before curvature is known
MEETING = 6  # evaluations after which ascents are looked at that may have met
MET = 1e-2  # in every coordinate


def ascend(
    objective: ValueAndGradient,
    starts: np.ndarray,
    *,
    scale: float = 1.0,
    tolerance: float = 1e-8,
    steps: int = 200,
    draft: ValueAndGradient | None = None,
    merge: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Climb from every start inside [0, 1]^D.

    Args:
        objective: values (B,) and gradients (B, D) at points (B, D).
        starts: shape (B, D).
        scale: a typical difference of the objective's values, its unit.
        tolerance: an ascent ends once a step gains less than this share of `scale`, or could gain no more to first
            order, or ten evaluations gain less than ten times as much.
        steps: most evaluations of one ascent, of the objective and of the draft each.
        draft: nearly the same function: climbed first, so that few steps on the objective are left, along curvatures
            that are known.
        merge: whether of ascents that have met only the highest goes on.

    Returns:
        The best point of every ascent (B, D) and its value (B,).
    """

    def scaled(function: "ValueAndGradient") -> "ValueAndGradient":
        def valued(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            value, gradient = function(points)
            return value / scale, gradient / scale

        return valued

    x = np.array(starts, dtype=float)
    first, *others = (scaled(function) for function in (draft, objective) if function is not None)
    state = _Ascents(x, *first(x))
    state.climb(first, tolerance, steps, merge)
    for other in others:
        state.resume(*other(state.x))
        state.climb(other, tolerance, steps, merge)
    return state.x, scale * state.value


class _Ascents:
    """The ascents; rows are those of the starts, `active` those that go on."""

    def __init__(self, x: np.ndarray, value: np.ndarray, gradient: np.ndarray) -> None:
        count, dimension = x.shape
        self.x, self.value, self.gradient = x, value, gradient
        self.active = np.arange(count)
        self._inverse = np.zeros((count, dimension, dimension))
        self._inverse[:] = np.eye(dimension)
        self._fresh = np.ones(count, dtype=bool)  # whether the inverse Hessian is still a guess
        self._step = np.ones(count)
        self._direction = np.zeros_like(x)
        self._stuck = np.zeros(count, dtype=bool)
        self._noted = value.copy()
        self._aim(self.active)

    def climb(self, objective: ValueAndGradient, tolerance: float, steps: int, merge: bool) -> None:
        """Let all ascents go on to their ends."""
        for step in range(steps):
            if step and step % PATIENCE == 0:
                self.lose_patience(tolerance)
            if merge and step and step % MEETING == 0:
                self.merge()
            self.retire(tolerance)
            if not len(self.active):
                break
            trial = self.trial()
            self.take(trial, *objective(trial), tolerance)

    def resume(self, value: np.ndarray, gradient: np.ndarray) -> None:
        """Go on from the ends with values (B,) and gradients (B, D) of another function that curves alike."""
        self.value, self.gradient = value, gradient
        self.active = np.arange(len(value))
        self._stuck[:] = False
        self._noted = value.copy()
        self._aim(self.active)

    def retire(self, tolerance: float) -> None:
        """Let those end that are stuck or stationary."""
        rows = self.active
        free = self._free(rows)
        # To first order no point of the box is better by more than this.
        room = np.where(self.gradient[rows] > 0.0, 1.0 - self.x[rows], self.x[rows])
        gain = (np.abs(self.gradient[rows]) * np.where(free, np.minimum(room, FIRST_STEP), 0.0)).sum(axis=1)
        self.active = rows[~self._stuck[rows] & (gain > tolerance)]

    def merge(self) -> None:
        """Let those end that are near to one that is higher, the first on ties."""
        rows = self.active[np.argsort(-self.value[self.active], kind="stable")]
        near = (np.abs(self.x[rows, None] - self.x[None, rows]) <= MET).all(axis=2)
        self.active = np.sort(rows[~np.tril(near, -1).any(axis=1)])

    def lose_patience(self, tolerance: float) -> None:
        """Let those end that gained little since the last call, as they creep along a kink."""
        self._stuck |= self.value - self._noted <= PATIENCE * tolerance
        self._noted = self.value.copy()

    def trial(self) -> np.ndarray:
        """Return the next point of every active ascent."""
        rows = self.active
        return np.clip(self.x[rows] + self._step[rows, None] * self._direction[rows], 0.0, 1.0)

    def take(self, trial: np.ndarray, value: np.ndarray, gradient: np.ndarray, tolerance: float) -> None:
        """Move to the points that gained enough and cut the steps of the others."""
        rows = self.active
        moved = trial - self.x[rows]
        expected = (self.gradient[rows] * moved).sum(axis=1)
        gained = value - self.value[rows]
        good = (gained >= ARMIJO * expected) & (gained > 0.0)
        self._cut(rows[~good], gained[~good], expected[~good])

        rows = rows[good]
        moved, gained = moved[good], gained[good]
        self._learn(rows, moved, self.gradient[rows] - gradient[good])
        self.x[rows], self.value[rows], self.gradient[rows] = trial[good], value[good], gradient[good]
        self._stuck[rows] = gained <= tolerance
        self._aim(rows)

    def _free(self, rows: np.ndarray) -> np.ndarray:
        """Say which coordinates may move uphill, (rows, D)."""
        x, gradient = self.x[rows], self.gradient[rows]
        return ~((x <= 0.0) & (gradient <= 0.0) | (x >= 1.0) & (gradient >= 0.0))

    def _aim(self, rows: np.ndarray) -> None:
        """Set direction and first step of some ascents."""
        free = self._free(rows)
        uphill = np.where(free, self.gradient[rows], 0.0)
        direction = np.where(free, (self._inverse[rows] @ uphill[:, :, None])[:, :, 0], 0.0)
        along = (direction * uphill).sum(axis=1)
        lost = ~(along > 1e-10 * np.linalg.norm(direction, axis=1) * np.linalg.norm(uphill, axis=1))
        self._forget(rows[lost])
        direction[lost] = uphill[lost]
        fresh = self._fresh[rows]
        length = np.abs(direction).max(axis=1)
        self._direction[rows] = direction
        self._step[rows] = np.where(fresh, FIRST_STEP / np.maximum(length, np.finfo(float).tiny), 1.0)

    def _cut(self, rows: np.ndarray, gained: np.ndarray, expected: np.ndarray) -> None:
        """Shorten steps that gained too little, to the top of the parabola through what is known."""
        top = np.divide(0.5 * expected, expected - gained, out=np.full_like(expected, 0.5), where=expected > gained)
        self._step[rows] *= np.clip(top, 0.1, 0.5)
        length = self._step[rows] * np.abs(self._direction[rows]).max(axis=1)
        small = rows[length < SMALLEST_STEP]
        # A wrong inverse Hessian gets one more chance along the gradient.
        self._stuck[small[self._fresh[small]]] = True
        again = small[~self._fresh[small]]
        self._forget(again)
        self._aim(again)

    def _forget(self, rows: np.ndarray) -> None:
        self._inverse[rows] = np.eye(self.x.shape[1])
        self._fresh[rows] = True

    def _learn(self, rows: np.ndarray, moved: np.ndarray, change: np.ndarray) -> None:
        """Update inverse Hessians of the negative objective by moves and falls of the gradient, both (rows, D)."""
        # Held coordinates did not move; their change of gradient says nothing about the free ones.
        change = np.where(moved == 0.0, 0.0, change)
        curvature = (moved * change).sum(axis=1)
        size = (change**2).sum(axis=1)
        convex = curvature > 1e-10 * np.sqrt((moved**2).sum(axis=1) * size)
        # Where the objective curves upwards the model is of no use: go further next time.
        self._inverse[rows[~convex]] *= 2.0
        rows, s, y, curvature, size = rows[convex], moved[convex], change[convex], curvature[convex], size[convex]
        first = self._fresh[rows]
        self._inverse[rows[first]] *= (curvature / size)[first, None, None]
        self._fresh[rows] = False
        inverse = self._inverse[rows]
        along = (inverse @ y[:, :, None])[:, :, 0]
        outer = s[:, :, None] * along[:, None, :]
        outer = (outer + outer.transpose(0, 2, 1)) / curvature[:, None, None]
        factor = (1.0 + (y * along).sum(axis=1) / curvature) / curvature
        self._inverse[rows] = inverse - outer + factor[:, None, None] * s[:, :, None] * s[:, None, :]
