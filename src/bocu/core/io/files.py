"""Reading and writing files so that nothing is ever half-written and a broken file is named in one line.

Every write goes to a temporary file in the same folder, whose name carries host and process, and is then renamed.
"""

import contextlib
import json
import math
import os
import re
import shutil
import socket
import stat
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bocu.core.errors import BocuError, BrokenFileError, faults_at
from bocu.core.io.hashes import digest_file, forget_digest, record_digest, refuse_edited, sha256
from bocu.core.io.lineage import SEAL, is_lineage, is_product, lineage_attributes, maker, seal

if TYPE_CHECKING:
    import xarray as xr

_TEMPORARY = re.compile(r"\.(?P<name>.+)\.(?P<host>[^.]+)\.(?P<process>\d+)\.tmp$")
BROKEN = ".broken"  # suffix of files that were set aside
STRING_ATTRIBUTE_LIMIT = 64_000  # bytes; HDF5 keeps longer attributes in a way that not every reader follows


def canonical_json(data: object) -> str:
    """Serialise plain data so that equal data give equal text: sorted keys, no spaces, no NaN."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=True)


def _host() -> str:
    return socket.gethostname().split(".")[0] or "host"


def regular_file(path: str | os.PathLike[str]) -> os.stat_result:
    """Look at a file that is to be read.

    Raises:
        BocuError: there is none, or it is a folder, a pipe, a device or a link in a circle.
    """
    try:
        found = Path(path).stat()
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
        raise BocuError(f"{os.fspath(path)}: {reason}") from None
    if not stat.S_ISREG(found.st_mode):
        raise BocuError(f"{os.fspath(path)}: found {_kind(found.st_mode)}; a file is wanted")
    return found


def _kind(mode: int) -> str:
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")


def refuse_to_replace(path: str | os.PathLike[str]) -> None:
    """Refuse a target that is there and is no regular file: a rename would replace a device.

    Raises:
        BocuError: it is a folder, a pipe, a device or a link in a circle.
    """
    try:
        mode = Path(path).stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise BocuError(f"{os.fspath(path)}: could not be written: {error.strerror}") from None
    if not stat.S_ISREG(mode):
        raise BocuError(f"{os.fspath(path)}: found {_kind(mode)}; only a regular file is replaced")


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str], recorded: bool = False) -> Iterator[Path]:
    """Return a temporary path beside `path`; rename it there when the block ends well, remove it when it does not.

    The temporary name keeps the suffix of `path` last but for `.tmp`, so writers that look at suffixes need the format
    told. Stale temporary files of `path` that dead processes of this host left are swept first.

    Args:
        path: the file.
        recorded: record its SHA-256 beside it (`io.hashes`), as is done unasked of the products of a job and of
            what has a record.

    Raises:
        BocuError: it cannot be written, or something stands there that is no regular file.
    """
    target = Path(path)
    refuse_to_replace(target)
    temporary = target.parent / f".{target.name}.{_host()}.{os.getpid()}.tmp"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        sweep_stale(target)
        yield temporary
        if recorded or is_product(target) or digest_file(target).exists():
            digest = sha256(temporary)
            forget_digest(target)
            temporary.replace(target)
            record_digest(target, maker(), digest)
        else:
            temporary.replace(target)
    except OSError as error:
        raise BocuError(f"{target}: could not be written: {error.strerror or error}") from error
    except RuntimeError as error:
        if not str(error).startswith("NetCDF:"):
            raise
        # The NetCDF library keeps the reason to itself; mostly the disk is full.
        free = shutil.disk_usage(target.parent).free / 1e6
        raise BocuError(f"{target}: could not be written: {error}; {free:.0f} MB are free there") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def sweep_stale(path: str | os.PathLike[str]) -> None:
    """Remove the temporary files of `path` whose process, on this host, no longer runs."""
    target = Path(path)
    for candidate in target.parent.glob(f".{target.name}.*.tmp"):
        if is_stale(candidate.name):
            candidate.unlink(missing_ok=True)


def is_stale(name: str) -> bool:
    """Whether a file name is a temporary one of a process of this host that no longer runs."""
    match = _TEMPORARY.match(name)
    return match is not None and match["host"] == _host() and not process_runs(int(match["process"]))


def process_runs(process: int) -> bool:
    """Whether a process of this machine, by its number, runs: one that has ended and waits for its parent does not."""
    import psutil

    try:
        return psutil.Process(process).status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True


def set_aside(path: str | os.PathLike[str]) -> Path:
    """Rename a file to `<name>.broken`, in the place of an earlier one, and return that path."""
    target = Path(f"{os.fspath(path)}{BROKEN}")
    with contextlib.suppress(FileNotFoundError):  # another job that met it was quicker
        Path(path).rename(target)
    return target


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write text in UTF-8, atomically."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: str | os.PathLike[str], data: object, recorded: bool = False) -> None:
    """Write plain data as JSON for people to read, keys sorted, atomically; `recorded` is that of `atomic_path`."""
    with atomic_path(path, recorded) as temporary:
        temporary.write_text(json.dumps(data, indent=2, sort_keys=True, allow_nan=False) + "\n", encoding="utf-8")


def read_text(path: str | os.PathLike[str]) -> str:
    """Read text in UTF-8.

    Raises:
        BrokenFileError: it is not as it was written, where that is recorded.
    """
    refuse_edited(path)
    return Path(path).read_text(encoding="utf-8")


def write_netcdf(dataset: "xr.Dataset", path: str | os.PathLike[str], read_by: Collection[str] = ()) -> None:
    """Write a data set as compressed NetCDF-4, atomically.

    Args:
        dataset: the data set.
        path: the file.
        read_by: dimensions along which single places are read: of each, a stored chunk holds one.

    Raises:
        BocuError: a variable lacks `long_name` or `units`, or an attribute is too long for NetCDF readers.
    """
    with faults_at(f"{path}: "):
        for name, variable in dataset.variables.items():
            check_metadata(str(name), variable.attrs)
        _check_lengths(dataset.attrs)
    sealed = dataset.assign_attrs({SEAL: seal(dataset), **lineage_attributes(path)})
    encoding = {
        str(name): _encoding(variable) | _chunks(variable, read_by)
        for name, variable in dataset.variables.items()
        if variable.ndim
    }
    with atomic_path(path) as temporary:
        sealed.to_netcdf(temporary, format="NETCDF4", engine="netcdf4", encoding=encoding)


def _encoding(variable: "xr.Variable") -> dict[str, Any]:
    """Return how a variable is stored: compressed, and with checksums, which text has only as characters."""
    text = {"dtype": "S1"} if variable.dtype.kind in "UO" else {}
    return {"zlib": True, "complevel": 2, "shuffle": True, "fletcher32": True, **text}


def _chunks(variable: "xr.Variable", read_by: Collection[str]) -> dict[str, Any]:
    # Text has a further dimension in the file, and is little.
    if set(read_by).isdisjoint(variable.dims) or variable.ndim == 1 or variable.dtype.kind in "UO" or not variable.size:
        return {}
    return {"chunksizes": [1 if dim in read_by else size for dim, size in variable.sizes.items()]}


def check_metadata(name: str, attributes: Mapping[str, object]) -> dict[str, Any]:
    """Return the attributes of a variable, all there.

    Raises:
        BocuError: it lacks `long_name` or `units`.
    """
    missing = [key for key in ("long_name", "units") if key not in attributes]
    if missing:
        raise BocuError(f"variable '{name}' has no attribute {' and no '.join(missing)}")
    return dict(attributes)


def _check_lengths(attributes: Mapping[str, object]) -> None:
    for key, value in attributes.items():
        if isinstance(value, str) and len(value.encode()) > STRING_ATTRIBUTE_LIMIT:
            found = len(value.encode())
            raise BocuError(f"attribute '{key}' has {found} bytes; allowed: {STRING_ATTRIBUTE_LIMIT}")


def read_netcdf(path: str | os.PathLike[str], sealed: bool = False, largest: float = math.inf) -> "xr.Dataset":
    """Read a whole NetCDF file into memory, but for its lineage, compare it with its seal, and close it.

    Args:
        path: the file.
        sealed: refuse a file without a seal; aggregates, which are written in parts, have none.
        largest: bytes that it may have in memory, where a stranger sends it.

    Raises:
        BrokenFileError: it cannot be read, or is not what was written.
        BocuError: the file is missing, or the system does not let us read it.
    """
    import xarray as xr

    with open_netcdf(path, decode_times=False) as data, reading(path):
        if data.nbytes > largest:
            raise BrokenFileError(path, f"{data.nbytes:,} bytes in memory; allowed: {largest:,}")
        data.load()
        data.attrs = {key: value for key, value in data.attrs.items() if not is_lineage(key)}
        written = data.attrs.pop(SEAL, None)
        found = written if written is None else seal(data)
        decoded = xr.decode_cf(data, concat_characters=False, mask_and_scale=False, decode_coords=False).load()
    if found != written:
        raise BrokenFileError(path, f"its contents were changed (SHA-256 {found}; written with {written})")
    if sealed and written is None:
        raise BrokenFileError(path, f"no attribute '{SEAL}': made by an earlier version, or not by this project")
    return decoded


@contextlib.contextmanager
def open_netcdf(path: str | os.PathLike[str], decode_times: bool = True) -> Iterator["xr.Dataset"]:
    """Open a NetCDF file, as it was written, to read parts of it, each within `reading`; a seal is not looked at.

    Args:
        path: the file.
        decode_times: turn numbers such as hours since a date into times.

    Raises:
        BrokenFileError: it is no NetCDF file, or not what is recorded of it.
        BocuError: the file is missing, or the system does not let us read it.
    """
    import xarray as xr

    if not Path(path).is_file():
        raise BocuError(f"{path}: no such file")
    with reading(path):
        refuse_edited(path)
        data = xr.open_dataset(path, engine="netcdf4", cache=False, decode_times=decode_times)
    with data:
        yield data


@contextlib.contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn whatever the libraries raise over a broken file, within a block that reads, into one line."""
    try:
        yield
    except (BocuError, MemoryError):
        raise
    except Exception as error:  # over flipped bits libraries stumble in any way: KeyError, AttributeError, ...
        if isinstance(error, OSError) and (error.errno or 0) > 0:  # those of the NetCDF library are negative
            raise BocuError(f"{path}: could not be read: {error.strerror or error}") from error
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise BrokenFileError(path, f"not a readable NetCDF file ({reason})") from error
