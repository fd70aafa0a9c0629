"""`bocu verify`: whether all that an experiment made can be read and is as it was written."""

from typing import Annotated

import typer


def verify_command(
    experiment: Annotated[str, typer.Argument(help="Experiment file, or the name of one under config/.")],
    mirror: Annotated[str | None, typer.Option(help="Folder of a mirror to take data from.")] = None,
    config: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="Replace a key; repeatable.")] = None,
) -> None:
    """Read every file of an experiment to its end and print a line for each fault.

    Read are data sets, priors, run files, scores, cubes, figures and the report. Raw files, and those of the mirror,
    are compared with the hashes that the prepared data sets keep. Nothing is changed: delete a file that is named, and
    the next call of snakemake makes it again. Exit status 1 where there is a fault; what is not made yet is none.
    """
    from bocu.sweep.opening import open_plan
    from bocu.sweep.verification import verify

    plan = open_plan(experiment, mirror, config or [])
    found = verify(plan)
    for fault in found.faults:
        typer.echo(fault)
    faults = f"{len(found.faults)} faults" if len(found.faults) != 1 else "1 fault"
    typer.echo(f"{plan.results}: {found.read} files read, {faults}, {len(found.missing)} not made yet")
    if found.faults:
        raise typer.Exit(1)
