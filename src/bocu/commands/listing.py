"""`bocu list`: what is registered, with its parameters."""

from pathlib import Path
from typing import Annotated, Any

import typer

KINDS = {
    "problems": "problem",
    "priors": "prior",
    "sets": "set",
    "objectives": "objective",
    "algorithms": "algorithm",
    "metrics": "metric",
    "figures": "figure",
}


def list_command(
    kind: Annotated[
        str, typer.Argument(help="problems, priors, sets, objectives, algorithms, metrics, figures or data.")
    ],
    name: Annotated[
        str | None, typer.Argument(help="One of them, `module:Class` or `file.py:Class`, with its parameters.")
    ] = None,
) -> None:
    """List what an experiment file may name."""
    from bocu.core.errors import BocuError
    from bocu.core.parameters import nearest
    from bocu.experiment.plugins.lookup import offered
    from bocu.experiment.registry import aliases, find, registered

    if kind == "data":
        _list_data()
        return
    if kind not in KINDS:
        raise BocuError(f"list: unknown kind '{kind}'; {nearest(kind, [*KINDS, 'data'])}")
    if name is not None:
        _describe(find(KINDS[kind], name, folder=Path()))
        return
    rows = [(entry, entry.load().about) for entry in registered(KINDS[kind])]
    for entry in offered(KINDS[kind]):
        try:
            rows.append((entry, entry.described().about))
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


def _describe(entry: Any) -> None:
    kind = entry.load()
    typer.echo(f"{entry.name}: {kind.about.title}: {kind.about.line}")
    if entry.origin:
        typer.echo(f"from: {entry.origin}")
    if protocols := getattr(kind, "protocols", ()):
        typer.echo(f"protocols: {', '.join(protocols)}")
    fields = kind.Parameters.model_fields
    typer.echo("parameters:" if fields else "parameters: none")
    for key, field in fields.items():
        default = "required" if field.is_required() else f"default {field.get_default(call_default_factory=True)!r}"
        typer.echo(f"  {key}: {field.description} ({default})")


def _list_data() -> None:
    from bocu.data.catalogue import load_catalogue, sources_file

    for name, dataset in load_catalogue(sources_file()).datasets.items():
        typer.echo(f"{name}: {dataset.title}; licence: {dataset.licence}")
        for record, entry in dataset.records.items():
            typer.echo(f"  {record} ({', '.join(entry.sources)}): {entry.description}")
