"""From run files to regret and value under each metric: one score file a branch, written block by block."""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.chunks import ChunkFile, chunk_file
from bocu.core.io.files import canonical_json
from bocu.core.io.provenance import SHARED, collected, united
from bocu.core.plain import Specification
from bocu.core.randomness import Streams
from bocu.core.rounds import FiniteDomain
from bocu.problems.scalarised_optimum import weight_net
from bocu.sweep.evaluation.deployed import deployed
from bocu.sweep.evaluation.metrics import Scorer, build_scorer
from bocu.sweep.evaluation.optima import read_optima
from bocu.sweep.evaluation.robust_front import WEIGHTS, RunFront
from bocu.sweep.runs.kernel_fits import kernel_told
from bocu.sweep.runs.protocol import PROTOCOLS
from bocu.sweep.runs.records import ROUNDS, context_variable, decision_variable, read_runs
from bocu.sweep.runs.seed_run import Inputs, build_problem

if TYPE_CHECKING:
    import xarray as xr

    from bocu.problems.base import Problem, Realisation

logger = logging.getLogger(__name__)

_BY_ROUND, _BY_WEIGHT = ("metric", "seed", "iteration"), ("metric", "seed", "weight")
_SCORED: Mapping[str, tuple[tuple[str, ...], str]] = {
    "regret": (_BY_ROUND, "instantaneous regret under the metric"),
    "value": (_BY_ROUND, "value of the decision under the metric"),
    "recommended_regret": (_BY_ROUND, "regret under the metric of the decision recommended after the round"),
    "recommended_value": (_BY_ROUND, "value under the metric of the decision recommended after the round"),
    "hypervolume_share": (
        _BY_ROUND,
        "hypervolume of what the decisions so far guarantee, as a share of the best front's",
    ),
    "front_weight": ((*_BY_WEIGHT, "output"), "weights of the front's net"),
    "front_value": (_BY_WEIGHT, "largest value of the weighted sum among the decisions of the run"),
    "front_guarantee": ((*_BY_WEIGHT, "output"), "value of each output by itself at that decision"),
    "best_front_value": (_BY_WEIGHT, "largest value of the weighted sum that there is"),
    "best_front_guarantee": ((*_BY_WEIGHT, "output"), "value of each output by itself at the best decision"),
}
"""What is scored, by name: dimensions and long name."""
_OF_FRONTS = tuple(name for name in _SCORED if "front" in name or name == "hypervolume_share")
_PURE_NUMBERS = ("hypervolume_share", "front_weight")
SURROGATE = "surrogate"  #: Attribute of what algorithms with one model believe in: see `kernel_told`, JSON.
DISCRETISATION_ERROR = "discretisation_error"
DISCRETISATION_ATTRIBUTES = {
    "long_name": "largest difference from the metric's values on four times as many contexts",
    "units": "those of the metric",
}


