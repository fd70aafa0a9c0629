"""Labelled cubes: all branches of a problem in one file, and all problems in one summary.

A branch without scores is a hole (`status` missing, regret not a number); a combination that the experiment does not
have is "not defined". Neither is ever a number. Files are read and written in chunks, so that memory stays bounded.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.chunks import ChunkFile, chunk_file, seed_slices
from bocu.core.io.files import canonical_json, open_netcdf, reading, regular_file, write_netcdf
from bocu.core.io.provenance import SHARED, collected, refuse_other_schema, united
from bocu.core.loading import naming_extras
from bocu.sweep.evaluation.scores import DISCRETISATION_ATTRIBUTES, DISCRETISATION_ERROR, SURROGATE
from bocu.sweep.runs.records import DONE, MISSING, NOT_DEFINED, STATUS_ATTRIBUTES

if TYPE_CHECKING:
    import xarray as xr

CHECKPOINTS = (0.1, 0.25, 0.5, 1.0)
CUBE_DIMENSIONS = ("objective", "algorithm", "metric", "seed")
ABOUT = {
    "title": "what is written for the algorithm",
    "look": "how the algorithm is drawn: colour, dash, marker",
    "yardstick": "whether the algorithm knows what the others have to learn: yes or no",
}
"""What a cube holds of every algorithm besides name and parameters, and its long name."""
METRIC_SPECIFICATION = "metric_specification"
SWEPT = "swept"  #: Attribute of a sweep: see `swept_entries`, JSON.
TITLES = ("objective_title", "metric_title")  #: What is written for every objective and metric.
OF_METRICS = (METRIC_SPECIFICATION, DISCRETISATION_ERROR, *TITLES)
"""What it holds of every metric, and titles, which are left out where several problems stand together."""


def build_cube(description: Mapping[str, object], output: str | Path) -> None:
    """Gather the score files of a problem.

    Args:
        description: what the plan says of it: `branches` (labels, score file, name, parameters and about of
            the algorithm of each), `metrics`, `metric_specifications` (plain, of each), `metric_titles` and
            `objective_titles` (by label, labels where there are none), `seeds` (first, count), `iterations`, `initial`
            (size of the initial design), names for the attributes, and of a sweep `swept`: see `swept_entries`.
        output: the cube, with dimensions (objective, algorithm, metric, seed, iteration), of some problems prior,
            weight and output.

    Raises:
        BocuError: no score stands, or one does not fit the plan.
    """
    _Cube(description).write(output)


class _Cube:
    def __init__(self, description: Mapping[str, Any]) -> None:
        first, count = description["seeds"]
        self.description = description
        self.coordinates: dict[str, list[Any]] = {
            "objective": list(dict.fromkeys(branch["objective"] for branch in description["branches"])),
            "algorithm": list(dict.fromkeys(branch["algorithm"] for branch in description["branches"])),
            "metric": list(description["metrics"]),
            "seed": list(range(first, first + count)),
            "iteration": list(range(1 - description["initial"], description["iterations"] + 1)),
        }
        self.variables: dict[str, tuple[tuple[str, ...], np.dtype, dict[str, Any]]] = {}
        self.status = np.full(
            [len(self.coordinates[dim]) for dim in ("objective", "algorithm", "seed")], NOT_DEFINED, "i1"
        )
        self.sources: dict[tuple[int, int], str] = {}
        self.errors: list[float] = []
        self.attributes: dict[str, Any] = {}
        self.collected: list[dict[str, list[str]]] = []
        for branch in description["branches"]:
            self._survey(branch)
        if not self.sources:
            raise BocuError(f"{description['problem_label']}: not one score stands; nothing to gather")

    def _survey(self, branch: Mapping[str, Any]) -> None:
        """Note what a branch has: its seeds, its variables, where it was computed."""
        place = (
            self.coordinates["objective"].index(branch["objective"]),
            self.coordinates["algorithm"].index(branch["algorithm"]),
        )
        self.status[place] = MISSING
        if not Path(branch["score"]).is_file():
            return
        with open_netcdf(branch["score"]) as scores, reading(branch["score"]):
            if not scores.sizes["seed"]:
                return
            refuse_other_schema(branch["score"], scores.attrs)
            for dim in ("metric", "iteration"):
                if scores[dim].values.tolist() != self.coordinates[dim]:
                    raise BrokenFileError(branch["score"], f"dimension '{dim}' does not fit the plan")
            self.status[place][self._positions(scores, branch["score"])] = DONE
            self.sources[place] = branch["score"]
            for dim in ("prior", "weight", "output"):
                if dim in scores.coords:
                    self.coordinates[dim] = scores[dim].values.tolist()
            if DISCRETISATION_ERROR in scores:
                self.errors = scores[DISCRETISATION_ERROR].values.tolist()
            for name, variable in scores.data_vars.items():
                if "seed" not in variable.dims:
                    continue
                dims = tuple(str(dim) for dim in variable.dims)
                self.variables.setdefault(str(name), (dims, variable.dtype, dict(variable.attrs)))
            self.attributes = self.attributes or {
                **{key: scores.attrs[key] for key in (*SHARED, SURROGATE) if key in scores.attrs},
                "specification": canonical_json({"problem": json.loads(scores.attrs["specification"])["problem"]}),
            }
            self.collected.append(collected(scores.attrs))

    def _positions(self, scores: "xr.Dataset", file: str) -> np.ndarray:
        """Where the seeds of a score file stand among those of the plan."""
        positions = scores["seed"].values - self.coordinates["seed"][0]
        if positions.min() < 0 or positions.max() >= len(self.coordinates["seed"]):
            raise BrokenFileError(file, "dimension 'seed' does not fit the plan")
        return positions

    def write(self, output: str | Path) -> None:
        with chunk_file(output, {dim: len(labels) for dim, labels in self.coordinates.items()}) as file:
            for name, (dims, dtype, attributes) in self.variables.items():
                file.define(name, ("objective", "algorithm", *dims), dtype, attributes)
            for objective in range(len(self.coordinates["objective"])):
                for algorithm in range(len(self.coordinates["algorithm"])):
                    self._write_place(file, (objective, algorithm))
            file.define("status", ("objective", "algorithm", "seed"), "i1", STATUS_ATTRIBUTES)
            file.write("status", (slice(None),), self.status)
            self._write_labels(file)

    def _write_place(self, file: ChunkFile, place: tuple[int, int]) -> None:
        if place not in self.sources:
            for name in self.variables:
                self._write_variable(file, place, name, None, np.empty(0, dtype=int))
            return
        with open_netcdf(self.sources[place]) as scores:
            with reading(self.sources[place]):
                positions = self._positions(scores, self.sources[place])
            for name in self.variables:
                self._write_variable(file, place, name, scores.get(name), positions)

    def _write_variable(
        self, file: ChunkFile, place: tuple[int, int], name: str, found: "xr.DataArray | None", positions: np.ndarray
    ) -> None:
        dims, dtype, _ = self.variables[name]
        axis = dims.index("seed")
        shape = [len(self.coordinates[dim]) for dim in dims]
        for part in seed_slices(shape[axis], int(np.prod(shape)) // shape[axis]):
            shape[axis] = part.stop - part.start
            chunk = np.full(shape, np.nan if dtype.kind == "f" else -1, dtype=dtype)
            rows = np.flatnonzero((positions >= part.start) & (positions < part.stop))
            if found is not None and len(rows):
                # Seeds lie together in both files, so that a slice reads them.
                with reading(self.sources[place]):
                    values = found.isel(seed=slice(rows[0], rows[-1] + 1)).values
                chunk[(slice(None),) * axis + (positions[rows] - part.start,)] = values
            file.write(name, (*place, *(slice(None),) * axis, part), chunk)

    def _write_labels(self, file: ChunkFile) -> None:
        for dim, labels in self.coordinates.items():
            file.coordinate(dim, dim, labels, {"long_name": dim, "units": "1"})
        stated = [canonical_json(metric) for metric in self.description["metric_specifications"]]
        file.coordinate(METRIC_SPECIFICATION, "metric", stated, {"long_name": "what it is, JSON", "units": "1"})
        for name in TITLES:
            dim = name.partition("_")[0]
            written = self.description.get(f"{name}s", {})
            told = [written.get(label, label) for label in self.coordinates[dim]]
            file.coordinate(name, dim, told, {"long_name": f"what is written for the {dim}", "units": "1"})
        if self.errors:
            file.coordinate(DISCRETISATION_ERROR, "metric", self.errors, DISCRETISATION_ATTRIBUTES)
        known = {branch["algorithm"]: branch for branch in self.description["branches"]}
        algorithms = [known[label] for label in self.coordinates["algorithm"]]
        names = [branch["algorithm_name"] for branch in algorithms]
        parameters = [canonical_json(branch["algorithm_parameters"]) for branch in algorithms]
        file.coordinate("algorithm_name", "algorithm", names, {"long_name": "registered name", "units": "1"})
        file.coordinate(
            "algorithm_parameters", "algorithm", parameters, {"long_name": "parameters, JSON", "units": "1"}
        )
        for key, long_name in ABOUT.items():
            told = [branch["algorithm_about"][key] for branch in algorithms]
            file.coordinate(f"algorithm_{key}", "algorithm", told, {"long_name": long_name, "units": "1"})
        names_of = {key: self.description[key] for key in ("experiment", "problem_label", "problem_name")}
        # xarray takes the variables named here for coordinates.
        named = " ".join(f"algorithm_{key}" for key in ("name", "parameters", *ABOUT))
        named += f" {' '.join(TITLES)} {METRIC_SPECIFICATION}" + (f" {DISCRETISATION_ERROR}" if self.errors else "")
        swept = {SWEPT: canonical_json(self.description[SWEPT])} if SWEPT in self.description else {}
        file.attributes({**self.attributes, **united(self.collected), **names_of, **swept, "coordinates": named})


def build_summary(files: Sequence[str | Path], output: str | Path) -> None:
    """Gather cumulative regret at a few fractions of each problem's iterations, for all problems.

    Args:
        files: one file a problem, its digest or its cube.
        output: `cumulative_regret` with dimensions (problem, objective, algorithm, metric, seed, checkpoint), and
            `iteration_of` (problem, checkpoint).
    """
    import xarray as xr

    parts = [_summary_of(file) for file in files]
    told = {f"algorithm_{key}": "" for key in ("name", "parameters", *ABOUT)}
    fill = {"status": NOT_DEFINED, **told}
    data = xr.concat(parts, dim="problem", join="outer", coords="different", compat="equals", fill_value=fill)
    data.attrs = united(collected(part.attrs) for part in parts)
    data["checkpoint"] = ("checkpoint", list(CHECKPOINTS))
    data = data.assign_coords(swept_coordinates(_swept_together(parts), data))
    described = {
        "cumulative_regret": ("regret summed from round 1 on", "see payoff_units"),
        "iteration_of": ("rounds at the checkpoint", "1"),
        "payoff_units": ("unit of payoff and regret", "1"),
        "data_label": ("what the data behind the problem are; empty for measured data", "1"),
        "checkpoint": ("fraction of the problem's rounds", "1"),
    }
    for name, (long_name, units) in described.items():
        data[name].attrs = {"long_name": long_name, "units": units}
    data["status"].attrs = STATUS_ATTRIBUTES
    for coordinate in data.coords:
        data[coordinate].attrs = {"long_name": str(coordinate), "units": "1", **data[coordinate].attrs}
    write_netcdf(data, output, read_by=("problem",))


def _swept_together(parts: "Sequence[xr.Dataset]") -> dict[str, str]:
    together: dict[str, dict[str, Any]] = {}
    for part in parts:
        for dim, entries in swept_entries(part.attrs).items():
            together.setdefault(dim, {}).update(entries)
    return {SWEPT: canonical_json(together)} if together else {}


def swept_entries(attributes: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what a sweep has made, from the attributes of a cube; nothing without a sweep.

    Returns:
        Dimension ("problem", "objective", "algorithm", "metric") -> label -> `base`, the label in the experiment's
        file, and `at`, the values by the names of the parameters.
    """
    return json.loads(attributes.get(SWEPT, "{}"))


