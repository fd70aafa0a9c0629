"""`bocu list`: what is registered, with its parameters."""

import inspect
from pathlib import Path
from typing import Annotated, Any

import typer

KINDS = {
    "problems": "problem",
    "priors": "prior",
    "sets": "set",
    "laws": "law",
    "shifts": "shift",
    "objectives": "objective",
    "algorithms": "algorithm",
    "metrics": "metric",
    "figures": "figure",
    "models": "model",
}


def list_command(
    kind: Annotated[
        str | None,
        typer.Argument(
            help="problems, priors, sets, laws, shifts, objectives, algorithms, models, metrics, figures or data."
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Argument(help="One of them, `module:Class` or `file.py:Class`, with its parameters.")
    ] = None,
    combinations: Annotated[
        bool, typer.Option("--combinations", help="What goes with what: algorithms, problems, objectives, sets.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The combinations as JSON, each with its reason.")] = False,
) -> None:
    """List what an experiment file may name, or which of it goes together."""
    from bocu.core.errors import BocuError
    from bocu.core.parameters import nearest
    from bocu.sweep.experiment.plugins import offered
    from bocu.sweep.experiment.registry import aliases, find, registered

    if combinations or as_json:
        if kind is not None or not combinations:
            raise BocuError("list: `--combinations` stands alone, or with `--json`, which goes with it only")
        _list_combinations(as_json)
        return
    if kind is None:
        raise BocuError(f"list: of what? {', '.join([*KINDS, 'data'])}; or `--combinations`")
    if kind in ("data", "models"):
        _list_data() if kind == "data" else _list_models()
        return
    if kind not in KINDS:
        raise BocuError(f"list: unknown kind '{kind}'; {nearest(kind, [*KINDS, 'data'])}")
    if name is not None:
        _describe(find(KINDS[kind], name, folder=Path()))
        return
    rows = [(entry, entry.load().about) for entry in registered(KINDS[kind])]
    for entry in offered(KINDS[kind]):
        try:
            rows.append((entry, _about(entry)))
        except BocuError as error:  # one that is broken hides no other
            typer.echo(f"warning: {error}", err=True)
    name_width, title_width = (
        max(map(len, column)) for column in zip(*((e.name, a.title) for e, a in rows), strict=True)
    )
    for entry, about in rows:
        others = aliases(KINDS[kind], entry.name)
        also = f" (also: {', '.join(others)})" if others else ""
        origin = f"; {entry.origin}" if entry.origin else ""
        typer.echo(f"{entry.name:<{name_width}}  {about.title:<{title_width}}  {about.line}{also}{origin}")


def _about(entry: Any) -> Any:
    """Return what is told of a class; of a factory that says nothing, its name."""
    from bocu.core.about import About

    if entry.kind != "model":
        return entry.load().about
    return getattr(entry.load(), "about", None) or About(entry.name, "a factory of BoTorch models")


def _describe(entry: Any) -> None:
    from bocu.robust.ambiguity.parameters import told

    kind = entry.load()
    about = _about(entry)
    typer.echo(f"{entry.name}: {about.title}: {about.line}")
    if entry.origin:
        typer.echo(f"from: {entry.origin}")
    if protocols := getattr(kind, "protocols", ()):
        typer.echo(f"protocols: {', '.join(protocols)}")
    if not hasattr(kind, "Parameters"):  # a factory
        typer.echo(f"called as: {entry.name}{inspect.signature(kind)}")
        return
    fields = kind.Parameters.model_fields
    typer.echo("parameters:" if fields else "parameters: none")
    for key, field in fields.items():
        default = "required" if field.is_required() else f"default {field.get_default(call_default_factory=True)!r}"
        typer.echo(f"  {key}: {told(str(field.description))} ({default})")


def _list_models() -> None:
    """List the factories of models, of which nothing is imported."""
    from bocu.sweep.experiment.plugins import offered
    from bocu.sweep.experiment.registry import registered

    for entry in (*registered("model"), *offered("model")):
        typer.echo(f"{entry.name}  {entry.shown}")


def _list_data() -> None:
    from bocu.problems.data.catalogue import load_catalogue, sources_file

    for name, dataset in load_catalogue(sources_file()).datasets.items():
        typer.echo(f"{name}: {dataset.title}; licence: {dataset.licence}")
        for record, entry in dataset.records.items():
            typer.echo(f"  {record} ({', '.join(entry.sources)}): {entry.description}")


def _list_combinations(as_json: bool) -> None:
    from bocu.commands import combinations as told
    from bocu.sweep.experiment.combinations import combinations

    found = list(combinations())
    typer.echo(told.as_json(found) if as_json else told.as_tables(found), nl=as_json)
