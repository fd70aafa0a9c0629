"""Finding the experiment that a command is about."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bocu.core.errors import BocuError
from bocu.core.parameters import nearest
from bocu.core.plain import Plain
from bocu.experiment.clone import in_clone
from bocu.experiment.configuration import read_experiment_file
from bocu.experiment.paths import RESULTS, ResultPaths
from bocu.experiment.plan import Plan
from bocu.experiment.planning import make_plan
from bocu.experiment.record import MADE_FROM
from bocu.io.yaml_files import parse_yaml
from bocu.sweep.changes import changes

CONFIGURATION = Path("config")
_TOLD = ("data", "seeds", "iterations", "threads")


def open_plan(experiment: str | Path, mirror: str | None = None, settings: Sequence[str] = ()) -> Plan:
    """Plan an experiment.

    Args:
        experiment: its file, or its name: the folder under results/.
        mirror: folder of a mirror to take data from.
        settings: `key=value` for each key to set, merged as Snakemake merges its `--config`.

    Raises:
        BocuError: no such experiment, or it is faulty.
    """
    files, overrides = sources_of(experiment)
    for text in settings:
        merge(overrides, _setting(text))
    if mirror is not None:
        overrides["mirror"] = mirror
    return _planned(files, overrides)


def open_plan_as_made(experiment: str | Path) -> Plan:
    """Plan an experiment by its file, or by its name as its results were made: with the settings of that command line.

    Raises:
        BocuError: no such experiment, or it is faulty.
    """
    made_from = _made_from(str(experiment))
    if Path(experiment).is_file() or made_from is None:
        return open_plan(experiment)
    files, overrides = made_from
    return _planned(files if all(file.is_file() for file in files) else sources_of(experiment)[0], overrides)


def _planned(files: Sequence[Path], overrides: Plain) -> Plan:
    config: Plain = {}
    for layer in (*map(read_experiment_file, files), overrides):
        merge(config, layer)
    return make_plan(config, files, overrides)


def merge(config: Plain, changes: Mapping[str, object]) -> None:
    """Merge `changes` into `config`, as Snakemake merges its files and `--config`: mappings key by key."""
    from snakemake.utils import update_config

    update_config(config, changes)


def name_in(path: str | Path) -> str:
    """Return the name of the experiment that a path under results/ belongs to.

    Raises:
        BocuError: the path is not under results/.
    """
    parts = Path(path).parts
    if len(parts) < 3 or parts[0] != RESULTS:
        raise BocuError(f"{path}: not a file of an experiment; a path such as {RESULTS}/NAME/runs/... is wanted")
    return parts[1]


def differences_from_record(plan: Plan) -> list[str]:
    """Say in what the experiment is not the one that the results were last made from."""
    record = Path(plan.paths.record)
    if not record.is_file():
        return []
    before, now = json.loads(record.read_text(encoding="utf-8")), plan.describe()
    return [line for key in _TOLD for line in changes(before.get(key), now.get(key), key)]


def sources_of(experiment: str | Path) -> tuple[list[Path], Plain]:
    """Return the files and the settings of an experiment.

    Args:
        experiment: its file, or its name: the file under config/ that has it, else what made its results.

    Raises:
        BocuError: no such file or experiment.
    """
    name = str(experiment)
    written_as_file = name.endswith((".yaml", ".yml")) or "/" in name
    if Path(experiment).is_file() or (written_as_file and os.path.lexists(experiment)):
        return [Path(experiment)], {}
    if written_as_file:
        raise BocuError(f"{name}: no such file")
    known = dict(_names())
    if name in known:
        return [known[name]], {}
    made_from = _made_from(name)
    if made_from is not None:
        return made_from
    raise BocuError(f"{name}: no experiment file of that name under {CONFIGURATION}/; {nearest(name, known)}")


def _made_from(name: str) -> tuple[list[Path], Plain] | None:
    """Return the files and the settings that the results of a name were made from, where a record says so."""
    record = Path(ResultPaths(name).record)
    found = json.loads(record.read_text(encoding="utf-8")).get(MADE_FROM) if record.is_file() else None
    return ([Path(file) for file in found["files"]], found["config"]) if found else None


def _names() -> Iterator[tuple[str, Path]]:
    folder = in_clone(CONFIGURATION)
    for file in [*sorted(folder.glob("experiments/*.yaml")), folder / "config.yaml"]:
        if file.is_file():
            yield str(read_experiment_file(file).get("name")), file


def _setting(text: str) -> dict[str, object]:
    key, equals, value = text.partition("=")
    if not equals:
        raise BocuError(f"--config: found '{text}'; KEY=VALUE is wanted")
    try:
        return {key: parse_yaml(value)}
    except BocuError as error:
        raise BocuError(f"--config: {key}: {error}") from None
