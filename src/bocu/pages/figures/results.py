"""What figures and tables ask of the results of a problem, whether they stand in a cube or in its digest."""

import functools
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bocu.core import style
from bocu.core.about import read_look
from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.files import reading, regular_file
from bocu.core.io.provenance import refuse_other_schema
from bocu.core.loading import refuse_unknown_classes
from bocu.core.parameters import nearest
from bocu.sweep.evaluation.cubes import swept_entries
from bocu.sweep.evaluation.curves import Kind, MeanCurve, Traces
from bocu.sweep.experiment.branches import NO_OBJECTIVE
from bocu.sweep.experiment.titles import value_in_words
from bocu.sweep.runs.status import DONE, MISSING

_TOLD = ("name", "title", "look", "yardstick")


@dataclass(frozen=True)
class CubeBranch:
    """The runs of one algorithm, pursuing one objective ("any": none)."""

    objective: str
    algorithm: str


class Results(ABC):
    """The results of one problem.

    Attributes:
        path: its file.
        data: the data set; arrays are read when they are used.
        names: algorithm label -> registered name.
        titles: algorithm label -> what is written for it.
        objective_titles, metric_titles: likewise of objectives and metrics.
        looks: algorithm label -> how it is drawn.
        yardsticks: labels of algorithms that know what the others have to learn: shown beside them, never called the
            best.
    """

    #: Variables that have to be there.
    needed: tuple[str, ...] = ("status", "algorithm_title", "algorithm_look", "algorithm_yardstick")

    def __init__(self, path: str | Path) -> None:
        import xarray as xr

        self.path = path
        regular_file(path)
        with reading(path):
            self.data: xr.Dataset = xr.open_dataset(
                path, engine="netcdf4", cache=False, decode_times=False, decode_coords=False, mask_and_scale=False
            )
        refuse_other_schema(path, self.data.attrs)
        for variable in self.needed:
            if variable not in self.data.variables:
                raise BrokenFileError(path, f"no variable '{variable}'")
        with reading(path):
            labels = [str(label) for label in self.data["algorithm"].values]
            self._seeds: np.ndarray = self.data["seed"].values
            self._iterations: np.ndarray = self.data["iteration"].values
            self._status: np.ndarray = self.data["status"].transpose("objective", "algorithm", "seed").values
            told = {key: [str(text) for text in self.data[f"algorithm_{key}"].values] for key in _TOLD}
            objectives = [str(objective) for objective in self.data["objective"].values]
            self.objective_titles, self.metric_titles = (self._titles(dim) for dim in ("objective", "metric"))
        self.names = dict(zip(labels, told["name"], strict=True))
        self.titles = dict(zip(labels, told["title"], strict=True))
        self.looks = {label: style.stroke(read_look(look)) for label, look in zip(labels, told["look"], strict=True)}
        self.yardsticks = frozenset(
            label for label, found in zip(labels, told["yardstick"], strict=True) if found == "yes"
        )
        self._places = {
            CubeBranch(objective, label): (i, j)
            for i, objective in enumerate(objectives)
            for j, label in enumerate(labels)
            if np.isin(self._status[i, j], (MISSING, DONE)).any()
        }

    def _titles(self, dim: str) -> dict[str, str]:
        labels = [str(label) for label in self.data[dim].values]
        name = f"{dim}_title"
        # What was gathered before there were titles has labels alone.
        titles = [str(title) for title in self.data[name].values] if name in self.data.variables else labels
        return dict(zip(labels, titles, strict=True))

    @functools.cached_property
    def problem(self) -> str:
        """Label of the problem."""
        return str(self.data.attrs["problem_label"])

    @property
    def title(self) -> str:
        """Title of the problem, with what a sweep sets: "Ten hills, noise 0.05"."""
        return ", ".join([str(self.data.attrs["title"]), *self._swept[1]])

    @property
    def called(self) -> str:
        """Label of the problem as people read it: a sweep's with its values, "hills, noise 0.05"."""
        base, values = self._swept
        label = str(self.data.attrs["problem_label"])
        return ", ".join([self.problem.removesuffix(label) + base, *values])

    @functools.cached_property
    def _swept(self) -> tuple[str, list[str]]:
        """The problem's label in the file, and what a sweep sets of it, in words."""
        label = str(self.data.attrs["problem_label"])
        made = swept_entries(self.data.attrs).get("problem", {}).get(label, {"base": label, "at": {}})
        return made["base"], [f"{axis} {value_in_words(value)}" for axis, value in made["at"].items()]

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
        return self._iterations

    @functools.cached_property
    def metrics(self) -> list[str]:
        """Labels of the metrics."""
        return [str(label) for label in self.data["metric"].values]

    @property
    def seeds(self) -> list[int]:
        """The seeds."""
        return [int(seed) for seed in self._seeds]

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

    def branches(
        self, algorithms: Sequence[str] | None = None, pursuing: Sequence[str] | None = None
    ) -> list[CubeBranch]:
        """Return the branches that the experiment defines, in its order.

        Args:
            algorithms: labels of the algorithms; all, if left out.
            pursuing: labels of the objectives whose runs are wanted, beside those that pursue none; all, if left out.

        Raises:
            BocuError: an algorithm is not in the cube.
        """
        for label in algorithms or ():
            if label not in self.names:
                raise BocuError(f"{self.path}: no algorithm '{label}'; {nearest(label, self.names)}")
        return [
            branch
            for branch in self._places
            if (algorithms is None or branch.algorithm in algorithms)
            and (pursuing is None or branch.objective in (NO_OBJECTIVE, *pursuing))
        ]

    def looks_apart(
        self, algorithms: Sequence[str] | None = None, titles: Mapping[str, str] | None = None
    ) -> dict[str, style.Stroke]:
        """Return the looks of all or some algorithms in one picture by title, no two of one colour, if enough are.

        Args:
            algorithms: their labels.
            titles: what is written for some, by label, if not their usual titles.
        """
        written = {**self.titles, **(titles or {})}
        shown = dict.fromkeys(branch.algorithm for branch in self.branches(algorithms))
        return style.apart({written[label]: self.looks[label] for label in shown})

    def objectives(self) -> list[str]:
        """Return the objectives that some algorithm pursues, or only "any" where none pursues one."""
        pursued = [branch.objective for branch in self.branches()]
        return list(dict.fromkeys(o for o in pursued if o != NO_OBJECTIVE)) or [NO_OBJECTIVE]

    def written(self, branch: CubeBranch) -> str:
        """Return what is written for a branch: the algorithm's title, with the objective's where it pursues one."""
        title = self.titles[branch.algorithm]
        return title if branch.objective == NO_OBJECTIVE else f"{title}, {self.objective_titles[branch.objective]}"

    def status(self, branch: CubeBranch) -> np.ndarray:
        """Return the status of every seed, shape (seeds,)."""
        found: np.ndarray = self._status[self._places[branch]]
        return found

    # What was found, of seeds that are finished

    @abstractmethod
    def totals(self, branch: CubeBranch, metric: str) -> tuple[np.ndarray, np.ndarray]:
        """Return regret summed from round 1 to the last, and the seeds, both of shape (seeds,).

        Seeds that are not finished, or that the metric does not score in every round from 1 on, are left out.
        """

    @abstractmethod
    def growth(self, branch: CubeBranch, metric: str) -> np.ndarray:
        """Return the exponents by which cumulative regret grows at last, shape (seeds,); not a number: without one."""

    @abstractmethod
    def final_shares(self, branch: CubeBranch, metric: str) -> np.ndarray:
        """Return the share of the best front's hypervolume that is guaranteed at the end, shape (seeds,)."""

    @abstractmethod
    def curve(
        self, branch: CubeBranch, metric: str, kind: Kind, smooth: int = 1, from_initial: bool = False
    ) -> MeanCurve | None:
        """Return the curve of a branch; None where no seed is finished, or nothing of the kind is there.

        Args:
            branch: the branch.
            metric: label of the metric; payoffs have none.
            kind: what is drawn of regret or payoff.
            smooth: of instantaneous regret, how many rounds make one point.
            from_initial: keep the initial design and count evaluations.
        """

    @abstractmethod
    def traces(self, branch: CubeBranch, metric: str, kind: Kind) -> Traces | None:
        """Return the curve of each finished seed, thinned; None where there is none.

        Args:
            branch: the branch.
            metric: label of the metric.
            kind: one of `bocu.sweep.evaluation.curves.TRACES`.
        """

    @abstractmethod
    def round_times(self, branch: CubeBranch) -> np.ndarray:
        """Return the mean time of a round in s, shape (seeds,); without seeds whose times are not all known."""

    @abstractmethod
    def median_times(self, branch: CubeBranch, group: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the last round and the median time in s of groups of rounds, shapes (groups,), (seeds, groups)."""

    @abstractmethod
    def trusted_shares(self, branch: CubeBranch) -> np.ndarray | None:
        """Return how often each prior was trusted, shape (seeds, priors); None where that is not reported."""

    @abstractmethod
    def rejection_rounds(self, branch: CubeBranch) -> np.ndarray | None:
        """Return the round in which each prior was first rejected, shape (seeds, priors), not a number: in none.

        None where the algorithm does not report candidates.
        """

    @abstractmethod
    def resets(self, branch: CubeBranch) -> dict[int, int]:
        """Return the first round in which all priors were rejected, by seed."""

    def release(self) -> None:
        """Let go of arrays that are kept after reading."""

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