def swept_coordinates(attributes: Mapping[str, object], data: "xr.Dataset") -> dict[str, tuple[tuple[str, ...], Any]]:
    """Return the values of a sweep as coordinates, such as `swept_noise_of_problem`.

    Args:
        attributes: those of a cube; without `swept` there are none.
        data: what is to have them; its labels are those of the cube.

    Returns:
        Name -> dimensions and values: of problems of none where that is no dimension, else of that of the labels. What
        is not swept has no number, or no text.
    """
    found: dict[str, tuple[tuple[str, ...], Any]] = {}
    for dim, entries in swept_entries(attributes).items():
        values = {label: own["at"] for label, own in entries.items()}
        labels = [str(label) for label in data[dim].values] if dim in data.dims else list(values)
        for axis in dict.fromkeys(axis for own in values.values() for axis in own):
            known = [values.get(label, {}).get(axis) for label in labels]
            numbers = all(value is None or (isinstance(value, float | int)) for value in known)
            column = np.array([np.nan if value is None else value for value in known], float) if numbers else None
            written = np.array(["" if value is None else str(value) for value in known], object)
            array = written if column is None else column
            name = f"{SWEPT}_{axis.replace('-', '_')}_of_{dim}"
            found[name] = ((dim,), array) if dim in data.dims else ((), array[0])
    return found


