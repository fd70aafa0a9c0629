"""From run files to regret and value under each metric: one score file a branch, written block by block."""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.loading import load
from bocu.core.plain import Specification
from bocu.core.randomness import Streams
from bocu.evaluation.metrics import Metric
from bocu.io.chunks import ChunkFile, chunk_file
from bocu.io.files import canonical_json
from bocu.io.provenance import COLLECTED, SHARED
from bocu.runs.protocol import PROTOCOLS
from bocu.runs.records import ROUNDS, context_variable, decision_variable, read_runs
from bocu.runs.seed_run import Inputs, build_problem

if TYPE_CHECKING:
    import xarray as xr

    from bocu.problems.base import Problem

logger = logging.getLogger(__name__)

_SCORED = {
    "regret": "instantaneous regret under the metric",
    "value": "value of the decision under the metric",
    "recommended_regret": "regret under the metric of the decision recommended after the round",
    "hypervolume_share": "hypervolume of what the decisions so far guarantee, as a share of the best front's",
}


def score(
    run_files: Sequence[str | Path],
    inputs: Inputs,
    branch: Specification,
    metrics: Sequence[Specification],
    output: str | Path,
    partial: bool = False,
) -> None:
    """Score the runs of one branch.

    Args:
        run_files: its blocks, in the order of their seeds.
        inputs: the files that its problem is built from.
        branch: its specification, without seeds.
        metrics: their labels and plain specifications.
        output: the score file: `regret`, `value` and, of several outputs, `hypervolume_share` with dimensions (metric,
            seed, iteration), and what the runs reported of themselves.
        partial: leave out what is broken or of another specification, instead of ending.

    Raises:
        BocuError: a run file is missing or broken, or is not of this branch.
    """
    panel = [_build(metric) for metric in metrics]
    problem = build_problem(branch["problem"], inputs)
    sizes = {"metric": len(panel), "seed": None, "iteration": problem.initial + branch["iterations"]}
    if problem.prior_labels:
        sizes["prior"] = len(problem.prior_labels)
    writer: _Writer | None = None
    with chunk_file(output, sizes) as file:
        file.define("seed", ("seed",), "i8", {"long_name": "seed", "units": "1"})
        for block in _blocks(run_files, branch, partial):
            writer = writer or _Writer(file, block)
            writer.add(block, _scored(block, problem, panel))
        iterations = range(1 - problem.initial, branch["iterations"] + 1)
        _coordinates(file, [metric["label"] for metric in metrics], iterations, problem.prior_labels)
        file.attributes({**(writer.attributes() if writer else {}), "specification": canonical_json(branch)})


def _build(specification: Specification) -> Metric:
    target = load(specification["class"])
    return target(target.Parameters.model_validate(specification["parameters"]))


def _blocks(run_files: Sequence[str | Path], branch: Specification, partial: bool) -> Iterator["xr.Dataset"]:
    """Read the blocks one by one, each checked to be of the branch."""
    wanted = canonical_json(branch)
    for file in run_files:
        try:
            block = read_runs(file)
            specification = json.loads(block.attrs["specification"])
            specification.pop("seeds", None)
            if canonical_json(specification) != wanted:
                raise BrokenFileError(file, "attribute 'specification' is not that of the plan")
        except BocuError as error:
            if not partial:
                raise
            logger.warning("left out: %s", error)
            continue
        yield block


def _scored(block: "xr.Dataset", problem: "Problem", panel: Sequence[Metric]) -> dict[str, np.ndarray]:
    """Return regret and value of what was decided and, under the simulator, the regret of what is recommended."""
    shape = (len(panel), block.sizes["seed"], block.sizes["iteration"])
    found = {name: np.full(shape, np.nan) for name in _scored_names(block)}
    protocol = PROTOCOLS[problem.protocol]
    for row, seed in enumerate(block["seed"].values):
        run = block.isel(seed=row)
        realisation = problem.realise(Streams(int(seed)))
        seen = run[context_variable(realisation.description.contexts)].values
        situations = [
            protocol.situation(realisation, int(t), seen[:place]) for place, t in enumerate(run["iteration"].values)
        ]
        decisions = run[decision_variable(realisation.description.decisions)].values
        for column, metric in enumerate(panel):
            scored = metric.score(realisation, situations, decisions)
            found["regret"][column, row], found["value"][column, row] = scored
            if "hypervolume_share" in found:
                found["hypervolume_share"][column, row] = metric.hypervolume_share(realisation, situations, decisions)
            if "recommended_regret" in found:
                recommended = run["recommended_index"].values
                regret, _ = metric.score(realisation, situations, np.maximum(recommended, 0))
                found["recommended_regret"][column, row] = np.where(recommended < 0, np.nan, regret)
    return found


def _scored_names(runs: "xr.Dataset") -> list[str]:
    left_out = {
        "recommended_regret": runs.attrs["protocol"] != "simulator",  # elsewhere what counts is what was decided
        "hypervolume_share": "output" not in runs.dims,
    }
    return [name for name in _SCORED if not left_out.get(name)]


class _Writer:
    """Appends blocks along the seeds."""

    def __init__(self, file: ChunkFile, first: "xr.Dataset") -> None:
        self.file = file
        self.rows = 0
        self.seeds: list[int] = []
        self.kept = {key: first.attrs[key] for key in SHARED}
        self.collected: dict[str, set[str]] = {key: set() for key in COLLECTED}
        self.wall_seconds = 0.0
        self.carried = [name for name in first.data_vars if _is_carried(first, str(name))]
        for name in self.carried:
            variable = first[name]
            file.define(str(name), [str(dim) for dim in variable.dims], variable.dtype, variable.attrs)
        for name in _scored_names(first):
            units = "1" if name == "hypervolume_share" else first.attrs["payoff_units"]
            attributes = {"long_name": _SCORED[name], "units": units}
            file.define(name, ("metric", "seed", "iteration"), "f8", attributes)

    def add(self, block: "xr.Dataset", scored: Mapping[str, np.ndarray]) -> None:
        rows = slice(self.rows, self.rows + block.sizes["seed"])
        self.file.write("seed", (rows,), block["seed"].values)
        for name in self.carried:
            self.file.write(str(name), (rows,), block[name].values)
        for name, values in scored.items():
            self.file.write(name, (slice(None), rows), values)
        self.rows = rows.stop
        for key in COLLECTED:
            self.collected[key].add(str(block.attrs[key]))
        self.wall_seconds += float(block.attrs["wall_seconds"])

    def attributes(self) -> dict[str, object]:
        lists = {key: json.dumps(sorted(values)) for key, values in self.collected.items()}
        return {**self.kept, **lists, "wall_seconds": self.wall_seconds}


def _is_carried(runs: "xr.Dataset", name: str) -> bool:
    """Whether aggregates keep a variable: decisions and payoffs of several outputs stay in the run files."""
    return (
        "iteration" in runs[name].dims
        and "output" not in runs[name].dims
        and name != "observation"
        and not name.startswith(("decision", "context", "recommended"))
    )


def _coordinates(file: ChunkFile, metrics: Sequence[str], iterations: range, priors: Sequence[str]) -> None:
    file.coordinate("metric", "metric", metrics, {"long_name": "objective that the runs are scored by", "units": "1"})
    file.coordinate("iteration", "iteration", iterations, ROUNDS)
    if priors:
        file.coordinate("prior", "prior", priors, {"long_name": "candidate prior", "units": "1"})
