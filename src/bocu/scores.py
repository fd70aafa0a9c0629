"""From run files to regret and value under each judge: one score file a branch."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.errors import BocuError
from bocu.files import canonical_json, read_netcdf, write_netcdf
from bocu.judges import Judge
from bocu.loading import load
from bocu.randomness import Streams
from bocu.runs import Inputs, build_problem

if TYPE_CHECKING:
    import xarray as xr

# What differs between the blocks of one branch without harm: each value is kept in a list.
_PER_BLOCK = ("package_versions", "cpu", "code_version")
_DROPPED = ("wall_seconds", "inputs", "identity")


def score(
    run_files: Sequence[str | Path], inputs: Inputs, judges: Sequence[Mapping[str, Any]], output: str | Path
) -> None:
    """Judge the runs of one branch.

    Args:
        run_files: its blocks.
        inputs: the files that its problem is built from.
        judges: their labels and plain specifications.
        output: the score file: `regret` and `value` with dimensions (judge, seed, iteration), and what the runs
            reported of themselves.

    Raises:
        BocuError: a run file is missing or broken, or of another specification than the others.
    """
    import xarray as xr

    panel = [_build(specification) for specification in judges]
    scored = [
        _score_block(read_netcdf(file), inputs, panel, [judge["label"] for judge in judges]) for file in run_files
    ]
    for file, block in zip(run_files, scored, strict=True):
        if _branch_of(block) != _branch_of(scored[0]):
            raise BocuError(f"{file}: attribute 'specification' differs from that of {run_files[0]}; run both again")
    data = xr.concat(scored, dim="seed", data_vars="minimal", coords="minimal", compat="override", join="exact")
    data.attrs = _merge_attributes([block.attrs for block in scored])
    write_netcdf(data, output)


def _build(specification: Mapping[str, Any]) -> Judge:
    target = load(specification["class"])
    return target(target.Parameters.model_validate(specification["parameters"]))


def _score_block(runs: "xr.Dataset", inputs: Inputs, panel: Sequence[Judge], labels: Sequence[str]) -> "xr.Dataset":
    problem = build_problem(json.loads(runs.attrs["specification"])["problem"], inputs)
    shape = (len(panel), runs.sizes["seed"], runs.sizes["iteration"])
    regret, value = np.empty(shape), np.empty(shape)
    for row, seed in enumerate(runs["seed"].values):
        realisation = problem.realise(Streams(int(seed)))
        decisions = runs["decision_index"].values[row]
        for column, judge in enumerate(panel):
            regret[column, row], value[column, row] = judge.score(realisation, decisions)
    units = runs.attrs["payoff_units"]
    dims = ("judge", "seed", "iteration")
    data = runs.drop_vars(["stream_states", "observation", *_decision_variables(runs)])
    data["regret"] = (dims, regret, {"long_name": "instantaneous regret under the judge", "units": units})
    data["value"] = (dims, value, {"long_name": "value of the decision under the judge", "units": units})
    data["judge"] = ("judge", list(labels), {"long_name": "objective that the runs are judged by", "units": "1"})
    return data


def _decision_variables(runs: "xr.Dataset") -> list[str]:
    return [str(name) for name in runs.variables if str(name).startswith(("decision", "context"))]


def _branch_of(block: "xr.Dataset") -> str:
    specification = json.loads(block.attrs["specification"])
    del specification["seeds"]
    return canonical_json(specification)


def _merge_attributes(blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Keep what all blocks share; list what may differ between machines."""
    merged = {key: value for key, value in blocks[0].items() if key not in (*_PER_BLOCK, *_DROPPED)}
    specification = json.loads(merged["specification"])
    del specification["seeds"]
    merged["specification"] = canonical_json(specification)
    for key in _PER_BLOCK:
        merged[key] = json.dumps(sorted({str(block[key]) for block in blocks}))
    merged["wall_seconds"] = float(sum(block["wall_seconds"] for block in blocks))
    return merged