def score(
    run_files: Sequence[str | Path],
    inputs: Inputs,
    branch: Specification,
    metrics: Sequence[Specification],
    output: str | Path,
    partial: bool = False,
    optima: Sequence[str | Path] = (),
) -> None:
    """Score the runs of one branch.

    Args:
        run_files: its blocks, in the order of their seeds.
        inputs: the files that its problem is built from.
        branch: its specification, without seeds.
        metrics: their labels and plain specifications.
        output: the score file: `regret`, `value` and, of several outputs, `hypervolume_share` with dimensions (metric,
            seed, iteration), the fronts (metric, seed, weight) of that hypervolume, and what the runs reported of
            themselves.
        partial: leave out what is broken or of another specification, instead of ending.
        optima: files of the best decisions of metrics, where they are searched for beforehand.

    Raises:
        BocuError: a run file is missing or broken, or is not of this branch.
    """
    panel = [build_scorer(metric) for metric in metrics]
    found = {label: of_metric for file in optima for label, of_metric in read_optima(file).items()}
    known = [found[metric["label"]].values if metric["label"] in found else {} for metric in metrics]
    problem = build_problem(branch["problem"], inputs)
    sizes = {"metric": len(panel), "seed": None, "iteration": problem.initial + branch["iterations"]}
    if problem.prior_labels:
        sizes["prior"] = len(problem.prior_labels)
    writer: _Writer | None = None
    with chunk_file(output, sizes) as file:
        file.define("seed", ("seed",), "i8", {"long_name": "seed", "units": "1"})
        for block in _blocks(run_files, branch, partial):
            writer = writer or _Writer(file, block, panel)
            writer.add(block, _scored(block, problem, panel, known))
        iterations = range(1 - problem.initial, branch["iterations"] + 1)
        _coordinates(file, [metric["label"] for metric in metrics], iterations, problem.prior_labels)
        errors = [found[metric["label"]].error if metric["label"] in found else np.nan for metric in metrics]
        if np.isfinite(errors).any():
            file.coordinate(DISCRETISATION_ERROR, "metric", errors, DISCRETISATION_ATTRIBUTES)
        told = {"specification": canonical_json(branch), SURROGATE: canonical_json(kernel_told(problem))}
        file.attributes({**(writer.attributes() if writer else {}), **told})


def score_branch(parameters: Specification, inputs: Inputs, output: str | Path) -> None:
    """Score the runs of one branch as a score job of the workflow is told to.

    Args:
        parameters: `branch` and `metrics`, plain, of `JobParameters.score`; `runs`, where given, are those that exist.
        inputs: the files that its problem is built from, and under "runs" its blocks, in the order of their seeds.
        output: the score file.

    Raises:
        BocuError: a run file is missing or broken, or is not of this branch.
    """
    of_problem = {key: files for key, files in inputs.items() if key not in ("runs", "optima")}
    partial = "runs" in parameters
    run_files = _listed(list(parameters["runs"]) if partial else inputs["runs"])
    optima = _listed(inputs.get("optima", []))
    score(run_files, of_problem, parameters["branch"], parameters["metrics"], output, partial, optima)


def _listed(files: str | list[str]) -> list[str]:
    return [files] if isinstance(files, str) else list(files)


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


def _scored(
    block: "xr.Dataset",
    problem: "Problem",
    panel: Sequence[Scorer],
    known: Sequence[Mapping[int | None, Mapping[int, float]]],
) -> dict[str, np.ndarray]:
    """Return regret and value of what was decided and, under the simulator, the regret of what is recommended.

    Args:
        block: runs of a branch.
        problem: that they played.
        panel: the metrics.
        known: of each metric the best values that are known, as `StoredOptima` has them.
    """
    sizes = {"metric": len(panel), **_front_sizes(block), **{str(dim): size for dim, size in block.sizes.items()}}
    found = {name: np.full([sizes[dim] for dim in _SCORED[name][0]], np.nan) for name in _scored_names(block, panel)}
    protocol = PROTOCOLS[problem.protocol]
    for row, seed in enumerate(block["seed"].values):
        run = block.isel(seed=row)
        realisation = problem.realise(Streams(int(seed)))
        seen = run[context_variable(realisation.description.contexts)].values
        situations = [
            protocol.situation(realisation, int(t), seen[:place]) for place, t in enumerate(run["iteration"].values)
        ]
        decisions = run[decision_variable(realisation.description.decisions)].values
        for column, (metric, best) in enumerate(zip(panel, known, strict=True)):
            metric.metric.optima = best.get(int(seed), best.get(None, {}))
            if metric.deployed is not None:
                found["regret"][column, row, :-1] = 0.0
                final = deployed(run, realisation, situations[-1], metric.deployed)
                scored = metric.score(realisation, situations[-1:], final)
                found["regret"][column, row, -1:], found["value"][column, row, -1:] = scored
                continue
            scored = metric.score(realisation, situations, decisions)
            found["regret"][column, row], found["value"][column, row] = scored
            if "hypervolume_share" in found:
                for name, values in _front(metric.front(realisation, situations, decisions)).items():
                    found[name][column, row] = values
            if "recommended_regret" in found:
                recommended = run["recommended_index"].values
                regret, _ = metric.score(realisation, situations, np.maximum(recommended, 0))
                found["recommended_regret"][column, row] = np.where(recommended < 0, np.nan, regret)
            if "recommended_value" in found:
                there, recommended = _recommended(run, realisation)
                if len(there):
                    told = [situations[place] for place in there]
                    found["recommended_value"][column, row, there] = metric.score(realisation, told, recommended)[1]
    return found


