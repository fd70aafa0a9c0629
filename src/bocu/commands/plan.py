"""`bocu plan`: what a sweep takes before it is started."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bocu.commands.options import Experiment, Mirror, Settings, Trust
from bocu.core.written import counted, duration, size, table

if TYPE_CHECKING:
    from bocu.sweep.experiment.plan import Plan
    from bocu.sweep.forecast import Forecaster
    from bocu.sweep.staleness import Staleness
    from bocu.sweep.status import BlockStatus


def plan_command(
    experiment: Experiment,
    cores: Annotated[
        int | None, typer.Option(help="Cores to share the work; this machine's if left out.", min=1)
    ] = None,
    mirror: Mirror = None,
    config: Settings = None,
    trust: Trust = False,
) -> None:
    """Show jobs, core hours, wall time and disk of an experiment: of all of it, and of what is still to be done.

    Times are learnt from run files of the branch, else from run files of the same problem and algorithm under results/,
    else they come from a model; the last column says which. What is done is told by what the files say of themselves.
    """
    from bocu.sweep.forecast import Forecaster
    from bocu.sweep.opening import open_plan
    from bocu.sweep.staleness import Staleness
    from bocu.sweep.status import statuses

    plan = open_plan(experiment, mirror, config or [], trust)
    for note in plan.notes():
        typer.echo(f"note: {note}", err=True)
    forecaster = Forecaster(plan)
    staleness = Staleness(plan)
    blocks = list(statuses(plan, staleness))
    per_job = max(plan.per_job.values())
    runs = len(plan.branches) * plan.experiment.seeds.count
    typer.echo(
        f"{plan.results}: {counted(len(plan.problems), 'problem')}, {counted(len(plan.branches), 'branch')}, "
        f"{counted(runs, 'run')} in {counted(len(blocks), 'job')} of up to {counted(per_job, 'seed')}\n"
    )
    for lines in (_stages(plan, staleness), _branches(plan, blocks, forecaster, cores or os.cpu_count() or 1)):
        typer.echo("\n".join([*lines, ""]))
    shared = _run_cache(staleness, blocks)
    if shared:
        typer.echo(f"{shared} of the run jobs take over what another experiment ran")
    if plan.experiment.compare:
        from bocu.sweep.archive.comparing import spared
        from bocu.sweep.archive.entries import Archive

        typer.echo("\n".join(spared(plan, Archive())))


def _stages(plan: "Plan", staleness: "Staleness") -> Iterator[str]:
    from bocu.sweep.experiment.paths import FIGURE_SUFFIXES

    files = plan.products.by_stage()
    jobs = {
        "data": sorted(path for path in plan.inputs.of_problems() if not path.startswith(plan.results)),
        **{stage: names for stage, names in files.items() if stage != "digests"},  # the jobs of cubes make them
        "figures": [file for file in files["figures"] if file.endswith(FIGURE_SUFFIXES[0])],  # a job makes all formats
        "report": [plan.paths.report()],
    }
    rows = []
    for stage, names in jobs.items():
        stale = sum(staleness.explain(name).is_stale for name in names)
        rows.append((stage, len(names), len(names) - stale, stale))
    return table(("stage", "jobs", "done", "to do"), rows)


def _branches(plan: "Plan", blocks: "list[BlockStatus]", forecaster: "Forecaster", cores: int) -> Iterator[str]:
    from bocu.sweep.experiment.resources import START_SECONDS, scoring_told
    from bocu.sweep.forecast import aggregates_mb, wall_seconds
    from bocu.sweep.status import BlockState, by_branch

    rows = []
    all_seconds: list[float] = []
    to_do_seconds: list[float] = []
    disk = to_do_disk = 0.0
    for mine in by_branch(blocks).values():
        branch = mine[0].branch
        forecasts = [forecaster.block(branch, block.last - block.first + 1) for block in mine]
        to_do = [pair for pair in zip(mine, forecasts, strict=True) if pair[0].state is not BlockState.DONE]
        all_seconds += [forecast.seconds for forecast in forecasts]
        to_do_seconds += [forecast.seconds * (1 - block.rounds / block.of) for block, forecast in to_do]
        disk += sum(forecast.disk_mb for forecast in forecasts)
        to_do_disk += sum(forecast.disk_mb for _, forecast in to_do)
        largest = max(forecasts, key=lambda forecast: forecast.seconds)
        core = duration(sum(forecast.seconds for forecast in forecasts))
        rows.append(
            (
                *branch.key,
                len(mine),
                len(to_do),
                duration(largest.seconds),
                core,
                size(1e6 * largest.memory_mb),
                largest.source,
            )
        )
    yield from table(
        ("problem", "objective", "algorithm", "jobs", "to do", "longest job", "core time", "memory", "times from"), rows
    )
    if cautious := sorted({name for mine in by_branch(blocks).values() for name in forecaster.unknown(mine[0].branch)}):
        says = "says" if len(cautious) == 1 else "say"
        yield f"caution: {', '.join(cautious)} {says} nothing of what a round costs; finished blocks will"
    yield ""
    head = ("", "jobs", "core hours", f"on {cores} cores", "run files")
    yield from table(
        head,
        [
            (
                name,
                len(seconds),
                f"{sum(seconds) / 3600:.3g}",
                duration(wall_seconds(seconds, cores)),
                size(1e6 * space),
            )
            for name, seconds, space in (("all", all_seconds, disk), ("to do", to_do_seconds, to_do_disk))
        ],
    )
    yield from scoring_told(plan, cores)
    yield f"scores and cubes: some {size(1e6 * aggregates_mb(plan))} more"
    yield f"times are those of the runs alone; on a cluster starting a job adds some {START_SECONDS:.0f} s to each"


def _run_cache(staleness: "Staleness", blocks: "list[BlockStatus]") -> int:
    from bocu.sweep.experiment.paths import RUN_CACHE
    from bocu.sweep.runs.run_cache import RunCache
    from bocu.sweep.status import BlockState

    if not Path(RUN_CACHE).is_dir():
        return 0
    shared = RunCache(RUN_CACHE)
    identities = (
        staleness.identity(block.branch, block.first, block.last)
        for block in blocks
        if block.state is not BlockState.DONE
    )
    return sum(identity is not None and shared.entry(identity).is_file() for identity in identities)
