"""`bocu resume`: go on with an experiment whose Snakemake was killed, or that another Snakemake keeps waiting."""

import json
import shlex
import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from bocu.experiment.plan import Plan
    from bocu.sweep.calls import Call, QueuedJob


def resume_command(
    experiment: Annotated[str, typer.Argument(help="Experiment file, or the name of one under config/.")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- ARGUMENTS]",
            help="Arguments of Snakemake; those of the killed call if left out, or `--cores all` if there was none.",
        ),
    ] = None,
    every: Annotated[float, typer.Option(metavar="SECONDS", help="Time between two looks.", min=0.1)] = 10.0,
    mirror: Annotated[str | None, typer.Option(help="Folder of a mirror to take data from.")] = None,
    config: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="Replace a key; repeatable.")] = None,
) -> None:
    """Wait for what earlier calls of Snakemake left, then call Snakemake again with the same arguments.

    Waited for are their jobs that are still in SLURM's queue, and Snakemakes that are making files that this experiment
    needs. Locks that a killed Snakemake left are removed. The exit status is Snakemake's.
    """
    import os
    import subprocess

    from bocu.sweep.calls import calls, forget, locked_files
    from bocu.sweep.opening import open_plan

    plan = open_plan(experiment, mirror, config or [])
    earlier = [call for call in calls() if call.experiment == plan.experiment.name]
    again = _arguments(experiment, arguments or [], earlier)
    snakemake = [sys.executable, "-m", "snakemake"]
    _wait(plan, earlier, every)
    if locked_files(plan):
        unlocked = subprocess.run([*snakemake, "--unlock", *again], capture_output=True, text=True)
        if unlocked.returncode:
            typer.echo(unlocked.stderr, err=True)
            raise typer.Exit(unlocked.returncode)
    for call in earlier:
        forget(call.note)
    typer.echo(f"snakemake {shlex.join(again)}")
    sys.stdout.flush()
    os.execv(sys.executable, [*snakemake, *again])  # so that signals are Snakemake's own


def _arguments(experiment: str, given: list[str], earlier: "list[Call]") -> list[str]:
    from bocu.sweep.opening import sources_of

    if earlier and not given:
        return list(earlier[-1].arguments)
    given = given or ["--cores", "all"]
    if "--configfile" in given or "--configfiles" in given:
        return given
    files, settings = sources_of(experiment)
    made_with = ["--config", *(f"{key}={json.dumps(value)}" for key, value in settings.items())] if settings else []
    return [*given, "--configfile", *map(str, files), *made_with]


def _wait(plan: "Plan", earlier: "list[Call]", every: float) -> None:
    """Return when no job of the earlier calls is queued and no living Snakemake keeps a file of the plan locked."""
    from bocu.sweep.calls import calls, living, locked_files, locks_are_new, queued

    said = ""
    while True:
        waiting = _counts(queued(earlier))
        if locked_files(plan):
            waiting += [f"{call}, for '{call.experiment}'" for call in living(calls())]
            if not waiting and locks_are_new():
                waiting = ["a Snakemake that begins"]
        if not waiting:
            return
        line = "; ".join(waiting)
        if line != said:
            typer.echo(f"{time.strftime('%H:%M:%S')} waiting for {line}; {_progress(plan)} of the rounds are done")
            said = line
        time.sleep(every)


def _counts(jobs: "list[QueuedJob]") -> list[str]:
    states: dict[str, int] = {}
    for job in jobs:
        states[job.state.lower()] = states.get(job.state.lower(), 0) + 1
    return [f"jobs of SLURM: {', '.join(f'{count} {state}' for state, count in states.items())}"] if jobs else []


def _progress(plan: "Plan") -> str:
    from bocu.sweep.staleness import Staleness
    from bocu.sweep.status import statuses

    blocks = list(statuses(plan, Staleness(plan)))
    return f"{int(100 * sum(block.rounds for block in blocks) / sum(block.of for block in blocks))} %"
