"""`bocu design`: the initial design of run files, as a file that other runs can be given."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bocu.commands.options import writable

if TYPE_CHECKING:
    import numpy as np


def design_command(
    run_files: Annotated[list[Path], typer.Argument(help="Run files of one problem, such as all blocks of a branch.")],
    output: Annotated[Path, typer.Option(help="CSV file to write.", callback=writable)],
) -> None:
    """Write the initial designs of runs, by seed, for the key `initial: {file: ...}` of a problem."""
    from bocu.core.errors import BocuError
    from bocu.core.io.files import read_netcdf
    from bocu.problems.given_design import write_design

    rows: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for path in run_files:
        data = read_netcdf(path)
        if not {"seed", "iteration", "decision", "context"} <= set(data.variables):
            raise BocuError(f"{path}: found no decisions and contexts by seed and iteration; a run file is wanted")
        initial = data.sel(iteration=data["iteration"].values <= 0)
        if not initial.sizes["iteration"]:
            raise BocuError(f"{path}: its runs have no initial design")
        for seed in initial["seed"].values.tolist():
            one = initial.sel(seed=seed)
            design = one["decision"].values, one["context"].values
            other = rows.setdefault(seed, design)
            if any(mine.tobytes() != theirs.tobytes() for mine, theirs in zip(design, other, strict=True)):
                raise BocuError(f"{path}: another initial design of seed {seed} than the files before")
    write_design(output, rows)
    typer.echo(str(output))
