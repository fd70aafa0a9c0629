"""The SHA-256 of files and folders, and the manifest of results.

The manifest is the SHA-256 that every product was written with, in `<file>.sha256` beside it. It has the form of
`sha256sum`, whose `--check` reads it too; a comment says what wrote the file, and when. Each file has its own, so that
jobs never wait for each other. The record of an earlier file goes before the new one gets its name: whoever is killed
in between leaves a file without a record, which is none that was edited. All this finds slips; who edits a file may
edit its record.
"""

import hashlib
import os
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bocu.core.errors import BrokenFileError

TIMESTAMP = ".snakemake_timestamp"  # in a folder that a rule made; its time is the folder's


def sha256(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file, or of the names and hashes of all files below a folder.

    Returns:
        64 hexadecimal digits; files are read in pieces.
    """
    if Path(path).is_dir():
        return _sha256_of_folder(Path(path))
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _sha256_of_folder(folder: Path) -> str:
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name != TIMESTAMP)
    lines = [f"{sha256(file)} {file.relative_to(folder).as_posix()}\n" for file in files]
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def hash_files(inputs: Mapping[str, str | list[str]]) -> dict[str, str]:
    """Return the SHA-256 of what every file holds, by path."""
    paths = [path for value in inputs.values() for path in ([value] if isinstance(value, str) else value)]
    return {path: contents_sha256(path) for path in paths}


def contents_sha256(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of what a file holds: of a sealed NetCDF file its seal, which leaves the lineage out.

    A data set that other code prepared from the same files to the same numbers is the same to all that use it. Whoever
    reads the file whole compares it with the seal.
    """
    return _seal_of(path) or sha256(path)


def _seal_of(path: str | os.PathLike[str]) -> str | None:
    if Path(path).suffix != ".nc":
        return None
    import netCDF4

    from bocu.core.io.lineage import SEAL

    try:
        with netCDF4.Dataset(path) as data:
            return str(data.getncattr(SEAL))
    except (OSError, AttributeError, RuntimeError):  # whoever reads it says what is wrong with it
        return None


SUFFIX = ".sha256"
_FORM = re.compile(r"(?P<sha256>[0-9a-f]{64})  [^\n]*\n(?:# (?P<maker>[^\n]*)\n)?")


@dataclass(frozen=True)
class ManifestEntry:
    """What is recorded of a file."""

    sha256: str  #: of its bytes; of a record that cannot be read, its text.
    maker: str = ""  #: what wrote it, and when; empty where that is not known.


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
    temporary.write_text(f"{digest or sha256(path)}  {Path(path).name}\n{told}", encoding="utf-8")
    temporary.replace(target)


def forget_digest(path: str | os.PathLike[str]) -> None:
    """Remove the record of a file that is about to be replaced."""
    digest_file(path).unlink(missing_ok=True)


def edit_of(path: str | os.PathLike[str]) -> str:
    """Say in what a file is not as it was written; empty where it is, or where nothing is recorded of it."""
    while known := recorded(path):
        found = sha256(path)
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
    known = recorded(path)
    return known.sha256 if known else sha256(path)
