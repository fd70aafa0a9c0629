"""`bocu init`: the workflow in a folder of the user's own."""

from pathlib import Path
from typing import Annotated

import typer


def init_command(
    folder: Annotated[Path, typer.Argument(help="Folder to lay it out in; made where there is none.")] = Path(),
) -> None:
    """Lay out Snakefile, rules, profiles and experiment files, beside what the folder holds.

    Nothing that stands is written over.
    """
    import os

    from bocu.core.errors import BocuError
    from bocu.core.io.files import write_text
    from bocu.sweep.experiment.paths import LAID_OUT

    files = [
        Path(inside, name).relative_to(LAID_OUT)
        for inside, _, names in os.walk(LAID_OUT, followlinks=True)
        for name in names
        if not inside.endswith("__pycache__")
    ]
    for path in (folder / file for file in files):
        if path.exists() or path.is_symlink():
            raise BocuError(f"init: {path} stands already; nothing was written; give another folder")
    for file in files:
        try:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            write_text(folder / file, (LAID_OUT / file).read_text(encoding="utf-8"))
        except OSError as error:
            raise BocuError(f"init: {folder / file}: {error.strerror or error}") from None
    typer.echo(f"{folder}: {len(files)} files")
    typer.echo(f"next: cd {folder}; snakemake --cores all; the quick start is config/config.yaml")
