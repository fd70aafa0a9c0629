"""How long blocks of seeds take and how large they get, and what their jobs ask for.

Known from, in this order: run files of the branch; a pilot of it (`bocu.sweep.pilots`); run files of other experiments,
of the same classes; else the model alone (`experiment.resources`), cautious where a class says nothing. The model
carries measured times over to other numbers of seeds and iterations. None of this enters a path or the parameters of
a job.
"""

import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bocu.core.errors import BocuError
from bocu.core.plain import Specification
from bocu.sweep.experiment.branches import Branch, Component
from bocu.sweep.experiment.paths import RESULTS, block_name
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.experiment.resources import (
    FILE_MB,
    PROCESS_MB,
    ROW_COPIES,
    START_SECONDS,
    WORKFLOW_MB,
    BlockEstimate,
    estimate,
    memory,
    minutes,
)
from bocu.sweep.experiment.scoring_costs import scoring_seconds
from bocu.sweep.experiment.stages import usual_seconds
from bocu.sweep.narrator import UNFORECAST, Job
from bocu.sweep.pilots import read_pilots
from bocu.sweep.runs.pilot import Pilot

_FILES = 4  # that are read of one branch
MODEL, CAUTION = "model", "caution"


@dataclass(frozen=True)
class BlockForecast:
    """What a block of seeds takes.

    Attributes:
        seconds: core seconds of the run itself.
        memory_mb: peak memory of its job, MB.
        disk_mb: its run file, MB.
        source: where this is known from: "4 run files", "pilot", "model" or, where the model knows nothing, "caution".
    """

    seconds: float
    memory_mb: float
    disk_mb: float
    source: str


@dataclass(frozen=True)
class Measured:
    """What a run file tells of its run."""

    specification: Specification
    seconds: float
    megabytes: float


class Forecaster:
    """Forecasts the blocks of one plan.

    Args:
        plan: the plan.
        elsewhere: whether run files of other experiments are looked at, which takes time.
    """

    def __init__(self, plan: Plan, elsewhere: bool = True) -> None:
        self.plan = plan
        self.looks_elsewhere = elsewhere
        self._known: dict[tuple[str, str, str], Callable[[int], BlockForecast]] = {}

    def block(self, branch: Branch, seeds: int) -> BlockForecast:
        """Forecast a block of `seeds` seeds."""
        if branch.key not in self._known:
            self._known[branch.key] = functools.cache(self._learn(branch))
        return self._known[branch.key](seeds)

    def unknown(self, branch: Branch) -> tuple[str, ...]:
        """Return the classes whose cost nothing is known of: the branch's forecast is cautious."""
        return estimate(branch, 1).unknown if self.block(branch, 1).source == CAUTION else ()

    def memory(self, branch: Branch, first: int | str, last: int | str, attempt: int) -> int:
        """Return the memory in MB to ask for in an attempt at the block of seeds `first` to `last`."""
        return memory(self.block(branch, int(last) - int(first) + 1).memory_mb, attempt)

    def minutes(self, branch: Branch, first: int | str, last: int | str, attempt: int) -> int:
        """Return the minutes to ask for in an attempt at the block of seeds `first` to `last`."""
        return minutes(START_SECONDS + self.block(branch, int(last) - int(first) + 1).seconds, attempt)

    def jobs(self) -> dict[str, float]:
        """Return the seconds of each block of runs that is to be made, by its job's name, and of usual jobs by rule."""
        plan, branches = self.plan, list(self.plan.branches.values())
        blocks = {
            Job("run", {"block": block_name(branch, *seeds)}).name: self.block(branch, seeds[1] - seeds[0] + 1).seconds
            for branch in branches
            for seeds in plan.blocks_of(branch)
            if not Path(plan.paths.run_file(branch, *seeds)).is_file()
        }
        usual = usual_seconds()
        scoring = sum(scoring_seconds(plan, branch) for branch in branches) / max(len(branches), 1)
        run = sum(blocks.values()) / max(len(blocks), 1) or UNFORECAST
        return {**usual, "score": usual["score"] + scoring, "run": run, **blocks}

    def runs(self, branch: Branch) -> "list[Measured]":
        """Return what run files of a branch tell, some of them."""
        own = sorted(Path(self.plan.paths.run_file(branch, 0, 0)).parent.glob("seeds-*.nc"))
        return [run for run in map(measured, own[:_FILES]) if run and _kind(run.specification) == _kind_of(branch)]

    def _learn(self, branch: Branch) -> Callable[[int], BlockForecast]:
        if found := self.runs(branch):
            return functools.partial(_by_runs, branch, found)
        if branch.key in self._pilots:
            return functools.partial(by_pilot, branch, self._pilots[branch.key])
        if self.looks_elsewhere and (found := self._elsewhere.get(_kind_of(branch), [])):
            return functools.partial(_by_runs, branch, found)
        return functools.partial(_by_model, branch)

    @functools.cached_property
    def _pilots(self) -> dict[tuple[str, str, str], Pilot]:
        return read_pilots(self.plan)

    @functools.cached_property
    def _elsewhere(self) -> dict[tuple[str, ...], list[Measured]]:
        """Runs of all experiments, a file a branch."""
        kinds: dict[tuple[str, ...], list[Measured]] = {}
        for folder in sorted(Path(RESULTS).glob("*/runs/*/*/*")):
            run = measured(min(folder.glob("seeds-*.nc"), default=None))
            if run:
                kinds.setdefault(_kind(run.specification), []).append(run)
        return {kind: runs[:_FILES] for kind, runs in kinds.items()}


