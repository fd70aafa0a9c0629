"""Writing npz files with a label, the same bytes for the same arrays."""

import os
from typing import Any

import numpy as np

from bocu.core.io.files import atomic_path
from bocu.core.io.provenance import SIMULATED_LABEL


def write_npz(path: str | os.PathLike[str], **arrays: np.ndarray | float) -> None:
    """Write arrays and, as one more, the text that says they are simulated."""
    contents: dict[str, Any] = {name: np.asarray(array) for name, array in arrays.items()}
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        np.savez_compressed(stream, data_label=np.asarray(SIMULATED_LABEL), **contents)
