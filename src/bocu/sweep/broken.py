"""What a job says of a broken file, which it leaves under another name, so that the next call makes it anew."""

import os
from pathlib import Path

from bocu.core.errors import BocuError, BrokenFileError
from bocu.core.io.files import set_aside
from bocu.problems.data.catalogue import SOURCES


def fault_told(error: BocuError) -> str:
    """Return the line for a fault that ended a job; a broken file that the pipeline can make again is set aside."""
    if not isinstance(error, BrokenFileError) or not _is_made_by_the_pipeline(error.path):
        return str(error)
    return f"{error.path}: {error.fault}; renamed to {set_aside(error.path).name}, the next call makes it again"


def _is_made_by_the_pipeline(path: Path) -> bool:
    """Whether a path is one of results/... or data/<source>/...: what lies elsewhere is the user's own."""
    parts = Path(os.path.relpath(path)).parts
    return parts[0] == "results" or (parts[0] == "data" and len(parts) > 2 and parts[1] in SOURCES)
