"""The manifest of results: the SHA-256 that every product was written with, in `<file>.sha256` beside it.

It has the form of `sha256sum`, whose `--check` reads it too; a comment says what wrote the file, and when. Each file
has its own, so that jobs never wait for each other. The record of an earlier file goes before the new one gets its
name: whoever is killed in between leaves a file without a record, which is none that was edited. All this finds slips;
who edits a file may edit its record.
"""

import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bocu.core.errors import BrokenFileError
from bocu.core.io.hashes import sha256

SUFFIX = ".sha256"
_FORM = re.compile(r"(?P<sha256>[0-9a-f]{64})  [^\n]*\n(?:# (?P<maker>[^\n]*)\n)?")
_TICK = 20_000_000  # nanoseconds; within a tick of its clock, a file system gives an edited file the same time

_known: dict[str, tuple[tuple[int, int, int], str]] = {}  # what this process hashed, while it stands as it was


@dataclass(frozen=True)
class ManifestEntry:
    """What is recorded of a file.

    Attributes:
        sha256: of its bytes; of a record that cannot be read, its text.
        maker: what wrote it, and when; empty where that is not known.
    """

    sha256: str
    maker: str = ""


def digest_file(path: str | os.PathLike[str]) -> Path:
    """Return where the SHA-256 of a file is recorded: beside it."""
    return Path(f"{os.fspath(path)}{SUFFIX}")


def recorded(path: str | os.PathLike[str]) -> ManifestEntry | None:
    """Return what is recorded of a file, or None where nothing is."""
    try:
        text = digest_file(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = _FORM.fullmatch(text)
    return ManifestEntry(found["sha256"], found["maker"] or "") if found else ManifestEntry(" ".join(text.split()))


def record_digest(path: str | os.PathLike[str], maker: str = "", digest: str | None = None) -> None:
    """Record what a file holds.

    Args:
        path: the file.
        maker: what wrote it, such as `rule score`; empty where that is not known.
        digest: its SHA-256, where it has been worked out.
    """
    target = digest_file(path)
    told = f"# {maker}, {time.strftime('%Y-%m-%d %H:%M:%S')}\n" if maker else ""
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    temporary.write_text(f"{digest or _digest(path)}  {Path(path).name}\n{told}", encoding="utf-8")
    temporary.replace(target)
    if digest:
        _keep(path, digest)


def forget_digest(path: str | os.PathLike[str]) -> None:
    """Remove the record of a file that is about to be replaced."""
    digest_file(path).unlink(missing_ok=True)


def edit_of(path: str | os.PathLike[str]) -> str:
    """Say in what a file is not as it was written; empty where it is, or where nothing is recorded of it."""
    while known := recorded(path):
        found = _digest(path)
        if found == known.sha256:
            break
        if recorded(path) == known:  # else a job wrote it just now
            by = f" by {known.maker}," if known.maker else ""
            return f"its contents were changed: SHA-256 {found}; written{by} with {known.sha256}"
    return ""


def edited(path: str | os.PathLike[str]) -> str:
    """Say what `edit_of` says, but read only a file that was touched after its record was written."""
    with suppress(OSError):
        if Path(path).stat().st_mtime_ns > digest_file(path).stat().st_mtime_ns:
            return edit_of(path)
    return ""


def refuse_edited(path: str | os.PathLike[str]) -> None:
    """Refuse a file that is not as it was written.

    Raises:
        BrokenFileError: its bytes are not those that are recorded.
    """
    if told := edit_of(path):
        raise BrokenFileError(path, told)


def checked(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file or folder, a file only as it was written: raises as `refuse_edited`."""
    if Path(path).is_dir():
        return sha256(path)
    refuse_edited(path)
    return _digest(path)


def _digest(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file; a process that opens it again does not read it again."""
    known, now = _known.get(_place(path)), _signature(path)
    if known is not None and known[0] == now:
        return known[1]
    found = sha256(path)
    _keep(path, found)
    return found


def _keep(path: str | os.PathLike[str], digest: str) -> None:
    signature = _signature(path)
    if time.time_ns() - signature[2] > _TICK:
        _known[_place(path)] = (signature, digest)


def _place(path: str | os.PathLike[str]) -> str:
    return str(Path(path).absolute())


def _signature(path: str | os.PathLike[str]) -> tuple[int, int, int]:
    now = Path(path).stat()
    return now.st_ino, now.st_size, now.st_mtime_ns
