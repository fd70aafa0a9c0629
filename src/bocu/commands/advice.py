"""`bocu suggest` and `bocu replay`: the next decision from a log, and what such decisions would have earned.

What may be asked is stated once, in the parameters of `_asked`, which are named as arguments of `bocu.suggest` and
`bocu.replay` are; each command takes those that it knows.
"""

import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from bocu.commands.options import writable
from bocu.core.errors import BocuError


def _asked(
    context: typer.Context,
    log: Annotated[Path, typer.Argument(help="CSV or JSON file: decisions, contexts and outcome, a row each time.")],
    settings: Annotated[
        Path | None, typer.Option(help="YAML file that states all of it, with units; options take its place.")
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
    constraints: Annotated[
        list[str] | None,
        typer.Option("--constraint", help="Linear constraint between decisions: 'staff + 2*shelf <= 10'; repeatable."),
    ] = None,
    alternatives: Annotated[
        Path | None, typer.Option(help="CSV or JSON file with a row for each decision there is to choose from.")
    ] = None,
    forecast: Annotated[
        Path | None,
        typer.Option(help="CSV or JSON file of contexts; a replay takes past ones, by --time. Left out: those met."),
    ] = None,
    objective: Annotated[
        str | None, typer.Option(help="replay, dro, so, ro or cvar; left out: dro at a radius, else replay.")
    ] = None,
    set: Annotated[str, typer.Option(help="Name of the ambiguity set (see `bocu list sets`).")] = "tv",
    radius: Annotated[str | None, typer.Option(help="Radius of the set: a number, or `estimate`.")] = None,
    alpha: Annotated[float, typer.Option(help="Share of worst contexts, of `--objective cvar`.")] = 0.1,
    minimise: Annotated[bool, typer.Option("--minimise/--maximise", help="Whether the outcome is a cost.")] = False,
    explore: Annotated[bool, typer.Option("--try/--deploy", help="What may yet turn out best, or what is.")] = False,
    names: Annotated[
        str, typer.Option(help="How names to choose from are told apart: one-hot or hamming.")
    ] = "one-hot",
    missing: Annotated[
        str, typer.Option(help="Rows that lack contexts alone: average over what they may be, or leave-out.")
    ] = "average",
    known: Annotated[str | None, typer.Option(help="Contexts that are known before deciding: temperature=12.")] = None,
    season: Annotated[
        str | None, typer.Option(help="Season of the dates of --time, a context: year, week or day.")
    ] = None,
    time: Annotated[str | None, typer.Option(help="Column of dates or numbers: the order of rows.")] = None,
    forget: Annotated[
        str | None, typer.Option(help="Half-life of rows: 90d, 12h, 6w, 2y, a number of rows, or `estimate`.")
    ] = None,
    horizon: Annotated[int | None, typer.Option(help="Rows that an estimated radius is to hold for.", min=1)] = None,
    first: Annotated[int | None, typer.Option(help="Rows before the first step; left out: a third of them.")] = None,
    steps: Annotated[int, typer.Option(help="How often advice is asked for anew.")] = 8,
    judge: Annotated[str, typer.Option(help="log, model, or auto: the log where it holds enough like rows.")] = "auto",
    check: Annotated[
        bool, typer.Option("--check", help="Tell all that is wrong with the log, and what a repair would do.")
    ] = False,
    repaired: Annotated[
        Path | None,
        typer.Option(help="With --check: CSV file to write a repaired copy of the log to.", callback=writable),
    ] = None,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Tell how often the guarantee is kept in logs simulated from the model.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print all of it as JSON.")] = False,
    report: Annotated[
        Path | None, typer.Option(help="HTML file to write: all of it on one page, with pictures.", callback=writable)
    ] = None,
) -> None: ...


#: What a suggestion is not asked, and what a replay is not.
_OF_REPLAY, _OF_SUGGEST = ("first", "steps", "judge"), ("explore", "missing", "known", "calibrate", "check", "repaired")


def _command(run: Callable[..., Any], without: tuple[str, ...], summary: str) -> Callable[..., None]:
    """Return a command that prints what a function of the log and of what is asked returns."""

    def command(context: typer.Context, log: Path, **options: Any) -> None:
        from bocu.core.io.files import write_text

        if options.get("check"):
            _check(log, options)
            return
        found = run(log, arguments(context, options["settings"]), context)
        if options["report"] is not None:
            write_text(options["report"], found.to_html())
        typer.echo(json.dumps(found.to_dict(), indent=2) if options["as_json"] else str(found).rstrip())

    whole = inspect.signature(_asked)
    kept = [one for name, one in whole.parameters.items() if name not in without]
    command.__signature__ = whole.replace(parameters=kept)  # type: ignore[attr-defined]
    keys = "The set's own keys are options too: `--set mmd --lengthscale 0.2`; `bocu list sets NAME` names them."
    command.__doc__ = f"{summary}\n\n{keys}"
    return command


def _suggest(log: Path, asked: dict[str, Any], context: typer.Context) -> Any:
    from bocu.advice.suggesting import LOGS, calibrate, suggest

    if not context.params["calibrate"]:
        return suggest(log, **asked)
    if context.params["report"] is not None:
        raise BocuError("--calibrate: found --report too; the share that is kept has no page")
    with typer.progressbar(length=LOGS, label="simulated logs", file=sys.stderr) as bar:
        return calibrate(log, tell=lambda: bar.update(1), **asked)


def _check(log: Path, options: dict[str, Any]) -> None:
    """Tell all faults of a log, and write a repaired copy where one is asked for; the exit status is 1 with faults."""
    from bocu.advice.checking import check_log, csv_of_log
    from bocu.advice.choices import OneOfNames, read_decisions
    from bocu.advice.logs import read_log_table
    from bocu.core.io.files import write_text

    chosen = read_decisions(options["decisions"]).parts if options["decisions"] else ()
    names = [part.name for part in chosen if isinstance(part, OneOfNames)]
    faults, mended = check_log(read_log_table(log, "log"), names, options["time"])
    typer.echo("\n".join(map(str, faults)) or f"{log}: found nothing wrong")
    if options["repaired"] is not None:
        write_text(options["repaired"], csv_of_log(mended))
        typer.echo(f"a repaired copy: {options['repaired']}")
    elif faults:
        raise typer.Exit(1)


def _replay(log: Path, asked: dict[str, Any], context: typer.Context) -> Any:
    from bocu.advice.replaying import replay

    # The forecast of a settings file is tomorrow's.
    left_aside = _OF_SUGGEST if _is_stated(context, "forecast") else (*_OF_SUGGEST, "forecast")
    return replay(log, **{key: value for key, value in asked.items() if key not in left_aside})


suggest_command = _command(
    _suggest,
    _OF_REPLAY,
    "Print the next decision from LOG, what it is expected to earn, what it guarantees, and what that costs.",
)
replay_command = _command(
    _replay,
    _OF_SUGGEST,
    "Print what suggestions would have earned against what was done, and against the best expectation.",
)


def arguments(context: typer.Context, settings: Path | None) -> dict[str, Any]:
    """Return the arguments of `bocu.suggest` or `bocu.replay`: the command line goes before the settings file.

    Raises:
        BocuError: the file or an option is at fault, or there is no context or outcome.
    """
    from bocu.advice.asked import read_settings

    stated = _stated(context)
    written = {} if settings is None else read_settings(settings)
    if "set" in stated and written.get("set") != stated["set"]:
        written["keys"] = {}  # those of another set
    if "outcome" in stated:
        written["weights"] = None  # those of other outcomes
    found = {**written, **stated}
    for part in ("keys", "constraints"):
        both = [one[part] for one in (written, stated) if one.get(part)]
        if len(both) == 2:
            found[part] = {**both[0], **both[1]} if part == "keys" else [*both[0], *both[1]]
    for key in ("contexts", "outcome"):
        if not found.get(key):
            where = f", and {settings}: {key}: found none" if settings else ""
            raise BocuError(f"--{key}: found none{where}; at least one column is wanted")
    if found.get("units"):
        found["units"] = {name: unit for name, unit in found["units"].items() if name in _columns(found)}
    return found


def _stated(context: typer.Context) -> dict[str, Any]:
    """Return what the command line states."""
    from bocu.advice.outcomes import read_weights
    from bocu.commands.worst_case import keys_of

    outside = ("log", "settings", "as_json", "report", "calibrate", "check", "repaired")
    found = {key: value for key, value in context.params.items() if key not in outside and _is_stated(context, key)}
    if "contexts" in found:
        found["contexts"] = [name.strip() for name in found["contexts"].split(",") if name.strip()]
    for key in ("weights", "known"):
        if key in found:
            found[key] = read_weights(found[key], key)
    return {**found, "keys": keys_of(context.args)} if context.args else found


def _is_stated(context: typer.Context, key: str) -> bool:
    source = context.get_parameter_source(key)
    return source is not None and source.name == "COMMANDLINE"


def _columns(found: dict[str, Any]) -> list[str]:
    """Return the columns that are asked for, where decisions are stated."""
    from bocu.advice.choices import read_decisions
    from bocu.advice.outcomes import read_outcomes

    decided = found.get("decisions")
    decisions = read_decisions(decided) if isinstance(decided, str) else decided
    outcomes = read_outcomes(found["outcome"], False, None)
    return [*(decisions.names if decisions else ()), *found["contexts"], *(one.name for one in outcomes)]
