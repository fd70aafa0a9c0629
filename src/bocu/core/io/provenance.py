"""Who made a file, with what: recorded in every run file and cube, compared by none of the numbers."""

import functools
import importlib.metadata
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bocu.core.errors import BrokenFileError
from bocu.core.numerics import kernel_in_use

PACKAGES = ("numpy", "scipy", "xarray", "netCDF4", "torch", "gpytorch", "botorch", "numba", "snakemake")
UNKNOWN = "unknown"
SIMULATED_LABEL = "SIMULATED stand-in, not measured data"
# Of run files and what is gathered from them: 1 had no seal, 2 recommended under the simulator alone.
SCHEMA_VERSION = 3
COLLECTED = ("package_versions", "cpu", "code_version", "commit", "fingerprint", "kernel")
"""Attributes that may differ between the runs of a cube: aggregates list every value."""

ACCEPTED = "accepted"
"""Attribute of run files, and of what is gathered from them: under which code they were accepted, by which replay."""

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


def refuse_other_schema(path: str | os.PathLike[str], attributes: Mapping[str, object]) -> None:
    """Refuse a run file, score file or cube that another version of this project wrote.

    Raises:
        BrokenFileError: its schema is not that of today; the line says which version wrote it.
    """
    found = attributes.get("schema_version")
    if found == SCHEMA_VERSION:
        return
    later = str(found).isdigit() and int(str(found)) > SCHEMA_VERSION
    writer = f"{'a later' if later else 'an earlier'} version of bocu wrote it"
    if code := attributes.get("code_version"):
        writer += f", {code}"
    raise BrokenFileError(path, f"attribute 'schema_version': found {found}; allowed: {SCHEMA_VERSION} ({writer})")


def machine() -> dict[str, str]:
    """Return code version, commit, kernel, package versions and CPU, as attributes of a file."""
    return {
        "code_version": importlib.metadata.version("bocu"),
        "commit": commit(),
        "kernel": kernel_in_use(),
        "package_versions": json.dumps(package_versions()),
        "cpu": cpu(),
    }


def collected(attributes: Mapping[Any, Any]) -> dict[str, list[str]]:
    """Return the values of `COLLECTED` of a run file or of an aggregate; 'unknown' where none was written."""
    texts = {key: str(attributes.get(key, UNKNOWN)) for key in COLLECTED}
    found = {key: json.loads(text) if text.startswith("[") else [text] for key, text in texts.items()}
    return {**found, **({ACCEPTED: accepted(attributes)} if ACCEPTED in attributes else {})}


def accepted(attributes: Mapping[Any, Any]) -> list[str]:
    """Return what a file says of code that it was accepted under, a text of JSON each."""
    return list(json.loads(attributes.get(ACCEPTED, "[]")))


def united(told: Iterable[Mapping[str, Sequence[str]]]) -> dict[str, str]:
    """Return all values that `collected` tells of files, each once, as attributes of an aggregate of them."""
    values: dict[str, set[str]] = {key: set() for key in COLLECTED}
    for of in told:
        for key, found in of.items():
            values.setdefault(key, set()).update(found)
    return {key: json.dumps(sorted(found)) for key, found in values.items()}


@functools.cache
def commit() -> str:
    """Return the commit of the clone that this package lies in, "-dirty" where tracked files differ from it.

    Docs and tests may differ. Of an installed wheel, even one within another project's clone, it is 'unknown'.
    """
    clone = Path(__file__).parents[4]  # above src/
    if not (clone / ".git").exists():
        return UNKNOWN
    # Nothing that a hook's variables point at, and no lock of the index, which other jobs may want.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["GIT_OPTIONAL_LOCKS"] = "0"

    def git(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(["git", "-C", str(clone), *words], env=environment, capture_output=True, text=True)

    try:
        head = git("rev-parse", "--verify", "HEAD").stdout.strip()
        differs = git("diff", "--quiet", "HEAD", "--", ".", ":!docs", ":!tests", ":!*.md").returncode
    except OSError:  # no git
        return UNKNOWN
    return f"{head}{'-dirty' if differs else ''}" if head else UNKNOWN


@functools.cache
def package_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that numbers may depend on."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


@functools.cache
def cpu() -> str:
    """Return the CPU's name, as the system has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
