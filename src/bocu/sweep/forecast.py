"""How long blocks of seeds take and how large they get, what their jobs ask for, and how many seeds share one.

Known from, in this order: run files of the branch; run files of other experiments, of the same classes; else the model
alone (`experiment.resources`), cautious where a class says nothing. The model carries measured times over to other
numbers of seeds and iterations. None of this enters a path or the parameters of a job.

Where an experiment says `per_job: auto`, a job is to take a minute: long beside its own start, short beside the sweep,
and soon repeated when it fails. A sweep with less work than that for every core is cut smaller, for the cores to share
it. One estimate differs from the next: so what was settled holds from then on, and more seeds add blocks. Seeds are
computed one by one, so that no number depends on any of this.
"""

import functools
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.files import read_text, write_json
from bocu.core.plain import Specification
from bocu.sweep.experiment.branches import Branch, Component
from bocu.sweep.experiment.paths import RESULTS, block_name
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.experiment.record import read_record
from bocu.sweep.experiment.resources import (
    FILE_MB,
    START_SECONDS,
    estimate,
    memory,
    minutes,
    scoring_seconds,
    usual_seconds,
)
from bocu.sweep.narrator import UNFORECAST, Job

_FILES = 4  # that are read of one branch
MODEL, CAUTION = "model", "caution"


@dataclass(frozen=True)
class BlockForecast:
    """What a block of seeds takes."""

    seconds: float  #: core seconds of the run itself.
    memory_mb: float  #: peak memory of its job, MB.
    disk_mb: float  #: its run file, MB.
    source: str  #: where this is known from: "4 run files", "model" or, where the model knows nothing, "caution".


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

    def _learn(self, branch: Branch) -> Callable[[int], BlockForecast]:
        kind = _kind(branch.specification)
        own = sorted(Path(self.plan.paths.run_file(branch, 0, 0)).parent.glob("seeds-*.nc"))
        found = [run for run in map(measured, own[:_FILES]) if run and _kind(run.specification) == kind]
        if not found and self.looks_elsewhere:
            found = self._elsewhere.get(kind, [])
        return functools.partial(_by_runs, branch, found) if found else functools.partial(_by_model, branch)

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


SECONDS = 60.0  #: What a job is to take.
LEAST_SECONDS = 5.0  #: What it is to take at least, were cores to stand idle: ten times as long as its start.
BLOCKS_A_CORE = 2
Key = tuple[str, str, str]


def settled(plan: Plan) -> dict[Key, int]:
    """Return the seeds of a block of every branch: as they are kept, as of runs that stand, else by the forecast.

    Raises:
        BocuError: what is kept cannot be read.
    """
    kept, before = _kept(plan), _of_the_record(plan)
    found: dict[Key, int] = {}
    for key, branch in plan.branches.items():
        if "/".join(key) in kept:
            found[key] = kept["/".join(key)]
        elif before is not None and Path(plan.paths.run_file(branch, 0, 0)).parent.is_dir():
            found[key] = before
    if len(found) < len(plan.branches):
        found = {**_forecast(plan, len(os.sched_getaffinity(0))), **found}
    return found


def keep(plan: Plan) -> None:
    """Write down what was settled, for all further planning; other branches that have been settled stay."""
    if plan.experiment.seeds.per_job == "auto":
        now = {"/".join(key): seeds for key, seeds in plan.per_job.items()}
        write_json(plan.paths.per_job, {**_kept(plan), **now}, recorded=True)


def _forecast(plan: Plan, cores: int) -> dict[Key, int]:
    forecaster, count = Forecaster(plan, elsewhere=False), plan.experiment.seeds.count
    seconds = {branch.key: _seconds(forecaster, branch) for branch in plan.branches.values()}
    work = count * sum(a_seed for _, a_seed in seconds.values())
    wanted = min(SECONDS, max(LEAST_SECONDS, work / (BLOCKS_A_CORE * cores)))
    return {key: seeds_a_job(count, start, a_seed, wanted) for key, (start, a_seed) in seconds.items()}


def _seconds(forecaster: Forecaster, branch: Branch) -> tuple[float, float]:
    """Return what a block of a branch takes before its first seed, and what a seed adds."""
    one, two = (forecaster.block(branch, seeds).seconds for seeds in (1, 2))
    a_seed = max(two - one, 1e-9)
    return max(one - a_seed, 0.0), a_seed


def seeds_a_job(count: int, start: float, a_seed: float, wanted: float) -> int:
    """Return the seeds of blocks, as equal as they can be, of which none is to take longer than `wanted`.

    Args:
        count: all seeds.
        start: seconds of a block before its first seed.
        a_seed: seconds of each seed.
        wanted: seconds of a block; where a seed alone takes longer, it has a block of its own.
    """
    most = min(max(1, int((wanted - start) / a_seed)), count)
    return math.ceil(count / math.ceil(count / most))


def _kept(plan: Plan) -> Mapping[str, int]:
    file = Path(plan.paths.per_job)
    if not file.is_file():
        return {}
    try:
        kept = json.loads(read_text(file))
        if all(isinstance(seeds, int) and seeds >= 1 for seeds in kept.values()):
            return dict(kept)
    except (ValueError, AttributeError, BrokenFileError):
        pass
    raise BocuError(
        f"{file}: not readable as seeds a job, by branch, or edited; delete it, and blocks are settled anew: runs in "
        "blocks of another size run again"
    )


def _of_the_record(plan: Plan) -> int | None:
    """Return the seeds of a block that the experiment had when it was last run, if it said so."""
    seeds = (read_record(plan.paths.record) or {}).get("seeds")
    before = seeds.get("per_job") if isinstance(seeds, Mapping) else None
    return before if isinstance(before, int) else None
