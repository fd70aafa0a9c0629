"""One decorator for compiled inner loops: compiled once for all processes, and anew when a source of theirs changes.

numba's cache follows the file of a function, not those of the functions that it calls. Here it lies in a folder that
is named by the sources of all of them, the versions of the compiler and the type of the processor. A process that
compiles runs other code than one that loads what was compiled, for functions are inlined otherwise, and last bits
differ. Hence nobody runs what it compiled: whoever finds nothing has a process of its own compile all there is, while
others wait for it, and all load the same. Folders may be deleted at any time. Machine code is run as it is found: none
is kept in folders of results, which may be somebody else's.

This module imports no compiler.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import stat
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

#: Sums may be reordered for vector instructions; NaN and infinity keep their meaning.
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "fastmath": {"reassoc", "contract", "nsz"}}

_PLAIN = (
    "numba is not installed: sets run as plain Python, MMD 30 times slower or more, and last digits may differ; "
    "the extra brings it: pip install 'bocu[fast]'"
)
_COMPILERS = ("numba", "llvmlite", "numpy")

#: Seconds to wait for a process that compiles before compiling for oneself.
_PATIENCE = 600.0

#: In a folder of which all is compiled.
_READY = "ready"

#: Whether this process compiles for others, and takes nothing that it finds.
_compiles = False

Function = TypeVar("Function", bound=Callable[..., object])
Array = np.ndarray  #: An array in compiled code: float64, or int64 where it holds indices.

Index = int | np.int64  #: A place or a number of places, in compiled code always 64 bits wide.


def compiled(function: Function) -> Function:
    """`numba.njit` of a function of this room, with the cache of `folder`.

    Where numba is not installed, the function stays plain Python, which a warning says. Where no place can be written
    to, each process compiles for itself.
    """
    try:
        import numba
    except ModuleNotFoundError:
        warnings.warn(_PLAIN, stacklevel=1)  # the same place each time: said once
        return function
    dispatcher: Any = numba.njit(function, **_OPTIONS)  # a function, and more
    if (kept := folder()) is not None:
        dispatcher._cache = _cache(function, kept)
    return dispatcher


def is_ready() -> bool:
    """Whether all is compiled for this processor, as the sources are now."""
    return any((place / state() / _READY).is_file() for place in places())


@functools.cache
def folder() -> Path | None:
    """The folder of the machine code, all compiled: some ten seconds, once; None where none can be kept."""
    import filelock

    folders = [place / state() for place in places()]
    for found in folders:
        if (found / _READY).is_file():
            return found
    for found in folders:
        try:
            found.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            found.mkdir(exist_ok=True)
            with filelock.FileLock(found / "lock").acquire(timeout=_PATIENCE):
                if not (found / _READY).is_file():
                    _compile_apart(found)
        except filelock.Timeout:
            pass
        except (OSError, NotImplementedError):
            continue
        return found
    return None


def _compile_apart(found: Path) -> None:
    """Have a process of its own compile all into a folder; where it fails, others compile what they call."""
    code = f"from {__name__} import compile_for_others; compile_for_others({str(found.absolute())!r})"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with contextlib.suppress(OSError):
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)


def compile_for_others(found: str) -> None:
    """Compile into a folder, in a process that does nothing else, all that worst cases call."""
    global _compiles, folder
    _compiles, folder = True, functools.cache(lambda: Path(found))
    from bocu.robust.ambiguity.base import worst_case
    from bocu.robust.ambiguity.mmd.maximum_mean_discrepancy import MaximumMeanDiscrepancy
    from bocu.robust.ambiguity.wasserstein import Wasserstein

    contexts = 8
    gram = np.eye(contexts) + 0.1
    payoffs = np.cos(np.arange(4.0 * contexts)).reshape(4, contexts)
    spread, narrow = np.full(contexts, 1.0 / contexts), np.eye(contexts)[0]
    # From the reference, away from a reference without mass at some contexts, and from the floor.
    for epsilon, reference in ((0.4, spread), (0.0, narrow), (2.0, narrow)):
        worst_case(payoffs, reference, MaximumMeanDiscrepancy(epsilon, gram))
    line = np.arange(float(contexts))
    on_a_line = Wasserstein(0.4, np.abs(line[:, None] - line))
    worst_case(payoffs, spread, on_a_line)
    on_a_line.satisficing(payoffs, spread, float(payoffs.mean()) - 0.1)
    (Path(found) / _READY).touch()


def places() -> list[Path]:
    """Where to look for machine code, and to write what is not found, in this order.

    `NUMBA_CACHE_DIR`, the user's cache folder, a folder of the user's among the temporary files. What others own or may
    write to is left out.
    """
    found = [Path(os.environ["NUMBA_CACHE_DIR"]).absolute()] if os.environ.get("NUMBA_CACHE_DIR") else []
    with contextlib.suppress(RuntimeError):  # a user without a home
        found.append(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bocu" / "machine-code")
    with contextlib.suppress(FileNotFoundError):  # no folder for temporary files
        found.append(Path(tempfile.gettempdir(), f"bocu-machine-code-{os.getuid()}"))
    return [place for place in found if _is_ours(place)]


def _is_ours(place: Path) -> bool:
    try:
        found = place.lstat()  # a link says that others may write to it
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@functools.cache
def state() -> str:
    """The hash of all that machine code is made from: sources, compiler, processor."""
    from importlib.metadata import version

    from llvmlite import binding

    parts = [sys.implementation.cache_tag or "", *(f"{name}={version(name)}" for name in _COMPILERS)]
    parts += [binding.get_process_triple(), binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()]
    # What it is made for, where that is not this processor: jobs of a sweep have it set.
    parts += [os.environ.get(name, "") for name in ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")]
    digest = hashlib.sha256(" ".join(parts).encode())
    for name, source in _sources():
        digest.update(f"{name}\0{len(source)}\0".encode())
        digest.update(source)
    return digest.hexdigest()[:20]


def _sources() -> Iterator[tuple[str, bytes]]:
    """The modules of this room that hold compiled functions, and this one."""
    room = Path(__file__).parent
    for file in sorted(room.rglob("*.py")):
        source = file.read_bytes()
        if b"\n@compiled\n" in source or file.samefile(__file__):
            yield file.relative_to(room).as_posix(), source


def _cache(function: Callable[..., object], kept: Path) -> object:
    """The cache of a function as numba keeps it, in a folder."""
    from numba.core import caching

    class Locator(caching._CacheLocator):
        @classmethod
        def from_function(cls, py_func: Callable[..., object], py_file: str) -> Locator:
            return cls()

        def get_cache_path(self) -> str:
            return str(kept)

        def get_source_stamp(self) -> str:
            return kept.name

        def get_disambiguator(self) -> str:
            return str(function.__code__.co_firstlineno)

    class Implementation(caching.CompileResultCacheImpl):
        _locator_classes: list[type[object]] = [Locator]  # noqa: RUF012

    class Cache(caching.FunctionCache):
        _impl_class = Implementation

        def load_overload(self, sig: object, target_context: object) -> object:
            if _compiles:
                return None
            # A file that a crash cut short is as good as none, and replaced.
            with contextlib.suppress(OSError, EOFError, pickle.UnpicklingError):
                return super().load_overload(sig, target_context)
            return None

        def save_overload(self, sig: object, data: object) -> None:
            # Where the disk is full, the next process compiles again.
            with contextlib.suppress(OSError):
                super().save_overload(sig, data)

    return Cache(function)
