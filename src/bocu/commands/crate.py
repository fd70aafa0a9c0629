"""`bocu crate`: the results of a sweep as an RO-Crate."""

from pathlib import Path
from typing import Annotated

import typer

from bocu.commands.options import Trust


def crate_command(
    experiment: Annotated[str, typer.Argument(help="Experiment file, or the name of one under config/.")],
    output: Annotated[Path, typer.Option(help="Folder to make; where one stands nothing is written.")],
    licence: Annotated[str, typer.Option("--license", help="SPDX identifier of the licence to give it under.")] = "MIT",
    trust: Trust = False,
) -> None:
    """Put results and the workflow that made them into one folder that describes itself (Workflow Run RO-Crate).

    It holds copies of results/NAME, Snakefile, rules, scripts and configuration, and `ro-crate-metadata.json`, which
    says what is what, what was run, when and under which licence. Needs the extra `crate`.
    """
    from bocu.core.errors import BocuError
    from bocu.interop.crate import write_crate
    from bocu.sweep.opening import open_plan_as_made, refuse_links_out

    if output.exists() or output.is_symlink():
        raise BocuError(f"--output: found {output}, which stands already; nothing was written; name another folder")
    plan = open_plan_as_made(experiment, trust)
    if not trust:
        refuse_links_out(plan.results)
    write_crate(plan, output, licence)
    typer.echo(f"{output}: results of {plan.experiment.name}, described in {output / 'ro-crate-metadata.json'}")
