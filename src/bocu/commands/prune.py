"""`bocu prune`: what an experiment has left behind."""

from pathlib import Path
from typing import Annotated

import typer

from bocu.commands.options import Trust


def prune_command(
    experiment: Annotated[str, typer.Argument(help="Experiment file, or the name of one under config/.")],
    delete: Annotated[bool, typer.Option("--delete", help="Delete what is listed.")] = False,
    mirror: Annotated[str | None, typer.Option(help="Folder of a mirror to take data from.")] = None,
    config: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="Set a key; repeatable.")] = None,
    trust: Trust = False,
) -> None:
    """List files under results/NAME that the experiment no longer names, with their sizes; --delete removes them.

    These are old ragged blocks, branches, problems and figures that were taken out, their logs and benchmarks,
    checkpoints that no run can resume, broken files that were set aside, and temporary files of processes that died.
    Shared runs that no experiment links to are listed too. An experiment with fewer seeds or iterations than the
    results hold is refused, as when running, unless `overwrite` is true.
    """
    from bocu.core.written import size, table
    from bocu.sweep.opening import open_plan, refuse_links_out
    from bocu.sweep.pruning import leftovers, refuse_another_experiment

    plan = open_plan(experiment, mirror, config or [], trust)
    refuse_another_experiment(plan)
    found = list(leftovers(plan))
    if not found:
        typer.echo(f"{plan.results}: nothing to prune")
        return
    for line in table(("size", "file", "why"), [(size(entry.bytes), entry.path, entry.why) for entry in found]):
        typer.echo(line)
    total = f"{len(found)} files and folders, {size(sum(entry.bytes for entry in found))}"
    if not delete:
        typer.echo(f"{total}; --delete removes them")
        return
    if not trust:
        refuse_links_out(plan.results)
    for entry in found:
        _remove(entry.path)
    typer.echo(f"{total} deleted")


def _remove(path: Path) -> None:
    import shutil

    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    for folder in path.parents:
        if any(folder.iterdir()):
            break
        folder.rmdir()
