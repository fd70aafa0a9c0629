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
    """Return the SHA-256 of every file, by path."""
    paths = [path for value in inputs.values() for path in ([value] if isinstance(value, str) else value)]
    return {path: sha256(path) for path in paths}
