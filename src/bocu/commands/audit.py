"""`bocu audit`: worst cases of a finished experiment, solved again by an independent solver."""

from typing import Annotated

import typer

from bocu.commands.options import Trust


def audit_command(
    experiment: Annotated[str, typer.Argument(help="Experiment file, or the name of one under config/.")],
    cases: Annotated[int, typer.Option(min=1, help="Worst cases to draw.")] = 1000,
    moments: Annotated[int, typer.Option(min=0, help="Rounds to replay, for what algorithms solved in them.")] = 12,
    tolerance: Annotated[float, typer.Option(min=0.0, help="Largest error, as a share of the payoffs' range.")] = 1e-7,
    seed: Annotated[int, typer.Option(min=0, help="Of the draw.")] = 0,
    mirror: Annotated[str | None, typer.Option(help="Folder of a mirror to take data from.")] = None,
    config: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="Replace a key; repeatable.")] = None,
    trust: Trust = False,
) -> None:
    """Draw worst cases out of an experiment's runs, and solve them again by CVXPY.

    Drawn are the payoffs of decisions taken and recommended, under the metrics that have an ambiguity set, and rows
    that algorithms solved while they chose a decision, found by replaying runs. What is found is written to
    results/NAME/audit.json, and the report shows it when it is built next. Exit status 1 where an error is beyond the
    tolerance.
    """
    from bocu.interop.cvxpy.audit import audit
    from bocu.sweep.opening import open_plan, refuse_links_out

    plan = open_plan(experiment, mirror, config or [], trust)
    if not trust:
        refuse_links_out(plan.results)
    found = audit(plan, cases, moments, tolerance, seed, lambda line: typer.echo(line, err=True))
    found.write(plan.paths.audit)
    for group in found.groups:
        typer.echo(
            f"{group['problem']}: {group['set']}, {group['kind']}: {group['cases']} cases, {group['largest']:.1e}"
        )
    for reason, count in found.left_out.items():
        typer.echo(f"left out: {count} cases: {reason}")
    for line in found.beyond:
        typer.echo(f"beyond: {line}")
    typer.echo(f"{plan.results}: {found.told}")
    if not found.passed:
        raise typer.Exit(1)
