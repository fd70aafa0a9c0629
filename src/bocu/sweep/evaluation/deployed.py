"""What is deployed after a run's last round: `deployed` of a metric.

An algorithm's own recommendation judges its search and its recommender together; the same model for all, told the same
rows, judges what the search alone is worth.
"""

from typing import TYPE_CHECKING, Literal

import numpy as np

from bocu.core.randomness import Streams
from bocu.core.rounds import FiniteDomain, Situation
from bocu.core.ties import first_best
from bocu.learners.algorithms.continuous_base import Scaling
from bocu.learners.algorithms.told import ToldTrials
from bocu.learners.surrogates.continuous.model import ContinuousGP
from bocu.learners.surrogates.continuous.structure import product
from bocu.problems.base import Realisation
from bocu.sweep.runs.records import context_variable, decision_variable

if TYPE_CHECKING:
    import xarray as xr

Deployed = Literal["own", "shared-model"]


def deployed(run: "xr.Dataset", realisation: Realisation, last: Situation, by: Deployed) -> np.ndarray:
    """Return the decision that a run of one seed would deploy: indices, shape (1,), or coordinates, (1, dimension).

    Args:
        run: its rows, the initial design first.
        realisation: the problem as the seed met it.
        last: what stood before its last round.
        by: `own`: what the algorithm recommended after the last round; `shared-model`: of the decisions tried the one
            of the best `expectations` over the contexts announced, in a box of them over those met.
    """
    decisions, contexts = realisation.description.decisions, realisation.description.contexts
    if by == "own":
        return run["recommended_index" if isinstance(decisions, FiniteDomain) else "recommended"].values[-1:]
    tried, met = run[decision_variable(decisions)].values, run[context_variable(contexts)].values
    points, seen = (
        np.stack([*map(Scaling(space).inwards, members)]) for space, members in ((decisions, tried), (contexts, met))
    )
    told = ToldTrials.of(points, seen, run["observation"].values, contexts, last.reference)
    best = first_best(expectations(told, Streams(int(run["seed"]))["algorithm"]))
    return tried[best : best + 1]


def expectations(told: ToldTrials, generator: np.random.Generator) -> np.ndarray:
    """Return the expected payoff (t,) of every decision tried, by the posterior mean of a Gaussian process.

    Its kernel is a Matern-5/2 over decisions times a squared exponential over contexts, fitted by maximum a posteriori
    from where the generator says.
    """
    structure = product(told.decisions.shape[1], told.contexts.shape[1], "matern-5/2", "squared-exponential")
    model = ContinuousGP(structure)
    for row in zip(told.decisions, told.contexts, told.payoffs, strict=True):
        model.add(*row)
    posterior = model.posterior(generator)
    means = posterior.mean + posterior.covariance(told.pairs()) @ posterior.weights
    return told.expected(posterior.shift + posterior.scale * means)
