"""Fitting a candidate prior over decisions and contexts to rows of data, by GPyTorch.

What is maximised is the log marginal likelihood of the rows (Rasmussen and Williams 2006, Eq. 2.30) over constant mean,
variance, length-scales and noise, exactly, in double precision on one thread. The likelihood has several maxima: some
explain the rows by short length-scales and some by noise. So the ascent, by L-BFGS-B on logarithms within wide bounds,
starts from both sides and from draws of a fixed seed, and the highest maximum is kept.
"""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf, write_netcdf
from bocu.core.kernels import KernelName
from bocu.core.loading import load
from bocu.core.parameters import Parameters, Positive, validate
from bocu.problems.priors.grids import prior_dataset
from bocu.problems.priors.observations import TrainingRows
from bocu.problems.priors.statements import Period, Scenario

if TYPE_CHECKING:
    import xarray as xr

FEWEST_ROWS = 5
SEED = 20250  # of the choice of rows and of the starts, so that a fit is the same every time

#: Bounds, of standardised values: length-scales in units of the domain, variance, and noise variance.
LENGTHSCALES, VARIANCES, NOISES = (1e-2, 1e2), (1e-3, 1e3), (1e-8, 1e1)

#: What the first two starts are: length-scale and noise variance. Restless and quiet; smooth and noisy.
RESTLESS, SMOOTH = (0.1, 1e-4), (1.0, 0.5)


class KernelFit(Parameters):
    """How one candidate is fitted, as its job is told."""

    label: str = Field(description="name of the prior")
    kernel: KernelName = Field(description="family of the kernel")
    ard: bool = Field(description="whether every coordinate, but for time, has its length-scale")
    noise: Positive | None = Field(description="standard deviation of the rows' noise, payoff units; null: fitted")
    points: int = Field(description="most rows that are fitted to")
    starts: int = Field(description="number of starts")


class PriorFit(KernelFit):
    """What one candidate is fitted to."""

    read: str = Field(description="what reads the rows, as module:function")
    inputs: tuple[str, ...] = Field(description="names of the coordinates, decisions first")
    rows: Scenario | Period | None = Field(description="which rows; null: all")


@dataclass(frozen=True)
class Maximum:
    """A maximum of the marginal likelihood, in the units of the rows."""

    lengthscales: np.ndarray  #: shape (d,).
    variance: float  #: of the payoff, in its squared units.
    mean: float  #: of the payoff, in its units.
    noise: float  #: standard deviation of the noise, in units of the payoff.
    log_likelihood: float  #: its height: log density of the values, in nats.
    heights: np.ndarray  #: those that the starts led to, shape (starts,).
    at_bound: bool  #: whether a parameter is at a bound of the search.


def fit_prior(specification: Mapping[str, object], inputs: Mapping[str, str], output: str | os.PathLike[str]) -> None:
    """Fit one candidate prior and store it with its evidence.

    Args:
        specification: the fields of `PriorFit`, as plain data.
        inputs: "data" -> the prepared file.
        output: NetCDF file to write.

    Raises:
        BocuError: a field is wrong, the prepared file is unusable, or there are too few rows or they do not vary.
    """
    settings = validate(PriorFit, specification, "prior specification: ")
    rows: TrainingRows = load(settings.read)(inputs["data"], settings.inputs, settings.rows)
    where = f"{inputs['data']}: prior '{settings.label}'"
    if len(rows.values) < FEWEST_ROWS:
        raise BocuError(f"{where}: found {len(rows.values)} rows to fit to; allowed: {FEWEST_ROWS} or more")
    chosen = thinned(rows, settings.points)
    if not np.ptp(chosen.values) > 0.0:
        raise BocuError(f"{where}: the payoffs do not vary; no kernel can be fitted")
    found = best_maximum(chosen, settings.kernel, ard=settings.ard, noise=settings.noise, starts=settings.starts)
    write_netcdf(_dataset(settings, found, len(chosen.values), read_netcdf(inputs["data"]).attrs), output)


