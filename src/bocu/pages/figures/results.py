"""What figures and tables ask of the results of a problem; what things are called; units."""

import functools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from bocu.core.written import counted, spoken
from bocu.sweep.evaluation.cubes import metrics_off_paths, swept_entries
from bocu.sweep.evaluation.curves import TRACES, Kind, MeanCurve, Traces, medians, scored_throughout
from bocu.sweep.evaluation.digests import MEDIAN_ROUNDS, NEVER, curve_name, shown_pairs, trace_name
from bocu.sweep.evaluation.run_statistics import TOTAL, Statistic
from bocu.sweep.evaluation.standings import Standings
from bocu.sweep.experiment.branches import NO_OBJECTIVE
from bocu.sweep.experiment.configuration import Margin
from bocu.sweep.experiment.titles import in_words, value_in_words
from bocu.sweep.runs.records import DONE, MISSING

REGRET, RECOMMENDED_REGRET, PAYOFF = "regret", "recommended_regret", "payoff"
HYPERVOLUME_SHARE = "hypervolume_share"
_LABELLED = ("status", "algorithm_title", "algorithm_look", "algorithm_yardstick")
_TOLD = ("name", "title", "look", "yardstick")


@dataclass(frozen=True)
class CubeBranch:
    """The runs of one algorithm, pursuing one objective ("any": none)."""

    objective: str
    algorithm: str


