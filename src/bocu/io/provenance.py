"""Who made a file, with what: recorded in every run file and cube, compared by none of the numbers."""

import functools
import importlib.metadata
import json
import platform
from pathlib import Path

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
