"""Hyper-parameters of a log: of some rows from far away, of the rest from where those ended.

The log posterior of some rows has, near its top, the shape of that of all of them, which is only steeper by as much as
there are more rows. An ascent that is told this shape needs half the steps of one that has to find it.
"""

import math

import numpy as np

from bocu.advice.large import rows_of_a_fit
from bocu.advice.names import Shared, spread_scales
from bocu.learners.surrogates.continuous.fitting import LARGEST, SMALLEST, LogPosterior, Priors, best_hyperparameters
from bocu.learners.surrogates.continuous.model import standardise
from bocu.learners.surrogates.continuous.structure import Hyperparameters, Structure

#: Hyper-parameters are fitted to no more rows than this, spread over time and inputs of a longer log, whose posterior
#: has all rows and is kept as one matrix.
MOST_ROWS_OF_A_FIT = 2000

#: The fit of a longer log starts where a fit of so many of its rows ended, whose many steps are cheap.
ROWS_OF_A_FIRST_FIT = 250

#: Relative change of the objective at which the first ascents and the last one end.
_FIRST_TOLERANCE, _TOLERANCE = 1e-6, 1e-5

#: Step of the differences that a curvature is found by, and the least curvature that is trusted.
_STEP, _FLATTEST = 1e-3, 0.5


def fitted(structure: Structure, inputs: np.ndarray, outputs: np.ndarray, groups: np.ndarray) -> Hyperparameters:
    """Return the most probable hyper-parameters of inputs (t, D) and outputs (t,), all rows alike.

    `groups` (D,) says which length-scale each input has.
    """
    different = int(groups.max()) + 1

    def objective(rows: np.ndarray) -> LogPosterior:
        whole = LogPosterior(structure, inputs[rows], standardise(outputs[rows])[2], priors)
        return Shared(whole, groups) if different < structure.inputs else whole

    priors = Priors()
    few = rows_of_a_fit(inputs, ROWS_OF_A_FIRST_FIT)
    first = objective(few)
    found = best_hyperparameters(first, priors.starts(different, None, len(outputs)), tolerance=_FIRST_TOLERANCE)
    if len(few) < len(outputs):
        many = rows_of_a_fit(inputs, MOST_ROWS_OF_A_FIT)
        steeper = len(many) / len(few)
        found = _ascended(objective(many), found, steeper * _curvature(first, found))
    return spread_scales(found, groups)


def _curvature(objective: LogPosterior, at: Hyperparameters) -> np.ndarray:
    """Return minus the second derivatives (v, v) of an objective at `Hyperparameters.to_vector` (v,)."""
    here = at.to_vector()
    steps = _STEP * np.eye(len(here))
    found = np.array([objective(here - step)[1] - objective(here + step)[1] for step in steps]) / (2.0 * _STEP)
    return np.asarray((found + found.T) / 2.0)


def _ascended(objective: LogPosterior, start: Hyperparameters, curvature: np.ndarray) -> Hyperparameters:
    """Maximise an objective from a start near its top, whose curvature (v, v) is about known.

    Where the ascent meets a bound it is done as if nothing were known: bounds do not lie along the steps it takes.
    """
    from scipy.optimize import minimize

    here = start.to_vector()
    steepness, directions = np.linalg.eigh(curvature)
    steps = directions / np.sqrt(np.maximum(steepness, _FLATTEST))
    least, most = np.full(len(here), math.log(SMALLEST)), np.full(len(here), math.log(LARGEST))
    least[-1] = math.log(objective.priors.least_noise)

    def loss(moved: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = objective(np.clip(here + steps @ moved, least, most))
        return -value, -gradient @ steps

    end = minimize(loss, np.zeros(len(here)), jac=True, method="L-BFGS-B", options={"ftol": _TOLERANCE, "gtol": 1e-5})
    reached = here + steps @ end.x
    if ((reached > least) & (reached < most)).all():
        return Hyperparameters.from_vector(reached)
    return best_hyperparameters(objective, [start], tolerance=_TOLERANCE)