def _by_model(branch: Branch, seeds: int) -> BlockForecast:
    model = estimate(branch, seeds)
    source = CAUTION if model.unknown else MODEL
    return BlockForecast(model.seconds - START_SECONDS, model.memory_mb, model.disk_mb, source)


def _by_runs(branch: Branch, runs: Sequence[Measured], seeds: int) -> BlockForecast:
    """Correct the model by a factor."""
    seconds = megabytes = seconds_by_model = megabytes_by_model = 0.0
    for run in runs:
        first, last = run.specification["seeds"]
        model = estimate(_as_run(branch, run.specification), last - first + 1)
        seconds, megabytes = seconds + run.seconds, megabytes + run.megabytes
        seconds_by_model += model.seconds - START_SECONDS
        megabytes_by_model += model.disk_mb
    slower, larger = seconds / seconds_by_model, megabytes / megabytes_by_model
    model = estimate(branch, seeds)
    source = f"{len(runs)} run file{'s' if len(runs) > 1 else ''}"
    return BlockForecast((model.seconds - START_SECONDS) * slower, model.memory_mb, model.disk_mb * larger, source)


def by_pilot(branch: Branch, pilot: Pilot, seeds: int) -> BlockForecast:
    """Carry a pilot's rounds on to all rounds, by the model's growth; where that knows nothing, by the pilot's own."""
    half, whole, rounds = pilot.half, pilot.whole, branch.iterations
    model = estimate(branch, seeds)
    last = (whole.seconds - half.seconds) / max(whole.rounds - half.rounds, 1) or whole.seconds / whole.rounds
    more = max(rounds - whole.rounds, 0)
    if model.unknown:
        # A line through the rates of both halves of the pilot, in their middles, which never falls.
        growth = max(0.0, last - half.seconds / half.rounds) / (whole.rounds / 2)
        added = more * (last + growth * (rounds - half.rounds) / 2)
        held = more * (whole.memory_mb - half.memory_mb) / max(whole.rounds - half.rounds, 1)
        rows_mb = 1e-6 * seeds * rounds * pilot.row_bytes
        disk_mb = FILE_MB + rows_mb
        memory_mb = WORKFLOW_MB + max(whole.memory_mb, PROCESS_MB) + held + ROW_COPIES * rows_mb
    else:

        def modelled(iterations: int) -> BlockEstimate:
            return estimate(replace(branch, iterations=iterations), 1)

        done = modelled(whole.rounds)
        before = modelled(half.rounds if half.rounds < whole.rounds else 0)
        slower = last * max(whole.rounds - half.rounds, 1) / (done.seconds - before.seconds)
        added = slower * (modelled(rounds).seconds - done.seconds) if more else 0.0
        disk_mb = model.disk_mb
        memory_mb = max(model.memory_mb, WORKFLOW_MB + whole.memory_mb + model.memory_mb - done.memory_mb)
    a_seed = pilot.start_seconds + whole.seconds * min(rounds / whole.rounds, 1.0) + added
    return BlockForecast(pilot.set_up_seconds + seeds * a_seed, memory_mb, disk_mb, "pilot")


def aggregates_mb(plan: Plan) -> float:
    """Estimate the size of scores and cubes together, MB: what runs reported, regret and value by each metric."""
    scored = 2 * 8e-6 * len(plan.metrics)
    seeds = plan.experiment.seeds.count
    rounds = sum(
        estimate(branch, seeds).disk_mb - FILE_MB + scored * seeds * branch.iterations
        for branch in plan.branches.values()
    )
    return 2 * rounds + FILE_MB * (len(plan.branches) + len(plan.problems) + 1)


def wall_seconds(blocks: Sequence[float], cores: int) -> float:
    """Return the time of blocks of so many core seconds on some cores: no less than that of the longest."""
    return max(sum(blocks) / cores, max(blocks, default=0.0))


def measured(path: Path | None) -> Measured | None:
    """Return what a run file tells; None where it cannot be read, or there is none."""
    import netCDF4
    import numpy as np

    if path is None:
        return None
    try:
        with netCDF4.Dataset(path) as data:
            specification = json.loads(data.getncattr("specification"))
            # A run that was resumed knows the time since then only; its rounds know theirs.
            seconds = max(float(data.getncattr("wall_seconds")), float(np.nansum(data["seconds"][:])))
    except (OSError, AttributeError, IndexError, ValueError, RuntimeError):
        return None
    return Measured(specification, seconds, 1e-6 * path.stat().st_size)


def _kind(specification: Specification) -> tuple[str, ...]:
    parts = (specification[part] for part in ("problem", "objective", "algorithm"))
    # Of code of one's own the latest times will do, whatever was edited since.
    return tuple(part["class"].partition("@")[0] if part else "" for part in parts)


def _kind_of(branch: Branch) -> tuple[str, ...]:
    return _kind(branch.specification)


def _as_run(branch: Branch, specification: Specification) -> Branch:
    """Return a branch of the same classes with the parameters and iterations of a run."""

    def component(like: Component, plain: Specification) -> Component:
        try:
            parameters = like.recorded(plain["parameters"])
        except BocuError:  # written by other code, with other parameters
            return like
        return replace(like, parameters=parameters)

    return Branch(
        component(branch.problem, specification["problem"]),
        branch.objective,
        component(branch.algorithm, specification["algorithm"]),
        specification["iterations"],
        specification["threads"],
    )
