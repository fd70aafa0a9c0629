"""3,000 evaluations of a multi-period portfolio simulator and Gaussian processes through them.

Source: Cakmak et al. (2020), thirty torch files with `X` (100, 1, 5) in [0, 1] and `Y` (100, 1, 1), minus the return in
percent a year; the payoff is -Y. Two sets of hyper-parameters of a Matern-5/2 kernel on standardised Y are kept: those
published with the surrogate of the data (`published`), and our own fit under the same priors (`refitted`).
"""

import logging
import os
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import gpytorch
import numpy as np
import torch
import xarray as xr
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from bocu.core.errors import BocuError
from bocu.core.io.files import write_netcdf
from bocu.core.kernels import Matern52, squared_distance
from bocu.problems.data.means import (
    LENGTHSCALES,
    VARIANCE,
    WEIGHTS,
    Mean,
    input_coordinates,
    input_variables,
)
from bocu.problems.data.prepare import attributes, variable

LOG = logging.getLogger(__name__)
NAMES = ["risk_aversion", "trade_aversion", "holding_multiplier", "bid_ask_spread", "borrowing_cost"]
BOUNDS = (np.zeros(5), np.ones(5))
HELD_OUT = 0.2  # share of the samples
SPLIT_SEED = 0
LEAST_SAMPLES = 20


@dataclass(frozen=True)
class HyperParameters:
    """Of a Gaussian process on standardised Y: lengthscales (5,), output scale, noise variance, constant mean."""

    lengthscales: tuple[float, ...]
    variance: float
    noise: float
    constant: float
    offset: float
    scale: float


# The state of the surrogate published with the samples (Cakmak et al. 2020), on Y standardised by offset and scale.
PUBLISHED = HyperParameters((0.2226, 7.7797, 0.2633, 0.5240, 2.5219), 4.6199, 0.01368, -0.5665, -2.88574, 3.82959)


def prepare_portfolio(
    raw: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    origin: Mapping[str, str],
    subset: int = 800,
) -> None:
    """Join the samples, fit a Gaussian process, and store both sets of hyper-parameters with their held-out errors.

    Args:
        raw: the torch files.
        output: the prepared file.
        origin: from `Catalogue.origin`.
        subset: samples that the hyper-parameters are fitted to; weights and errors use all.

    Raises:
        BocuError: a file is no torch file of plain tensors, or has other shapes or values than described above.
    """
    torch.set_num_threads(1)
    parts = [read_samples(path) for path in raw]
    inputs = np.concatenate([part.inputs for part in parts])
    values = np.concatenate([part.values for part in parts])
    labels = sorted({part.label for part in parts if part.label})
    if len(values) < LEAST_SAMPLES:
        raise BocuError(f"{Path(raw[0]).parent}: {len(values)} samples in all; allowed: at least {LEAST_SAMPLES}")
    shuffled = np.random.default_rng(SPLIT_SEED).permutation(len(values))
    held_out, training = np.split(shuffled, [int(HELD_OUT * len(values))])
    used = min(subset, len(training))
    candidates = {
        "published": PUBLISHED,
        "refitted": fit_hyperparameters(inputs[training[:used]], values[training[:used]]),
    }
    errors = {
        name: _held_out_error(parameters, inputs, values, training, held_out) for name, parameters in candidates.items()
    }
    LOG.info("held-out root mean squared errors (percent a year): %s", errors)
    spread = float(values[held_out].std())
    notes = [
        "Payoff is -Y, the return in percent a year. Means: payoff = offset + scale (constant + k(x, X) weights), "
        "Matern-5/2 kernel with one length-scale an input.",
        f"'refitted': maximum a posteriori (gpytorch) on {used} of the {len(training)} training samples, Y "
        "standardised, priors Gamma(3, 6) on length-scales, Gamma(2, 0.15) on the output scale, Gamma(1.1, 0.5) on the "
        "noise; 'published': the surrogate of Cakmak et al. (2020).",
        f"Held-out errors: weights from {len(training)} samples, error on the other {len(held_out)}; weights stored: "
        "from all.",
    ]
    attrs: dict[str, Any] = dict(attributes(origin, raw, {}, notes, "; ".join(labels)))
    attrs |= {f"held_out_rmse_{name}": error for name, error in errors.items()}
    attrs |= {
        "held_out_standard_deviation": spread,
        "default_fit": "refitted" if origin["source"] == "simulate" else "published",
        "kernel": "matern-5/2",
        "output": "return",
        "output_units": "percent per year",
    }
    write_netcdf(_dataset(candidates, inputs, values).assign_attrs(attrs), output)


class Samples(NamedTuple):
    """Inputs (n, 5) in [0, 1] and Y (n,) of one file, and what it says of itself."""

    inputs: np.ndarray
    values: np.ndarray
    label: str


def read_samples(path: str | os.PathLike[str]) -> Samples:
    """Read one torch file; tensors and text are read, nothing is unpickled beyond them.

    Raises:
        BocuError: not such a file.
    """
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, OSError, EOFError, ValueError) as error:
        reason = " ".join(str(error).split())[:120]
        raise BocuError(f"{path}: not a readable torch file of plain tensors ({reason})") from error
    if not isinstance(content, dict) or not all(isinstance(content.get(key), torch.Tensor) for key in "XY"):
        raise BocuError(f"{path}: found {type(content).__name__} without tensors X and Y; allowed: both")
    x, y = content["X"].double().numpy(), content["Y"].double().numpy()
    if x.shape[1:] != (1, 5) or y.shape != (len(x), 1, 1):
        raise BocuError(f"{path}: X has shape {x.shape}, Y {y.shape}; allowed: (n, 1, 5) and (n, 1, 1)")
    if not (np.isfinite(y).all() and (x >= 0).all() and (x <= 1).all()):
        raise BocuError(f"{path}: X outside [0, 1] or Y not finite; allowed: X in [0, 1], finite Y")
    return Samples(x[:, 0, :], y[:, 0, 0], str(content.get("data_label", "")))


