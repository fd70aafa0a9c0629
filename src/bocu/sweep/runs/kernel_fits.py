"""The kernel of a problem on some 30 payoffs that no run meets: fitted, or how likely a stated one is there.

The payoffs are those of a seed of its own: uniform decisions and contexts, observed as a run would in round 1. A fit
is the most probable one under the priors of Huang et al. (2024), with the noise that algorithms reckon with: without
priors, 30 payoffs allow length-scales of any size in coordinates that matter little.
"""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.io.files import write_netcdf
from bocu.core.kernels import KernelName
from bocu.core.plain import Inputs, Plain
from bocu.core.randomness import Streams
from bocu.core.rounds import FiniteDomain
from bocu.learners.surrogates.continuous.fitting import (
    LogPosterior,
    Priors,
    best_hyperparameters,
    cholesky_with_solution,
)
from bocu.learners.surrogates.continuous.structure import product
from bocu.learners.surrogates.grid import GridPosterior, GridPrior
from bocu.problems.base import Problem, Realisation
from bocu.problems.candidates import OWN_KERNEL, kernel_source
from bocu.problems.finite import FiniteProblem
from bocu.problems.priors.statements import StatedPrior
from bocu.sweep.runs.seed_run import build_problem

POINTS = 30
SEED = 2026_07_31_000_017  #: Of the design; experiments count their seeds from small numbers.

FACTORS = (0.5, 1.0, 2.0)  #: Of the length-scales whose likelihood is told.
_LEAST_NOISE = 1e-3  #: In standard deviations of the payoffs; below, rounding decides.


@dataclass(frozen=True)
class KernelDesign:
    """Payoffs that a kernel is looked at on."""

    decisions: np.ndarray  #: coordinates, shape (n, Dx).
    contexts: np.ndarray  #: coordinates, shape (n, Dc).
    cells: np.ndarray  #: indices of the contexts, shape (n,).
    values: np.ndarray  #: observed payoffs, shape (n,).


def design_of(realisation: Realisation, streams: Streams) -> KernelDesign:
    """Observe uniform decisions in uniform contexts in round 1 of a realisation on a grid."""
    told = realisation.description
    assert isinstance(told.decisions, FiniteDomain)
    assert isinstance(told.contexts, FiniteDomain)
    chosen = Realisation.initial_design(realisation, streams["initial-design"], POINTS)
    values = [
        realisation.observe(decision, context, realisation.payoff_at(1, decision, context), streams["noise"])
        for decision, context in chosen
    ]
    rows, cells = np.array(chosen, dtype=np.int64).T
    return KernelDesign(told.decisions.points[rows], told.contexts.points[cells], cells, np.array(values, dtype=float))


def fit_kernel(specification: Plain, inputs: Inputs, output: str | os.PathLike[str]) -> None:
    """Fit the kernel of a problem on a grid that states none, and store it as fitted priors are.

    Args:
        specification: class and parameters of the problem.
        inputs: the files that it is built from, but for the fit's own.
        output: NetCDF file to write.

    Raises:
        BocuError: the problem cannot be built, or its payoffs do not vary.
    """
    import xarray as xr

    stated: dict[str, Any] = {**specification["parameters"], "candidates": [], "best": None}
    problem = build_problem({**specification, "parameters": stated}, inputs)
    assert isinstance(problem, FiniteProblem)
    streams = Streams(SEED)
    design = design_of(problem.realise(streams), streams)
    if not np.ptp(design.values) > 0.0:
        raise BocuError(f"lengthscale: found 'fitted', and {POINTS} payoffs that do not vary; state a number")
    noise = float(np.sqrt(np.mean(np.square(problem.model_noise))))
    found = most_probable(design, problem.parameters.kernel, noise)
    names = [*problem.decision_names, *problem.context_names]
    told: Mapping[str, tuple[tuple[str, ...], Any, str, str]] = {
        "lengthscale": (("input",), list(found.lengthscale), "length-scale of each coordinate, scaled to [0, 1]", "1"),
        "variance": ((), found.variance, "prior variance of the payoff", f"({problem.units})^2"),
        "mean": ((), found.mean, "prior mean of the payoff", problem.units),
        "rows": ((), POINTS, "payoffs that it was fitted to", "1"),
    }
    write_netcdf(
        xr.Dataset(
            {name: (dims, data, {"long_name": text, "units": unit}) for name, (dims, data, text, unit) in told.items()},
            {"input": ("input", names, {"long_name": "name of the coordinate", "units": "1"})},
            {"prior": found.label, "kernel": found.kernel},
        ),
        output,
    )


