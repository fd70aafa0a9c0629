"""Digests: what figures and tables read of a cube, worked out once, so that neither reads the cube.

For every branch, metric and seed the digest of a problem holds totals; for every branch and metric mean curves over the
seeds, thinned to what is drawn; of what pages show (`shown_pairs`) the curve of each seed, thinned more. It is some
hundredth of its cube.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bocu.core.io.files import open_netcdf, reading, write_netcdf
from bocu.core.io.lineage import SEAL, is_lineage
from bocu.core.io.provenance import refuse_other_schema
from bocu.sweep.evaluation.cubes import (
    ABOUT,
    CHECKPOINTS,
    DISCRETISATION_ERROR,
    METRIC_SPECIFICATION,
    TITLES,
    checkpoint_rounds,
    metrics_off_paths,
)
from bocu.sweep.evaluation.curves import (
    TRACES,
    Kind,
    accumulate,
    kept_rounds,
    medians,
    scored_throughout,
    traced_rounds,
)
from bocu.sweep.evaluation.prior_choices import first_rounds, rejection_rounds, trusted_shares
from bocu.sweep.evaluation.run_statistics import STATISTICS
from bocu.sweep.evaluation.statistics import mean_and_error
from bocu.sweep.experiment.branches import NO_OBJECTIVE
from bocu.sweep.runs.records import DONE, NOT_DEFINED

if TYPE_CHECKING:
    import xarray as xr

MEDIAN_ROUNDS = 50  #: Rounds whose median time is kept.
NEVER = np.inf  #: Stands for the round of what an algorithm would report, and what did not happen.
_OF_THE_FILE = (SEAL, "coordinates")  # attributes
_REPORTED = ("chosen_prior", "active_priors", "rejected_prior", "all_rejected")
_BRANCH = ("objective", "algorithm")
_SCORED = (*_BRANCH, "metric", "point")
_CURVES: tuple[tuple[str, Kind, bool], ...] = (
    ("regret", "cumulative", False),
    ("regret", "cumulative", True),
    ("regret", "simple", False),
    ("regret", "simple", True),
    ("regret", "instantaneous", True),
    ("recommended_regret", "recommended", True),
    ("payoff", "payoff", False),
    ("payoff", "payoff", True),
)
"""Variable of the cube, what is made of it, and whether evaluations are counted from the initial design on."""


def curve_name(kind: Kind, from_initial: bool) -> str:
    """Return the name of a curve in a digest, to which `_mean`, `_error` and `_seeds` are added.

    That of each round by itself is kept with the initial design, which may be left out; averages are totals by rounds.
    """
    kind = "cumulative" if kind == "average" else kind
    kept_whole = kind in ("instantaneous", "recommended")
    return f"{kind}_from_initial" if from_initial or kept_whole else kind


def trace_name(kind: Kind) -> str:
    """Return the name of the curves of single seeds in a digest."""
    return f"{'cumulative' if kind == 'average' else kind}_trace"


def shown_pairs(objectives: Sequence[str], metrics: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of a pursued objective and a metric that pages show, whatever else there is in files.

    What an objective reaches is scored by the metric of its own label, where there is one, and by those that are no
    objective's own: every metric is shown.
    """
    return [(o, m) for o in objectives for m in metrics if m == o or o not in metrics or m not in objectives]


def build_digest(cube: str | Path, output: str | Path) -> None:
    """Work out the digest of a cube, branch by branch.

    Args:
        cube: the cube of a problem.
        output: the digest. Besides what the cube says of problem and algorithms, and `status`: the `STATISTICS` and
            `cumulative_regret` at the checkpoints, (objective, algorithm, metric, seed); times and, of algorithms with
            candidate priors, what they trusted and rejected, (objective, algorithm, seed, ...); curves, (objective,
            algorithm, metric, point), and those of seeds in single precision, (traced, seed, trace), of the branches
            and metrics that `traced_objective`, `traced_algorithm` and `traced_metric` name by their places.

    Raises:
        BocuError: the cube is missing or broken.
    """
    with open_netcdf(cube, decode_times=False) as data, reading(cube):
        refuse_other_schema(cube, data.attrs)
        digest = _Digest(data).dataset()
    write_netcdf(digest, output, read_by=("metric",))


