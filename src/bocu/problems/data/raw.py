"""What is recorded of a raw file beside it: its SHA-256, so that a file that changed is noticed, and its lineage."""

import os
from collections.abc import Sequence

from bocu.core.io.files import atomic_path
from bocu.core.io.hashes import record_digest, recorded, refuse_edited
from bocu.core.io.lineage import lineage_file, lineage_of


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
