"""Whether two results are the same, bit for bit, times and provenance aside."""

import filecmp
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bocu.core.errors import BocuError, shortened
from bocu.core.io.files import open_netcdf, read_netcdf
from bocu.core.io.provenance import ACCEPTED, collected

if TYPE_CHECKING:
    import xarray as xr

# What tells who made a file, when, where and of what: no result.
PROVENANCE = frozenset(
    {
        ACCEPTED,
        "code_version",
        "commit",
        "cpu",
        "data_provenance",
        "definitions",
        "experiment",
        "fingerprint",
        "identity",
        "inputs",
        "kernel",
        "package_versions",
        "specification",
        "surrogate",
        "wall_seconds",
    }
)
TIMES = "seconds"
_LONGEST = 500  # characters of an attribute that are shown
STAGES = ("priors", "runs", "scores", "cubes")


@dataclass(frozen=True)
class FileDifference:
    """One thing in which two files differ."""

    what: str  #: the variable, coordinate or attribute.
    text: str  #: how.
    iteration: int | None = None  #: the round of the first entry that differs; None where there is no round.


def pairs(one: Path, other: Path) -> tuple[list[tuple[Path, Path]], list[Path]]:
    """Match the files of two results, each a file or the results folder of an experiment.

    Returns:
        The pairs to compare, and files that only one of them has.

    Raises:
        BocuError: there is no such file or folder, or nothing to compare.
    """
    for path in (one, other):
        if not path.exists():
            raise BocuError(f"{path}: no such file or folder")
    if one.is_dir() != other.is_dir():
        raise BocuError(f"{one}, {other}: one is a file, the other a folder; two of a kind are compared")
    if one.is_file():
        return [(one, other)], []
    names = [_names(folder) for folder in (one, other)]
    if not names[0] | names[1]:
        raise BocuError(f"{one}: no NetCDF files of {', '.join(STAGES)} in it; a folder such as results/NAME is wanted")
    alone = [
        folder / name for folder, only in ((one, names[0] - names[1]), (other, names[1] - names[0])) for name in only
    ]
    return [(one / name, other / name) for name in sorted(names[0] & names[1])], sorted(alone)


def made_otherwise(one: Path, other: Path) -> str:
    """Say in a line by what other kernels, commits or processors two results were made; empty where by the same.

    Args:
        one: a file; or the results folder of an experiment, of which the cubes tell, else scores, else run files.
        other: likewise.

    Raises:
        BocuError: a file cannot be read.
    """
    a, b = _made_by(one), _made_by(other)
    told = [(key, *(", ".join(sorted(made[key])) for made in (a, b))) for key in ("kernel", "commit", "cpu")]
    return "; ".join(f"{key} {mine} against {theirs}" for key, mine, theirs in told if mine != theirs)


def _made_by(path: Path) -> dict[str, set[str]]:
    stages = (sorted((path / stage).rglob("*.nc")) for stage in reversed(STAGES))
    found: dict[str, set[str]] = defaultdict(set)
    for file in next(filter(None, stages), []) if path.is_dir() else [path]:
        with open_netcdf(file, decode_times=False) as data:
            for key, values in collected(data.attrs).items():
                found[key] |= set(values)
    return found


def file_differences(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> Iterator[FileDifference]:
    """Return what differs between two NetCDF files, provenance and times left out.

    Raises:
        BocuError: a file cannot be read.
    """
    if filecmp.cmp(one, other, shallow=False):
        read_netcdf(one)  # two copies of what is no NetCDF file are not identical results
        return
    yield from dataset_differences(read_netcdf(one), read_netcdf(other), (str(one), str(other)))


def dataset_differences(
    a: "xr.Dataset", b: "xr.Dataset", called: Sequence[str] = ("what was recorded", "what comes out now")
) -> Iterator[FileDifference]:
    """Return what differs between two data sets, as `file_differences` does, which are called so."""
    yield from _attributes(a, b)
    names = [str(name) for name in [*a.coords, *a.data_vars]]
    names += [str(name) for name in [*b.coords, *b.data_vars] if name not in a.variables]
    for name in names:
        if name == TIMES:
            continue
        if name not in a.variables or name not in b.variables:
            yield FileDifference(name, f"only in {called[name not in a.variables]}")
        else:
            yield from _variable(name, a[name], b[name])


def _names(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for stage in STAGES for path in (folder / stage).rglob("*.nc")}


def _attributes(a: "xr.Dataset", b: "xr.Dataset") -> Iterator[FileDifference]:
    for key in sorted({*a.attrs, *b.attrs} - PROVENANCE):
        found = [repr(data.attrs[key]) if key in data.attrs else "(none)" for data in (a, b)]
        if found[0] != found[1]:
            yield FileDifference(f"attribute {key}", " against ".join(shortened(text, _LONGEST) for text in found))


def _variable(name: str, a: "xr.DataArray", b: "xr.DataArray") -> Iterator[FileDifference]:
    for key in ("units", "long_name"):
        if a.attrs.get(key) != b.attrs.get(key):
            yield FileDifference(f"{name}: {key}", f"{a.attrs.get(key)!r} against {b.attrs.get(key)!r}")
    if a.dims != b.dims or a.shape != b.shape:
        yield FileDifference(name, f"sizes {_sizes(a)} against {_sizes(b)}")
        return
    if a.dtype != b.dtype and not {a.dtype.kind, b.dtype.kind} <= {*"UO"}:  # kinds of text
        yield FileDifference(name, f"type {a.dtype} against {b.dtype}")
    differ = _differ(a.values, b.values)
    count = int(differ.sum())
    if count:
        place = tuple(int(index) for index in np.argwhere(differ)[0])
        first = f"{_shown(a.values[place])} against {_shown(b.values[place])}"
        text = f"{count} of {differ.size} entries differ, first at {_labels(a, place)}: {first}"
        iteration = int(a["iteration"].values[place[a.dims.index("iteration")]]) if "iteration" in a.dims else None
        yield FileDifference(name, text + _largest(a.values[differ], b.values[differ]), iteration)


def _differ(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where two arrays differ; numbers are compared bit by bit, but that all NaN are the same."""
    if a.dtype.kind != "f" or a.dtype != b.dtype:
        return np.asarray(a != b)
    bits = f"u{a.dtype.itemsize}"
    different = np.ascontiguousarray(a).view(bits) != np.ascontiguousarray(b).view(bits)
    return np.asarray(different & ~(np.isnan(a) & np.isnan(b)))


def _largest(a: np.ndarray, b: np.ndarray) -> str:
    if a.dtype.kind not in "iufb" or b.dtype.kind not in "iufb":
        return ""
    apart = np.abs(a.astype(float) - b.astype(float))
    text = f", largest difference {np.nanmax(apart):.3g}" if not np.isnan(apart).all() else ""
    holes = int(np.isnan(apart).sum())
    return text + (f", {holes} of them not a number in one file" if holes else "")


def _labels(array: "xr.DataArray", place: tuple[int, ...]) -> str:
    if not place:
        return "its only entry"
    return ", ".join(
        f"{dim}={array[dim].values[index] if dim in array.coords else index}"
        for dim, index in zip(array.dims, place, strict=True)
    )


def _sizes(array: "xr.DataArray") -> str:
    return " x ".join(f"{dim} {size}" for dim, size in array.sizes.items()) or "a single number"


def _shown(value: object) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)
