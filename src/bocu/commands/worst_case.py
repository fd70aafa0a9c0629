"""`bocu worst-case`: worst-case expectations of the payoffs in a file."""

from pathlib import Path
from typing import Annotated

import typer


def worst_case_command(
    file: Annotated[Path, typer.Argument(help="CSV (a row a context) or NetCDF file with payoffs and reference.")],
    distance: Annotated[str, typer.Option(help="tv, mmd, chi2mod, chi2, kl, cr, cvar or wass.")] = "tv",
    epsilon: Annotated[float | None, typer.Option(help="Radius of the ambiguity set.")] = None,
    alpha: Annotated[float | None, typer.Option(help="Fraction of worst outcomes, for cvar.")] = None,
    k: Annotated[float | None, typer.Option(help="Order, for cr.")] = None,
    lengthscale: Annotated[float | None, typer.Option(help="Of the squared exponential kernel, for mmd.")] = None,
    jitter: Annotated[float, typer.Option(help="Added to the kernel matrix's diagonal, for mmd.")] = 1e-6,
) -> None:
    """Print value, slope in epsilon and worst distribution of each decision in FILE as CSV."""
    from bocu.ambiguity.base import worst_case
    from bocu.ambiguity.named import Settings, set_named
    from bocu.ambiguity.tables import as_csv, read_table
    from bocu.core.errors import BocuError

    table = read_table(file)
    settings = Settings(
        epsilon=epsilon, alpha=alpha, k=k, contexts=table.contexts, lengthscale=lengthscale, jitter=jitter
    )
    for option, value, taker in (("alpha", alpha, "cvar"), ("k", k, "cr"), ("lengthscale", lengthscale, "mmd")):
        if value is not None and distance != taker:
            raise BocuError(f"--{option}: it changes nothing: only '{taker}' takes it, not '{distance}'; leave it out")
    ambiguity_set = set_named(distance, settings)
    try:
        answer = worst_case(table.payoffs, table.reference, ambiguity_set)
    except BocuError as error:
        raise BocuError(f"{file}: {error}") from None
    typer.echo(as_csv(table, answer), nl=False)
