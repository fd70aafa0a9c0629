"""Contamination (Huber 1964): `U(epsilon) = {(1 - epsilon) p + epsilon r}` for any distribution r."""

import numpy as np

from bocu.core.about import About
from bocu.robust.ambiguity.base import AmbiguitySet, Rows, Tangent, expectation, pair


class Contamination(AmbiguitySet):
    """The mixtures of the reference and any distribution."""

    about = About(title="contamination", summary="a share of the mass may be put anywhere")
    leaves_support = True

    def distance(self, q, p):
        first, second = pair(q, p)
        return 1.0 - np.divide(first, second, out=np.ones_like(first), where=second > 0).min(axis=-1, initial=1.0)

    def solve(self, f, p, wanted):
        share, mean, worst = min(self.epsilon, 1.0), expectation(f, p), np.eye(f.shape[1])[f.argmin(axis=1)]
        moves = float(share < 1.0)
        return Rows((1.0 - share) * mean, -moves * mean, (1.0 - share) * p + share * worst, moves * (worst - p))

    def tangent(self, f, p, tau):
        return Tangent(-tau, np.ones(len(f)), np.eye(f.shape[1])[f.argmin(axis=1)])
