"""`bocu archive`, `submit` and `id`: what is published, whether it stands, and what it is known by."""

from collections.abc import Iterator
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from bocu.commands.options import Mirror, Settings, Trust, writable
from bocu.core.errors import BocuError
from bocu.core.written import NOTHING, counted, spoken, table

if TYPE_CHECKING:
    from bocu.sweep.archive.entries import Archive
    from bocu.sweep.archive.replays import Again
    from bocu.sweep.evaluation.claims.reduced import Reduced

Folder = Annotated[Path, typer.Option(help="The archive: a folder of files that `bocu submit` made.")]


class Action(StrEnum):
    """What is done with an archive."""

    LIST, CHECK, ADD = "list", "check", "add"


def archive_command(
    action: Annotated[Action, typer.Argument(help="What to do.")],
    files: Annotated[list[Path] | None, typer.Argument(help="Of check and add: files such as NAME.nc.")] = None,
    folder: Folder = Path("docs/results"),
    find: Annotated[str, typer.Option(help="Of list: branches whose problem or method has this in its name.")] = "",
    seeds: Annotated[int, typer.Option(min=0, help="Of check: seeds to play again; 0: none.")] = 1,
    experiment: Annotated[
        str, typer.Option(help="Of check: its experiment file, in place of what the file holds or names.")
    ] = "",
    note: Annotated[bool, typer.Option("--note", help="Of check: note beside the file that it stands.")] = False,
    cores: Annotated[str, typer.Option(help="Cores that runs may take, as Snakemake has it.")] = "all",
    mirror: Mirror = None,
    config: Settings = None,
    trust: Trust = False,
) -> None:
    """List the archive, check whether a file belongs in it, or add one.

    `list` shows a line a file, with `--find` a line a branch. `check` says in what a file is broken or doctored, of
    another revision of a problem or method than the code at hand, wholly there already, or at odds with labels that the
    archive has; then it plays seeds that the file's own hash picks again, of every branch: equal bits, or the same to
    rounding, or between which rounds regret is another first. `add` copies a file that passes all but the replay.
    Nothing that a file names is imported or read without `--trust`. Exit status 1 where a file does not pass.
    """
    from bocu.sweep.archive.entries import Archive

    archive = Archive(folder)
    if action is Action.LIST:
        if files:
            raise BocuError(f"archive list: found {files[0]}; the folder of an archive is named by --folder")
        typer.echo("\n".join(_branches(archive, find) if find else _files(archive)))
        return
    if not files:
        raise BocuError(f"archive {action.value}: no file is named; NAME.nc is wanted")
    from bocu.sweep.archive.replays import Again

    passed = True
    for path in files:
        try:
            found = _belongs(path, archive)
            if found and action is Action.ADD:
                _add(path, folder)
            elif found and seeds:
                passed &= played_again(Again(path, found, experiment, mirror, config or [], trust), seeds, cores, note)
            passed &= found is not None
        except BocuError as error:
            typer.echo(f"error: {error}", err=True)
            passed = False
    if not passed:
        raise typer.Exit(1)


def _belongs(path: Path, archive: "Archive") -> "Reduced | None":
    from bocu.sweep.archive.entries import ArchivedFile, faults
    from bocu.sweep.evaluation.claims.reduced import read_reduced

    entry = ArchivedFile(path, read_reduced(path))
    found = list(faults(entry, archive))
    for fault in found:
        typer.echo(f"{path}: {fault}")
    if found:
        return None
    typer.echo(f"{path}: whole, {counted(len(entry.runs), 'branch')}; no other file of {archive.folder} is against it")
    return entry.reduced


def _add(path: Path, folder: Path) -> None:
    from bocu.core.io.files import atomic_path

    target = folder / path.name
    if target.exists():
        raise BocuError(f"{target}: stands already; what is published does not change; give the file another name")
    with atomic_path(target) as temporary:
        temporary.write_bytes(path.read_bytes())
    typer.echo(str(target))


