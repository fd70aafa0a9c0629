"""`bocu verify`: whether what an experiment made is as it was written, and a page says what its run files say."""

from typing import Annotated

import typer

from bocu.commands.options import Trust


def verify_command(
    experiment: Annotated[
        str, typer.Argument(help="Experiment file, or the name of one under config/; or the page of a report.")
    ],
    mirror: Annotated[str | None, typer.Option(help="Folder of a mirror to take data from.")] = None,
    config: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="Replace a key; repeatable.")] = None,
    trust: Trust = False,
) -> None:
    """Compare every file of an experiment with what was written and print a line for each that was changed.

    Each has its SHA-256 beside it, recorded by the job that wrote it; raw files, and those of the mirror, are compared
    with the hashes that the prepared data sets keep. A line says who wrote the file, and the command that makes it
    again once it is deleted. No file is changed; of files without a record, from an earlier version, it is written now,
    and their number told. Exit status 1 where there is a fault; what is not made yet is none.

    Given a page (`results/NAME/report/index.html`), its runs are scored again instead, the page is written anew
    elsewhere, and all its numbers are compared with those: cells of tables and files of tables, sentences, totals by
    seed, differences, curves. A line for each that does not stand, and exit status 1.
    """
    if experiment.endswith(".html"):
        _verify_page(experiment, bool(mirror or config), trust)
        return
    from bocu.sweep.opening import open_plan
    from bocu.sweep.verification import verify

    plan = open_plan(experiment, mirror, config or [], trust)
    found = verify(plan)
    for fault in found.faults:
        typer.echo(fault)
    faults = f"{len(found.faults)} faults" if len(found.faults) != 1 else "1 fault"
    new = len(found.unrecorded)
    first = f", {new} without a record of their SHA-256, which they have from now on" if new else ""
    typer.echo(f"{plan.results}: {len(found.read)} files read, {faults}, {len(found.missing)} not made yet{first}")
    if found.faults:
        raise typer.Exit(1)


def _verify_page(page: str, settings: bool, trust: bool) -> None:
    from bocu.core.errors import BocuError
    from bocu.pages.recomputed import told_briefly, verify_page

    if settings:
        raise BocuError("--mirror, --config: a page knows its experiments; found them together with a page")
    found = verify_page(page, trust)
    for line in told_briefly(found.faults):
        typer.echo(line)
    stand = f"{len(found.faults)} do not stand" if found.faults else "all stand"
    typer.echo(f"{page}: {found.numbers:,} numbers computed again from run files, {stand}")
    if found.faults:
        raise typer.Exit(1)
