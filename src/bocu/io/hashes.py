"""The SHA-256 of files: one function, for raw data, inputs of runs, and what a plan compares."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path


def sha256(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file as 64 hexadecimal digits; the file is read in pieces."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


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

    from bocu.io.seals import SEAL

    try:
        with netCDF4.Dataset(path) as data:
            return str(data.getncattr(SEAL))
    except (OSError, AttributeError, RuntimeError):  # whoever reads it says what is wrong with it
        return None