def thinned(rows: TrainingRows, most: int) -> TrainingRows:
    """Return at most so many of the rows, chosen at random with a fixed seed, in their order."""
    if len(rows.values) <= most:
        return rows
    chosen = np.sort(np.random.default_rng(SEED).choice(len(rows.values), most, replace=False))
    return TrainingRows(rows.points[chosen], rows.values[chosen])


def best_maximum(
    rows: TrainingRows,
    kernel: str,
    *,
    ard: bool = True,
    noise: float | None = None,
    starts: int = 6,
    timed: bool = False,
) -> Maximum:
    """Find the highest maximum of the marginal likelihood that several starts lead to.

    Args:
        rows: to fit to.
        kernel: its family, by the name that experiment files use.
        ard: whether every coordinate has its length-scale.
        noise: standard deviation of the noise, in units of the payoff; None: fitted too.
        starts: their number.
        timed: whether the last coordinate is time, over which the kernel is an exponential one of its own length-scale.
    """
    import torch
    from scipy.optimize import minimize

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        offset, scale = float(rows.values.mean()), float(rows.values.std())
        known = None if noise is None else (noise / scale) ** 2
        objective = _Likelihood(rows.points, (rows.values - offset) / scale, kernel, ard, known, timed)
        ends = [
            minimize(objective, start, jac=True, method="L-BFGS-B", bounds=objective.bounds, options={"maxiter": 500})
            for start in objective.starts(starts)
        ]
    finally:
        torch.set_num_threads(threads)
    best = min(ends, key=lambda end: float(end.fun))
    lengthscales, variance, mean, noise_variance = objective.natural(best.x)
    lower, upper = np.array(objective.bounds).T
    # Of standardised values v the density is that of the payoffs times scale^n.
    heights = -np.array([float(end.fun) for end in ends]) - len(rows.values) * math.log(scale)
    return Maximum(
        lengthscales=lengthscales,
        variance=variance * scale**2,
        mean=offset + scale * mean,
        noise=scale * math.sqrt(noise_variance),
        log_likelihood=float(heights.max()),
        heights=heights,
        at_bound=bool(np.any((best.x <= lower + 1e-9) | (best.x >= upper - 1e-9))),
    )


