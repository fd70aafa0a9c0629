"""`bocu diff`: whether two results are the same."""

import sys
from pathlib import Path
from typing import Annotated

import typer

SAME, DIFFERENT, FAULT = 0, 1, 2


def diff_command(
    one: Annotated[Path, typer.Argument(help="Run file, prior, score or cube; or a folder such as results/NAME.")],
    other: Annotated[Path, typer.Argument(help="What to compare it with: another file, or another folder.")],
) -> None:
    """Compare two results without times and provenance.

    Numbers are compared bit by bit. Of each variable that differs the first entry is shown, by the labels of its
    coordinates, and the largest difference. Exit status: 0 the same, 1 different, 2 not to be compared.
    """
    from bocu.core.errors import BocuError

    try:
        same = _compare(one, other)
    except BocuError as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(FAULT) from None
    raise typer.Exit(SAME if same else DIFFERENT)


def _compare(one: Path, other: Path) -> bool:
    from bocu.sweep.differences import file_differences, pairs

    files, alone = pairs(one, other)
    unequal = 0
    for a, b in files:
        found = list(file_differences(a, b))
        if found:
            unequal += 1
            typer.echo(f"{a} and {b} differ")
        for difference in found:
            typer.echo(f"  {difference.what}: {difference.text}")
    for path in alone:
        typer.echo(f"only {path}")
    if not unequal and not alone:
        typer.echo("identical, times and provenance aside" + (f": {len(files)} files" if one.is_dir() else ""))
    elif one.is_dir():
        typer.echo(f"{len(files) - unequal} of {len(files)} files identical, {len(alone)} only on one side")
    return not unequal and not alone
