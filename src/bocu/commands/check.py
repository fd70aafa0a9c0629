"""`bocu check`: whether an experiment file is right, and what it comes to."""

from typing import Annotated

import typer

from bocu.commands.options import Trust


def check_command(
    experiment: Annotated[str, typer.Argument(help="Experiment file, or the name of one under config/.")],
    mirror: Annotated[str | None, typer.Option(help="Folder of a mirror to take data from.")] = None,
    config: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="Set a key; repeatable.")] = None,
    trust: Trust = False,
) -> None:
    """Check an experiment and say how many jobs and runs it plans."""
    from bocu.core.written import counted
    from bocu.sweep.experiment.plugins import refuse_heavy
    from bocu.sweep.opening import open_plan

    plan = open_plan(experiment, mirror, config or [], trust)
    for note in plan.notes():
        typer.echo(f"note: {note}", err=True)
    jobs = plan.jobs()
    runs = len(plan.branches) * plan.experiment.seeds.count
    for label, entry in plan.outside():
        refuse_heavy(entry)
        typer.echo(f"{entry.kind} '{label}': from outside: {entry.origin}")
    for source, labels in plan.kernels().items():
        typer.echo(f"length-scale {source}: {', '.join(labels)}")
    told = ((len(plan.problems), "problem"), (len(plan.branches), "branch"), (jobs, "run job"), (runs, "run"))
    typer.echo(f"{experiment}: {', '.join(counted(*each) for each in told)}")
