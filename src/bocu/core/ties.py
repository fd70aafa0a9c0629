"""Which of several is the best, in one way for all: rounding breaks no tie.

What is equal by the mathematics differs in last digits that depend on the processor. Values that come within `TIED` of
the highest, or within what rounding leaves of numbers of their size, are as good as it; the first of them is taken.
"""

import math
from collections.abc import Sequence

import numpy as np

#: Shares of the highest value, and of the largest number that values are made of.
TIED, ROUNDED = 1e-9, 1e-12


def tie(highest: float, size: float) -> float:
    """Return by how much a value may fall short of the highest one and be as good; `size` as `first_best` has it."""
    return TIED * abs(highest) + ROUNDED * size


def first_best(values: np.ndarray | Sequence[float], size: float | None = None) -> int:
    """Return the index of the first of the best values.

    Infinite values tie with their like alone. What is not a number is never the best; where nothing else is, it is the
    first.

    Args:
        values: to be maximised, shape (n,), n positive.
        size: magnitude of the numbers that values are made of; None: the largest of the finite values.
    """
    values = np.asarray(values, dtype=float)
    highest = float(np.fmax.reduce(values))
    if not math.isfinite(highest):
        return int((values == highest).argmax())
    if size is None:
        lowest = float(np.fmin.reduce(values))
        size = max(abs(highest), abs(lowest if math.isfinite(lowest) else values[np.isfinite(values)].min()))
    return int((values >= highest - tie(highest, size)).argmax())
