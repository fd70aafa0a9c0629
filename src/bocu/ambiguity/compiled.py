"""One decorator for compiled inner loops: compiled once for all processes, and again when what they call changes."""

from __future__ import annotations

import contextlib
import functools
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numba
import numpy as np
from numba.core import caching

from bocu.ambiguity import machine_code

if TYPE_CHECKING:
    import filelock

#: Sums may be reordered for vector instructions; NaN and infinity keep their meaning.
_OPTIONS: dict[str, Any] = {"fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy", "nogil": True}

#: Seconds to wait for a process that compiles the same before compiling for oneself.
_PATIENCE = 600.0


Function = TypeVar("Function", bound=Callable[..., object])
Array = np.ndarray
"""An array in compiled code: float64, or int64 where it holds indices."""

Index = int | np.int64
"""A place or a number of places, in compiled code always 64 bits wide."""


def compiled(function: Function) -> Function:
    """`numba.njit` with a cache that follows all that the function is compiled from, see `bocu.ambiguity.machine_code`.

    What one process compiles, others that come meanwhile wait for. Where no place can be written to, each process
    compiles for itself.
    """
    dispatcher: Any = numba.njit(function, **_OPTIONS)  # a function, and more
    cache = _Cache(function)
    compile_or_load = dispatcher.compile

    def compile_alone(signature: object) -> object:
        with cache.locks_released():
            return compile_or_load(signature)

    dispatcher._cache, dispatcher.compile = cache, compile_alone
    made: Function = dispatcher
    return made


class _Cache(caching._Cache):
    """The machine code of one function, by signature: read from any place, written to the first that can be."""

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function
        # Now, while the sources are those that were imported.
        self._name = machine_code.folder_name(function.__module__, function.__code__.co_filename)
        self._locked: list[tuple[Path, filelock.BaseFileLock]] = []

    @property
    def cache_path(self) -> str:
        return self._name

    def load_overload(self, sig: object, target_context: object) -> object:
        """Find the code of a signature; where there is none, return None and hold the lock of the place to save it."""
        folders = [place / self._name for place in machine_code.places()]
        found = self._find(folders, sig, target_context)
        if found is None and (locked := _lock_first(folders)) is not None:
            self._locked.append(locked)
            found = self._find(folders, sig, target_context)  # another process may have compiled it meanwhile
        return found

    def save_overload(self, sig: object, data: object) -> None:
        if self._locked:
            # Where the disk is full, the next process compiles again.
            with contextlib.suppress(OSError):
                _in_folder(self._function, self._locked[-1][0]).save_overload(sig, data)

    @contextlib.contextmanager
    def locks_released(self) -> Iterator[None]:
        """Release at the end what was locked meanwhile, compiled or not."""
        before = len(self._locked)
        try:
            yield
        finally:
            while len(self._locked) > before:
                self._locked.pop()[1].release()

    def enable(self) -> None:
        pass  # it is never disabled

    def disable(self) -> None:
        raise NotImplementedError(self._name)

    def flush(self) -> None:
        raise NotImplementedError(self._name)

    def _find(self, folders: list[Path], sig: object, target_context: object) -> object:
        for folder in folders:
            # A file that a crash cut short is as good as none, and replaced.
            with contextlib.suppress(OSError, EOFError, pickle.UnpicklingError):
                if folder.is_dir():
                    found = _in_folder(self._function, folder).load_overload(sig, target_context)
                    if found is not None:
                        return found
        return None


def _in_folder(function: Callable[..., object], folder: Path) -> caching.FunctionCache:
    """The cache of a function as numba keeps it, in a folder."""

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