def checkpoint_rounds(iterations: np.ndarray) -> list[int]:
    """Return the rounds at which the summary has regret; those of the initial design may be among the iterations."""
    rounds = int((iterations >= 1).sum())
    return [max(1, round(fraction * rounds)) for fraction in CHECKPOINTS]


def _summary_of(file: str | Path) -> "xr.Dataset":
    import xarray as xr

    with open_netcdf(file) as cube, reading(file):
        # Problems may be scored by metrics of their own under one label.
        cube = cube.drop_vars(OF_METRICS, errors="ignore")
        rows = checkpoint_rounds(cube["iteration"].values)
        if "cumulative_regret" in cube:
            total = cube["cumulative_regret"].transpose(*CUBE_DIMENSIONS, "checkpoint").values
        else:
            total = _total_at(cube.sel(iteration=slice(1, None)), rows)
        labels = {dim: cube[dim].load() for dim in (*CUBE_DIMENSIONS, "algorithm_name")}
        # Text of a fixed width would be cut to that of the first cube when the labels of all are joined.
        labels = {dim: label.astype(object) if label.dtype.kind == "U" else label for dim, label in labels.items()}
        part = xr.Dataset(
            {
                "cumulative_regret": ((*CUBE_DIMENSIONS, "checkpoint"), total),
                "iteration_of": ("checkpoint", rows),
                "status": cube["status"].load(),
                "payoff_units": cube.attrs["payoff_units"],
                "data_label": cube.attrs["data_label"],
            },
            labels,
        )
        part.attrs = cube.attrs
        return part.expand_dims(problem=[cube.attrs["problem_label"]])


