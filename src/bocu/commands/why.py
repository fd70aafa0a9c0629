"""`bocu why`: why a file of an experiment is stale."""

import os
from pathlib import Path
from typing import Annotated

import typer

from bocu.commands.options import Trust


def why_command(
    file: Annotated[
        Path,
        typer.Argument(help="Run file, prior, score, cube, figure or report of an experiment.", show_default=False),
    ],
    experiment: Annotated[
        str | None, typer.Option(help="Experiment file; if left out, the one under config/ with the name in FILE.")
    ] = None,
    mirror: Annotated[str | None, typer.Option(help="Folder of a mirror to take data from.")] = None,
    config: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="Set a key; repeatable.")] = None,
    trust: Trust = False,
) -> None:
    """Explain why FILE would be made again, or say that it is up to date.

    Named are the keys of the specification that differ, source files whose code differs, and input files with other
    contents; comments and docstrings are no code.
    """
    from bocu.core.errors import BocuError
    from bocu.sweep.opening import differences_from_record, name_in, open_plan
    from bocu.sweep.staleness import Staleness

    path = os.path.relpath(file)
    name = name_in(path)
    plan = open_plan(experiment or name, mirror, config or [], trust)
    if plan.experiment.name != name:
        raise BocuError(
            f"{path}: belongs to '{name}', the experiment is '{plan.experiment.name}'; leave --experiment out, "
            f"or add --config name={name}"
        )
    explanation = Staleness(plan).explain(path)
    typer.echo(f"{path}: {'stale' if explanation.is_stale else 'up to date'}")
    for line in explanation.lines():
        typer.echo(line)
    for change in differences_from_record(plan) if explanation.is_stale else []:
        typer.echo(f"note: the results were last made with another setting: {change}")