def played_again(again: "Again", count: int, cores: str, noted: bool = False) -> bool:
    """Play seeds of a file again, tell what came of it, and return whether it stands."""
    from bocu.core.io.files import write_json
    from bocu.sweep.archive.entries import CHECKED
    from bocu.sweep.archive.replays import ABSENT, DIFFERS, EQUAL, WITHIN, changed_identities, note, regrets_again
    from bocu.sweep.evaluation.claims.reduced import numbers_in

    seeds = again.seeds(count)
    with ExitStack() as files:
        folder = Path(files.enter_context(TemporaryDirectory(prefix="bocu-replay-")))
        plan, results = again.play(seeds, folder, cores)
        found = list(regrets_again(again.found, numbers_in(results, files)))
        others = list(changed_identities(again.found, plan, folder))
    for each in found:
        if each.verdict != EQUAL:
            typer.echo(f"{each.run}: {each.verdict} {each.told}".rstrip())
    for line in others:
        typer.echo(f"identity of {line}")
    counts = {verdict: sum(each.verdict == verdict for each in found) for verdict in (EQUAL, WITHIN, DIFFERS, ABSENT)}
    rounding = f", {counts[WITHIN]} are the same to rounding" if counts[WITHIN] else ""
    which = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {spoken(list(map(str, seeds)))}"
    cut = [
        plan.iterations(label)
        for label, own in again.found.problems.items()
        if label in plan.problems and plan.iterations(label) < own.known.rounds
    ]
    which += f", to round {min(cut)}" if cut else ""
    typer.echo(f"{again.path}: {counts[EQUAL]} of {len(found)} regrets have equal bits{rounding}: {which}")
    stands = bool(found) and not (counts[DIFFERS] or counts[ABSENT] or others)
    if stands and noted:
        write_json(again.path.with_suffix(CHECKED), note(again.path, seeds, found, min(cut, default=None)))
    return stands


def _files(archive: "Archive") -> Iterator[str]:
    rows, total = [], 0
    for entry in archive.entries:
        runs = entry.reduced.runs
        total += runs
        known = str(len(entry.runs)) if entry.runs else NOTHING
        checked = f"seeds {entry.checked['seeds']}" if entry.checked else NOTHING
        problems = len(entry.reduced.problems)
        rows.append((entry.file.name, problems, known, f"{runs:,}", entry.added or NOTHING, checked))
    yield from table(("file", "problems", "branches known", "runs", "added", "played again"), rows)
    yield f"{archive.folder}: {counted(len(rows), 'file')}, {total:,} runs"


def _branches(archive: "Archive", part: str) -> Iterator[str]:
    runs = [run for entry in archive.entries for run in entry.runs]
    found = [run for run in runs if part in f"{run} {' '.join(run.key)} {run.told['title']}"]
    rows = [(run.entry.file.name, str(run), len(run.seeds), run.numbers.known.rounds, *run.key) for run in found]
    yield from table(("file", "branch", "seeds", "rounds", "problem", "objective", "method"), rows)


def submit_command(
    folder: Annotated[Path, typer.Argument(help="Results of an experiment, such as results/NAME.")],
    by: Annotated[str, typer.Option(help="Who submits it: a name, and where to reach you.")],
    how: Annotated[str, typer.Option(help="How it was run, in a line: machine, settings, why.")] = "",
    output: Annotated[
        Path | None, typer.Option(help="The file; NAME.nc if left out, after the experiment.", callback=writable)
    ] = None,
    final: Annotated[
        bool, typer.Option("--final", help="Keep what is summed over all rounds alone: a smaller file.")
    ] = False,
    trust: Trust = False,
) -> None:
    """Make the file of an experiment that goes into the archive, sealed, with a line on who made it and how.

    It is what `bocu reduce` makes, and needs all that the experiment is made from: its identities are probed now.
    """
    from bocu.commands.products import write_reduced

    if len(by) > 200 or len(how) > 500 or not by.strip():
        raise BocuError("--by, --how: found nothing, or more than 200 and 500 letters; allowed: a line each")
    write_reduced(folder, output or Path(f"{folder.name}.nc"), final, trust, {"by": by, "how": how})


def id_command(
    experiment: Annotated[str, typer.Argument(help="Experiment file or name; or reduced results, NAME.nc.")],
    mirror: Mirror = None,
    config: Settings = None,
    trust: Trust = False,
) -> None:
    """Print what problems, objectives, methods and metrics are known by: the same for what behaves the same.

    Of an experiment they are probed now, for which its data and fitted priors have to be there; of a file those that it
    holds are printed.
    """
    if experiment.endswith(".nc"):
        from bocu.sweep.evaluation.claims.reduced import read_reduced

        found = read_reduced(Path(experiment))
        stated, problems = found.stated, found.identities
    else:
        from bocu.sweep.archive.identities import asked_of, identities_of
        from bocu.sweep.opening import open_plan

        known = identities_of(asked_of(open_plan(experiment, mirror, config or [], trust)))
        stated, problems = known.stated, known.problems
    labels: dict[tuple[str, str], list[str]] = {}
    for problem, of in problems.items():
        labels.setdefault(("problem", of["problem"]), []).append(problem)
        for kind in ("objectives", "algorithms", "metrics"):
            for label, identity in of[kind].items():
                own = labels.setdefault((kind.removesuffix("s"), identity), [])
                own += [label] * (label not in own)
    rows = [
        (kind, ", ".join(own), identity, stated[identity].get("revision", ""), stated[identity].get("probe", ""))
        for (kind, identity), own in sorted(labels.items())
    ]
    typer.echo("\n".join(table(("kind", "labels", "identity", "revision", "probe"), rows)))
