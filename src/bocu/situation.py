"""What stands before a round: what the decision maker is told, and what only judges and radius rules know."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Situation:
    """A round before its decision.

    Attributes:
        t: the round, from 1 on; 0 and below in the initial design.
        reference: reference distribution over the contexts, shape (contexts,).
        truth: distribution that contexts come from, shape (contexts,); the learner is not told.
        observed: number of contexts that were seen before.
        available: indices of the decisions that may be taken, ascending; None: all of them.
        margin: radius that the problem itself announces; None where it announces none.
        weights: scalarisation weights of the outputs, shape (outputs,); None where there is one output.
    """

    t: int
    reference: np.ndarray
    truth: np.ndarray
    observed: int
    available: np.ndarray | None = None
    margin: float | None = None
    weights: np.ndarray | None = None