class _KnownNoise(LogPosterior):
    """The objective of a fit whose noise is known: a variance, of standardised payoffs."""

    noise = 1e-4

    def __call__(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = super().__call__(np.append(vector[:-1], math.log(self.noise)))
        gradient[-1] = 0.0
        return value, gradient


def most_probable(design: KernelDesign, kernel: KernelName, noise: float) -> StatedPrior:
    """Return the most probable kernel of a family where the noise has a known standard deviation."""
    inputs, centre, scale = np.hstack([design.decisions, design.contexts]), design.values.mean(), design.values.std()
    structure = product(design.decisions.shape[1], design.contexts.shape[1], kernel, kernel)
    outputs, priors = (design.values - centre) / scale, Priors()
    objective = _KnownNoise(structure, inputs, outputs, priors)
    objective.noise = max(noise / scale, _LEAST_NOISE) ** 2
    generator = np.random.default_rng(SEED)
    starts = [
        *priors.starts(structure.inputs, None, POINTS),
        *(priors.draw(structure.inputs, generator) for _ in "four"),
    ]
    found = best_hyperparameters(objective, starts)
    covariance = found.output_scale * structure.correlation(found.lengthscales, inputs, inputs)
    covariance.flat[:: len(covariance) + 1] += objective.noise
    _, solved, _ = cholesky_with_solution(covariance, np.stack([outputs, np.ones_like(outputs)], axis=1))
    mean = solved[:, 0].sum() / solved[:, 1].sum()  # generalised least squares, as the objective has it
    return StatedPrior(
        label=OWN_KERNEL,
        kernel=kernel,
        lengthscale=tuple(found.lengthscales.tolist()),
        variance=float(found.output_scale * scale**2),
        mean=float(centre + scale * mean),
    )


def kernel_told(problem: Problem) -> Plain:
    """Say which kernel algorithms with one model believe in, and how likely it makes the payoffs of the design.

    Returns:
        `source` (see `kernel_source`), `lengthscale` of each coordinate, decisions first, `points`, and under
        `log_likelihood` that at 0.5, 1 and 2 times the length-scales, in nats; empty where there is no such kernel.
    """
    source = kernel_source(problem.parameters)
    if not source:
        return {}
    streams = Streams(SEED)
    realisation = problem.realise(streams)
    model = realisation.description.model
    if model is None:  # none was fitted, since nobody who plays wants one
        return {}
    design = design_of(realisation, streams)
    scales = [*model.decision_kernel.lengthscale, *model.context_kernel.lengthscale]
    return {
        "source": source,
        "lengthscale": scales,
        "points": len(design.values),
        # Four digits: what lies beyond them differs between processors.
        "log_likelihood": [float(f"{_log_likelihood(model, design, factor):.4g}") for factor in FACTORS],
    }


def _log_likelihood(model: GridPrior, design: KernelDesign, factor: float) -> float:
    """Return the log density of the design, in nats, where the length-scales are `factor` times those of a model."""
    of_decisions, of_contexts = (
        type(kernel)(tuple(factor * scale for scale in kernel.lengthscale))
        for kernel in (model.decision_kernel, model.context_kernel)
    )
    noise = np.broadcast_to(model.noise_at(design.cells), design.cells.shape)
    posterior = GridPosterior(
        GridPrior(
            design.decisions, design.contexts, of_decisions, of_contexts, model.variance, np.array(noise), model.mean
        )
    )
    for place, value in enumerate(design.values):
        posterior.add(place, place, value)
    return posterior.log_evidence()