class _ExactModel(gpytorch.models.ExactGP):
    def __init__(self, inputs: torch.Tensor, values: torch.Tensor, likelihood: gpytorch.likelihoods.Likelihood) -> None:
        super().__init__(inputs, values, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(
            gpytorch.kernels.MaternKernel(
                nu=2.5, ard_num_dims=inputs.shape[-1], lengthscale_prior=gpytorch.priors.GammaPrior(3.0, 6.0)
            ),
            outputscale_prior=gpytorch.priors.GammaPrior(2.0, 0.15),
        )

    def forward(self, points: torch.Tensor) -> gpytorch.distributions.MultivariateNormal:
        return gpytorch.distributions.MultivariateNormal(self.mean_module(points), self.covar_module(points))


def fit_hyperparameters(inputs: np.ndarray, values: np.ndarray, iterations: int = 60) -> HyperParameters:
    """Hyper-parameters by maximum a posteriori on inputs (n, 5) and values (n,), by L-BFGS.

    The priors are those that the published surrogate was fitted under.
    """
    offset, scale = float(values.mean()), float(values.std()) or 1.0
    x, y = torch.as_tensor(inputs), torch.as_tensor((values - offset) / scale)
    likelihood = gpytorch.likelihoods.GaussianLikelihood(
        noise_prior=gpytorch.priors.GammaPrior(1.1, 0.5), noise_constraint=gpytorch.constraints.GreaterThan(1e-5)
    )
    model = _ExactModel(x, y, likelihood).double()
    kernel: Any = model.covar_module
    model.initialize(**{"likelihood.noise": 0.02})
    kernel.base_kernel.lengthscale = 0.5
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    model.train()

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        torch.nn.utils.vector_to_parameters(torch.as_tensor(flat), parameters)
        model.zero_grad()
        with gpytorch.settings.fast_computations(covar_root_decomposition=False, log_prob=False, solves=False):
            value = -objective(model(x), y)
        value.backward()
        gradient = torch.cat([parameter.grad.reshape(-1) for parameter in parameters if parameter.grad is not None])
        return float(value.detach()), gradient.numpy().copy()

    start = torch.nn.utils.parameters_to_vector(parameters).detach().numpy()
    best = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": iterations})
    torch.nn.utils.vector_to_parameters(torch.as_tensor(best.x), parameters)
    return HyperParameters(
        lengthscales=tuple(kernel.base_kernel.lengthscale.detach().reshape(-1).tolist()),
        variance=float(kernel.outputscale.detach()),
        noise=float(likelihood.noise.detach()),
        constant=float(model.mean_module.constant.detach()),
        offset=offset,
        scale=scale,
    )


def payoff_mean(parameters: HyperParameters, inputs: np.ndarray, values: np.ndarray) -> Mean:
    """The posterior mean of -Y through inputs (n, 5) and Y (n,)."""
    lengthscales = np.array(parameters.lengthscales)
    scaled = inputs / lengthscales
    gram = parameters.variance * Matern52.value(squared_distance(scaled, scaled))
    gram[np.diag_indices_from(gram)] += parameters.noise
    residual = (values - parameters.offset) / parameters.scale - parameters.constant
    weights = cho_solve(cho_factor(gram, lower=True, overwrite_a=True), residual)
    return Mean(
        names=tuple(NAMES),
        inputs=inputs,
        weights=weights,
        lengthscales=lengthscales,
        variance=parameters.variance,
        kernel=Matern52,
        constant=parameters.constant,
        offset=-parameters.offset,
        scale=-parameters.scale,
    )


def _held_out_error(
    parameters: HyperParameters, inputs: np.ndarray, values: np.ndarray, training: np.ndarray, held_out: np.ndarray
) -> float:
    mean = payoff_mean(parameters, inputs[training], values[training])
    return float(np.sqrt(np.mean((mean(inputs[held_out]) + values[held_out]) ** 2)))


def _dataset(candidates: Mapping[str, HyperParameters], inputs: np.ndarray, values: np.ndarray) -> xr.Dataset:
    means = [payoff_mean(parameters, inputs, values) for parameters in candidates.values()]
    units = ["1"] * len(NAMES)
    percent = "percent year-1"
    scalars: dict[str, tuple[Any, ...]] = {
        "kernel_variance": ([mean.variance for mean in means], *VARIANCE),
        "noise_variance": ([each.noise for each in candidates.values()], "noise variance on the standardised scale"),
        "constant": ([mean.constant for mean in means], "constant mean on the standardised scale"),
        "offset": ([mean.offset for mean in means], "payoff where the mean is 0", percent),
        "scale": ([mean.scale for mean in means], "payoff a unit of the mean", percent),
    }
    return xr.Dataset(
        {
            **input_variables(NAMES, units, inputs, BOUNDS),
            "published_y": variable("point", values, "Y as published: minus the return", percent),
            "payoff": variable("point", -values, "return", percent),
            "weights": variable(("fit", "point"), np.stack([mean.weights for mean in means]), *WEIGHTS),
            "lengthscales": variable(("fit", "input"), np.stack([mean.lengthscales for mean in means]), *LENGTHSCALES),
            **{name: variable("fit", *told) for name, told in scalars.items()},
        },
        coords={
            **input_coordinates(NAMES, units),
            "fit": variable("fit", list(candidates), "set of hyper-parameters"),
        },
    )
