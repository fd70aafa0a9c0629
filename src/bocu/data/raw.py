"""The record of a raw file's SHA-256, `<file>.sha256` beside it: a file that changed since is noticed."""

import os
from collections.abc import Sequence
from pathlib import Path

from bocu.core.errors import BrokenFileError
from bocu.io.files import write_text
from bocu.io.hashes import sha256
from bocu.io.lineage import lineage_file, lineage_of


def digest_file(path: str | os.PathLike[str]) -> Path:
    """Return where the SHA-256 of a raw file is recorded: beside it."""
    return Path(f"{os.fspath(path)}.sha256")


def recorded(path: str | os.PathLike[str]) -> str | None:
    """Return the SHA-256 that was recorded of a raw file, or None where none was."""
    record = digest_file(path)
    if not record.is_file():
        return None
    return (record.read_text(encoding="utf-8", errors="replace").split() or [""])[0]


def record_raw(path: str | os.PathLike[str], digest: str) -> None:
    """Record the SHA-256 of a raw file, in the form of `sha256sum`, and its lineage."""
    write_text(digest_file(path), f"{digest}  {Path(path).name}\n")
    lineage = lineage_of(path)
    if lineage is not None:
        write_text(lineage_file(path), f"{lineage.text}\n")


def check(paths: Sequence[str | os.PathLike[str]]) -> None:
    """Compare raw files with their records; a file without one gets it now.

    Raises:
        BrokenFileError: a file changed since it was recorded.
    """
    for path in paths:
        found, before = sha256(path), recorded(path)
        if before is None:
            record_raw(path, found)
        elif found != before:
            raise BrokenFileError(path, f"changed since it came: SHA-256 {found}; recorded {before}")
