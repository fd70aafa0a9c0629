"""What a run file says of itself, and why it is not what a plan asks for.

It names its specification, the code that it could reach, definition by definition, and the contents of its input files.
"""

import functools
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bocu.core.errors import BocuError
from bocu.core.plain import Specification
from bocu.sweep.experiment.fingerprints.fingerprint import definitions
from bocu.sweep.explanation import MANY

_SHORT = 12  # digits of a hash that are shown


@dataclass(frozen=True)
class RunFile:
    """What a run file says of itself."""

    specification: Specification
    fingerprint: str
    definitions: Mapping[str, Mapping[str, str]]
    inputs: Mapping[str, str]


def read_run_file(path: str | Path) -> RunFile:
    """Read the attributes of a run file, no numbers.

    Raises:
        BocuError: it cannot be read, or is no run file.
    """
    import netCDF4

    try:
        with netCDF4.Dataset(path) as data:
            return RunFile(
                json.loads(data.getncattr("specification")),
                data.getncattr("fingerprint"),
                json.loads(getattr(data, "definitions", "{}")),
                json.loads(data.getncattr("inputs")),
            )
    except (OSError, AttributeError, ValueError) as error:
        raise BocuError(f"{path}: not a readable run file ({str(error).splitlines()[0]})") from None


def changed_code(found: RunFile, fingerprint: str, roots: tuple[str, ...]) -> Iterator[str]:
    """Say which definitions differ from those that `roots` reach now."""
    if found.fingerprint == fingerprint:
        return
    if not found.definitions:
        yield "code: changed; the file does not say which definition"
        return
    before, now = _flat(found.definitions), _flat(_definitions(roots))
    # What only moved to another module is the same.
    came = Counter((name, now[module, name]) for module, name in now.keys() - before.keys())
    went = Counter((name, before[module, name]) for module, name in before.keys() - now.keys())
    moved = came & went
    lines = [
        f"code: {_source(module)}: {name} " + ("changed" if (module, name) in before else "not used before")
        for (module, name), value in now.items()
        if before.get((module, name)) != value and not moved[name, value]
    ]
    lines += [
        f"code: {_source(module)}: {name} not used any more"
        for (module, name), value in before.items()
        if (module, name) not in now and not moved[name, value]
    ]
    yield from lines[:MANY]
    if len(lines) > MANY:
        yield f"code: {len(lines) - MANY} more definitions"
    if not lines:
        yield "code: changed while the run was waiting"


def changed_inputs(recorded: Mapping[str, str], hashes: Mapping[str, str | None]) -> Iterator[str]:
    """Say which input files hold something else now.

    Args:
        recorded: SHA-256 of contents that the run file tells, by path.
        hashes: those of today's; None for a file that is not there.
    """
    # A run that was taken over recorded other paths: contents count.
    before = {**{Path(path).name: value for path, value in recorded.items()}, **recorded}
    for path, value in hashes.items():
        if value is None or value in recorded.values():
            continue
        old = before.get(path, before.get(Path(path).name))
        yield f"input {path}: " + (f"{old[:_SHORT]} -> {value[:_SHORT]} (SHA-256)" if old else "not used before")
    if None not in hashes.values():
        names = {Path(path).name for path in hashes}
        for path, value in recorded.items():
            if value not in hashes.values() and path not in hashes and Path(path).name not in names:
                yield f"input {path}: not used any more"


@functools.cache
def _definitions(roots: tuple[str, ...]) -> dict[str, dict[str, str]]:
    return definitions(roots)


def _flat(code: Mapping[str, Mapping[str, str]]) -> dict[tuple[str, str], str]:
    return {(module, name): value for module, of in code.items() for name, value in of.items()}


def _source(module: str) -> str:
    return module if module.endswith(".py") else f"{module.replace('.', '/')}.py"
