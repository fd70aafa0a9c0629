"""The seal of a NetCDF file: a SHA-256 over its variables and attributes, kept as an attribute of its own.

HDF5 keeps checksums of its chunks and headers, which find what a disk or a wire did; the seal finds what a hand did as
well. It is taken over contents, not bytes, so that it stands inside the file and outlives a copy by another program.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core.io.lineage import is_lineage

if TYPE_CHECKING:
    import xarray as xr

SEAL = "contents_sha256"


def seal(data: "xr.Dataset") -> str:
    """Return the SHA-256 of a data set: names, dimensions, types, values and attributes but seal and lineage.

    What a NetCDF file does not tell apart has the same: kinds of text, lists of one and single values. Times count as
    the numbers that the file holds.
    """
    digest = hashlib.sha256()

    def add(part: bytes) -> None:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)

    for name in sorted(data.variables, key=str):
        variable = data.variables[name]
        kind, values = _plain_values(variable.values)
        head = [str(name), [str(dim) for dim in variable.dims], list(variable.shape), kind]
        add(json.dumps([*head, _plain_attributes(variable.attrs)]).encode())
        add(values)
    add(json.dumps(_plain_attributes(data.attrs)).encode())
    return digest.hexdigest()


def _plain_values(values: np.ndarray) -> tuple[str, bytes]:
    if values.dtype.kind in "UO":
        return "text", json.dumps([str(value) for value in values.ravel()]).encode()
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    return little.dtype.str, np.ascontiguousarray(little).tobytes()


def _plain_attributes(attributes: Mapping[Any, Any]) -> dict[str, list[Any]]:
    return {str(key): np.ravel(attributes[key]).tolist() for key in sorted(attributes, key=str) if not _aside(key)}


def _aside(attribute: object) -> bool:
    return attribute == SEAL or is_lineage(attribute)
