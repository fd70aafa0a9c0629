"""`bocu accept`: finished runs kept, where code changed and their numbers did not."""

from typing import Annotated

import typer

from bocu.commands.options import Trust


def accept_command(
    experiment: Annotated[str, typer.Argument(help="Experiment file, or the name of one under config/.")],
    rounds: Annotated[int, typer.Option(min=1, help="Rounds to play anew, of a seed of each branch.")] = 10,
    mirror: Annotated[str | None, typer.Option(help="Folder of a mirror to take data from.")] = None,
    config: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="Set a key; repeatable.")] = None,
    trust: Trust = False,
) -> None:
    """Keep finished runs that are out of date by changed code alone, where the code of today plays them alike.

    Of every branch the first rounds of a seed are played anew, and of one run file in ten, which its hash picks, all
    rounds of a seed. Where all that was recorded comes out again, bit for bit, the branch's run files stand under the
    code of today, say so, and are not run again; scores and what follows are made anew. Where it does not, round and
    quantity are told, the files are left as they are, and the exit status is 1.
    """
    from bocu.sweep.calls import forget_records
    from bocu.sweep.opening import plan_of, refuse_links_out, sources_of
    from bocu.sweep.runs.accepting import accept_branches

    sources = sources_of(experiment, mirror, config or [])
    plan = plan_of(sources, trust)
    if not trust:
        refuse_links_out(plan.results)
    files, all_alike = accept_branches(plan, rounds, typer.echo)
    if note := forget_records(files, sources.arguments):
        typer.echo(f"note: {note}", err=True)
    if not files and all_alike:
        typer.echo(f"{plan.results}: no run file is out of date by changed code alone")
    if not all_alike:
        raise typer.Exit(1)