class Results:
    """What a file of results of one problem says of itself: what was run, and what it is called.

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
    needed: tuple[str, ...] = _LABELLED

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
        return self._status[self._places[branch]]

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


class Digest(Results):
    """The results of one problem as its digest has them: totals by seed, and curves over the seeds, thinned.

    An array is read when it is first asked for, under one metric for all branches, and kept until `release`.
    """

    needed = (*_LABELLED, "point_iteration")

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        self._kept: dict[tuple[str, str | None], np.ndarray] = {}

    def per_seed(self, statistic: Statistic, branch: CubeBranch, metric: str | None = None) -> dict[int, float]:
        """Return a statistic of a branch by seed, under a metric unless it is one of times.

        Seeds that are not finished, that the metric does not score in every round from 1 on, or that have none of it,
        are left out.
        """
        found = self._of(statistic.variable, branch, metric)
        if found is None:
            return {}
        known = ~np.isnan(found)
        return dict(zip(self._seeds[known].tolist(), found[known].tolist(), strict=True))

    def totals(self, branch: CubeBranch, metric: str) -> dict[int, float]:
        """Return regret summed from round 1 to the last by seed: see `per_seed`."""
        return self.per_seed(TOTAL, branch, metric)

    def _array(self, name: str, metric: str | None = None) -> np.ndarray:
        """Return an array of all branches, of one metric where there are several."""
        if (name, metric) not in self._kept:
            with reading(self.path):
                own = {} if metric is None else {"metric": self.metrics.index(metric)}
                self._kept[name, metric] = self.data[name].isel(own).values
        return self._kept[name, metric]

    def _of(self, name: str, branch: CubeBranch, metric: str | None = None) -> np.ndarray | None:
        """Return what the digest has of a branch; None where it has nothing of the name."""
        if name not in self.data.variables:
            return None
        return self._array(name, metric)[self._places[branch]]

    def curve(self, branch: CubeBranch, metric: str, kind: Kind, from_initial: bool = False) -> MeanCurve | None:
        """Return the curve of a branch; None where no seed is finished, or nothing of the kind is there.

        Args:
            branch: the branch.
            metric: label of the metric; payoffs have none.
            kind: what is drawn of regret or payoff.
            from_initial: keep the initial design and count evaluations.
        """
        name = curve_name(kind, from_initial)
        scored = None if kind == "payoff" else metric
        seeds = self._of(f"{name}_seeds", branch, scored)
        if seeds is None or not seeds > 0:
            return None
        rounds = self._array("point_iteration")
        mean, error = (self._of(f"{name}_{what}", branch, scored) for what in ("mean", "error"))
        assert mean is not None
        assert error is not None
        shown = slice(None) if from_initial else rounds >= 1
        counted = rounds - self._iterations[0] + 1 if from_initial else rounds
        rounds, mean, error, counted = rounds[shown], mean[shown], error[shown], counted[shown]
        if kind == "average":
            mean, error = mean / counted, error / counted
        return MeanCurve(counted, mean, error, int(seeds))

    def traces(self, branch: CubeBranch, metric: str, kind: Kind) -> Traces | None:
        """Return the curve of each finished seed, thinned; None where there is none.

        Args:
            branch: the branch.
            metric: label of the metric.
            kind: one of `bocu.sweep.evaluation.curves.TRACES`.
        """
        place = self._traced.get((*self._places[branch], self.metrics.index(metric)))
        if place is None or kind not in TRACES:
            return None
        with reading(self.path):
            values = self.data[trace_name(kind)].isel(traced=place).values
        rounds = self._array("trace_iteration")
        known = ~np.isnan(values).any(axis=1)
        if not known.any():
            return None
        return Traces(rounds, values[known], self._seeds[known])

    @functools.cached_property
    def _traced(self) -> dict[tuple[int, ...], int]:
        """Row of the curves of seeds by the places of objective, algorithm and metric."""
        names = [f"traced_{dim}" for dim in ("objective", "algorithm", "metric")]
        if not all(name in self.data.variables for name in names):
            return {}
        with reading(self.path):
            places = np.stack([self.data[name].values for name in names], axis=1)
        return {tuple(int(one) for one in place): row for row, place in enumerate(places)}

    def median_times(self, branch: CubeBranch, group: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the last round and the median time in s of groups of rounds, shapes (groups,), (seeds, groups)."""
        if group != MEDIAN_ROUNDS:
            raise BocuError(f"{self.path}: found medians of {MEDIAN_ROUNDS} rounds; others are taken from the cube")
        rounds, times = self._array("group_iteration"), self._of("seconds_median", branch)
        done = self.status(branch) == DONE
        return rounds, np.empty((0, len(rounds))) if times is None else times[done]

    def trusted_shares(self, branch: CubeBranch) -> np.ndarray | None:
        """Return how often each prior was trusted, shape (seeds, priors); None where that is not reported."""
        shares = self._of("trusted_share", branch)
        if shares is None or np.isnan(shares).all():
            return None
        return shares[~np.isnan(shares).any(axis=1)]

    def rejection_rounds(self, branch: CubeBranch) -> np.ndarray | None:
        """Return the round in which each prior was first rejected, shape (seeds, priors), not a number: in none.

        None where the algorithm does not report candidates.
        """
        rounds = self._of("rejection_round", branch)
        if rounds is None or np.isnan(rounds).all():
            return None
        rounds = rounds[self.status(branch) == DONE]
        return np.where(rounds == NEVER, np.nan, rounds)

    def resets(self, branch: CubeBranch) -> dict[int, int]:
        """Return the first round in which all priors were rejected, by seed."""
        rounds = self._of("all_rejected_round", branch)
        if rounds is None:
            return {}
        return {int(seed): int(first) for seed, first in zip(self._seeds, rounds, strict=True) if np.isfinite(first)}

    def release(self) -> None:
        """Let go of arrays that are kept after reading."""
        self._kept.clear()


