"""Classes from outside the project: entry points of installed packages, `module:Class`, `path/to/file.py:Class`.

An entry point of a group such as `bocu.algorithms` is named in experiment files, and in specifications, as what is
registered here. What is named by where it stands is called by its name and the hash of its definitions in
specifications, so that moving it reruns nothing; `bocu.core.places` knows in every process where that is, of what the
experiment at hand names and of nothing else.
"""

import functools
import re
import socket
import traceback
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bocu.core.errors import BocuError, shown
from bocu.core.parameters import nearest
from bocu.core.places import import_place, is_file, places, remember
from bocu.experiment.plugins.contract import refuse_breach

if TYPE_CHECKING:
    from bocu.experiment.registry import RegisteredClass

HASHED = "@"  # between the name of a class and the hash of its definitions
_CLASS = re.compile(r"[A-Za-z_]\w*")
_seen: dict[Path, tuple[int, int]] = {}


def group(kind: str) -> str:
    """Return the group of entry points that packages offer a kind under."""
    return f"bocu.{kind}s"


def offered(kind: str) -> "Iterator[RegisteredClass]":
    """Return what installed packages offer of a kind, by name; every objective is a metric too."""
    from bocu.experiment.registry import REGISTRY

    points = _points(kind)
    return (_from_point(kind, points[name]) for name in sorted(points) if name not in REGISTRY[kind])


def entry_point(kind: str, name: str, where: str = "") -> "RegisteredClass | None":
    """Return what an installed package offers under a name, or None.

    Raises:
        BocuError: several packages do.
    """
    found = _points(kind).get(name)
    if found is None:
        return None
    entry = _from_point(kind, found, where)
    remember(entry.identity, entry.origin)
    return entry


def refuse_missing(kind: str, name: str, where: str = "") -> None:
    """Refuse the name of an entry point that was found where the sweep was started, and is not here.

    Raises:
        BocuError: it is one.
    """
    origin = places().get(f"{kind}/{name}")
    if origin is not None:
        raise BocuError(
            f"{where}{kind} '{name}': {origin}, which is not installed on {socket.gethostname()}; every machine that "
            "runs jobs needs it"
        )


@functools.cache
def _points(kind: str) -> dict[str, tuple[EntryPoint, ...]]:
    found: dict[str, dict[EntryPoint, None]] = {}
    for one in (kind, *(["objective"] if kind == "metric" else [])):
        for point in entry_points(group=group(one)):
            found.setdefault(point.name, {})[point] = None
    return {name: tuple(points) for name, points in found.items()}


def _from_point(kind: str, points: tuple[EntryPoint, ...], where: str = "") -> "RegisteredClass":
    from bocu.experiment.registry import RegisteredClass

    packages = sorted({_package(point) for point in points})
    if len({point.value for point in points}) > 1:
        raise BocuError(
            f"{where}{kind} '{points[0].name}': offered by {' and by '.join(packages)}; remove all but one, or name "
            f"the class itself: {' or '.join(sorted(point.value for point in points))}"
        )
    return RegisteredClass(kind, points[0].name, points[0].value, f"entry point '{points[0].name}' of {packages[0]}")


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "an unknown package"


