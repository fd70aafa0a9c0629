"""Classes from outside the project: entry points of installed packages, `module:Class`, `path/to/file.py:Class`.

An entry point of a group such as `algorithms` is named in experiment files, and in specifications, as what is
registered here. What is named by where it stands is called by its name and the hash of its definitions in
specifications, so that moving it reruns nothing; `bocu.core.loading` knows in every process where that is, of what the
experiment at hand names and of nothing else. What such a class must be to take part is told in one line where it is
not; how it behaves when it is run is looked at by the conformance test.
"""

import contextlib
import functools
import importlib.util
import inspect
import io
import os
import re
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bocu.core.about import About
from bocu.core.errors import BocuError, faults_at, line_in, shown
from bocu.core.loading import import_place, is_file, places, refuse_outside, remember
from bocu.core.parameters import nearest
from bocu.core.rounds import EVERY

if TYPE_CHECKING:
    from bocu.sweep.experiment.registry import RegisteredClass


HASHED = "@"  # between the name of a class and the hash of its definitions
_CLASS = re.compile(r"[A-Za-z_]\w*")
_seen: dict[Path, tuple[int, int]] = {}
_imported: dict[str, str] = {}  # top package, or module of a file, of classes from outside -> what lines call them


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

    packages = sorted({point.dist.name if point.dist is not None else "an unknown package" for point in points})
    if len({point.value for point in points}) > 1:
        raise BocuError(
            f"{where}{kind} '{points[0].name}': offered by {' and by '.join(packages)}; remove all but one, or name "
            f"the class itself: {' or '.join(sorted(point.value for point in points))}"
        )
    return RegisteredClass(kind, points[0].name, points[0].value, f"entry point '{points[0].name}' of {packages[0]}")


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
    with faults_at(f"{said}; "):
        entry = RegisteredClass(kind, name, target, written, own_code(target))
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
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            found = import_place(entry.target)
    except (Exception, SystemExit) as error:  # whatever importing the user's module raises
        raise BocuError(
            f"{said}: importing {module}{line_in(module, error)} failed on {socket.gethostname()}: "
            f"{type(error).__name__}: {error}"
        ) from None
    if text := printed.getvalue().strip():
        print(f"note: {said}: prints when it is imported: {shown(text)}", file=sys.stderr)
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


def _refuse_other_code(said: str, entry: "RegisteredClass") -> None:
    from bocu.sweep.experiment.fingerprints.fingerprint import own_code

    try:
        now = own_code(entry.target)
    except BocuError as error:
        raise BocuError(f"{said}: {error} on {socket.gethostname()}") from None
    if now != entry.code:
        raise BocuError(f"{said}: its code has changed since the experiment was planned; start the sweep again")


HEAVY = ("cvxpy", "jax", "matplotlib", "numba", "pandas", "scipy", "tensorflow", "torch", "xarray")
"""Packages that no module imports at its top whose classes experiments name: each job of a sweep plans anew."""

_IMPORT = """import sys
from bocu.core.loading import import_place
import_place(sys.argv[1])
print("", *{*sys.argv[2:]} & {*sys.modules})"""


class _Wanted(NamedTuple):
    """Base classes, "module:Class", of a kind and of its parameters, and whether it says its protocols."""

    bases: tuple[str, ...]
    parameters: str = "bocu.core.parameters:Parameters"
    protocols: bool = True


_OBJECTIVE = "bocu.robust.objectives.functions:Objective"
_WANTED = {
    "prior": _Wanted(("builtins:object",), "bocu.problems.priors.statements:PriorParameters", protocols=False),
    "problem": _Wanted(("bocu.problems.base:Problem",), "bocu.problems.base:ProblemParameters"),
    "set": _Wanted(
        ("bocu.robust.ambiguity.base:AmbiguitySet",), "bocu.robust.ambiguity.parameters:SetParameters", protocols=False
    ),
    "law": _Wanted(("bocu.robust.contexts.laws:Law",), protocols=False),
    "shift": _Wanted(("bocu.robust.contexts.shifts:Shift",), protocols=False),
    "objective": _Wanted((_OBJECTIVE,)),
    "algorithm": _Wanted(("bocu.learners.algorithms.base:Algorithm",)),
    "metric": _Wanted(("bocu.sweep.evaluation.metrics:Metric", _OBJECTIVE)),
    "figure": _Wanted(("bocu.pages.figures.base:Figure",), "bocu.pages.figures.base:PictureParameters"),
}
_FUNCTIONS = {
    "constraint": "a function that returns CVXPY constraints",
    "model": "what can be called",
    "acquisition": "what can be called",
}
_PURSUING = "bocu.learners.algorithms.base:AlgorithmParameters"
_SCOPES = ("problem", "experiment")


