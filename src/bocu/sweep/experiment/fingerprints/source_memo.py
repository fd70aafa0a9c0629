"""What files of code define, kept from one process to the next: every job of a cluster plans again.

Files are known by their content, and the memo by the code that reads them and the version of Python, so nothing in it
can be out of date. It is no more than a memo: where it cannot be read or written, files are read again.
"""

import atexit
import functools
import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from bocu.core.errors import BocuError
from bocu.core.io.files import atomic_path
from bocu.core.plain import Plain
from bocu.sweep.experiment.fingerprints import definitions
from bocu.sweep.experiment.fingerprints.definitions import Import, SourceFile, Statement, read_source

_MOST = 2000  # files that are kept, the latest


def source_of(file: Path) -> SourceFile:
    """Take a file of code apart, or remember what it was taken apart into."""
    content = file.read_bytes()
    key = hashlib.sha256(content).hexdigest()
    memo = _memo()
    if key not in memo:
        found = read_source(content, str(file))
        _save_at_exit()
        memo[key] = json.loads(json.dumps(_plain(found)))
    return _source(memo[key])


def memo_file() -> Path:
    """Return the file that holds the memo."""
    code = Path(str(definitions.__file__)).read_bytes()
    reader = hashlib.sha256(code + sys.version.encode()).hexdigest()[:16]
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home, "bocu", f"code-{reader}.json")


@functools.cache
def _memo() -> dict[str, object]:
    try:
        checksum, _, text = memo_file().read_text(encoding="utf-8").partition("\n")
        if checksum == _checksum(text):
            memo: Plain = json.loads(text)
            return memo
    except (OSError, RuntimeError, ValueError):
        pass  # RuntimeError: there is no home
    return {}


@functools.cache
def _save_at_exit() -> None:
    atexit.register(save_memo)


def save_memo() -> None:
    """Write the memo, for other processes."""
    text = json.dumps(dict(list(_memo().items())[-_MOST:]), separators=(",", ":"))
    try:
        file = memo_file()
        file.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(file) as temporary:
            temporary.write_text(f"{_checksum(text)}\n{text}", encoding="utf-8")
    except (BocuError, OSError, RuntimeError):
        pass


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(source: SourceFile) -> list[Any]:
    return [source.statements, source.imports, source.typing_imports, list(source.tables.items())]


def _source(plain: Any) -> SourceFile:
    statements, imports, typing_imports, tables = plain
    return SourceFile(
        tuple(
            Statement(tuple(names), digest, tuple(uses), _imports(own), tuple(calls), tuple(bases), *flags)
            for names, digest, uses, own, calls, bases, *flags in statements
        ),
        _imports(imports),
        _imports(typing_imports),
        dict(tables),
    )


def _imports(plain: Any) -> tuple[Import, ...]:
    return tuple(Import(*one) for one in plain)
