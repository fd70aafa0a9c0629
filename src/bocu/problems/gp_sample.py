"""Payoffs drawn from the Gaussian process that algorithms believe in, anew for every seed (Tay et al. 2024, section 5).

As in the published code, the prior is drawn at points that lie uniformly in the joint space, and the payoff is the
Gaussian-process mean through these values.
"""

import numpy as np
from pydantic import Field

from bocu.core.about import About
from bocu.core.parameters import Count, Positive
from bocu.core.randomness import Streams
from bocu.learners.surrogates.grid import GridPrior
from bocu.problems.finite import LENGTHSCALE, FiniteParameters, FiniteProblem
from bocu.robust.ambiguity.mmd.gram import with_jitter


class GPSampleParameters(FiniteParameters):
    """Parameters of the draws, which come from the kernel of the model."""

    decision_points: list[Count] = Field(
        [32, 32], description="points a decision coordinate, evenly spaced over [0, 1]"
    )
    context_points: list[Count] = Field([8, 8], description="points a context coordinate, evenly spaced over [0, 1]")
    lengthscale: Positive = Field(0.1, description=LENGTHSCALE)
    prior_points: Count = Field(1000, description="uniform points at which the prior is drawn")
    jitter: Positive = Field(
        1e-6, description="added to the diagonal of the kernel matrix of those points, relative to the variance"
    )


class GPSample(FiniteProblem[GPSampleParameters]):
    """A draw of two decision and two context coordinates."""

    about = About(
        title="Sample of a Gaussian process",
        summary="a draw from the model's own prior a seed, two decisions, two contexts",
        paper="Tay et al. 2024",
    )
    Parameters = GPSampleParameters
    units = "1"
    decision_names = ("x1", "x2")
    decision_units = ("1", "1")
    context_names = ("c1", "c2")
    context_units = ("1", "1")

    def payoff_table(self, streams: Streams) -> np.ndarray:
        """Draw the points, and the prior at them, from the stream "problem"."""
        generator = streams["problem"]
        size = self.parameters.prior_points
        decisions = generator.random((size, len(self.decision_names)))
        contexts = generator.random((size, len(self.context_names)))
        return interpolated_draw(
            self.own_model, decisions, contexts, generator.standard_normal(size), self.parameters.jitter
        )


def interpolated_draw(
    prior: GridPrior, decisions: np.ndarray, contexts: np.ndarray, normal: np.ndarray, jitter: float
) -> np.ndarray:
    """Draw a zero-mean prior at points and give the Gaussian-process mean through the draw on the prior's grid.

    Args:
        prior: the grid and the kernels of decisions and contexts.
        decisions: decision coordinates of the points, shape (n, decision dimension).
        contexts: their context coordinates, shape (n, context dimension).
        normal: independent standard normal numbers, shape (n,).
        jitter: added to the diagonal of the kernel matrix of the points, at unit variance.

    Returns:
        Shape (decisions, contexts) of the grid.
    """
    from scipy.linalg import solve_triangular

    gram = prior.decision_kernel(decisions, decisions) * prior.context_kernel(contexts, contexts)
    factor = np.linalg.cholesky(with_jitter(gram, jitter))
    # With the draw L z and the matrix L L', the weights of its mean (L L')^-1 L z are L'^-1 z.
    weights = solve_triangular(factor, normal, lower=True, trans="T", check_finite=False)
    over_decisions = prior.decision_kernel(prior.decisions, decisions)
    over_contexts = prior.context_kernel(prior.contexts, contexts)
    return np.sqrt(prior.variance) * ((over_decisions * weights) @ over_contexts.T)
