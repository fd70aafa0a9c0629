"""Where the workflow lies: in the folder at hand, or as it came with the package."""

from pathlib import Path

SCRIPTS = "workflow/scripts"
LAID_OUT = Path(__file__).parents[1] / "laid_out"  # links to a clone, or what a wheel holds


def scripts_beside(sources_file: str | Path | None) -> Path:
    """Return the folder of scripts that goes with a catalogue, or else the one at hand."""
    beside = None if sources_file is None else Path(sources_file).parent.parent / SCRIPTS
    return beside if beside is not None and beside.is_dir() else in_clone(SCRIPTS)


def in_clone(path: str | Path) -> Path:
    """Return a file or folder of the workflow: as it lies in the working folder, else as it came with the package."""
    return Path(path) if Path(path).exists() else (LAID_OUT / path).resolve()


def of_clone(path: str | Path) -> list[Path]:
    """Return where a file or folder of the workflow may lie, links followed: here, and where it was installed."""
    return [Path(path).resolve(), (LAID_OUT / path).resolve()]