def outside(kind: str, written: str, folder: Path, where: str = "") -> "RegisteredClass":
    """Find a class that is named by where it stands, and note that for the jobs.

    Args:
        kind: what it is named as.
        written: "module:Class" or "path/to/file.py:Class".
        folder: what a path is relative to: that of the experiment file.
        where: file and key, for error lines.

    Raises:
        BocuError: there is no such module, file or class.
    """
    from bocu.experiment.fingerprints.fingerprint import own_code
    from bocu.experiment.registry import REGISTRY, RegisteredClass

    module, _, name = written.rpartition(":")
    said = f"{where}found {shown(written)}"
    if not module or not _CLASS.fullmatch(name):
        raise BocuError(f"{said}; allowed: a name, 'module:Class' or 'path/to/file.py:Class'")
    if is_file(module):
        file = (folder / Path(module).expanduser()).resolve()
        if not file.is_file():
            raise BocuError(f"{said}; no file {file} on {socket.gethostname()}")
        _notice_edits(file)
        module = str(file)
    target = f"{module}:{name}"
    if module.partition(".")[0] == __name__.partition(".")[0]:
        own = next((ours for ours, place in REGISTRY[kind].items() if place == target), None)
        if own is None:
            raise BocuError(f"{said}; of bocu itself names are wanted; {nearest(name, REGISTRY[kind])}")
        return RegisteredClass(kind, own, target)
    _refuse_undefined(said, module, name)
    try:
        entry = RegisteredClass(kind, name, target, written, own_code(target))
    except BocuError as error:
        raise BocuError(f"{said}; {error}") from None
    remember(entry.called, target)
    return entry


def _refuse_undefined(said: str, module: str, name: str) -> None:
    """Refuse a class that its file does not define, before anything is imported."""
    from bocu.experiment.fingerprints.definition_links import known_names, source

    try:
        found = source(module)
    except SyntaxError as error:
        raise BocuError(f"{said}; {error.filename}, line {error.lineno}: {error.msg}") from None
    if found is None:
        raise BocuError(f"{said}; no module '{module}' on {socket.gethostname()}, installed or on PYTHONPATH")
    if name not in known_names(module):
        raise BocuError(
            f"{said}; {module} defines no '{name}'; {nearest(name, filter(str.isidentifier, known_names(module)))}"
        )


def _notice_edits(file: Path) -> None:
    """Let fingerprints look again at a file that was edited since this process last looked."""
    from bocu.experiment.fingerprints import fingerprint
    from bocu.experiment.plugins import memo, stand_ins

    now = file.stat()
    state = (now.st_mtime_ns, now.st_size)
    if _seen.setdefault(file, state) != state:
        _seen[file] = state
        fingerprint.forget()
        memo.forget()
        stand_ins.stand_in.cache_clear()


def planned(kind: str, called: str, where: str = "") -> "RegisteredClass":
    """Find a class as a specification calls it, "Class@hash": where the experiment at hand says that it stands.

    Raises:
        BocuError: the experiment names no such class.
    """
    from bocu.experiment.registry import RegisteredClass

    name, _, code = called.partition(HASHED)
    place = places().get(called)
    if place is None:
        raise BocuError(
            f"{where}{kind} '{name}': asks for the class {called}, which the experiment at hand does not name; refused"
        )
    return RegisteredClass(kind, name, place, place, code)


def load_outside(entry: "RegisteredClass") -> Any:
    """Import a class from outside.

    Raises:
        BocuError: it is not there, has changed since it was planned, cannot be imported, or breaks the contract.
    """
    said = f"{entry.kind} '{entry.name}' ({entry.origin})"
    module = entry.target.rpartition(":")[0]
    if is_file(module) and not Path(module).is_file():
        raise BocuError(
            f"{said}: no file {module} on {socket.gethostname()}; every machine that runs jobs needs it there"
        )
    if entry.code:
        _refuse_other_code(said, entry)
    try:
        found = import_place(entry.target)
    except Exception as error:  # whatever importing the user's module raises
        line = next(
            (
                f", line {at.lineno}"
                for at in reversed(traceback.extract_tb(error.__traceback__))
                if at.filename == module
            ),
            "",
        )
        raise BocuError(
            f"{said}: importing {module}{line} failed on {socket.gethostname()}: {type(error).__name__}: {error}"
        ) from None
    refuse_breach(entry.kind, found, said)
    return found


def _refuse_other_code(said: str, entry: "RegisteredClass") -> None:
    from bocu.experiment.fingerprints.fingerprint import own_code

    try:
        now = own_code(entry.target)
    except BocuError as error:
        raise BocuError(f"{said}: {error} on {socket.gethostname()}") from None
    if now != entry.code:
        raise BocuError(f"{said}: its code has changed since the experiment was planned; start the sweep again")
