"""`bocu replay`: what suggestions would have earned, from the log that they would have come from."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bocu.commands import advice_options as options


def replay_command(
    context: typer.Context,
    log: options.Log,
    settings: Annotated[
        Path | None, typer.Option(help="YAML file of `bocu suggest`; its forecast, of tomorrow, is left aside.")
    ] = None,
    decisions: options.Decisions = None,
    contexts: options.Contexts = None,
    outcome: options.Outcome = None,
    weights: options.Weights = None,
    constraint: options.Constraints = None,
    alternatives: options.Alternatives = None,
    forecast: Annotated[
        Path | None,
        typer.Option(help="CSV or JSON file of past forecasts, by --time; left out: what was met before."),
    ] = None,
    objective: options.ObjectiveName = "dro",
    name: options.SetName = "tv",
    radius: Annotated[str | None, typer.Option(help="Radius of the set: a number, or `estimate` at each step.")] = None,
    alpha: options.Alpha = 0.1,
    minimise: options.Minimise = False,
    names: options.Names = "one-hot",
    time: options.Time = None,
    forget: options.Forget = None,
    horizon: options.Horizon = None,
    first: Annotated[int | None, typer.Option(help="Rows before the first step; left out: a third of them.")] = None,
    steps: Annotated[int, typer.Option(help="How often advice is asked for anew.")] = 8,
    judge: Annotated[str, typer.Option(help="log, model, or auto: the log where it holds enough like rows.")] = "auto",
    as_json: options.AsJson = False,
    report: options.Report = None,
) -> None:
    """Print what suggestions would have earned against what was done, and against the best expectation.

    The set's own keys are options too: `--set mmd --lengthscale 0.2`; `bocu list sets NAME` names them.
    """
    import json

    from bocu.advice.outcomes import read_weights
    from bocu.advice.replaying import replay
    from bocu.commands.advice import arguments, names_of
    from bocu.commands.worst_case import keys_of
    from bocu.core.io.files import write_text

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
