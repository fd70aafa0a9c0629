"""`bocu status`: how far an experiment is."""

import os
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from bocu.commands.options import Experiment, Mirror, Settings, Trust
from bocu.core.errors import BocuError
from bocu.core.written import duration, table

if TYPE_CHECKING:
    from bocu.sweep.calls import Call, QueuedJob
    from bocu.sweep.experiment.plan import Plan
    from bocu.sweep.status import BlockStatus

_SHOWN_ERRORS = 5
_SHOWN_JOBS = 10
_CLEAR = "\x1b[2J\x1b[H"  # of a terminal


def status_command(
    experiment: Experiment,
    watch: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Show it again so often, until no run is left.", min=0.1)
    ] = None,
    cores: Annotated[
        int | None, typer.Option(help="Cores to share what is left; as many as run now if left out.", min=1)
    ] = None,
    mirror: Mirror = None,
    config: Settings = None,
    trust: Trust = False,
) -> None:
    """Show which blocks of seeds are done, stale, running, queued, failed or missing, and how much time is left.

    Read from files, logs and, where it was used, SLURM's queue, so it works beside a running sweep, on any
    machine that sees them. Jobs whose Snakemake was killed are named: `bocu resume` waits for them. `stale` is a run
    file that stands but would be made again (`bocu why FILE` says why); what a checkpoint holds counts as progress.
    """
    from bocu.sweep.opening import open_plan

    plan = open_plan(experiment, mirror, config or [], trust)
    while True:
        text, left = _view(plan, cores)
        if watch is None:
            typer.echo(text)
            return
        typer.echo(f"{_CLEAR if sys.stdout.isatty() else ''}{time.strftime('%H:%M:%S')}\n{text}")
        if not left:
            return
        time.sleep(watch)


def _view(plan: "Plan", cores: int | None) -> tuple[str, int]:
    """Return the text, and the number of blocks that are not done."""
    from bocu.sweep.forecast import Forecaster, wall_seconds
    from bocu.sweep.staleness import Staleness
    from bocu.sweep.status import BlockState, by_branch, statuses

    known, jobs, trouble = _queue(plan)
    blocks = list(statuses(plan, Staleness(plan), {job.block: job.state for job in jobs if job.block}))
    forecaster = Forecaster(plan)
    left = {
        block: forecaster.block(block.branch, block.last - block.first + 1).seconds * (1 - block.rounds / block.of)
        for block in blocks
        if block.state is not BlockState.DONE
    }

    def row(name: tuple[str, str, str], mine: "list[BlockStatus]") -> tuple[object, ...]:
        rounds = sum(block.rounds for block in mine) / sum(block.of for block in mine)
        seconds = sum(left.get(block, 0.0) for block in mine)
        counts = [sum(block.state is state for block in mine) for state in BlockState]
        return (*name, len(mine), *counts, f"{int(100 * rounds)} %", duration(seconds) if seconds else "-")

    rows = [row(key, mine) for key, mine in by_branch(blocks).items()]
    head = ("problem", "objective", "algorithm", "blocks", *BlockState, "rounds", "core time left")
    lines = [*table(head, [*rows, row(("all", "", ""), blocks)]), ""]
    running = sum(block.state is BlockState.RUNNING for block in blocks)
    if left:
        at = cores or running or os.cpu_count() or 1
        lines.append(f"time left: about {duration(wall_seconds(list(left.values()), at))} on {at} cores")
    else:
        lines.append("all runs are done")
    lines += _errors(plan, [block for block in blocks if block.state is BlockState.FAILED])
    lines += [*trouble, *_left_behind(known, jobs)]
    return "\n".join(lines), len(left)


def _errors(plan: "Plan", failed: "list[BlockStatus]") -> Iterator[str]:
    for block in failed[:_SHOWN_ERRORS]:
        yield f"{plan.paths.log(block.branch, block.first, block.last)}: {block.error}"
    if len(failed) > _SHOWN_ERRORS:
        yield f"... and {len(failed) - _SHOWN_ERRORS} more failed"


def _queue(plan: "Plan") -> "tuple[list[Call], list[QueuedJob], list[str]]":
    """Return the experiment's calls of Snakemake, their jobs in SLURM's queue, and a line where it cannot be asked."""
    from bocu.sweep.calls import calls, queued

    known = [call for call in calls() if call.experiment == plan.experiment.name]
    try:
        return known, queued(known), []
    except BocuError as error:
        return known, [], [f"note: {error}"]


def _left_behind(known: "list[Call]", jobs: "list[QueuedJob]") -> Iterator[str]:
    """Name the jobs in SLURM's queue whose Snakemake was killed."""
    for call in known:
        mine = [job for job in jobs if job.name == call.run_id()]
        if mine and not call.is_alive():
            yield f"{call}, was killed; `bocu resume` waits for its {len(mine)} jobs that are still in SLURM's queue:"
            for job in mine[:_SHOWN_JOBS]:
                yield f"  {job.number} {job.state.lower()} {job.block or job.comment}"
            if len(mine) > _SHOWN_JOBS:
                yield f"  ... and {len(mine) - _SHOWN_JOBS} more"
