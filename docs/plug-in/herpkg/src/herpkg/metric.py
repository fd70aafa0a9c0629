"""The median over contexts, each counted once."""

import numpy as np

from bocu.core.about import About
from bocu.core.rounds import GRID
from bocu.sweep.evaluation.metrics import Metric


class Median(Metric):
    """The payoff in the median context, whatever the reference."""

    about = About(title="Median", summary="payoff in the median context, against the best available decision")
    protocols = GRID

    def values(self, payoffs, situation):
        return np.median(payoffs, axis=1)
