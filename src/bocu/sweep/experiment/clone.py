"""Where the clone lies that the workflow is part of."""

from pathlib import Path

from bocu.core.errors import BocuError

SCRIPTS = "workflow/scripts"
_CLONE = Path(__file__).parents[4]  # where the package is installed from a clone


def scripts_beside(sources_file: str | Path | None) -> Path:
    """Return the folder of scripts that goes with a catalogue, or else with this clone."""
    beside = None if sources_file is None else Path(sources_file).parent.parent / SCRIPTS
    return beside if beside is not None and beside.is_dir() else in_clone(SCRIPTS)


def in_clone(path: str | Path) -> Path:
    """Return a file or folder of the clone: as it lies in the working folder, else in the clone of the installation.

    Raises:
        BocuError: the working folder is no clone, and the package was not installed from one.
    """
    for found in (Path(path), _CLONE / path):
        if found.exists():
            return found
    raise BocuError(f"{path}: not in {Path.cwd()}; start bocu in its clone: the folder that holds Snakefile and data/")


def of_clone(path: str | Path) -> list[Path]:
    """Return where a file or folder of the clone may lie, links followed: here, and where it was installed."""
    return [Path(path).resolve(), (_CLONE / path).resolve()]