class Cube(Results):
    """The results of one problem, seed by seed and round by round, for figures that need every round."""

    needed = (REGRET, *_LABELLED)

    def values(self, variable: str, branch: CubeBranch, metric: str | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return a variable of the finished seeds of a branch.

        Returns:
            The values, shape (finished seeds, iterations, ...), and those seeds.
        """
        done = self.status(branch) == DONE
        with reading(self.path):
            objective, algorithm = self._places[branch]
            chosen = self.data[variable].isel(objective=objective, algorithm=algorithm)
            if metric is not None:
                chosen = chosen.isel(metric=self.metrics.index(metric))
            return chosen.transpose("seed", "iteration", ...).values[done], self._seeds[done]

    def regret(self, branch: CubeBranch, metric: str, variable: str = REGRET) -> tuple[np.ndarray, np.ndarray]:
        """Return the instantaneous regret in units of the payoff, shape (seeds, iterations), and the seeds.

        Seeds that are not finished, or that the metric does not score in every round from 1 on, are left out.
        `variable` may also be RECOMMENDED_REGRET, which is there where algorithms recommend something, or, of several
        outputs, HYPERVOLUME_SHARE, a share of the best front's; there are no seeds where it is not there.
        """
        if variable not in self.data:
            return np.empty((0, len(self.iterations))), np.empty(0, dtype=int)
        values, seeds = self.values(variable, branch, metric)
        whole = scored_throughout(self.iterations, values)
        return values[whole], seeds[whole]

    def payoff(self, branch: CubeBranch) -> tuple[np.ndarray, np.ndarray]:
        """Return the noise-free payoff in the context met, shape (seeds, iterations), and the finished seeds.

        Empty where payoffs have several outputs, which only run files keep.
        """
        if PAYOFF not in self.data:
            return np.empty((0, len(self.iterations))), np.empty(0, dtype=int)
        return self.values(PAYOFF, branch)

    def median_times(self, branch: CubeBranch, group: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what `Digest.median_times` returns, of groups of any size."""
        return medians(self.iterations, self.values("seconds", branch)[0], group)


def all_digests(inputs: Mapping[str, Any]) -> list[Digest]:
    """Open the digests that a figure of the whole experiment is drawn from."""
    return [Digest(path) for path in paths_of(inputs["digests"])]


def paths_of(value: str | Path | Sequence[str | Path]) -> list[Path]:
    """Return a list of paths, whether one path or several stand behind a key."""
    return [Path(value)] if isinstance(value, str | Path) else [Path(item) for item in value]


def foremost(cube: Results) -> list[tuple[str, str]]:
    """Return the pairs of objective and metric that page and figures show unasked; files hold all.

    They are those of `shown_pairs`. Metrics along paths of laws stand in figures and files.
    """
    off_paths = set(metrics_off_paths(cube.data))
    return [pair for pair in shown_pairs(cube.objectives(), cube.metrics) if pair[1] in off_paths]


def with_unit(quantity: str, units: str) -> str:
    """Write a quantity with its unit for an axis; pure numbers have none."""
    unit = shown_unit(units)
    return f"{quantity} [{unit}]" if unit else quantity


SHOWN_UNITS = {"1": "", "degree_Celsius": "°C", "degree_C": "°C", "percent": "%", "percent year-1": "%/year"}


def shown_unit(units: str) -> str:
    """Write a unit as people read it; pure numbers have none."""
    return SHOWN_UNITS.get(units, units)


def shared_data_label(cubes: Sequence[Results]) -> str:
    """Return the label of data that are not measured, with its problems where not all share it; empty: none."""
    labelled = [cube for cube in cubes if cube.data_label]
    if not labelled or len(labelled) == len(cubes):
        return labelled[0].data_label if labelled else ""
    return f"{labelled[0].data_label}: {spoken([cube.problem for cube in labelled])}"


def metric_title(cubes: Iterable[Results], label: str) -> str:
    """Return what is written for a metric that one of the problems is scored by; else its label."""
    return next((cube.metric_titles[label] for cube in cubes if label in cube.metric_titles), label)


def problem_names(cubes: Sequence[Results]) -> dict[str, str]:
    """Return what is written for every problem, by its label: its title, or its label in words where titles agree."""
    titles = [cube.title for cube in cubes]
    return {cube.problem: cube.title if titles.count(cube.title) == 1 else in_words(cube.problem) for cube in cubes}


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


Tables = Mapping[tuple[str, str], Standings]  #: The tables of a problem, by pursued objective and metric.


def groups(cube: Results) -> Iterator[tuple[str, str, list[CubeBranch]]]:
    """Return what is compared with each other: pursued objective, metric, and the branches that stand side by side."""
    for objective in cube.objectives():
        shown = cube.branches(pursuing=[objective])
        for metric in cube.metrics:
            yield objective, metric, shown


def final_totals(cube: Digest, branches: Sequence[CubeBranch], metric: str) -> dict[str, dict[int, float]]:
    """Return the final cumulative regret, algorithm label -> seed -> regret; algorithms without a finished seed too."""
    return {branch.algorithm: cube.totals(branch, metric) for branch in branches}


def standings_of(cube: Digest, margin: Margin | Mapping[str, Any] | None = None) -> Tables:
    """Return what is told of the pairs of each table; all that a page says of them comes from here.

    Args:
        cube: the problem.
        margin: the experiment's.
    """
    competing = [label for label in cube.names if label not in cube.yardsticks]
    random = next((label for label, name in cube.names.items() if name == "random"), None)
    return {
        (objective, metric): Standings(final_totals(cube, branches, metric), competing, random, margin)
        for objective, metric, branches in groups(cube)
    }
