"""Classes from outside the project: entry points of installed packages, `module:Class`, `path/to/file.py:Class`.

An entry point of a group such as `algorithms` is named in experiment files, and in specifications, as what is
registered here. What is named by where it stands is called by its name and the hash of its definitions in
specifications, so that moving it reruns nothing; `bocu.core.loading` knows in every process where that is, of what the
experiment at hand names and of nothing else.
"""

import contextlib
import functools
import importlib.util
import io
import os
import re
import socket
import sys
import traceback
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bocu.core.errors import BocuError, line_in, shown
from bocu.core.loading import import_place, is_file, places, refuse_outside, remember
from bocu.core.parameters import nearest
from bocu.sweep.experiment.plugins.contract import refuse_breach

if TYPE_CHECKING:
    from bocu.sweep.experiment.registry import RegisteredClass

HASHED = "@"  # between the name of a class and the hash of its definitions
_CLASS = re.compile(r"[A-Za-z_]\w*")
_seen: dict[Path, tuple[int, int]] = {}
_imported: dict[str, str] = {}  # top package, or module of a file, of classes from outside -> what lines call them
_importing: list[str] = []  # the classes from outside that are being imported
_forked: list[str] = []  # those that forked meanwhile


def group(kind: str) -> str:
    """Return the group of entry points that packages offer a kind under."""
    return f"bocu.{kind}s"


def offered(kind: str) -> "Iterator[RegisteredClass]":
    """Return what installed packages offer of a kind, by name; every objective is a metric too."""
    from bocu.sweep.experiment.registry import REGISTRY

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
    from bocu.sweep.experiment.registry import RegisteredClass

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
    from bocu.sweep.experiment.fingerprints.fingerprint import own_code
    from bocu.sweep.experiment.registry import REGISTRY, RegisteredClass

    module, _, name = written.rpartition(":")
    said = f"{where}found {shown(written)}"
    if not module or not _CLASS.fullmatch(name):
        raise BocuError(f"{said}; allowed: a name, 'module:Class' or 'path/to/file.py:Class'")
    if is_file(module):
        try:
            file = (folder / Path(module).expanduser()).resolve()
            there = file.is_file()
        except (OSError, RuntimeError, ValueError) as error:  # too long a name, a circle, nobody's home, a zero byte
            raise BocuError(f"{said}; {getattr(error, 'strerror', None) or error}") from None
        refuse_outside(said, f"{file}:{name}")
        if not there:
            raise BocuError(f"{said}; no file {file} on {socket.gethostname()}")
        _notice_edits(file)
        module = str(file)
    target = f"{module}:{name}"
    if module.partition(".")[0] == __name__.partition(".")[0]:
        own = next((ours for ours, place in REGISTRY[kind].items() if place == target), None)
        if own is None:
            raise BocuError(f"{said}; of bocu itself names are wanted; {nearest(name, REGISTRY[kind])}")
        return RegisteredClass(kind, own, target)
    refuse_outside(said, target)
    _refuse_undefined(said, module, name)
    try:
        entry = RegisteredClass(kind, name, target, written, own_code(target))
    except BocuError as error:
        raise BocuError(f"{said}; {error}") from None
    remember(entry.called, target)
    return entry


def _refuse_undefined(said: str, module: str, name: str) -> None:
    """Refuse a class that its file does not define, before anything is imported."""
    from bocu.sweep.experiment.fingerprints.definition_links import known_names, source, source_file

    try:
        found = source(module)
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""  # of a zero byte Python says neither file nor line
        raise BocuError(f"{said}; {source_file(module)}{line}: {error.msg}") from None
    if found is None:
        top = module.partition(".")[0]
        if source(top) is None and _is_there(top):
            raise BocuError(f"{said}; '{top}' is Python's own or a library; allowed: what is written to be used here")
        raise BocuError(f"{said}; no module '{module}' on {socket.gethostname()}, installed or on PYTHONPATH")
    if name not in known_names(module):
        raise BocuError(
            f"{said}; {module} defines no '{name}'; {nearest(name, filter(str.isidentifier, known_names(module)))}"
        )


def _is_there(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def _notice_edits(file: Path) -> None:
    """Let fingerprints look again at a file that was edited since this process last looked."""
    from bocu.sweep.experiment.fingerprints import fingerprint

    now = file.stat()
    state = (now.st_mtime_ns, now.st_size)
    if _seen.setdefault(file, state) != state:
        _seen[file] = state
        fingerprint.forget()


def planned(kind: str, called: str, where: str = "") -> "RegisteredClass":
    """Find a class as a specification calls it, "Class@hash": where the experiment at hand says that it stands.

    Raises:
        BocuError: the experiment names no such class.
    """
    from bocu.sweep.experiment.registry import RegisteredClass

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
        with _looked_after(said):
            found = import_place(entry.target)
    except (Exception, SystemExit) as error:  # whatever importing the user's module raises
        raise BocuError(
            f"{said}: importing {module}{line_in(module, error)} failed on {socket.gethostname()}: "
            f"{type(error).__name__}: {error}"
        ) from None
    refuse_breach(entry.kind, found, said)
    if isinstance(found, type) and (top := found.__module__.partition(".")[0]) != __name__.partition(".")[0]:
        _imported[top] = said
    return found


@contextlib.contextmanager
def faults_told() -> Iterator[None]:
    """Tell in a line what code of classes from outside raises while this lasts."""
    try:
        yield
    except BocuError:
        raise
    except Exception as error:
        for frame, line in reversed([*traceback.walk_tb(error.__traceback__)]):
            if said := _imported.get(str(frame.f_globals.get("__name__")).partition(".")[0]):
                at = f"{frame.f_code.co_filename}, line {line}"
                raise BocuError(f"{said}: {at}: {type(error).__name__}: {error}") from error
        raise


@contextlib.contextmanager
def _looked_after(said: str) -> Iterator[None]:
    """Tell in a line what a class prints while it is imported; end what it forks, which would go on in our place."""
    printed, before = io.StringIO(), len(_forked)
    _end_forks()
    _importing.append(said)
    try:
        with contextlib.redirect_stdout(printed):
            yield
    finally:
        _importing.pop()
    if text := printed.getvalue().strip():
        print(f"note: {said}: prints when it is imported: {shown(text)}", file=sys.stderr)
    if len(_forked) > before:
        raise RuntimeError("it forks the process that imports it; start processes when a class is used")


@functools.cache
def _end_forks() -> None:
    os.register_at_fork(
        before=lambda: _forked.extend(_importing[-1:]), after_in_child=lambda: os._exit(1) if _importing else None
    )


def _refuse_other_code(said: str, entry: "RegisteredClass") -> None:
    from bocu.sweep.experiment.fingerprints.fingerprint import own_code

    try:
        now = own_code(entry.target)
    except BocuError as error:
        raise BocuError(f"{said}: {error} on {socket.gethostname()}") from None
    if now != entry.code:
        raise BocuError(f"{said}: its code has changed since the experiment was planned; start the sweep again")
