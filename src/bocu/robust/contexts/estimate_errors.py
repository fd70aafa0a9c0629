"""How far kernel density estimates on the line are from the distribution that they are of.

Table 2 of Huang et al. (2024): L1 distances by the trapezoid rule, contexts as drawn, not clipped.
"""

import functools
from collections.abc import Sequence

import numpy as np

from bocu.robust.contexts.estimates import KernelDensity
from bocu.robust.contexts.laws import ContextLaw, Marginal

OBSERVATIONS = (10, 100, 200, 300)
"""Those of the table."""


def cumulative(estimate: KernelDensity, at: np.ndarray) -> np.ndarray:
    """Return the distribution function (m,) of an estimate on the line at points (m,)."""
    from scipy.special import ndtr  # planning imports this module for its numbers, and no scipy

    return ndtr((at[:, None] - estimate.samples[:, 0]) / estimate.bandwidth[0]).mean(axis=1)


def distance_of_estimate(estimate: KernelDensity, law: ContextLaw, *, nodes: int = 2**11) -> float:
    """Return the L1 distance, between 0 and 2, of an estimate from a distribution on the line, both before clipping.

    The trapezoid rule, on nodes that follow both of them: `nodes` evenly spaced over the estimate's reach, as many
    over the unit interval, and as many quantiles of the distribution, half of them far into its tails.
    """
    (marginal,) = law.marginals
    reach = 9.0 * float(estimate.bandwidth[0])
    even = np.linspace(float(estimate.samples.min()) - reach, float(estimate.samples.max()) + reach, nodes)
    at = np.unique(np.concatenate([even, np.linspace(0.0, 1.0, nodes), _spread(marginal, nodes)]))
    gap = np.abs(estimate.density(at[:, None]) - marginal.density(at))
    ends = at[[0, -1]]
    beyond = np.abs(cumulative(estimate, ends) - marginal.cumulative(ends))
    return float(np.trapezoid(gap, at) + beyond.sum())


@functools.cache
def _spread(marginal: Marginal, nodes: int) -> np.ndarray:
    tails = 10.0 ** -np.linspace(1.0, 15.0, nodes // 4)
    return marginal.quantile(np.concatenate([tails, (np.arange(nodes // 2) + 0.5) / (nodes // 2), 1.0 - tails]))


def distances_of_estimates(
    law: ContextLaw, observations: Sequence[int], runs: int, generator: np.random.Generator, *, nodes: int = 2**11
) -> np.ndarray:
    """Return distances (len(observations), runs); every run draws afresh, with Silverman's bandwidth."""
    free = law.unclipped()

    def distances(count: int) -> list[float]:
        drawn = free.sample(generator, runs * count).reshape(runs, count, law.dimension)
        return [distance_of_estimate(KernelDensity.fit(one), law, nodes=nodes) for one in drawn]

    return np.array([distances(count) for count in observations])
