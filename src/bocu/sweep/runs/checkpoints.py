"""Checkpoints of a block of runs: two generations, each with a checksum, under a lock.

A checkpoint belongs to one identity (specification, code, input files); another's is ignored. A damaged one falls
back to the one before. Nothing is pickled: arrays go to an npz member, everything else to JSON.
"""

import contextlib
import errno
import hashlib
import io
import json
import logging
import os
import shutil
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bocu.core.errors import BocuError
from bocu.core.io.files import atomic_path
from bocu.core.plain import State

logger = logging.getLogger(__name__)

_MAGIC = b"bocu checkpoint 1\n"
_GENERATIONS = 2
_POLL_SECONDS = 0.5  # between two looks at a lock that another process holds


@contextlib.contextmanager
def hold(folder: str | Path) -> Iterator[float]:
    """Hold a block by the lock in the folder of its checkpoints; where another process holds it, wait for its end.

    A process that holds a block may do so again. The operating system frees the lock of a process that ends, killed or
    not.

    Yields:
        Seconds waited.

    Raises:
        BocuError: the folder cannot be made or locked.
    """
    import filelock

    folder = Path(folder)
    lock = filelock.FileLock(folder / "lock", is_singleton=True)
    start, patience = time.monotonic(), 0.0
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=patience, poll_interval=_POLL_SECONDS)
            break
        except filelock.Timeout:
            logger.warning("%s: another process runs this block; waiting for it", folder)
            patience = -1.0
        except OSError as error:
            # Gone or stale: the process that held it has just cleared the folder.
            if error.errno not in (errno.ENOENT, errno.ESTALE):
                raise BocuError(f"{folder}: could not be locked: {error.strerror or error}") from error
    try:
        yield time.monotonic() - start if patience else 0.0
    finally:
        lock.release()


class CheckpointStore:
    """The checkpoints of one block of runs.

    Attributes:
        folder: where they lie; made when first needed, removed by `clear`.
        identity: hash of all that the results depend on.
    """

    def __init__(self, folder: str | Path, identity: str) -> None:
        self.folder = Path(folder)
        self.identity = identity
        self._saved = 0

    def save(self, content: State) -> None:
        """Write `content`, nested dicts and lists of arrays and plain values, over the older generation."""
        arrays: dict[str, np.ndarray] = {}
        header = {"identity": self.identity, "number": self._saved + 1, "content": _strip(content, arrays)}
        buffer = io.BytesIO()
        np.savez(buffer, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), **arrays)  # type: ignore[arg-type]
        body = buffer.getvalue()
        self._saved += 1
        with atomic_path(self._path(self._saved)) as temporary, temporary.open("wb") as file:
            file.write(_MAGIC + hashlib.sha256(body).digest() + body)
            file.flush()
            os.fsync(file.fileno())

    def load(self) -> State | None:
        """Return the newest whole checkpoint of this identity, or None."""
        found = [header for number in range(_GENERATIONS) if (header := self._read(self._path(number))) is not None]
        if not found:
            return None
        newest = max(found, key=lambda header: header["number"])
        self._saved = newest["number"]
        return newest["content"]

    def clear(self) -> None:
        """Remove all checkpoints."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, number: int) -> Path:
        return self.folder / f"generation-{number % _GENERATIONS}"

    def _read(self, path: Path) -> State | None:
        try:
            raw = path.read_bytes()
        except FileNotFoundError:
            return None
        digest_end = len(_MAGIC) + hashlib.sha256().digest_size
        body = raw[digest_end:]
        if not raw.startswith(_MAGIC) or hashlib.sha256(body).digest() != raw[len(_MAGIC) : digest_end]:
            logger.warning("%s: damaged checkpoint, left aside; falling back to the one before it", path)
            return None
        with np.load(io.BytesIO(body), allow_pickle=False) as members:
            header = json.loads(members["header"].tobytes())
            if header["identity"] != self.identity:
                logger.info("%s: checkpoint of another specification, code or input; left aside", path)
                return None
            header["content"] = _fill(header["content"], members)
        return header


def peek(folder: str | Path) -> State | None:
    """Return identity and content of the newest checkpoint in a folder without its arrays, or None.

    For a view of the progress: nothing is verified, little is read, and the block is left to whoever runs it.
    """
    headers = []
    for path in Path(folder).glob("generation-*"):
        with contextlib.suppress(OSError, KeyError, ValueError, zipfile.BadZipFile), zipfile.ZipFile(path) as members:
            headers.append(json.loads(np.lib.format.read_array(io.BytesIO(members.read("header.npy"))).tobytes()))
    return max(headers, key=lambda header: header["number"], default=None)


def _strip(content: object, arrays: dict[str, np.ndarray], where: str = "") -> object:
    """Move the arrays of a nested structure to `arrays`, leaving their names."""
    if isinstance(content, np.ndarray) and not content.dtype.hasobject:
        name = f"a{len(arrays)}"
        arrays[name] = content
        return {"__array__": name}
    if isinstance(content, np.generic) and not content.dtype.hasobject:
        return content.item()
    if isinstance(content, dict):
        for key in content:
            if not isinstance(key, str):
                raise _not_plain(key, f"a key of {where}")
        return {key: _strip(value, arrays, f"{where}.{key}" if where else key) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_strip(value, arrays, f"{where}.{place}") for place, value in enumerate(content)]
    if content is None or isinstance(content, bool | int | float | str):
        return content
    raise _not_plain(content, where)


def _not_plain(found: object, where: str) -> BocuError:
    kind = f"{type(found).__module__}.{type(found).__qualname__}"
    return BocuError(
        f"checkpoint: {where}: found {kind}; allowed: arrays of numbers and texts, numbers, texts, lists, and dicts by "
        "text; nothing is pickled"
    )


def _fill(content: Any, arrays: Any) -> object:
    if isinstance(content, dict):
        if content.keys() == {"__array__"}:
            return arrays[content["__array__"]]
        return {key: _fill(value, arrays) for key, value in content.items()}
    if isinstance(content, list):
        return [_fill(value, arrays) for value in content]
    return content
