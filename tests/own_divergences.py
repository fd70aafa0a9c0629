"""Divergences as a user would write them, named in experiment files by `own_divergences:NAME`."""

import numpy as np


def _phi(t):
    return 0.5 * (t - 1.0) ** 2


def _conjugate(s):
    return np.where(s > -1.0, s + 0.5 * s**2, -0.5)


MODIFIED_CHI_SQUARED = (_phi, _conjugate, lambda s: np.maximum(1.0 + s, 0.0))
ALONE = (_phi,)
