"""How long blocks of seeds take and how large they get: as measured where runs of the kind stand, else by the model.

Measured times correct the model (`bocu.experiment.resources`) by a factor, so that they hold for other numbers of seeds
and iterations too.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bocu.experiment.branches import Branch, Component
from bocu.experiment.plan import RESULTS, Plan
from bocu.experiment.resources import FILE_MB, START_SECONDS, estimate

_FILES = 4  # that are read of one branch


@dataclass(frozen=True)
class Forecast:
    """What a block of seeds takes.

    Attributes:
        seconds: core seconds of the run itself.
        memory_mb: peak memory of its job, MB.
        disk_mb: its run file, MB.
        measured: number of run files that it was learnt from; 0 where the model speaks alone.
    """

    seconds: float
    memory_mb: float
    disk_mb: float
    measured: int


@dataclass(frozen=True)
class _Measured:
    specification: Mapping[str, Any]
    seconds: float
    megabytes: float


class Forecaster:
    """Forecasts the blocks of one plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._factors: dict[tuple[str, str, str], tuple[float, float, int]] = {}

    def block(self, branch: Branch, seeds: int) -> Forecast:
        """Forecast a block of `seeds` seeds."""
        if branch.key not in self._factors:
            self._factors[branch.key] = self._learn(branch)
        slower, larger, count = self._factors[branch.key]
        model = estimate(branch, seeds)
        return Forecast((model.seconds - START_SECONDS) * slower, model.memory_mb, model.disk_mb * larger, count)

    def _learn(self, branch: Branch) -> tuple[float, float, int]:
        own = sorted(Path(self.plan.run_file(branch, 0, 0)).parent.glob("seeds-*.nc"))
        found = [run for run in map(_measure, own[:_FILES]) if run and _kind(run.specification) == _kind_of(branch)]
        found = found or self._elsewhere.get(_kind_of(branch), [])
        seconds = megabytes = seconds_by_model = megabytes_by_model = 0.0
        for run in found:
            first, last = run.specification["seeds"]
            model = estimate(_as_run(branch, run.specification), last - first + 1)
            seconds, megabytes = seconds + run.seconds, megabytes + run.megabytes
            seconds_by_model += model.seconds - START_SECONDS
            megabytes_by_model += model.disk_mb
        if not found:
            return 1.0, 1.0, 0
        return seconds / seconds_by_model, megabytes / megabytes_by_model, len(found)

    @functools.cached_property
    def _elsewhere(self) -> dict[tuple[str, ...], list[_Measured]]:
        """Runs of all experiments, a file a branch."""
        kinds: dict[tuple[str, ...], list[_Measured]] = {}
        for folder in sorted(Path(RESULTS).glob("*/runs/*/*/*")):
            run = _measure(min(folder.glob("seeds-*.nc"), default=None))
            if run:
                kinds.setdefault(_kind(run.specification), []).append(run)
        return {kind: runs[:_FILES] for kind, runs in kinds.items()}


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


def _measure(path: Path | None) -> _Measured | None:
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
    return _Measured(specification, seconds, 1e-6 * path.stat().st_size)


def _kind(specification: Mapping[str, Any]) -> tuple[str, ...]:
    parts = (specification[part] for part in ("problem", "objective", "algorithm"))
    return tuple(part["class"] if part else "" for part in parts)


def _kind_of(branch: Branch) -> tuple[str, ...]:
    return _kind(branch.specification)


def _as_run(branch: Branch, specification: Mapping[str, Any]) -> Branch:
    """Return a branch of the same classes with the parameters and iterations of a run."""

    def component(like: Component, plain: Mapping[str, object]) -> Component:
        try:
            parameters = type(like.parameters).model_validate(plain["parameters"])
        except ValueError:  # written by other code, with other parameters
            return like
        return replace(like, parameters=parameters)

    return Branch(
        component(branch.problem, specification["problem"]),
        branch.objective,
        component(branch.algorithm, specification["algorithm"]),
        specification["iterations"],
        specification["threads"],
    )
