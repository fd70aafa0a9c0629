"""Labelled cubes: all branches of a problem in one file, and all problems in one summary.

A branch without a score file is a hole (`status` missing, regret not a number); a combination that the experiment
does not have is "not defined". Neither is ever a number.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.errors import BocuError
from bocu.files import canonical_json, read_netcdf, write_netcdf

if TYPE_CHECKING:
    import xarray as xr

MISSING, DONE, NOT_DEFINED = 0, 1, 2
STATUS_ATTRIBUTES = {
    "long_name": "whether the run stands",
    "units": "1",
    "flag_values": np.array([MISSING, DONE, NOT_DEFINED], dtype=np.int8),
    "flag_meanings": "missing done not_defined",
}
_SHARED = ("title", "protocol", "payoff_units", "data_label", "data_provenance", "schema_version", "numeric_threads")
_COLLECTED = ("package_versions", "cpu", "code_version")
CHECKPOINTS = (0.1, 0.25, 0.5, 1.0)


def build_cube(description: Mapping[str, Any], output: str | Path) -> None:
    """Gather the score files of a problem.

    Args:
        description: what the plan says of it: `branches` (labels and score file of each), `judges`, `seeds` (first,
            count), `iterations`, and names for the attributes.
        output: the cube, with dimensions (objective, algorithm, judge, seed, iteration, prior).

    Raises:
        BocuError: no score file stands, or one does not fit the plan.
    """
    cube = _Cube(description)
    for branch in description["branches"]:
        if Path(branch["score"]).is_file():
            cube.add(branch, read_netcdf(branch["score"]))
    write_netcdf(cube.dataset(), output)


class _Cube:
    def __init__(self, description: Mapping[str, Any]) -> None:
        first, count = description["seeds"]
        self.description = description
        self.coordinates: dict[str, list[Any]] = {
            "objective": list(dict.fromkeys(branch["objective"] for branch in description["branches"])),
            "algorithm": list(dict.fromkeys(branch["algorithm"] for branch in description["branches"])),
            "judge": list(description["judges"]),
            "seed": list(range(first, first + count)),
            "iteration": list(range(1, description["iterations"] + 1)),
        }
        self.variables: dict[str, tuple[tuple[str, ...], np.ndarray, dict[str, Any]]] = {}
        self.status = np.full(
            [len(self.coordinates[dim]) for dim in ("objective", "algorithm", "seed")], NOT_DEFINED, "i1"
        )
        for branch in description["branches"]:
            self.status[self._place(branch)] = MISSING
        self.attributes: dict[str, Any] = {}
        self.collected: dict[str, set[str]] = {key: set() for key in _COLLECTED}
        self.specifications: dict[str, Any] = {}

    def _place(self, branch: Mapping[str, Any]) -> tuple[int, int]:
        return tuple(self.coordinates[dim].index(branch[dim]) for dim in ("objective", "algorithm"))  # type: ignore[return-value]

    def add(self, branch: Mapping[str, Any], scores: "xr.Dataset") -> None:
        for dim in ("judge", "iteration"):
            if list(scores[dim].values) != self.coordinates[dim]:
                raise BocuError(
                    f"{branch['score']}: dimension '{dim}' does not fit the plan; delete the file and run again"
                )
        place = self._place(branch)
        seeds = [self.coordinates["seed"].index(int(seed)) for seed in scores["seed"].values]
        self.status[place][seeds] = DONE
        if "prior" in scores.coords:
            self.coordinates["prior"] = [str(label) for label in scores["prior"].values]
        for name, variable in scores.data_vars.items():
            dims = tuple(str(dim) for dim in variable.dims)
            if "iteration" not in dims:
                continue
            target = self._variable(str(name), dims, variable)
            target[place][self._selection(dims, seeds)] = variable.values
        self.attributes = self.attributes or {key: scores.attrs[key] for key in _SHARED}
        for key in _COLLECTED:
            self.collected[key] |= set(json.loads(scores.attrs[key]))
        specification = json.loads(scores.attrs["specification"])
        self.specifications.setdefault("problem", specification["problem"])

    def _variable(self, name: str, dims: tuple[str, ...], variable: "xr.DataArray") -> np.ndarray:
        if name not in self.variables:
            full = ("objective", "algorithm", *dims)
            fill = np.nan if variable.dtype.kind == "f" else -1
            shape = [len(self.coordinates[dim]) for dim in full]
            self.variables[name] = (full, np.full(shape, fill, dtype=variable.dtype), dict(variable.attrs))
        return self.variables[name][1]

    @staticmethod
    def _selection(dims: tuple[str, ...], seeds: list[int]) -> tuple[Any, ...]:
        return tuple(seeds if dim == "seed" else slice(None) for dim in dims)

    def dataset(self) -> "xr.Dataset":
        import xarray as xr

        if not self.attributes:
            raise BocuError(f"{self.description['problem_label']}: not one score file stands; nothing to gather")
        data = xr.Dataset()
        for name, (dims, values, attributes) in self.variables.items():
            data[name] = (dims, values, attributes)
        data["status"] = (("objective", "algorithm", "seed"), self.status, STATUS_ATTRIBUTES)
        for dim, labels in self.coordinates.items():
            data[dim] = (dim, labels, {"long_name": dim, "units": "1"})
        known = {branch["algorithm"]: branch for branch in self.description["branches"]}
        algorithms = [known[label] for label in self.coordinates["algorithm"]]
        names = [branch["algorithm_name"] for branch in algorithms]
        parameters = [canonical_json(branch["algorithm_parameters"]) for branch in algorithms]
        data = data.assign_coords(
            algorithm_name=("algorithm", names, {"long_name": "registered name", "units": "1"}),
            algorithm_parameters=("algorithm", parameters, {"long_name": "parameters, as JSON", "units": "1"}),
        )
        names_of = {key: self.description[key] for key in ("experiment", "problem_label", "problem_name")}
        lists = {key: json.dumps(sorted(values)) for key, values in self.collected.items()}
        data.attrs = {**self.attributes, **lists, **names_of, "specification": canonical_json(self.specifications)}
        return data


def build_summary(cubes: Sequence[str | Path], output: str | Path) -> None:
    """Gather cumulative regret at a few fractions of each problem's iterations, for all problems.

    Args:
        cubes: one file a problem.
        output: `cumulative_regret` with dimensions (problem, objective, algorithm, judge, seed, checkpoint), and
            `iteration_of` (problem, checkpoint).
    """
    import xarray as xr

    parts = []
    for file in cubes:
        cube = read_netcdf(file)
        rows = [max(1, round(fraction * cube.sizes["iteration"])) for fraction in CHECKPOINTS]
        total = cube["regret"].cumsum("iteration", skipna=False).isel(iteration=[row - 1 for row in rows])
        part = xr.Dataset(
            {
                "cumulative_regret": total.drop_vars("iteration").rename(iteration="checkpoint"),
                "iteration_of": ("checkpoint", rows),
                "status": cube["status"],
                "payoff_units": cube.attrs["payoff_units"],
                "data_label": cube.attrs["data_label"],
            }
        ).drop_vars(["algorithm_parameters"])
        parts.append(part.expand_dims(problem=[cube.attrs["problem_label"]]))
    data = xr.concat(
        parts,
        dim="problem",
        join="outer",
        coords="different",
        compat="equals",
        fill_value={"status": NOT_DEFINED, "algorithm_name": ""},
    )
    data["checkpoint"] = ("checkpoint", list(CHECKPOINTS))
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
    write_netcdf(data, output)
