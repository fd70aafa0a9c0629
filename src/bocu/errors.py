"""The exceptions that mean: the user's input, or a file, is at fault, and here is the line to show."""

import os
from pathlib import Path


class BocuError(Exception):
    """A fault in configuration, data or arguments, told in one line.

    The message names the file or argument, the key, what was found and what is allowed. Command line and workflow
    scripts print it without a traceback and exit with a non-zero status.
    """


class BrokenFileError(BocuError):
    """A file of the pipeline's own making is not what was written: damaged, edited, or of another version.

    Attributes:
        path: the file.
        fault: what is wrong with it.
    """

    def __init__(self, path: str | os.PathLike[str], fault: str) -> None:
        self.path = Path(path)
        self.fault = fault
        super().__init__(f"{path}: {fault}; delete it and it will be made again")
