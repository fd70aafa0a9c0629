"""What jobs of the workflow import, imported: `warm-preload` in the profiles has the warm executor do it once for all.

Left out is what brings torch, which few jobs need: those import it themselves, as do jobs of own classes.
"""

import importlib
from contextlib import suppress

from threadpoolctl import ThreadpoolController

from bocu.core.io import provenance
from bocu.sweep.experiment.registry import registered

_MODULES = (
    "snakemake.io",  # by the parameters of a job
    "snakemake.iocontainers",  # Snakemake's own first lines of a script
    "snakemake.logging",
    "bocu.sweep.jobs",
    "bocu.sweep.runs.job",
    "bocu.sweep.evaluation.scores",
    "bocu.sweep.evaluation.cubes",
    "bocu.sweep.evaluation.digests",
    "bocu.pages.report.build",
    "bocu.problems.data.prepare",
    "filelock",
    "jinja2",
    "llvmlite.binding",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "matplotlib.mathtext",
    "matplotlib.pyplot",
    "netCDF4",
    "numba",
    "scipy.linalg",
    "scipy.optimize",
    "scipy.stats",
    "xarray",
)
_KINDS = ("problem", "algorithm", "objective", "set", "law", "metric", "prior", "figure")
_BRIDGES = "bocu.interop."  # to torch, and to solvers
_CLASSES = sorted({entry.target.partition(":")[0] for kind in _KINDS for entry in registered(kind)})

for module in (*_MODULES, *(name for name in _CLASSES if not name.startswith(_BRIDGES))):
    importlib.import_module(module)
with suppress(ImportError):  # xarray imports these when it writes, where they are installed: most of a second a job
    importlib.import_module("dask.array")
    importlib.import_module("dask.distributed")
provenance.machine()  # keeps what it finds; every file that is written asks for it
ThreadpoolController()  # keeps where the libraries lie, of which there are hundreds; every run asks for them
