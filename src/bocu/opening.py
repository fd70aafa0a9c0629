"""Finding the experiment that a command is about."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bocu.changes import changes
from bocu.errors import BocuError
from bocu.experiment import read_experiment_file
from bocu.parameters import nearest
from bocu.plan import RESULTS, Plan
from bocu.planning import make_plan
from bocu.yaml_files import parse_yaml

CONFIGURATION = Path("config")
_TOLD = ("data", "seeds", "iterations", "threads")


def open_plan(experiment: str | Path, mirror: str | None = None, settings: Sequence[str] = ()) -> Plan:
    """Plan an experiment.

    Args:
        experiment: its file, or its name: the folder under results/.
        mirror: folder of a mirror to take data from.
        settings: `key=value` for each key to replace, as for Snakemake's `--config`.

    Raises:
        BocuError: no such experiment, or it is faulty.
    """
    file = Path(experiment) if Path(experiment).is_file() else _file_of(str(experiment))
    overrides: dict[str, Any] = dict(_setting(text) for text in settings)
    if mirror is not None:
        overrides["mirror"] = mirror
    return make_plan({**read_experiment_file(file), **overrides}, [file], overrides)


def name_in(path: str | Path) -> str:
    """Give the name of the experiment that a path under results/ belongs to.

    Raises:
        BocuError: the path is not under results/.
    """
    parts = Path(path).parts
    if len(parts) < 3 or parts[0] != RESULTS:
        raise BocuError(f"{path}: not a file of an experiment; a path such as {RESULTS}/NAME/runs/... is wanted")
    return parts[1]


def differences_from_record(plan: Plan) -> list[str]:
    """Say in what the experiment is not the one that the results were last made from."""
    record = Path(plan.record)
    if not record.is_file():
        return []
    before, now = json.loads(record.read_text(encoding="utf-8")), plan.describe()
    return [line for key in _TOLD for line in changes(before.get(key), now.get(key), key)]


def _file_of(name: str) -> Path:
    if name.endswith((".yaml", ".yml")) or "/" in name:
        raise BocuError(f"{name}: no such file")
    known = dict(_names())
    if name not in known:
        raise BocuError(f"{name}: no experiment file of that name under {CONFIGURATION}/; {nearest(name, known)}")
    return known[name]


def _names() -> Iterator[tuple[str, Path]]:
    for file in [*sorted(CONFIGURATION.glob("experiments/*.yaml")), CONFIGURATION / "config.yaml"]:
        if file.is_file():
            yield str(read_experiment_file(file).get("name")), file


def _setting(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise BocuError(f"--config: found '{text}'; KEY=VALUE is wanted")
    try:
        return key, parse_yaml(value)
    except BocuError as error:
        raise BocuError(f"--config: {key}: {error}") from None
