"""`bocu reduce`: what others need of results to compare theirs, in one small file."""

from pathlib import Path
from typing import Annotated

import typer

from bocu.commands.options import writable


def reduce_command(
    folder: Annotated[Path, typer.Argument(help="Results of an experiment, such as results/NAME.")],
    output: Annotated[Path, typer.Option(help="The file, such as docs/results/NAME.nc.", callback=writable)],
    final: Annotated[
        bool, typer.Option("--final", help="Keep what is summed over all rounds alone: final regret, payoff, seconds.")
    ] = False,
) -> None:
    """Reduce the cubes of an experiment to one small file, to be published.

    It holds, seed by seed, every number that a claim can ask for, and regret summed up to some rounds: `bocu claims
    --results` judges by it, and `bocu diff --within` compares with it.
    """
    from bocu.core.written import counted, size
    from bocu.sweep.evaluation.claims.reduced import read_reduced, reduce_results

    reduce_results(folder, output, final)
    reduced = read_reduced(output)
    problems = counted(len(reduced.problems), "problem")
    typer.echo(f"{output}: {problems} of {reduced.experiment}, {size(output.stat().st_size)}")
