"""The exceptions that mean: the user's input, or a file, is at fault, and here is the line to show."""

import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LONGEST = 1000  # characters of a line that people still read
_SHOWN = 60  # characters of a value in it


class BocuError(Exception):
    """A fault in configuration, data or arguments, told in one line.

    The message names the file or argument, the key, what was found and what is allowed. Command line and workflow
    scripts print it without a traceback and exit with a non-zero status. Whatever it is made from, it is one line of
    printable characters.
    """

    def __init__(self, message: object) -> None:
        super().__init__(one_line(str(message)))


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


@contextmanager
def faults_at(where: str) -> Iterator[None]:
    """Put where it was, such as "file.yaml: ", before what a `BocuError` says; it stays one, of no narrower kind."""
    try:
        yield
    except BocuError as error:
        raise BocuError(f"{where}{error}") from None


def shown(value: object) -> str:
    """Return a value as an error line shows it: as Python writes it, text of a date, shortened where it is long."""
    if isinstance(value, int) and abs(value) >= 10**_SHOWN:
        return "a number of more than 60 digits"  # Python refuses to write the largest out
    if isinstance(value, list | tuple | dict) and len(value) > _SHOWN:
        return f"{type(value).__name__} of {len(value)} values"
    isoformat = getattr(value, "isoformat", None)
    return shortened(isoformat() if callable(isoformat) else repr(value), _SHOWN)


def shown_key(key: object) -> str:
    """Return a key as a path of keys shows it: as it is, quoted where it could not be read otherwise."""
    text = str(key)
    return shortened(text if text and text.isprintable() and text == text.strip() else repr(text), _SHOWN)


def line_in(file: str, error: BaseException) -> str:
    """Return ", line 12" where an error last passed through line 12 of a file; empty where it did not."""
    lines = [at.lineno for at in traceback.extract_tb(error.__traceback__) if at.filename == file]
    return f", line {lines[-1]}" if lines else ""


def shortened(text: str, longest: int) -> str:
    """Return a text, without its middle where it is long."""
    return text if len(text) <= longest else f"{text[: longest // 2]} ... {text[-longest // 4 :]}"


def one_line(text: str) -> str:
    """Return text without line breaks, control characters or halves of characters, as long as people still read."""
    printable = (
        letter if letter.isprintable() else " " if letter in "\n\t" else ascii(letter)[1:-1] for letter in text.strip()
    )
    return shortened("".join(printable), _LONGEST)