def _total_at(cube: "xr.Dataset", rows: Sequence[int]) -> np.ndarray:
    """Return the cumulative regret of a cube after some rounds, of dimensions `CUBE_DIMENSIONS` and the rounds."""
    regret = cube["regret"].transpose(*CUBE_DIMENSIONS, "iteration")
    total = np.empty((*regret.shape[:-1], len(rows)))
    for place in np.ndindex(*regret.shape[:3]):
        for seeds in seed_slices(regret.sizes["seed"], regret.sizes["iteration"]):
            total[(*place, seeds)] = np.cumsum(regret[(*place, seeds)].values, axis=-1)[:, [row - 1 for row in rows]]
    return total


def open_cube(path: str | Path, problem: str | None = None) -> "xr.Dataset":
    """Open a cube of results; values are read when they are used.

    Args:
        path: the cube of a problem (`results/NAME/cubes/PROBLEM.nc`) or of all (`summary.nc`), or the folder of an
            experiment, `results/NAME`.
        problem: label of the problem, where `path` is such a folder; the summary if left out.

    Returns:
        Regret and value of dimensions (objective, algorithm, metric, seed, iteration), with labels as coordinates; of
        a summary cumulative regret of dimensions (problem, objective, algorithm, metric, seed, checkpoint). Values of a
        sweep are coordinates: `swept_noise_of_problem`. Where `status` is not 1, there is no number. Close it, or use
        it in a `with` block.

    Raises:
        BocuError: there is no such file, or it is no cube.
    """
    with naming_extras():
        import xarray as xr

    file = Path(path)
    if file.is_dir():
        file = file / "cubes" / f"{problem or 'summary'}.nc"
        if not file.is_file():
            there = ", ".join(sorted(cube.stem for cube in file.parent.glob("*.nc"))) or "none"
            raise BocuError(f"{file}: no such file; cubes that are there: {there}")
    elif problem is not None:
        raise BocuError(f"{file}: found a file; 'problem' goes with the folder of an experiment")
    regular_file(file)
    with reading(file):
        cube = xr.open_dataset(file, engine="netcdf4", cache=False)
    missing = [dim for dim in CUBE_DIMENSIONS if dim not in cube.dims]
    try:
        if missing:
            raise BocuError(f"{file}: no cube: it has no dimension {' and no '.join(missing)}")
        if "iteration" in cube.dims:  # a summary is gathered from cubes that were looked at
            refuse_other_schema(file, cube.attrs)
    except BocuError:
        cube.close()
        raise
    return cube if "problem" in cube.dims else cube.assign_coords(swept_coordinates(cube.attrs, cube))


