"""`bocu run`: a few seeds of one branch, outside the pipeline."""

import logging
from pathlib import Path
from typing import Annotated

import typer

from bocu.commands.options import Mirror, writable
from bocu.core.errors import BocuError


def _refuse_output(output: Path) -> None:
    """Refuse to replace what is none of ours, before anything is computed.

    Raises:
        BocuError: something else than a run file stands there.
    """
    from bocu.sweep.staleness import read_run_file

    if output.exists():
        try:
            read_run_file(output)
        except BocuError:
            raise BocuError(
                f"--output: {output}: found a file that is no run file; only a run file is replaced"
            ) from None


def run_command(
    experiment: Annotated[str, typer.Option(help="Experiment file, or the name of one under config/.")],
    problem: Annotated[str, typer.Option(help="Label of a problem in it.")],
    algorithm: Annotated[str, typer.Option(help="Label of an algorithm in it.")],
    output: Annotated[Path, typer.Option(help="Run file to write.", callback=writable)],
    objective: Annotated[
        str, typer.Option(help="Label of an objective; `any` for algorithms that pursue none.")
    ] = "any",
    seed: Annotated[int, typer.Option(help="First seed.")] = 0,
    seeds: Annotated[int, typer.Option(help="Number of seeds.")] = 1,
    iterations: Annotated[int | None, typer.Option(help="Rounds; the experiment's if left out.")] = None,
    mirror: Mirror = None,
) -> None:
    """Run seeds of one branch of an experiment and write a run file.

    A problem that needs data or fitted priors finds them where the pipeline puts them; what is missing is named with
    the command that makes it.
    """
    from bocu.core.io.progress import Progress
    from bocu.core.parameters import validate
    from bocu.sweep.experiment.configuration import Seeds
    from bocu.sweep.experiment.fingerprints.fingerprint import definitions, fingerprint
    from bocu.sweep.opening import open_plan
    from bocu.sweep.runs.execution import Block, execute

    _refuse_output(output)
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    plan = open_plan(experiment, mirror, [] if iterations is None else [f"iterations={iterations}"])
    for note in plan.notes():
        typer.echo(f"note: {note}", err=True)
    wanted = validate(Seeds, {"first": seed, "count": seeds}, "--seed, --seeds: ")
    branch = plan.branch(problem, objective, algorithm)
    specification = {**branch.specification, "seeds": [wanted.first, wanted.first + wanted.count - 1]}
    roots = plan.parameters.run_roots(branch)
    code = fingerprint(*roots), definitions(roots)
    inputs = plan.inputs.problem(problem)
    given = plan.problem_parameters(problem).given_design
    if given is not None:
        inputs["initial"] = str(given.file)  # the pipeline's copy may not be there
    block = Block(specification, inputs, *code)
    checkpoints = output.with_name(f".{output.name}.checkpoints")
    with Progress(block.rounds, "rounds") as progress:
        execute(block, output, checkpoints, plan.experiment.checkpoint_seconds, progress.advance)
    typer.echo(str(output))
