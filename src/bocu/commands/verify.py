"""`bocu verify`: whether results are as they were written, a page says what its runs say, and runs come out again."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bocu.commands.options import Mirror, Settings, Trust

if TYPE_CHECKING:
    from bocu.sweep.evaluation.claims.reduced import Reduced


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
    `--replay 2` Snakemake plays the first two of their seeds again in a folder of its own, by the code of today: regret
    of every branch has to have equal bits. A line for each that has not, and exit status 1.
    """
    if experiment.endswith(".nc"):
        _verify_reduced(Path(experiment), replay, cores, mirror, config or [])
        return
    if replay:
        from bocu.core.errors import BocuError

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


def _verify_reduced(path: Path, replay: int, cores: str, mirror: str | None, config: list[str]) -> None:
    from bocu.core.written import counted
    from bocu.sweep.evaluation.claims.reduced import read_reduced

    found = read_reduced(path)
    typer.echo(
        f"{path}: as it was written: {counted(len(found.problems), 'problem')}, {counted(len(found.seeds), 'seed')}"
    )
    if not replay:
        return
    from contextlib import ExitStack
    from tempfile import TemporaryDirectory

    from bocu.sweep.evaluation.agreement import EQUAL, agreements
    from bocu.sweep.evaluation.claims.reduced import numbers_in

    with ExitStack() as files:
        folder = files.enter_context(TemporaryDirectory(prefix="bocu-replay-"))  # nothing made before is at hand there
        cubes = _played_again(found, min(replay, len(found.seeds)), Path(folder), cores, mirror, config)
        compared = agreements(numbers_in(cubes, files), found.problems)
    other = [one for one in compared.shared if one.verdict != EQUAL]
    for one in other:
        place = "/".join((one.problem, one.place.objective, one.place.algorithm))
        typer.echo(
            f"{place}: regret ({one.place.metric}, {one.word}) came out otherwise, by {one.gap.value:.3g} on average"
        )
    for run in compared.alone:
        typer.echo(f"{run}: only on one side")
    typer.echo(f"{path}: {len(compared.shared) - len(other)} of {len(compared.shared)} regrets have equal bits")
    if other or compared.alone or not compared.shared:
        raise typer.Exit(1)


def _played_again(
    found: "Reduced", count: int, folder: Path, cores: str, mirror: str | None, config: list[str]
) -> Path:
    """Play the first so many seeds of every branch below a folder, and return the place of their cubes."""
    import subprocess
    import sys

    from bocu.sweep.experiment.paths import in_clone
    from bocu.sweep.opening import merge, plan_of, sources_of

    sources = sources_of(found.experiment, mirror and str(Path(mirror).resolve()), config)
    seeds = {"first": found.seeds[0], "count": count, "per_job": count}
    merge(sources.settings, {**found.settings, "name": f"{found.experiment}-replay", "seeds": seeds})
    sources = sources._replace(files=[file.resolve() for file in sources.files])
    plan = plan_of(sources)
    cubes = [plan.paths.cube(label) for label in plan.problems if label in found.problems]
    snakefile = str(in_clone("Snakefile").resolve())
    command = [
        sys.executable,
        "-P",
        "-m",
        "snakemake",
        *cubes,
        "--snakefile",
        snakefile,
        "--executor",
        "warm",
        "--cores",
        cores,
    ]
    if done := subprocess.run([*command, *sources.arguments], cwd=folder, check=False).returncode:
        raise typer.Exit(done)
    return folder / plan.results
