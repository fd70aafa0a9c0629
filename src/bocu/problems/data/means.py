"""Gaussian-process means as compact parameters: inputs, weights and a kernel, in NetCDF, and the function they give.

The mean at x is offset + scale (constant + sum_i k(x, inputs_i) weights_i). Kernels: squared exponential and Matern-5/2
with one length-scale an input (Rasmussen and Williams 2006, Eqs. 4.9 and 4.17).
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf
from bocu.core.kernels import KERNELS, Kernel, squared_distance
from bocu.problems.data.prepare import variable

ROWS_AT_A_TIME = 32  # keeps the matrix of kernel values in the cache

UNITS_BESIDE = "see input_units"
WEIGHTS = ("weight of each point in the mean", "1")
LENGTHSCALES = ("length-scale of each input", UNITS_BESIDE)
VARIANCE = ("output scale of the kernel", "1")


@dataclass(frozen=True)
class Mean:
    """The mean function of a Gaussian process."""

    names: tuple[str, ...]  #: names of the inputs.
    inputs: np.ndarray  #: (n, d), in the units of the data set.
    weights: np.ndarray  #: (n,).
    lengthscales: np.ndarray  #: (d,), in the units of the inputs.
    variance: float  #: output scale of the kernel.
    kernel: type[Kernel]  #: of the Gaussian process.
    # constant, offset, scale: see the module.
    constant: float = 0.0
    offset: float = 0.0
    scale: float = 1.0

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Evaluate at points (..., d); returns (...,).

        Raises:
            BocuError: the points have another number of inputs.
        """
        points = np.asarray(points, dtype=float)
        if points.shape[-1:] != self.lengthscales.shape:
            raise BocuError(
                f"points: shape {points.shape}; allowed: (..., {len(self.names)}) for {', '.join(self.names)}"
            )
        flat = points.reshape(-1, len(self.names)) / self.lengthscales
        known = self.inputs / self.lengthscales
        weights = self.variance * self.weights
        latent = np.empty(len(flat))
        for start in range(0, len(flat), ROWS_AT_A_TIME):
            rows = slice(start, start + ROWS_AT_A_TIME)
            latent[rows] = self.kernel.value(squared_distance(flat[rows], known)) @ weights
        return (self.offset + self.scale * (self.constant + latent)).reshape(points.shape[:-1])


def load_mean(path: str | os.PathLike[str], fit: str | None = None) -> Mean:
    """Read the mean that a prepared file (plant, infection, portfolio) holds.

    Args:
        path: the prepared file.
        fit: which of several hyper-parameter sets, where the file has them; left out, the file's own choice.

    Raises:
        BocuError: the file is missing or corrupt, has no such set, or holds no mean.
    """
    dataset = read_netcdf(path)
    lacking = [name for name in ("inputs", "weights", "lengthscales", "kernel_variance") if name not in dataset]
    if lacking or dataset.attrs.get("kernel") not in KERNELS:
        raise BocuError(f"{path}: holds no Gaussian-process mean; allowed: prepared plant, infection or portfolio data")
    allowed = [str(name) for name in dataset["fit"].values] if "fit" in dataset.dims else []
    chosen = fit or dataset.attrs.get("default_fit", "")
    if chosen not in (allowed or [""]):
        raise BocuError(f"{path}: no hyper-parameters '{chosen}'; allowed: {', '.join(allowed) or 'none'}")
    dataset = of_fit(dataset, fit)
    return Mean(
        names=tuple(str(name) for name in dataset["input"].values),
        inputs=dataset["inputs"].transpose("point", "input").values,
        weights=dataset["weights"].values,
        lengthscales=dataset["lengthscales"].values,
        variance=float(dataset["kernel_variance"]),
        kernel=KERNELS[dataset.attrs["kernel"]],
        constant=float(dataset.get("constant", 0.0)),
        offset=float(dataset.get("offset", 0.0)),
        scale=float(dataset.get("scale", 1.0)),
    )


def of_fit(dataset: xr.Dataset, fit: str | None) -> xr.Dataset:
    """Return a mean's data set with one of several hyper-parameter sets alone; None: the file's own choice."""
    return dataset.sel(fit=fit or dataset.attrs["default_fit"]) if "fit" in dataset.dims else dataset


def mean_dataset(mean: Mean, units: list[str], bounds: tuple[np.ndarray, np.ndarray]) -> xr.Dataset:
    """Lay out a mean with constant 0 as a prepared file; `units` and `bounds` (d,) are those of the inputs."""
    return xr.Dataset(
        {
            **input_variables(mean.names, units, mean.inputs, bounds),
            "weights": variable("point", mean.weights, *WEIGHTS),
            "lengthscales": variable("input", mean.lengthscales, *LENGTHSCALES),
            "kernel_variance": variable((), mean.variance, *VARIANCE),
        },
        coords=input_coordinates(mean.names, units),
        attrs={"kernel": next(name for name, kernel in KERNELS.items() if kernel is mean.kernel)},
    )


def input_variables(
    names: Sequence[str], units: Sequence[str], inputs: np.ndarray, bounds: tuple[np.ndarray, np.ndarray]
) -> dict[str, Any]:
    """Variables for the points (n, d) and the domain of the inputs (d,)."""
    told = ", ".join(f"{name} ({unit})" for name, unit in zip(names, units, strict=True))
    return {
        "inputs": variable(("point", "input"), inputs, f"inputs: {told}", UNITS_BESIDE),
        "lower": variable("input", bounds[0], "lower end of the domain", UNITS_BESIDE),
        "upper": variable("input", bounds[1], "upper end of the domain", UNITS_BESIDE),
    }


def input_coordinates(names: Sequence[str], units: Sequence[str]) -> dict[str, Any]:
    """Coordinates with the names and units of the inputs."""
    return {
        "input": variable("input", list(names), "name of the input"),
        "input_units": variable("input", list(units), "units of the input"),
    }
