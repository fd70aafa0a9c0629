"""Divergences as a user would write them, named in experiment files by `own_divergences:NAME`."""

import numpy as np


def _phi(t):
    return 0.5 * (t - 1.0) ** 2


def _conjugate(s):
    return np.where(s > -1.0, s + 0.5 * s**2, -0.5)


MODIFIED_CHI_SQUARED = (_phi, _conjugate, lambda s: np.maximum(1.0 + s, 0.0))
ALONE = (_phi,)


def _reversed(t):
    with np.errstate(divide="ignore"):
        return t - 1.0 - np.log(t)


REVERSED = (_reversed, lambda s: np.where(s < 1.0, -np.log1p(-np.minimum(s, 1.0 - 1e-300)), np.inf))
"""Kullback and Leibler's with its sides exchanged: infinite where q leaves out a context of the reference."""
