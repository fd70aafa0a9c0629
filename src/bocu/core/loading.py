"""Importing what is named as text, "module:Class" or "algorithm/ts-bocu", and what only an extra brings.

A specification calls a class from outside the project by its name and the hash of its definitions. Planning notes in
the environment where that is, so that every process that it starts finds it, in whatever working folder; each job on a
cluster plans again. A file of results that asks for anything else is asking in vain, and so is an experiment that only
a file of results names.
"""

import contextlib
import hashlib
import importlib
import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import Any

from bocu.core.errors import BocuError, BrokenFileError, line_in

_REGISTRY = "bocu.sweep.experiment.registry"
_BROUGHT_BY = {
    "ax": "ax-platform",
    "markupsafe": "jinja2",
    "netCDF4": "netcdf4",
    "ot": "pot",
}  # of other names


def refuse_unknown_classes(recorded: object, where: str, named: Collection[str] = ()) -> None:
    """Refuse what a file asks to import, unless it is registered, an entry point, or named otherwise.

    A file that somebody sent would else run code of its choice when it is looked at.

    Args:
        recorded: a specification as a file holds it: "class", "phi" and "of" of its parts are what would be imported.
            Sets are looked up by name, and a name finds nothing but what the experiment at hand, or an installed
            package, offers.
        where: the file, for the error line.
        named: what the experiment at hand names itself, "module:Class".

    Raises:
        BocuError: it asks for anything else.
    """
    for target in _targets(recorded):
        if ":" not in target:
            kind, _, name = target.partition("/")
            from_registry("find")(kind, name, f"{where}: ")
        elif target not in named and target not in _registered():
            raise BocuError(
                f"{where}: asks to import '{target}', which is neither registered, nor an entry point, nor named by "
                "the experiment; refused"
            )


def _targets(recorded: object) -> Iterator[str]:
    if isinstance(recorded, Mapping):
        for key, value in recorded.items():
            if key in ("class", "phi", "of") and isinstance(value, str):
                yield value
            else:
                yield from _targets(value)
    elif isinstance(recorded, list | tuple):
        for item in recorded:
            yield from _targets(item)


def _registered() -> set[str]:
    return {target for targets in from_registry("REGISTRY").values() for target in targets.values() if ":" in target}


def load(target: str) -> Any:
    """Import `target`: "module:Class" or, as a specification calls it, "kind/name".

    Raises:
        BocuError: there is nothing of that kind and name.
    """
    if ":" in target:
        return import_place(target)
    kind, _, name = target.partition("/")
    return from_registry("find")(kind, name).load()


def made(called: str, make: Callable[..., Any], *arguments: object) -> Any:
    """Make an object of a class; where one from outside the project fails at it, that is one line.

    Args:
        called: the class, as a specification calls it.
        make: the class, or a method of it.
        arguments: what it is made of.

    Raises:
        BocuError: the class is from outside and fails, or its arguments are at fault.
    """
    try:
        return make(*arguments)
    except BrokenFileError:  # who catches it sets the file aside
        raise
    except BocuError as error:
        raise BocuError(f"{called}: {error}") from None
    except (Exception, SystemExit) as error:
        module = getattr(make, "__self__", make).__module__
        if module.partition(".")[0] == __name__.partition(".")[0]:
            raise
        file = getattr(sys.modules.get(module), "__file__", None) or module
        told = f"{type(error).__name__}: {error}"
        raise BocuError(f"{called}: could not be made: {file}{line_in(file, error)}: {told}") from error


@contextlib.contextmanager
def naming_extras() -> Iterator[None]:
    """Say which extra to install, where an import fails because a package is absent that only an extra brings.

    Raises:
        BocuError: it is; what else is absent is an error as before.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if extra := _extra_of(module):
            raise BocuError(f"{module}: not installed; the extra brings it: pip install 'bocu[{extra}]'") from None
        raise


def _extra_of(module: str) -> str:
    """Return the first extra of this package that asks for what brings a module; empty where none does."""
    from importlib.metadata import PackageNotFoundError, requires

    wanted = re.escape(_BROUGHT_BY.get(module, module)).replace("_", "[-_]")
    with contextlib.suppress(PackageNotFoundError):  # imported from a folder that was not installed
        for line in requires("bocu") or ():
            if found := re.match(rf"""{wanted}\b(?!-).*; extra == ["']([\w-]+)["']""", line):
                return found[1]
    return ""


def from_registry(name: str) -> Any:
    """Return what the registry defines, from below it: fingerprints do not follow a name that is worked out.

    What a run uses is among its roots, so that a line in the registry reruns nothing.
    """
    return getattr(importlib.import_module(_REGISTRY), name)


VARIABLE = "BOCU_PLUGINS"
FILE_SUFFIX = ".py"
_asked_by: ContextVar[str] = ContextVar("asked_by", default="")


def places() -> dict[str, str]:
    """Return what is known: "Class@hash" -> "module:Class" or "/path/to/file.py:Class".

    And "kind/name" of entry points -> the package that offers it, for machines that lack it.
    """
    return json.loads(os.environ.get(VARIABLE) or "{}")


def remember(identity: str, place: str) -> None:
    """Note where a class stands, for this process and those that it starts."""
    known = places()
    if known.get(identity) != place:
        os.environ[VARIABLE] = json.dumps({**known, identity: place}, sort_keys=True)


@contextlib.contextmanager
def nothing_outside(asked_by: str) -> Iterator[None]:
    """Refuse, while this lasts, every class that is named by where it stands; nothing is refused if the text is empty.

    Args:
        asked_by: the file of results that names the experiment at hand.
    """
    token = _asked_by.set(asked_by)
    try:
        yield
    finally:
        _asked_by.reset(token)


def refuse_outside(said: str, place: str) -> None:
    """Refuse a class by where it stands, if a file of results asks for it.

    Raises:
        BocuError: it does.
    """
    if _asked_by.get():
        raise BocuError(
            f"{said}; not imported: {place}, because {_asked_by.get()} asks for it, which may be somebody else's; name "
            "the experiment file itself, or add --trust"
        )


def is_file(module: str) -> bool:
    """Say whether a module is named by its file."""
    return module.endswith(FILE_SUFFIX)


def import_place(place: str) -> Any:
    """Import "module:Name" or "/path/to/file.py:Name".

    Raises:
        Exception: whatever the import raises; AttributeError where the module has no such name.
    """
    module, _, name = place.rpartition(":")
    found: Any = _import_file(Path(module)) if is_file(module) else importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _import_file(file: Path) -> ModuleType:
    content = file.read_bytes()
    # What is run is what was read: Python's own cache of compiled files goes by their times.
    digest = hashlib.sha256(os.fsencode(file) + b"\0" + content).hexdigest()[:12]
    name = f"bocu_file_{re.sub(r'[^0-9a-zA-Z]', '_', file.stem)}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = str(file)
    sys.modules[name] = module
    try:
        exec(compile(content, str(file), "exec"), module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def lazily(package: str, home: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package (PEP 562).

    Args:
        package: its name.
        home: for each public name, the module that defines it, relative to the package.
    """

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with naming_extras():
            found = importlib.import_module(f"{package}.{home[name]}")
        return getattr(found, name)

    return get, lambda: sorted(home)
