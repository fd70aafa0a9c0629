"""Files of others, and stand-ins for them: arrays (npz), tables (CSV) and gzip files, each with a label of its own.

Nothing is unpickled, every fault is one line, and a wrong cell is told by line and column. A gzip file carries its
label in the comment of its header, the one place where a table without a header can. The same content gives the same
bytes.
"""

import os
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bocu.core.errors import BocuError
from bocu.core.io.files import atomic_path
from bocu.core.io.provenance import SIMULATED_LABEL

LABEL = "data_label"


def read_label(path: str | os.PathLike[str]) -> str:
    """What a readable npz file says of itself in the text `data_label`, or nothing."""
    with np.load(path, allow_pickle=False) as archive:
        return str(archive[LABEL]) if LABEL in archive else ""


def read_npz(path: str | os.PathLike[str], shapes: Mapping[str, tuple[int | None, ...]]) -> dict[str, np.ndarray]:
    """Read the named arrays of numbers; None in a shape stands for any length.

    Raises:
        BocuError: not an npz file, an array is missing, would need unpickling, is no array of finite numbers or has
            another shape.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            missing = [name for name in shapes if name not in archive]
            if missing:
                found = ", ".join(archive.files)
                raise BocuError(f"{path}: no array '{missing[0]}'; found {found}; allowed: {', '.join(shapes)}")
            arrays = {name: archive[name] for name in shapes}
    except (OSError, ValueError, zipfile.BadZipFile, zlib.error, EOFError, AttributeError, TypeError) as error:
        raise BocuError(f"{path}: not a readable npz file of plain arrays ({' '.join(str(error).split())})") from error
    for name, array in arrays.items():
        shape = shapes[name]
        if len(array.shape) != len(shape) or any(n not in (m, None) for m, n in zip(array.shape, shape, strict=True)):
            wanted = tuple("any" if length is None else length for length in shape)
            raise BocuError(f"{path}: array '{name}' has shape {array.shape}; allowed: {wanted}")
        if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
            raise BocuError(
                f"{path}: array '{name}' ({array.dtype}) is not all finite numbers; allowed: finite numbers"
            )
    return arrays


_MAGIC = b"\x1f\x8b\x08"
_HAS_COMMENT = 0x10
_HEADER_SIZE = 10  # RFC 1952: magic, method, flags, time, extra flags, operating system


def write_gzip(content: bytes, comment: str, path: str | os.PathLike[str]) -> None:
    """Write a gzip file whose header says `comment`; the same content gives the same bytes (no time, no host)."""
    packer = zlib.compressobj(level=3, wbits=-zlib.MAX_WBITS)
    body = packer.compress(content) + packer.flush()
    header = _MAGIC + bytes([_HAS_COMMENT]) + struct.pack("<LBB", 0, 0, 255) + comment.encode("latin-1") + b"\0"
    with atomic_path(path) as temporary:
        temporary.write_bytes(header + body + struct.pack("<LL", zlib.crc32(content), len(content) & 0xFFFFFFFF))


def read_comment(path: str | os.PathLike[str]) -> str:
    """The comment in a gzip header, or nothing.

    Raises:
        BocuError: not a gzip file.
    """
    with Path(path).open("rb") as stream:
        start = stream.read(4096)
    if not start.startswith(_MAGIC):
        raise BocuError(f"{path}: not a gzip file")
    if start[3] != _HAS_COMMENT:
        return ""
    return start[_HEADER_SIZE:].split(b"\0", 1)[0].decode("latin-1")


def has_column(path: str | os.PathLike[str], column: str) -> bool:
    """Whether the header of a CSV file has a column of this name."""
    return column in pd.read_csv(path, nrows=0).columns


def read_columns(path: str | os.PathLike[str], texts: Sequence[str], numbers: Sequence[str]) -> pd.DataFrame:
    """Read columns of a CSV file by name; empty cells are NaN.

    Raises:
        BocuError: not a CSV file, a column is missing, or a cell is not a number; names file, line and column.
    """
    wanted = [*texts, *numbers]
    types: Any = dict.fromkeys(wanted, str)
    try:
        header = pd.read_csv(path, nrows=0).columns
        missing = [column for column in wanted if column not in header]
        if missing:
            shown = ", ".join(header[:8]) + (", ..." if len(header) > 8 else "")
            raise BocuError(f"{path}: no column '{missing[0]}'; found {shown}")
        table = pd.read_csv(path, usecols=wanted, dtype=types, keep_default_na=False)
    except (ValueError, OSError) as error:
        raise BocuError(f"{path}: not a readable CSV file ({' '.join(str(error).split())})") from error
    for column in numbers:
        text = table[column].str.strip()
        value = pd.to_numeric(text, errors="coerce")
        bad = (~np.isfinite(value)) & (text != "")
        if bad.any():
            row = int(bad.argmax())
            raise BocuError(f"{path}, line {row + 2}, column '{column}': found '{text[row]}'; allowed: a number")
        table[column] = value
    return table


def write_npz(path: str | os.PathLike[str], **arrays: np.ndarray | float) -> None:
    """Write arrays and, as one more, the text that says they are simulated."""
    contents: dict[str, Any] = {name: np.asarray(array) for name, array in arrays.items()}
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        np.savez_compressed(stream, data_label=np.asarray(SIMULATED_LABEL), **contents)
