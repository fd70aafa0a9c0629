"""How many seeds share a job where an experiment says `per_job: auto`: settled once, and kept beside the results.

A job is to take a minute: long beside its own start, short beside the sweep, and soon repeated when it fails. A sweep
with less work than that for every core is cut smaller, for the cores to share it. What is forecast is an estimate, and
one estimate differs from the next: so what was settled holds from then on, and more seeds add blocks. Seeds are
computed one by one, so that no number depends on any of this.
"""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path

from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.files import read_text, write_json
from bocu.sweep.experiment.branches import Branch
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.forecast import Forecaster

SECONDS = 60.0
"""What a job is to take."""
LEAST_SECONDS = 5.0
"""What it is to take at least, were cores to stand idle: ten times as long as its start."""
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
    try:
        before = json.loads(Path(plan.paths.record).read_text(encoding="utf-8"))["seeds"]["per_job"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return before if isinstance(before, int) else None
