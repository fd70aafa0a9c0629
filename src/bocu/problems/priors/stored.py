"""Reading fitted priors back, and telling which of them the data cannot tell apart."""

import os
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.files import read_netcdf
from bocu.learners.surrogates.time_varying import TimeVaryingPrior


def read_prior(path: str | os.PathLike[str], sensors: np.ndarray) -> TimeVaryingPrior:
    """Read a prior that `fit_prior` stored.

    Args:
        path: the file.
        sensors: numbers of the sensors that it has to be over, shape (sensors,).

    Raises:
        BocuError: the file is missing or corrupt, is no prior, or is over other sensors.
    """
    stored = read_netcdf(path)
    lacking = [name for name in ("sensor", "mean", "covariance", "forgetting") if name not in stored.variables]
    if lacking or "prior" not in stored.attrs:
        raise BocuError(f"{path}: not a fitted prior: no {', '.join(lacking) or 'attribute prior'}")
    if not np.array_equal(stored["sensor"].values, sensors):
        complete = f"the data have {len(sensors)} complete ones, not the same"
        raise BrokenFileError(path, f"prior over {stored['sensor'].size} sensors, {complete}")
    label, forgetting = str(stored.attrs["prior"]), float(stored["forgetting"])
    course = stored["course"].values if "course" in stored.variables else None
    return TimeVaryingPrior(label, stored["mean"].values, stored["covariance"].values, forgetting, course)


def differing_in_scale_only(priors: Sequence[TimeVaryingPrior], tolerance: float = 0.01) -> list[tuple[str, str]]:
    """Find pairs of priors whose kernels agree but for a factor.

    Elimination cannot tell such priors apart (Ziomek et al. 2025, section 6): a wider prior explains all that a
    narrower one does.

    Args:
        priors: candidates over the same arms.
        tolerance: up to which they count as the same: relative difference of the scaled covariances (Frobenius norm),
            difference of the forgetting rates, and difference of the means in prior standard deviations.

    Returns:
        Pairs of labels.
    """
    shapes = [prior.covariance / np.linalg.norm(prior.covariance) for prior in priors]
    return [
        (one.label, other.label)
        for (one, shape), (other, shape_of_other) in combinations(zip(priors, shapes, strict=True), 2)
        if abs(one.forgetting - other.forgetting) <= tolerance
        and np.linalg.norm(shape - shape_of_other) <= tolerance
        and _farthest(one, other) <= tolerance * np.sqrt(np.diag(one.covariance).max())
    ]


def _farthest(one: TimeVaryingPrior, other: TimeVaryingPrior) -> float:
    """Return the largest difference of two prior means, over all times at which they change."""
    times = max(1 if prior.course is None else len(prior.course) for prior in (one, other))
    return max(float(np.abs(one.mean_at(t) - other.mean_at(t)).max()) for t in range(1, times + 1))
