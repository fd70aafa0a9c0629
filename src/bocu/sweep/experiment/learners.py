"""Algorithms by the names that experiment files use, for loops of one's own.

An algorithm is told what its problem looks like, then asked and told; it never sees the pipeline. `learner` says the
usual case in one line, a `bocu.Description` says any other.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bocu.core.errors import BocuError, faults_at
from bocu.core.parameters import Reading, validate
from bocu.core.rounds import BoxDomain, Description, Domain, FiniteDomain
from bocu.learners.algorithms.base import Algorithm
from bocu.robust.objectives import UncertaintyObjective
from bocu.sweep.experiment.registry import find


def algorithm(name: str) -> type[Algorithm]:
    """Return the class of an algorithm.

    Args:
        name: as in experiment files, such as "ts-bocu"; `bocu list algorithms` prints all.

    Raises:
        BocuError: there is none of that name; the line says the nearest one.
    """
    return find("algorithm", name).load()


def learner(
    name: str,
    decisions: Domain | np.ndarray,
    contexts: Domain | np.ndarray,
    objective: UncertaintyObjective | None = None,
    *,
    noise: float = 0.01,
    variance: float = 1.0,
    lengthscale: float | Sequence[float] = 0.2,
    outputs: int = 1,
    seed: int = 0,
    **parameters: object,
) -> Algorithm:
    """Build an algorithm for a loop of one's own.

    On finite decisions and contexts the payoff is believed to be a Gaussian process of mean 0 with the product of two
    squared exponential kernels; on boxes the algorithms fit what they believe to what they are told.

    Args:
        name: as in experiment files, such as "ts-bocu".
        decisions: a table of points, shape (decisions, dimension) or (decisions,); or a `FiniteDomain` or `BoxDomain`.
        contexts: likewise.
        objective: what is pursued; None for the algorithms that pursue none.
        noise: standard deviation of the observation noise, in units of the payoff.
        variance: prior variance of the payoff, in its squared units; on finite decisions and contexts.
        lengthscale: of both kernels, in units of the coordinates, or one number for each coordinate of the decisions
            and then of the contexts; on finite decisions and contexts.
        outputs: number of payoffs that are observed at once.
        seed: of the algorithm's own draws.
        parameters: of the algorithm, those that differ from their defaults.

    Raises:
        BocuError: the name is unknown, or a value is not allowed, or the algorithm is not defined for such a problem.
    """
    made = algorithm(name)
    checked = validate(made.Parameters, parameters, f"{name}: ", Reading(Path()))
    spaces = _domain("decision", decisions), _domain("context", contexts)
    description = _description(*spaces, noise, variance, np.atleast_1d(lengthscale), outputs)
    with faults_at(f"{name}: "):
        return made(description, objective, checked, np.random.default_rng(seed))


def _domain(kind: str, points: Domain | np.ndarray) -> Domain:
    if isinstance(points, FiniteDomain | BoxDomain):
        return points
    table = np.asarray(points, dtype=float)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or not table.size:
        raise BocuError(f"{kind}s: found shape {table.shape}; allowed: (points, dimension), none of them 0")
    names = tuple(f"{kind} {place + 1}" for place in range(table.shape[1]))
    return FiniteDomain(table, names, ("1",) * len(names))


def _description(
    decisions: Domain, contexts: Domain, noise: float, variance: float, lengthscale: np.ndarray, outputs: int
) -> Description:
    if isinstance(decisions, BoxDomain):
        protocol = "scalarised" if isinstance(contexts, FiniteDomain) else "continuous"
        return Description(decisions, contexts, noise, protocol, outputs)
    if not isinstance(contexts, FiniteDomain):
        raise BocuError("contexts: found a box; finite decisions go with finite contexts")
    from bocu.core.kernels import SquaredExponential
    from bocu.learners.surrogates.grid import GridPrior

    dimensions = decisions.dimension + contexts.dimension
    if lengthscale.shape not in ((1,), (dimensions,)):
        raise BocuError(f"lengthscale: found {lengthscale.size} numbers; allowed: 1, or {dimensions}")
    scales = tuple(np.broadcast_to(lengthscale, dimensions).tolist())
    over_decisions = SquaredExponential(scales[: decisions.dimension])
    over_contexts = SquaredExponential(scales[decisions.dimension :])
    model = GridPrior(decisions.points, contexts.points, over_decisions, over_contexts, variance, noise)
    return Description(decisions, contexts, noise, "general", outputs, model)
