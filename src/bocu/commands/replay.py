"""`bocu replay`: what suggestions would have earned, from the log that they would have come from."""

from pathlib import Path
from typing import Annotated

import typer


def replay_command(
    context: typer.Context,
    log: Annotated[Path, typer.Argument(help="CSV file: decisions, contexts and outcome, a row each time.")],
    decisions: Annotated[str, typer.Option(help="What is decided: 'price:1..20,staff:int:1..8,shelf:{low,high}'.")],
    contexts: Annotated[str, typer.Option(help="Columns of what is met after deciding: temperature,rain.")],
    outcome: Annotated[str, typer.Option(help="Column of what was earned, or paid.")],
    objective: Annotated[str, typer.Option(help="dro, so, ro or cvar.")] = "dro",
    name: Annotated[str, typer.Option("--set", help="Name of the ambiguity set (see `bocu list sets`).")] = "tv",
    radius: Annotated[str | None, typer.Option(help="Radius of the set: a number, or `estimate` at each step.")] = None,
    alpha: Annotated[float, typer.Option(help="Share of worst contexts, of `--objective cvar`.")] = 0.1,
    minimise: Annotated[bool, typer.Option("--minimise/--maximise", help="Whether the outcome is a cost.")] = False,
    time: Annotated[str | None, typer.Option(help="Column of dates or numbers: the order of rows.")] = None,
    forget: Annotated[
        str | None, typer.Option(help="Half-life of rows: 90d, 12h, 6w, 2y, a number of rows, or `estimate`.")
    ] = None,
    horizon: Annotated[int | None, typer.Option(help="Rows that an estimated radius is to hold for.", min=1)] = None,
    first: Annotated[int | None, typer.Option(help="Rows before the first step; left out: a third of them.")] = None,
    steps: Annotated[int, typer.Option(help="How often advice is asked for anew.")] = 8,
    judge: Annotated[str, typer.Option(help="log, model, or auto: the log where it holds enough like rows.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print all of it as JSON.")] = False,
) -> None:
    """Print what suggestions would have earned against what was done, and against the best expectation.

    The set's own keys are options too: `--set mmd --lengthscale 0.2`; `bocu list sets NAME` names them.
    """
    import json

    from bocu.advice.replaying import replay
    from bocu.commands.worst_case import keys_of

    found = replay(
        log,
        decisions=decisions,
        contexts=[name.strip() for name in contexts.split(",") if name.strip()],
        outcome=outcome,
        minimise=minimise,
        objective=objective,
        time=time,
        first=first,
        steps=steps,
        judge=judge,
        set=name,
        radius=radius,
        keys=keys_of(context.args),
        alpha=alpha,
        forget=forget,
        horizon=horizon,
    )
    typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else str(found).rstrip())
