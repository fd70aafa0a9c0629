"""What under an experiment's results no plan names any more."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bocu.core.errors import BocuError
from bocu.core.io.files import BROKEN, is_stale
from bocu.core.io.hashes import SUFFIX, digest_file, edited
from bocu.sweep.experiment.paths import PARTIAL, RUN_CACHE
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.experiment.record import refuse_to_shrink
from bocu.sweep.opening import differences_from_record
from bocu.sweep.runs.checkpoints import peek
from bocu.sweep.runs.run_cache import digest
from bocu.sweep.staleness import Staleness
from bocu.sweep.status import held_locks, is_running

_PREFIXES = (PARTIAL.strip("/"), "logs", "benchmarks")  # folders that mirror the stages


@dataclass(frozen=True)
class Leftover:
    """A file, or a folder of checkpoints, that nothing needs."""

    path: Path
    why: str
    bytes: int


def refuse_another_experiment(plan: Plan) -> None:
    """Raise where the results were made with other data, seeds or iterations: much would wrongly look left over.

    Raises:
        BocuError: the experiment is not the one that was run last.
    """
    refuse_to_shrink(plan)
    changed = [line for line in differences_from_record(plan) if line.startswith("data.")]
    if changed:
        raise BocuError(
            f"{plan.results} was last made with other data: {changed[0]}; give the same, by --mirror FOLDER"
        )


def leftovers(plan: Plan) -> Iterator[Leftover]:
    """Find what no plan names.

    Files of blocks, branches and figures that are gone, checkpoints that nobody can resume, temporary files of dead
    processes, broken files that were set aside, shared runs that no experiment links to.
    """
    files = plan.products.by_stage()
    planned = {_key(plan, Path(file)) for names in files.values() for file in names}
    for stage in files:
        for prefix in ("", PARTIAL, "/logs", f"/logs{PARTIAL}", "/benchmarks", f"/benchmarks{PARTIAL}"):
            for path in _files(Path(f"{plan.results}{prefix}/{stage}")):
                # Hidden files are temporary ones, or Snakemake's.
                if not path.name.startswith(".") and _key(plan, path) not in planned:
                    why = "set aside as broken" if path.suffix == BROKEN else "not in the plan"
                    yield Leftover(path, f"{stage}: {why}", path.stat().st_size)
    yield from _checkpoints(plan)
    for root in (Path(plan.results), Path(RUN_CACHE)):
        for path in _files(root):
            if is_stale(path.name):
                yield Leftover(path, "left by a process that is dead", path.stat().st_size)
    for path in sorted(Path(RUN_CACHE).rglob("[!.]*.nc")):
        if path.stat().st_nlink == 1:
            for file in filter(Path.is_file, (path, digest_file(path))):
                yield Leftover(file, "shared runs: no experiment links to it", file.stat().st_size)
    for path in sorted(Path(RUN_CACHE).rglob(f"*{BROKEN}")):
        yield Leftover(path, "shared runs: set aside as broken", path.stat().st_size)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _key(plan: Plan, path: Path) -> tuple[str, ...]:
    """Name what a file, its hash, its log and its benchmark, whole or partial, have in common."""
    if path.suffix == SUFFIX:
        path = path.with_suffix("")
    parts = list(path.relative_to(plan.results).parts)
    while parts[0] in _PREFIXES:
        parts.pop(0)
    return (*parts[:-1], Path(parts[-1]).stem)


def _checkpoints(plan: Plan) -> Iterator[Leftover]:
    staleness, held = Staleness(plan), held_locks()
    known = {
        plan.paths.checkpoint(branch, first, last): (branch, first, last)
        for branch in plan.branches.values()
        for first, last in plan.blocks_of(branch)
    }
    folders = {path.parent for path in Path(plan.results, "checkpoints").rglob("*") if path.is_file()}
    for folder in sorted(folders):
        log = Path(plan.results, "logs/runs", *folder.relative_to(Path(plan.results, "checkpoints")).parts)
        if is_running(folder, log.with_name(f"{log.name}.log"), plan, held):
            continue
        size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
        block = known.get(str(folder))
        header = peek(folder)
        if block is None:
            yield Leftover(folder, "checkpoints: not in the plan", size)
        elif not staleness.run(*block).reasons and not edited(plan.paths.run_file(*block)):
            yield Leftover(folder, "checkpoints: the run file stands", size)
        elif header is not None:
            identity = staleness.identity(*block)  # none where inputs are still to be made: it may be resumed
            if identity is not None and header["identity"] != digest(identity):
                yield Leftover(folder, "checkpoints: of another specification, code or input", size)
