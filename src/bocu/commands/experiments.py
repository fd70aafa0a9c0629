"""Commands on an experiment and its results: `bocu check`, `run`, `why`, `accept`, `prune`, `audit`, `verify`."""

import logging
import os
import shutil
from pathlib import Path
from typing import Annotated

import typer

from bocu.commands.options import Experiment, Mirror, Settings, Trust, writable
from bocu.core.errors import BocuError
from bocu.core.written import counted, size, table


def check_command(
    experiment: Experiment,
    mirror: Mirror = None,
    config: Settings = None,
    trust: Trust = False,
) -> None:
    """Check an experiment and say how many jobs and runs it plans."""
    from bocu.sweep.experiment.plugins import refuse_heavy
    from bocu.sweep.opening import open_plan

    plan = open_plan(experiment, mirror, config or [], trust)
    for note in plan.notes():
        typer.echo(f"note: {note}", err=True)
    jobs = plan.jobs()
    runs = len(plan.branches) * plan.experiment.seeds.count
    for label, entry in plan.outside():
        refuse_heavy(entry)
        typer.echo(f"{entry.kind} '{label}': from outside: {entry.origin}")
    for source, labels in plan.kernels().items():
        typer.echo(f"length-scale {source}: {', '.join(labels)}")
    told = ((len(plan.problems), "problem"), (len(plan.branches), "branch"), (jobs, "run job"), (runs, "run"))
    typer.echo(f"{experiment}: {', '.join(counted(*each) for each in told)}")


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
    from bocu.sweep.staleness import read_run_file

    if output.exists():
        try:
            read_run_file(output)
        except BocuError:
            raise BocuError(
                f"--output: {output}: found a file that is no run file; only a run file is replaced"
            ) from None
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


def why_command(
    file: Annotated[
        Path,
        typer.Argument(help="Run file, prior, score, cube, figure or report of an experiment.", show_default=False),
    ],
    experiment: Annotated[
        str | None, typer.Option(help="Experiment file; if left out, the one under config/ with the name in FILE.")
    ] = None,
    mirror: Mirror = None,
    config: Settings = None,
    trust: Trust = False,
) -> None:
    """Explain why FILE would be made again, or say that it is up to date.

    Named are the keys of the specification that differ, source files whose code differs, and input files with other
    contents; comments and docstrings are no code.
    """
    from bocu.sweep.opening import differences_from_record, name_in, open_plan
    from bocu.sweep.staleness import Staleness

    path = os.path.relpath(file)
    name = name_in(path)
    plan = open_plan(experiment or name, mirror, config or [], trust)
    if plan.experiment.name != name:
        raise BocuError(
            f"{path}: belongs to '{name}', the experiment is '{plan.experiment.name}'; leave --experiment out, "
            f"or add --config name={name}"
        )
    explanation = Staleness(plan).explain(path)
    typer.echo(f"{path}: {'stale' if explanation.is_stale else 'up to date'}")
    for line in explanation.lines():
        typer.echo(line)
    for change in differences_from_record(plan) if explanation.is_stale else []:
        typer.echo(f"note: the results were last made with another setting: {change}")


def accept_command(
    experiment: Experiment,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds to play anew, of a seed of each branch.")] = 10,
    mirror: Mirror = None,
    config: Settings = None,
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


def prune_command(
    experiment: Experiment,
    delete: Annotated[bool, typer.Option("--delete", help="Delete what is listed.")] = False,
    mirror: Mirror = None,
    config: Settings = None,
    trust: Trust = False,
) -> None:
    """List files under results/NAME that the experiment no longer names, with their sizes; --delete removes them.

    These are old ragged blocks, branches, problems and figures that were taken out, their logs and benchmarks,
    checkpoints that no run can resume, broken files that were set aside, and temporary files of processes that died.
    Shared runs that no experiment links to are listed too. An experiment with fewer seeds or iterations than the
    results hold is refused, as when running, unless `overwrite` is true.
    """
    from bocu.sweep.opening import open_plan, refuse_links_out
    from bocu.sweep.pruning import leftovers, refuse_another_experiment

    plan = open_plan(experiment, mirror, config or [], trust)
    refuse_another_experiment(plan)
    found = list(leftovers(plan))
    if not found:
        typer.echo(f"{plan.results}: nothing to prune")
        return
    rows = [(size(entry.bytes), entry.path, entry.why) for entry in found]
    typer.echo("\n".join(table(("size", "file", "why"), rows)))
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
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    for folder in path.parents:
        if any(folder.iterdir()):
            break
        folder.rmdir()


def audit_command(
    experiment: Experiment,
    cases: Annotated[int, typer.Option(min=1, help="Worst cases to draw.")] = 1000,
    moments: Annotated[int, typer.Option(min=0, help="Rounds to replay, for what algorithms solved in them.")] = 12,
    tolerance: Annotated[float, typer.Option(min=0.0, help="Largest error, as a share of the payoffs' range.")] = 1e-7,
    seed: Annotated[int, typer.Option(min=0, help="Of the draw.")] = 0,
    mirror: Mirror = None,
    config: Settings = None,
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


def verify_command(
    experiment: Annotated[
        str,
        typer.Argument(
            help="Experiment file, or the name of one under config/; or the page of a report, or reduced results."
        ),
    ],
    replay: Annotated[
        int, typer.Option(metavar="SEEDS", min=0, help="Of reduced results: seeds to play again of every branch.")
    ] = 0,
    cores: Annotated[str, typer.Option(help="Cores that these may take, as Snakemake has it.")] = "all",
    mirror: Mirror = None,
    config: Settings = None,
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

    Given reduced results (`docs/results/NAME.nc`), they are compared with the seal that was written with them, and with
    `--replay 2` Snakemake plays two of their seeds, which the file's hash picks, again in a folder of its own, by the
    code of today: regret of every branch has to have equal bits, or be the same to rounding, as by other packages. A
    line for each that is not, and exit status 1.
    """
    if experiment.endswith(".nc"):
        _verify_reduced(Path(experiment), replay, cores, mirror, config or [], trust)
        return
    if replay:
        raise BocuError(f"--replay: found together with {experiment}; of reduced results alone, a file NAME.nc")
    if experiment.endswith(".html"):
        _verify_page(experiment, bool(mirror or config), trust)
        return
    from bocu.sweep.opening import open_plan
    from bocu.sweep.verification import verify

    plan = open_plan(experiment, mirror, config or [], trust)
    found = verify(plan)
    for fault in found.faults:
        typer.echo(fault)
    faults = counted(len(found.faults), "fault")
    new = len(found.unrecorded)
    first = f", {new} without a record of their SHA-256, which they have from now on" if new else ""
    typer.echo(f"{plan.results}: {len(found.read)} files read, {faults}, {len(found.missing)} not made yet{first}")
    if found.faults:
        raise typer.Exit(1)


def _verify_page(page: str, settings: bool, trust: bool) -> None:
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


def _verify_reduced(path: Path, replay: int, cores: str, mirror: str | None, config: list[str], trust: bool) -> None:
    from bocu.commands.archive import played_again
    from bocu.sweep.archive.replays import Again
    from bocu.sweep.evaluation.claims.reduced import read_reduced

    found = read_reduced(path)
    typer.echo(
        f"{path}: as it was written: {counted(len(found.problems), 'problem')}, {counted(len(found.seeds), 'seed')}"
    )
    if replay and not played_again(Again(path, found, "", mirror, config, trust), replay, cores):
        raise typer.Exit(1)
