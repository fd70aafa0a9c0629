"""Importing what is named as text, "module:Class" or "algorithm/ts-bocu", and what only an extra brings."""

import contextlib
import importlib
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from bocu.core.errors import BocuError, BrokenFileError, line_in
from bocu.core.places import import_place

_REGISTRY = "bocu.sweep.experiment.registry"
_BROUGHT_BY = {
    "ax": "ax-platform",
    "fontTools": "fonttools",
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
