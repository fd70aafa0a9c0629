"""What algorithms with candidate priors did with them: which they trusted, and when they rejected which, and why.

The errors of a prior are weighed against their bound (Ziomek et al. 2025).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf

if TYPE_CHECKING:
    import xarray as xr

REPORTED = ("chosen_prior", "rejected_prior", "predicted_mean", "confidence_width", "error_sum", "error_limit")
"""What an algorithm reports that rejects priors by their errors."""


def trusted_shares(chosen: np.ndarray, priors: int) -> np.ndarray:
    """Count how often each prior was trusted.

    Args:
        chosen: indices of priors, negative where none was, shape (seeds, iterations).
        priors: number of candidate priors.

    Returns:
        Shares of the rounds with a choice, shape (seeds, priors); seeds without any are left out.
    """
    counts = (chosen[:, :, None] == np.arange(priors)).sum(axis=1)
    total = counts.sum(axis=1, keepdims=True)
    return counts[total[:, 0] > 0] / total[total[:, 0] > 0]


def first_rounds(iterations: np.ndarray, happened: np.ndarray) -> np.ndarray:
    """Return the first round in which something happened, shape (seeds, ...); not a number: in none.

    Args:
        iterations: rounds, shape (iterations,).
        happened: truth values, shape (seeds, iterations, ...).
    """
    first = iterations[happened.argmax(axis=1)].astype(float)
    return np.where(happened.any(axis=1), first, np.nan)


def rejection_rounds(iterations: np.ndarray, active: np.ndarray, rejected: np.ndarray | None) -> np.ndarray:
    """Return the round in which each prior was first rejected, shape (seeds, priors); not a number: in none.

    Args:
        iterations: rounds, shape (iterations,).
        active: 0 where a prior is no candidate, shape (seeds, iterations, priors).
        rejected: index of the prior that was rejected, negative where none was, shape (seeds, iterations), or None.
    """
    gone = active == 0
    if rejected is not None:
        # A prior whose rejection emptied the list is a candidate again at the end of the same round.
        gone = gone | (rejected[:, :, None] == np.arange(gone.shape[2]))
    return first_rounds(iterations, gone)


@dataclass(frozen=True)
class Moment:
    """A round of a run in which the errors of the chosen prior were weighed."""

    file: Path  #: the run file.
    # seed, round, prior: where to look; `prior` is an index.
    seed: int
    round: int
    prior: int
    rejected: bool  #: whether the prior was rejected there.
    clarity: float  #: distance of the observation from the prediction, in half-widths of the confidence interval.
    strain: float  #: the sum of errors as a share of its bound.


def weighed(files: Sequence[Path]) -> Iterator[Moment]:
    """Return every round of run files in which errors were weighed.

    Raises:
        BocuError: a run does not report them.
    """
    for file in files:
        runs = read_netcdf(file)
        missing = [name for name in REPORTED if name not in runs]
        if missing:
            raise BocuError(f"{file}: no variable '{missing[0]}': the algorithm does not reject priors by their errors")
        prior, rejected = runs["chosen_prior"].values, runs["rejected_prior"].values
        gap = np.abs(runs["observation"].values - runs["predicted_mean"].values)
        with np.errstate(divide="ignore", invalid="ignore"):
            clarity = gap / runs["confidence_width"].values
            strain = np.abs(runs["error_sum"].values) / runs["error_limit"].values
        for row, column in np.argwhere((prior >= 0) & np.isfinite(strain)):
            here = int(prior[row, column])
            seed, round_ = int(runs["seed"].values[row]), int(runs["iteration"].values[column])
            gone = bool(rejected[row, column] == here)
            yield Moment(file, seed, round_, here, gone, float(clarity[row, column]), float(strain[row, column]))


def account(run: "xr.Dataset", prior: int, until: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the account of a prior up to a round: rounds of its plays, absolute error sums and bounds, (plays,) each.

    It begins anew where all priors were rejected and taken back.
    """
    rounds = run["iteration"].values
    start = 0
    if "all_rejected" in run:
        resets = rounds[(run["all_rejected"].values == 1) & (rounds < until)]
        start = int(resets[-1]) if len(resets) else 0
    plays = (run["chosen_prior"].values == prior) & (rounds <= until) & (rounds > start)
    return rounds[plays], np.abs(run["error_sum"].values[plays]), run["error_limit"].values[plays]
