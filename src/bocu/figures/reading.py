"""What figures and tables ask of a cube, in one place: which seeds count, what things are called, in which unit."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core.about import read_look
from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.loading import refuse_unknown_classes
from bocu.core.parameters import nearest
from bocu.experiment.branches import NO_OBJECTIVE
from bocu.figures import style
from bocu.io.files import read_netcdf
from bocu.io.provenance import refuse_other_schema
from bocu.runs.status import DONE, MISSING

if TYPE_CHECKING:
    import xarray as xr

REGRET, RECOMMENDED_REGRET, PAYOFF = "regret", "recommended_regret", "payoff"
HYPERVOLUME_SHARE = "hypervolume_share"


@dataclass(frozen=True)
class CubeBranch:
    """The runs of one algorithm, pursuing one objective ("any": none)."""

    objective: str
    algorithm: str

    @property
    def label(self) -> str:
        """The algorithm's label, with the objective's where it pursues one."""
        return self.algorithm if self.objective == NO_OBJECTIVE else f"{self.algorithm} ({self.objective})"


class Cube:
    """The results of one problem.

    Attributes:
        path: its file.
        data: the data set.
        names: algorithm label -> registered name.
        titles: algorithm label -> what is written for it.
        looks: algorithm label -> how it is drawn.
        yardsticks: labels of algorithms that know what the others have to learn: shown beside them, never called the
            best.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.data: xr.Dataset = read_netcdf(path)
        refuse_other_schema(path, self.data.attrs)
        for variable in ("regret", "status", "algorithm_title", "algorithm_look", "algorithm_yardstick"):
            if variable not in self.data.variables:
                raise BrokenFileError(path, f"no variable '{variable}'")
        labels = [str(label) for label in self.data["algorithm"].values]

        def told(variable: str) -> dict[str, str]:
            return dict(zip(labels, map(str, self.data[variable].values), strict=True))

        self.names, self.titles = told("algorithm_name"), told("algorithm_title")
        self.looks = {label: style.stroke(read_look(look)) for label, look in told("algorithm_look").items()}
        self.yardsticks = frozenset(label for label, found in told("algorithm_yardstick").items() if found == "yes")

    @property
    def problem(self) -> str:
        """Label of the problem."""
        return str(self.data.attrs["problem_label"])

    @property
    def title(self) -> str:
        """Title of the problem."""
        return str(self.data.attrs["title"])

    @property
    def units(self) -> str:
        """Unit of the payoff."""
        return str(self.data.attrs["payoff_units"])

    @property
    def data_label(self) -> str:
        """What the data are where they are not measured; empty otherwise."""
        return str(self.data.attrs["data_label"])

    @property
    def iterations(self) -> np.ndarray:
        """The rounds, those of the initial design first: 0 and below."""
        return self.data["iteration"].values

    @property
    def metrics(self) -> list[str]:
        """Labels of the metrics."""
        return [str(label) for label in self.data["metric"].values]

    @property
    def seeds(self) -> list[int]:
        """The seeds."""
        return [int(seed) for seed in self.data["seed"].values]

    @property
    def outputs(self) -> int:
        """Payoffs that are observed at once."""
        return int(self.data.sizes.get("output", 1))

    @property
    def priors(self) -> list[str]:
        """Labels of the candidate priors; none where the problem has none."""
        return [str(label) for label in self.data["prior"].values] if "prior" in self.data.coords else []

    @property
    def best_prior(self) -> int | None:
        """Position of the best prior, where the problem knows it."""
        label = self.data.attrs.get("best_prior", "")
        return self.priors.index(label) if label in self.priors else None

    def branches(self, algorithms: Sequence[str] | None = None) -> list[CubeBranch]:
        """Return the branches that the experiment defines, in its order, of all or some algorithms.

        Raises:
            BocuError: an algorithm is not in the cube.
        """
        for label in algorithms or ():
            if label not in self.names:
                raise BocuError(f"{self.path}: no algorithm '{label}'; {nearest(label, self.names)}")
        status = self.data["status"].transpose("objective", "algorithm", "seed").values
        return [
            CubeBranch(str(objective), label)
            for i, objective in enumerate(self.data["objective"].values)
            for j, label in enumerate(self.names)
            if np.isin(status[i, j], (MISSING, DONE)).any() and (algorithms is None or label in algorithms)
        ]

    def objectives(self) -> list[str]:
        """Return the objectives that some algorithm pursues, or only "any" where none pursues one."""
        pursued = [branch.objective for branch in self.branches()]
        return list(dict.fromkeys(o for o in pursued if o != NO_OBJECTIVE)) or [NO_OBJECTIVE]

    def status(self, branch: CubeBranch) -> np.ndarray:
        """Return the status of every seed, shape (seeds,)."""
        return self.data["status"].sel(objective=branch.objective, algorithm=branch.algorithm).values

    def values(self, variable: str, branch: CubeBranch, metric: str | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return a variable of the finished seeds of a branch.

        Returns:
            The values, shape (finished seeds, iterations, ...), and those seeds.
        """
        chosen = self.data[variable].sel(objective=branch.objective, algorithm=branch.algorithm)
        if metric is not None:
            chosen = chosen.sel(metric=metric)
        done = self.status(branch) == DONE
        return chosen.transpose("seed", "iteration", ...).values[done], self.data["seed"].values[done]

    def regret(self, branch: CubeBranch, metric: str, variable: str = REGRET) -> tuple[np.ndarray, np.ndarray]:
        """Return the instantaneous regret in units of the payoff, shape (seeds, iterations), and the seeds.

        Seeds that are not finished, or that the metric does not score in every round from 1 on, are left out.
        `variable` may also be RECOMMENDED_REGRET, which is there where algorithms recommend something.
        """
        if variable not in self.data:
            return np.empty((0, len(self.iterations))), np.empty(0, dtype=int)
        values, seeds = self.values(variable, branch, metric)
        whole = ~np.isnan(values[:, self.iterations >= 1]).any(axis=1)
        return values[whole], seeds[whole]

    def hypervolume_share(self, branch: CubeBranch, metric: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the share of the best front's hypervolume after each round, shape (seeds, rounds), and the seeds.

        Seeds that are not finished, or where the best front guarantees nothing finite, are left out; there are none
        where payoffs have one output.
        """
        started = self.iterations >= 1
        if HYPERVOLUME_SHARE not in self.data:
            return np.empty((0, started.sum())), np.empty(0, dtype=int)
        values, seeds = self.values(HYPERVOLUME_SHARE, branch, metric)
        known = ~np.isnan(values).any(axis=1)
        return values[known][:, started], seeds[known]

    def payoff(self, branch: CubeBranch) -> tuple[np.ndarray, np.ndarray]:
        """Return the noise-free payoff in the context met, shape (seeds, iterations), and the finished seeds.

        Empty where payoffs have several outputs, which only run files keep.
        """
        if PAYOFF not in self.data:
            return np.empty((0, len(self.iterations))), np.empty(0, dtype=int)
        return self.values(PAYOFF, branch)

    def reports(self, variable: str, branch: CubeBranch) -> bool:
        """Say whether the algorithm reports `variable` of itself: whether one finished run holds no fill value."""
        if variable not in self.data:
            return False
        values, _ = self.values(variable, branch)
        return bool((np.isfinite(values) if values.dtype.kind == "f" else values >= 0).any())

    def attribute(self, name: str) -> Any:
        """Return an attribute that is kept as JSON.

        Raises:
            BocuError: it is missing or is no JSON.
        """
        try:
            return json.loads(self.data.attrs[name])
        except (KeyError, TypeError, ValueError):
            raise BrokenFileError(self.path, f"attribute '{name}' is missing or no JSON") from None

    def problem_specification(self) -> dict[str, Any]:
        """Return the specification of the problem, from which it can be built again.

        Raises:
            BocuError: it is missing, or asks for a class that is not registered.
        """
        recorded: dict[str, Any] = self.attribute("specification")["problem"]
        refuse_unknown_classes(recorded, str(self.path))
        return recorded

    def metric(self, wanted: str | None) -> str:
        """Return the metric that is wanted, or the first.

        Raises:
            BocuError: the cube has no such metric.
        """
        if wanted is None:
            return self.metrics[0]
        if wanted not in self.metrics:
            raise BocuError(f"{self.path}: no metric '{wanted}'; {nearest(wanted, self.metrics)}")
        return wanted


def with_unit(quantity: str, units: str) -> str:
    """Write a quantity with its unit for an axis; pure numbers have none."""
    unit = shown_unit(units)
    return f"{quantity} [{unit}]" if unit else quantity


SHOWN_UNITS = {"1": "", "degree_Celsius": "°C", "degree_C": "°C", "percent": "%", "percent year-1": "%/year"}


def shown_unit(units: str) -> str:
    """Write a unit as people read it; pure numbers have none."""
    return SHOWN_UNITS.get(units, units)


def counted(number: int, noun: str) -> str:
    """Write a number with its noun: "1 seed", "30 seeds"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def spoken(items: Sequence[str]) -> str:
    """Write a list as people do: "a", "a and b", "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def shared_data_label(cubes: Sequence[Cube]) -> str:
    """Return the label of data that are not measured, with its problems where not all share it; empty: none."""
    labelled = [cube for cube in cubes if cube.data_label]
    if not labelled or len(labelled) == len(cubes):
        return labelled[0].data_label if labelled else ""
    return f"{labelled[0].data_label}: {spoken([cube.problem for cube in labelled])}"


def reference_label(figure: str, wanted: str | None, names: Mapping[str, str]) -> str:
    """Return the label of the algorithm that others are compared with: the one wanted, else 'random', else the first.

    Args:
        figure: name of the figure that asks.
        wanted: label in the figure's parameters.
        names: label -> registered name of all algorithms.

    Raises:
        BocuError: no algorithm has the label.
    """
    if wanted is None:
        return next((label for label, name in names.items() if name == "random"), next(iter(names)))
    if wanted not in names:
        raise BocuError(f"{figure}: reference: no algorithm '{wanted}'; {nearest(wanted, names)}")
    return wanted


def seed_counts(counts: Mapping[str, int]) -> str:
    """Say how many seeds stand behind every title, in few words where they agree."""
    numbers = set(counts.values())
    if len(numbers) == 1:
        return counted(numbers.pop(), "seed")
    return "seeds: " + ", ".join(f"{title} {number}" for title, number in counts.items())
