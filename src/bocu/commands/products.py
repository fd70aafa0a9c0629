"""What others take of results: `bocu report`, `design`, `reduce` and `crate`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bocu.commands.options import Trust, writable
from bocu.core.errors import BocuError
from bocu.core.written import counted, size

if TYPE_CHECKING:
    import numpy as np


def report_command(
    experiments: Annotated[
        list[str], typer.Argument(help="Experiment files, or the names of some under config/ or results/.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(help="Page to write; reports/A-B/index.html if left out, after the names.", callback=writable),
    ] = None,
    reference: Annotated[
        str | None, typer.Option(help="Label of the algorithm that the others are compared with.")
    ] = None,
    archive: Annotated[
        bool, typer.Option("--archive", help="Show the experiments beside what the archive has of their problems.")
    ] = False,
    folder: Annotated[Path, typer.Option(help="The archive.")] = Path("docs/results"),
    trust: Trust = False,
) -> None:
    """Make one page over several experiments, from what they have been scored and drawn to.

    Nothing is run: of an experiment that is not finished, what `snakemake partial` gathered is shown. Tables are
    written beside the page. With `--archive` a figure compares them with every method that the archive has of the same
    problems, metrics and seeds, and says which file each is from.
    """
    from bocu.pages.recomputed import part_of
    from bocu.pages.report.build import build_page
    from bocu.sweep.opening import open_plan_as_made

    plans = [open_plan_as_made(experiment, trust) for experiment in experiments]
    names = [plan.experiment.name for plan in plans]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BocuError(f"report: experiment '{twice[0]}' is named twice")
    page = output or Path("reports", "-".join(names), "index.html")
    parts = [part_of(plan) for plan in plans]
    if archive:
        from bocu.pages.archived import write_beside
        from bocu.sweep.archive.comparing import question
        from bocu.sweep.archive.entries import Archive

        known = Archive(folder)
        for place, (plan, part) in enumerate(zip(plans, parts, strict=True)):
            beside = page.parent / "archive" / plan.experiment.name
            drawn = write_beside(question(plan, folder), Path(plan.results), beside, known)
            parts[place] = replace(
                part, figures=[drawn, *(one for one in part.figures if Path(one).stem != drawn.stem)]
            )
    build_page(parts, page, reference)
    typer.echo(str(page))


def design_command(
    run_files: Annotated[list[Path], typer.Argument(help="Run files of one problem, such as all blocks of a branch.")],
    output: Annotated[Path, typer.Option(help="CSV file to write.", callback=writable)],
) -> None:
    """Write the initial designs of runs, by seed, for the key `initial: {file: ...}` of a problem."""
    from bocu.core.io.files import read_netcdf
    from bocu.problems.given_design import write_design

    rows: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for path in run_files:
        data = read_netcdf(path)
        if not {"seed", "iteration", "decision", "context"} <= set(data.variables):
            raise BocuError(f"{path}: found no decisions and contexts by seed and iteration; a run file is wanted")
        initial = data.sel(iteration=data["iteration"].values <= 0)
        if not initial.sizes["iteration"]:
            raise BocuError(f"{path}: its runs have no initial design")
        for seed in initial["seed"].values.tolist():
            one = initial.sel(seed=seed)
            design = one["decision"].values, one["context"].values
            other = rows.setdefault(seed, design)
            if any(mine.tobytes() != theirs.tobytes() for mine, theirs in zip(design, other, strict=True)):
                raise BocuError(f"{path}: another initial design of seed {seed} than the files before")
    write_design(output, rows)
    typer.echo(str(output))


def reduce_command(
    folder: Annotated[Path, typer.Argument(help="Results of an experiment, such as results/NAME.")],
    output: Annotated[Path, typer.Option(help="The file, such as docs/results/NAME.nc.", callback=writable)],
    final: Annotated[
        bool, typer.Option("--final", help="Keep what is summed over all rounds alone: final regret, payoff, seconds.")
    ] = False,
    add: Annotated[
        list[Path] | None,
        typer.Option(help="Reduced results of the same experiment, of other seeds or problems, in it too; repeatable."),
    ] = None,
    trust: Trust = False,
) -> None:
    """Reduce the cubes of an experiment to one small file, to be published.

    It holds, seed by seed, every number that a claim can ask for, and regret summed up to some rounds: `bocu claims
    --results` judges by it, and `bocu diff --within` compares with it. Where the folder says what it was made from, it
    also holds what its branches are known by (`bocu id`). With `--add` it joins what was published of other seeds or
    problems, of which no run file is needed. `bocu submit` makes the same for the archive.
    """
    write_reduced(folder, output, final, trust, earlier=add or ())


def write_reduced(
    folder: Path,
    output: Path,
    final: bool,
    trust: bool,
    added: Mapping[str, str] | None = None,
    earlier: Sequence[Path] = (),
) -> None:
    """Reduce results, and say what came of it; `added` says who submits them to the archive, and how."""
    from bocu.core.io.files import atomic_path
    from bocu.sweep.archive.entries import identify
    from bocu.sweep.evaluation.claims.reduced import cubes_in, read_reduced, reduce_results
    from bocu.sweep.experiment.paths import RESULTS
    from bocu.sweep.experiment.record import MADE_FROM, record_in
    from bocu.sweep.opening import merged, plan_of, sources_as_made

    here = folder.resolve() == Path(RESULTS, folder.name).resolve()  # what it was made from is told by its name
    known = here and MADE_FROM in record_in(folder)
    if (added or any(read_reduced(part).identities for part in earlier)) and not known:
        raise BocuError(f"{folder}: no record of what it was made from; {RESULTS}/NAME of a sweep of here is wanted")
    sources = sources_as_made(folder.name) if known else None
    plan = plan_of(sources, trust) if sources else None
    with atomic_path(output) as file:
        reduce_results(folder, file, final, earlier)
        if sources and plan:
            identify(file, plan, merged(sources), added, [cube.stem for cube in cubes_in(folder)], earlier)
    reduced = read_reduced(output)
    problems = counted(len(reduced.problems), "problem")
    typer.echo(f"{output}: {problems} of {reduced.experiment}, {size(output.stat().st_size)}")


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
    from bocu.interop.crate import write_crate
    from bocu.sweep.opening import open_plan_as_made, refuse_links_out

    if output.exists() or output.is_symlink():
        raise BocuError(f"--output: found {output}, which stands already; nothing was written; name another folder")
    plan = open_plan_as_made(experiment, trust)
    if not trust:
        refuse_links_out(plan.results)
    write_crate(plan, output, licence)
    typer.echo(f"{output}: results of {plan.experiment.name}, described in {output / 'ro-crate-metadata.json'}")