@dataclass(frozen=True)
class Family:
    """The metrics along one path."""

    label: str  #: that of their entry.
    metrics: Sequence[str]  #: labels, by growing s.
    specifications: Sequence[Mapping[str, Any]]  #: likewise.
    s: np.ndarray  #: likewise.

    @property
    def title(self) -> str:
        """Its label in words."""
        return self.label.replace("-", " ")


def families_of(data: "xr.Dataset") -> list[Family]:
    """Gather the metrics of a cube or digest that score along paths of laws."""
    if METRIC_SPECIFICATION not in data.variables:
        return []
    found: dict[tuple[str, str], list[tuple[float, str, dict[str, Any]]]] = {}
    for label, text in zip(map(str, data["metric"].values), data[METRIC_SPECIFICATION].values, strict=True):
        specification = json.loads(str(text))
        under = specification.get("under")
        entry, _, place = label.rpartition("-")
        # Another entry may score under a law of the same path.
        if under is not None and place.isdigit():
            path = canonical_json({**specification, "under": {**under, "s": None}})
            found.setdefault((entry, path), []).append((under["s"], label, specification))
    families = []
    for (entry, _), members in found.items():
        if len(members) > 1:
            members.sort(key=lambda member: member[0])
            s, labels, specifications = zip(*members, strict=True)
            families.append(Family(entry, labels, specifications, np.array(s)))
    return families


def metrics_off_paths(data: "xr.Dataset") -> list[str]:
    """Return the metrics that are shown one by one: not those along paths, whose curves show them all at once.

    Where every metric stands on a path, all are shown.
    """
    metrics = [str(label) for label in data["metric"].values]
    along = {metric for family in families_of(data) for metric in family.metrics}
    return [metric for metric in metrics if metric not in along] or metrics
