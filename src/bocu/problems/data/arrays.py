"""Reading arrays from files of others: nothing is unpickled, and every fault is one line."""

import os
import zipfile
import zlib
from collections.abc import Mapping

import numpy as np

from bocu.core.errors import BocuError

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