def refuse_breach(kind: str, found: object, said: str) -> None:
    """Refuse what is no class of a kind.

    Args:
        kind: one of the registry's; of "constraint", "model" and "acquisition" a function is wanted.
        found: what was imported.
        said: what it is called in the error line.

    Raises:
        BocuError: one line with the first breach.
    """
    if kind in _FUNCTIONS:
        if not callable(found) or (kind == "constraint" and isinstance(found, type)):
            raise BocuError(f"{said}: found {shown(found)}; {_FUNCTIONS[kind]} is wanted")
        return
    wanted = _WANTED[kind]
    bases = tuple(map(import_place, wanted.bases))
    if not isinstance(found, type) or not issubclass(found, bases):
        what = "a class" if isinstance(found, type) else f"a {type(found).__name__}"
        derived = " or ".join(wanted.bases).replace(":", ".")
        raise BocuError(f"{said}: found {what} that does not derive from {derived}")
    if missing := sorted(getattr(found, "__abstractmethods__", ())):
        raise BocuError(f"{said}: it has no {', '.join(missing)}, which every {kind} has")
    about = getattr(found, "about", None)
    if not isinstance(about, About):
        raise BocuError(f"{said}: about: found {shown(about)}; allowed: About(title=..., summary=...)")
    parameters = import_place(_PURSUING if getattr(found, "pursues_objective", False) else wanted.parameters)
    own = getattr(found, "Parameters", None)
    if not isinstance(own, type) or not issubclass(own, parameters):
        place = f"{parameters.__module__}.{parameters.__qualname__}"
        raise BocuError(f"{said}: Parameters: found {shown(own)}; allowed: a class that derives from {place}")
    _refuse_protocols(kind, found, said, wanted.protocols)


def _refuse_protocols(kind: str, found: Any, said: str, wanted: bool) -> None:
    if kind == "figure" and found.scope not in _SCOPES:
        raise BocuError(f"{said}: scope: found {shown(found.scope)}; {nearest(str(found.scope), _SCOPES)}")
    if not wanted or (kind == "figure" and found.scope == "experiment"):
        return
    protocols = inspect.getattr_static(found, "protocols", None)
    if not isinstance(protocols, tuple) or not protocols:
        raise BocuError(f"{said}: protocols: found {shown(protocols)}; allowed: a tuple of {', '.join(EVERY)}")
    for protocol in protocols:
        if protocol not in EVERY:
            raise BocuError(f"{said}: protocols: found {shown(protocol)}; {nearest(str(protocol), EVERY)}")


def refuse_heavy(entry: "RegisteredClass") -> None:
    """Refuse a class, imported here, whose module imports at its top what takes long.

    Raises:
        BocuError: one line with what it imports.
    """
    if not {*HEAVY} & {*sys.modules}:
        return
    if found := _imports_heavy(entry.target.rpartition(":")[0]):
        raise BocuError(
            f"{entry.kind} '{entry.name}' ({entry.origin}): importing it imports {', '.join(found)}; import that "
            "inside the functions that use it: each job of a sweep plans anew, and imports what the experiment names"
        )


@functools.cache
def _imports_heavy(module: str) -> list[str]:
    """Name what of `HEAVY` a module imports, by a process of its own: in this one others may have."""
    command = [sys.executable, "-P", "-c", _IMPORT, f"{module}:__name__", *HEAVY]
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
    return sorted(done.stdout.rpartition("\n ")[2].split()) if not done.returncode else []
