"""`bocu replay`: what suggestions would have earned, from the log that they would have come from."""

from pathlib import Path
from typing import Annotated, Any

import typer


def replay_command(
    context: typer.Context,
    log: Annotated[Path, typer.Argument(help="CSV or JSON file: decisions, contexts and outcome, a row each time.")],
    settings: Annotated[
        Path | None, typer.Option(help="YAML file of `bocu suggest`; its forecast, of tomorrow, is left aside.")
    ] = None,
    decisions: Annotated[
        str | None, typer.Option(help="What is decided: 'price:1..20,staff:int:1..8,shelf:{low,high}'.")
    ] = None,
    contexts: Annotated[
        str | None, typer.Option(help="Columns of what is met after deciding: temperature,rain.")
    ] = None,
    outcome: Annotated[
        str | None, typer.Option(help="Column of what was earned, or paid; of several: profit,waste:min.")
    ] = None,
    weights: Annotated[
        str | None, typer.Option(help="Of several outcomes, what a unit of each counts: profit=1,waste=20.")
    ] = None,
    constraint: Annotated[
        list[str] | None, typer.Option(help="Linear constraint between decisions: 'staff + 2*shelf <= 10'; repeatable.")
    ] = None,
    alternatives: Annotated[
        Path | None, typer.Option(help="CSV or JSON file with a row for each decision there is to choose from.")
    ] = None,
    forecast: Annotated[
        Path | None,
        typer.Option(help="CSV or JSON file of past forecasts, by --time; left out: what was met before."),
    ] = None,
    objective: Annotated[str, typer.Option(help="dro, so, ro or cvar.")] = "dro",
    name: Annotated[str, typer.Option("--set", help="Name of the ambiguity set (see `bocu list sets`).")] = "tv",
    radius: Annotated[str | None, typer.Option(help="Radius of the set: a number, or `estimate` at each step.")] = None,
    alpha: Annotated[float, typer.Option(help="Share of worst contexts, of `--objective cvar`.")] = 0.1,
    minimise: Annotated[bool, typer.Option("--minimise/--maximise", help="Whether the outcome is a cost.")] = False,
    names: Annotated[
        str, typer.Option(help="How names to choose from are told apart: one-hot or hamming.")
    ] = "one-hot",
    time: Annotated[str | None, typer.Option(help="Column of dates or numbers: the order of rows.")] = None,
    forget: Annotated[
        str | None, typer.Option(help="Half-life of rows: 90d, 12h, 6w, 2y, a number of rows, or `estimate`.")
    ] = None,
    horizon: Annotated[int | None, typer.Option(help="Rows that an estimated radius is to hold for.", min=1)] = None,
    first: Annotated[int | None, typer.Option(help="Rows before the first step; left out: a third of them.")] = None,
    steps: Annotated[int, typer.Option(help="How often advice is asked for anew.")] = 8,
    judge: Annotated[str, typer.Option(help="log, model, or auto: the log where it holds enough like rows.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print all of it as JSON.")] = False,
    report: Annotated[
        Path | None, typer.Option(help="HTML file to write: all of it on one page, with pictures.")
    ] = None,
) -> None:
    """Print what suggestions would have earned against what was done, and against the best expectation.

    The set's own keys are options too: `--set mmd --lengthscale 0.2`; `bocu list sets NAME` names them.
    """
    import json

    from bocu.advice.outcomes import read_weights
    from bocu.advice.replaying import replay
    from bocu.commands.advice import arguments, names_of
    from bocu.commands.worst_case import keys_of
    from bocu.io.files import write_text

    asked: dict[str, Any] = {
        "decisions": decisions,
        "contexts": names_of(contexts),
        "outcome": outcome,
        "weights": None if weights is None else read_weights(weights),
        "constraints": constraint,
        "alternatives": alternatives,
        "forecast": forecast,
        "objective": objective,
        "set": name,
        "radius": radius,
        "keys": keys_of(context.args),
        "alpha": alpha,
        "minimise": minimise,
        "names": names,
        "time": time,
        "forget": forget,
        "horizon": horizon,
        "first": first,
        "steps": steps,
        "judge": judge,
    }
    stated = arguments(context, settings, asked)
    if forecast is None:
        stated.pop("forecast", None)
    for key in ("explore", "missing"):
        stated.pop(key, None)
    found = replay(log, **stated)
    if report is not None:
        write_text(report, found.to_html())
    typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else str(found).rstrip())
