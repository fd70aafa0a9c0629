"""Leaf area of Marchantia over ammonia and pH: the sparse variational Gaussian-process mean of Tay et al. (2022).

The latent mean is k(x, Z) L^-T q, with L the Cholesky factor of k(Z, Z) + 1e-6 I, Z the inducing points and q the
whitened variational mean; it is the standardised leaf area. Times `leaf_area_std` plus `leaf_area_mean` it is in mm^2.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from bocu.core.errors import BocuError
from bocu.core.io.files import write_netcdf
from bocu.core.kernels import SquaredExponential, squared_distance
from bocu.problems.data.means import Mean, mean_dataset
from bocu.problems.data.prepare import attributes
from bocu.problems.data.raw_files import read_columns, read_label, read_npz
from bocu.robust.ambiguity.mmd.gram import JITTER

_TOLERANCE = 1e-6  # standardised leaf area, against the check values
NAMES, UNITS = ["nh3", "ph"], ["micromolar", "1"]
BOUNDS = (np.array([0.0, 2.5]), np.array([30000.0, 6.5]))
CHECK = "check_values.csv"
SHAPES: dict[str, tuple[int | None, ...]] = {
    "kernel_variance": (),
    "kernel_lengthscales": (2,),
    "inducing_points": (None, 2),
    "whitened_q_mu": (None,),
    "leaf_area_mean": (),
    "leaf_area_std": (),
}


def prepare_plant(
    raw: Sequence[str | os.PathLike[str]], output: str | os.PathLike[str], origin: Mapping[str, str]
) -> None:
    """Turn the parameters into inputs and weights of a mean; compare it with the check values where they came along.

    Raises:
        BocuError: an array is missing, of a wrong shape or not finite, or a check value differs.
    """
    files = {Path(path).name: Path(path) for path in raw}
    path = files["marchantia_leaf_area_svgp.npz"]
    arrays = read_npz(path, SHAPES)
    mean = latent_mean(path, arrays)
    notes = [
        "Mean of the latent function: standardised leaf area; times leaf_area_std plus leaf_area_mean it is in mm^2.",
        f"Weights are L^-T q with L the Cholesky factor of k(Z, Z) + {JITTER:g} I.",
    ]
    attrs: dict[str, str | float] = dict(attributes(origin, list(files.values()), {}, notes, read_label(path)))
    if CHECK in files:
        attrs["largest_difference_from_check_values"] = _largest_difference(files[CHECK], mean)
    attrs["leaf_area_mean"] = float(arrays["leaf_area_mean"])
    attrs["leaf_area_std"] = float(arrays["leaf_area_std"])
    dataset = mean_dataset(mean, UNITS, BOUNDS)
    write_netcdf(dataset.assign_attrs(attrs, output="standardised leaf area", output_units="1"), output)


def latent_mean(path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray]) -> Mean:
    """The mean function of the published parameters.

    Raises:
        BocuError: they do not belong together.
    """
    points, whitened = arrays["inducing_points"], arrays["whitened_q_mu"]
    lengthscales, variance = arrays["kernel_lengthscales"], float(arrays["kernel_variance"])
    if len(points) != len(whitened):
        raise BocuError(
            f"{path}: {len(points)} inducing_points and {len(whitened)} whitened_q_mu; allowed: equal numbers"
        )
    if (lengthscales <= 0).any() or variance <= 0:
        raise BocuError(f"{path}: kernel_lengthscales {lengthscales}, kernel_variance {variance}; allowed: positive")
    gram = variance * SquaredExponential.value(squared_distance(points / lengthscales, points / lengthscales))
    try:
        factor = cholesky(gram + JITTER * np.eye(len(points)), lower=True)
    except LinAlgError as error:
        raise BocuError(f"{path}: k(Z, Z) + {JITTER:g} I is not positive definite") from error
    weights = solve_triangular(factor, whitened, lower=True, trans="T")
    return Mean(tuple(NAMES), points, weights, lengthscales, variance, SquaredExponential)


def _largest_difference(path: Path, mean: Mean) -> float:
    table = read_columns(path, [], ["nh3_micromolar", "ph", "standardised_leaf_area"])
    found = mean(table[["nh3_micromolar", "ph"]].to_numpy())
    wanted = table["standardised_leaf_area"].to_numpy()
    difference = np.abs(found - wanted)
    if not (difference <= _TOLERANCE).all():
        row = int(np.nanargmax(np.where(difference <= _TOLERANCE, -1.0, np.nan_to_num(difference, nan=np.inf))))
        raise BocuError(
            f"{path}, line {row + 2}, column 'standardised_leaf_area': found {wanted[row]:g}, the mean there is "
            f"{found[row]:g}; allowed: a difference of at most {_TOLERANCE:g}"
        )
    return float(difference.max())
