"""The maximum of an acquisition function over the decisions, by ascents from many starts.

As in BoTorch (Balandat et al., 2020): raw scrambled Sobol points are valued, starts are drawn from them with
probabilities that grow with the value, the best one always among them, and every start climbs. Where a function costs
much and has a draft, the draft is climbed; the highest tops of the function itself are found from there. Where few of
its samples tell about where it is large, they are climbed first.
"""

import math
from dataclasses import dataclass

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.randomness import scrambled_sobol
from bocu.learners.acquisition.ascent import ascend
from bocu.learners.acquisition.base import Acquisition

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
    """Where an acquisition function is largest, as far as was seen.

    Attributes:
        decision: shape (Dx,).
        value: there.
        ends: of all ascents, shape (restarts, Dx).
        values: at the ends, shape (restarts,); by the draft where one was climbed, but for the highest.
    """

    decision: np.ndarray
    value: float
    ends: np.ndarray
    values: np.ndarray


def maximise(
    acquisition: Acquisition,
    generator: np.random.Generator,
    *,
    raw: int = 1024,
    restarts: int = 50,
    starts: np.ndarray | None = None,
    tolerance: float = 1e-8,
    merge: bool = False,
) -> BestPoint:
    """Maximise an acquisition function over [0, 1]^Dx.

    Args:
        acquisition: what to maximise.
        generator: scrambles the raw points and draws starts; the same state gives the same answer bit for bit.
        raw: number of raw points.
        restarts: number of ascents.
        starts: decisions (n, Dx) to climb from as well.
        tolerance: ends an ascent, relative to the spread of the raw values.
        merge: whether of ascents that meet one goes on.

    Raises:
        BocuError: `raw` or `restarts` is out of range, or starts have another number of coordinates.
    """
    if not 1 <= restarts <= raw:
        raise BocuError(f"restarts: found {restarts}; allowed: 1 to {raw}, the number of raw samples")
    acquisition = acquisition.warm()
    dimension = acquisition.dimension
    points = scrambled_sobol(np.zeros(dimension), np.ones(dimension), raw, generator)
    values = acquisition.screen(points)
    spread = float(values.std())
    chosen = points[_starts(values, spread, restarts, generator)]
    if starts is not None:
        if starts.ndim != 2 or starts.shape[1] != dimension:
            raise BocuError(f"starts: found shape {starts.shape}; allowed: (n, {dimension})")
        chosen = np.concatenate([chosen, starts])
    unit = spread if spread > 0.0 else 1.0
    ends, reached, top = _climbed(acquisition, chosen, unit, tolerance, merge)
    top.sort()  # ties go to the first
    best = int(top[reached[top].argmax()])
    return BestPoint(ends[best], float(reached[best]), ends, reached)


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
