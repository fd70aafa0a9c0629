"""Pilots of an experiment's branches: measured when asked for, kept beside its results, read while planning."""

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from bocu.core.errors import BocuError
from bocu.core.io.files import canonical_json, write_json
from bocu.core.plain import Plain
from bocu.sweep.experiment.branches import Branch
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.runs import pilot
from bocu.sweep.runs.pilot import Pilot
from bocu.sweep.staleness import flat

logger = logging.getLogger(__name__)


def pilots_file(plan: Plan) -> Path:
    """Return the file that holds what an experiment's pilots took."""
    return Path(plan.results, "costs.json")


def read_pilots(plan: Plan) -> dict[tuple[str, str, str], Pilot]:
    """Return the pilots of branches that stand as they were measured, but perhaps for the number of iterations."""
    kept = _read(pilots_file(plan))
    names = {"/".join(branch.key): branch for branch in plan.branches.values()}
    return {
        branch.key: Pilot.from_plain(kept[name]["pilot"])
        for name, branch in names.items()
        if name in kept and kept[name]["specification"] == _measured_as(branch)
    }


def measure_pilots(
    plan: Plan, branches: Iterator[Branch], tell: Callable[[str], None], limit_seconds: float = pilot.SECONDS
) -> None:
    """Run the first rounds of the first seed of branches, one after the other, and note what they took.

    Args:
        plan: what they are branches of.
        branches: which to measure.
        tell: told a line a branch.
        limit_seconds: of the rounds of a branch together.

    Raises:
        BocuError: data or priors of a branch are not there yet, or its run fails.
    """
    from bocu.sweep.runs.compiling import compile_ahead

    chosen = list(branches)
    inputs = {branch.problem.label: plan.inputs.problem(branch.problem.label) for branch in chosen}
    wanted = [path for files in inputs.values() for path in flat(files)]
    if missing := sorted({path for path in wanted if not Path(path).is_file()}):
        raise BocuError(
            f"{missing[0]}: no such file ({len(missing)} of what runs are made from are missing); make them first: "
            f"snakemake --cores all --configfile FILE -- {' '.join(missing)}"
        )
    compile_ahead(plan)
    file = pilots_file(plan)
    kept = _read(file)
    for branch in chosen:
        name = "/".join(branch.key)
        try:
            found = pilot.in_a_process(
                branch.specification, inputs[branch.problem.label], plan.experiment.seeds.first, limit_seconds
            )
        except BocuError as error:
            raise BocuError(f"{name}: {error}") from None
        kept[name] = {"specification": _measured_as(branch), "pilot": asdict(found)}
        write_json(file, kept)
        tell(f"{name}: {found.whole.rounds} rounds in {found.whole.seconds:.2g} s")


def _measured_as(branch: Branch) -> str:
    """Return what a pilot holds for: the specification, at any number of iterations."""
    return canonical_json({**branch.specification, "iterations": None})


def _read(file: Path) -> Plain:
    """Return what the file holds by branch; nothing of a broken one, which only estimates are lost with."""
    if not file.is_file():
        return {}
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        for entry in kept.values():
            Pilot.from_plain(entry["pilot"])
            entry["specification"]
    except (ValueError, TypeError, KeyError, AttributeError):
        logger.warning("%s: not readable as what pilots took, ignored; `bocu plan --measure` makes it again", file)
        return {}
    return dict(kept)
