"""`bocu worst-case`: worst-case expectations of the payoffs in a file."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from bocu.core.errors import BocuError, faults_at


def worst_case_command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="CSV (a row a context) or NetCDF file with payoffs and reference.")],
    name: Annotated[str, typer.Option("--set", help="Name of the ambiguity set (see `bocu list sets`).")] = "tv",
    epsilon: Annotated[float | None, typer.Option(help="Radius of the ambiguity set.")] = None,
) -> None:
    """Print value, slope in epsilon and worst distribution of each decision in FILE as CSV.

    The set's own keys are options too: `--set mmd --lengthscale 0.2`; `bocu list sets NAME` names them.
    """
    from bocu.core.parameters import Reading, validate
    from bocu.robust.ambiguity.base import worst_case
    from bocu.robust.ambiguity.checks import radius
    from bocu.robust.ambiguity.parameters import LARGEST_RADIUS, SetParameters
    from bocu.robust.ambiguity.tables import as_csv, read_table
    from bocu.sweep.experiment.registry import find

    table = read_table(file)
    if find("set", name, "--set: ", Path()).load().has_radius and epsilon is None:
        raise BocuError(f"--epsilon: the set '{name}' needs a radius")
    if "radius" in (keys := keys_of(context.args)):
        raise BocuError("--radius: the radius is --epsilon here")
    size = radius(epsilon or 0.0, "--epsilon")
    if LARGEST_RADIUS < size < math.inf:
        raise BocuError(f"--epsilon: found {size:g}; allowed: up to {LARGEST_RADIUS:g}, or inf")
    stated = validate(SetParameters, {**keys, "name": name}, "--", Reading(Path()))
    if note := stated.model_copy(update={"radius": size}).note():
        typer.echo(f"note: --epsilon: {note.removeprefix('radius: ')}", err=True)
    ambiguity_set = stated.over(table.contexts).with_epsilon(size)
    with faults_at(f"{file}: "):
        answer = worst_case(table.payoffs, table.reference, ambiguity_set)
    typer.echo(as_csv(table, answer), nl=False)


def keys_of(arguments: Sequence[str]) -> dict[str, str]:
    """Read the keys of a set from `--key value` and `--key=value`.

    Raises:
        BocuError: there is anything else.
    """
    keys: dict[str, str] = {}
    waiting = list(arguments)
    while waiting:
        option, given, value = waiting.pop(0).partition("=")
        if not option.startswith("--") or (not given and not waiting):
            raise BocuError(f"found '{option}'; allowed: --key value, a key of the set")
        keys[option.removeprefix("--")] = value if given else waiting.pop(0)
    return keys
