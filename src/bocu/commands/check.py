"""`bocu check`: whether an experiment file is right, and what it comes to."""

from pathlib import Path
from typing import Annotated

import typer


def check_command(
    experiment: Annotated[Path, typer.Argument(help="Experiment file.")],
    mirror: Annotated[str | None, typer.Option(help="Folder of a mirror to take data from.")] = None,
) -> None:
    """Check an experiment file and say how many jobs and runs it plans."""
    from bocu.experiment import read_experiment_file
    from bocu.planning import make_plan

    overrides = {} if mirror is None else {"mirror": mirror}
    plan = make_plan({**read_experiment_file(experiment), **overrides}, [experiment], overrides)
    jobs = len(plan.branches) * len(plan.blocks)
    runs = len(plan.branches) * plan.experiment.seeds.count
    typer.echo(
        f"{experiment}: {len(plan.problems)} problems, {len(plan.branches)} branches, {jobs} run jobs, {runs} runs"
    )
