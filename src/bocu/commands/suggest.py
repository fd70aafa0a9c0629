"""`bocu suggest`: the next decision from a log, its worst case and its price."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bocu.commands import advice_options as options


def suggest_command(
    context: typer.Context,
    log: options.Log,
    settings: Annotated[
        Path | None, typer.Option(help="YAML file that states all of it, with units; options take its place.")
    ] = None,
    decisions: options.Decisions = None,
    contexts: options.Contexts = None,
    outcome: options.Outcome = None,
    weights: options.Weights = None,
    constraint: options.Constraints = None,
    alternatives: options.Alternatives = None,
    forecast: Annotated[
        Path | None,
        typer.Option(help="CSV or JSON file of contexts, with `weight` or not; left out: those of the log."),
    ] = None,
    objective: options.ObjectiveName = "dro",
    name: options.SetName = "tv",
    radius: Annotated[str | None, typer.Option(help="Radius of the set: a number, or `estimate`.")] = None,
    alpha: options.Alpha = 0.1,
    minimise: options.Minimise = False,
    explore: Annotated[bool, typer.Option("--try/--deploy", help="What may yet turn out best, or what is.")] = False,
    names: options.Names = "one-hot",
    missing: Annotated[
        str, typer.Option(help="Rows that lack contexts alone: average over what they may be, or leave-out.")
    ] = "average",
    time: options.Time = None,
    forget: options.Forget = None,
    horizon: options.Horizon = None,
    as_json: options.AsJson = False,
    report: options.Report = None,
) -> None:
    """Print the next decision from LOG, what it is expected to earn, what it guarantees, and what that costs.

    The set's own keys are options too: `--set mmd --lengthscale 0.2`; `bocu list sets NAME` names them.
    """
    import json

    from bocu.advice.outcomes import read_weights
    from bocu.advice.suggesting import suggest
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
        "explore": explore,
        "names": names,
        "missing": missing,
        "time": time,
        "forget": forget,
        "horizon": horizon,
    }
    found = suggest(log, **arguments(context, settings, asked))
    if report is not None:
        write_text(report, found.to_html())
    typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else str(found).rstrip())
