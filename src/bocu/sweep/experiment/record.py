"""What an experiment leaves behind of itself under its results: a record of it, and copies of given designs."""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256 as sha256_of
from pathlib import Path
from typing import Any

import yaml

from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.files import atomic_path, read_text, write_json
from bocu.core.io.yaml_files import read_yaml
from bocu.core.plain import Plain
from bocu.sweep.experiment.configuration import Seeds
from bocu.sweep.experiment.paths import ResultPaths
from bocu.sweep.experiment.plan import Plan

MADE_FROM = "made_from"  # in the record: files and settings of the command line
OF_SCALE = ("name", "iterations", "seeds", "problems")
"""Settings of a command line that say at which scale results were made; others name places of one machine."""


def write_record(
    plan: Plan,
    files: Sequence[str | Path] = (),
    overrides: Mapping[str, object] | None = None,
    snakefile: str | Path | None = None,
) -> None:
    """Note the experiment, the files and settings of the command line that it was made from, and the Snakefile.

    Args:
        plan: of the experiment.
        files: given by `--configfile`.
        overrides: given by `--config`.
        snakefile: given by `--snakefile`; None: the one that Snakemake finds in the working folder.
    """
    made_from = {"files": [str(file) for file in files], "config": dict(overrides or {}), "stated": _stated(files)}
    if snakefile is not None:
        made_from["snakefile"] = str(snakefile)
    write_json(plan.paths.record, {**plan.describe(), **({MADE_FROM: made_from} if files else {})}, recorded=True)


def read_record(file: str | Path) -> Plain | None:
    """Return what a small record of an experiment holds; None where it is not there, or no record."""
    try:
        found: object = json.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def record_in(folder: Path) -> Plain:
    """Return the record of the experiment in a folder, such as `results/NAME`; empty: there is none.

    Raises:
        BrokenFileError: it cannot be read.
    """
    file = folder / Path(ResultPaths("").record).name
    if (found := read_record(file)) is None and file.is_file():
        raise BrokenFileError(file, "not readable as the record of an experiment")
    return found or {}


def settings_of(record: Mapping[str, Any]) -> Plain:
    """Return the settings of the command line that say at which scale results were made, from their record."""
    config = record.get(MADE_FROM, {}).get("config", {})
    return {key: value for key, value in config.items() if key in OF_SCALE}


def _stated(files: Sequence[str | Path]) -> dict[str, int]:
    """Return how many rounds and seeds experiment files ask for by themselves, as far as they say."""
    found: dict[str, Any] = {}
    for file in filter(Path.is_file, map(Path, files)):
        data: Any = read_yaml(file)
        found |= data
    seeds = found.get("seeds")
    told = {"rounds": found.get("iterations"), "seeds": seeds.get("count") if isinstance(seeds, Mapping) else seeds}
    return {key: int(value) for key, value in told.items() if value is not None}


def trial_of(record: Mapping[str, Any]) -> str:
    """Say how much less was run than the experiment file asks for: "reduced: 50 of 200 rounds, simulated"."""
    made = record.get(MADE_FROM, {})
    now = {"rounds": record.get("iterations"), "seeds": (record.get("seeds") or {}).get("count")}
    told = reduced_to((now.get(what), whole, what) for what, whole in made.get("stated", {}).items())
    return told + (", simulated" if told else "simulated") if made.get("config", {}).get("data") == "simulate" else told


def reduced_to(scales: Iterable[tuple[int | None, int, str]]) -> str:
    """Say of what there is less than there might be; how many there are, might be, and of what."""
    less = [f"{now:,} of {whole:,} {what}" for now, whole, what in scales if now is not None and now < whole]
    return f"reduced: {', '.join(less)}" if less else ""


def config_of(settings: Mapping[str, Any]) -> str:
    """Write settings of a command line as they were given: "--config iterations=200"; empty: none."""
    return " ".join(["--config", *(_setting(key, value) for key, value in settings.items())]) if settings else ""


def _setting(key: str, value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=1000).removesuffix("...\n").strip().replace("'", "")
    return shlex.quote(f"{key}={text}")


def refuse_to_shrink(plan: Plan) -> None:
    """Raise where results of this name hold more than is asked for, and the user has not agreed to lose them.

    Raises:
        BocuError: fewer seeds or iterations than the results hold.
    """
    record = Path(plan.paths.record)
    if plan.experiment.overwrite or not record.is_file():
        return
    try:
        before = json.loads(read_text(record))
        iterations, seeds = before["iterations_of"], Seeds.model_validate(before["seeds"])
    except (ValueError, KeyError):
        raise BocuError(f"{record}: not readable as the record of an experiment; delete it to go on") from None
    away = "give another `name`, or `overwrite: true` to replace them"
    now = plan.experiment.seeds
    if seeds.first < now.first or seeds.first + seeds.count > now.first + now.count:
        raise BocuError(
            f"seeds: {now.first} to {now.first + now.count - 1} are fewer than the "
            f"{seeds.first} to {seeds.first + seeds.count - 1} that {plan.results} holds; {away}"
        )
    for problem in plan.problems:
        if plan.iterations(problem) < iterations.get(problem, 0):
            raise BocuError(
                f"iterations: {plan.iterations(problem)} on '{problem}' are fewer than the "
                f"{iterations[problem]} that {plan.results} holds; {away}"
            )


def copy_design(plan: Plan, sha256: str, output: str | Path) -> None:
    """Copy a given initial design under the results.

    Raises:
        BocuError: the plan has no such design, or the file has changed since it was planned.
    """
    source = plan.designs().get(sha256)
    if source is None:
        raise BocuError(f"{output}: no initial design of this experiment has this hash")
    content = Path(source).read_bytes()
    if sha256_of(content).hexdigest() != sha256:
        raise BocuError(f"{source}: changed since the experiment was planned; plan it again")
    with atomic_path(output, recorded=True) as temporary:
        temporary.write_bytes(content)