class _Digest:
    def __init__(self, cube: "xr.Dataset") -> None:
        self.cube = cube.drop_vars(DISCRETISATION_ERROR, errors="ignore")
        self.iterations = cube["iteration"].values
        self.kept = kept_rounds(self.iterations)
        self.last_of_groups, _ = medians(self.iterations, np.zeros((0, len(self.iterations))), MEDIAN_ROUNDS)
        self.sizes = {
            **{str(dim): size for dim, size in cube.sizes.items()},
            "point": len(self.kept),
            "group": len(self.last_of_groups),
            "checkpoint": len(CHECKPOINTS),
        }
        self.traced = traced_rounds(self.iterations)
        self.traces: dict[Kind, list[np.ndarray]] = {kind: [] for kind in TRACES}
        self.traced_places: list[tuple[int, ...]] = []
        self.found: dict[str, tuple[tuple[str, ...], np.ndarray, str, str]] = {}

    def dataset(self) -> "xr.Dataset":
        import xarray as xr

        cube = self.cube
        status = cube["status"].transpose(*_BRANCH, "seed").load()
        self.shown = set(self._shown(status.values))
        for place in np.ndindex(status.shape[:2]):
            done = status.values[place] == DONE
            if done.any():
                self._branch(cube.isel(objective=place[0], algorithm=place[1]), place, done)
        told = [f"algorithm_{key}" for key in ("name", "parameters", *ABOUT)]
        known = (*cube.dims, *told, METRIC_SPECIFICATION, *TITLES)
        labels = {name: cube[name].load() for name in known if name in cube.variables}
        labels = {name: label for name, label in labels.items() if set(label.dims) <= self.sizes.keys()}
        own = {
            "point_iteration": ("point", self.iterations[self.kept], "round of a point of a curve"),
            "group_iteration": ("group", self.last_of_groups, "last round of a group"),
            "checkpoint_iteration": ("checkpoint", checkpoint_rounds(self.iterations), "rounds at the checkpoint"),
        }
        return xr.Dataset(
            {
                "status": status,
                **{
                    name: (dims, values, {"long_name": long_name, "units": units})
                    for name, (dims, values, long_name, units) in self.found.items()
                },
                **{
                    name: (dim, np.asarray(values), {"long_name": long_name, "units": "1"})
                    for name, (dim, values, long_name) in own.items()
                },
                **self._of_traces(),
            },
            labels,
            {key: value for key, value in cube.attrs.items() if not (key in _OF_THE_FILE or is_lineage(key))},
        )

    def _note(
        self,
        name: str,
        dims: tuple[str, ...],
        place: tuple[int | slice | np.ndarray, ...],
        values: np.ndarray | float,
        long_name: str,
        units: str = "1",
    ) -> None:
        if name not in self.found:
            self.found[name] = (dims, np.full([self.sizes[dim] for dim in dims], np.nan), long_name, units)
        self.found[name][1][place] = values

    def _shown(self, status: np.ndarray) -> Iterator[tuple[int, int, int]]:
        """Return the places of branches and metrics that pages show: objective, algorithm, metric."""
        objectives, metrics = ([str(label) for label in self.cube[dim].values] for dim in ("objective", "metric"))
        planned = (status != NOT_DEFINED).any(axis=2)
        pursued = [o for place, o in enumerate(objectives) if o != NO_OBJECTIVE and planned[place].any()]
        pairs, off_paths = shown_pairs(pursued or [NO_OBJECTIVE], metrics), set(metrics_off_paths(self.cube))
        for place, algorithm in zip(*np.nonzero(planned), strict=True):
            mine = {metric for o, metric in pairs if objectives[place] in (o, NO_OBJECTIVE)} & off_paths
            yield from ((int(place), int(algorithm), position) for position, m in enumerate(metrics) if m in mine)

    def _of_traces(self) -> dict[str, tuple[tuple[str, ...], np.ndarray, dict[str, str]]]:
        """Return the curves of single seeds, row by row those of a branch under a metric, and which these are."""
        if not self.traced_places:
            return {}
        units = self.cube.attrs["payoff_units"]
        places = np.array(self.traced_places)
        found: dict[str, tuple[tuple[str, ...], np.ndarray, dict[str, str]]] = {
            f"traced_{dim}": (("traced",), places[:, axis], {"long_name": f"place of the {dim}", "units": "1"})
            for axis, dim in enumerate((*_BRANCH, "metric"))
        }
        rounds = {"long_name": "round of a point of the curve of a seed", "units": "1"}
        found["trace_iteration"] = (("trace",), self.iterations[self.traced], rounds)
        for kind, rows in self.traces.items():
            told = {"long_name": f"{kind} regret of a seed", "units": units}
            found[trace_name(kind)] = (("traced", "seed", "trace"), np.stack(rows), told)
        return found

    def _branch(self, branch: "xr.Dataset", place: tuple[int, int], done: np.ndarray) -> None:
        by_seed = (*_BRANCH, "seed")
        if "seconds" in branch:
            seconds = self._values(branch["seconds"])
            self._statistics("seconds", place, seconds, done)
            _, median = medians(self.iterations, seconds[done], MEDIAN_ROUNDS)
            self._note(
                "seconds_median", (*by_seed, "group"), (*place, done), median, "median time of a group of rounds", "s"
            )
        if "payoff" in branch:
            self._curves("payoff", place, self._values(branch["payoff"])[done])
        self._priors(branch, place, done)
        for position in range(self.sizes["metric"]):
            scored = branch.isel(metric=position)
            here = (*place, position)
            regret = self._values(scored["regret"])
            self._checkpoints(here, regret)
            self._statistics("regret", here, regret, done)
            for variable in ("regret", "recommended_regret"):
                if variable in scored:
                    values = regret if variable == "regret" else self._values(scored[variable])
                    self._curves(variable, here, values[done & scored_throughout(self.iterations, values)])
            if here in self.shown:
                self._traces(here, regret, done & scored_throughout(self.iterations, regret))
            if "hypervolume_share" in scored:
                self._statistics("hypervolume_share", here, self._values(scored["hypervolume_share"]), done)

    def _statistics(self, of: str, place: tuple[int, ...], values: np.ndarray, done: np.ndarray) -> None:
        """Note the statistics of a variable, of finished seeds; values are of shape (seeds, iterations)."""
        whole = done & scored_throughout(self.iterations, values)
        for statistic in STATISTICS:
            if statistic.of == of:
                dims = (*_BRANCH, "metric", "seed") if len(place) == 3 else (*_BRANCH, "seed")
                units = self.cube.attrs["payoff_units"] if statistic.units is None else statistic.units
                found = statistic.per_seed(self.iterations, values[whole])
                self._note(statistic.variable, dims, (*place, whole), found, statistic.long_name, units)

    def _checkpoints(self, place: tuple[int, ...], regret: np.ndarray) -> None:
        checkpoints = [round_ - 1 for round_ in checkpoint_rounds(self.iterations)]
        total = regret[:, self.iterations >= 1].cumsum(axis=1)[:, checkpoints]
        told, units = "regret summed from round 1 on, at the checkpoint", self.cube.attrs["payoff_units"]
        self._note("cumulative_regret", (*_BRANCH, "metric", "seed", "checkpoint"), place, total, told, units)

    def _traces(self, place: tuple[int, ...], regret: np.ndarray, whole: np.ndarray) -> None:
        self.traced_places.append(place)
        first = int((self.iterations < 1).sum())
        for kind in TRACES:
            row = np.full((len(regret), len(self.traced)), np.nan, dtype=np.float32)
            row[whole] = accumulate(self.iterations, regret[whole], kind)[1][:, self.traced - first]
            self.traces[kind].append(row)

    def _curves(self, variable: str, place: tuple[int, ...], values: np.ndarray) -> None:
        """Note the curves of finished seeds, shape (seeds, iterations)."""
        for own, kind, from_initial in _CURVES:
            if own != variable:
                continue
            _, curve = accumulate(self.iterations, values, kind, from_initial=from_initial)
            kept = self.kept if from_initial else self.kept[self.iterations[self.kept] >= 1]
            first = 0 if from_initial else int((self.iterations < 1).sum())
            mean, error = mean_and_error(curve[:, kept - first])
            name, units = curve_name(kind, from_initial), self.cube.attrs["payoff_units"]
            dims = _SCORED if len(place) == 3 else (*_BRANCH, "point")
            points = slice(self.sizes["point"] - len(kept), None)
            told = f"{kind} regret" if variable != "payoff" else "payoffs summed up"
            self._note(f"{name}_mean", dims, (*place, points), mean, f"{told}, mean over seeds", units)
            self._note(f"{name}_error", dims, (*place, points), error, f"{told}, standard error of the mean", units)
            self._note(f"{name}_seeds", dims[:-1], place, len(values), f"{told}, seeds behind the mean")

    def _priors(self, branch: "xr.Dataset", place: tuple[int, int], done: np.ndarray) -> None:
        """Note what an algorithm did with its candidate priors, where it reports that."""
        reported = dict(self._reported(branch, done))
        by_prior = (*_BRANCH, "seed", "prior")
        if "chosen_prior" in reported and "prior" in self.sizes:
            chosen, priors = reported["chosen_prior"], self.sizes["prior"]
            some = ((chosen >= 0) & (chosen < priors)).any(axis=1)
            seeds = np.flatnonzero(done)[some]
            self._note(
                "trusted_share", by_prior, (*place, seeds), trusted_shares(chosen, priors), "share of rounds of a prior"
            )
        if "active_priors" in reported:
            rounds = rejection_rounds(self.iterations, reported["active_priors"], reported.get("rejected_prior"))
            rounds = np.where(np.isnan(rounds), NEVER, rounds)
            told = "round in which a prior was first rejected; infinite: in none"
            self._note("rejection_round", by_prior, (*place, done), rounds, told)
        if "all_rejected" in reported:
            rounds = first_rounds(self.iterations, reported["all_rejected"] == 1)
            rounds = np.where(np.isnan(rounds), NEVER, rounds)
            told = "round in which all priors were first rejected; infinite: in none"
            self._note("all_rejected_round", (*_BRANCH, "seed"), (*place, done), rounds, told)

    def _reported(self, branch: "xr.Dataset", done: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
        """Return what the algorithm reports of itself: of which one finished run holds no fill value."""
        for name in _REPORTED:
            if name in branch:
                values = self._values(branch[name])[done]
                if (values >= 0).any():
                    yield name, values

    @staticmethod
    def _values(variable: "xr.DataArray") -> np.ndarray:
        return variable.transpose("seed", "iteration", ...).values
