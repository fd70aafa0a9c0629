"""The SHA-256 of files and folders: one function, for raw data, inputs of runs, and what a plan compares."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

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

    from bocu.core.io.seals import SEAL

    try:
        with netCDF4.Dataset(path) as data:
            return str(data.getncattr(SEAL))
    except (OSError, AttributeError, RuntimeError):  # whoever reads it says what is wrong with it
        return None
