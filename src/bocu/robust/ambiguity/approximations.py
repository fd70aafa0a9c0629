"""Cheap approximations of worst-case values: the linearisation and the minimax approximation of Tay et al. (2022).

For total variation, MMD and Wasserstein sets let s = epsilon, for the chi-squared sets s = sqrt(epsilon). The value v
is convex in s, so it lies above the line `E - S s` (S the sensitivity) and the floor, and below the chord from E to the
floor; the minimax approximation is the middle. Valid for any reference, zeros included.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from bocu.core.errors import BocuError
from bocu.robust.ambiguity import checks
from bocu.robust.ambiguity.base import AmbiguitySet, Normalised, expectation
from bocu.robust.ambiguity.checks import Floats


def sensitivity(payoffs: ArrayLike, reference: ArrayLike, ambiguity_set: AmbiguitySet) -> Floats:
    """Sensitivity S >= 0 `(...)` of payoffs `(..., n)` at the reference, in payoff units per unit of s.

    Minus the slope at radius 0 for total variation, MMD and Wasserstein sets; a multiple of the standard deviation for
    the chi-squared sets. Other sets raise `BocuError`.
    """
    asked = ambiguity_set.normalise(payoffs, reference)
    return asked.slopes(ambiguity_set._sensitivity(asked.f, asked.p))


def identity_sensitivity(payoffs: ArrayLike) -> Floats:
    """The cheap MMD sensitivity of Tay et al. (2022), the Gram matrix replaced by the identity: `(...)`.

    `sqrt(sum_i (f_i - mean f)^2)`; a bound in neither direction.
    """
    payoff = checks.payoffs(payoffs)
    return np.sqrt(((payoff - payoff.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1))


def linearised(
    payoffs: ArrayLike, reference: ArrayLike, ambiguity_set: AmbiguitySet, *, sensitivities: ArrayLike | None = None
) -> Floats:
    """Lower bound `E - S s` `(...)`, without the floor; arguments as in `minimax_approximation`."""
    asked = ambiguity_set.normalise(payoffs, reference)
    return asked.values(_line(asked, ambiguity_set, sensitivities))


def minimax_approximation(
    payoffs: ArrayLike, reference: ArrayLike, ambiguity_set: AmbiguitySet, *, sensitivities: ArrayLike | None = None
) -> Floats:
    """The function of epsilon whose worst error against any value with these ends is smallest.

    Args:
        payoffs: as in `worst_case`; a total variation, MMD, Wasserstein or chi-squared set.
        reference: likewise.
        ambiguity_set: likewise.
        sensitivities: `(...)` to use in place of the exact ones, such as `identity_sensitivity(payoffs)`.

    Returns:
        (...) in units of the payoffs.

    Raises:
        BocuError: for sets (Kullback-Leibler, Cressie-Read, CVaR) whose value need not lie between the two lines.
    """
    asked = ambiguity_set.normalise(payoffs, reference)
    lower = np.maximum(_line(asked, ambiguity_set, sensitivities), 0.0)
    mean, end = expectation(asked.f, asked.p), ambiguity_set._floor_distance(asked.f, asked.p)
    s = _scale(ambiguity_set)
    share = np.divide(min(s, 1e300), end, out=np.zeros_like(end), where=end > 0.0)
    upper = np.maximum(mean * (1.0 - share), 0.0)
    flat = (end == 0.0) | (mean == 0.0)
    return asked.values(np.where(flat, mean, 0.5 * (lower + upper)))


def floor_distance(payoffs: ArrayLike, reference: ArrayLike, ambiguity_set: AmbiguitySet) -> Floats:
    """Radius `(...)`, in units of epsilon, from which on all mass may sit on the nearest single minimiser."""
    asked = ambiguity_set.normalise(payoffs, reference)
    end = ambiguity_set._floor_distance(asked.f, asked.p)
    return (end ** (1.0 / power(ambiguity_set))).reshape(asked.leading)


def power(ambiguity_set: AmbiguitySet) -> float:
    """The power of epsilon in which the approximations are lines.

    Raises:
        BocuError: for sets that have none.
    """
    if ambiguity_set.sensitivity_power is None:
        raise BocuError(ambiguity_set._no_approximation())
    return ambiguity_set.sensitivity_power


def _scale(ambiguity_set: AmbiguitySet) -> float:
    exponent = power(ambiguity_set)
    return math.sqrt(ambiguity_set.epsilon) if exponent == 0.5 else ambiguity_set.epsilon**exponent


def _line(asked: Normalised, ambiguity_set: AmbiguitySet, sensitivities: ArrayLike | None) -> Floats:
    """The lower line `(B,)` for normalised rows; sensitivities `(...)` are in units of the payoffs."""
    if sensitivities is None:
        steep = ambiguity_set._sensitivity(asked.f, asked.p)
    else:
        steep = checks.matching("sensitivities", sensitivities, asked.leading).reshape(-1) / asked.scale
    s = _scale(ambiguity_set)
    mean = expectation(asked.f, asked.p)
    return np.where(steep > 0.0, mean - steep * s, mean) if math.isfinite(s) else np.where(steep > 0, -np.inf, mean)
