"""From raw files to a data set: the way that all records have in common, and what files say of their origin.

Of a raw file its SHA-256 is recorded beside it, so that a file that changed is noticed, and its lineage. Every prepared
file says its source, label, citation, the hashes of its raw files and what was dropped.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bocu.core.io.files import atomic_path, canonical_json
from bocu.core.io.hashes import record_digest, recorded, refuse_edited, sha256
from bocu.core.io.lineage import lineage_file, lineage_of
from bocu.core.io.provenance import SIMULATED_LABEL
from bocu.core.loading import load


def record_raw(path: str | os.PathLike[str], digest: str | None = None) -> None:
    """Record the SHA-256 of a raw file, and its lineage."""
    record_digest(path, digest=digest)
    lineage = lineage_of(path)
    if lineage is not None:
        with atomic_path(lineage_file(path), recorded=True) as temporary:
            temporary.write_text(f"{lineage.text}\n", encoding="utf-8")


def check(paths: Sequence[str | os.PathLike[str]]) -> None:
    """Compare raw files with their records; a file without one gets it now.

    Raises:
        BrokenFileError: a file changed since it was recorded.
    """
    for path in paths:
        if recorded(path) is None:
            record_raw(path)
        refuse_edited(path)


def prepare(
    function: str,
    raw: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    origin: Mapping[str, str],
    minutes: int | None = None,
) -> None:
    """Prepare a record from raw files that are still what they were when they came.

    Args:
        function: "module:function" that the catalogue names for the record.
        raw: its raw files.
        output: the NetCDF file to be written.
        origin: what the file says of where it comes from.
        minutes: interval to which a record with a choice is resampled.

    Raises:
        BocuError: a raw file changed since it came, or holds what the function refuses.
    """
    check(raw)
    interval = {} if minutes is None else {"minutes": minutes}
    load(function)(raw, output, origin, **interval)


def variable(dims: object, values: object, long_name: str, units: str = "1") -> tuple[Any, Any, dict[str, str]]:
    """Return a variable of a data set as xarray takes it, with its name for people and its units."""
    return dims, values, {"long_name": long_name, "units": units}


PREPARED_SCHEMA = "1"  # of the prepared NetCDF files; a reader refuses none yet


def data_label(source: str) -> str:
    """The words that a figure or a page must carry for data of this source; empty for real data."""
    return SIMULATED_LABEL if source == "simulate" else ""


def attributes(
    origin: Mapping[str, str],
    raw: Sequence[str | os.PathLike[str]],
    dropped: Mapping[str, int],
    notes: Sequence[str] = (),
    raw_label: str = "",
) -> dict[str, str]:
    """Global attributes of a prepared file.

    Args:
        origin: from `Catalogue.origin`; source `simulate` always labels the file as simulated.
        raw: the raw files it was made of.
        dropped: reason -> how many rows, readings or values it took out or changed; zero counts stay, as a statement.
        notes: sentences for a reader.
        raw_label: what the raw files say of themselves: a stand-in that was put into a mirror stays labelled.
    """
    label = data_label(origin["source"]) or raw_label
    return {
        **origin,
        "simulated": "yes" if label else "no",
        "data_label": label,
        "schema_version": PREPARED_SCHEMA,
        "raw_sha256": canonical_json({Path(path).name: sha256(path) for path in raw}),
        "dropped": canonical_json(dict(dropped)),
        "notes": " ".join(notes),
    }
