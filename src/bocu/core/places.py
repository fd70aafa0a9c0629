"""Where classes from outside the project stand, for all processes of a sweep.

A specification calls such a class by its name and the hash of its definitions. Planning notes in the environment where
that is, so that every process that it starts finds it, in whatever working folder; each job on a cluster plans again.
A file of results that asks for anything else is asking in vain, and so is an experiment that only a file of results
names.
"""

import contextlib
import hashlib
import importlib
import json
import os
import re
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import Any

from bocu.core.errors import BocuError

VARIABLE = "BOCU_PLUGINS"
FILE_SUFFIX = ".py"
_asked_by: ContextVar[str] = ContextVar("asked_by", default="")


def places() -> dict[str, str]:
    """Return what is known: "Class@hash" -> "module:Class" or "/path/to/file.py:Class".

    And "kind/name" of entry points -> the package that offers it, for machines that lack it.
    """
    found: dict[str, str] = json.loads(os.environ.get(VARIABLE) or "{}")
    return found


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
