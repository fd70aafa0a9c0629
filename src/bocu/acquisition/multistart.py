"""The maximum of an acquisition function over the decisions, by ascents from many starts.

As in BoTorch (Balandat et al., 2020): raw scrambled Sobol points are valued, starts are drawn from them with
probabilities that grow with the value, the best one always among them, and every start climbs.
"""

from dataclasses import dataclass

import numpy as np

from bocu.acquisition.ascent import ascend
from bocu.acquisition.base import Acquisition
from bocu.core.errors import BocuError
from bocu.core.randomness import scrambled_sobol

#: Tolerance of all ascents, and how many of them go on to the caller's tolerance.
LOOSE = 1e-5
POLISHED = 3


@dataclass(frozen=True)
class BestPoint:
    """Where an acquisition function is largest, as far as was seen.

    Attributes:
        decision: shape (Dx,).
        value: there.
        ends: of all ascents, shape (restarts, Dx).
        values: at the ends, shape (restarts,).
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
) -> BestPoint:
    """Maximise an acquisition function over [0, 1]^Dx.

    Args:
        acquisition: what to maximise.
        generator: scrambles the raw points and draws starts; the same state gives the same answer bit for bit.
        raw: number of raw points.
        restarts: number of ascents.
        starts: decisions (n, Dx) to climb from as well.
        tolerance: ends an ascent, relative to the spread of the raw values.

    Raises:
        BocuError: `raw` or `restarts` is out of range, or starts have another number of coordinates.
    """
    if not 1 <= restarts <= raw:
        raise BocuError(f"restarts: found {restarts}; allowed: 1 to {raw}, the number of raw samples")
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
    ends, reached = ascend(acquisition, chosen, scale=unit, tolerance=max(tolerance, LOOSE))
    # Most ascents end on the same few tops, or below: only the highest are worth the last digits.
    top = np.argsort(-reached, kind="stable")[:POLISHED]
    ends[top], reached[top] = ascend(acquisition, ends[top], scale=unit, tolerance=tolerance)
    best = int(reached.argmax())
    return BestPoint(ends[best], float(reached[best]), ends, reached)


def _starts(values: np.ndarray, spread: float, restarts: int, generator: np.random.Generator) -> np.ndarray:
    """Draw indices of starts without replacement, by the softmax of standardised values; the best one is the first."""
    best = int(values.argmax())
    height = (values - values.max()) / spread if spread > 0.0 else np.zeros_like(values)
    # Adding Gumbel noise and sorting draws from a softmax without replacement.
    keys = height + generator.gumbel(size=len(values))
    keys[best] = np.inf
    return np.argsort(-keys, kind="stable")[:restarts]
