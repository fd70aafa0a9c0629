"""One decorator for compiled inner loops: compiled once for all processes, and again when what they call changes.

A process that compiles runs other code than one that loads what was compiled, for functions are inlined otherwise, and
last bits differ. Hence nobody runs what it compiled: a function is compiled in a process of its own, from the sources
of all that it calls, and loaded by the process that wants it as by all others.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bocu.robust.ambiguity import machine_code

if TYPE_CHECKING:
    import filelock
    from numba.core import caching

_OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}

#: Sums may be reordered for vector instructions; NaN and infinity keep their meaning.
_REORDERED: dict[str, Any] = {**_OPTIONS, "fastmath": {"reassoc", "contract", "nsz"}}

_PLAIN = (
    "numba is not installed: sets run as plain Python, MMD 30 times slower or more, and last digits may differ; "
    "the extra brings it: pip install 'bocu[fast]'"
)

#: Seconds to wait for a process that compiles the same before compiling for oneself.
_PATIENCE = 600.0


#: In a process that compiles one function for others: its module, its name and the folder to keep it in.
_order: tuple[str, str, Path] | None = None

Function = TypeVar("Function", bound=Callable[..., object])
Array = np.ndarray
"""An array in compiled code: float64, or int64 where it holds indices."""

Index = int | np.int64
"""A place or a number of places, in compiled code always 64 bits wide."""


def compiled(function: Function) -> Function:
    """`numba.njit` with a cache that follows all that the function is compiled from, see `ambiguity.machine_code`.

    Where numba is not installed, the function stays plain Python, which a warning says.
    What is compiled for one process, others that come meanwhile wait for. Where no place can be written to, or the
    module cannot be imported by its name, each process compiles for itself.
    """
    return _compiled(function, _REORDERED)


def compiled_as_written(function: Function) -> Function:
    """`compiled`, with sums in the order in which they are written: the digits of NumPy, element by element."""
    return _compiled(function, _OPTIONS)


def _compiled(function: Function, options: dict[str, Any]) -> Function:
    try:
        import numba
    except ModuleNotFoundError:
        warnings.warn(_PLAIN, stacklevel=1)  # the same place each time: said once
        return function
    dispatcher: Any = numba.njit(function, **options)  # a function, and more
    cache = _Cache(function)
    compile_or_load = dispatcher.compile

    def compile_alone(signature: object) -> object:
        with cache.locks_released():
            return compile_or_load(signature)

    dispatcher._cache, dispatcher.compile = cache, compile_alone
    made: Function = dispatcher
    return made


class _Cache:
    """The machine code of one function, by signature: read from any place, written to the first that can be.

    What numba's dispatchers ask of a cache, as `numba.core.caching._Cache` states it.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function
        # Now, while the sources are those that were imported.
        self._name = machine_code.folder_name(function.__module__, function.__code__.co_filename)
        self._locked: list[tuple[Path, filelock.BaseFileLock]] = []

    @property
    def cache_path(self) -> str:
        return self._name

    def load_overload(self, sig: object, target_context: object) -> object:
        """Find the code of a signature or have it compiled; where that fails, hold the lock of the place to save it."""
        if _order is not None:
            return None
        folders = [place / self._name for place in machine_code.places()]
        found = self._find(folders, sig, target_context)
        if found is None and (locked := _lock_first(folders)) is not None:
            self._locked.append(locked)
            found = self._find(folders, sig, target_context)  # another process may have compiled it meanwhile
            if found is None and _compile_apart(self._function, sig, locked[0]):
                found = self._find([locked[0]], sig, target_context)
        return found

    def save_overload(self, sig: object, data: object) -> None:
        folder = self._locked[-1][0] if self._locked else None
        if _order is not None and _order[:2] == (self._function.__module__, self._function.__name__):
            folder = _order[2]
        if folder is not None:
            # Where the disk is full, the next process compiles again.
            with contextlib.suppress(OSError):
                _in_folder(self._function, folder).save_overload(sig, data)

    @contextlib.contextmanager
    def locks_released(self) -> Iterator[None]:
        """Release at the end what was locked meanwhile, compiled or not."""
        before = len(self._locked)
        try:
            yield
        finally:
            while len(self._locked) > before:
                self._locked.pop()[1].release()

    def _find(self, folders: list[Path], sig: object, target_context: object) -> object:
        for folder in folders:
            # A file that a crash cut short is as good as none, and replaced.
            with contextlib.suppress(OSError, EOFError, pickle.UnpicklingError):
                if folder.is_dir():
                    found = _in_folder(self._function, folder).load_overload(sig, target_context)
                    if found is not None:
                        return found
        return None


def _compile_apart(function: Callable[..., object], signature: object, folder: Path) -> bool:
    """Have a function compiled into a folder by a process of its own, the folder's lock in hand; whether that went."""
    order = pickle.dumps((function.__module__, function.__name__, str(folder.absolute()), signature))
    code = f"from {__name__} import compile_for_others; compile_for_others()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        done = subprocess.run([sys.executable, "-c", code], input=order, env=environment, capture_output=True)
    except OSError:
        return False
    return done.returncode == 0


def compile_for_others() -> None:
    """Compile what standard input orders, as `_compile_apart` writes it."""
    global _order
    module, name, folder, signature = pickle.loads(sys.stdin.buffer.read())  # of our own parent
    _order = module, name, Path(folder)
    function = getattr(importlib.import_module(module), name)
    if function._cache.cache_path != Path(folder).name:
        sys.exit(f"{module} was edited meanwhile")
    function.compile(signature)


def _in_folder(function: Callable[..., object], folder: Path) -> caching.FunctionCache:
    """The cache of a function as numba keeps it, in a folder."""
    from numba.core import caching

    class Locator(caching._SourceFileBackedLocatorMixin, caching._CacheLocator):
        def __init__(self, py_func: Callable[..., object], py_file: str) -> None:
            self._py_file, self._lineno = py_file, py_func.__code__.co_firstlineno

        @classmethod
        def from_function(cls, py_func: Callable[..., object], py_file: str) -> Locator:
            return cls(py_func, py_file)

        def get_cache_path(self) -> str:
            return str(folder)

    class Implementation(caching.CompileResultCacheImpl):
        _locator_classes: list[type[object]] = [Locator]  # noqa: RUF012

    class Cache(caching.FunctionCache):
        _impl_class = Implementation

    return Cache(function)


def _lock_first(folders: list[Path]) -> tuple[Path, filelock.BaseFileLock] | None:
    """Lock the first folder that can be written to; None where there is none, or the patience for it ends."""
    import filelock

    for folder in folders:
        try:
            folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(exist_ok=True)
            lock = _lock(folder)
            lock.acquire(timeout=_PATIENCE)
            return folder, lock
        except filelock.Timeout:
            return None
        except (OSError, NotImplementedError):
            continue
    return None


@functools.cache
def _lock(folder: Path) -> filelock.BaseFileLock:
    """The one lock of a folder: a function is compiled while those that call it wait, with the lock in hand."""
    import filelock

    return filelock.FileLock(folder / "lock", thread_local=False)
