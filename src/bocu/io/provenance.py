"""Who made a file, with what: recorded in every run file and cube, compared by none of the numbers."""

import functools
import importlib.metadata
import json
import os
import platform
from collections.abc import Mapping
from pathlib import Path

from bocu.io.lineage import file_sha256
from bocu.io.seals import SEAL

PACKAGES = ("numpy", "scipy", "xarray", "netCDF4", "torch", "gpytorch", "botorch", "numba", "snakemake")
SIMULATED_LABEL = "SIMULATED stand-in, not measured data"
SCHEMA_VERSION = 2  # of run files: 1 had no seal, and stream states without checksums
COLLECTED = ("package_versions", "cpu", "code_version")
"""Attributes that may differ between the runs of a cube: aggregates list every value."""

SHARED = (
    "title",
    "protocol",
    "payoff_units",
    "data_label",
    "data_provenance",
    "best_prior",
    "schema_version",
    "numeric_threads",
)
"""Attributes that all runs of a problem have in common."""


def machine() -> dict[str, str]:
    """Return code version, package versions and CPU, as attributes of a file."""
    return {
        "code_version": importlib.metadata.version("bocu"),
        "package_versions": json.dumps(package_versions()),
        "cpu": cpu(),
    }


@functools.cache
def package_versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


@functools.cache
def cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def hash_files(inputs: Mapping[str, str | list[str]]) -> dict[str, str]:
    """Return the SHA-256 of what every file holds, by path."""
    paths = [path for value in inputs.values() for path in ([value] if isinstance(value, str) else value)]
    return {path: contents_sha256(path) for path in paths}


def contents_sha256(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of what a file holds: of a sealed NetCDF file its seal, which leaves the lineage out.

    A data set that other code prepared from the same files to the same numbers is the same to all that use it. Whoever
    reads the file whole compares it with the seal.
    """
    return _seal_of(path) or file_sha256(path)


def _seal_of(path: str | os.PathLike[str]) -> str | None:
    if Path(path).suffix != ".nc":
        return None
    import netCDF4

    try:
        with netCDF4.Dataset(path) as data:
            return str(data.getncattr(SEAL))
    except (OSError, AttributeError, RuntimeError):  # whoever reads it says what is wrong with it
        return None
