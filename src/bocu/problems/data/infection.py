"""Runs of the COVID-19 testing simulator of Frazier et al. (2022) and the Gaussian-process mean through them.

Inputs in [0, 1]: shares of the test kits of two of three groups (decisions, sum at most 1), shares of the initial cases
in two of three groups (contexts, sum at most 1), and the transmission probability (context). The output is minus the
cases, standardised. The mean is k(x, X) (k(X, X) + 1e-6 I)^-1 y with a squared exponential kernel of length-scale 0.1
and unit variance, as in Tay et al. (2024).
"""

import os
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from bocu.core.errors import BocuError
from bocu.core.io.files import write_netcdf
from bocu.core.kernels import SquaredExponential, squared_distance
from bocu.problems.data.means import Mean, mean_dataset
from bocu.problems.data.prepare import attributes, variable
from bocu.problems.data.raw_files import read_label, read_npz
from bocu.robust.ambiguity.mmd.gram import JITTER

LENGTHSCALE = 0.1
NAMES = ["test_share_1", "test_share_2", "case_share_1", "case_share_2", "transmission"]
BOUNDS = (np.zeros(5), np.ones(5))
SHAPES: dict[str, tuple[int | None, ...]] = {"X": (None, 5), "y": (None,)}


def prepare_infection(
    raw: Sequence[str | os.PathLike[str]], output: str | os.PathLike[str], origin: Mapping[str, str]
) -> None:
    """Compute the weights of the mean through the runs.

    Raises:
        BocuError: an array is missing, of a wrong shape or not finite, an input lies outside [0, 1], or a share does.
    """
    (path,) = raw
    arrays = read_npz(path, SHAPES)
    inputs, values = arrays["X"].astype(float), arrays["y"].astype(float)
    if len(inputs) != len(values):
        raise BocuError(f"{path}: {len(inputs)} rows of X and {len(values)} of y; allowed: equal numbers")
    if ((inputs < 0) | (inputs > 1)).any():
        row, column = np.argwhere((inputs < 0) | (inputs > 1))[0]
        raise BocuError(f"{path}: X[{row}, {column}] is {inputs[row, column]:g}; allowed: 0 to 1")
    mean = runs_mean(inputs, values)
    notes = [
        f"Mean of a Gaussian process through the runs: squared exponential, length-scale {LENGTHSCALE:g}, unit "
        f"variance, jitter {JITTER:g} on the diagonal.",
        "The runs cover shares that sum to at most 1; elsewhere the mean falls to 0.",
    ]
    attrs: dict[str, str | float] = dict(attributes(origin, [path], {}, notes, read_label(path)))
    attrs["largest_residual_at_the_runs"] = float(np.abs(mean(inputs) - values).max())
    dataset = mean_dataset(mean, ["1"] * len(NAMES), BOUNDS)
    dataset["values"] = variable("point", values, "minus the cases, standardised")
    write_netcdf(dataset.assign_attrs(attrs, output="minus the cases, standardised", output_units="1"), output)


def runs_mean(inputs: np.ndarray, values: np.ndarray) -> Mean:
    """The mean through runs (n, 5) with values (n,)."""
    scaled = inputs / LENGTHSCALE
    gram = SquaredExponential.value(squared_distance(scaled, scaled))
    gram[np.diag_indices_from(gram)] += JITTER
    weights = cho_solve(cho_factor(gram, lower=True, overwrite_a=True), values)
    return Mean(tuple(NAMES), inputs, weights, np.full(len(NAMES), LENGTHSCALE), 1.0, SquaredExponential)
