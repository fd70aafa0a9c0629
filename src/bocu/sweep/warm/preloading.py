"""What the zygote imports for its children, and whether the files of it are still what was imported."""

import contextlib
import gc
import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from threadpoolctl import ThreadpoolController

from bocu.core.io import provenance
from bocu.sweep.experiment.registry import registered

PACKAGE = __name__.partition(".")[0]

# Nothing that brings torch, which few jobs need; what is not here the jobs import themselves, as ever.
_FIRST = (
    "snakemake.io",  # by the parameters of a job
    "snakemake.iocontainers",  # Snakemake's own first lines of a script
    "snakemake.logging",
    "bocu.sweep.jobs",
    "bocu.sweep.runs.job",
    "bocu.sweep.evaluation.scores",
    "bocu.sweep.evaluation.cubes",
    "bocu.sweep.evaluation.digests",
    "filelock",
    "netCDF4",
    "scipy.linalg",
    "threadpoolctl",
    "xarray",
)
_LATER = (
    "bocu.problems.data.prepare",
    "scipy.optimize",
    "matplotlib.pyplot",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "matplotlib.mathtext",
    "bocu.pages.report.build",
    "jinja2",
    "llvmlite.binding",
    "numba",
    "scipy.stats",
)
_KINDS_FIRST = ("problem", "algorithm", "objective", "set", "law", "metric")
_KINDS_LATER = ("prior", "figure")
_BRIDGES = f"{PACKAGE}.interop."  # to torch, and to solvers


def first() -> Iterator[str]:
    """Return the modules that nearly all jobs import, each where it needs it."""
    yield from _FIRST
    yield from _classes(_KINDS_FIRST)


def later() -> Iterator[str]:
    """Return the modules that some jobs import, or jobs of some experiments: to import here once one of them has.

    Each makes the process larger, and with it every fork dearer: with all of them it is twice as large.
    """
    yield from _LATER
    yield from _classes(_KINDS_LATER)


def _classes(kinds: tuple[str, ...]) -> Iterator[str]:
    modules = {entry.target.partition(":")[0] for kind in kinds for entry in registered(kind)}
    return iter(sorted(module for module in modules if not module.startswith(_BRIDGES)))


def preload() -> None:
    """Import what comes first, and work out what every job would.

    Raises:
        Exception: what an import raised.
        RuntimeError: an import has started threads, which a fork does not copy.
    """
    for module in first():
        importlib.import_module(module)
    provenance.machine()  # keeps what it finds; every file that is written asks for it
    ThreadpoolController()  # keeps where the libraries lie, of which there are hundreds; every run asks for them
    threads = sum(1 for _ in Path("/proc/self/task").iterdir())
    if threads > 1:
        raise RuntimeError(f"an imported module has started threads ({threads} in all)")
    keep()


def import_quietly(module: str) -> None:
    """Import a module; a job that needs one that cannot be imported says so itself."""
    with contextlib.suppress(Exception):
        importlib.import_module(module)
    keep()


def keep() -> None:
    """Let no collection of garbage in a child touch, and so copy, what is there by now."""
    gc.collect()
    gc.freeze()


class Sources:
    """The files of this package, as they were before they were imported."""

    def __init__(self) -> None:
        folder = Path(str(importlib.import_module(PACKAGE).__file__)).parent
        self._all = {str(file): _stamp(str(file)) for file in folder.rglob("*.py")}
        self._imported: dict[str, object] = {}

    def note_imported(self) -> None:
        """Note what is imported by now."""
        files = {getattr(module, "__file__", None) for module in tuple(sys.modules.values())}
        self._imported = {file: stamp for file, stamp in self._all.items() if file in files}

    def edited(self) -> str | None:
        """Return a file that is not what was imported from it; None where there is none."""
        return next((file for file, stamp in self._imported.items() if _stamp(file) != stamp), None)


def _stamp(file: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(file)  # noqa: PTH116 (half the time, for every file and job)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
