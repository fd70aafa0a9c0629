"""Where machine code is kept: a folder for each module of compiled functions, named by all that it is compiled from.

numba's own cache follows the file of a compiled function, not those of the functions that it calls. Here the folder's
name hashes both, with the versions of the compiler and the type of the processor: what changed is compiled again, and
nothing old is ever run. Folders may be deleted at any time. Machine code is run as it is found: none is kept in folders
of results, which may be somebody else's.

This module imports no compiler.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib.util
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

PACKAGE = __name__.partition(".")[0]
COMPILERS = ("numba", "llvmlite", "numpy")


def places() -> list[Path]:
    """Where to look for machine code, and to write what is not found, in this order.

    `NUMBA_CACHE_DIR`, the user's cache folder, a folder of the user's among the temporary files. What others own or may
    write to is left out.
    """
    found = [Path(os.environ["NUMBA_CACHE_DIR"]).absolute()] if os.environ.get("NUMBA_CACHE_DIR") else []
    found.extend(folder / PACKAGE / "machine-code" for folder in _user_cache())
    with contextlib.suppress(FileNotFoundError):  # no folder for temporary files
        found.append(Path(tempfile.gettempdir(), f"{PACKAGE}-machine-code-{os.getuid()}"))
    return [folder for folder in found if _is_ours(folder)]


def _user_cache() -> Iterator[Path]:
    try:
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # a user without a home
        return


def _is_ours(folder: Path) -> bool:
    try:
        found = folder.lstat()  # a link says that others may write to it
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def folder_name(module: str, file: str | Path | None = None) -> str:
    """The name of the folder of a module's machine code on this type of processor.

    Args:
        module: full name of the module.
        file: its source, where the module cannot be found by its name.
    """
    digest = hashlib.sha256(_versions().encode())
    digest.update(processor().encode())
    for name, source in sorted(_sources(module, Path(file) if file is not None else _source(module)).items()):
        digest.update(f"{name}\0{len(source)}\0".encode())
        digest.update(source)
    return f"{module.rpartition('.')[2]}-{digest.hexdigest()[:20]}"


@functools.cache
def processor() -> str:
    """The type of this processor and what it can do: code for one may not run on another."""
    from llvmlite import binding

    return f"{binding.get_process_triple()} {binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()}"


@functools.cache
def _versions() -> str:
    from importlib.metadata import version

    versions = (f"{name}={version(name)}" for name in COMPILERS)
    return f"{sys.implementation.cache_tag} {' '.join(versions)}"


def _sources(module: str, file: Path | None) -> dict[str, bytes]:
    """The source of a module and of all that it imports from its own package and from this one, by name."""
    inside = frozenset({PACKAGE, module.partition(".")[0]})
    found: dict[str, bytes] = {}
    waiting = [(module, file)]
    while waiting:
        name, path = waiting.pop()
        if name not in found and path is not None:
            found[name] = path.read_bytes()
            package = name if path.name == "__init__.py" else name.rpartition(".")[0]
            waiting.extend((other, _source(other)) for other in _imports(found[name], package, inside))
    return found


@functools.lru_cache(maxsize=256)
def _imports(source: bytes, package: str, inside: frozenset[str]) -> frozenset[str]:
    """The modules that a source imports from the packages `inside`."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            if base.partition(".")[0] in inside:
                # `from package import name`: name is a module, or something of the package itself.
                modules = (f"{base}.{alias.name}" for alias in node.names)
                names.update(name if _source(name) is not None else base for name in modules)
    return frozenset(name for name in names if name.partition(".")[0] in inside)


@functools.cache
def _source(module: str) -> Path | None:
    """The file of a module; None where there is no such module, or it has no source."""
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(found.origin) if found is not None and found.has_location and found.origin is not None else None
