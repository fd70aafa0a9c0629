"""What files of code define, kept from one process to the next: every job of a cluster plans again.

Files are known by their content, and the memo by the code that reads them and the version of Python, so nothing in it
can be out of date. It is no more than a memo: where it cannot be read or written, files are read again.
"""

import atexit
import functools
import hashlib
import os
import sys
from pathlib import Path

from pydantic import TypeAdapter

from bocu.core.errors import BocuError
from bocu.core.io.files import atomic_path
from bocu.sweep.experiment.fingerprints import definitions
from bocu.sweep.experiment.fingerprints.definitions import SourceFile, read_source

_MOST = 2000  # files that are kept, the latest
_MEMO = TypeAdapter(dict[str, SourceFile])


def source_of(file: Path) -> SourceFile:
    """Take a file of code apart, or remember what it was taken apart into."""
    content = file.read_bytes()
    key = hashlib.sha256(content).hexdigest()
    memo = _memo()
    if key not in memo:
        memo[key] = read_source(content, str(file))
        _save_at_exit()
    return memo[key]


def memo_file() -> Path:
    """Return the file that holds the memo."""
    code = Path(str(definitions.__file__)).read_bytes()
    reader = hashlib.sha256(code + sys.version.encode()).hexdigest()[:16]
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home, "bocu", f"code-{reader}.json")


@functools.cache
def _memo() -> dict[str, SourceFile]:
    try:
        checksum, _, text = memo_file().read_bytes().partition(b"\n")
        if checksum == _checksum(text):
            return _MEMO.validate_json(text)
    except (OSError, RuntimeError, ValueError):
        pass  # RuntimeError: there is no home
    return {}


@functools.cache
def _save_at_exit() -> None:
    atexit.register(save_memo)


def save_memo() -> None:
    """Write the memo, for other processes."""
    text = _MEMO.dump_json(dict(list(_memo().items())[-_MOST:]))
    try:
        file = memo_file()
        file.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(file) as temporary:
            temporary.write_bytes(_checksum(text) + b"\n" + text)
    except (BocuError, OSError, RuntimeError):
        pass


def _checksum(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest().encode()
