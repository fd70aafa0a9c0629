"""Opening cubes of results for analyses of one's own."""

from pathlib import Path
from typing import TYPE_CHECKING

from bocu.core.errors import BocuError
from bocu.core.io.files import reading, regular_file
from bocu.core.io.provenance import refuse_other_schema
from bocu.core.loading import naming_extras
from bocu.sweep.evaluation.cubes import swept_coordinates

if TYPE_CHECKING:
    import xarray as xr

CUBE_DIMENSIONS = ("objective", "algorithm", "metric", "seed")


def open_cube(path: str | Path, problem: str | None = None) -> "xr.Dataset":
    """Open a cube of results; values are read when they are used.

    Args:
        path: the cube of a problem (`results/NAME/cubes/PROBLEM.nc`) or of all (`summary.nc`), or the folder of an
            experiment, `results/NAME`.
        problem: label of the problem, where `path` is such a folder; the summary if left out.

    Returns:
        Regret and value of dimensions (objective, algorithm, metric, seed, iteration), with labels as coordinates; of
        a summary cumulative regret of dimensions (problem, objective, algorithm, metric, seed, checkpoint). Values of a
        sweep are coordinates: `swept_noise_of_problem`. Where `status` is not 1, there is no number. Close it, or use
        it in a `with` block.

    Raises:
        BocuError: there is no such file, or it is no cube.
    """
    with naming_extras():
        import xarray as xr

    file = Path(path)
    if file.is_dir():
        file = file / "cubes" / f"{problem or 'summary'}.nc"
        if not file.is_file():
            there = ", ".join(sorted(cube.stem for cube in file.parent.glob("*.nc"))) or "none"
            raise BocuError(f"{file}: no such file; cubes that are there: {there}")
    elif problem is not None:
        raise BocuError(f"{file}: found a file; 'problem' goes with the folder of an experiment")
    regular_file(file)
    with reading(file):
        cube = xr.open_dataset(file, engine="netcdf4", cache=False)
    missing = [dim for dim in CUBE_DIMENSIONS if dim not in cube.dims]
    try:
        if missing:
            raise BocuError(f"{file}: no cube: it has no dimension {' and no '.join(missing)}")
        if "iteration" in cube.dims:  # a summary is gathered from cubes that were looked at
            refuse_other_schema(file, cube.attrs)
    except BocuError:
        cube.close()
        raise
    return cube if "problem" in cube.dims else cube.assign_coords(swept_coordinates(cube.attrs, cube))