class _Likelihood:
    """Minus the log marginal likelihood of standardised values and its gradient, by GPyTorch.

    The vector is the logarithms of length-scales, variance and, unless it is known, noise variance, then the mean.

    Attributes:
        bounds: of every number of the vector.
    """

    def __init__(
        self, points: np.ndarray, values: np.ndarray, kernel: str, ard: bool, noise: float | None, timed: bool
    ) -> None:
        import gpytorch
        import torch

        positive = gpytorch.constraints.Positive(transform=torch.exp, inv_transform=torch.log)
        coordinates = points.shape[1] - timed
        #: By the coordinates of the points: which length-scale of the vector is theirs.
        self._scale_of = [*(range(coordinates) if ard else [0] * coordinates), *([coordinates if ard else 1] * timed)]
        self._dimensions = self._scale_of[-1] + 1
        self._noise = noise
        self._points = torch.as_tensor(np.ascontiguousarray(points), dtype=torch.float64)
        self._values = torch.as_tensor(values, dtype=torch.float64)
        shared = {
            "ard_num_dims": coordinates if ard else None,
            "lengthscale_constraint": positive,
            "active_dims": tuple(range(coordinates)),
        }
        family = {
            "squared-exponential": lambda: gpytorch.kernels.RBFKernel(**shared),
            "matern-5/2": lambda: gpytorch.kernels.MaternKernel(nu=2.5, **shared),
        }[kernel]()
        likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=positive)
        parts = [family]
        if timed:
            parts.append(
                gpytorch.kernels.MaternKernel(nu=0.5, lengthscale_constraint=positive, active_dims=(coordinates,))
            )
        product = gpytorch.kernels.ProductKernel(*parts) if timed else family
        scaled = gpytorch.kernels.ScaleKernel(product, outputscale_constraint=positive)
        self._model = _exact_model(self._points, self._values, likelihood, scaled).double()
        self._marginal = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, self._model)
        self._settings = gpytorch.settings.fast_computations
        if noise is not None:
            self._model.likelihood.noise = noise
            likelihood.requires_grad_(False)
        self._free = [
            *(part.raw_lengthscale for part in parts),
            scaled.raw_outputscale,
            *([] if noise is not None else [likelihood.noise_covar.raw_noise]),
            self._model.mean_module.raw_constant,
        ]
        logarithms = [LENGTHSCALES] * self._dimensions + [VARIANCES] + ([] if noise is not None else [NOISES])
        self.bounds = [(math.log(low), math.log(high)) for low, high in logarithms] + [(-10.0, 10.0)]

    def starts(self, count: int) -> list[np.ndarray]:
        """Return vectors to start from: both sides of the trade between noise and length-scale, then draws."""
        generator = np.random.default_rng(SEED)
        found = [self._start(*side) for side in (RESTLESS, SMOOTH)]
        while len(found) < count:
            lengthscales = np.exp(generator.uniform(math.log(0.05), math.log(5.0), self._dimensions))
            found.append(self._start(lengthscales, math.exp(generator.uniform(math.log(1e-6), 0.0))))
        return found[:count]

    def natural(self, vector: np.ndarray) -> tuple[np.ndarray, float, float, float]:
        """Return length-scales by coordinate, variance, mean and noise variance, on the standardised scale."""
        size = self._dimensions
        noise = float(np.exp(vector[size + 1])) if self._noise is None else self._noise
        return np.exp(vector[self._scale_of]), float(np.exp(vector[size])), float(vector[-1]), noise

    def __call__(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        import torch

        torch.nn.utils.vector_to_parameters(torch.as_tensor(vector, dtype=torch.float64), self._free)
        self._model.zero_grad()
        # Cholesky throughout: the library's iterative solvers are neither exact nor the same every time.
        with self._settings(covar_root_decomposition=False, log_prob=False, solves=False):
            height = self._marginal(self._model(self._points), self._values) * len(self._values)
        height.backward()
        gradient = torch.cat([parameter.grad.reshape(-1) for parameter in self._free])
        return -float(height.detach()), -gradient.numpy()

    def _start(self, lengthscale: Any, noise: float) -> np.ndarray:
        logarithms = [*np.log(np.broadcast_to(lengthscale, self._dimensions)), 0.0]
        return np.array([*logarithms, *([] if self._noise is not None else [math.log(noise)]), 0.0])


def _exact_model(points: Any, values: Any, likelihood: Any, kernel: Any) -> Any:
    """Return GPyTorch's exact Gaussian process of constant mean, which has to be a class of its own."""
    import gpytorch

    class ExactModel(gpytorch.models.ExactGP):
        def __init__(self) -> None:
            super().__init__(points, values, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = kernel

        def forward(self, inputs: Any) -> Any:
            return gpytorch.distributions.MultivariateNormal(self.mean_module(inputs), self.covar_module(inputs))

    return ExactModel()


def _dataset(settings: PriorFit, found: Maximum, rows: int, origin: Mapping[str, object]) -> "xr.Dataset":
    payoff = str(origin.get("output_units", "1"))
    free = (len(found.lengthscales) if settings.ard else 1) + 2 + (settings.noise is None)
    return prior_dataset(
        settings.label,
        {
            "lengthscale": ("input", found.lengthscales, "length-scale of each coordinate, scaled to [0, 1]"),
            "variance": ((), found.variance, "prior variance of the payoff", f"({payoff})^2"),
            "mean": ((), found.mean, "prior mean of the payoff", payoff),
            "noise": ((), found.noise, "standard deviation of the noise of the rows", payoff),
            "log_likelihood": ((), found.log_likelihood, "evidence: log marginal likelihood of the rows", "nat"),
            "log_likelihood_of_starts": (
                "start",
                found.heights,
                "log marginal likelihood that each start led to",
                "nat",
            ),
            "rows": ((), rows, "rows that it was fitted to"),
            "fitted_parameters": ((), free, "parameters that were fitted"),
            "at_bound": ((), np.int8(found.at_bound), "whether a parameter is at a bound of the search"),
        },
        {
            "input": ("input", list(settings.inputs), "name of the coordinate"),
            "start": ("start", np.arange(settings.starts), "start of the fit"),
        },
        {"kernel": settings.kernel, "statement": settings.model_dump_json()},
        origin,
    )
