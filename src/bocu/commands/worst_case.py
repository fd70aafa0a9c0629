"""`bocu worst-case`: worst-case expectations of the payoffs in a file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer


def worst_case_command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="CSV (a row a context) or NetCDF file with payoffs and reference.")],
    name: Annotated[str, typer.Option("--set", help="Name of the ambiguity set (see `bocu list sets`).")] = "tv",
    epsilon: Annotated[float | None, typer.Option(help="Radius of the ambiguity set.")] = None,
) -> None:
    """Print value, slope in epsilon and worst distribution of each decision in FILE as CSV.

    The set's own keys are options too: `--set mmd --lengthscale 0.2`; `bocu list sets NAME` names them.
    """
    from bocu.ambiguity.base import worst_case
    from bocu.ambiguity.parameters import SetParameters
    from bocu.ambiguity.tables import as_csv, read_table
    from bocu.core.errors import BocuError
    from bocu.core.parameters import validate

    table = read_table(file)
    radius = {} if epsilon is None else {"radius": epsilon}
    stated = validate(SetParameters, {**_keys(context.args), **radius, "name": name}, "--")
    if epsilon is None and stated.family.has_radius:
        raise BocuError(f"--epsilon: the set '{name}' needs a radius")
    ambiguity_set = stated.over(table.contexts)
    if epsilon is not None:
        ambiguity_set = ambiguity_set.with_epsilon(epsilon)
    try:
        answer = worst_case(table.payoffs, table.reference, ambiguity_set)
    except BocuError as error:
        raise BocuError(f"{file}: {error}") from None
    typer.echo(as_csv(table, answer), nl=False)


def _keys(arguments: Sequence[str]) -> dict[str, str]:
    """Read `--key value` and `--key=value`."""
    from bocu.core.errors import BocuError

    keys: dict[str, str] = {}
    waiting = list(arguments)
    while waiting:
        option, given, value = waiting.pop(0).partition("=")
        if not option.startswith("--") or (not given and not waiting):
            raise BocuError(f"found '{option}'; allowed: --key value, a key of the set")
        keys[option.removeprefix("--")] = value if given else waiting.pop(0)
    return keys
