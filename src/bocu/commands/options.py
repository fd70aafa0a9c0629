"""Arguments and options that commands share; where to write is refused before anything is computed."""

import os
from pathlib import Path
from typing import Annotated

import typer

from bocu.core.errors import BocuError


def writable(option: typer.CallbackParam, path: Path | None) -> Path | None:
    """Return the file that an option names; a folder that is missing is not made, for it may be a slip.

    Raises:
        BocuError: its folder is missing or cannot be written to, or something stands there that is no regular file.
    """
    from bocu.core.io.files import refuse_to_replace

    if path is None:
        return None
    refuse_to_replace(path)
    folder = path.parent
    if not os.path.lexists(folder):
        raise BocuError(f"{option.opts[-1]}: found {path}; there is no folder {folder}; make it first, or name another")
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise BocuError(f"{option.opts[-1]}: found {path}; {folder} is no folder that can be written to")
    return path


Experiment = Annotated[str, typer.Argument(help="Experiment file, or the name of one under config/.")]
Mirror = Annotated[str | None, typer.Option(help="Folder of a mirror to take data from.")]
Settings = Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="Set a key; repeatable.")]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust", help="Run what files under results/ name: experiments with classes of their own, links out of it."
    ),
]
