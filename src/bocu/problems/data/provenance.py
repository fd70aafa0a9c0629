"""What every prepared file says of its origin: source, label, citation, hashes of the raw files, what was dropped."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from bocu.core.io.files import canonical_json
from bocu.core.io.hashes import sha256
from bocu.core.io.provenance import SIMULATED_LABEL

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
