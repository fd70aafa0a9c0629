"""The lineage of a product: what the job that made it was given, kept in the product itself.

`bocu why` and `bocu status` compare it with what the job would be given now, so that they need no records of
Snakemake's. Whatever writes a product within `making` writes its lineage too: a NetCDF file has it among its
attributes, a JSON file under a key, a page in its head. Files of a foreign format have it in a file beside them.

The seal of a NetCDF file, a SHA-256 over its variables and attributes, leaves the lineage out. HDF5 keeps checksums of
its chunks and headers, which find what a disk or a wire did; the seal finds what a hand did as well. It is taken over
contents, not bytes, so that it stands inside the file and outlives a copy by another program.
"""

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bocu.core.io.hashes import checked, record_digest, recorded

if TYPE_CHECKING:
    import xarray as xr


LINEAGE = "lineage"
_PIECE = 60_000  # bytes of an attribute, which HDF5 limits; a longer lineage goes on in the next
_PAGE = re.compile(rf'<meta name="{LINEAGE}" content="([^"]*)">')


@dataclass(frozen=True)
class Lineage:
    """What a job was given."""

    #: its `params`, texts of JSON unfolded; the hash of its code stands under "fingerprint".
    parameters: Mapping[str, Any]
    inputs: Mapping[str, str]  #: SHA-256 of its input files, by path.

    @property
    def text(self) -> str:
        """It as canonical text, for an attribute."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True)
class _Job:
    outputs: frozenset[Path]
    maker: str
    lineage: Lineage | None


_current: ContextVar[_Job | None] = ContextVar("job", default=None)


@contextmanager
def making(
    outputs: Iterable[str], parameters: Mapping[str, object], inputs: Iterable[str], maker: str = ""
) -> Iterator[None]:
    """Let the files named `outputs` be written with their lineage, as long as the block lasts.

    Raises:
        BrokenFileError: an input is not as it was written.
    """
    with writing(outputs, maker, Lineage(unfold(parameters), {path: checked(path) for path in inputs})):
        yield


@contextmanager
def writing(outputs: Iterable[str], maker: str, lineage: Lineage | None = None) -> Iterator[None]:
    """Let the files named `outputs`, and those within such folders, be recorded as written by `maker`.

    What the block leaves as it stood, such as a run file whose job was killed after writing it, is recorded at its end.
    """
    files = frozenset(Path(output).absolute() for output in outputs)
    token = _current.set(_Job(files, maker, lineage))
    try:
        yield
    finally:
        _current.reset(token)
    for file in files:
        if file.is_file() and recorded(file) is None:
            record_digest(file, maker)


def is_product(path: str | os.PathLike[str]) -> bool:
    """Whether the job that runs makes a file, or the folder that it lies in."""
    job, file = _current.get(), Path(path).absolute()
    return job is not None and not job.outputs.isdisjoint((file, *file.parents))


def maker() -> str:
    """Return what writes now: the rule of the job, or the program."""
    job, program = _current.get(), Path(sys.argv[0])
    if job is not None:
        return job.maker
    name = program.parent.name if program.stem == "__main__" else program.stem
    return " ".join([name, *sys.argv[1:2]]) if name == "bocu" else name


def lineage_of(output: str | os.PathLike[str]) -> Lineage | None:
    """Return the lineage that a file is to be written with; None outside of jobs, and for what is no product."""
    job = _current.get()
    return job.lineage if job is not None and Path(output).absolute() in job.outputs else None


def unfold(parameters: Mapping[str, object]) -> dict[str, Any]:
    """Unfold the parameters of a job: groups of them, and texts of JSON."""
    found: dict[str, Any] = {}
    for key, value in parameters.items():
        if isinstance(value, Mapping) and "fingerprint" in value:
            found.update(unfold(value))
        else:
            found[key] = _unfolded(value)
    return found


def _unfolded(value: object) -> Any:
    if isinstance(value, str) and value[:1] in ("[", "{"):
        with suppress(ValueError):  # any other text, such as a path
            return json.loads(value)
    return value


def lineage_attributes(output: str | os.PathLike[str]) -> dict[str, str]:
    """Return the attributes that carry the lineage of a NetCDF file that is being written."""
    lineage = lineage_of(output)
    text = "" if lineage is None else lineage.text
    pieces = [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
    return {_name(position): piece for position, piece in enumerate(pieces)}


def is_lineage(attribute: object) -> bool:
    """Whether an attribute carries lineage, or a piece of it."""
    name, _, number = str(attribute).partition("-")
    return name == LINEAGE and (not number or number.isdigit())


def _name(position: int) -> str:
    return f"{LINEAGE}-{position}" if position else LINEAGE


def lineage_file(path: str | os.PathLike[str]) -> Path:
    """Return where the lineage of a file stands that cannot carry it itself."""
    return Path(f"{os.fspath(path)}.{LINEAGE}.json")


def read_lineage(path: str | os.PathLike[str]) -> Lineage | None:
    """Return the lineage that a file carries, or that stands beside it; None where there is none to be read."""
    reader = _READERS.get(Path(path).suffix)
    if reader is None or lineage_file(path).is_file():
        path, reader = lineage_file(path), _in_json_alone
    try:
        text = reader(Path(path))
        return Lineage(**json.loads(text)) if text else None
    except (OSError, ValueError, TypeError, RuntimeError):
        return None


def _in_netcdf(path: Path) -> str:
    import netCDF4

    with netCDF4.Dataset(path) as data:
        found = set(data.ncattrs())
        pieces: list[str] = []
        while _name(len(pieces)) in found:
            pieces.append(str(data.getncattr(_name(len(pieces)))))
    return "".join(pieces)


def _in_json(path: Path) -> str:
    return json.dumps(json.loads(path.read_text(encoding="utf-8")).get(LINEAGE, {}))


def _in_json_alone(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _in_page(path: Path) -> str:
    found = _PAGE.search(path.read_text(encoding="utf-8"))
    return unescape(found[1]) if found else ""


_READERS = {".nc": _in_netcdf, ".json": _in_json, ".html": _in_page}


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
