"""Importing a class that is named as text."""

import importlib
from collections.abc import Collection, Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any

from bocu.core.errors import BocuError

_REGISTRY = "bocu.experiment.registry"


def refuse_unknown_classes(recorded: object, where: str, named: Collection[str] = ()) -> None:
    """Refuse what a file asks to import, unless it is registered, an entry point, or named otherwise.

    A file that somebody sent would else run code of its choice when it is looked at.

    Args:
        recorded: a specification as a file holds it: "class", "phi" and "of" of its parts are what would be imported.
        where: the file, for the error line.
        named: what the experiment at hand names itself, "module:Class".

    Raises:
        BocuError: it asks for anything else.
    """
    for target in _targets(recorded):
        if target not in named and target not in _registered():
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
    registry = from_registry("REGISTRY")
    own = {target for targets in registry.values() for target in targets.values() if ":" in target}
    return own | {point.value for kind in registry for point in entry_points(group=f"bocu.{kind}s")}


def load(target: str) -> Any:
    """Import `target`, written "module:Class"."""
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)


def from_registry(name: str) -> Any:
    """Return what the registry defines, from below it: fingerprints do not follow a name that is worked out.

    What a run uses is among its roots, so that a line in the registry reruns nothing.
    """
    return getattr(importlib.import_module(_REGISTRY), name)
