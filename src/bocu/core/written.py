"""Numbers, times, lists and tables as people read them."""

from collections.abc import Iterable, Iterator, Sequence
from math import isnan

NOTHING = "–"  #: Stands where there is no number.


def number(value: float, digits: int, significant: bool = False, sign: bool = False) -> str:
    """Write a number with a real minus sign; what rounds to zero has none."""
    if isnan(value):
        return NOTHING
    kind = f"{'+' if sign else ''}z.{digits}{'g' if significant else 'f'}"
    return format(value, kind).replace("-", "−")


def brief(value: float) -> str:
    """Write a number to its third figure, and all figures before the point: "1.15", "7215"."""
    return number(value, decimals(abs(value) / 10) if value else 0)


def between(value: float, low: float, high: float, digits: int) -> str:
    """Write a number with its interval: "0.62 [0.55, 0.69]"."""
    if isnan(value) or isnan(low):
        return number(value, digits)
    return f"{number(value, digits)} [{number(low, digits)}, {number(high, digits)}]"


def decimals(error: float) -> int:
    """Return the places after the point at which `error` shows two figures, 0 to 8."""
    exponent = int(f"{error:e}".partition("e")[2])
    return min(max(1 - exponent, 0), 8)


def probability(value: float, sign: bool = False) -> str:
    """Write a p value: "0.031", "< 0.001"; with `sign` also "= 0.031"."""
    if isnan(value):
        return NOTHING
    if value < 0.001:
        return "< 0.001"
    return f"= {value:.3f}" if sign else f"{value:.3f}"


def round_time(value: float) -> str:
    """Write a time in s with a unit that fits."""
    if isnan(value):
        return NOTHING
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= 0.9995 * scale:  # what would be written as a thousand of the smaller unit
            return f"{value / scale:.3g} {unit}"
    return "< 1 µs"


def work_time(seconds: float) -> str:
    """Write a time of work: "12 s", "3.4 min", "5.1 h"."""
    if seconds < 60:
        return round_time(seconds)
    return f"{seconds / 60:.3g} min" if seconds < 3600 else f"{seconds / 3600:.3g} h"


def counted(number: int, noun: str) -> str:
    """Write a number with its noun: "1 seed", "30 seeds", "2 branches"."""
    plural = f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def spoken(items: Sequence[str]) -> str:
    """Write a list as people do: "a", "a and b", "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


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
