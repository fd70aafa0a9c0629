"""Plain tables and amounts for the terminal."""

from collections.abc import Iterable, Iterator, Sequence

_KILO = 1000.0


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Return the lines of a table, columns aligned: words left, numbers right."""
    cells = [list(head), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    right = [all(_is_number(row[column]) for row in cells[1:]) for column in range(len(head))]
    for row in cells:
        padded = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ]
        yield "  ".join(padded).rstrip()


def duration(seconds: float) -> str:
    """Say a time span in the unit that suits it."""
    if seconds < 100:
        return f"{seconds:.3g} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.3g} min"
    return f"{seconds / 3600:.3g} h"


def size(count: float) -> str:
    """Say a number of bytes in the unit that suits it."""
    units = ["B", "kB", "MB", "GB"]
    while count >= _KILO and len(units) > 1:
        count /= _KILO
        units.pop(0)
    return f"{count:.3g} {units[0]}"


def _is_number(cell: str) -> bool:
    return not cell or cell == "-" or cell[0].isdigit()
