"""`bocu report`: one page over several experiments."""

from pathlib import Path
from typing import Annotated

import typer

from bocu.commands.options import Trust, writable


def report_command(
    experiments: Annotated[
        list[str], typer.Argument(help="Experiment files, or the names of some under config/ or results/.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(help="Page to write; reports/A-B/index.html if left out, after the names.", callback=writable),
    ] = None,
    reference: Annotated[
        str | None, typer.Option(help="Label of the algorithm that the others are compared with.")
    ] = None,
    trust: Trust = False,
) -> None:
    """Make one page over several experiments, from what they have been scored and drawn to.

    Nothing is run: of an experiment that is not finished, what `snakemake partial` gathered is shown. Tables are
    written beside the page.
    """
    from bocu.core.errors import BocuError
    from bocu.pages.recomputed import part_of
    from bocu.pages.report.build import build_page
    from bocu.sweep.opening import open_plan_as_made

    plans = [open_plan_as_made(experiment, trust) for experiment in experiments]
    names = [plan.experiment.name for plan in plans]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BocuError(f"report: experiment '{twice[0]}' is named twice")
    page = output or Path("reports", "-".join(names), "index.html")
    build_page([part_of(plan) for plan in plans], page, reference)
    typer.echo(str(page))
