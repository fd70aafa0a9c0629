"""`bocu resume`: go on with an experiment whose Snakemake was killed, or that another Snakemake keeps waiting."""

import os
import shlex
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bocu.commands.options import Experiment, Mirror, Settings, Trust
from bocu.core.errors import BocuError

if TYPE_CHECKING:
    from bocu.sweep.calls import Call, QueuedJob
    from bocu.sweep.experiment.plan import Plan


def resume_command(
    experiment: Experiment,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- ARGUMENTS]",
            help="Arguments of Snakemake; those of the killed call if left out, or `--cores all` if there was none.",
        ),
    ] = None,
    every: Annotated[float, typer.Option(metavar="SECONDS", help="Time between two looks.", min=0.1)] = 10.0,
    mirror: Mirror = None,
    config: Settings = None,
    trust: Trust = False,
) -> None:
    """Wait for what earlier calls of Snakemake left, then call Snakemake again with the same arguments.

    Waited for are their jobs that are still in SLURM's queue, and Snakemakes that are making files that this experiment
    needs. Locks that a killed Snakemake left are removed. Of the killed call's arguments those are taken up that can
    name no code but the clone's. The exit status is Snakemake's.
    """
    from bocu.sweep.calls import calls, forget, locked_files, refuse_edited_notes
    from bocu.sweep.opening import open_plan, refuse_links_out

    plan = open_plan(experiment, mirror, config or [], trust)
    if not trust:
        refuse_links_out(plan.results)
    refuse_edited_notes()
    earlier = [call for call in calls() if call.experiment == plan.experiment.name]
    again = _arguments(experiment, arguments or [], earlier, trust)
    snakemake = [sys.executable, "-P", "-m", "snakemake"]  # -P: its modules are not those of the working folder
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


def _arguments(experiment: str, given: list[str], earlier: "list[Call]", trust: bool) -> list[str]:
    from bocu.sweep.opening import sources_of

    if earlier and not given:
        return earlier[-1].arguments if trust else _taken_up(experiment, earlier[-1])
    given = given or ["--cores", "all"]
    if "--configfile" in given or "--configfiles" in given:
        return given
    return [*given, *sources_of(experiment).arguments]


def _taken_up(experiment: str, call: "Call") -> list[str]:
    """Return the arguments of an earlier call, if they name nothing that a stranger may have put there."""
    from bocu.sweep.calls import read_recorded
    from bocu.sweep.experiment.paths import in_clone
    from bocu.sweep.opening import merge, plan_of, recorded_sources, setting

    try:
        found = read_recorded(call.arguments)
        settings: dict[str, object] = {}
        for text in found.settings:
            merge(settings, setting(text))
        files = [Path(file) for file in found.files] or [in_clone("config/config.yaml")]
        plan_of(recorded_sources(call.note, files, settings, [Path(experiment)]))
    except BocuError as error:
        line = shlex.join(["snakemake", *call.arguments])
        raise BocuError(
            f"{call.note}: {error}; not run: {line}; give arguments after `--`, or --trust to run these"
        ) from None
    return found.command()


def _wait(plan: "Plan", earlier: "list[Call]", every: float) -> None:
    """Return when no job of the earlier calls is queued and no living Snakemake keeps a file of the plan locked."""
    from bocu.sweep.calls import calls, locked_files, locks_are_new, queued

    said = ""
    while True:
        waiting = _counts(queued(earlier))
        if locked_files(plan):
            waiting += [f"{call}, for '{call.experiment}'" for call in calls() if call.is_alive()]
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
    states = Counter(job.state.lower() for job in jobs)
    return [f"jobs of SLURM: {', '.join(f'{count} {state}' for state, count in states.items())}"] if jobs else []


def _progress(plan: "Plan") -> str:
    from bocu.sweep.staleness import Staleness
    from bocu.sweep.status import statuses

    blocks = list(statuses(plan, Staleness(plan)))
    return f"{int(100 * sum(block.rounds for block in blocks) / sum(block.of for block in blocks))} %"