def _recommended(run: "xr.Dataset", realisation: "Realisation") -> tuple[np.ndarray, np.ndarray]:
    """Return the rows after which a run recorded what it recommends, and these decisions."""
    if isinstance(realisation.description.decisions, FiniteDomain):
        index = run["recommended_index"].values
        there = np.flatnonzero(index >= 0)
        return there, index[there]
    points = run["recommended"].values
    there = np.flatnonzero(np.isfinite(points).all(axis=1))
    return there, points[there]


def _front(found: RunFront) -> dict[str, np.ndarray]:
    return {
        "hypervolume_share": found.share,
        "front_weight": found.best.weights,
        "front_value": found.tried.values,
        "front_guarantee": found.tried.guaranteed,
        "best_front_value": found.best.values,
        "best_front_guarantee": found.best.guaranteed,
    }


def _front_sizes(runs: "xr.Dataset") -> dict[str, int]:
    """Return the sizes of what fronts have beside the dimensions of runs; nothing where there is one output."""
    if "output" not in runs.dims:
        return {}
    outputs = runs.sizes["output"]
    return {"weight": len(weight_net(outputs, WEIGHTS)), "output": outputs}


def _scored_names(runs: "xr.Dataset", panel: Sequence[Scorer]) -> list[str]:
    left_out = {
        "recommended_value": all(scorer.under is None for scorer in panel),  # what is deployed meets other laws
        "recommended_regret": runs.attrs["protocol"] != "simulator",  # elsewhere what counts is what was decided
        **dict.fromkeys(_OF_FRONTS, "output" not in runs.dims),
    }
    return [name for name in _SCORED if not left_out.get(name)]


class _Writer:
    """Appends blocks along the seeds."""

    def __init__(self, file: ChunkFile, first: "xr.Dataset", panel: Sequence[Scorer]) -> None:
        self.file = file
        self.rows = 0
        self.seeds: list[int] = []
        self.kept = {key: first.attrs[key] for key in SHARED}
        self.collected: list[dict[str, list[str]]] = []
        self.wall_seconds = 0.0
        self.carried = [name for name in first.data_vars if _is_carried(first, str(name))]
        for name in self.carried:
            variable = first[name]
            file.define(str(name), [str(dim) for dim in variable.dims], variable.dtype, variable.attrs)
        for dim, size in _front_sizes(first).items():
            file.dimension(dim, size)
            file.coordinate(dim, dim, range(1, size + 1), {"long_name": f"number of the {dim}", "units": "1"})
        for name in _scored_names(first, panel):
            units = "1" if name in _PURE_NUMBERS else first.attrs["payoff_units"]
            dims, long_name = _SCORED[name]
            file.define(name, dims, "f8", {"long_name": long_name, "units": units})

    def add(self, block: "xr.Dataset", scored: Mapping[str, np.ndarray]) -> None:
        rows = slice(self.rows, self.rows + block.sizes["seed"])
        self.file.write("seed", (rows,), block["seed"].values)
        for name in self.carried:
            self.file.write(str(name), (rows,), block[name].values)
        for name, values in scored.items():
            self.file.write(name, (slice(None), rows), values)
        self.rows = rows.stop
        self.collected.append(collected(block.attrs))
        self.wall_seconds += float(block.attrs["wall_seconds"])

    def attributes(self) -> dict[str, object]:
        return {**self.kept, **united(self.collected), "wall_seconds": self.wall_seconds}


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
