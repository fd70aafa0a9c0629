"""`bocu list`: what is registered, with its parameters."""

from typing import Annotated, Any

import typer

KINDS = {
    "problems": "problem",
    "objectives": "objective",
    "algorithms": "algorithm",
    "metrics": "metric",
    "figures": "figure",
}


def list_command(
    kind: Annotated[str, typer.Argument(help="problems, objectives, algorithms, metrics, figures or data.")],
    name: Annotated[str | None, typer.Argument(help="One of them, with its parameters.")] = None,
) -> None:
    """List what an experiment file may name."""
    from bocu.core.errors import BocuError
    from bocu.core.parameters import nearest
    from bocu.experiment.registry import REGISTRY, find

    if kind == "data":
        _list_data()
        return
    if kind not in KINDS:
        raise BocuError(f"list: unknown kind '{kind}'; {nearest(kind, [*KINDS, 'data'])}")
    if name is not None:
        _describe(find(KINDS[kind], name))
        return
    entries = REGISTRY[KINDS[kind]]
    if not entries:
        typer.echo(f"no {kind} yet")
    width = max((len(entry.name) for entry in entries), default=0)
    for entry in entries:
        also = f" (also: {', '.join(entry.aliases)})" if entry.aliases else ""
        typer.echo(f"{entry.name:<{width}}  {entry.summary}{also}")


def _describe(entry: Any) -> None:
    typer.echo(f"{entry.name}: {entry.summary}")
    if entry.protocols:
        typer.echo(f"protocols: {', '.join(entry.protocols)}")
    fields = entry.load().Parameters.model_fields
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
