"""Candidate priors on the grid or box of a problem: from their statements, and from files of those that were fitted."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.files import read_netcdf
from bocu.core.kernels import kernel_named
from bocu.core.rounds import BoxDomain
from bocu.learners.surrogates.box_time_varying import BoxPrior, ConstantMean, slope_tail_on_a_line
from bocu.learners.surrogates.grid import GridPrior
from bocu.problems.data.prepare import variable
from bocu.problems.priors.statements import Candidate, StatedPrior

if TYPE_CHECKING:
    import xarray as xr

KEPT = ("dataset", "record", "source", "simulated", "data_label", "title", "licence", "citation")
"""What the file of a fitted prior takes over from that of the data."""


def prior_dataset(
    label: str,
    variables: Mapping[str, tuple[Any, ...]],
    coordinates: Mapping[str, tuple[Any, ...]],
    told: Mapping[str, str],
    origin: Mapping[str, Any],
) -> "xr.Dataset":
    """Lay a fitted prior out as a file.

    Args:
        label: its name.
        variables: by name, each with dimensions, values, a name for people and, if not 1, units; as `variable` has it.
        coordinates: likewise.
        told: further attributes.
        origin: attributes of the data that it was fitted to.
    """
    import xarray as xr

    return xr.Dataset(
        {name: variable(*entry) for name, entry in variables.items()},
        {name: variable(*entry) for name, entry in coordinates.items()},
        {"prior": label, **told, **{key: origin[key] for key in KEPT if key in origin}},
    )


def grid_priors(
    candidates: Sequence[Candidate],
    files: Mapping[str, str],
    decisions: np.ndarray,
    contexts: np.ndarray,
    noise: float | np.ndarray,
) -> tuple[GridPrior, ...]:
    """Lay candidates out on a grid, in their order.

    Args:
        candidates: as stated.
        files: of those that were fitted, by label.
        decisions: shape (X, Dx).
        contexts: shape (C, Dc).
        noise: standard deviation of the observation noise that algorithms reckon with, in units of the payoff; one
            number, or shape (C,).

    Raises:
        BocuError: a file is unusable or is another candidate's, or a number is out of range.
    """
    dimensions = decisions.shape[1], contexts.shape[1]
    priors = []
    for candidate in candidates:
        stated = (
            candidate if isinstance(candidate, StatedPrior) else fitted_prior(candidate.label, files[candidate.label])
        )
        scales = lengthscales(stated, sum(dimensions))
        family = kernel_named(stated.kernel)
        kernels = family(scales[: dimensions[0]]), family(scales[dimensions[0] :])
        priors.append(
            GridPrior(decisions, contexts, *kernels, stated.variance, noise, stated.mean, label=candidate.label)
        )
    return tuple(priors)


def lengthscales(stated: StatedPrior, dimensions: int) -> tuple[float, ...]:
    """Return one length-scale for each coordinate.

    Raises:
        BocuError: as many are not stated.
    """
    if len(stated.lengthscale) not in (1, dimensions):
        found = f"found {len(stated.lengthscale)} length-scales"
        raise BocuError(f"prior '{stated.label}': {found}; allowed: 1, or {dimensions}, one a coordinate")
    return stated.lengthscale * dimensions if len(stated.lengthscale) == 1 else stated.lengthscale


def fitted_prior(label: str, path: str | os.PathLike[str]) -> StatedPrior:
    """Read a fitted candidate from its file.

    Raises:
        BrokenFileError: the file is another one's.
    """
    stored = read_netcdf(path)
    lacking = [name for name in ("lengthscale", "variance", "mean") if name not in stored.variables]
    if lacking or stored.attrs.get("prior") != label:
        raise BrokenFileError(path, f"not the fitted prior '{label}': {', '.join(lacking) or stored.attrs['prior']}")
    return StatedPrior(
        label=label,
        kernel=stored.attrs["kernel"],
        lengthscale=tuple(stored["lengthscale"].values.tolist()),
        variance=float(stored["variance"]),
        mean=float(stored["mean"]),
    )


def box_prior(stated: StatedPrior, box: BoxDomain, forgetting: float = 0.0) -> BoxPrior:
    """Return a candidate over a box, whose coordinates its length-scales are in units of.

    How steep payoffs are is known on a line alone; in more dimensions confidence bounds take a constant `sqrt_beta`.

    Args:
        stated: as an experiment file states it; of a fitted one, what `bocu.problems.priors.grids.fitted_prior` reads.
        box: the arms.
        forgetting: share of the payoff's variance that is new in every round.

    Raises:
        BocuError: there is not one length-scale for each coordinate.
    """
    kernel = kernel_named(stated.kernel)(lengthscales(stated, box.dimension))
    line = box.dimension == 1
    slope = slope_tail_on_a_line(kernel, stated.variance, float(box.upper[0] - box.lower[0])) if line else None
    return BoxPrior(stated.label, ConstantMean(stated.mean), kernel, stated.variance, forgetting, slope)
