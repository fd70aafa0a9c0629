"""The rows of a data set that candidate priors over decisions and contexts are fitted to."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.io.files import read_netcdf
from bocu.core.parameters import nearest
from bocu.problems.priors.statements import Period, Scenario


@dataclass(frozen=True)
class TrainingRows:
    """What a prior is fitted to."""

    points: np.ndarray  #: coordinates, scaled to [0, 1], decisions first, shape (n, d).
    values: np.ndarray  #: payoffs, shape (n,).


VALUES = ("values", "payoff")  #: What the payoffs of runs are called in prepared files.


def prepared_rows(
    path: str | os.PathLike[str], inputs: Sequence[str], chosen: Scenario | Period | None
) -> TrainingRows:
    """Read the runs behind a prepared mean; where the file has none, the mean at the points that it is made of.

    Args:
        path: prepared plant, infection or portfolio data.
        inputs: names of the coordinates, decisions first.
        chosen: which rows; None: all.

    Raises:
        BocuError: the file is unusable, or has no such input, or its rows know no time.
    """
    from bocu.problems.data.means import load_mean

    prepared, mean = read_netcdf(path), load_mean(path)
    lower, upper = prepared["lower"].values, prepared["upper"].values
    scaled = (mean.inputs - lower) / (upper - lower)
    name = next((name for name in VALUES if name in prepared), None)
    values = mean(mean.inputs) if name is None else prepared[name].values
    return _chosen(path, scaled, values, mean.names, inputs, chosen)


def table_rows(path: str | os.PathLike[str], inputs: Sequence[str], chosen: Scenario | Period | None) -> TrainingRows:
    """Read every decision in every situation of a table that a simulator filled.

    Args:
        path: prepared by `bocu.problems.data.payoff_tables`.
        inputs: names of the coordinates, decisions first.
        chosen: which situations; None: all.

    Raises:
        BocuError: the file is unusable, or has no such input, or its rows know no time.
    """
    table = read_netcdf(path)
    known = [*str(table.attrs["decision_inputs"]).split(), *str(table.attrs["context_inputs"]).split()]
    decisions, situations = table["decisions"].values, table["features"].values
    points = np.concatenate(
        [np.repeat(decisions, len(situations), axis=0), np.tile(situations, (len(decisions), 1))], axis=1
    )
    return _chosen(path, points, table["payoff"].values.ravel(), known, inputs, chosen)


def _chosen(
    path: str | os.PathLike[str],
    points: np.ndarray,
    values: np.ndarray,
    known: Sequence[str],
    inputs: Sequence[str],
    chosen: Scenario | Period | None,
) -> TrainingRows:
    """Return the rows that are chosen, their coordinates `known` in the order of `inputs`."""
    if isinstance(chosen, Period):
        raise BocuError(f"{path}: rows of {chosen.period}: its rows have no time; take `scenarios`")
    for wanted in [*inputs, *([] if chosen is None else [chosen.input])]:
        if wanted not in known:
            raise BocuError(f"{path}: no input '{wanted}'; {nearest(wanted, known)}")
    kept = np.ones(len(values), dtype=bool)
    if chosen is not None:
        kept = shares(points[:, known.index(chosen.input)], chosen.of) == chosen.part - 1
    return TrainingRows(points[kept][:, [known.index(name) for name in inputs]], values[kept])


def shares(values: np.ndarray, count: int) -> np.ndarray:
    """Return which of `count` equally large shares each value is in, the lowest values in share 0, shape (n,)."""
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[np.argsort(values, kind="stable")] = np.arange(len(values))
    return ranks * count // len(values)
