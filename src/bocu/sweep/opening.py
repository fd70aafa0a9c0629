"""Finding the experiment that a command is about, and whose word is taken for it.

The user names a file, or one under config/. What else lies under results/, may be somebody else's work: an experiment
that only a record there names is planned of our own classes and of those that installed packages offer, and nothing
else is imported for it unless the user says that it is trusted.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bocu.core.errors import BocuError, faults_at, shown
from bocu.core.io.yaml_files import parse_yaml
from bocu.core.loading import nothing_outside
from bocu.core.parameters import nearest
from bocu.core.plain import Plain
from bocu.sweep.calls import CALLS
from bocu.sweep.experiment.configuration import LABEL, read_experiment_file
from bocu.sweep.experiment.paths import RESULTS, RUN_CACHE, ResultPaths, in_clone, of_clone
from bocu.sweep.experiment.plan import Plan
from bocu.sweep.experiment.planning import make_plan
from bocu.sweep.experiment.record import MADE_FROM, read_record
from bocu.sweep.staleness import changes

CONFIGURATION = Path("config")
_TOLD = ("data", "seeds", "iterations", "threads")


class MadeFrom(NamedTuple):
    """What an experiment is made from."""

    files: Sequence[Path]  #: its files.
    settings: Plain  #: of the command line, merged over them.
    record: str = ""  #: the file under results/ whose word is taken for it; empty where it is the user's.

    @property
    def arguments(self) -> list[str]:
        """What Snakemake is told of them."""
        given = [f"{key}={json.dumps(value)}" for key, value in self.settings.items()]
        return ["--configfile", *map(str, self.files), *(["--config", *given] if given else [])]


def open_plan(
    experiment: str | Path, mirror: str | None = None, settings: Sequence[str] = (), trust: bool = False
) -> Plan:
    """Plan an experiment.

    Args:
        experiment: its file, or its name: the folder under results/.
        mirror: folder of a mirror to take data from.
        settings: `key=value` for each key to set, merged as Snakemake merges its `--config`.
        trust: import also what a file under results/ asks for.

    Raises:
        BocuError: no such experiment, or it is faulty.
    """
    return plan_of(sources_of(experiment, mirror, settings), trust)


def open_plan_as_made(experiment: str | Path, trust: bool = False) -> Plan:
    """Plan an experiment by its file, or by its name as its results were made: with the settings of that command line.

    Args:
        experiment: its file, or its name.
        trust: import also what a file under results/ asks for.

    Raises:
        BocuError: no such experiment, or it is faulty.
    """
    return open_plan(experiment) if Path(experiment).is_file() else plan_of(sources_as_made(str(experiment)), trust)


def sources_as_made(name: str) -> MadeFrom:
    """Return what the results of a name were made from, else the experiment of that name."""
    made = _made_from(name)
    if made is None or all(file.is_file() for file in made.files):
        return made or _named(name)
    return made._replace(files=_named(name).files)


def plan_of(sources: MadeFrom, trust: bool = False) -> Plan:
    """Plan what sources say.

    Raises:
        BocuError: they are faulty, or only a file under results/ asks for a class that they name by where it stands.
    """
    with nothing_outside("" if trust else sources.record):
        return make_plan(merged(sources), sources.files, sources.settings)


def merged(sources: MadeFrom) -> Plain:
    """Return the configuration that sources come to, as it is written."""
    config: Plain = {}
    for layer in (*map(read_experiment_file, sources.files), sources.settings):
        merge(config, layer)
    return config


def recorded_sources(record: str | Path, files: Sequence[Path], settings: Plain, own: Sequence[Path] = ()) -> MadeFrom:
    """Return sources that a file under results/ names; where they are the user's own, without its name.

    Args:
        record: the file.
        files: that it names.
        settings: that it holds.
        own: files that the user named; those under config/ are the user's besides.
    """
    mine = {file.resolve() for file in own}
    config = of_clone(CONFIGURATION)
    theirs = [
        file for file in map(Path.resolve, files) if file not in mine and not any(map(file.is_relative_to, config))
    ]
    return MadeFrom(files, settings, str(record) if theirs or _names_a_place(settings) else "")


def refuse_links_out(results: str | Path) -> None:
    """Refuse to write where somebody else's link leads out of results/.

    Args:
        results: the folder of an experiment.

    Raises:
        BocuError: there is such a link in it, or in what experiments share.
    """
    inside = Path(RESULTS).resolve()
    for place in (Path(results), CALLS, Path(RUN_CACHE)):
        found = [place, *(Path(folder, name) for folder, *names in os.walk(place) for name in (*names[0], *names[1]))]
        for path in found:
            if path.is_symlink() and not path.resolve().is_relative_to(inside):
                raise BocuError(
                    f"{path}: a link out of {RESULTS}/, to {path.resolve()}; nothing is written or deleted through it; "
                    "remove it, or add --trust"
                )


def _names_a_place(settings: object) -> bool:
    """Say whether settings may name a class by where it stands."""
    if isinstance(settings, dict):
        settings = [*settings, *settings.values()]
    if isinstance(settings, list):
        return any(map(_names_a_place, settings))
    return isinstance(settings, str) and ":" in settings


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
    before, now = _read(record), plan.describe()
    return [line for key in _TOLD for line in changes(before.get(key), now.get(key), key)]


def sources_of(experiment: str | Path, mirror: str | None = None, settings: Sequence[str] = ()) -> MadeFrom:
    """Return the files and the settings of an experiment.

    Args:
        experiment: its file, or its name: the file under config/ that has it, else what made its results.
        mirror: as of `open_plan`.
        settings: as of `open_plan`.

    Raises:
        BocuError: no such file or experiment.
    """
    name = str(experiment)
    written_as_file = name.endswith((".yaml", ".yml")) or "/" in name
    if Path(experiment).is_file() or (written_as_file and os.path.lexists(experiment)):
        found = MadeFrom([Path(experiment)], {})
    elif written_as_file:
        raise BocuError(f"{name}: no such file")
    else:
        found = _named(name)
    for text in settings:
        merge(found.settings, setting(text))
    if mirror is not None:
        found.settings["mirror"] = mirror
    return found


def _named(name: str) -> MadeFrom:
    known = dict(_names())
    if name in known:
        return MadeFrom([known[name]], {})
    made = _made_from(name)
    if made is not None:
        return made
    raise BocuError(f"{name}: no experiment file of that name under {CONFIGURATION}/; {nearest(name, known)}")


def _made_from(name: str) -> MadeFrom | None:
    """Return what the results of a name were made from, where a record says so."""
    record = Path(ResultPaths(name).record)
    if not re.fullmatch(LABEL, name) or not record.is_file():
        return None
    found = _read(record).get(MADE_FROM)
    if not found:
        return None
    try:
        files, settings = [Path(file) for file in found["files"]], {**found["config"]}
    except (KeyError, TypeError):
        raise BocuError(f"{record}: {MADE_FROM}: found {shown(found)}; allowed: files and config") from None
    return recorded_sources(record, files, settings)


def _read(record: Path) -> Plain:
    """Read the record of an experiment.

    Raises:
        BocuError: it is none.
    """
    found = read_record(record)
    if found is None:
        raise BocuError(f"{record}: not readable as the record of an experiment; delete it to go on")
    return found


def _names() -> Iterator[tuple[str, Path]]:
    folder = in_clone(CONFIGURATION)
    for file in [*sorted(folder.glob("experiments/*.yaml")), folder / "config.yaml"]:
        if file.is_file():
            yield str(read_experiment_file(file).get("name")), file


def setting(text: str) -> dict[str, object]:
    """Read "key=value" as `--config` takes it.

    Raises:
        BocuError: it is none, or the value is no YAML.
    """
    key, equals, value = text.partition("=")
    if not equals:
        raise BocuError(f"--config: found '{text}'; KEY=VALUE is wanted")
    with faults_at(f"--config: {key}: "):
        return {key: parse_yaml(value)}
