"""`bocu run`: a few seeds of one branch, outside the pipeline."""

import logging
from pathlib import Path
from typing import Annotated

import typer


def run_command(
    experiment: Annotated[Path, typer.Option(help="Experiment file.")],
    problem: Annotated[str, typer.Option(help="Label of a problem in it.")],
    algorithm: Annotated[str, typer.Option(help="Label of an algorithm in it.")],
    output: Annotated[Path, typer.Option(help="Run file to write.")],
    objective: Annotated[
        str, typer.Option(help="Label of an objective; `any` for algorithms that pursue none.")
    ] = "any",
    seed: Annotated[int, typer.Option(help="First seed.", min=0)] = 0,
    seeds: Annotated[int, typer.Option(help="Number of seeds.", min=1)] = 1,
    iterations: Annotated[int | None, typer.Option(help="Rounds; the experiment's if left out.")] = None,
    mirror: Annotated[str | None, typer.Option(help="Folder of a mirror to take data from.")] = None,
) -> None:
    """Run seeds of one branch of an experiment and write a run file.

    A problem that needs data or fitted priors finds them where the pipeline puts them; what is missing is named with
    the command that makes it.
    """
    from bocu.experiment import read_experiment_file
    from bocu.fingerprint import module_hashes
    from bocu.planning import make_plan
    from bocu.progress import Progress
    from bocu.runs import Block, execute

    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    overrides = {key: value for key, value in (("iterations", iterations), ("mirror", mirror)) if value is not None}
    plan = make_plan({**read_experiment_file(experiment), **overrides}, [experiment], overrides)
    branch = plan.branch(problem, objective, algorithm)
    specification = {**branch.specification, "seeds": [seed, seed + seeds - 1]}
    code = plan.fingerprint(*branch.modules), module_hashes(branch.modules)
    inputs = plan.problem_inputs(problem)
    given = plan.problem_parameters(problem).given_design
    if given is not None:
        inputs["initial"] = str(given.file)  # the pipeline's copy may not be there
    block = Block(specification, inputs, *code)
    checkpoints = output.with_name(f".{output.name}.checkpoints")
    with Progress(block.rounds, "rounds") as progress:
        execute(block, output, checkpoints, plan.experiment.checkpoint_seconds, progress.advance)
    typer.echo(str(output))
